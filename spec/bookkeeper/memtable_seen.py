"""The memtable, as the clients that bring entries and the disk see it.

Theory. There is one adder (A = 1): several that have space at the same time insert in any order,
and the bytes in the table are then not those of the permits taken. An entry is added when its adder
checks whether to flush, and is in the table when it is inserted. Only then does the adder find out
whether the entry was there already, and says so first. A memtable is quiescent while its adder has
nothing to do or waits for more bytes than are free.

As merged, a memtable is refused if an entry may be longer than L, or if a flush may fail
(bookkeeper#B7, bookkeeper#latent). An accepted one asks until the waiting adder is served, and
tries flushes again.

Source: ``memtable``, ``observed_memtable``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, Final

from ..notation.views import Seen, View, see, shown
from ..refinements import refines, refused
from .memtable import (
    AskingUntilAFailure, FlushingLittle, KeepingDuplicates, KeepingFlushed, Memtable, Retrying,
    Sleeping,
)
from .observed_memtable import ObservedMemtable

__all__ = ["EXPECTATIONS", "MemtableSeen", "SeenWithMore"]

NUMBERS: Final = 3
"""Numbers of entries: at most this many wait or are in memory at the same time."""
ROOM: Final = ("self.place[self.named] in (Entry.UNNAMED, Entry.GONE)",)


class MemtableSeen(View[Memtable]):
    """Entries are numbered as they come, and after the last number again from the first one;
    ``history`` is one more than the number that was given last."""

    history: int = 0
    numbers: ClassVar[int] = NUMBERS

    @shown
    def add(self, before: Memtable, after: Memtable, adder: int) -> Iterable[Seen]:
        self.history = self.history % self.numbers + 1
        return see("add", length=before.length[adder] - 1), *asked_for(before, after)

    @shown
    def take(self, before: Memtable, after: Memtable, adder: int) -> Iterable[Seen]:
        return asked_for(before, after)

    @shown
    def insert(
        self, before: Memtable, after: Memtable, adder: int, known: int
    ) -> Iterable[Seen]:
        entry = self.history - 1
        repeats = [see("repeats", entry=entry)] if known else []
        return *repeats, see("inserts", entry=entry), *asked_for(before, after)

    @shown
    def flush(self, before: Memtable, after: Memtable) -> Iterable[Seen]:
        again = [see("flushes", bytes=after.snapshot)] if after.asked else []
        return see("flushed"), *again

    @shown
    def fail(self, before: Memtable, after: Memtable) -> Iterable[Seen]:
        again = [see("flushes", bytes=after.snapshot)] if after.asked else []
        return see("fails"), *again

    def asked(self, machine: Memtable) -> Iterable[Seen | Sequence[Seen]]:
        """The quiescence, if the memtable can do nothing more."""
        if self.enabled <= {"add", "flush", "fail"}:
            yield see("rests")


class SeenWithMore(MemtableSeen):
    """The same view, with as many numbers as two full tables may have entries."""

    numbers = 2 * NUMBERS


def asked_for(before: Memtable, after: Memtable) -> list[Seen]:
    """The flush that a step asked for, if any."""
    return [see("flushes", bytes=after.snapshot)] if after.asked and not before.asked else []


SEEN = refines(
    Retrying, ObservedMemtable, "entries get space by the rules", shows=MemtableSeen,
    seen_by={"L": "L", "M": "M", "R": NUMBERS},
    room=ROOM,
    A=1, L=(1, 2), M=lambda L: range(1, 2 * L + 1), X=(0, 1))

LONGER = refines(
    Retrying, ObservedMemtable, "entries get space when two tables fill up in turn",
    shows=SeenWithMore,
    seen_by={"L": "L", "M": "M", "R": 2 * NUMBERS}, room=ROOM, A=1, L=2, M=2, X=0)

EXPECTATIONS = (
    SEEN,
    LONGER,
    refused(Memtable, "BK-22", "bookkeeper#B7: an entry waits for a flush that no adder asks for",
            like=SEEN, L=2, M=3, X=0),
    refused(Memtable, "BK-24", "bookkeeper#latent: a failed flush is not tried again",
            like=SEEN, L=2, M=2, X=1),
    refused(AskingUntilAFailure, "BK-22", "no snapshot is flushed after a failure that was made "
            "good", like=SEEN, L=1, M=1, X=1),
    refused(KeepingDuplicates, "BK-73", "an entry that comes twice keeps its bytes", like=SEEN,
            L=1, M=1, X=0, beside=("BK-21",)),
    refused(FlushingLittle, "BK-75", "a flush of a few bytes, for which no entry waits", like=SEEN,
            L=2, M=1, X=0),
    refused(Sleeping, "BK-23", "004: an entry without space is inserted after a while",
            like=SEEN, L=1, M=1, X=0),
    refused(KeepingFlushed, "BK-73", "a flush returns too little", like=SEEN, L=1, M=1, X=0),
)
