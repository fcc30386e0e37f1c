"""Ranges of counters, narrowed by what is known of them together.

Three things narrow a range: a weighted sum with a known total (the other counters leave only so
much; bounds consistency, Apt 2003), a choice of bounds of which one is true (all but one are
false; unit propagation, with two of them watched, Moskewicz et al. 2001), and the stride of a
counter, which is congruent to its start. What is narrowed can be widened again, to where it was,
so that something may be assumed for a while.

Each of them looks at a few counters only. So a design of a hundred thousand queues is as many small
steps, where a solver of all its equations at once takes time that grows with their square.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence

from .lemmas import Bound
from .question import FAR

__all__ = ["EVERY", "Ranges", "opposite"]

TOLD = 10**20
"""No range is narrowed to an end above this: it comes from another counter that has no end."""
EVERY = 4_000
"""Sums and narrowed ranges between two looks at the clock."""


def opposite(bound: Bound) -> Bound:
    """The bound that is true exactly where this one is not."""
    counter, sign, number = bound
    return counter, -sign, number - sign


class Ranges:
    """The range of each counter, from ``low`` to ``high``.

    ``start`` and ``stride`` say to what a counter is congruent; with the stride 0 it is its start.
    A method that narrows says whether anything is left: where it says no, there is no state within
    the ranges, and they must be widened to an earlier ``mark``.
    """

    def __init__(
        self, start: Sequence[int], most: Sequence[int | None], stride: Sequence[int],
        watch: Callable[[], object] = lambda: None,
    ) -> None:
        self._start, self._stride = start, [each or 1 for each in stride]
        self.low = [0 if by else here for here, by in zip(start, stride, strict=True)]
        self.high = [
            here if not by else FAR if end is None else end - (end - here) % by
            for here, end, by in zip(start, most, stride, strict=True)]
        for n, (here, by) in enumerate(zip(start, stride, strict=True)):
            self.low[n] += (here - self.low[n]) % by if by else 0
        self.trail: list[tuple[int, int, int]] = []
        """Each counter that was narrowed, with the range that it had before."""
        self.sums: list[tuple[Sequence[tuple[int, int]], int, int]] = []
        """The counters of a sum with their weights, and its least and largest total."""
        self.choices: list[list[Bound]] = []
        """Bounds of which one is true; the first two are watched."""
        self.sums_of: list[list[int]] = [[] for _ in start]
        self._watching: tuple[list[list[int]], list[list[int]]] = (
            [[] for _ in start], [[] for _ in start])
        self._changed: deque[tuple[int, int]] = deque()
        self._waiting: list[int] = []
        self._is_waiting: set[int] = set()
        self._watch, self._since = watch, 0

    # --- what is known ------------------------------------------------------------------------

    def add_sum(self, weights: Mapping[int, int], least: int, most: int) -> None:
        """A weighted sum is always within these totals."""
        number = len(self.sums)
        self.sums.append((tuple(weights.items()), least, most))
        for n in weights:
            self.sums_of[n].append(number)
        self._wait(number)

    def add_choice(self, bounds: Iterable[Bound]) -> bool:
        """One of these bounds is always true."""
        choice = sorted(set(bounds), key=self.is_false)
        if len(choice) < 2 or self.is_false(choice[1]):
            return bool(choice) and (self.is_true(choice[0]) or self.assume(choice[0]))
        number = len(self.choices)
        self.choices.append(choice)
        for counter, sign, _ in choice[:2]:
            self._watching[sign < 0][counter].append(number)
        return True

    def is_true(self, bound: Bound) -> bool:
        """True if a bound is true in all of its counter's range."""
        n, sign, number = bound
        return self.low[n] >= number if sign > 0 else self.high[n] <= number

    def is_false(self, bound: Bound) -> bool:
        """True if a bound is false in all of its counter's range."""
        n, sign, number = bound
        return self.high[n] < number if sign > 0 else self.low[n] > number

    def is_open(self, bound: Bound) -> bool:
        """True if a bound is true in a part of its counter's range, and false in another."""
        n, sign, number = bound
        if sign > 0:
            return self.low[n] < number <= self.high[n]
        return self.low[n] <= number < self.high[n]

    # --- narrowing ----------------------------------------------------------------------------

    def assume(self, bound: Bound) -> bool:
        """Narrow a range to where a bound is true; ``settle`` says what follows."""
        n, sign, number = bound
        low, high = self.low[n], self.high[n]
        if sign > 0:
            if number <= low:
                return True
            number += (self._start[n] - number) % self._stride[n]
            if number > high:
                return False
            self.low[n] = number
        else:
            if number >= high or number > TOLD:
                return True
            number -= (number - self._start[n]) % self._stride[n]
            if number < low:
                return False
            self.high[n] = number
        self.trail.append((n, low, high))
        self._changed.append((n, sign))
        return True

    def widen(self, mark: int) -> None:
        """Go back to when the trail was so long."""
        trail, low, high = self.trail, self.low, self.high
        while len(trail) > mark:
            n, low[n], high[n] = trail.pop()

    def settle(self, most: int = FAR) -> bool:
        """Narrow whatever follows; after more than ``most`` ranges the rest is left out."""
        changed, waiting, began = self._changed, self._waiting, len(self.trail)
        while changed or waiting:
            self._since += 1
            if self._since > EVERY:
                self._since = 0
                self._watch()
            if changed:
                n, sign = changed.popleft()
                fine = self._chosen(n, sign)
                for number in self.sums_of[n]:
                    self._wait(number)
            else:
                number = waiting.pop()
                self._is_waiting.discard(number)
                fine = self._summed(number)
            if not fine or len(self.trail) - began > most:
                changed.clear()
                waiting.clear()
                self._is_waiting.clear()
                return fine
        return True

    def _wait(self, number: int) -> None:
        if number not in self._is_waiting:
            self._is_waiting.add(number)
            self._waiting.append(number)

    def _summed(self, number: int) -> bool:
        """Narrow the counters of a sum to what the others leave of it."""
        terms, least, most = self.sums[number]
        low, high = self.low, self.high
        below = above = 0
        for n, weight in terms:
            if weight > 0:
                below += weight * low[n]
                above += weight * high[n]
            else:
                below += weight * high[n]
                above += weight * low[n]
        up, down = most - below, above - least
        if up < 0 or down < 0:
            return False
        for n, weight in terms:
            here, end = low[n], high[n]
            size = abs(weight)
            if here == end or size * (end - here) <= min(up, down):
                continue
            rise, fall = (up, down) if weight > 0 else (down, up)
            if not (self.assume((n, -1, here + rise // size))
                    and self.assume((n, 1, end - fall // size))):
                return False
        return True

    def _chosen(self, counter: int, sign: int) -> bool:
        """Look at the choices that watch a bound of a counter, which may now be false."""
        watching = self._watching[sign > 0][counter]
        kept, fine = 0, True
        for place, number in enumerate(watching):
            choice = self.choices[number]
            if choice[0][0] == counter and choice[0][1] != sign and self.is_false(choice[0]):
                choice[0], choice[1] = choice[1], choice[0]
            moved = False
            if choice[1][0] == counter and choice[1][1] != sign and self.is_false(choice[1]) \
                    and not self.is_true(choice[0]):
                moved = self._rewatched(number)
                if not moved and not self.assume(choice[0]):
                    fine = False
            if not moved:
                watching[kept] = number
                kept += 1
            if not fine:
                watching[kept:] = watching[place + 1:]
                return False
        del watching[kept:]
        return True

    def _rewatched(self, number: int) -> bool:
        """Watch another bound of a choice in place of its second one; false where all are false."""
        choice = self.choices[number]
        for place in range(2, len(choice)):
            if not self.is_false(choice[place]):
                choice[1], choice[place] = choice[place], choice[1]
                counter, sign, _ = choice[1]
                self._watching[sign < 0][counter].append(number)
                return True
        return False
