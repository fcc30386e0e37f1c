"""Entries in memory before they go to disk, after BookKeeper's ``EntryMemTable``.

There is space for twice the size at which a table is worth a flush: a table may fill while the one
before it is flushed. An entry for which there is no space waits in a queue, and asks for a flush as
long as it waits, however small the table is. So every entry gets space that is not longer than
twice the size; a longer one never would, and is refused.

No disk and no threads: a driver writes the tables to be flushed, and reports when that is done. A
flush that fails must be tried again. A call that raises has changed nothing.
"""

from __future__ import annotations

from collections import deque
from typing import Any, Final, NamedTuple

__all__ = ["EntryTooLong", "Key", "Memtable", "MemtableMisuse", "Moved"]

Key = int | str


class MemtableMisuse(ValueError):
    """The driver broke a rule of the interface; nothing has changed.

    Usual causes: a size or a length below one, the end of a flush that was not asked for.
    """


class EntryTooLong(ValueError):
    """An entry is longer than there can ever be space for: it would wait forever."""


class Moved(NamedTuple):
    """The effects of a call: these entries are in the table now, by the keys that the driver gave;
    this many bytes are to be flushed (0: nothing new is requested)."""

    inserted: list[Any]
    flush: int


class Memtable:
    """``size``: bytes that are worth a flush. Entries have keys, which are integers or texts."""

    def __init__(self, size: int) -> None:
        if type(size) is not int or size < 1:
            raise MemtableMisuse(f"a size is an integer from 1 up, not {size!r}")
        self.size: Final = size
        self._table: dict[Key, int] = {}
        self._snapshot: dict[Key, int] = {}
        self._line: deque[tuple[Key, int]] = deque()
        self._free = 2 * size

    @property
    def held(self) -> int:
        """Bytes in memory: in the table, and in what is being flushed."""
        return 2 * self.size - self._free

    @property
    def waiting(self) -> int:
        """Number of entries that wait for space."""
        return len(self._line)

    def add(self, key: Key, length: int) -> Moved:
        """An entry of ``length`` bytes comes. Raises ``EntryTooLong`` for one that never fits."""
        if type(length) is not int or length < 1:
            raise MemtableMisuse(f"a length is an integer from 1 up, not {length!r}")
        if length > 2 * self.size:
            raise EntryTooLong(f"an entry of {length} bytes, and there is room for {2 * self.size}")
        self._line.append((key, length))
        return self._go_on()

    def flushed(self, *, failed: bool = False) -> Moved:
        """A flush is over; one that has failed is asked for again."""
        if not self._snapshot:
            raise MemtableMisuse("no flush was asked for")
        if failed:
            return self._try_again()
        self._free += sum(self._snapshot.values())
        self._snapshot = {}
        return self._go_on()

    def _go_on(self) -> Moved:
        inserted = []
        while self._line and self._has_room(self._line[0][1]):
            key, length = self._line.popleft()
            self._free -= length
            inserted.append(key)
            if self._is_known(key):
                self._give_back(length)
            else:
                self._table[key] = length
        return Moved(inserted, self._set_aside() if self._is_worth_a_flush() else 0)

    def _set_aside(self) -> int:
        self._snapshot, self._table = self._table, {}
        return sum(self._snapshot.values())

    # -- decisions ----------------------------------------------------------------------------

    def _has_room(self, length: int) -> bool:
        return length <= self._free

    def _is_known(self, key: Key) -> bool:
        return key in self._table or key in self._snapshot

    def _give_back(self, length: int) -> None:
        self._free += length

    def _is_worth_a_flush(self) -> bool:
        if self._snapshot or not self._table:
            return False
        return sum(self._table.values()) >= self.size or bool(self._line)

    def _try_again(self) -> Moved:
        return Moved([], sum(self._snapshot.values()))
