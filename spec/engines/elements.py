"""Effects by element: what is learnt of a machine all of whose state is one array.

As one variable that array would be news in every state, and nothing would ever be learnt. So each
of its elements has a place of its own, and a step has read those that it looked at one by one. A
step that looks at the array in any other way has read all of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any, SupportsIndex

from ..notation.interpreter import Interpreter, State
from ..notation.types import Array
from .effects import Effects, OutOfRange, Packed, Writes

__all__ = ["ElementEffects", "effects_of"]


def effects_of(interpreter: Interpreter) -> Effects:
    """The effects of a machine's steps, by element where that is all that its state is."""
    layout = interpreter.layout
    is_one_array = len(layout.names) == 1 and layout.thawing[0] is Array
    return ElementEffects(interpreter) if is_one_array else Effects(interpreter)


class ElementEffects(Effects):
    """Effects of a machine whose only variable is an array of values that are not changed."""

    def _places(self) -> int:
        return len(self._layout.initial()[0])

    def _fetched(self) -> dict[str, Any]:
        name, = self._layout.names
        return {name: _FetchedArray(name, self._values)}

    def pack(self, state: State) -> Packed:
        """A state as numbers, one for each element."""
        elements, = state
        return tuple(map(self._number, range(len(elements)), elements))

    def unpack(self, packed: Packed) -> State:
        """The state that some numbers stand for."""
        return (tuple([values[number]
                       for values, number in zip(self._values, packed, strict=True)]),)

    def _writes(self, packed: Packed) -> Writes:
        live = self._instance.__dict__.get(self._layout.names[0])
        if live is None:
            return ()
        (before,), reads = self.unpack(packed), self._instance._places_read
        is_same = isinstance(live, _Elements)
        after = tuple(live.values if is_same else live)
        # What was written unread is a write even where it changes nothing here.
        written = live.written if is_same else set(range(len(after)))
        if len(after) != len(before) or (after != before and self._layout.checking[0](after)):
            raise OutOfRange
        return tuple((place, self._number(place, value)) for place, value in enumerate(after)
                     if value != before[place] or (place in written and place not in reads))


class _Elements(Sequence[Any]):
    """The array, which keeps account of the elements that are read and written. What else a list
    can do it cannot, and then the interpreter is asked."""

    __slots__ = ("reads", "values", "written")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, values: list[Any], reads: list[int]) -> None:
        self.values, self.reads, self.written = values, reads, set[int]()

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return list(self)[at]
        value = self.values[at]
        place = index(at) % len(self.values)
        if place not in self.written and place not in self.reads:
            self.reads.append(place)
        return value

    def __setitem__(self, at: SupportsIndex, value: Any) -> None:
        self.values[at] = value
        self.written.add(index(at) % len(self.values))

    def __eq__(self, other: object) -> bool:
        return list(self) == (list(other) if isinstance(other, _Elements) else other)


class _FetchedArray:
    """Stands in the class for the array, as ``effects`` has it for any variable."""

    def __init__(self, name: str, values: list[list[Any]]) -> None:
        self._name, self._values = name, values

    def __get__(self, instance: Any, owner: type) -> Any:
        found = _Elements([values[number] for values, number in zip(
            self._values, instance._packed_before, strict=True)], instance._places_read)
        instance.__dict__[self._name] = found
        return found
