"""``checkvalve zoo``: which rule of which suite kills which broken twin."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from statistics import median
from typing import TYPE_CHECKING

import click

from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.notation.labels import counted

from ..computer.progress import watched
from .options import Seconds, memory_option, states_option
from .outcome import EXPECTED, UNKNOWN, VIOLATED

if TYPE_CHECKING:
    from ..zoo.default_run import Find
    from ..zoo.hunt import Trophy

__all__ = ["command"]


@click.command("zoo")
@click.argument("suites", nargs=-1, metavar="[SUITE]...")
@click.option("--seed", type=click.IntRange(0, 2**53 - 1), default=0, show_default=True,
              help="The seed that all cases come from.")
@click.option("--default", "by_default", is_flag=True,
              help="Hunt for no rule: run what a user's `checkvalve conform` runs, and say "
                   "what it finds.")
@click.option("--jobs", type=click.IntRange(1, 256), default=1, show_default=True,
              help="Processes, with --default.")
@click.option("--stories", is_flag=True, help="Say how each twin was killed, step by step.")
@click.option("--histories", is_flag=True,
              help="Hunt nothing; list real bugs, with their twins and machines.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("--max-seconds", type=Seconds(),
              help="Begin no case after this many seconds: twins that are not found by then are "
                   "unknown.")
@memory_option
@states_option
def command(suites: tuple[str, ...], seed: int, by_default: bool, jobs: int, stories: bool,
            histories: bool, as_json: bool, max_seconds: float | None, max_states: int) -> int:
    """Hunt the broken twins of each SUITE (all if none is named; storm: all below it).

    A twin is a reference with one seeded bug, most of them bugs that were real. Exit code 0
    if every twin is killed by the rule that it breaks or is argued to be equivalent, else 1;
    with --default, if every other twin is found at all. 2 if a budget was spent before that was
    known.
    """
    from checkvalve.spec.verdicts.deadline import Deadline

    deadline = Deadline(max_seconds)
    if jobs > 1 and not by_default:
        raise InputError("--jobs is about default runs", "", "Add --default, or leave it out.")
    if by_default:
        from ..zoo.default_run import default_runs

        return _default_runs(default_runs(suites, seed, jobs, max_states, deadline), seed, stories,
                             as_json)
    from ..zoo.hunt import hunts

    if histories:
        return _histories(suites, as_json)
    found: list[Trophy] = []
    hunted = hunts(suites, seed, max_states, deadline)
    while True:
        with watched(f"hunting twin {len(found) + 1}"):
            trophy = next(hunted, None)
        if trophy is None:
            break
        found.append(trophy)
        if not as_json:
            _show(found[-1], stories)
    code = _code(found)
    if as_json:
        document = {
            "exit_code": code, "seed": seed, "median_steps": _median(found),
            "twins": [trophy.to_json() for trophy in found],
        }
        click.echo(json.dumps(document, indent=1, ensure_ascii=False))
    else:
        _conclude(found, ("killed", "equivalent", "survived", "unknown"))
    return code


def _histories(suites: tuple[str, ...], as_json: bool) -> int:
    from ..suites.bug import lines
    from ..systems.catalogue import selected

    bugs = [row for system in selected(suites) for row in system.histories]
    if as_json:
        table = {"histories": [row._asdict() for row in bugs]}
        click.echo(json.dumps(table, indent=1, ensure_ascii=False))
    else:
        click.echo("\n".join(lines(bugs)))
    return EXPECTED


def _code(found: Sequence[Trophy | Find]) -> int:
    """Violated if one is not as expected, else unknown if one is not known."""
    if any(not each.as_expected and not each.is_unknown for each in found):
        return VIOLATED
    return UNKNOWN if any(each.is_unknown for each in found) else EXPECTED


def _default_runs(finds: Iterator[Find], seed: int, stories: bool, as_json: bool) -> int:
    """Print each twin's find as it comes, then the sums or one document; returns the exit code."""
    found: list[Find] = []
    for each in finds:
        found.append(each)
        if not as_json:
            _show_find(each, stories)
    code = _code(found)
    if as_json:
        document = {"exit_code": code, "seed": seed, "median_steps": _median(found),
                    "twins": [each.to_json() for each in found]}
        click.echo(json.dumps(document, indent=1, ensure_ascii=False))
    else:
        _conclude(found, ("named", "found otherwise", "missed", "equivalent",
                          "unknown"))
    return code


def _mark(found: Trophy | Find) -> str:
    if found.is_unknown:
        return "?   "
    return "ok  " if found.as_expected else "FAIL"


def _show_find(find: Find, story: bool) -> None:
    twin = find.twin
    mark = _mark(find)
    where = f"case {find.first} of {find.cases}" if find.first else counted(find.cases, "case")
    click.echo(f"{mark} {twin.suite:15} {twin.name:30} {find.verdict:15} {twin.rule:10} "
               f"{find.size:>8}  {where:16} {twin.bug}")
    if find.others:
        click.echo(f"    also broken: {', '.join(find.others)}")
    if story:
        for line in find.fixture.story() if find.fixture is not None else [twin.equivalent]:
            click.echo(f"      {line}")


def _median(found: Sequence[Trophy | Find]) -> float | None:
    lengths = [trophy.fixture.length for trophy in found if trophy.fixture is not None]
    return median(lengths) if lengths else None


def _show(trophy: Trophy, story: bool) -> None:
    twin = trophy.twin
    mark = _mark(trophy)
    how = f"{trophy.verdict} by {twin.rule}" if trophy.size else trophy.verdict
    click.echo(f"{mark} {twin.suite:15} {twin.name:30} {how:24} {trophy.size:>8}  {twin.bug}")
    if not trophy.size and trophy.others:
        click.echo(f"    it breaks {', '.join(trophy.others)}, and not {twin.rule}")
    if story and trophy.size:
        click.echo(f"      stands for: {twin.history}")
        for line in trophy.story():
            click.echo(f"      {line}")
    if story and twin.equivalent:
        click.echo(f"      {twin.equivalent}")


def _conclude(found: Sequence[Trophy | Find], words: Sequence[str]) -> None:
    tally = {word: sum(each.verdict == word for each in found) for word in words}
    parts = [f"{count} {word}" for word, count in tally.items() if count]
    middle = _median(found)
    steps = "" if middle is None else f" The median fixture has {middle:g} steps."
    click.echo(f"{counted(len(found), 'twin')}: {', '.join(parts)}.{steps}")
