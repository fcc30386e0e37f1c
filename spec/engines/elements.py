"""Effects by element: what is learnt of a machine by looking at its arrays element by element.

As one variable an array would be news whenever any of its elements is, and what a step does with
one of them would be learnt again and again. So each element has a place of its own, and a step has
read those that it looked at one by one. The first few mostly decide it; a step that looks at more
looks at all, one after the other: it has then read the array as a whole, which is one look. So has
an action without parameters at its first look, for no element is its own; and one that does with
an array what only a list can do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final, SupportsIndex

from ..notation.interpreter import Interpreter, State, Step
from ..notation.types import Array
from .effects import Effects, Fetched, OutOfRange, Packed, Refusal, Writes

_FEW: Final = 3
"""Elements that a step looks at one by one; at the next one it has read the array as a whole."""

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
    return ElementEffects(interpreter, most, _FEW) if is_short else Effects(interpreter)


class ElementEffects(Effects):
    """Effects of a machine with arrays of at most ``most`` values, which are not changed
    themselves, have a place for each element. Of what a step looks at more than a ``few`` elements,
    it has read the whole."""

    def __init__(
        self, interpreter: Interpreter, most: float = math.inf, few: float = math.inf
    ) -> None:
        layout = interpreter.layout
        self._lengths: list[int | None] = []     # by variable; None: it has one place
        self._bases: list[int] = []              # by variable: the first of its places
        places = 0
        for thaw, value in zip(layout.thawing, layout.initial(), strict=True):
            length = len(value) if thaw is Array and len(value) <= most else None
            self._lengths.append(length)
            self._bases.append(places)
            places += 1 if length is None else length
        self._count, self._few = places, few
        self._wholly: set[str] = set()          # actions that do with arrays what lists can do
        self._wholes: dict[int, slice] = {}     # by what stands for a whole array, its places
        self._arrays: dict[int, dict[Packed, tuple[Any, ...]]] = {}     # by base and numbers
        super().__init__(interpreter)

    def _places(self) -> int:
        return self._count

    def _at(self, place: int) -> int | slice:
        return place if place >= 0 else self._wholes[place]

    def _fetched(self) -> dict[str, Any]:
        thawing = self._layout.thawing
        found: dict[str, Any] = {}
        for name, place in self._layout.places.items():
            base, length = self._bases[place], self._lengths[place]
            found[name] = (Fetched(base, name, thawing[place], self._values[base])
                           if length is None else _FetchedArray(name, _Elements(
                               name, base, self._values[base:base + length], self._few,
                               self._whole_of)))
            if length is not None:
                self._wholes[_whole(base)] = slice(base, base + length)
                self._arrays[base] = {}
        return found

    def _whole_of(self, packed: Packed, base: int) -> tuple[Any, ...]:
        """The values of an array with places from ``base`` on."""
        numbers = packed[self._wholes[_whole(base)]]
        known = self._arrays[base]
        found = known.get(numbers)
        if found is None:
            found = known[numbers] = tuple([
                self._values[place][number] for place, number in enumerate(numbers, base)])
            self.size += 1
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
        # One without parameters has no elements of its own: it mostly looks at all of them.
        self._instance._is_wholly = step[0] in self._wholly or (
            not step[1] and self._few != math.inf)
        return super()._learn(packed, step)

    def _failed(self, packed: Packed, step: Step, error: Exception) -> Writes | Refusal | None:
        name = step[0]
        if name in self._wholly or not isinstance(error, AttributeError | TypeError):
            return None
        self._wholly.add(name)
        for known in [each for each in self._trees if each[0] == name]:
            del self._trees[known]      # paths along which it read in another way
        self._asked.clear()
        self._roots.clear()
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
        is_read = _whole(base) in reads
        places = range(base, base + length)
        before = self._whole_of(packed, base)
        after = tuple(live.listed() if is_same else live)
        if is_read and after == before:
            return ()
        # What was written unread is a write even where it changes nothing here.
        written = live.written if is_same else set(places)
        if len(after) != length or (after != before and self._layout.checking[variable](after)):
            raise OutOfRange
        return tuple([(place, self._number(place, value))
                      for place, value, earlier in zip(places, after, before, strict=True)
                      if value != earlier or (
                          place in written and not is_read and place not in reads)])


def _whole(base: int) -> int:
    """The number that stands among what is read for all of an array with places from there on."""
    return -1 - base


class _Elements(Sequence[Any]):
    """An array, which keeps account of the elements that are read and written, by their places
    from ``base`` on. What else a list can do it cannot. After a ``few`` elements it is read as a
    whole, and if none was changed until then, a list of the same values stands in its place.

    There is one for each array of a machine, which ``begins`` anew with each run."""

    __slots__ = ("_before", "_few", "_instance", "_known", "_left", "_name", "_reads", "_whole_of",
                 "base", "values", "written")
    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self, name: str, base: int, known: list[list[Any]], few: float,
        whole_of: Callable[[Packed, int], tuple[Any, ...]],
    ) -> None:
        self._name, self.base, self._known, self._few = name, base, known, few
        self._whole_of = whole_of

    def begins(self, instance: Any) -> None:
        """Hold the values of the state in which an instance begins; nothing is read of them."""
        self._instance, self._before = instance, instance._packed_before
        self._reads, self._left = instance._places_read, self._few
        self.values: Array[Any] | None = None       # of all elements, once these are needed
        self.written: set[int] = set()

    def __len__(self) -> int:
        return len(self._known)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return list(self)[at]
        known = self._known[at]
        place = self.base + at + (len(self._known) if at < 0 else 0)
        if self._left >= 0 and place not in self._reads and place not in self.written:
            self._looks(place)
        return known[self._before[place]] if self.values is None else self.values[at]

    def _looks(self, place: int) -> None:
        self._left -= 1
        if self._left >= 0:
            self._reads.append(place)
            return
        self._reads.append(_whole(self.base))
        variables = self._instance.__dict__
        if not self.written and variables.get(self._name) is self:
            variables[self._name] = self.listed()

    def listed(self) -> Array[Any]:
        """The list of all elements, which is one from then on."""
        if self.values is None:
            self.values = Array(self._whole_of(self._before, self.base))
        return self.values

    def __setitem__(self, at: SupportsIndex, value: Any) -> None:
        self.listed()[at] = value
        self.written.add(range(self.base, self.base + len(self._known))[at])

    def __eq__(self, other: object) -> bool:
        return list(self) == (list(other) if isinstance(other, _Elements) else other)


class _FetchedArray:
    """Stands in the class for an array, as ``effects`` has it for any variable."""

    def __init__(self, name: str, elements: _Elements) -> None:
        self._name, self._elements = name, elements

    def __get__(self, instance: Any, owner: type) -> Any:
        elements = self._elements
        elements.begins(instance)
        found: Any = elements
        if instance._is_wholly:
            instance._places_read.append(_whole(elements.base))
            found = elements.listed()
        instance.__dict__[self._name] = found
        return found
