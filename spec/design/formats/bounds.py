"""Bounds of the tokens that the places of a net can hold, by sums that no transition raises.

A weighting y >= 0 of the places with y * C <= 0 (C has a column for each transition: what it adds
to each place) gives y * m <= y * m0 for every reachable marking m, so a place p with y[p] = 1 never
holds more than y * m0. The smallest such bound is a linear program for each place (Murata 1989,
section V.B). Floating point proposes the weights; they count once fractions near them satisfy the
inequalities exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from fractions import Fraction
from typing import Any

__all__ = ["place_bounds"]

_DENOMINATORS = (1, 60, 10_000)


def place_bounds(
    start: Mapping[str, int], changes: Sequence[Mapping[str, int]],
    among: Collection[str] | None = None, watch: Callable[[], object] = lambda: None,
) -> dict[str, int]:
    """The most tokens that each place can hold, for those of which it can be proved.

    ``start`` is the first marking, ``changes`` what each transition adds to each place; ``among``
    has the places that are asked about, None all. ``watch`` is called often, and may raise.
    """
    from scipy import sparse

    places = list(start)
    index = {place: at for at, place in enumerate(places)}
    effects = sparse.lil_matrix((max(1, len(changes)), len(places)))
    for at, change in enumerate(changes):
        for place, number in change.items():
            effects[at, index[place]] = number
    matrix, found = effects.tocsr(), {}
    for place in places if among is None else among:
        watch()
        bound = _bound(place, index, matrix, start, changes)
        if bound is not None:
            found[place] = bound
    return found


def _bound(
    place: str, index: Mapping[str, int], effects: Any, start: Mapping[str, int],
    changes: Sequence[Mapping[str, int]],
) -> int | None:
    """The bound of a place by a weighted sum that no transition raises; the weights are rounded,
    and checked as fractions."""
    from scipy.optimize import linprog

    limits = [(1, 1) if other == place else (0, None) for other in index]
    solved = linprog([start[other] for other in index], A_ub=effects, b_ub=[0] * effects.shape[0],
                     bounds=limits, method="highs")
    if solved.x is None:
        return None
    for denominator in _DENOMINATORS:
        weights = {other: Fraction(float(solved.x[at])).limit_denominator(denominator)
                   for other, at in index.items()}
        if weights[place] == 1 and min(weights.values()) >= 0 and all(
                sum(weights[other] * number for other, number in change.items()) <= 0
                for change in changes):
            return int(sum(weights[other] * start[other] for other in index))
    return None
