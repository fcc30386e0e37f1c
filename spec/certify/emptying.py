"""An order in which a part empties itself: each wait is for something that comes earlier in it.

Nothing is searched and nothing is solved. The certificate names counters, one after another, and
says how much is left in each once no transition is possible any more. Suppose that more were left.
If a transition is not possible, and all but one of the things that it asks for are there, that one
is lacking; and in an invariant (a sum that no transition changes), what all others hold leaves
little for one. Follow that from counter to counter until there is a contradiction: then no more is
left.

At the end either some transition is possible after all, or all is done: so the part is
*deadlock-free*.

Suppose that only the *downhill* transitions are not possible: those that take from the latest in
the order of all the counters of the order that they change. From every state so many of them lead
to such a state (the counters, the latest of the order first, decrease like words in a dictionary).
If a run is possible in every such state that has a step of each task, then each may take a step
again, whatever has happened: *none is blocked forever*.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import Any

from .kept import Kept
from .limits import look
from .run import Refuted, Ways
from .system import Transition, NotCovered, System

__all__ = ["always_moves_again", "never_waits"]

LOOKS = 5_000_000
"""The most times that transitions and sums are looked at."""

Sum = tuple[Mapping[str, int], int]
"""Weights of counters, and what they come to at most."""


def never_waits(system: System, proof: Mapping[str, Any]) -> None:
    """Check that a part never deadlocks. Raises Refuted."""
    left = _left_in(system, proof, system.transitions)
    ended = system.ends and all(left.high[name] <= rest for name, rest in system.rests.items())
    if not ended and not left.are_wrong():
        raise Refuted("what the order leaves may be a deadlock")


def always_moves_again(system: System, proof: Mapping[str, Any], tasks: Iterable[str]) -> None:
    """Check that each of these tasks may take a step again, whatever has happened. Raises Refuted.
    """
    place: dict[str, int] = {}
    for name, _ in proof["order"]:
        place.setdefault(name, len(place))
    downhill = [transition for transition in system.transitions
                if not transition.fails and not transition.chance and _falls(transition, place)]
    left = _left_in(system, proof, downhill)
    left.settle()
    missing = {*tasks} - _tour(system, left, proof["run"])
    if missing:
        raise Refuted(f"no step of the run is one of {min(missing)}")


def _falls(transition: Transition, place: Mapping[str, int]) -> bool:
    """True if a transition takes from the latest of the counters that it changes."""
    latest = max((name for name in transition.change if name in place), key=place.__getitem__,
                 default="")
    return transition.change.get(latest, 0) < 0


def _left_in(system: System, proof: Mapping[str, Any], transitions: Sequence[Transition]) -> _Left:
    """The amounts left where none of these transitions is possible, each counter as the order says.
    """
    left = _Left(system, Kept(system, {"sums": proof["sums"], "clauses": []}).sums, transitions)
    for name, most in proof["order"]:
        if name not in system.counters:
            raise Refuted(f"the design has no counter {name!r}")
        if most is not None and not left.has_no_more(name, most):
            raise Refuted(f"more than {most:,} may be left of {name}")
    return left


def _tour(system: System, left: _Left, steps: Sequence[Mapping[str, int]]) -> set[str]:
    """The tasks that can take a step of a run that is possible wherever so much is left."""
    ways, low, high, found = Ways(system), dict(left.low), dict(left.high), set[str]()
    for number, step in enumerate(steps, start=1):
        possible = [transition for transition in ways.of(step) if not transition.chance and all(
            low[c] >= n for c, n in transition.need.items()) and all(
            high[c] <= n for c, n in transition.room.items())]
        if not possible:
            raise Refuted(f"step {number} of the run is not possible")
        found |= {task for transition in possible for task in transition.tasks}
        for counter, by in step.items():
            low[counter] += by
            high[counter] += by
    return found


class _Wrong(Exception):
    """There is no such state."""


class _Left:
    """The least and the most that each counter holds in a state in which some transitions are not
    possible, as far as it is known."""

    def __init__(
        self, system: System, sums: Sequence[Mapping[str, Any]], transitions: Sequence[Transition]
    ) -> None:
        changed = {name for transition in system.transitions for name in transition.change}
        self.low = {name: 0 if name in changed else counter.start
                    for name, counter in system.counters.items()}
        self.high = {name: counter.start if name not in changed
                     else inf if counter.most is None else counter.most
                     for name, counter in system.counters.items()}
        self.all = transitions
        self.transitions: dict[str, list[Transition]] = {}
        for transition in transitions:
            for name in {*transition.need, *transition.room}:
                self.transitions.setdefault(name, []).append(transition)
        self.sums: dict[str, list[Sum]] = {}
        for law in sums:
            for sign in (1, -1):  # it is at most that, and at least
                told = {name: sign * n for name, n in law["weights"].items() if n}
                for name in told:
                    self.sums.setdefault(name, []).append((told, sign * law["total"]))
        self.changed: deque[str] = deque()
        self.before: list[tuple[str, int, float]] = []
        self.looks = 0

    def has_no_more(self, name: str, most: int) -> bool:
        """True if a counter never holds more than ``most``; if so, this is known from now on."""
        wrong = self._is_wrong({name: most + 1})
        if wrong:
            self.high[name] = min(self.high[name], most)
        return wrong

    def are_wrong(self) -> bool:
        """True if there is no such state at all."""
        return self._is_wrong({}, self.all)

    def settle(self) -> None:
        """Know all that follows from what is known."""
        try:
            self._follow({}, self.all)
        except _Wrong:
            raise Refuted("the order is wrong of every state") from None
        self.before.clear()

    def _is_wrong(self, least: Mapping[str, int], transitions: Sequence[Transition] = ()) -> bool:
        """True if these counters cannot hold so many while these transitions are not possible."""
        try:
            self._follow(least, transitions)
        except _Wrong:
            return True
        finally:
            self.changed.clear()
            while self.before:
                name, low, high = self.before.pop()
                self.low[name], self.high[name] = low, high
        return False

    def _follow(self, least: Mapping[str, int], transitions: Sequence[Transition]) -> None:
        """All that follows if these counters hold so many, and from these moves."""
        for name, number in least.items():
            self._known(name, number, inf)
        for transition in transitions:
            self._not_possible(transition)
        self.changed.extend({name: None for each in transitions for name in each.change})
        while self.changed:
            here = self.changed.popleft()
            look("following what an order leaves")
            for transition in self.transitions.get(here, ()):
                self._not_possible(transition)
            for weights, total in self.sums.get(here, ()):
                self._at_most(weights, total)

    def _known(self, name: str, low: int, high: float) -> None:
        """The counter holds between so many and so many."""
        before = self.low[name], self.high[name]
        if low <= before[0] and high >= before[1]:
            return
        self.before.append((name, *before))
        self.low[name], self.high[name] = max(low, before[0]), min(high, before[1])
        if self.low[name] > self.high[name]:
            raise _Wrong
        self.changed.append(name)

    def _not_possible(self, transition: Transition) -> None:
        """If all but one of the things that a transition asks for are there, note that this one is
        lacking."""
        self._look()
        lacking: list[tuple[str, int, float]] = [
            (name, 0, n - 1) for name, n in transition.need.items() if self.low[name] < n]
        lacking += [(name, n + 1, inf) for name, n in transition.room.items()
                    if self.high[name] > n]
        if not lacking:
            raise _Wrong
        if len(lacking) == 1:
            self._known(*lacking[0])

    def _at_most(self, weights: Mapping[str, int], total: int) -> None:
        """Bound each counter of a sum that is at most ``total`` by what the others leave for it."""
        self._look()
        endless = [name for name, n in weights.items() if n < 0 and self.high[name] == inf]
        if len(endless) > 1:
            return
        least = {name: n * int(self.low[name] if n > 0 else self.high[name])
                 for name, n in weights.items() if name not in endless}
        spare = total - sum(least.values())
        for name in endless or weights:
            n = weights[name]
            most = (spare + least.get(name, 0)) // abs(n)
            self._known(name, 0, most) if n > 0 else self._known(name, -most, inf)

    def _look(self) -> None:
        self.looks += 1
        if self.looks > LOOKS:
            raise NotCovered("what follows from its order takes too long to follow")
