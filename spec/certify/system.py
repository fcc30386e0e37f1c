"""A design as numbers and transitions: the form in which certificates are checked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

__all__ = [
    "Counter", "NotCovered", "System", "Transition", "Ways", "can_move", "each", "state_of",
]


class NotCovered(Exception):
    """The design has something that this reading does not know, or is too large for it."""


@dataclass
class Transition:
    """A transition: what must be there (``need``), how much may be (``room``), and what is added
    (``add``), by counter; ``fails`` where the design gives up, ``wastes`` where something is
    dropped, and ``chance`` where it merely may happen. ``tasks`` take it; there are none for a call
    of a link.

    ``flow`` are the elements that it moves, one after another: so many out of a counter (fewer than
    0), or into it, and whether they are lost there. ``over`` are the counters that it finds too
    full. At the ends of links of capacity 0 that are in ``meets`` (true: the writer's) another task
    must be ready, and at those of ``unless`` no writer may be.
    """

    need: dict[str, int] = field(default_factory=dict)
    room: dict[str, int] = field(default_factory=dict)
    add: dict[str, int] = field(default_factory=dict)
    fails: bool = False
    wastes: bool = False
    chance: bool = False
    tasks: tuple[str, ...] = ()
    flow: tuple[tuple[str, int, bool], ...] = ()
    over: frozenset[str] = frozenset()
    meets: frozenset[tuple[str, bool]] = frozenset()
    unless: frozenset[str] = frozenset()

    def copy(self) -> Transition:
        """Another one, so that what follows this one does not follow that."""
        return replace(self, need=dict(self.need), room=dict(self.room), add=dict(self.add))

    def has(self, counter: str, number: int) -> Transition:
        """The counter holds at least so many now."""
        before = number - self.add.get(counter, 0)
        self.need[counter] = max(self.need.get(counter, 0), before)
        return self

    def fits(self, counter: str, number: int) -> Transition:
        """The counter holds at most so many now."""
        before = number - self.add.get(counter, 0)
        self.room[counter] = min(self.room.get(counter, before), before)
        return self

    def put(self, counter: str, number: int) -> Transition:
        """Add so many (fewer than none: take them)."""
        self.add[counter] = self.add.get(counter, 0) + number
        return self

    def take(self, counter: str, number: int) -> Transition:
        """Take so many, which must be there."""
        return self.has(counter, number).put(counter, -number)

    def goes(self, here: str, there: str) -> Transition:
        """Leave one place for another, each of which is a counter of 0 or 1."""
        self.has(here, 1)
        return self if here == there else self.put(here, -1).put(there, 1)

    def passes(self, counter: str, number: int, lost: bool = False) -> Transition:
        """Note that so many elements go into a counter (fewer than 0: out of it, and perhaps are
        lost); the number that the counter holds then is noted apart from that."""
        self.flow = (*self.flow, (counter, number, lost))
        return self

    @property
    def change(self) -> dict[str, int]:
        """The differences afterwards, by counter."""
        return {counter: by for counter, by in self.add.items() if by}

    @property
    def is_idle(self) -> bool:
        """True if it changes nothing but drops something."""
        return self.wastes and not self.fails and not any(self.add.values())


@dataclass(frozen=True)
class Counter:
    """A number from 0 to ``most`` (None: without end); ``rest`` of it may be left at the end."""

    start: int
    most: int | None
    rest: int | None = None


@dataclass
class System:
    """A part of a design as counters and transitions; ``ends`` says whether it may ever be done,
    and ``idle`` are the transitions that change nothing but drop something."""

    counters: dict[str, Counter] = field(default_factory=dict)
    transitions: list[Transition] = field(default_factory=list)
    idle: list[Transition] = field(default_factory=list)
    ends: bool = False

    @property
    def steps(self) -> list[Transition]:
        """All that tasks and links do, also where it changes nothing, and what befalls them."""
        return [*self.transitions, *self.idle]

    @property
    def rests(self) -> dict[str, int]:
        """The most that may be left in each counter at the end."""
        return {name: counter.rest for name, counter in self.counters.items()
                if counter.rest is not None}

    def is_rest(self, state: Mapping[str, int]) -> bool:
        """True if all is done in a state."""
        return self.ends and all(state[name] <= rest for name, rest in self.rests.items())

    def is_deadlocked(self, state: Mapping[str, int]) -> bool:
        """True if no transition is possible in a state, and work is left."""
        return not self.is_rest(state) and not any(can_move(m, state) for m in self.transitions)


Ways = Iterable[Transition]


def each(ways: Ways) -> Iterator[Transition]:
    """Copies, so that what follows one way does not follow another."""
    return (transition.copy() for transition in ways)


def state_of(system: System) -> dict[str, int]:
    """The counters at the start."""
    return {name: counter.start for name, counter in system.counters.items()}


def can_move(transition: Transition, state: Mapping[str, int]) -> bool:
    """True if a transition is possible in a state."""
    return all(state[c] >= n for c, n in transition.need.items()) and all(
        state[c] <= n for c, n in transition.room.items())
