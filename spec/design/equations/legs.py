"""Long runs in few words: legs of transitions, each made many times, and their exact replay.

Guards are intervals and changes are fixed amounts, so transitions made one after another are a
transition themselves: its guards are theirs, each less what the transitions before it have added. A
transition made again and again is possible each time exactly if it is possible the first and the
last time. So a leg of a million steps is checked with a few sums.

A *leg* keeps the first transitions of the leg before it, continues with transitions of its own, and
makes all of them so many times. What it keeps needs no second look where nothing has changed, so a
run costs about as many looks as its legs have transitions of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

__all__ = ["Guarded", "Leg", "Path", "expanded", "steps_in"]

NO_END = 10**18
Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Guarded(Generic[Key]):
    """A transition: each place holds at least and at most so much before it, and ``change`` is
    added.
    """

    at_least: Mapping[Key, int]
    at_most: Mapping[Key, int]
    change: Mapping[Key, int]

    @staticmethod
    def within(
        at_least: Mapping[Key, int], at_most: Mapping[Key, int], change: Mapping[Key, int],
        most: Callable[[Key], int | None],
    ) -> Guarded[Key]:
        """A transition that also leaves each place that it changes within its range, 0 to ``most``.

        """
        low, high = dict(at_least), dict(at_most)
        for place, by in change.items():
            end = most(place)
            if by < 0:
                low[place] = max(low.get(place, 0), -by)
            elif end is not None:
                high[place] = min(high.get(place, end), end - by)
        return Guarded(low, high, change)


@dataclass(frozen=True)
class Leg:
    """The first ``keep`` transitions of the leg before, and ``then`` these: all of it ``times``
    times.
    """

    keep: int
    then: tuple[int, ...]
    times: int


def steps_in(legs: Sequence[Leg]) -> int:
    """The number of steps of a run."""
    return sum((leg.keep + len(leg.then)) * leg.times for leg in legs)


def expanded(legs: Sequence[Leg]) -> Iterator[int]:
    """The transitions of a run, one by one."""
    path: list[int] = []
    for leg in legs:
        path[leg.keep:] = leg.then
        for _ in range(leg.times):
            yield from path


class Path(Generic[Key]):
    """Moves made one after another from a marking, as the one transition that they come to.

    The marking maps each place to what it holds. ``blocked`` and ``times`` look only at places
    where something has changed since they last looked, or where the path changes something.
    """

    def __init__(self, marking: dict[Key, int]) -> None:
        self.marking = marking
        self.change: dict[Key, int] = {}
        self._transitions: list[Guarded[Key]] = []
        self._guards: dict[Key, list[tuple[int, int, int]]] = {}
        self._unseen: set[Key] = set()

    def __len__(self) -> int:
        return len(self._transitions)

    def now(self, place: Key) -> int:
        """The number in a place after the path was made once."""
        return self.marking[place] + self.change.get(place, 0)

    def allows(self, transition: Guarded[Key]) -> bool:
        """True if a transition is possible after the path was gone once."""
        return all(self.now(place) >= n for place, n in transition.at_least.items()) and all(
            self.now(place) <= n for place, n in transition.at_most.items())

    def push(self, transition: Guarded[Key]) -> None:
        """Continue with a transition, whether it is possible or not."""
        number = len(self._transitions)
        for place, least in transition.at_least.items():
            self._guard(place, number, least - self.change.get(place, 0), NO_END)
        for place, most in transition.at_most.items():
            self._guard(place, number, -NO_END, most - self.change.get(place, 0))
        self._add(transition, 1)
        self._transitions.append(transition)

    def cut(self, length: int) -> None:
        """Keep the first so many transitions."""
        while len(self._transitions) > length:
            transition = self._transitions.pop()
            self._add(transition, -1)
            for place in (*transition.at_least, *transition.at_most):
                guards = self._guards[place]
                while guards and guards[-1][0] >= len(self._transitions):
                    guards.pop()
                self._unseen.add(place)

    def blocked(self) -> int | None:
        """The first transition of the path that is not possible where it stands; None if all are.

        """
        first, failing = None, set()
        for place in self._to_look_at():
            here = self.marking[place]
            for number, least, most in self._guards.get(place, ()):
                if not least <= here <= most:
                    first = number if first is None else min(first, number)
                    failing.add(place)
                    break
        self._unseen = failing
        return first

    def times(self) -> int:
        """Times that all of the path can be made from here, if it can be made once."""
        found = NO_END
        for place, by in self.change.items():
            here = self.marking[place]
            for _, least, most in self._guards.get(place, ()):
                if by < 0 and least > -NO_END:
                    found = min(found, (here - least) // -by + 1)
                elif by > 0 and most < NO_END:
                    found = min(found, (most - here) // by + 1)
        return found

    def go(self, times: int) -> None:
        """Make all of it so many times."""
        for place, by in self.change.items():
            self.marking[place] += times * by
            self._unseen.add(place)

    def _to_look_at(self) -> set[Key]:
        return self._unseen | self.change.keys()

    def _guard(self, place: Key, number: int, least: int, most: int) -> None:
        self._guards.setdefault(place, []).append((number, least, most))
        self._unseen.add(place)

    def _add(self, transition: Guarded[Key], sign: int) -> None:
        for place, by in transition.change.items():
            now = self.change.get(place, 0) + sign * by
            if now:
                self.change[place] = now
            else:
                self.change.pop(place, None)
                self._unseen.add(place)


def followed(
    legs: Sequence[Leg], transitions: Callable[[int], Guarded[Key]], marking: Mapping[Key, int],
    watch: Callable[[], object] = lambda: None,
) -> dict[Key, int] | None:
    """The marking after a run, each step of which is ``transitions`` of its number; None where one
    of them is not possible."""
    path = Path(dict(marking))
    for leg in legs:
        watch()
        path.cut(leg.keep)
        for number in leg.then:
            path.push(transitions(number))
        if path.blocked() is not None or not 1 <= leg.times <= path.times():
            return None
        path.go(leg.times)
    return path.marking
