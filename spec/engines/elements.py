"""Effects by element: what is learnt of a machine whose arrays are looked at element by element.

As one variable an array would be news whenever any of its elements is, and what a step does with
one of them would be learnt again and again. So each element has a place of its own, and a step has
read those that it looked at one by one. An action that does with an array what only a list can do
reads all of it, from then on.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import index
from typing import Any, SupportsIndex

from ..notation.interpreter import Interpreter, State, Step
from ..notation.types import Array
from .effects import Effects, Fetched, OutOfRange, Packed, Refusal, Writes

__all__ = ["ElementEffects", "effects_of", "effects_of_short"]


def effects_of(interpreter: Interpreter) -> Effects:
    """The effects of a machine's steps, by element where that is all that its state is."""
    layout = interpreter.layout
    is_one_array = len(layout.names) == 1 and layout.thawing[0] is Array
    return ElementEffects(interpreter) if is_one_array else Effects(interpreter)


def effects_of_short(interpreter: Interpreter, most: int) -> Effects:
    """The effects of a machine's steps, by element if no array has more than ``most`` of them: what
    reads a long one is news as often as that is, and gains nothing."""
    layout = interpreter.layout
    lengths = [len(value) for thaw, value in zip(layout.thawing, layout.initial(), strict=True)
               if thaw is Array]
    is_short = lengths and max(lengths) <= most
    return ElementEffects(interpreter, most) if is_short else Effects(interpreter)


class ElementEffects(Effects):
    """Effects of a machine whose arrays of at most ``most`` values, which are not changed
    themselves, have a place for each element."""

    def __init__(self, interpreter: Interpreter, most: float = math.inf) -> None:
        layout = interpreter.layout
        self._lengths: list[int | None] = []     # by variable; None: it has one place
        self._bases: list[int] = []              # by variable: the first of its places
        places = 0
        for thaw, value in zip(layout.thawing, layout.initial(), strict=True):
            length = len(value) if thaw is Array and len(value) <= most else None
            self._lengths.append(length)
            self._bases.append(places)
            places += 1 if length is None else length
        self._count = places
        self._wholly: set[str] = set()          # actions that do with arrays what lists can do
        super().__init__(interpreter)

    def _places(self) -> int:
        return self._count

    def _fetched(self) -> dict[str, Any]:
        thawing = self._layout.thawing
        found: dict[str, Any] = {}
        for name, place in self._layout.places.items():
            base, length = self._bases[place], self._lengths[place]
            found[name] = (Fetched(base, name, thawing[place], self._values[base])
                           if length is None else _FetchedArray(
                               name, base, self._values[base:base + length]))
        return found

    def pack(self, state: State) -> Packed:
        """A state as numbers, one for each element."""
        flat: list[Any] = []
        for length, value in zip(self._lengths, state, strict=True):
            if length is None:
                flat.append(value)
            else:
                flat.extend(value)
        return tuple(map(self._number, range(self._count), flat))

    def unpack(self, packed: Packed) -> State:
        """The state that some numbers stand for."""
        flat = [values[number] for values, number in zip(self._values, packed, strict=True)]
        return tuple([flat[base] if length is None else tuple(flat[base:base + length])
                      for base, length in zip(self._bases, self._lengths, strict=True)])

    def _learn(self, packed: Packed, step: Step) -> Writes | Refusal | None:
        self._instance._is_wholly = step[0] in self._wholly
        return super()._learn(packed, step)

    def _failed(self, packed: Packed, step: Step, error: Exception) -> Writes | Refusal | None:
        name = step[0]
        if name in self._wholly or not isinstance(error, AttributeError | TypeError):
            return None
        self._wholly.add(name)
        for known in [each for each in self._trees if each[0] == name]:
            del self._trees[known]      # paths along which it read in another way
        self._asked.clear()
        return self._learn(packed, step)

    def _written(
        self, packed: Packed, variable: int, live: Any, reads: Sequence[int]
    ) -> Writes:
        length, base = self._lengths[variable], self._bases[variable]
        if length is None:
            return self._written_at(base, packed, variable, live, reads)
        # Another variable's, put in its place, is a list like any other.
        is_same = isinstance(live, _Elements) and live.base == base
        if is_same and not live.written:
            return ()
        places = range(base, base + length)
        before = tuple([self._values[place][packed[place]] for place in places])
        after = tuple(live.values if is_same else live)
        # What was written unread is a write even where it changes nothing here.
        written = live.written if is_same else set(places)
        if len(after) != length or (after != before and self._layout.checking[variable](after)):
            raise OutOfRange
        return tuple([(place, self._number(place, value))
                      for place, value, earlier in zip(places, after, before, strict=True)
                      if value != earlier or (place in written and place not in reads)])


class _Elements(Sequence[Any]):
    """An array, which keeps account of the elements that are read and written, by their places
    from ``base`` on. What else a list can do it cannot."""

    __slots__ = ("base", "reads", "values", "written")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, values: list[Any], base: int, reads: list[int]) -> None:
        self.values, self.base, self.reads, self.written = values, base, reads, set[int]()

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return list(self)[at]
        value = self.values[at]
        place = self.base + index(at) % len(self.values)
        if place not in self.written and place not in self.reads:
            self.reads.append(place)
        return value

    def __setitem__(self, at: SupportsIndex, value: Any) -> None:
        self.values[at] = value
        self.written.add(self.base + index(at) % len(self.values))

    def __eq__(self, other: object) -> bool:
        return list(self) == (list(other) if isinstance(other, _Elements) else other)


class _FetchedArray:
    """Stands in the class for an array, as ``effects`` has it for any variable."""

    def __init__(self, name: str, base: int, values: list[list[Any]]) -> None:
        self._name, self._base, self._values = name, base, values

    def __get__(self, instance: Any, owner: type) -> Any:
        base, reads = self._base, instance._places_read
        places = range(base, base + len(self._values))
        before = instance._packed_before
        values = [known[before[place]] for known, place in zip(self._values, places, strict=True)]
        found: Any
        if instance._is_wholly:
            reads.extend(places)
            found = Array(values)
        else:
            found = _Elements(values, base, reads)
        instance.__dict__[self._name] = found
        return found
