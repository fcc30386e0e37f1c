"""Tables of what is known of things, and of the first rows of keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .cells import longer
from .rows import Rows, column_of, joined, nothing
from .segments import Segments

if TYPE_CHECKING:
    from .cells import Numbers

__all__ = ["Early", "Known"]


class Known:
    """The things that are known, in the order of ``what`` they are: the state of the machine of
    each, and some ``columns`` of numbers."""

    def __init__(self, words: int, columns: Sequence[str]) -> None:
        import numpy as np

        self.what = np.zeros(0, np.int64)
        self.states: Any = np.zeros((0, words), np.uint64)
        self.columns: dict[str, Numbers] = {name: np.zeros(0, np.int64) for name in columns}

    def find(self, what: Numbers) -> tuple[Numbers, Any]:
        """The places of some things, and which of them are known."""
        import numpy as np

        if not len(self.what):
            return np.zeros(len(what), np.int64), np.zeros(len(what), bool)
        place = np.minimum(np.searchsorted(self.what, what), len(self.what) - 1)
        return place, self.what[place] == what

    def of(self, name: str, what: Numbers, absent: int) -> Numbers:
        """A column of some things; ``absent`` for those that are not known."""
        import numpy as np

        place, found = self.find(what)
        if not len(self.what):
            return np.full(len(what), absent, np.int64)
        return np.where(found, self.columns[name][place], absent)

    def puts(self, what: Numbers, states: Numbers, columns: Mapping[str, Numbers], which: Any
             ) -> None:
        """Know ``which`` of some things, which are in their order, in place of what was known of
        all of them."""
        import numpy as np

        place, found = self.find(what)
        others = np.ones(len(self.what), bool)
        others[place[found]] = False
        kept = np.concatenate([self.what[others], what[which]])
        order = np.argsort(kept, kind="stable")
        self.what = kept[order]
        self.states = np.concatenate([self.states[others], states[which]])[order]
        self.columns = {name: np.concatenate([self.columns[name][others], column[which]])[order]
                        for name, column in columns.items()}

    def keeps(self, which: Any) -> None:
        """Keep some things, and forget the others."""
        self.what, self.states = self.what[which], self.states[which]
        self.columns = {name: column[which] for name, column in self.columns.items()}


class Early:
    """Keeps all rows of each key that has ``most`` or fewer so far: of these the shortest history
    of a violation is looked for."""

    def __init__(self, most: int) -> None:
        import numpy as np

        self._most = most
        self._sizes = np.zeros(0, np.int64)
        self._parts: list[Rows] = []
        self._gone = 0

    def takes(self, rows: Rows, segments: Segments) -> None:
        """Take the rows of some keys, sorted by key."""
        import numpy as np

        self._grows(int(segments.keys.max()) + 1)
        before = self._sizes[segments.keys]
        self._sizes[segments.keys] = after = before + segments.sizes
        fits = after <= self._most
        if fits.any():
            self._parts.append(rows if fits.all() else rows.at(np.repeat(fits, segments.sizes)))
        self._gone += int(before[(before <= self._most) & ~fits].sum())
        if 2 * self._gone > sum(map(len, self._parts)):
            parts = [part.at(self._sizes[part.key] <= self._most) for part in self._parts]
            self._parts, self._gone = [part for part in parts if len(part)], 0

    def exceeds(self, keys: Numbers) -> None:
        """Some keys have too many rows by now, wherever these were judged."""
        self._grows(int(keys.max()) + 1)
        before = self._sizes[keys]
        self._gone += int(before[before <= self._most].sum())
        self._sizes[keys] = self._most + 1

    def of(self, key: int, more: Rows) -> Rows | None:
        """All rows of a key, after some more of it; None if they are too many."""
        import numpy as np

        size = int(self._sizes[key]) if key < len(self._sizes) else 0
        if size + len(more) > self._most:
            return None
        parts = [part.at(slice(*np.searchsorted(part.key, [key, key + 1]).tolist()))
                 for part in self._parts]
        return joined([*parts, more])

    def in_use(self, column: str) -> Numbers:
        """A column of all rows that are kept."""
        import numpy as np

        return np.concatenate([column_of(part, column) for part in (nothing(), *self._parts)])

    def _grows(self, top: int) -> None:
        self._sizes = longer(self._sizes, top)
