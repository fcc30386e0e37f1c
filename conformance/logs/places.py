"""The places of a machine, by the name of what is there.

Things in a log have names without end, and a machine has so many places. A thing gets a place that
is free, and leaves it when it has ended; the machine grows as far as ``PLACES_MAX``. That this
changes no verdict is proved for each machine: see ``spec.engines.prove.places``.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable
from typing import Final

from ...spec.notation.errors import InternalError
from ...spec.notation.places import LEAVES, Reuse, of_places
from .live import Live

__all__ = ["PLACES_MAX", "Places", "Room"]

PLACES_MAX: Final = 1 << 14
"""Things at a time that a machine has places for, at most."""


class Room:
    """The places of a machine that follows a log: as many as are needed, and used again."""

    __slots__ = ("_live", "_parameter", "_reuse", "_strides")

    def __init__(self, live: Live, reuse: Reuse) -> None:
        self._live, self._reuse = live, reuse
        self._parameter = reuse.machine.actions_declared[LEAVES].over[0][0]
        self._strides = of_places(reuse, {
            name: getattr(live.machine, name) for name in reuse.machine.constants_declared})

    @property
    def size(self) -> int:
        """The number of places."""
        return int(getattr(self._live.machine, self._reuse.size))

    def leaves(self, place: int) -> None:
        """Let the thing in a place leave it."""
        failure = self._live.takes(LEAVES, **{self._parameter: place})
        if failure is not None:
            raise InternalError(f"a place of {self._reuse.machine.__name__} was left too early",
                                next_step="Report it with the log.")

    def grows(self, size: int) -> None:
        """Have so many places; the new ones are the last ones."""
        machine = self._live.machine
        first = self._live.initial()
        for name, stride in self._strides.items():
            values = getattr(machine, name)
            if isinstance(values, list):
                values.extend(first[name][-stride:] * (size - len(values) // stride))
        setattr(machine, self._reuse.size, size)

    def drops(self, gone: Collection[int]) -> None:
        """Let the things in some places leave them, and the others move together, in order; as many
        free places come after them."""
        assert not self._reuse.holds, "a variable that holds a place would have to be changed"
        for place in [max(gone)] if self._reuse.front and gone else gone:
            self.leaves(place)
        away, size = set(gone), self.size
        stays = [place for place in range(size) if place not in away]
        names = {place: at for at, place in enumerate(stays)}
        machine, first = self._live.machine, self._live.initial()
        for name, stride in self._strides.items():
            values = getattr(machine, name)
            if isinstance(values, list):
                values[:] = [each for place in stays
                             for each in values[place * stride:(place + 1) * stride]
                             ] + first[name][-stride:] * len(away)
            else:
                kept = {names[each // stride] * stride + each % stride for each in values
                        if each // stride in names}
                values.clear()
                values.update(kept)
        before = sorted(away)
        for name in self._reuse.counts:
            if name in self._reuse.machine.variables_declared:
                value = getattr(machine, name)
                setattr(machine, name, value - sum(each < value for each in before))


class Places:
    """The places of a machine, by the name of what is there; those before ``first`` are never
    given."""

    def __init__(self, first: int, room: Room) -> None:
        self.of: dict[Hashable, int] = {}
        self._free = list(range(room.size - 1, first - 1, -1))
        self._room = room

    def take(self, name: Hashable) -> int | None:
        """The place of a name, which gets one if it has none; None where there is no more room."""
        at = self.of.get(name)
        if at is None:
            if not self._free:
                size = self._room.size
                if size >= PLACES_MAX:
                    return None
                self._free = list(range(2 * size - 1, size - 1, -1))
                self._room.grows(2 * size)
            at = self.of[name] = self._free.pop()
        return at

    def leave(self, name: Hashable) -> None:
        """Free the place of a thing that has ended."""
        at = self.of.pop(name)
        self._room.leaves(at)
        self._free.append(at)
