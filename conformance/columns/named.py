"""The numbers of names: of keys, of processes, and of calls with an identity of their own.

A log names new processes and calls without end, each for a short time. Nothing is known of one that
no row in use has, so that its name can be forgotten: if it comes again, it gets another number.
Numbers are never used twice, as a row that was overlooked would be another one's then.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from .cells import Numbers

__all__ = ["Named"]

_SPARE: Final = 1 << 17
"""Names that may be in no use before any is forgotten, at least; there may be as many as are in
use, so that to look for them takes no more time, in all, than to number them did."""


class Named:
    """The names that have numbers, by the order in which they were first seen. A number and its
    text are one name: so it is event by event, too."""

    def __init__(self, spare: int = _SPARE) -> None:
        self._spare = spare
        self._number: dict[str, int] = {}
        self._as_given: dict[int, int] = {}     # of whole numbers, the number of their text
        self._names: dict[int, str] = {}
        self._next = self._kept = 0

    def numbers(self, given: Sequence[Any]) -> Sequence[int]:
        """The numbers of some names, with new ones for those that have none."""
        known, others = self._number.get, self._as_given.get
        found = [known(one, -1) if type(one) is str else
                 others(one, -1) if type(one) is int else -1 for one in given]
        for at, number in enumerate(found):     # most are known, as in every chunk
            if number < 0:
                found[at] = self._numbered(given[at])
        return found

    def _numbered(self, one: Any) -> int:
        text = "" if one is None else str(one)
        number = self._number.setdefault(text, self._next)
        if number == self._next:
            self._names[number] = text
            self._next += 1
        if type(one) is int:
            self._as_given[one] = number
        return number

    def number(self, name: str) -> int:
        """The number of a name; -1 for one that is not known."""
        return self._number.get(name, -1)

    def __getitem__(self, number: int) -> str:
        return self._names[number]

    def __iter__(self) -> Iterator[str]:
        """The names that are known, by their numbers."""
        return iter(self._names.values())

    def __len__(self) -> int:
        """One more than the greatest number so far."""
        return self._next

    @property
    def is_full(self) -> bool:
        """True if there are so many that it is time to forget some."""
        return len(self._names) - self._kept > max(self._spare, self._kept)

    def forgets(self, in_use: Numbers) -> None:
        """Forget all names but those with the numbers that are ``in_use``, and may be others."""
        import numpy as np

        used = np.unique(in_use)
        kept = used[np.searchsorted(used, 0):np.searchsorted(used, self._next)].tolist()
        names = self._names
        self._names = {number: names[number] for number in kept if number in names}
        self._number = {name: number for number, name in self._names.items()}
        self._as_given.clear()
        self._kept = len(self._names)
