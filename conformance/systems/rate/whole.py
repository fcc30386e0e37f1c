"""All limits of a log at a time: each row is as many steps as ticks passed, and its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...columns.points import Taken, WholePoints
from ...columns.cells import NONE, Unfit, longer
from ...columns.rows import Rows
from ...columns.segments import Segments

if TYPE_CHECKING:

    from ...columns.cells import Numbers

__all__ = ["WholeRates"]

_ROOM = 1 << 40


class WholeRates(WholePoints):
    """Judges all limits; see ``Whole``. After ``most`` ticks nothing is in the window."""

    def __init__(self, *given: Any, most: int) -> None:
        import numpy as np

        super().__init__(*given)
        self._tick = self.terms.settings.get("tick_ns", 0)
        self._most = most
        self._ticks = np.zeros(0, np.int64)
        self._before: Any = None

    def begins(self, rows: Rows, segments: Segments) -> None:
        """Have a number of ticks for each limit."""
        self._ticks = longer(self._ticks, len(self.names.keys), NONE)

    def steps(self, rows: Rows, segments: Segments) -> tuple[Taken, Numbers]:
        """The steps of some rows: the ticks that passed before each, and its own."""
        import numpy as np

        operation = self.operation_of(rows)
        tick = self.operations.index("tick")
        if self._tick:
            passed = self._passed(rows, segments)
            times = passed + 1
            row = np.repeat(np.arange(len(rows)), times)
            inner = np.arange(len(row)) - np.repeat(np.cumsum(times) - times, times)
            operation = np.where(inner < passed[row], tick, operation[row])
            return Taken(row, operation, rows.value[row]), segments.ends
        ticks = (operation == tick) & (rows.value != NONE)
        if not ticks.any():
            return Taken(np.arange(len(rows)), operation, rows.value), segments.ends
        row = np.repeat(np.arange(len(rows)),
                        np.where(ticks, np.clip(rows.value, 0, self._most), 1))
        return Taken(row, operation[row], rows.value[row]), segments.ends

    def brings(self, judge: Any, key: int, at: int, rows: Rows, start: int) -> None:
        """Bring the judge of a limit to a row, with the ticks that were counted."""
        if self._tick:
            ticks = int(self._before[at])
            judge.continues(None if ticks == NONE else ticks)

    def _passed(self, rows: Rows, segments: Segments) -> Numbers:
        """The ticks that the time of each row shows to have passed."""
        import numpy as np

        now = np.where(rows.time == NONE, NONE, rows.time // self._tick)
        kept = self._ticks[segments.keys]
        known = np.concatenate([now[now != NONE], kept[kept != NONE]])
        if not len(known):
            self._before = now
            return np.zeros(len(rows), np.int64)
        low = int(known.min()) - 1
        if int(known.max()) - low >= _ROOM or len(segments.keys) >= 1 << 22:
            raise Unfit
        # The greatest so far in each segment: that of the segment's number with it, in one pass.
        above = np.where(now == NONE, 0, now - low)
        starts = segments.starts
        first = above[starts].copy()
        above[starts] = np.maximum(first, np.where(kept == NONE, 0, kept - low))
        base = np.repeat(np.arange(len(starts)) * _ROOM, segments.sizes)
        top = np.maximum.accumulate(base + above) - base
        before = np.roll(top, 1)
        before[starts] = np.where(kept == NONE, 0, kept - low)
        self._before = np.where(before == 0, NONE, before + low)
        last = top[segments.ends - 1]
        self._ticks[segments.keys] = np.where(last == 0, NONE, last + low)
        return np.where(before == 0, 0, np.minimum(top - before, self._most))
