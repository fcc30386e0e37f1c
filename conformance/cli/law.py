"""``checkvalve law``: for which values of its parameters a design keeps a property."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from checkvalve.spec.notation.labels import counted

from .options import budget_options, parameters_given
from .outcome import EXPECTED, UNKNOWN

if TYPE_CHECKING:
    from checkvalve.spec.verdicts.verdict import Budget

    from ..designs.laws import Found

__all__ = ["command"]

USUAL_SECONDS = 5.0
"""What one design of the grid may take unless --max-seconds says otherwise."""


@click.command("law")
@click.argument("design", metavar="DESIGN")
@click.option("--property", "name", default="deadlock", show_default=True,
              help="What is asked about: deadlock, bounded, live, loss, failure, starvation: TASK.")
@click.option("--set", "given", multiple=True, metavar="NAME=VALUE",
              help="A parameter's value, in place of the file's: n=4, or n=1..8 for each.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@budget_options
def command(
    design: str, name: str, given: tuple[str, ...], as_json: bool, budget: Budget
) -> int:
    """Find a formula for the values of its parameters with which DESIGN keeps a property.

    Every design of the ranges in `parameters` is decided; the shortest formula that says the same
    is looked for, and tried on 40 designs beyond the ranges. It is observed, and not proved.

    Exit code 0 if there is a formula that nothing contradicts, 2 if not, 64 for a file that is
    not a design, or whose parameters have no range. Each design may take 5 s, unless --max-seconds
    says otherwise.
    """
    from ..designs.laws import law_of

    if budget.max_seconds is None:
        budget = replace(budget, max_seconds=USUAL_SECONDS)
    found = law_of(design, name, parameters_given(given), budget)
    stands = found.law is not None and not found.against and not found.unknown
    if as_json:
        click.echo(json.dumps(_document(design, name, found), indent=1, ensure_ascii=False))
    else:
        for line in _lines(design, name, found):
            click.echo(line)
    return EXPECTED if stands else UNKNOWN


def _lines(file: str, name: str, found: Found) -> Iterator[str]:
    yield f"{file}  {', '.join(found.names)}: {counted(found.points, 'design')}"
    decided = found.points - found.unknown
    if found.unknown:
        undecided = counted(found.unknown, "design")
        yield f"  ?   {undecided} could not be decided, and count for nothing."
    law = found.law
    if law is None:
        yield (f"  ?   {name} holds {counted(found.holds, 'time')} of {decided}, and no formula of "
               "up to two inequalities says where.")
        return
    if not law.atoms:
        verdict = "holds" if found.holds else "is violated"
        yield f"  {name} {verdict} at every point: there is no law."
    else:
        yield f"  {name} holds if and only if {law}"
        yield (f"  Found from {counted(law.needed, 'design')}, and true of the other "
               f"{decided - law.needed}.")
    if found.against:
        yield (f"  ?   It is wrong at {len(found.against)} of {found.beyond} tried beyond the "
               f"ranges: {found.against[0]}. Widen the ranges.")
    else:
        yield f"  True of {found.beyond} tried beyond the ranges, too. Observed, not proved."


def _document(file: str, name: str, found: Found) -> dict[str, Any]:
    law = found.law
    return {
        "file": file, "property": name, "parameters": list(found.names), "designs": found.points,
        "holds": found.holds, "unknown": found.unknown,
        "law": None if law is None else str(law) if law.atoms else str(found.holds > 0).lower(),
        "needed": 0 if law is None else law.needed, "beyond": found.beyond,
        "against": list(found.against), "proved": False,
    }
