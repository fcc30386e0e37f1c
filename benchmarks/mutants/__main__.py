"""``python -m benchmarks.mutants``: make mutants, and see what kills them.

Exit codes: 0 enough are killed and each survivor is argued; 1 not so; 64 bad usage.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import click

from checkvalve.conformance.cli.outcome import EXPECTED, VIOLATED, run
from checkvalve.spec.notation.errors import InputError

from ..published import publish, table
from .campaign import FATES, SURVEY, Campaign
from .draw import drawn, share
from .ledger import read_arguments
from .modules import GROUPS, Group, group_of, modules_of
from .operators import mutants_of
from .report import AIM, Tally, origin, tally, tally_alone
from .tree import Project, here

__all__ = ["command", "main"]

PROGRAM = "python -m benchmarks.mutants"
ONE_IN, LEAST, MOST = 24, 4, 5
_KEPT = ".checkvalve/mutants"
_REFERENCE = "reference"


@click.command(context_settings={"show_default": True})
@click.option("--only", multiple=True, metavar="NAME",
              help="Only this group, module or package (reference.storm.acker); repeatable.")
@click.option("--seed", type=int, default=0, help="Decides which mutants are drawn.")
@click.option("--one-in", type=click.IntRange(1), default=ONE_IN,
              help="Of so many possible mutants of a module one is taken.")
@click.option("--least", type=click.IntRange(1), default=LEAST, help="But so many at least.")
@click.option("--most", type=click.IntRange(1), default=MOST, help="And so many at most.")
@click.option("--since", metavar="COMMIT",
              help="Of a module with the code it had at this commit, take one mutant only.")
@click.option("--jobs", type=click.IntRange(1, 64), default=1, help="How many at once.")
@click.option("--seconds", type=click.FloatRange(1), default=20.0,
              help="Processor time of the tests that a mutant is shown to.")
@click.option("--list", "only_list", is_flag=True, help="Print the ids of the mutants, and stop.")
@click.option("--again", is_flag=True, help="Forget the fates of earlier runs.")
@click.option("--survey", "survey_again", is_flag=True,
              help="Ask again which functions each suite and test reaches.")
@click.option("--default-runs", "alone", is_flag=True,
              help="Show mutants of the reference to the default runs of the suites only.")
@click.option("--by-module", is_flag=True, help="A row for each module.")
@click.option("--publish", "page", type=click.Path(exists=True, dir_okay=False, path_type=Path),
              help="Put the table into this page (docs/mutants.md).")
def command(
    only: tuple[str, ...], seed: int, one_in: int, least: int, most: int, since: str | None,
    jobs: int, seconds: float, only_list: bool, again: bool, survey_again: bool,
    alone: bool, by_module: bool, page: Path | None,
) -> int:
    """Change one thing in one module, and see which suite or test notices; many times."""
    project = here()
    arguments = read_arguments()
    changed = None if since is None else project.changed_since(since)
    mutants = []
    for module in _chosen(project, only or ((_REFERENCE,) if alone else ())):
        every = mutants_of(module, project.source(module))
        same = changed is not None and project.file(module) not in changed
        limit = 1 if same else GROUPS[group_of(module)].most or most
        mutants += drawn(every, share(len(every), one_in, min(least, limit), min(most, limit)),
                         seed)
    if only_list:
        for mutant in mutants:
            click.echo(mutant.id)
        return EXPECTED
    kept = project.root / _KEPT
    if again:
        (kept / FATES).unlink(missing_ok=True)
    if survey_again:
        (kept / SURVEY).unlink(missing_ok=True)
    campaign = Campaign(project, kept, jobs=jobs, seconds=seconds,
                        groups=_without_tests() if alone else GROUPS)
    whole = Tally(campaign.fates(mutants, click.echo), arguments, not (only or alone), alone)
    rows = list(tally_alone(whole) if alone else tally(whole, by_module=by_module))
    for line in _closing(whole, list(table(rows))):
        click.echo(line)
    if page is not None:
        of = list(whole.fates.values())
        publish(page, "default runs alone" if alone else "make mutants",
                [*table(rows), "", origin(of, campaign.minutes(of), _command())])
    return EXPECTED if whole.good else VIOLATED


def _without_tests() -> Mapping[str, Group]:
    """The groups that suites are asked about, and no test."""
    return {name: replace(group, tests=()) for name, group in GROUPS.items() if group.suites}


def _command() -> str:
    """How this run was asked for."""
    arguments = shlex.join(sys.argv[1:])
    return f'make mutants ARGS="{arguments}"' if arguments else "make mutants"


def _chosen(project: Project, only: Sequence[str]) -> list[str]:
    """The modules to mutate. Raises ``InputError`` for a name that is none of theirs."""
    every = [module for group in GROUPS.values() for module in modules_of(project, group)]
    if not only:
        return every
    chosen = [module for module in every
              if any(f"{module}.".startswith(f"{name}.") or group_of(module) == name
                     for name in only)]
    for name in only:
        if not any(f"{module}.".startswith(f"{name}.") or group_of(module) == name
                   for module in chosen):
            raise InputError(f"nothing that is mutated is named {name}", "",
                             f"Name a module, or one of the groups: {', '.join(GROUPS)}.")
    return chosen


def _closing(whole: Tally, lines: Sequence[str]) -> list[str]:
    """The end of the report: the table, what is to be argued, what is argued in vain."""
    told = ["", *lines, ""]
    for heading, names in (
        ("Nobody noticed these, or no default run did, which runs their line; and nothing is said "
         "about them in arguments.toml:",
         [f"{mutant.id}{'' if mutant in whole.survivors else ' (default runs)'}"
          for mutant in whole.unargued]),
        ("Arguments about mutants that are killed, or are not there:", whole.stale),
    ):
        if names:
            told += [heading, *(f"  {name}" for name in names), ""]
    if not whole.alone:
        told.append(f"{100 * whole.share:.1f} % of the mutants that are not equivalent are killed: "
                    f"{_judged(whole.share)}.")
    if (found := whole.share_by_default) is not None:
        told.append("Of those in a line that default runs run, and which a port can show, these "
                    f"find {100 * found:.1f} % without a test: {_judged(found)}.")
    return told


def _judged(share: float) -> str:
    return "enough" if share >= AIM else f"less than {100 * AIM:.0f} %"


def main() -> int:
    """The program, with this process's arguments."""
    return run(command, sys.argv[1:], PROGRAM)


if __name__ == "__main__":
    sys.exit(main())
