"""Sums that no step of a net changes, computed from its rows (its place invariants).

A weighting w of the places is conserved exactly if every row's change, weighted, is 0: a
system of linear equations, solved here over the rationals (Lautenbach 1973). A basis of
its solutions is enough for what it is used for: to exclude combinations of waits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import lcm

from .rows import Invariant, Table

__all__ = ["conserved"]

MAX_PLACES = 60
MAX_ROWS = 200

Vector = dict[str, Fraction]


def conserved(table: Table) -> Iterator[Invariant]:
    """A basis of the conserved sums; none for a net too large to solve in passing."""
    if len(table.places) > MAX_PLACES or len(table.rows) > MAX_ROWS:
        return
    start = {place.name: place.start for place in table.places}
    changes = dict.fromkeys(tuple(sorted(row.effect.change.items())) for row in table.rows)
    solved = _reduced([{p: Fraction(n) for p, n in change} for change in changes if change])
    for free in start:
        if free in solved:
            continue
        weights = {free: Fraction(1)}
        for pivot, row in solved.items():
            if free in row:
                weights[pivot] = -row[free]
        scale = lcm(*(weight.denominator for weight in weights.values()))
        whole = {place: int(weight * scale) for place, weight in weights.items()}
        if len(whole) > 1:
            yield Invariant(whole, sum(w * start[p] for p, w in whole.items()))


def _reduced(equations: Sequence[Vector]) -> dict[str, Vector]:
    """The equations in reduced form: for each pivot, its row without any other pivot."""
    solved: dict[str, Vector] = {}
    for equation in equations:
        row = dict(equation)
        for pivot in [place for place in row if place in solved]:
            _subtract(row, solved[pivot], row[pivot])
        if not row:
            continue
        pivot = min(row)
        factor = row[pivot]
        row = {place: n / factor for place, n in row.items()}
        for other in solved.values():
            if pivot in other:
                _subtract(other, row, other[pivot])
        solved[pivot] = row
    return solved


def _subtract(row: Vector, other: Vector, times: Fraction) -> None:
    """row -= times * other, without keeping zeros."""
    for place, n in other.items():
        left = row.get(place, Fraction(0)) - times * n
        if left:
            row[place] = left
        else:
            row.pop(place, None)
