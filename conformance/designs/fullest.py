"""Formulas for how full each queue of a design gets: found, tried and proved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from checkvalve.spec.design.check import Settings, fullest
from checkvalve.spec.design.laws.filling import Bounded, prove_value
from checkvalve.spec.design.laws.law import Point
from checkvalve.spec.design.laws.value import Value, find_value
from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.verdicts.deadline import Deadline, Spent

from .grids import Grid

__all__ = ["Full", "full_links"]

MAX_LINKS: Final = 12
"""Links of which a formula is looked for."""
BEYOND: Final = 12
"""Designs beyond the grid that the formulas are tried on."""


@dataclass(frozen=True)
class Full:
    """The most that ``link`` ever holds: ``value``, None where no formula was found.

    It was exact at ``points`` designs, where all states were visited, and at ``beyond`` outside of
    the grid, except those ``against`` it; ``proof`` is None where none was tried.
    """

    link: str
    value: Value | None
    points: int
    beyond: int = 0
    against: tuple[str, ...] = ()
    proof: Bounded | None = None


def full_links(
    grid: Grid, beyond: Sequence[Point], deadline: Deadline, proving: float | None
) -> Iterator[Full]:
    """A formula for each link that is bounded at all points of the grid where that was decided."""
    decided = [point for point, holds in grid.decided if holds]
    known = [(point, _most(grid, point)) for point in decided]
    links = list(dict.fromkeys(link for _, most in known for link in most))[:MAX_LINKS]
    grid.deadline = deadline.share(2)
    further = [(point, _most(grid, point)) for point in beyond[:BEYOND]] if links else []
    for place, link in enumerate(links):
        counted = [(point, most[link]) for point, most in known if link in most]
        share = deadline.share(len(links) - place)
        try:
            value = find_value(counted, grid.names, share)
        except Spent:
            value = None
        if value is None:
            yield Full(link, None, len(counted))
            continue
        tried = [(point, most[link]) for point, most in further if link in most]
        against = tuple(", ".join(f"{name}={each}" for name, each in point.items())
                        for point, most in tried if value.at(point) != most)
        proof = None if against else prove_value(
            value, link, grid.made, grid.ranges, decided, _least(share, proving))
        yield Full(link, value, len(counted), len(tried), against, proof)


def _most(grid: Grid, point: Point) -> dict[str, int]:
    """The largest number in each link at a point, of those links for which it is known exactly."""
    if grid.deadline.passed():
        return {}
    try:
        design = grid.at(point)
    except InputError:
        return {}  # the language has no such number there
    finding = fullest(design, Settings(budget=grid.design_budget()))
    return {link: most for link, most in finding.bounds if link in finding.reached}


def _least(deadline: Deadline, seconds: float | None) -> Deadline:
    return Deadline(deadline.left() if seconds is None else min(seconds, deadline.left()))
