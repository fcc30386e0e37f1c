"""Whole numbers with a number for each, as runs: where both go up by one, a run is one entry.

Items are numbered as they come, and so are most identities; then a table of millions of them is a
few runs for each key.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from .cells import Unfit

if TYPE_CHECKING:

    from .cells import Numbers

__all__ = ["Runs"]

_RUNS_MAX: Final = 1 << 24


class Runs:
    """A table from numbers to numbers. Raises ``Unfit`` where it has too many runs."""

    def __init__(self) -> None:
        import numpy as np

        self._start = np.zeros(0, np.int64)
        self._number = np.zeros(0, np.int64)
        self._size = np.zeros(0, np.int64)

    def has(self, given: Numbers) -> Any:
        """Which of some numbers are in the table."""
        return self._places(given)[1]

    def numbers(self, given: Numbers, absent: int) -> Numbers:
        """The numbers that some stand for; ``absent`` for those that are not in the table."""
        import numpy as np

        place, found = self._places(given)
        if not len(self._start):
            return np.full(len(given), absent, np.int64)
        return np.where(found, self._number[place] + given - self._start[place], absent)

    def between(self, low: int, high: int) -> tuple[Numbers, Numbers]:
        """The numbers from ``low`` up to ``high`` in the table, and what they stand for."""
        import numpy as np

        first, last = np.searchsorted(self._start, [low, high])
        sizes = self._size[first:last]
        inner = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return (np.repeat(self._start[first:last], sizes) + inner,
                np.repeat(self._number[first:last], sizes) + inner)

    def ranges(self, low: int, high: int) -> tuple[list[int], list[int]]:
        """The runs from ``low`` up to ``high``: where each begins, and where it has ended."""
        import numpy as np

        some = slice(*np.searchsorted(self._start, [low, high]).tolist())
        return self._start[some].tolist(), (self._start[some] + self._size[some]).tolist()

    def add(self, given: Numbers, numbers: Numbers) -> None:
        """Add numbers, in their order, that are not in the table yet."""
        import numpy as np

        if not len(given):
            return
        fresh = _runs(given, numbers, np.ones(len(given), np.int64))
        start, number, size = (np.concatenate(pair) for pair in zip(
            (self._start, self._number, self._size), fresh, strict=True))
        order = np.argsort(start, kind="stable")
        self._start, self._number, self._size = _runs(start[order], number[order], size[order])
        if len(self._start) > _RUNS_MAX:
            raise Unfit

    def keeps(self, which: Any) -> None:
        """Keep some of the runs, and forget the others; see ``every``."""
        self._start, self._number, self._size = (
            each[which] for each in (self._start, self._number, self._size))

    def every(self) -> tuple[Numbers, Numbers, Numbers]:
        """All runs: where each begins, what that stands for, and its size."""
        return self._start, self._number, self._size

    def _places(self, given: Numbers) -> tuple[Numbers, Any]:
        import numpy as np

        if not len(self._start):
            return np.zeros(len(given), np.int64), np.zeros(len(given), bool)
        place = np.maximum(np.searchsorted(self._start, given, side="right") - 1, 0)
        inner = given - self._start[place]
        return place, (inner >= 0) & (inner < self._size[place])


def _runs(start: Numbers, number: Numbers, size: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Runs, in their order, with those in one where one begins where the other ends."""
    import numpy as np

    goes_on = ((start[1:] == start[:-1] + size[:-1]) & (number[1:] == number[:-1] + size[:-1]))
    first = np.flatnonzero(np.append(True, ~goes_on))
    return start[first], number[first], np.add.reduceat(size, first)
