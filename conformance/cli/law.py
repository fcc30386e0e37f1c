"""``checkvalve law``: the values of its parameters with which a design has a property."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from checkvalve.spec.design.reading.properties import DEADLOCK_FREE, fact
from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.notation.labels import counted

from .options import budget_options, parameters_given
from .outcome import EXPECTED, UNKNOWN

if TYPE_CHECKING:
    from checkvalve.spec.design.laws.law_proof import Side, ToldRun
    from checkvalve.spec.design.laws.regions import Domain
    from checkvalve.spec.design.laws.sizes import Sizes
    from checkvalve.spec.verdicts.verdict import Budget

    from ..designs.fullest import Full
    from ..designs.laws import Found

__all__ = ["command"]

USUAL_SECONDS = 5.0
"""Seconds for one design of the grid; or a part of --max-seconds if that is more."""
PARTS = 20
"""The part of --max-seconds that one design may take."""
PROVING_SECONDS = 30.0
"""Seconds for the proof unless --max-seconds says otherwise."""
MAX_TOLD = 3
"""Smallest points that are shown."""
MAX_RUN = 300
"""Characters of a run that are shown."""


@click.command("law")
@click.argument("design", metavar="DESIGN")
@click.option("--property", "name", default=DEADLOCK_FREE, show_default=True,
              help="What is asked about: deadlock-free, no-local-deadlock, bounded (and how full "
                   "each link gets), live, ordered, no-duplicates, no-loss, no-failure, "
                   "'no-starvation: TASK'.")
@click.option("--over", multiple=True, metavar="NUMBER,…",
              help="Numbers of the design to find a law over: a link (its capacity), a pool (its "
                   "threads), task.queue, task.hand, link.batch, a parameter; n=1..8 for a range.")
@click.option("--set", "given", multiple=True, metavar="NAME=VALUE",
              help="A parameter's value, in place of the file's: n=4, or n=1..8 for each.")
@click.option("--certificates", "wanted", type=click.Path(path_type=Path), metavar="DIR",
              help="Write what the proof rests on into this folder, for `checkvalve certify`.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@budget_options
def command(
    design: str, name: str, over: tuple[str, ...], given: tuple[str, ...], wanted: Path | None,
    as_json: bool, budget: Budget,
) -> int:
    """Find a formula for the values of its parameters with which DESIGN has a property.

    Every design of the ranges in `parameters` is decided (or of values around the numbers that
    --over names); the shortest formula that says the same is looked for, and tried on 40 designs
    beyond the ranges. That no design deadlocks where it is true, and each one can where it is
    false, is then proved for all values, or said to be observed. The formula is solved for each
    capacity in it, with the smallest that suffice.

    Exit code 0 if there is a formula that nothing contradicts, 2 if not, 64 for a file that is
    not a design, or has parameters without a range. Each design may take 5 s and the proof 30 s.
    With --max-seconds all of it together takes no longer than that; what there was no time for is
    said.
    """
    from ..designs.laws import law_of

    seconds = budget.max_seconds
    each = USUAL_SECONDS if seconds is None else max(USUAL_SECONDS, seconds / PARTS)
    proving = PROVING_SECONDS if seconds is None else None
    found = law_of(design, name, parameters_given(given), replace(budget, max_seconds=each),
                   proving, _named(over), certify=wanted is not None, seconds=seconds)
    if as_json:
        click.echo(json.dumps(_document(design, name, found), indent=1, ensure_ascii=False))
    else:
        for line in _lines(design, name, found):
            click.echo(line)
    if wanted is not None:
        _write(found, wanted, say=not as_json)
    return EXPECTED if found.stands else UNKNOWN


def _named(over: tuple[str, ...]) -> list[str]:
    """The numbers that --over names. Raises InputError where it names none."""
    named = [each for one in over for each in one.split(",") if each.strip()]
    if over and not named:
        raise InputError("it names no number", "--over",
                         "Name some, as in --over requests,workers, or leave it out.")
    return named


def _write(found: Found, folder: Path, say: bool) -> None:
    """Write the certificate, if there is one, to a file that is named after its design."""
    from ..computer.files import write_whole
    told = "  No certificate: neither side is proved."
    if found.certificate is not None:
        path = folder / f"{found.certificate['design']}-law.json"
        write_whole(path, json.dumps(found.certificate, ensure_ascii=False) + "\n")
        sides = [side for side in ("holds", "violated") if side in found.certificate]
        told = f"  Certificate of {' and '.join(sides)}: {path}"
        if "violated" not in sides and found.proof is not None and found.proof.violated.proved:
            told += ("\n  No certificate of violated: without what is known of single points, it "
                     "takes more runs or time.")
    if say:
        click.echo(told)


# --- for people ------------------------------------------------------------------------------

def _lines(file: str, name: str, found: Found) -> Iterator[str]:
    """The law of one property for people: its formula or why there is none, on what it rests,
    where it was wrong, and the smallest sizes that do."""
    yield f"{file}  {', '.join(found.names)}: {counted(found.points, 'design')}"
    decided = found.points - found.unknown
    if found.unknown:
        undecided = counted(found.unknown, "design")
        yield f"  ?   {undecided} could not be decided, and count for nothing."
    if found.spent:
        yield (f"  ?   There was too little time for {' and '.join(found.spent)}. Give more, by "
               "--max-seconds.")
    law = found.law
    if not decided:
        yield "  ?   So there is nothing to find a law in. Give more time, by --max-seconds."
        return
    if law is None and "looking for a formula" in found.spent:
        return
    if law is None:
        yield (f"  ?   {fact(name)}: none in {found.holds} of {counted(decided, 'design')}, and no "
               "formula of up to two inequalities says where.")
        return
    if not law.atoms:
        everywhere = "none" if found.holds else "found"
        yield f"  {fact(name)}: {everywhere} in every design: there is no law."
    else:
        yield f"  {fact(name)}: none if and only if {law}"
        yield (f"  Found from {counted(law.needed, 'design')}, and true of the other "
               f"{decided - law.needed}.")
    if found.against:
        yield (f"  ?   It is wrong at {len(found.against)} of {found.beyond} tried beyond the "
               f"ranges: {found.against[0]}. Widen the ranges.")
    elif found.proof is None:
        yield f"  True of {found.beyond} tried beyond the ranges, too. Observed, not proved."
    else:
        yield f"  True of {found.beyond} tried beyond the ranges, too."
        if law.atoms or found.holds:
            what = "Where it is true, no design deadlocks" if law.atoms else "No design deadlocks"
            yield from _side(what, found.proof.holds)
        if law.atoms or not found.holds:
            what = "Where it is false, each can deadlock" if law.atoms else "Each can deadlock"
            yield from _side(what, found.proof.violated)
    for full in found.full:
        yield from _full(full)
    if found.sizes is not None and not found.against:
        yield from _smallest(found.sizes)


def _full(full: Full) -> Iterator[str]:
    """The lines for how full a link gets."""
    designs = counted(full.points, "design")
    if full.value is None:
        yield f"  ?   largest number in {full.link}: no formula gives what it is at {designs}."
        return
    yield f"  largest number in {full.link} = {full.value}"
    yield (f"    Found from {counted(full.value.needed, 'design')}, and true of the other "
           f"{full.points - full.value.needed}, all states of which were visited.")
    if full.against or full.proof is None:
        yield (f"  ?   It is wrong at {len(full.against)} of {full.beyond} tried beyond the "
               f"ranges: {full.against[0]}. Widen the ranges.")
        return
    yield f"    True of {full.beyond} tried beyond the ranges, too."
    for what, why in (("Never more", full.proof.never_more), ("As much", full.proof.as_much)):
        yield f"    {what}: " + (f"observed, not proved ({why})." if why else
                                 f"proved for {_domain(full.proof.domain)}.")


def _side(what: str, side: Side) -> Iterator[str]:
    if not side.proved:
        yield f"  {what}: observed, not proved ({side.reason})."
        return
    yield f"  {what}: proved for {_domain(side.domain)}."
    if side.by_rates:
        yield ("    By what is left of the number of elements when it is divided by the greatest "
               "common divisor: no step changes it.")
    if side.runs:
        run = max(side.runs, key=lambda run: run.generality)
        yield f"    {counted(len(side.runs), 'run')} in all, such as: {_run(run)}"


def _domain(domain: Domain) -> str:
    """The values that something is proved for, in words."""
    from checkvalve.spec.design.laws.regions import MOST
    few = [f"{name} = {low}..{high}" for name, (low, high) in domain.ranges.items()
           if name in domain.bounded]
    all_of = [f"{name} >= {low}" for name, (low, _) in domain.ranges.items()
              if name not in domain.bounded]
    told = " and ".join([*([", ".join(few)] if few else []), *(
        [f"every {', '.join(all_of)} (up to {MOST:,})"] if all_of else [])])
    return told + (", where there is such a design" if domain.gaps else "")


def _run(run: ToldRun) -> str:
    legs = [f"({'; '.join(steps)}){'' if str(times) == '1' else f' × ({times})'}"
            for steps, times in run.legs]
    told = ", then ".join(legs) or "it is deadlocked at the start"
    return told if len(told) <= MAX_RUN else f"{told[:MAX_RUN]}… (--json has all of it)"


def _smallest(sizes: Sizes) -> Iterator[str]:
    yield f"  For one capacity each: {'; '.join(sizes.solved)}."
    told = ["(" + ", ".join(f"{name}={value}" for name, value in point.items()) + ")"
            for point in sizes.points[:MAX_TOLD]]
    more = len(sizes.points) - len(told)
    asked = ", ".join(f"{name}={value}" for name, value in sizes.given.items())
    yield (f"  Smallest that suffice{f' with {asked}' if asked else ''}, checked: {', '.join(told)}"
           f"{f', and {more} more' if more else ''}")
    if sizes.unmet:
        first = ", ".join(f"{name}={value}" for name, value in sizes.unmet[0].items())
        others = len(sizes.unmet) - 1
        also = f" and {counted(others, 'more choice')}" if others else ""
        ranges = "range" if len(sizes.names) == 1 else "ranges"
        yield f"  With {first}{also}, nothing in the {ranges} of {', '.join(sizes.names)} suffices."


# --- for programs ----------------------------------------------------------------------------

def _document(file: str, name: str, found: Found) -> dict[str, Any]:
    """The JSON document of a law: the grid, the law, how much of it is proved, and its extreme
    points."""
    law, proof, sizes = found.law, found.proof, found.sizes
    return {
        "file": file, "property": name, "parameters": list(found.names), "designs": found.points,
        "holds": found.holds, "unknown": found.unknown,
        "law": None if law is None else str(law) if law.atoms else str(found.holds > 0).lower(),
        "needed": 0 if law is None else law.needed, "beyond": found.beyond,
        "against": list(found.against), "spent": list(found.spent),
        "proved": proof is not None and proof.is_whole,
        "sides": None if proof is None else {
            "holds": _side_document(proof.holds), "violated": _side_document(proof.violated)},
        "largest": [_full_document(full) for full in found.full],
        "smallest": None if sizes is None else {
            "capacities": list(sizes.names), "solved": list(sizes.solved),
            "given": dict(sizes.given), "points": [dict(point) for point in sizes.points],
            "unmet": [dict(point) for point in sizes.unmet]},
    }


def _full_document(full: Full) -> dict[str, Any]:
    proof = full.proof
    return {
        "link": full.link, "formula": None if full.value is None else str(full.value),
        "designs": full.points, "beyond": full.beyond, "against": list(full.against),
        "never_more": proof is not None and not proof.never_more,
        "as_much": proof is not None and not proof.as_much,
    }


def _side_document(side: Side) -> dict[str, Any]:
    return {
        "proved": side.proved, "reason": side.reason,
        "values": {name: [low, side.domain.top(name)]
                   for name, (low, _) in side.domain.ranges.items()},
        "runs": [[{"steps": list(steps), "times": str(times)} for steps, times in run.legs]
                 for run in side.runs],
    }
