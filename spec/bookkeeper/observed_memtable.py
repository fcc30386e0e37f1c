"""A memtable as the clients that bring entries and the disk see it.

Theory. An entry is added and waits until there is space for it; then it is in the table. The table
is asked to be flushed as a whole, and is the *snapshot* until that is done; a flush that fails
leaves it where it is, and has to be asked for again. Table and snapshot together never have more
than 2 L bytes. An entry that is in the table already takes no space: the client that brings it
knows that, and says so.

The permits inside are not seen, and need not be: a memtable that loses bytes shows it by letting an
entry wait although there is space; one that has too many, by taking an entry for which there is no
space. A waiting entry waits for a flush that is under way. If none is, it waits until another entry
is brought, and perhaps forever.

Entries are numbered in the order in which they come, and after R numbers from 0 again: by then the
entry that had the number has gone to disk, or else no more come. The memtable's reaction to one
event is over when it is *quiescent*.

Source: ``memtable``; 004#memtable, bookkeeper#memtable.
"""

from __future__ import annotations

from enum import IntEnum

from ..expectations import expect
from ..notation import (
    MUST, Machine, action, always, array, boolean, choice, const, guard_rule, integer, require,
    upto,
)
from ..notation.rules import seen_from_outside
from .memtable import Memtable

__all__ = ["EXPECTATIONS", "Entry", "ObservedMemtable"]

HELPED = seen_from_outside(Memtable.rules_declared, "BK-22")
BOUNDED = seen_from_outside(Memtable.rules_declared, "BK-23")
FLUSHED = seen_from_outside(Memtable.rules_declared, "BK-24")

ONCE = guard_rule(
    "BK-70", MUST, "An entry is inserted or refused at most once, and only if it was added.",
    source="bookkeeper#memtable")
IN_ORDER = guard_rule(
    "BK-71", MUST,
    "No entry is inserted while an entry that came before it still waits.",
    source="bookkeeper#memtable")
FITS = guard_rule(
    "BK-72", MUST,
    "Only entries longer than 2 L bytes, twice the size of a table, are refused; a quiescent "
    "memtable has no such entry as its first waiter.",
    source="bookkeeper#B7")
TAKES = guard_rule(
    "BK-73", MUST,
    "When the memtable is quiescent, its first waiting entry is longer than the number of free "
    "bytes.",
    source="bookkeeper#B6; BookKeeper #2832")
WHOLE = guard_rule(
    "BK-74", MUST, "A flush takes the whole table, or after a failed flush the whole snapshot, "
    "and none begins while another is under way.", source="bookkeeper#memtable")
WORTH = guard_rule(
    "BK-75", MUST,
    "A table of fewer than L bytes, the size of a full table, is first flushed only while an "
    "entry waits; a failed flush may be tried again.",
    source="004#memtable ('limit that triggers memtable flush')")


class Entry(IntEnum):
    """The place of an entry on its path to disk."""

    UNNAMED = 0
    WAITING = 1
    TABLE = 2
    SNAPSHOT = 3
    GONE = 4            # on disk, or refused, or there already


class ObservedMemtable(Machine):
    """Entries of up to M bytes, of which R are waiting or in memory at the same time."""

    L = const(2, at_least=1)            # bytes of the table that are worth a flush
    M = const(2, at_least=1)            # bytes of an entry, at most
    R = const(3, at_least=1)            # entries that have a number

    named = integer(0, R - 1)           # the next entry has this number
    place = array(upto(R), choice(Entry, Entry.UNNAMED))
    length = array(upto(R), integer(0, M))
    known = array(upto(R), boolean())   # it is in the table already
    under_way = boolean()               # a flush is under way

    # --- steps of the environment ------------------------------------------------------------

    @action(length=upto(M))
    def add(self, length: int) -> None:
        """An entry of ``length + 1`` bytes comes."""
        require(self.place[self.named] in (Entry.UNNAMED, Entry.GONE))
        self.place[self.named] = Entry.WAITING
        self.length[self.named] = length + 1
        self.known[self.named] = False
        self.named = (self.named + 1) % self.R

    @action(entry=upto(R))
    def repeats(self, entry: int) -> None:
        """A waiting entry is in the table already."""
        require(self.place[entry] == Entry.WAITING)
        self.known[entry] = True

    @action
    def flushed(self) -> None:
        """The snapshot is on disk."""
        require(self.under_way)
        self.under_way = False
        for entry in range(self.R):
            if self.place[entry] == Entry.SNAPSHOT:
                self.place[entry] = Entry.GONE

    @action
    def fails(self) -> None:
        """A flush fails, and has written nothing."""
        require(self.under_way)
        self.under_way = False

    # --- steps of the memtable ---------------------------------------------------------------

    @action(entry=upto(R))
    def inserts(self, entry: int) -> None:
        """An entry is put into the table."""
        require(self.place[entry] == Entry.WAITING, ONCE)
        require(not any(self.place[other] == Entry.WAITING for other in range(self.R)
                        if self.is_older(other, entry)), IN_ORDER)
        require(self.length[entry] <= self.room(), BOUNDED)
        self.place[entry] = Entry.GONE if self.known[entry] else Entry.TABLE

    @action(entry=upto(R))
    def refuses(self, entry: int) -> None:
        """An entry is refused, because there can never be space for it."""
        require(self.place[entry] == Entry.WAITING, ONCE)
        require(self.length[entry] > 2 * self.L, FITS)
        self.place[entry] = Entry.GONE

    @action
    def invents(self) -> None:
        """An entry that was not added is inserted or refused."""
        require(False, ONCE)

    @action(bytes=upto(2 * L + 2))
    def flushes(self, bytes: int) -> None:
        """A flush of ``bytes`` bytes is asked for."""
        require(not self.under_way, WHOLE)
        if self.bytes_in(Entry.SNAPSHOT) > 0:
            require(bytes == self.bytes_in(Entry.SNAPSHOT), WHOLE)
        else:
            require(bytes == self.bytes_in(Entry.TABLE) and bytes > 0, WHOLE)
            require(bytes >= self.L or self.is_waiting(), WORTH)
            for entry in range(self.R):
                if self.place[entry] == Entry.TABLE:
                    self.place[entry] = Entry.SNAPSHOT
        self.under_way = True

    @action(rests=True)
    def rests(self) -> None:
        """The memtable is quiescent: it does nothing more until the next event."""
        for entry in range(self.R):
            if self.place[entry] == Entry.WAITING and not any(
                    self.place[other] == Entry.WAITING for other in range(self.R)
                    if self.is_older(other, entry)):
                require(self.length[entry] <= 2 * self.L, FITS)
                require(self.length[entry] > self.room(), TAKES)
        require(self.under_way or self.bytes_in(Entry.SNAPSHOT) == 0, FLUSHED)
        require(self.under_way or not self.is_waiting(), HELPED)

    # --- derived values ----------------------------------------------------------------------

    def is_older(self, other: int, entry: int) -> bool:
        """True if ``other`` came before ``entry``; both wait."""
        return (other + self.R - self.named) % self.R < (entry + self.R - self.named) % self.R

    def bytes_in(self, place: Entry) -> int:
        """Sum of the lengths of the entries at a place."""
        return sum(self.length[entry] if self.place[entry] == place else 0
                   for entry in range(self.R))

    def room(self) -> int:
        """Number of free bytes."""
        return 2 * self.L - self.bytes_in(Entry.TABLE) - self.bytes_in(Entry.SNAPSHOT)

    def is_waiting(self) -> bool:
        """True if an entry waits for space."""
        return any(self.place[entry] == Entry.WAITING for entry in range(self.R))

    @always("BK-76", MUST, "The table and its snapshot together never hold more than 2 L bytes, "
            "twice the size of a table.", source="bookkeeper#B6")
    def books_agree(self) -> bool:
        """Count the table and the snapshot."""
        return self.room() >= 0


EXPECTATIONS = (
    expect(ObservedMemtable, "BK-76", "holds", "the bound on memory is kept", L=(1, 2), M=(1, 3),
           R=3),
)
