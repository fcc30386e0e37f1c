"""Bounds of the tokens in the places of a net, by sums that no transition raises.

A weighting y >= 0 of the places with ``y . change(t) <= 0`` for each transition t gives
``y . m <= y . m0`` for each reachable marking m, so a place of weight y[p] > 0 never holds more
than ``y . m0 / y[p]`` (Murata 1989, section V.B). Sums of such weightings are such weightings, so
where a first sparse linear program finds none that has all places, a second one finds all places
that are in any. HiGHS proposes in floating point; what it proposes counts once fractions near it
satisfy each inequality exactly.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from math import lcm
from typing import Any

from ..verdicts.deadline import Deadline, ask
from .net import Net

__all__ = [
    "Sums", "bounding_sums", "growing_counts", "holds_exactly", "lowering", "without_rounds"]

PHASE = "looking for sums that bound the places"
IMPORTS, FIXED, EACH = 60_000_000, 10_000_000, 500
"""Bytes of the libraries, of HiGHS, and of each change that a transition makes to a place: measured
with nets of 16,000 to 50,000 changes."""
DENOMINATORS = (1, 12, 2_520, 1_000_000)

Sums = Mapping[int, int]
"""Weights of at least 1, by place."""


def holds_exactly(net: Net, weights: Sums) -> bool:
    """True if no transition raises the sum: the check of a proposal, in whole numbers."""
    return all(weight > 0 for weight in weights.values()) and all(
        sum(weights.get(place, 0) * number for place, number in change) <= 0
        for change in net.changes)


def bounding_sums(net: Net, deadline: Deadline) -> dict[int, int]:
    """Weights of one sum that no transition raises, which has every place that is in any, as far
    as that can be proved; empty where the time is too short."""
    if not net.places:
        return {}
    if not any(net.changes):
        return dict.fromkeys(range(len(net.places)), 1)
    _has_room(net)
    import numpy as np
    matrix, places = _matrix(net), len(net.places)
    least = _solve(np.ones(places), matrix, [(1, None)] * places, deadline)
    found = {} if least is None else _exact(net, least)
    return found or _widest(net, matrix, deadline)


def _widest(net: Net, matrix: Any, deadline: Deadline) -> dict[int, int]:
    """Weights of a sum with as many places as any has, where there is none with all."""
    import numpy as np
    from scipy import sparse
    places = len(net.places)
    # Two columns a place: 0 <= z <= 1, z <= y; the sum of z is the number of places in the sum y.
    upper = sparse.vstack([
        sparse.hstack([matrix, sparse.csr_matrix(matrix.shape)]),
        sparse.hstack([-sparse.identity(places), sparse.identity(places)])]).tocsr()
    solved = _solve(np.concatenate([np.zeros(places), -np.ones(places)]), upper,
                    [(0, None)] * places + [(0, 1)] * places, deadline)
    if solved is None:
        return {}
    covered = {place for place in range(places) if solved[places + place] > 0.5}
    if not covered:
        return {}
    least = _solve(np.ones(places), matrix, [(1, None) if place in covered else (0, 0)
                                             for place in range(places)], deadline)
    proposals = [each for each in (least, solved[:places]) if each is not None]
    return next((found for each in proposals if (found := _exact(net, each))), {})


def growing_counts(net: Net, among: list[int], deadline: Deadline) -> dict[int, int]:
    """Numbers of firings that leave no place with less, and some of ``among`` with more, by
    transition; empty if none were found. Proposed by HiGHS and checked in whole numbers."""
    if not among or not net.transitions:
        return {}
    _has_room(net)
    import numpy as np
    matrix = _matrix(net).T.tocsr()
    objective = np.asarray(matrix[among].sum(axis=0)).ravel()
    # As few firings as can be, with one more token in those places.
    from scipy import sparse
    upper = sparse.vstack([-matrix, sparse.csr_matrix(-objective)]).tocsr()
    solved = _solve(np.ones(len(net.transitions)), upper, [(0, None)] * len(net.transitions),
                    deadline, at_most=np.concatenate([np.zeros(len(net.places)), [-1.0]]))
    if solved is None:
        return {}
    for denominator in DENOMINATORS:
        counts = _whole(solved, denominator)
        sums = [0] * len(net.places)
        for transition, times in counts.items():
            for place, number in net.changes[transition]:
                sums[place] += number * times
        if min(sums) >= 0 and any(sums):
            return counts
    return {}


def lowering(
    net: Net, among: Collection[int], unweighted: Collection[int], deadline: Deadline
) -> set[int]:
    """Those of the transitions that some weights >= 0 of the places, of 0 for ``unweighted``, all
    lower by at least one: as many as a linear program proposes, checked in whole numbers."""
    if not among or not net.places:
        return set()
    _has_room(net)
    import numpy as np
    from scipy import sparse
    chosen = sorted(among)
    places = len(net.places)
    # A column for each transition has what it lacks of being lowered by one.
    upper = sparse.hstack([_matrix(net)[chosen], -sparse.identity(len(chosen))]).tocsr()
    ranges = [(0, 0 if place in unweighted else None) for place in range(places)]
    solved = _solve(np.concatenate([np.zeros(places), np.ones(len(chosen))]), upper,
                    ranges + [(0, None)] * len(chosen), deadline, at_most=-np.ones(len(chosen)))
    if solved is None:
        return set()
    found: set[int] = set()
    for denominator in DENOMINATORS:
        weights = _whole(solved[:places], denominator)
        lowered = {at for at in chosen if sum(
            weights.get(place, 0) * number for place, number in net.changes[at]) < 0}
        found = max(found, lowered, key=len)
    return found


def without_rounds(net: Net, run: Sequence[int], deadline: Deadline) -> dict[int, int]:
    """The fewest firings that change the first marking as the run does, none more often than in it,
    by transition; those of the run itself where none fewer were found. Whether they can be brought
    into an order is another question."""
    own = Counter(run)
    if not own or not net.places:
        return dict(own)
    _has_room(net)
    import numpy as np
    from scipy.optimize import linprog
    used = sorted(own)
    changed = np.zeros(len(net.places))
    for transition, times in own.items():
        for place, number in net.changes[transition]:
            changed[place] += number * times
    matrix = _matrix(net)[used].T.tocsr()
    deadline.check(PHASE)
    solved = linprog(np.ones(len(used)), A_eq=matrix, b_eq=changed, method="highs",
                     bounds=[(0, own[each]) for each in used], options=_in_time(deadline))
    if solved.status != 0:
        return dict(own)
    found = {each: round(float(value)) for each, value in zip(used, solved.x, strict=True)}
    sums = -changed
    for transition, times in found.items():
        for place, number in net.changes[transition]:
            sums[place] += number * times
    return dict(own) if sums.any() else {each: times for each, times in found.items() if times}


def _has_room(net: Net) -> None:
    """Raise OutOfMemory if HiGHS, or importing it, would take more memory than there is."""
    imported = "scipy.optimize" in sys.modules
    ask(FIXED + (0 if imported else IMPORTS) + EACH * sum(map(len, net.changes)), PHASE)


def _in_time(deadline: Deadline) -> dict[str, float]:
    left = deadline.left()
    return {} if left == float("inf") else {"time_limit": max(0.05, left)}


def _matrix(net: Net) -> Any:
    """A sparse matrix: by transition (row), the tokens added to each place (column)."""
    from scipy import sparse
    rows, columns, values = [], [], []
    for transition, change in enumerate(net.changes):
        for place, number in change:
            rows.append(transition)
            columns.append(place)
            values.append(float(number))
    return sparse.csr_matrix((values, (rows, columns)),
                             shape=(len(net.transitions), len(net.places)))


def _solve(
    objective: Any, upper: Any, ranges: list[Any], deadline: Deadline, at_most: Any = None
) -> Any:
    """The values that minimise the objective; None where there are none, or no time for them."""
    import numpy as np
    from scipy.optimize import linprog
    deadline.check(PHASE)
    solved = linprog(objective, A_ub=upper, b_ub=np.zeros(upper.shape[0]) if at_most is None
                     else at_most, bounds=ranges, method="highs",
                     options=_in_time(deadline))
    return solved.x if solved.status == 0 else None


def _whole(values: Any, denominator: int) -> dict[int, int]:
    """Whole numbers in the ratios of fractions near the values."""
    near = {at: Fraction(float(value)).limit_denominator(denominator)
            for at, value in enumerate(values) if value > 1e-9}
    scale = lcm(*(each.denominator for each in near.values())) if near else 1
    return {at: int(each * scale) for at, each in near.items() if each > 0}


def _exact(net: Net, proposal: Any) -> dict[int, int]:
    """The proposal as whole numbers that hold exactly; empty if none near it do."""
    for denominator in DENOMINATORS:
        weights = _whole(proposal, denominator)
        if weights and holds_exactly(net, weights):
            return weights
    return {}
