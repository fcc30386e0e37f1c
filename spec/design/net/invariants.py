"""Sums that no step of a net changes, computed from its rows (its place invariants).

A weighting w of the places is conserved exactly if every row's change, weighted, is 0: a
system of linear equations, solved here over the rationals (Lautenbach 1973). A basis of
its solutions is enough for what it is used for: to exclude combinations of waits.

The equations of a large design have few unknowns each, and stay so if always the shortest
equation is solved for the unknown that is in the fewest others (Markowitz 1957).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from heapq import heapify, heappop, heappush
from math import gcd, lcm

from .rows import Invariant, Table

__all__ = ["conserved", "kernel"]

MAX_PLACES = 60
MAX_ROWS = 200
LOOK = 64
"""Equations between two looks at the clock."""

Equation = dict[int, int]
"""A sum of unknowns, each with its factor, that is 0."""
Number = int | Fraction


def conserved(
    table: Table, *, of_any_size: bool = False, watch: Callable[[], object] = lambda: None
) -> Iterator[Invariant]:
    """A basis of the conserved sums; none for a net too large to solve in passing, unless one
    ``of_any_size`` is wanted."""
    if not of_any_size and (len(table.places) > MAX_PLACES or len(table.rows) > MAX_ROWS):
        return
    names = sorted(place.name for place in table.places)
    number = {name: n for n, name in enumerate(names)}
    start = {place.name: place.start for place in table.places}
    changes = [{number[p]: n for p, n in row.effect.change.items()} for row in table.rows]
    for whole in kernel(changes, len(names), watch):
        if len(whole) > 1:
            weights = {names[p]: w for p, w in whole.items()}
            yield Invariant(weights, sum(w * start[p] for p, w in weights.items()))


def kernel(
    changes: Iterable[Mapping[int, int]], size: int, watch: Callable[[], object] = lambda: None,
) -> list[Equation]:
    """A basis, in whole numbers, of the weightings of ``size`` unknowns that make each of these
    sums 0. ``watch`` is called now and then, and may raise."""
    solved = _solved(
        [dict(e) for e in dict.fromkeys(tuple(sorted(c.items())) for c in changes)], watch)
    pivots = {pivot for pivot, _ in solved}
    terms: dict[int, dict[int, Number]] = {
        free: {free: 1} for free in range(size) if free not in pivots}
    for number, (pivot, equation) in enumerate(reversed(solved)):
        if number % LOOK == 0:
            watch()
        found: dict[int, Number] = {}
        by = equation[pivot]
        for unknown, factor in equation.items():
            if unknown == pivot:
                continue
            # Nearly always 1 or -1; fractions take many times as long as whole numbers.
            share: Number = -factor * by if by in (1, -1) else Fraction(-factor, by)
            for free, weight in terms[unknown].items():
                found[free] = found.get(free, 0) + weight * share
        terms[pivot] = {free: weight for free, weight in found.items() if weight}
    basis: dict[int, dict[int, Number]] = {}
    for unknown in sorted(terms):
        for free, weight in terms[unknown].items():
            basis.setdefault(free, {})[unknown] = weight
    return [_whole(basis[free]) for free in sorted(basis)]


def _whole(weights: Mapping[int, Number]) -> Equation:
    scale = lcm(*(weight.denominator for weight in weights.values()))
    return {unknown: int(weight * scale) for unknown, weight in weights.items()}


def _solved(
    equations: Sequence[Equation], watch: Callable[[], object]
) -> list[tuple[int, Equation]]:
    """The equations in the order in which each was solved for an unknown, its pivot, that no
    later one has."""
    having: dict[int, set[int]] = {}
    for number, equation in enumerate(equations):
        for unknown in equation:
            having.setdefault(unknown, set()).add(number)
    queue = [(len(equation), number) for number, equation in enumerate(equations)]
    heapify(queue)
    done: set[int] = set()
    order = []
    while queue:
        length, number = heappop(queue)
        equation = equations[number]
        if number in done or length != len(equation):
            continue
        done.add(number)
        if len(done) % LOOK == 0:
            watch()
        if not equation:
            continue
        pivot = min(equation, key=lambda unknown: (len(having[unknown]), unknown))
        for unknown in equation:
            having[unknown].discard(number)
        for other in sorted(having[pivot]):
            _without(pivot, equations[other], equation, having, other)
            heappush(queue, (len(equations[other]), other))
        order.append((pivot, equation))
    return order


def _without(
    pivot: int, equation: Equation, solved: Equation, having: Mapping[int, set[int]], number: int
) -> None:
    """Take so much of a solved equation off this one that its pivot goes."""
    common = gcd(solved[pivot], equation[pivot])
    keep, take = solved[pivot] // common, equation[pivot] // common
    if keep != 1:
        for unknown in equation:
            equation[unknown] *= keep
    for unknown, factor in solved.items():
        left = equation.get(unknown, 0) - take * factor
        if left:
            equation[unknown] = left
            having[unknown].add(number)
        else:
            equation.pop(unknown, None)
            having[unknown].discard(number)
    common = gcd(*equation.values())
    if common > 1:
        for unknown in equation:
            equation[unknown] //= common
