"""A deadlocked state of a large design, looked for by narrowing ranges.

First what follows for every deadlocked state: each guard of a transition is assumed to hold, or not
to; where that leaves nothing the contrary is known, and the counters nearby are asked again (failed
literals; Freeman 1995). So a row of stages is settled from its end, a stage at a time. Where
nothing is left at all, there is no deadlocked state.

Then one is put together. The transitions are gone through from what is settled on, and of each that
may still be possible a guard is chosen to fail: one that finds a place full before one that finds a
place empty, as in a deadlock. A choice that leaves nothing is taken back. Work that is taken back
too often is given up, and a solver is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations
from math import gcd

from ..net.invariants import Equation
from .lemmas import Bound, Clause
from .question import FAR, Question
from .ranges import EVERY, Ranges, opposite

__all__ = ["TakenBack", "Trials", "clearer"]

MAX_ASSUMED = 400
"""Ranges that may be narrowed after one assumption, for what follows nearby."""
MAX_NEAR = 40
"""Counters of a sum that are near each other."""
MAX_SHARED = 8
"""Sums that have a counter in common, of which each two are put together."""
MAX_TAKEN_BACK = 2_000
"""Choices that are taken back before the solver is asked."""


class TakenBack(Exception):
    """Too many choices were taken back."""


class Trials:
    """The states of a question, which may be added to between two answers."""

    def __init__(self, question: Question, watch: Callable[[], object] = lambda: None) -> None:
        self._question, self._watch = question, watch
        self._ranges = Ranges(question.start, question.most, question.stride, watch)
        self._bounds_of: list[list[Bound]] = [[] for _ in question.start]
        self._choices_of: list[list[int]] = [[] for _ in question.start]
        self._choices: list[tuple[Bound, ...]] = []
        self._is_possible, self._is_clear = True, False
        for each in question.sums:
            self._ranges.add_sum(*each)
        for number, choice in enumerate(question.choices):
            if number % EVERY == 0:
                watch()
            self._choose(choice)
        watch()

    def add(self, clause: Clause) -> bool:
        """One more thing that is true in every reachable state; false where it has several sums to
        choose from, which ranges cannot say."""
        options = clause.options
        if len(options) == 1:
            self._ranges.add_sum(options[0].weights, -FAR, options[0].total)
            return True
        found = []
        for option in options:
            (n, weight), *more = option.weights.items()
            if more or abs(weight) != 1:
                return False
            found.append((n, -weight, weight * option.total))
        self._choose(tuple(found))
        return True

    def state(self) -> Sequence[int] | None:
        """A state, None if there is none. Raises TakenBack where it is not found out."""
        self._is_possible = self._is_possible and self._ranges.settle() and (
            self._all_known() if self._is_clear else self._clear())
        if not self._is_possible:
            return None
        mark = len(self._ranges.trail)
        choosing = _Choosing(self._ranges, self._choices, self._order(), self._question.start,
                             lambda since: self._known(self._near(
                                 n for n, _, _ in self._ranges.trail[since:])))
        try:
            return choosing.state()
        finally:
            self._ranges.widen(mark)

    def _clear(self) -> bool:
        """Add the sums that say more, which take long to find; false where nothing is left."""
        self._is_clear = True
        for each in clearer(self._question.sums):
            self._ranges.add_sum(*each)
            self._watch()
        return self._ranges.settle() and self._all_known()

    def _choose(self, bounds: tuple[Bound, ...]) -> None:
        number = len(self._choices)
        self._choices.append(bounds)
        self._is_possible = self._ranges.add_choice(bounds) and self._is_possible
        if len(bounds) > MAX_NEAR:
            return
        for bound in bounds:
            self._choices_of[bound[0]].append(number)
            if bound not in self._bounds_of[bound[0]]:
                self._bounds_of[bound[0]].append(bound)

    # --- what follows -------------------------------------------------------------------------

    def _known(self, counters: Iterable[int]) -> bool:
        """Narrow the ranges to what no assumption about these counters refutes, nor about those
        near to what becomes known; false where nothing is left."""
        ranges, stack = self._ranges, list(counters)
        waiting, news = set(stack), len(ranges.trail)
        while stack:
            n = stack.pop()
            if n not in waiting:
                continue
            waiting.discard(n)
            for bound in self._bounds_of[n]:
                if not self._asked(bound):
                    return False
            if len(ranges.trail) > news:
                near = self._near(n for n, _, _ in ranges.trail[news:])
                waiting.update(near)
                stack += near
                news = len(ranges.trail)
        return True

    def _all_known(self) -> bool:
        """The same of all counters, those near to what is settled first."""
        ranges = self._ranges
        return self._known([*range(len(self._bounds_of)),
                            *self._near(n for n, _, _ in ranges.trail)])

    def _asked(self, bound: Bound) -> bool:
        """Assume a bound and its opposite, and note which is refuted; false where both are."""
        ranges = self._ranges
        for assumed in (opposite(bound), bound):
            if not ranges.is_open(bound):
                return True
            mark = len(ranges.trail)
            fine = ranges.assume(assumed) and ranges.settle(MAX_ASSUMED)
            ranges.widen(mark)
            if not fine and not (ranges.assume(opposite(assumed)) and ranges.settle()):
                return False
        return True

    def _near(self, counters: Iterable[int]) -> list[int]:
        """The counters that stand in a choice or a short sum with some of these, and are open."""
        ranges, found = self._ranges, dict[int, None]()
        for n in dict.fromkeys(counters):
            for number in self._choices_of[n]:
                found.update((bound[0], None) for bound in self._choices[number])
            for number in ranges.sums_of[n]:
                terms = ranges.sums[number][0]
                if len(terms) <= MAX_NEAR:
                    found.update((other, None) for other, _ in terms)
        return [n for n in found if ranges.low[n] < ranges.high[n]]

    # --- the order of choices -----------------------------------------------------------------

    def _order(self) -> list[int]:
        """The choices, from what is settled on; what nothing settled is near to comes last."""
        ranges, size = self._ranges, len(self._choices_of)
        order: dict[int, None] = {}
        is_seen = [low == high for low, high in zip(ranges.low, ranges.high, strict=True)]
        queue = self._near(n for n in range(size) if is_seen[n])
        queue += [n for n in reversed(range(size)) if not is_seen[n]]
        for first in queue:
            wave = [first]
            for n in wave:
                if is_seen[n]:
                    continue
                is_seen[n] = True
                order.update((number, None) for number in self._choices_of[n])
                wave += [other for other in self._near([n]) if not is_seen[other]]
        order.update((number, None) for number in range(len(self._choices)))
        return list(order)


class _Choosing:
    """Goes through the choices, and makes one of each true that is not."""

    def __init__(
        self, ranges: Ranges, choices: Sequence[Sequence[Bound]], order: Sequence[int],
        start: Sequence[int], known: Callable[[int], bool],
    ) -> None:
        self.ranges, self.choices, self.order, self.start = ranges, choices, order, start
        self.known = known
        self.made: list[tuple[int, int, Bound]] = []
        """The choices: the length of the trail before each, its place in the order, a bound."""
        self.place = 0
        self.taken_back = 0

    def state(self) -> list[int] | None:
        """The state that is put together; None where there is none. Raises TakenBack."""
        size = len(self.order)
        while self.place < size + len(self.start):
            bound = (self._open_bound(self.choices[self.order[self.place]])
                     if self.place < size else self._unsettled(self.place - size))
            if bound is None:
                self.place += 1
                continue
            self.made.append((len(self.ranges.trail), self.place, bound))
            if not (self.ranges.assume(bound) and self.ranges.settle()) and not self._take_back():
                return None
        return list(self.ranges.low)

    def _open_bound(self, choice: Sequence[Bound]) -> Bound | None:
        """The bound that is to be made true of a choice in which none is yet."""
        ranges = self.ranges
        if any(map(ranges.is_true, choice)):
            return None
        return max(filter(ranges.is_open, choice), key=lambda bound: bound[1])

    def _unsettled(self, n: int) -> Bound | None:
        """A bound that brings a counter as near to its start as it may be."""
        low, high = self.ranges.low[n], self.ranges.high[n]
        if low == high:
            return None
        wanted = min(max(self.start[n], low), high)
        return (n, -1, wanted) if high > wanted else (n, 1, wanted)

    def _take_back(self) -> bool:
        """Undo the last choice after which anything is left, and make its contrary true; false
        where there is none."""
        while self.made:
            self.taken_back += 1
            if self.taken_back > MAX_TAKEN_BACK:
                raise TakenBack
            mark, self.place, bound = self.made.pop()
            self.ranges.widen(mark)
            if self.ranges.assume(opposite(bound)) and self.ranges.settle() and (
                    self.made or self.known(mark)):
                return True
        return False


# --- sums that say more ------------------------------------------------------------------------

Sum = tuple[Equation, int, int]
"""Weights, and the least and the largest total."""


def clearer(sums: Sequence[Sum]) -> Iterator[Sum]:
    """Two sums at a time without a counter that both have, where that is shorter than one of them,
    or is without a negative weight that one of them has: ranges follow from it that do not follow
    from the two one by one."""
    having: dict[int, list[int]] = {}
    for number, (weights, least, most) in enumerate(sums):
        for n in weights if len(weights) <= MAX_NEAR and least == most else ():
            having.setdefault(n, []).append(number)
    known = {_key(weights) for weights, _, _ in sums}
    for n, numbers in having.items():
        for one, other in combinations(numbers, 2) if len(numbers) <= MAX_SHARED else ():
            found, total = _without(n, sums[one], sums[other])
            key = _key(found)
            if key in known or len(found) < 2:
                continue
            known.add(key)
            two = sums[one][0], sums[other][0]
            if len(found) < max(map(len, two)) or not _is_mixed(found) and any(
                    map(_is_mixed, two)):
                yield found, total, total


def _without(n: int, one: Sum, other: Sum) -> tuple[Equation, int]:
    """Two sums together, each so many times that a counter goes."""
    keep, take = other[0][n], one[0][n]
    found = {place: weight * keep for place, weight in one[0].items()}
    for place, weight in other[0].items():
        found[place] = found.get(place, 0) - weight * take
    found = {place: weight for place, weight in found.items() if weight}
    common = gcd(*found.values()) or 1
    if sum(weight > 0 for weight in found.values()) * 2 < len(found):
        common = -common
    total = one[1] * keep - other[1] * take
    return {place: weight // common for place, weight in found.items()}, total // common


def _key(weights: Equation) -> tuple[tuple[int, int], ...]:
    return tuple(sorted(weights.items()))


def _is_mixed(weights: Equation) -> bool:
    return min(weights.values()) < 0 < max(weights.values())
