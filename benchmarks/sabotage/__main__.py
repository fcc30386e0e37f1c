"""``python -m benchmarks.sabotage``: spoil each reference, and see who notices.

Exit codes: 0 each is found, and enough by a rule of progress; 1 not so; 64 bad usage.
"""

from __future__ import annotations

import multiprocessing
import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import click

from checkvalve.conformance.cli.outcome import EXPECTED, VIOLATED, run
from checkvalve.conformance.systems.catalogue import selected

from ..published import machine, publish, table
from .acts import SABOTAGES
from .report import closing, is_good, table_of
from .runs import BY_HAND, FOUND, NO_MATTER, Outcome, outcome

__all__ = ["command", "main"]

PROGRAM = "python -m benchmarks.sabotage"
_PAGE = "sabotage.md"


@click.command(context_settings={"show_default": True})
@click.option("--only", "suites", multiple=True, metavar="SUITE",
              help="Only this suite, or those below it; repeatable.")
@click.option("--how", multiple=True, type=click.Choice([*SABOTAGES]),
              help="Only this sabotage; repeatable.")
@click.option("--seed", type=click.IntRange(0), default=0, help="The seed of the default runs.")
@click.option("--jobs", type=click.IntRange(1, 64), default=2, help="How many at once.")
@click.option("--quick", is_flag=True, help="Only the cases that a run begins with.")
@click.option("--publish", "docs", type=click.Path(exists=True, file_okay=False, path_type=Path),
              help=f"Put the table into {_PAGE} of this folder.")
def command(
    suites: tuple[str, ...], how: tuple[str, ...], seed: int, jobs: int, quick: bool,
    docs: Path | None,
) -> int:
    """Make implementations that do not work, and ask each suite's default run."""
    asked = [(system.name, name) for system in selected(suites) for name in how or SABOTAGES]
    asked += [each for each in BY_HAND if not how and each[0] in dict(asked)]
    outcomes = []
    for each in _outcomes(asked, seed, jobs, quick):
        outcomes.append(each)
        _tell(each)
    rows = list(table_of(outcomes))
    for line in ("", *table(rows), "", *closing(outcomes)):
        click.echo(line)
    if docs is not None:
        asked_for = f' ARGS="{shlex.join(sys.argv[1:])}"' if sys.argv[1:] else ""
        made = f"Made by `make sabotage{asked_for}`, on {machine()}."
        publish(docs / _PAGE, "make sabotage",
                [*table(rows), "", *(f"- {line}" for line in closing(outcomes)), "", made])
    return EXPECTED if is_good(outcomes) else VIOLATED


def _outcomes(
    asked: Sequence[tuple[str, str]], seed: int, jobs: int, quick: bool
) -> Iterator[Outcome]:
    """What each default run says, in this order whatever ``jobs``."""
    ask = partial(outcome, seed=seed, quick=quick)
    columns = [each[0] for each in asked], [each[1] for each in asked]
    if jobs == 1:
        yield from map(ask, *columns)
        return
    context = multiprocessing.get_context("spawn" if os.name == "nt" else "forkserver")
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        yield from pool.map(ask, *columns)


def _tell(each: Outcome) -> None:
    """One line; what is not found is red."""
    if each.verdict == NO_MATTER:
        return
    rule = f"{each.rule}{', a rule of progress' if each.is_progress else ''}"
    said = f"found by {rule}" if each.verdict == FOUND else each.verdict.upper()
    click.secho(f"{each.suite}, {each.about}: {said}", fg=None if each.verdict == FOUND else "red")


def main() -> int:
    """The program, with this process's arguments."""
    return run(command, sys.argv[1:], PROGRAM)


if __name__ == "__main__":
    sys.exit(main())
