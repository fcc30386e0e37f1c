"""Rows that are sorted by key, and what judges them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from ..logs.events import Event
from ..logs.kinds import KeyJudge
from ..logs.understanding import Calls
from .rows import Rows

if TYPE_CHECKING:
    from .rows import Numbers

__all__ = ["Handed", "Resumable", "Segments", "Whole", "order_by_key", "sorted_by_key"]


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


@dataclass(frozen=True)
class Handed:
    """A key that is judged by itself from here on: its judge, where the key is, and the rows that
    it takes next. The judge is made when it is asked for, with the calls that are numbered."""

    key: int
    judge: Callable[[Calls], KeyJudge]
    rows: Rows


class Whole(Protocol):
    """Judges the keys of a system together; it only says of keys that they are right."""

    def takes(self, rows: Rows, segments: Segments) -> list[Handed]:
        """Take the next rows of some keys; the keys that are to be judged one by one."""
        ...

    def ends(self) -> list[Handed]:
        """The log is over."""
        ...

    def items(self) -> Numbers:
        """The numbers of the items that are in use, or may be shown."""
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

    size = len(key)
    shift = max(1, size.bit_length())
    both = np.sort(key << shift | np.arange(size))
    keys = both >> shift
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    return both & ((1 << shift) - 1), Segments(keys[starts], starts, np.append(starts[1:], size))
