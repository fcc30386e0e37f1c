"""An order in which a design empties itself: why it never deadlocks, in its own words.

From the last queue to the first: what is there can go, for all that it waits for is empty already.
Which counters can be emptied, and in which order, is found from the exits: a transition that fills
nothing empties what it takes from, then a transition that fills only those does, and so on (the
least fixed point of an and-or graph). That each is empty where nothing moves is tried by assuming
that it is not, and following what that means from transition to transition and along invariants.

This takes time in the size of the design, and no solver. It says nothing of cycles that only
counting excludes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from ..net.counters import Counters, Transition
from ..net.invariants import Equation
from ..net.rows import Table
from .equations import sums

__all__ = ["Emptying", "emptied", "returning"]

FAR = (12, 200)
"""Counters that one assumption is followed to: first a few."""
STEPS = 12
"""Steps of a run, for each transition, in which every task has moved or never does."""
INFINITE = float("inf")
NARROW = 200
"""Counters of a sum that is made shorter by others."""

Watch = Callable[[], object]
Sum = tuple[Equation, int]


@dataclass(frozen=True)
class Emptying:
    """``order`` are counters with what is left in each at most (None: as much as fits) where
    nothing moves; ``sums`` never change; ``run`` are transitions that can be made then.
    """

    sums: tuple[Sum, ...]
    order: tuple[tuple[int, int | None], ...]
    run: tuple[int, ...] = ()


def emptied(net: Counters, watch: Watch = lambda: None) -> Emptying | None:
    """The order that shows that nothing ever deadlocks; None where none was found."""
    transitions = range(len(net.transitions))
    trying = _Trying(net, transitions, watch)
    ranked = _ranked(net, transitions)
    known = {*ranked}
    trying.empty([*ranked, *(n for n in range(len(net.counters)) if n not in known)])
    rests = net.may_end and all(
        counter.rest >= trying.high[n] for n, counter in enumerate(net.counters))
    if rests or trying.is_wrong({}, transitions):
        return Emptying(tuple(trying.used), tuple(trying.shown))
    return None


def returning(net: Counters, table: Table, watch: Watch = lambda: None) -> Emptying | None:
    """The order, and a run that has a step of every task and can be made once all is empty; None
    where there is none. Accidents are no transitions here.
    """
    fair = [number for number, each in enumerate(net.transitions)
            if each.change and not each.fails and table.rows[each.row].effect.fair]
    ranked = _ranked(net, fair)
    place = {counter: n for n, counter in enumerate(ranked)}
    downhill = [n for n in fair if _falls(net.transitions[n], place)]
    trying = _Trying(net, downhill, watch)
    trying.empty(ranked)
    trying.settle()
    run = _Run(net, table, fair, {*downhill}, trying).steps(watch)
    if run is None:
        return None
    in_order = [n for n, _ in trying.shown] == ranked
    first = [] if in_order else [(n, None) for n in ranked]
    return Emptying(tuple(trying.used), (*first, *trying.shown), run)


def _falls(transition: Transition, place: Mapping[int, int]) -> bool:
    latest = max((n for n in transition.change if n in place), key=place.__getitem__, default=None)
    return latest is not None and transition.change[latest] < 0


def _ranked(net: Counters, transitions: Sequence[int]) -> list[int]:
    """The counters that can be emptied, those first that need no other one for it."""
    stocks = {n for n, counter in enumerate(net.counters) if counter.start}
    filling: dict[int, list[int]] = {}
    waits: dict[int, int] = {}
    found: list[int] = []
    known: set[int] = set()
    ready: deque[int] = deque()
    for number in transitions:
        filled = [n for n, by in net.transitions[number].change.items() if by > 0 and n
                  not in stocks]
        waits[number] = len(filled)
        for n in filled:
            filling.setdefault(n, []).append(number)
        if not filled:
            ready.append(number)
    while ready:
        for n, by in net.transitions[ready.popleft()].change.items():
            if by < 0 and n not in stocks and n not in known:
                known.add(n)
                found.append(n)
                for number in filling.get(n, ()):
                    waits[number] -= 1
                    if not waits[number]:
                        ready.append(number)
    return found


# --- sums with few counters -------------------------------------------------------------------

def _told(net: Counters, watch: Watch) -> Iterator[Sum]:
    """The sums that are used: those that were meant, as they are, and short ones of a basis."""
    told = set()
    for weights in net.meant:
        total = sum(net.counters[n].start * by for n, by in weights.items())
        told |= {_key(weights, sign) for sign in (1, -1)}
        yield dict(weights), total
    for weights, total in _short(sums(net, watch)):
        if len(weights) > 1 and _key(weights, 1) not in told:
            yield weights, total


def _key(weights: Mapping[int, int], sign: int) -> frozenset[tuple[int, int]]:
    return frozenset((n, sign * by) for n, by in weights.items())


def _short(found: Iterable[Sum]) -> list[Sum]:
    """The same sums, less others where that makes them shorter."""
    laws = [(dict(weights), total) for weights, total in found]
    having: dict[int, set[int]] = {}
    for number, (weights, _) in enumerate(laws):
        for n in weights:
            having.setdefault(n, set()).add(number)
    queue = deque(range(len(laws)))
    while queue:
        number = queue.popleft()
        weights, total = laws[number]
        if len(weights) > NARROW:
            continue
        shorter = _shortest(laws, number, {other for n in weights for other in having[n]})
        if shorter is not None:
            for n in weights:
                having[n].discard(number)
            laws[number] = shorter
            for n in shorter[0]:
                having[n].add(number)
            queue.append(number)
    return laws


def _shortest(laws: Sequence[Sum], number: int, others: Iterable[int]) -> Sum | None:
    """The sum of an invariant and plus or minus another one that has the fewest places; None if
    none has fewer."""
    weights, total = laws[number]
    best: Sum | None = None
    for other in sorted(others):
        if other == number or len(laws[other][0]) > 2 * len(weights):
            continue
        for sign in (1, -1):
            found = dict(weights)
            for n, by in laws[other][0].items():
                left = found.get(n, 0) + sign * by
                if left:
                    found[n] = left
                else:
                    found.pop(n, None)
            if len(found) < len(best[0] if best else weights):
                best = found, total + sign * laws[other][1]
    return best


# --- what follows -------------------------------------------------------------------------------

class _Nothing(Exception):
    """No state is like that."""


class _Trying:
    """The facts about all states in which some transitions are not possible; ``shown`` has the
    counters for which they were shown, in that order, and ``used`` the sums that this needed."""

    def __init__(self, net: Counters, transitions: Sequence[int], watch: Watch) -> None:
        self.net, self.transitions, self.watch = net, transitions, watch
        changed = {n for transition in net.transitions for n in transition.change}
        self.low = [0 if n in changed else each.start for n, each in enumerate(net.counters)]
        self.high: list[float] = [
            each.start if n not in changed else INFINITE if each.most is None else each.most
            for n, each in enumerate(net.counters)]
        self.asking: dict[int, list[int]] = {}
        for number in transitions:
            for n in {*net.transitions[number].least, *net.transitions[number].most}:
                self.asking.setdefault(n, []).append(number)
        self.sums = list(_told(net, watch))
        self.adding: dict[int, list[int]] = {}
        for number, (weights, _) in enumerate(self.sums):
            for n in weights:
                self.adding.setdefault(n, []).append(number)
        self._halves = [[([(n, sign * k) for n, k in weights.items()], sign * total)
                         for sign in (1, -1)] for weights, total in self.sums]
        self.shown: list[tuple[int, int | None]] = []
        self._needed: dict[int, None] = {}
        self._now: dict[int, None] = {}
        self._far = FAR[0]
        self._looked: set[object] = set()
        self._queue: deque[int] = deque()
        self._before: list[tuple[int, int, float]] = []

    @property
    def used(self) -> Iterator[Sum]:
        """The sums that something rests on."""
        return (self.sums[number] for number in self._needed)

    def empty(self, wanted: Sequence[int]) -> None:
        """Show of as many of these counters as possible that little is left in them. One of which
        that fails is tried again once more is known of what was looked at for it."""
        for self._far in FAR:
            self._empty([n for n in wanted if self.high[n] > self._untaken(n)])

    def _empty(self, wanted: Sequence[int]) -> None:
        waiting: dict[object, set[int]] = {}
        again = deque(wanted)
        listed = {*again}
        while again:
            n = again.popleft()
            listed.discard(n)
            if not self._empties(n):
                for looked in self._looked:
                    waiting.setdefault(looked, set()).add(n)
                continue
            known = {other for looked in self._near(n) for other in waiting.pop(looked, ())}
            again.extend(sorted(known - listed - {n}))
            listed |= known - {n}

    def _near(self, n: int) -> Iterator[object]:
        """The sums and transitions that a counter is in."""
        yield n
        for number in self.adding.get(n, ()):
            yield "sum", number
        for number in self.asking.get(n, ()):
            yield from {*self.net.transitions[number].least, *self.net.transitions[number].most}

    def _empties(self, n: int) -> bool:
        self.watch()
        self._looked.clear()
        for most in dict.fromkeys((0, self._untaken(n))):
            if most < self.high[n] and self.is_wrong({n: most + 1}):
                self.high[n] = most
                self.shown.append((n, most))
                return True
        return False

    def _untaken(self, n: int) -> int:
        """The most that no task takes."""
        asked = [self.net.transitions[number].least.get(n, 0) for number in self.asking.get(n, ())]
        return max(0, min((each for each in asked if each > 0), default=1) - 1)

    def is_wrong(self, least: Mapping[int, int], transitions: Sequence[int] = ()) -> bool:
        """True if no state has so many there while these transitions are not possible."""
        try:
            self._follow(least, transitions)
        except _Nothing:
            self._needed |= self._now
            return True
        finally:
            self._queue.clear()
            while self._before:
                n, low, high = self._before.pop()
                self.low[n], self.high[n] = low, high
        return False

    def settle(self) -> None:
        """Know all that follows from what was shown."""
        self._follow({}, self.transitions)
        self._needed |= self._now
        self._queue.clear()
        self._before.clear()

    def _follow(self, least: Mapping[int, int], transitions: Sequence[int]) -> None:
        """Derive the consequences of so many being there; with transitions, of all that is known.

        """
        self._now.clear()
        if transitions:
            self._queue.extend(range(len(self.low)))
        far = self._far * (len(self.low) if transitions else 1)
        for n, number in least.items():
            self._bound(n, number, INFINITE)
        for number in transitions:
            self._blocked(number)
        while self._queue and far:
            here = self._queue.popleft()
            far -= 1
            self._looked.add(here)
            for number in self.asking.get(here, ()):
                self._blocked(number)
            for number in self.adding.get(here, ()):
                self._balance(number)

    def _bound(self, n: int, low: int, high: float) -> bool:
        if low <= self.low[n] and high >= self.high[n]:
            return False
        self._before.append((n, self.low[n], self.high[n]))
        self.low[n], self.high[n] = max(low, self.low[n]), min(high, self.high[n])
        if self.low[n] > self.high[n]:
            raise _Nothing
        self._queue.append(n)
        return True

    def _blocked(self, number: int) -> None:
        """Bound the one place by which a transition can be disabled; raises ``_Nothing`` if there
        is none, for then it is enabled."""
        transition = self.net.transitions[number]
        open_: tuple[int, int, float] | None = None
        for n, least in transition.least.items():
            if self.low[n] < least:
                if open_ is not None:
                    return
                open_ = n, 0, least - 1
        for n, most in transition.most.items():
            if self.high[n] > most:
                if open_ is not None:
                    return
                open_ = n, most + 1, INFINITE
        if open_ is None:
            raise _Nothing
        self._bound(*open_)

    def _balance(self, number: int) -> None:
        self._looked.add(("sum", number))
        for parts, total in self._halves[number]:
            endless, spare = -1, total
            for n, k in parts:
                end = self.low[n] if k > 0 else self.high[n]
                if end != INFINITE:
                    spare -= k * int(end)
                elif endless >= 0:
                    break
                else:
                    endless = n
            else:
                self._share(number, parts, spare, endless)

    def _share(self, number: int, parts: Sequence[tuple[int, int]], spare: int, endless: int
               ) -> None:
        """So much is left to share; all for the one that has no end, if there is one."""
        for n, k in parts:
            if endless in (-1, n):
                low, high = self.low[n], self.high[n]
                mine = 0 if n == endless else spare // abs(k)
                if k > 0 and low + mine < high:
                    self._now[number] = None
                    self._bound(n, 0, low + mine)
                elif k < 0 and n == endless and -(spare // -k) > low:
                    self._now[number] = None
                    self._bound(n, -(spare // -k), INFINITE)
                elif k < 0 and n != endless and high - mine > low:
                    self._now[number] = None
                    self._bound(n, int(high) - mine, INFINITE)


# --- a run ----------------------------------------------------------------------------------------

class _Run:
    """Transitions that can be made wherever so much is left, until every task has moved: first
    those of tasks that have not moved, then transitions that were not yet made, then downhill."""

    def __init__(
        self, net: Counters, table: Table, transitions: Sequence[int], downhill: set[int],
        left: _Trying,
    ) -> None:
        self.net, self.table, self.transitions, self.downhill = net, table, transitions, downhill
        self.low, self.high = list(left.low), list(left.high)
        self.asking: dict[int, list[int]] = {}
        for number in transitions:
            for n in {*net.transitions[number].least, *net.transitions[number].most}:
                self.asking.setdefault(n, []).append(number)
        self.made = dict.fromkeys(transitions, 0)
        self.waiting = {task for row in table.rows for task in row.tasks}

    def steps(self, watch: Watch) -> tuple[int, ...] | None:
        """The run; None where it comes to no end."""
        found: list[int] = []
        ready = [(self._worth(number), number) for number in self.transitions
                 if self._possible(number)]
        heapify(ready)
        listed = {number for _, number in ready}
        while self.waiting:
            watch()
            if not ready or len(found) > STEPS * len(self.transitions):
                return None
            worth, number = heappop(ready)
            if not self._possible(number):
                listed.discard(number)
            elif self._worth(number) > worth:  # it was worth more when it was listed
                heappush(ready, (self._worth(number), number))
            else:
                self._make(number)
                found.append(number)
                listed.discard(number)
                for other in self._touched(number) - listed:
                    if self._possible(other):
                        listed.add(other)
                        heappush(ready, (self._worth(other), other))
        return tuple(found)

    def _make(self, number: int) -> None:
        self.made[number] += 1
        self.waiting -= {*self.table.rows[self.net.transitions[number].row].tasks}
        for n, by in self.net.transitions[number].change.items():
            self.low[n] += by
            self.high[n] += by

    def _touched(self, number: int) -> set[int]:
        """The transitions that may have become possible."""
        return {number, *(other for n in self.net.transitions[number].change
                          for other in self.asking.get(n, ()))}

    def _possible(self, number: int) -> bool:
        transition = self.net.transitions[number]
        return all(self.low[n] >= k for n, k in transition.least.items()) and all(
            self.high[n] <= k for n, k in transition.most.items())

    def _worth(self, number: int) -> tuple[bool, bool, bool, int]:
        new = self.waiting.isdisjoint(self.table.rows[self.net.transitions[number].row].tasks)
        made = self.made[number]
        return new, made > 0, number not in self.downhill, made
