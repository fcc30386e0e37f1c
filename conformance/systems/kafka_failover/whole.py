"""All epochs and marks of a log at a time: of an epoch it is known which process leads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...columns.cells import NONE, longer
from ...columns.points import Taken, WholePoints
from ...columns.rows import Rows
from ...columns.segments import Segments

if TYPE_CHECKING:

    from ...columns.cells import Numbers

__all__ = ["WholeEpochs"]


class WholeEpochs(WholePoints):
    """Judges all epochs and marks; see ``Whole``. The first leader of a key has the number 0; a
    second one needs a closer look."""

    def __init__(self, *given: Any) -> None:
        import numpy as np

        super().__init__(*given)
        self._is_leads = np.array([do == "leads" for do in [*self.operations, ""]])
        self._leader = np.zeros(0, np.int64)    # by key
        self._before: Any = None

    def begins(self, rows: Rows, segments: Segments) -> None:
        """Have a leader for each key."""
        self._leader = longer(self._leader, len(self.names.keys), NONE)

    def steps(self, rows: Rows, segments: Segments) -> tuple[Taken, Numbers]:
        """The steps of some rows, up to one of a second leader."""
        import numpy as np

        operation = self.operation_of(rows)
        leads = self._is_leads[operation]
        self._before = self._leader[segments.keys]
        leader = self._before.copy()
        first = segments.first_of(np.flatnonzero(leads))
        new = np.flatnonzero((leader == NONE) & (first < segments.ends))
        leader[new] = rows.item[first[new]]
        self._leader[segments.keys] = leader
        others = leads & (rows.item != np.repeat(leader, segments.sizes))
        number = np.where(leads, 0, rows.value)
        return Taken(np.arange(len(rows)), operation, number), segments.first_of(
            np.flatnonzero(others))

    def in_use(self, column: str) -> Numbers:
        """The numbers of a column that are in use, or may be shown."""
        import numpy as np

        found = super().in_use(column)
        return found if column != "item" else np.concatenate(
            [found, self._leader[self._leader != NONE]])

    def brings(self, judge: Any, key: int, at: int, rows: Rows, start: int) -> None:
        """Bring the judge of a key to a row, with the process that led so far."""
        leads = self._is_leads[self.operation_of(rows.at(slice(start, at)))]
        led = self._before_of(key, rows, start) != NONE or bool(leads.any())
        judge.continues(self.names.item(int(self._leader[key])) if led else None)

    def _before_of(self, key: int, rows: Rows, start: int) -> int:
        """The leader of a key before these rows, which are sorted by key."""
        import numpy as np

        keys = rows.key[np.flatnonzero(np.diff(rows.key, prepend=-1))]
        return int(self._before[int(np.searchsorted(keys, key))])
