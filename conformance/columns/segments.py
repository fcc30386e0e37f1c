"""Rows that are sorted by key, and what judges them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from ..logs.events import Event
from ..logs.kinds import KeyJudge
from ..logs.understanding import Calls
from .cells import NONE
from .rows import Rows, joined

if TYPE_CHECKING:
    from .cells import Numbers

__all__ = ["Handed", "Resumable", "Segments", "Whole", "greatest_so_far", "order_by_key",
           "sorted_by_key", "stable_order"]

_DIGIT: Final = 16
_DIGITS: Final = (1 << _DIGIT) - 1


class Resumable(KeyJudge, Protocol):
    """The judge of a key, brought to where the key is."""

    def has_seen(self, events: Iterable[Event]) -> None:
        """Events that were the last ones, judged elsewhere: they are only shown."""
        ...


class Segments(NamedTuple):
    """Where the rows of each key are: from ``starts`` up to ``ends``; ``sizes`` are their numbers.
    """

    keys: Numbers
    starts: Numbers
    ends: Numbers

    @property
    def sizes(self) -> Numbers:
        """The number of rows of each key."""
        return self.ends - self.starts

    def first_of(self, rows: Numbers) -> Numbers:
        """The first of some rows in each segment, or its end."""
        import numpy as np

        found = self.ends.copy()
        if len(rows):
            each = np.searchsorted(self.starts, rows, side="right") - 1
            np.minimum.at(found, each, rows)
        return found


@dataclass(frozen=True)
class Handed:
    """A key that is judged by itself from here on: its judge, where the key is, and the rows that
    it takes next. The judge is made when it is asked for, with the calls that are numbered."""

    key: int
    judge: Callable[[Calls], KeyJudge]
    rows: Rows

    def with_more(self, rows: Rows) -> Handed:
        """The same with more rows, which follow."""
        return Handed(self.key, self.judge, joined([self.rows, rows]))


class Whole(Protocol):
    """Judges the keys of a system together; it only says of keys that they are right."""

    def takes(self, rows: Rows) -> list[Handed]:
        """Take the next rows of the log; the keys that are to be judged one by one."""
        ...

    def ends(self) -> list[Handed]:
        """The log is over."""
        ...

    def in_use(self, column: str) -> Numbers:
        """The numbers in the column ``process``, ``call`` or ``item`` that are in use, or may be
        shown."""
        ...

    def forgets(self, least: int) -> None:
        """Items with smaller numbers are forgotten, but for those that are in use."""
        ...


def sorted_by_key(rows: Rows) -> tuple[Rows, Segments]:
    """The rows by key, those of each in their order."""
    order, segments = order_by_key(rows.key)
    return rows.at(order), segments


def order_by_key(key: Numbers) -> tuple[Numbers, Segments]:
    """The places of rows by key, those of each in their order."""
    import numpy as np

    order = stable_order(key)
    keys = key[order]
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    return order, Segments(keys[starts], starts, np.append(starts[1:], len(key)))


def greatest_so_far(values: Numbers, starts: Numbers, before: Numbers) -> Numbers:
    """By row, the greatest value so far of its segment, where that of each was so much before."""
    import numpy as np

    found = np.array(values)
    found[starts] = np.maximum(found[starts], before)
    falls = np.append(False, found[1:] < found[:-1])    # a difference may have more than 64 bits
    falls[starts] = False
    if not falls.any():
        return found
    order = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(values))))
    # By their places among all values they fit into a word with the number of the segment.
    values, place = np.unique(found, return_inverse=True)
    top = np.maximum.accumulate(order * len(values) + place)
    return values[top - order * len(values)]


def stable_order(*columns: Numbers) -> Numbers:
    """The places of rows by their values in some columns, the first before the others; equal ones
    in their order. A few bits at a time: numpy sorts numbers of 16 bits by counting."""
    import numpy as np

    order: Numbers | None = None
    for column in reversed(columns):
        if not len(column):
            break
        known = column[column != NONE] if int(column.min()) == NONE else column
        if not len(known):
            continue
        least = int(known.min())
        if len(known) == len(column) and int(known.max()) == least:
            continue
        inner = column - (least - 1)
        if len(known) < len(column):
            inner[column == NONE] = 0
        for shift in range(0, int(inner.max()).bit_length(), _DIGIT):
            digit = (inner >> shift & _DIGITS).astype(np.uint16)
            more = np.argsort(digit if order is None else digit[order], kind="stable")
            order = more if order is None else order[more]
    return np.arange(len(columns[0]) if columns else 0) if order is None else order
