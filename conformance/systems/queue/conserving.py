"""Queues of a log in whole columns, where the order is not judged: conservation alone.

What is plain here is an item that is put once, by a call that ends well, and comes out once, after
that call began. ``ConservingQueue`` takes each order in which that can be seen (a test asks it),
so no machine is run. For whatever else there is, a key is handed over, as elsewhere. A take that
finds nothing is plain if no more items are certainly inside than there are other takes that have
not ended: each may have one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...columns.cells import longer
from ...columns.rows import Rows, nothing
from ...columns.segments import Segments
from .chunk import NONE_THERE, Kept, Meant, Table, fresh, merged

if TYPE_CHECKING:
    from ...columns.cells import Numbers

__all__ = ["Conserved", "NoMachines"]


class Conserved:
    """The judging of a chunk: the rows that were ``fed``, which are those before the end of their
    queue; nothing is ever ``refused``. That a take found nothing may have been ``checked``."""

    def __init__(self, table: Table, checked: bool = False) -> None:
        import numpy as np

        self._table, self._is_checked = table, checked
        self._told, self._got = self._pairs()
        lost = self._lost()
        if len(lost):
            table.end = np.minimum(table.end, table.segments.first_of(lost))
        self.fed = np.arange(len(table.rows)) < table.end[table.segment]
        self.refused = np.full(len(table.segments.keys), -1)

    def _pairs(self) -> tuple[Numbers, Numbers]:
        """By item, the rows at which its put ended and its take, -1 for none."""
        import numpy as np

        table = self._table
        self.named = np.flatnonzero(table.begins & table.puts)
        return table.mate[self.named], table.got[self.named]

    def _lost(self) -> Numbers:
        """The rows at which a take found nothing, and something may be lost."""
        import numpy as np

        table = self._table
        empty = np.flatnonzero(~table.begins & (table.result == NONE_THERE))
        if not len(empty) or self._is_checked:
            return empty[:0]
        # Items that are inside, without the takes that are open: of each queue from its beginning.
        total = np.cumsum(self.changes())
        starts = table.segments.starts[table.segment[empty]]
        found: Numbers = empty[total[empty] - np.append(0, total)[starts] > 0]
        return found

    def changes(self) -> Numbers:
        """By row, the change of the number of items that are certainly inside, less the takes
        that are open."""
        import numpy as np

        table = self._table
        change = np.zeros(len(table.rows), np.int64)
        change[self._told[self._told >= 0]] = 1
        over = (self._told >= 0) & (self._got >= 0)
        change[np.maximum(self._told, self._got)[over]] -= 1
        return change + np.where(table.puts, 0, np.where(table.begins, -1, 1))

    def gone(self) -> tuple[Any, Numbers]:
        """Return which rows need not be kept, and the puts of the items that ended here."""
        import numpy as np

        table, fed = self._table, np.append(self.fed, False)
        over = (self._told >= 0) & (self._got >= 0) & fed[self._told] & fed[self._got]
        put, told, got = self.named[over], self._told[over], self._got[over]
        empty = np.flatnonzero(self.fed & ~table.begins & (table.result == NONE_THERE))
        gone = np.zeros(len(table.rows), bool)
        for rows in (put, told, got, table.mate[got], empty, table.mate[empty]):
            gone[rows] = True
        return gone, put

    def open(self) -> Kept:
        """Return the rows; those that were fed are seen."""
        kept = self._table.kept
        seen = self.fed | kept.seen
        return Kept(kept.rows, seen, seen, kept.name, kept.rank, kept.served)


class NoMachines:
    """Stands in the place of the machines of all queues, where none is run."""

    callers = 0

    def __init__(self) -> None:
        import numpy as np

        self.states: Any = np.zeros((1, 1), np.uint64)
        self.hard = np.zeros(1, bool)
        self.left = fresh(nothing())
        self.is_checked = False

    def grows(self, keys: int) -> None:
        """Have a place for each key."""
        self.hard, self.states = longer(self.hard, keys), longer(self.states, keys)

    def with_left(self, rows: Rows, mine: Any) -> tuple[Kept, Segments]:
        """Some rows behind those that were left of their keys (``mine``, by key), sorted."""
        here = mine[self.left.rows.key]
        left, self.left = self.left.at(here), self.left.at(~here)
        return merged(left, rows)

    def works(self, meant: Meant, kept: Kept, segments: Segments, final: bool = False,
              searches: bool = True, cut: Numbers | None = None) -> tuple[Table, Conserved]:
        """Take rows, which are sorted by key."""
        table = Table(meant, kept, segments, cut, margin=0)
        return table, Conserved(table, self.is_checked)
