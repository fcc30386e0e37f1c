"""All lanes of a log at a time: elements have their numbers in a table, by lane and item."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...columns.points import Taken, WholePoints
from ...columns.cells import Unfit, longer
from ...columns.rows import ITEM_MAX, Rows
from ...columns.runs import Runs
from ...columns.segments import Segments

if TYPE_CHECKING:

    from ...columns.cells import Numbers

__all__ = ["WholeLanes"]

_UNKNOWN = 1 << 59
"""The number of an element that was never sent: no lane sends so many."""


class WholeLanes(WholePoints):
    """Judges all lanes; see ``Whole``. ``forgotten`` says how many of those elements that were
    named are forgotten by then."""

    def __init__(self, *given: Any, forgotten: Callable[[Any], Any]) -> None:
        import numpy as np

        super().__init__(*given)
        self._forgotten = forgotten
        self._emits = self.operations.index("emits")
        self._has_item = np.array([bool(call.needs) for call in
                                   self.names.logs.operations.values()])
        self._named = np.zeros(0, np.int64)
        self._numbers = Runs()
        self._before: Any = None

    def begins(self, rows: Rows, segments: Segments) -> None:
        """Have a number of elements for each lane."""
        keys = len(self.names.keys)
        if keys * ITEM_MAX > 1 << 62:
            raise Unfit
        self._named = longer(self._named, keys)

    def steps(self, rows: Rows, segments: Segments) -> tuple[Taken, Numbers]:
        """The steps of some rows, up to an element that is sent twice, or is forgotten."""
        import numpy as np

        operation = self.operation_of(rows)
        what = rows.key * ITEM_MAX + rows.item
        emits = operation == self._emits
        sent = np.cumsum(emits)
        offset = self._named[segments.keys] - sent[segments.starts] + emits[segments.starts]
        named = sent - emits + np.repeat(offset, segments.sizes)     # before each row
        self._before = named
        again = self._adds(what, named, np.flatnonzero(emits))
        number = np.where(emits, named, 0)
        others = np.flatnonzero(~emits & self._has_item[operation])
        number[others] = self._numbers.numbers(what[others], _UNKNOWN)
        late = others[number[others] < self._forgotten(named[others])]
        self._named[segments.keys] = (named + emits)[segments.ends - 1]
        return Taken(np.arange(len(rows)), operation, number), segments.first_of(
            np.concatenate([again, late]))

    def in_use(self, column: str) -> Numbers:
        """The numbers of a column that are in use, or may be shown."""
        import numpy as np

        if column != "item":
            return super().in_use(column)
        start, number, size = self._numbers.every()
        kept = number + size > self._forgotten(self._named[start // ITEM_MAX])
        self._numbers.keeps(kept)
        start, size = start[kept], size[kept]
        inner = np.arange(int(size.sum())) - np.repeat(np.cumsum(size) - size, size)
        return np.concatenate([super().in_use(column), np.repeat(start % ITEM_MAX, size) + inner])

    def brings(self, judge: Any, key: int, at: int, rows: Rows, start: int) -> None:
        """Bring the judge of a lane to a row, with the elements that are not forgotten."""
        named = int(self._before[at])
        items, numbers = self._numbers.between(key * ITEM_MAX, (key + 1) * ITEM_MAX)
        known = (numbers < named) & (numbers >= self._forgotten(self._before[at:at + 1])[0])
        order = numbers[known].argsort()
        names = map(self.names.item, (items[known][order] - key * ITEM_MAX).tolist())
        judge.continues(dict(zip(names, numbers[known][order].tolist(), strict=True)), named)

    def _adds(self, what: Numbers, named: Numbers, emits: Numbers) -> Numbers:
        """Add the elements that are sent; the rows at which one is sent that was before."""
        import numpy as np

        order = emits[np.argsort(what[emits], kind="stable")]
        twice = np.zeros(len(order), bool)
        twice[1:] = what[order][1:] == what[order][:-1]
        twice |= self._numbers.has(what[order])
        self._numbers.add(what[order][~twice], named[order][~twice])
        return order[twice]
