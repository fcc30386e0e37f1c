"""Identities that have ended, remembered within bounds: so that a second time is known as one."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from itertools import islice
from typing import Final, NamedTuple

__all__ = ["FORGOTTEN", "Elsewhere", "Ended"]

FORGOTTEN: Final = "so long ago that it is forgotten (--remember)"
"""Says when something ended, perhaps, of which a judge that has forgotten some remembers no end."""

_BITS: Final = 6
_LAST: Final = (1 << _BITS) - 1
_FULL: Final = (1 << (1 << _BITS)) - 1


class Elsewhere(NamedTuple):
    """The identities of a key that have ended, known elsewhere: if one ``has``, and if some are
    forgotten."""

    has: Callable[[str, Hashable], bool]
    has_forgotten: bool


class Ended:
    """The identities that have ended, by key. Whole numbers without gaps take next to no
    memory. Of texts at most ``most`` are kept, the oldest forgotten first, and of numbers with
    gaps so many pieces of 64."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._names: dict[tuple[str, Hashable], None] = {}
        self._numbers: dict[str, _Numbers] = {}
        self._pieces = 0
        self.has_forgotten = False
        self.elsewhere: Callable[[str, Hashable], bool] | None = None

    def continues(self, known: Elsewhere) -> None:
        """Remember besides what is known elsewhere."""
        self.elsewhere = known.has
        self.has_forgotten |= known.has_forgotten

    def add(self, key: str, name: Hashable) -> None:
        """Remember that something has ended."""
        if type(name) is int:
            numbers = self._numbers.setdefault(key, _Numbers())
            self._pieces += numbers.add(name)
            if self._pieces > self._most:       # many at once: the first of a dict is far
                forgotten = numbers.forget(1 + self._most // 8)
                self._pieces -= forgotten
                self.has_forgotten |= forgotten > 0
            return
        self._names[key, name] = None
        if len(self._names) > self._most:
            self.has_forgotten = True
            del self._names[next(iter(self._names))]

    def has(self, key: str, name: Hashable) -> bool:
        """True if it is remembered to have ended, here or ``elsewhere``."""
        return self._has(key, name) or (
            self.elsewhere is not None and self.elsewhere(key, name))

    def _has(self, key: str, name: Hashable) -> bool:
        if type(name) is int:
            numbers = self._numbers.get(key)
            return numbers is not None and numbers.has(name)
        return (key, name) in self._names


class _Numbers:
    """A set of whole numbers: 64 of them are one mask, and 64 full masks are one bit of the mask
    above. So numbers without gaps take next to nothing, however many they are."""

    __slots__ = ("_levels",)

    def __init__(self) -> None:
        self._levels: list[dict[int, int]] = [{}]

    def add(self, number: int) -> int:
        """Set its bit; a mask that is full moves up a level. By how many masks there are more."""
        more = 0
        for level, masks in enumerate(self._levels):
            place = number >> _BITS
            old = masks.get(place)
            mask = (old or 0) | 1 << (number & _LAST)
            if mask != _FULL:
                masks[place] = mask
                return more + (old is None)
            if masks.pop(place, None) is not None:
                more -= 1
            number = place
            if level + 1 == len(self._levels):
                self._levels.append({})     # the loop continues with it
        raise AssertionError("an empty level takes a mask that is not full")

    def forget(self, most: int) -> int:
        """Forget some masks of numbers with gaps, those that were begun first; how many."""
        first = list(islice(self._levels[0], most))
        for place in first:
            del self._levels[0][place]
        return len(first)

    def has(self, number: int) -> bool:
        """True if it was added."""
        for masks in self._levels:
            if masks.get(number >> _BITS, 0) >> (number & _LAST) & 1:
                return True
            number >>= _BITS
        return False

    def __len__(self) -> int:
        return sum(map(len, self._levels))
