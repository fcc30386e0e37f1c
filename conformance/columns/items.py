"""Items that are texts, or large numbers: each gets a small number, by the order in which they were
first seen.

All that is asked of an identity is whether it equals another one. But a log names new ones without
end, so the oldest texts are forgotten, beyond as many as are to be remembered: those that are in
use stay known. Numbers are never used again, so a text that comes back is another item, as it is to
a judge that has forgotten it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .rows import Numbers

__all__ = ["Items"]

_SPARE = 4
"""One of so many parts more than are to be remembered is forgotten at a time."""


class Items:
    """The numbers of items. ``most`` are remembered, and those in use; None: all."""

    def __init__(self, most: int | None) -> None:
        self._most = most
        self._number: dict[Any, int] = {}
        self._names: list[Any] = []
        self._old: dict[int, Any] = {}
        self.least = 0
        """Items with smaller numbers are forgotten, but for those that were in use then."""

    def numbers(self, given: Sequence[Any]) -> Numbers:
        """The numbers of some items, with new ones for those that have none."""
        import numpy as np

        known = self._number
        fresh = [one for one in given if one not in known]
        begin = self.least + len(self._names)
        known.update(zip(fresh, range(begin, begin + len(fresh)), strict=True))
        self._names += fresh
        return np.fromiter(map(known.__getitem__, given), np.int64, len(given))

    def number(self, name: Any) -> int:
        """The number of an item; -1 for one that is not known."""
        return self._number.get(name, -1)

    def name(self, number: int) -> Any:
        """The item that has a number."""
        return self._old[number] if number < self.least else self._names[number - self.least]

    @property
    def is_full(self) -> bool:
        """True if there are so many that it is time to forget some."""
        return self._most is not None and len(self._names) > self._most + self._most // _SPARE

    def forgets(self, in_use: Numbers) -> None:
        """Forget the oldest, but for those with the numbers that are ``in_use``."""
        assert self._most is not None
        cut = len(self._names) - self._most
        some = set(in_use[in_use < self.least + cut].tolist())
        for number in [each for each in self._old if each not in some]:
            self._loses(self._old.pop(number), number)
        for number, name in enumerate(self._names[:cut], self.least):
            if number in some:
                self._old[number] = name
            else:
                self._loses(name, number)
        del self._names[:cut]
        self.least += cut

    def _loses(self, name: Any, number: int) -> None:
        if self._number.get(name) == number:    # a batch may have had it twice
            del self._number[name]
