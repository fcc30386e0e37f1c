"""The law of a design file: a formula for the grid of its parameters, tried beyond it."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from checkvalve.spec.design.language import Design
from checkvalve.spec.design.law import Law, Point, find_law
from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.verdicts.verdict import Budget, Outcome

from . import check_design, load_designs

__all__ = ["BEYOND", "Found", "law_of", "swept_names"]

BEYOND: Final = 40
"""Designs beyond the grid that a law is tried on."""


@dataclass(frozen=True)
class Found:
    """What was found of a property on a grid of ``points`` designs.

    ``law`` is None where no formula was. ``unknown`` of the designs could not be decided; of
    ``beyond`` designs outside the grid the law was true but for those ``against`` it.
    """

    names: tuple[str, ...]
    points: int
    holds: int
    law: Law | None
    unknown: int = 0
    beyond: int = 0
    against: tuple[str, ...] = ()


def law_of(
    file: str | Path, name: str, given: Mapping[str, str], budget: Budget
) -> Found:
    """The law of the property ``name`` of the designs that a file stands for.

    Raises InputError for a file without a range among its parameters, for one whose designs do
    not have the property, and as ``load_designs`` does.
    """
    designs = load_designs(file, given)
    names = swept_names(designs)
    if not names:
        raise InputError("none of the design's parameters has a range, so there is no law to find",
                         str(file), "Give one, as in `parameters: {n: 1..8}` or --set n=1..8.")
    outcomes = [_outcome(design, name, budget) for design in designs]
    decided = [(_point(design, names), outcome is Outcome.HOLDS)
               for design, outcome in zip(designs, outcomes, strict=True)
               if outcome is not Outcome.UNKNOWN]
    law = find_law(decided, names)
    found = Found(names, len(designs), sum(holds for _, holds in decided), law,
                  len(designs) - len(decided))
    return found if law is None else _tried_beyond(found, law, designs, file, name, given, budget)


def swept_names(designs: Sequence[Design]) -> tuple[str, ...]:
    """The parameters that choose among the designs; not those that follow from them."""
    points = [dict(design.parameters) for design in designs]
    names = [name for name in points[0] if len({point[name] for point in points}) > 1]
    for name in reversed(names):
        others = [other for other in names if other != name]
        if len({tuple(point[other] for other in others) for point in points}) == len(points):
            names = others
    return tuple(names)


def _outcome(design: Design, name: str, budget: Budget) -> Outcome:
    report = check_design(design, budget)
    found = next((each for each in report.findings if each.name == name), None)
    if found is None:
        known = ", ".join(each.name for each in report.findings)
        raise InputError(f"nobody asks for the property {name[:60]!r} of this design", design.file,
                         f"Name it in `expect`. Decided are: {known}.")
    return found.outcome


def _point(design: Design, names: Sequence[str]) -> Point:
    values = dict(design.parameters)
    return {name: values[name] for name in names}


def _tried_beyond(
    found: Found, law: Law, designs: Sequence[Design], file: str | Path, name: str,
    given: Mapping[str, str], budget: Budget,
) -> Found:
    """Try the law on designs in which some parameter is larger than on the grid."""
    tried, against = 0, []
    tops = {each: max(dict(design.parameters)[each] for design in designs) for each in found.names}
    for point in _beyond(tops, law):
        texts = {each: str(value) for each, value in point.items()}
        try:
            design, = load_designs(file, {**given, **texts})
        except InputError:
            continue  # the language has no such number there
        outcome = _outcome(design, name, budget)
        tried += outcome is not Outcome.UNKNOWN
        if outcome is not Outcome.UNKNOWN and law.holds(point) != (outcome is Outcome.HOLDS):
            against.append(", ".join(f"{each}={value}" for each, value in point.items()))
    return replace(found, beyond=tried, against=tuple(against))


def _beyond(tops: Mapping[str, int], law: Law) -> Sequence[Point]:
    """Points at which some parameter is larger than its top; most of them where the law is nearly
    false or nearly true, for there a slightly different law would say something else."""
    draw = random.Random(0)
    points = []
    for _ in range(20 * BEYOND):
        point = {name: draw.randint(1, 2 * top) for name, top in tops.items()}
        larger = draw.choice(list(tops))
        points.append({**point, larger: draw.randint(tops[larger] + 1, 2 * tops[larger] + 1)})
    nearest = sorted(points, key=lambda point: min(
        (abs(2 * atom.slack(point) + 1) for atom in law.atoms), default=0))
    return draw.sample(nearest[:3 * BEYOND], BEYOND - BEYOND // 4) + points[:BEYOND // 4]
