"""Identities that are over, by key: so that a second time is known as one.

A number is a key with an item (``ITEM_MAX``). 64 of them are a piece, and pieces of which all are
over are runs, as items are numbered as they come. A piece with gaps is a mask, and of masks only
some are remembered, the last ones: it is known at which keys some were forgotten.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from .cells import longer
from .rows import ITEM_MAX
from .runs import Runs

if TYPE_CHECKING:
    from .cells import Numbers

__all__ = ["Over"]

_BITS: Final = 6
_OF_KEY: Final = ITEM_MAX >> _BITS
_SPARE: Final = 8
"""One of so many parts of those that may be remembered is forgotten at a time."""


class Over:
    """A set of numbers; ``most`` pieces with gaps are remembered, and the last one of each key."""

    def __init__(self, most: int) -> None:
        import numpy as np

        self._most = most
        self._full = Runs()     # pieces of which all are over, as numbers of themselves
        self._piece: Numbers = np.zeros(0, np.int64)
        self._mask: Any = np.zeros(0, np.uint64)
        self._born: Numbers = np.zeros(0, np.int64)      # by piece, when it was begun
        self._time = 0
        self._has_forgotten = np.zeros(0, bool)     # by key

    def has(self, given: Numbers) -> Any:
        """Which of some numbers are remembered to be over."""
        import numpy as np

        piece = given >> _BITS
        found = self._full.has(piece)
        if len(self._piece):
            place, known = self._places(piece)
            mask = self._mask[np.minimum(place, len(self._mask) - 1)]
            found |= known & (mask >> _bit(given) & np.uint64(1)).astype(bool)
        return found

    def has_forgotten(self, key: int) -> bool:
        """True if some of a key are over, perhaps, and not remembered."""
        return key < len(self._has_forgotten) and bool(self._has_forgotten[key])

    @property
    def size(self) -> int:
        """The number of pieces with gaps, and of runs of pieces without any."""
        return len(self._piece) + len(self._full.every()[0])

    def add(self, given: Numbers) -> None:
        """Remember some numbers, in any order; some may be remembered already."""
        import numpy as np

        given = given[~self._full.has(given >> _BITS)]
        if not len(given):
            return
        given = np.sort(given)
        starts = np.flatnonzero(np.diff(given >> _BITS, prepend=-1))
        piece = given[starts] >> _BITS
        mask = np.bitwise_or.reduceat(np.uint64(1) << _bit(given), starts)
        place, known = self._places(piece)
        self._mask[place[known]] |= mask[known]
        new = ~known
        self._time += 1
        self._piece, self._mask, self._born = (
            np.insert(each, place[new], more) for each, more in (
                (self._piece, piece[new]), (self._mask, mask[new]), (self._born, self._time)))
        full = self._mask == ~np.uint64(0)
        if full.any():
            self._full.add(self._piece[full], self._piece[full])
            self._keeps(~full)
        self._forgets_some()

    def forgets(self, least: int) -> None:
        """Forget items with smaller numbers: none of them is named again as such."""
        import numpy as np

        start, _, size = self._full.every()
        some, runs = (first % _OF_KEY + size >= least >> _BITS
                      for first, size in ((self._piece, 0), (start, size - 1)))
        self._notes_forgotten(np.append(self._piece[~some], start[~runs]))
        self._keeps(some)
        self._full.keeps(runs)

    def _forgets_some(self) -> None:
        """Forget the pieces that were begun first, if there are too many."""
        import numpy as np

        if len(self._piece) <= self._most:
            return
        key = self._piece // _OF_KEY
        some = np.flatnonzero(np.append(key[1:] == key[:-1], False))    # no last one of a key
        if len(some) <= self._most:
            return
        order = np.argsort(self._born[some], kind="stable")
        gone = some[order[:len(some) - self._most + self._most // _SPARE]]
        self._notes_forgotten(self._piece[gone])
        stays = np.ones(len(key), bool)
        stays[gone] = False
        self._keeps(stays)

    def _notes_forgotten(self, piece: Numbers) -> None:
        if len(piece):
            key = piece // _OF_KEY
            self._has_forgotten = longer(self._has_forgotten, int(key.max()) + 1)
            self._has_forgotten[key] = True

    def _keeps(self, which: Any) -> None:
        self._piece, self._mask, self._born = (
            each[which] for each in (self._piece, self._mask, self._born))

    def _places(self, piece: Numbers) -> tuple[Numbers, Any]:
        import numpy as np

        place = np.searchsorted(self._piece, piece)
        known = np.append(self._piece, -1)[place] == piece
        return place, known


def _bit(given: Numbers) -> Any:
    import numpy as np

    return (given & ((1 << _BITS) - 1)).astype(np.uint64)
