"""Items that are texts, or large numbers: each gets a small number, by the order in which they were
first seen.

All that is asked of an identity is whether it equals another one. But a log names new ones without
end, so the oldest texts are forgotten, beyond as many as are to be remembered: those that are in
use stay known. Numbers are never used again, so a text that comes back is another item, as it is to
a judge that has forgotten it.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .cells import Numbers

__all__ = ["Items"]

_SPARE = 4
"""One of so many parts more than are to be remembered is forgotten at a time."""


class Items:
    """The numbers of items. ``most`` are remembered, and those in use; None: all."""

    def __init__(self, most: int | None) -> None:
        self._most = most
        self._number: dict[Any, int] = {}
        self._begins: list[int] = []
        self._names: list[Any] = []     # with the number that each of them begins with
        self._old: dict[int, Any] = {}
        self._next = 0
        self.least = 0
        """Items with smaller numbers are forgotten, but for those that were in use then."""

    def numbers(self, given: Any) -> Numbers:
        """The numbers of some items (an array), with new ones for those that have none."""
        import numpy as np

        begin, self._next = self._next, self._next + len(given)
        found = np.fromiter(
            map(self._number.setdefault, given.tolist(), range(begin, self._next)),
            np.int64, len(given))
        names = given.astype(object)
        names[found < begin] = None
        self._begins.append(begin)
        self._names.append(names)
        return found

    @property
    def are_texts(self) -> bool:
        """True if so many of them are remembered, and not all."""
        return self._most is not None

    def number(self, name: Any) -> int:
        """The number of an item; -1 for one that is not known."""
        return self._number.get(name, -1)

    def name(self, number: int) -> Any:
        """The item that has a number."""
        if number < self.least:
            return self._old[number]
        at = bisect_right(self._begins, number) - 1
        return self._names[at][number - self._begins[at]]

    @property
    def is_full(self) -> bool:
        """True if there are so many that it is time to forget some."""
        return self._most is not None and len(self._number) - len(self._old) > (
            self._most + self._most // _SPARE)

    def forgets(self, in_use: Numbers) -> None:
        """Forget the oldest, but for those with the numbers that are ``in_use``."""
        assert self._most is not None
        some = set(in_use[in_use < self._next].tolist())
        for number in [each for each in self._old if each not in some]:
            del self._number[self._old.pop(number)]
        gone = 0
        while gone + 1 < len(self._names) and len(self._number) - len(self._old) > self._most:
            for number, name in enumerate(self._names[gone].tolist(), self._begins[gone]):
                if name is None or self._number.get(name) != number:
                    continue        # it had one before
                if number in some:
                    self._old[number] = name
                else:
                    del self._number[name]
            gone += 1
        del self._names[:gone], self._begins[:gone]
        self.least = self._begins[0]
