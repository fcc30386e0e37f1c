"""The smallest capacities with which a design keeps a property, from its grid and its law.

A *capacity* is a parameter that says how much fits in a link or a hand, or how many threads a pool
has. What the other parameters ask for is given; the law is solved for each capacity,
and the smallest points are those of the grid at which the property was decided to hold, and from
which no capacity can be taken away.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...notation.errors import InputError
from ..reading.symbols import Notes, form_of
from .law import Atom, Law, Observed, Point, times
from .regions import Made

__all__ = ["Sizes", "capacities", "sizes_of"]


@dataclass(frozen=True)
class Sizes:
    """The smallest values of the capacities ``names``: ``solved`` are the law's inequalities for
    one of them each; ``points`` suffice where the other parameters are ``given``, and nothing
    smaller does that was looked at. ``unmet`` are values of the other parameters for which nothing
    in the ranges of the capacities suffices, the least of these."""

    names: tuple[str, ...]
    solved: tuple[str, ...]
    given: Mapping[str, int]
    points: tuple[Point, ...]
    unmet: tuple[Point, ...] = ()


def sizes_of(
    decided: Observed, law: Law, made: Made, own: Point | None = None
) -> Sizes | None:
    """The smallest capacities for the other numbers that the design has of its ``own``, or where
    none suffices that was looked at, for those that ask for the most of the grid that can be met at
    all; None where no parameter is a capacity, or none of them matters."""
    if not law.atoms:
        return None
    names = capacities(made, decided[0][0])
    solved = tuple(line for name in names for line in _solved(law, name))
    met: dict[tuple[tuple[str, int], ...], list[Point]] = {}
    unmet: dict[tuple[tuple[str, int], ...], None] = {}
    for point, holds in decided:
        asked = tuple((name, value) for name, value in point.items() if name not in names)
        unmet[asked] = None
        if holds:
            met.setdefault(asked, []).append(point)
    if not names or not solved or not met:
        return None
    mine = tuple((name, own[name]) for name in decided[0][0]
                 if own is not None and name in own and name not in names)
    asked = mine if mine in met else min(
        met, key=lambda asked: (len(met[asked]), [-value for _, value in asked]))
    return Sizes(names, solved, dict(asked), tuple(_smallest(met[asked], names)),
                 tuple(dict(each) for each in unmet if each not in met))


def capacities(made: Made, point: Point) -> tuple[str, ...]:
    """The parameters that are capacities, in their order."""
    try:
        design = made(Notes(point).symbols())
    except InputError:
        return ()
    numbers = [*(link.capacity for link in design.links.values()),
               *(pool.threads for pool in design.pools.values()),
               *(task.hand for task in design.tasks.values())]
    forms = [form for number in numbers if (form := form_of(number)) is not None]
    found = {name for form in forms for name, _ in form.factors}
    return tuple(name for name in point if name in found)


def _smallest(points: Sequence[Point], names: Sequence[str]) -> Iterator[Point]:
    for point in points:
        if not any(other is not point and all(other[name] <= point[name] for name in names)
                   for other in points):
            yield {name: point[name] for name in names}


def _solved(law: Law, name: str) -> Iterator[str]:
    """The inequalities that ask for so much of a capacity."""
    if law.joint == "or" and len(law.atoms) > 1:
        return
    for atom in law.atoms:
        mine = [factor for (kind, names), factor in atom.factors if name in names]
        own = dict(atom.factors).get(("one", (name,)), 0)
        if own > 0 and len(mine) == 1:
            yield _for(atom, name, own)


def _for(atom: Atom, name: str, own: int) -> str:
    """One inequality, solved for a capacity that stands in it with a positive factor."""
    rest = [(-factor, term) for term, factor in atom.factors if term != ("one", (name,))]
    parts = [(factor > 0, times(abs(factor), term)) for factor, term in rest]
    if atom.least or not parts:
        parts.append((atom.least >= 0, str(abs(atom.least))))
    parts.sort(key=lambda part: not part[0])  # what is added first
    text = "".join(f" {'+' if plus else '-'} {part}" for plus, part in parts)
    text = text[3:] if parts[0][0] else text[1:].replace("- ", "-", 1)
    return f"{times(own, ('one', (name,)))} >= {text}"
