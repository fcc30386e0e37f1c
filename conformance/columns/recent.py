"""The last rows of each key, as an answer shows them before an offending one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .cells import longer
from .rows import Rows, column_of, joined, stacked, unstacked
from .segments import Segments

if TYPE_CHECKING:
    from .cells import Numbers

__all__ = ["Recent"]


class Recent:
    """Keeps the last ``most`` rows of each key."""

    def __init__(self, most: int) -> None:
        import numpy as np

        self._most = most
        self._kept: Any = np.zeros((0, most, stacked(None).shape[1]), np.int64)
        self._size = np.zeros(0, np.int64)

    def takes(self, rows: Rows, segments: Segments) -> None:
        """Take the rows of some keys."""
        import numpy as np

        top = int(segments.keys.max()) + 1
        self._kept, self._size = longer(self._kept, top), longer(self._size, top)
        sizes = segments.sizes
        for few in range(1, self._most):    # these keep some of those before
            keys = segments.keys[sizes == few]
            self._kept[keys, :self._most - few] = self._kept[keys, few:]
        for back in range(self._most, 0, -1):
            has = np.flatnonzero(sizes >= back)
            self._kept[segments.keys[has], self._most - back] = stacked(
                rows.at(segments.ends[has] - back))
        self._size[segments.keys] = np.minimum(self._most, self._size[segments.keys] + sizes)

    def in_use(self, column: str) -> Numbers:
        """A column of all rows that are kept."""
        return column_of(unstacked(self._kept.reshape(-1, self._kept.shape[2])), column)

    def of(self, key: int, more: Rows) -> Rows:
        """The last rows of a key, after some more of it."""
        size = int(self._size[key]) if key < len(self._size) else 0
        kept = unstacked(self._kept[key, self._most - size:]) if size else more.at(slice(0, 0))
        both = joined([kept, more])
        return both.at(slice(max(0, len(both) - self._most), len(both)))
