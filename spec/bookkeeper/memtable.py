"""The memtable's bytes: which adders wait for space, and which steps make space.

Theory of operation
-------------------
Entries go to a table in memory before they go to disk. A table of L bytes or more is set aside as
the *snapshot*, and flushed in the background; meanwhile entries go to a new one. There are 2 L
permits, one for each byte: an adder takes as many as its entry is long, and waits if there are not
enough. A flush gives back what the snapshot held:

    permits free + table + snapshot + what adders have taken and not inserted = 2 L

An adder does three things in turn. It checks whether the table has reached L, and if so sets it
aside and asks for a flush, unless there is a snapshot. It takes permits for its entry, perhaps
after waiting. It inserts the entry; one that is in the table already gives its permits back.

The check happens before the wait. While a snapshot is being flushed, the adder asks for nothing,
and another L bytes may come into the table. Then L permits are left when the flush is done. If the
next entry is longer, its adder waits for a flush that only the entry after it would ask for: the
table is live exactly if no entry is longer than L bytes (BK-21), unless another task flushes now
and then. If nothing were added during a flush, at most L - 1 bytes would be there when no adder
asks, and L + 1 permits left (``FlushingAtOnce``). Checking again when the wait begins does not
help: a flush may be under way then, and may bring too little. One has to ask until the waiting
adder is served (``AskingUntilServed``), and then all entries of up to 2 L bytes get space. A longer
one waits forever in any case, and has to be refused.

Before this change, an adder slept for a millisecond while a flush was under way, and then added its
entry: that makes adders slower, and bounds nothing (``Sleeping``).

A flush that fails gives nothing back, and the next adder asks again: if all adders wait, there is
none.

Source: BookKeeper pull request 1410; 004#memtable, bookkeeper#memtable.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from ..expectations import expect, prove
from ..notation import (
    MUST, Machine, action, always, array, assume, boolean, choice, const, fifo, integer,
    never_stuck, require, upto,
)

__all__ = [
    "EXPECTATIONS", "AskingAtWait", "AskingUntilAFailure", "AskingUntilServed", "Doing",
    "FittingMemtable",
    "FlushingAtOnce", "FlushingLittle", "KeepingDuplicates", "KeepingFlushed", "Memtable",
    "Retrying", "ShortEnough", "Sleeping",
]

TEXT = "004#memtable"
CODE = "bookkeeper#memtable"


class Doing(IntEnum):
    """The activity of an adder."""

    NOTHING = 0
    LOOKED = 1          # it has checked whether to flush, and takes permits next
    WAITING = 2         # for permits
    TAKEN = 3           # it inserts next


class Memtable(Machine):
    """Adders that bring entries of 1 to M bytes, and a flush in the background."""

    L = const(2, at_least=1)            # bytes of the table that are worth a flush
    M = const(2, at_least=1)            # bytes of an entry, at most
    A = const(1, at_least=1)            # adders
    X = const(0)                        # flushes that may fail, in all

    table = integer(0, 2 * L)           # bytes
    snapshot = integer(0, 2 * L)        # bytes that are set aside; 0: there is none
    free = integer(0, 2 * L, init=2 * L)        # permits
    asked = boolean()                   # a flush is under way
    failed = integer(0, X)              # flushes that have failed
    retry = boolean()                   # the last one has
    doing = array(upto(A), choice(Doing, Doing.NOTHING))
    length = array(upto(A), integer(0, M))      # of each adder's entry
    waiting = fifo(integer(0, A - 1), A)          # adders, in the order in which they began to wait

    @action(adder=upto(A))
    def bring(self, adder: int) -> None:
        """The next entry of an adder has one byte more."""
        require(self.doing[adder] == Doing.NOTHING and self.length[adder] < self.M)
        self.length[adder] += 1

    @action(adder=upto(A))
    def add(self, adder: int) -> None:
        """The entry is complete; its adder checks whether to flush."""
        require(self.doing[adder] == Doing.NOTHING and self.length[adder] > 0)
        self.doing[adder] = Doing.LOOKED
        if self.table >= self.L or self.retry:
            self.ask()

    def ask(self) -> None:
        """Set the table aside, unless there is a snapshot already, and ask for a flush."""
        if self.snapshot == 0 and self.table > 0:
            self.snapshot = self.table
            self.table = 0
            self.asked = True
        if self.retry and self.snapshot > 0:
            self.asked = True

    @action(fair=True, adder=upto(A))
    def take(self, adder: int) -> None:
        """An adder takes its permits, or begins to wait for them."""
        require(self.doing[adder] == Doing.LOOKED)
        if self.length[adder] <= self.free:
            self.free -= self.length[adder]
            self.doing[adder] = Doing.TAKEN
        else:
            self.waiting.push(adder)
            self.doing[adder] = Doing.WAITING
            self.waits()

    def waits(self) -> None:
        """Nothing: the adder has checked before."""

    @action(fair=True)
    def wake(self) -> None:
        """The adder that has waited longest gets its permits."""
        require(len(self.waiting) > 0 and self.length[self.waiting[0]] <= self.free)
        adder = self.waiting.pop()
        self.free -= self.length[adder]
        self.doing[adder] = Doing.TAKEN

    @action(fair=True, adder=upto(A), known=upto(2))
    def insert(self, adder: int, known: int) -> None:
        """The entry is put into the table, or was there already (``known``)."""
        require(self.doing[adder] == Doing.TAKEN)
        if known == 1:
            self.give_back(self.length[adder])
        else:
            self.table += self.length[adder]
        self.length[adder] = 0
        self.doing[adder] = Doing.NOTHING

    def give_back(self, length: int) -> None:
        """Return the permits of an entry that is in the table already."""
        self.free += length

    @action(fair=True)
    def flush(self) -> None:
        """The snapshot is on disk."""
        require(self.asked)
        self.free += self.written(self.snapshot)
        self.snapshot = 0
        self.asked = False
        self.retry = False
        self.flushed()

    def written(self, bytes: int) -> int:
        """Number of bytes that a flush of ``bytes`` gives back."""
        return bytes

    def flushed(self) -> None:
        """Nothing: a waiting adder continues if there is enough space."""

    @action
    def fail(self) -> None:
        """The disk writes nothing; the next adder will ask again."""
        require(self.asked and self.failed < self.X)
        self.asked = False
        self.failed += 1
        self.retry = True

    # --- rules -------------------------------------------------------------------------------

    def taken(self) -> int:
        """Number of bytes that adders have permits for, and have not inserted."""
        return sum(self.length[adder] if self.doing[adder] == Doing.TAKEN else 0
                   for adder in range(self.A))

    @always("BK-20", MUST,
            "Free bytes and the bytes in the table, in the snapshot and reserved by adders add "
            "up to 2 L, twice the size of a table.",
            source=f"{TEXT}; {CODE}")
    def bytes_are_conserved(self) -> bool:
        """Bytes are in the table, in the snapshot, or with adders."""
        return self.free + self.table + self.snapshot + self.taken() == 2 * self.L

    @never_stuck("BK-21", MUST,
                 "The adders of a memtable are never deadlocked, all of them waiting for free "
                 "bytes.",
                 source=f"{TEXT}; {CODE}")
    def somebody_goes_on(self) -> bool:
        """Work is always left: there is always another entry."""
        return False

    @always("BK-22", MUST,
            "While the first waiting adder needs more bytes than are free, a flush is asked "
            "for, or another adder has looked at the free bytes or taken some, and has not "
            "inserted its entry yet.",
            source=CODE)
    def who_waits_is_helped(self) -> bool:
        """Otherwise it waits until another adder brings an entry."""
        if len(self.waiting) == 0 or self.length[self.waiting[0]] <= self.free:
            return True
        return self.asked or any(
            self.doing[adder] == Doing.LOOKED or self.doing[adder] == Doing.TAKEN
            for adder in range(self.A))

    @always("BK-23", MUST,
            "The bytes in the table, in the snapshot and reserved by adders are together at "
            "most twice the size of a table.",
            source=f"{TEXT} ('2*(skipListSize)')")
    def memory_is_bounded(self) -> bool:
        """The bound does not depend on the disk."""
        return self.table + self.snapshot + self.taken() <= 2 * self.L

    @always("BK-24", MUST,
            "Whenever there is a snapshot, its flush is under way, or its last flush has failed.",
            source=CODE)
    def snapshots_are_flushed(self) -> bool:
        """After a failure, the next adder asks for the flush again, and all later ones count."""
        return (self.snapshot == 0 or self.asked or self.retry) and (
            not self.retry or self.failed > 0)

    @always("BK-26", MUST,
            "Bytes that are free, in the table, in the snapshot or reserved by adders add up to "
            "twice the size of a table; the wait queue holds exactly the waiting adders.",
            source=CODE)
    def books_are_right(self) -> bool:
        """Exactly the waiting adders are in the wait queue."""
        return self.bytes_are_conserved() and all(
            (adder in self.waiting) == (self.doing[adder] == Doing.WAITING)
            for adder in range(self.A))

    @always("BK-27", MUST, "A snapshot holds at least L bytes, the size of a table, as long as no "
            "flush has failed.", source=f"{TEXT}; {CODE}")
    def flushes_are_worth_it(self) -> bool:
        """A flush of a few bytes costs as much as one of many."""
        return self.snapshot == 0 or self.snapshot >= self.L or self.failed > 0


class FittingMemtable(Memtable):
    """No entry is longer than L bytes, and no flush fails."""

    @assume
    def entries_are_short(self) -> bool:
        """The exact condition for a single adder."""
        return self.M <= self.L and self.X == 0


class FlushingAtOnce(Memtable):
    """Nothing is added while a flush is under way, and none fails."""

    @assume
    def disks_work(self) -> bool:
        """A flush that fails would block the adder."""
        return self.X == 0

    def ask(self) -> None:
        """The table is on disk before the adder continues."""
        self.free += self.table
        self.table = 0


class AskingAtWait(Memtable):
    """An adder that begins to wait asks for a flush."""

    def waits(self) -> None:
        """Ask for a flush, even of a small table."""
        self.ask()


class AskingUntilServed(AskingAtWait):
    """After each flush another one is asked for while an adder still waits."""

    def flushed(self) -> None:
        """Ask again if the flush has brought too little for the first waiter."""
        if len(self.waiting) > 0 and self.length[self.waiting[0]] > self.free:
            self.ask()

    @action(fair=True, adder=upto(Memtable.A), known=upto(2))
    def insert(self, adder: int, known: int) -> None:
        """Ask again: this entry was not in the table at the last flush."""
        super().insert(adder, known)
        self.flushed()


class KeepingDuplicates(Memtable):
    """An entry that is there already keeps its permits."""

    def give_back(self, length: int) -> None:
        """Nothing: the entry was not inserted, so no flush returns its permits, either."""


class Sleeping(Memtable):
    """Before the pull request: an adder that finds no space sleeps for a moment, once, and
    continues as if there were some."""

    table = integer(0, 4 * Memtable.L)
    snapshot = integer(0, 4 * Memtable.L)
    free = integer(0, 6 * Memtable.L, init=2 * Memtable.L)

    @action(fair=True)
    def wake(self) -> None:
        """A millisecond has passed, perhaps without a flush; 4 L bytes bound the model."""
        require(len(self.waiting) > 0)
        adder = self.waiting[0]
        require(self.table + self.snapshot + self.taken() + self.length[adder] <= 4 * self.L)
        self.waiting.pop()
        self.free = max(0, self.free - self.length[adder])
        self.doing[adder] = Doing.TAKEN


class KeepingFlushed(Memtable):
    """A flush gives back a byte too few."""

    def written(self, bytes: int) -> int:
        """One byte less than was written, for instance the length of a header."""
        return bytes - 1


class Retrying(AskingUntilServed):
    """A failed flush is tried again, even if no adder comes."""

    @action
    def fail(self) -> None:
        """The flush remains asked for."""
        super().fail()
        self.asked = True


class AskingUntilAFailure(Retrying):
    """Once a flush has failed, it is tried again, but no later snapshot is flushed."""

    def ask(self) -> None:
        """Set the table aside; ask for a flush as long as none has failed."""
        if self.snapshot == 0 and self.table > 0:
            self.snapshot = self.table
            self.table = 0
            self.asked = self.failed == 0
        if self.retry and self.snapshot > 0:
            self.asked = True


class FlushingLittle(Retrying):
    """Each entry that is inserted asks for a flush."""

    @action(fair=True, adder=upto(Memtable.A), known=upto(2))
    def insert(self, adder: int, known: int) -> None:
        """Ask for a flush, even of a few bytes."""
        super().insert(adder, known)
        self.ask()


class ShortEnough(AskingUntilServed):
    """No entry is longer than 2 L bytes, and no flush fails."""

    @assume
    def entries_fit(self) -> bool:
        """A longer entry never gets space."""
        return self.M <= 2 * self.L and self.X == 0


GRID: dict[str, Any] = {"L": (1, 2, 3), "M": lambda L: range(1, 2 * L + 3)}

EXPECTATIONS = (
    expect(Memtable, "BK-20", "holds", "bytes are conserved", A=(1, 2), X=(0, 1), L=(1, 2), M=3),
    prove(Memtable, "BK-26", "the accounts add up, for all sizes", for_all=("L", "M", "X"), A=1),
    prove(Memtable, "BK-20", "bytes are conserved, for all sizes", for_all=("L", "M", "X"),
          lemmas=("BK-26",), A=1),
    prove(Memtable, "BK-23", "memory is bounded, for all sizes", for_all=("L", "M", "X"),
          lemmas=("BK-26",), A=1),
    expect(Memtable, "BK-23", "holds", "memory is bounded, with several adders", A=(1, 2), X=(0, 1),
           L=(1, 2), M=3),
    expect(Memtable, "BK-21", "violated", "bookkeeper#B7: all adders are deadlocked exactly if an "
           "entry may be longer than L: the adder that would ask for the flush waits",
           where="M > L", A=(1, 2), **GRID),
    expect(Memtable, "BK-21", "violated", "bookkeeper#B7: the same with three adders",
           where="M > L", A=3, L=(1, 2), M=lambda L: range(1, L + 2)),
    expect(FlushingLittle, "BK-27", "violated", "a table is set aside at each entry", L=2, M=1),
    expect(Memtable, "BK-22", "violated", "bookkeeper#B7: a single adder is not helped "
           "exactly if an entry may be longer than L", where="M > L", A=1, L=range(1, 7),
           M=lambda L: range(1, 2 * L + 3)),
    expect(FlushingAtOnce, "BK-21", "violated", "bookkeeper#B7: one byte more is allowed if "
           "nothing is added during a flush", where="M > L + 1", A=1, L=range(1, 7),
           M=lambda L: range(1, 2 * L + 3)),
    expect(AskingUntilAFailure, "BK-24", "violated", "after a failure that was made good, no later "
           "snapshot is flushed", A=1, L=1, M=1, X=1),
    prove(Memtable, "BK-24", "snapshots are flushed, for all sizes",
          for_all=("L", "M", "X"), lemmas=("BK-26",), A=1),
    prove(FittingMemtable, "BK-27", "at least L bytes are set aside, for all sizes",
          for_all=("L", "M"), lemmas=("BK-24", "BK-26"), A=1, X=0),
    prove(FittingMemtable, "BK-22", "a single adder with entries of up to L bytes is helped, for "
          "all sizes", for_all=("L", "M"), lemmas=("BK-24", "BK-26", "BK-27"), A=1, X=0),
    expect(Memtable, "BK-22", "violated", "bookkeeper#latent: of two adders, one may wait until "
           "the other brings an entry, if entries may be longer than a byte", where="M > 1", A=2,
           L=(2, 3), M=(1, 2, 3)),
    expect(Memtable, "BK-21", "violated", "bookkeeper#latent: a flush that fails is asked for "
           "again by the next entry only, and none comes", A=(1, 2), L=(1, 2), M=(1, 2), X=1),
    expect(AskingAtWait, "BK-21", "violated", "asking when the wait begins does not help a "
           "single adder: a flush may be under way then", where="M > L", A=1, **GRID),
    expect(AskingAtWait, "BK-21", "violated",
           "two are deadlocked with shorter entries than without "
           "that request: small tables are set aside", where="2 * M > L + 1", A=2, L=(1, 2, 3),
           M=(1, 2, 3)),
    expect(AskingUntilServed, "BK-21", "violated", "asking until the waiter is served helps all "
           "entries that fit into the space at all, for any number of adders",
           where="M > 2 * L", A=(1, 2), L=(1, 2), M=lambda L: range(1, 2 * L + 3)),
    expect(AskingUntilServed, "BK-21", "violated", "asking until the waiter is served helps three "
           "adders as well", where="M > 2 * L", A=3, L=1, M=(1, 2, 3)),
    prove(ShortEnough, "BK-22", "waiting adders are helped, for all sizes that fit",
          for_all=("L", "M"), lemmas=("BK-24", "BK-26"), A=1, X=0),
    expect(Retrying, "BK-21", "holds", "retrying a failed flush helps",
           A=(1, 2), L=(1, 2), M=(1, 2), X=(0, 1, 2)),
    expect(KeepingDuplicates, "BK-20", "violated", "BookKeeper #2832: an entry that comes twice "
           "keeps its bytes"),
    expect(KeepingDuplicates, "BK-26", "violated", "the table's accounts are wrong from then on"),
    expect(KeepingDuplicates, "BK-21", "violated", "BookKeeper #2832: adders wait for bytes that "
           "are lost", L=2, M=1),
    expect(Sleeping, "BK-23", "violated", "004: a throttle that sleeps bounds nothing, even "
           "for short entries", A=(1, 2), L=(1, 2), M=(1, 2)),
    expect(KeepingFlushed, "BK-20", "violated", "a flush that returns too little loses space"),
)
