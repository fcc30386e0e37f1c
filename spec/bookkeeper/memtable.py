"""The memtable's bytes: who waits for room, and who makes it.

Theory of operation
-------------------
Entries go to a table in memory before they go to disk. A table of L bytes or more is set aside as
the *snapshot*, and flushed in the background; meanwhile entries go to a new one. There are 2 L
permits, one for each byte: an adder takes as many as its entry is long, and waits where there are
not enough. A flush gives back what the snapshot held:

    permits free + table + snapshot + what adders have taken and not inserted = 2 L

An adder does three things in turn. It looks whether the table has reached L, and if so sets it
aside and asks for a flush, if no snapshot is there. It takes permits for its entry, perhaps after
waiting. It inserts the entry; one that is in the table already gives its permits back.

Who looks, looks before he waits. While a snapshot is being flushed he asks for nothing, and another
L bytes may come into the table. Then L permits are left when the flush is done. If the next entry
is longer, its adder waits for a flush that only the entry after it would ask for: the table is live
exactly where no entry is longer than L bytes (BK-21), unless somebody else flushes now and then. If
nothing were added during a flush, L - 1 bytes at most would be there when nobody asks, and L + 1
permits left (``FlushingAtOnce``). To look again where one begins to wait does not help: a flush may
be under way then, and what it brings may be too little. One has to ask until who waits is served
(``AskingUntilServed``), and then all entries of up to 2 L bytes get room. A longer one waits for
ever whatever one does, and has to be refused.

What was there before slept for a millisecond while a flush was under way, and then added its entry:
that makes adders slower, and bounds nothing (``Sleeping``).

A flush that fails gives nothing back, and it is the next adder that asks again: if all of them
wait, there is none.

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
    "EXPECTATIONS", "AskingAtWait", "AskingUntilServed", "Doing", "FittingMemtable",
    "FlushingAtOnce", "FlushingLittle", "KeepingDuplicates", "KeepingFlushed", "Memtable",
    "Retrying", "ShortEnough", "Sleeping",
]

TEXT = "004#memtable"
CODE = "bookkeeper#memtable"


class Doing(IntEnum):
    """What an adder is at."""

    NOTHING = 0
    LOOKED = 1          # whether to flush; it takes permits next
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
        """The entry is complete; its adder looks whether to flush."""
        require(self.doing[adder] == Doing.NOTHING and self.length[adder] > 0)
        self.doing[adder] = Doing.LOOKED
        if self.table >= self.L or self.retry:
            self.ask()

    def ask(self) -> None:
        """The table is set aside, unless there is a snapshot already, and a flush is asked for."""
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
        """It has looked before."""

    @action(fair=True)
    def wake(self) -> None:
        """The adder that has waited longest gets its permits."""
        require(len(self.waiting) > 0 and self.length[self.waiting[0]] <= self.free)
        adder = self.waiting.pop()
        self.free -= self.length[adder]
        self.doing[adder] = Doing.TAKEN

    @action(fair=True, adder=upto(A), known=upto(2))
    def insert(self, adder: int, known: int) -> None:
        """The entry is in the table; perhaps it was before."""
        require(self.doing[adder] == Doing.TAKEN)
        if known == 1:
            self.give_back(self.length[adder])
        else:
            self.table += self.length[adder]
        self.length[adder] = 0
        self.doing[adder] = Doing.NOTHING

    def give_back(self, length: int) -> None:
        """An entry that is there already takes no room."""
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
        """What a flush gives back."""
        return bytes

    def flushed(self) -> None:
        """Who waits may go on, if it is enough."""

    @action
    def fail(self) -> None:
        """The disk takes nothing; the next adder is to ask again."""
        require(self.asked and self.failed < self.X)
        self.asked = False
        self.failed += 1
        self.retry = True

    # --- rules -------------------------------------------------------------------------------

    def taken(self) -> int:
        """Bytes that adders have permits for, and have not inserted."""
        return sum(self.length[adder] if self.doing[adder] == Doing.TAKEN else 0
                   for adder in range(self.A))

    @always("BK-20", MUST, "Free permits and bytes in memory are twice the size of a table.",
            source=f"{TEXT}; {CODE}")
    def bytes_are_conserved(self) -> bool:
        """In the table, in the snapshot, and in the hands of adders."""
        return self.free + self.table + self.snapshot + self.taken() == 2 * self.L

    @never_stuck("BK-21", MUST, "Adders that wait for room get it.", source=f"{TEXT}; {CODE}")
    def somebody_goes_on(self) -> bool:
        """There is always another entry."""
        return False

    @always("BK-22", MUST, "While an adder waits for more bytes than are free, a flush is under "
            "way, or an entry on its way into the table.", source=CODE)
    def who_waits_is_helped(self) -> bool:
        """Otherwise it waits until somebody else adds something."""
        if len(self.waiting) == 0 or self.length[self.waiting[0]] <= self.free:
            return True
        return self.asked or any(
            self.doing[adder] == Doing.LOOKED or self.doing[adder] == Doing.TAKEN
            for adder in range(self.A))

    @always("BK-23", MUST, "No more bytes are in memory than twice a table's.",
            source=f"{TEXT} ('2*(skipListSize)')")
    def memory_is_bounded(self) -> bool:
        """Whatever the disk does."""
        return self.table + self.snapshot + self.taken() <= 2 * self.L

    @always("BK-24", MUST, "What is set aside is being flushed, or its flush has failed.",
            source=CODE)
    def snapshots_are_flushed(self) -> bool:
        """And a table that may not grow is set aside when the next entry comes."""
        return (self.snapshot == 0 or self.asked or self.failed > 0) and (
            not self.retry or self.failed > 0)

    @always("BK-26", MUST, "The books of the table are right: its bytes, and who waits for some.",
            source=CODE)
    def books_are_right(self) -> bool:
        """Adders that wait are in the line, and nobody else is."""
        return self.bytes_are_conserved() and all(
            (adder in self.waiting) == (self.doing[adder] == Doing.WAITING)
            for adder in range(self.A))

    @always("BK-27", MUST, "No less than L bytes are set aside, as long as no flush fails.",
            source=f"{TEXT}; {CODE}")
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
        """The adder itself would wait for it."""
        return self.X == 0

    def ask(self) -> None:
        """The table is on disk before the adder goes on."""
        self.free += self.table
        self.table = 0


class AskingAtWait(Memtable):
    """An adder that begins to wait asks for a flush."""

    def waits(self) -> None:
        """Whatever the table's size."""
        self.ask()


class AskingUntilServed(AskingAtWait):
    """And a flush that is done is followed by another one while somebody still waits."""

    def flushed(self) -> None:
        """What the flush has brought may be too little."""
        if len(self.waiting) > 0 and self.length[self.waiting[0]] > self.free:
            self.ask()

    @action(fair=True, adder=upto(Memtable.A), known=upto(2))
    def insert(self, adder: int, known: int) -> None:
        """Nor may what was in an adder's hands when the last flush was asked for."""
        super().insert(adder, known)
        self.flushed()


class KeepingDuplicates(Memtable):
    """An entry that is there already keeps its permits."""

    def give_back(self, length: int) -> None:
        """It was not inserted, so that no flush gives them back."""


class Sleeping(Memtable):
    """Before the pull request: an adder that finds no room sleeps for a moment, once, and goes on
    as if there were some."""

    table = integer(0, 4 * Memtable.L)
    snapshot = integer(0, 4 * Memtable.L)
    free = integer(0, 6 * Memtable.L, init=2 * Memtable.L)

    @action(fair=True)
    def wake(self) -> None:
        """A millisecond has passed, and perhaps no flush is done; the model ends somewhere."""
        require(len(self.waiting) > 0)
        adder = self.waiting[0]
        require(self.table + self.snapshot + self.taken() + self.length[adder] <= 4 * self.L)
        self.waiting.pop()
        self.free = max(0, self.free - self.length[adder])
        self.doing[adder] = Doing.TAKEN


class KeepingFlushed(Memtable):
    """A flush gives back a byte too few."""

    def written(self, bytes: int) -> int:
        """The length of a header, say."""
        return bytes - 1


class Retrying(AskingUntilServed):
    """A flush that has failed is tried again, whoever comes."""

    @action
    def fail(self) -> None:
        """It stays asked for."""
        super().fail()
        self.asked = True


class FlushingLittle(Retrying):
    """Each entry that is inserted asks for a flush."""

    @action(fair=True, adder=upto(Memtable.A), known=upto(2))
    def insert(self, adder: int, known: int) -> None:
        """However little there is."""
        super().insert(adder, known)
        self.ask()


class ShortEnough(AskingUntilServed):
    """No entry is longer than all the room that there is, and no flush fails."""

    @assume
    def entries_fit(self) -> bool:
        """What is longer never fits."""
        return self.M <= 2 * self.L and self.X == 0


GRID: dict[str, Any] = {"L": (1, 2, 3), "M": lambda L: range(1, 2 * L + 3)}

EXPECTATIONS = (
    expect(Memtable, "BK-20", "holds", "bytes are conserved", A=(1, 2), X=(0, 1), L=(1, 2), M=3),
    prove(Memtable, "BK-26", "the books are right, for all sizes", for_all=("L", "M", "X"), A=1),
    prove(Memtable, "BK-20", "bytes are conserved, for all sizes", for_all=("L", "M", "X"),
          lemmas=("BK-26",), A=1),
    prove(Memtable, "BK-23", "memory is bounded, for all sizes", for_all=("L", "M", "X"),
          lemmas=("BK-26",), A=1),
    expect(Memtable, "BK-23", "holds", "memory is bounded, with several adders", A=(1, 2), X=(0, 1),
           L=(1, 2), M=3),
    expect(Memtable, "BK-21", "violated", "bookkeeper#B7: all adders are stuck exactly where an "
           "entry may be longer than L: who would ask for the flush is who waits",
           where="M > L", A=(1, 2), **GRID),
    expect(Memtable, "BK-21", "violated", "bookkeeper#B7: so it is with three adders",
           where="M > L", A=3, L=(1, 2), M=lambda L: range(1, L + 2)),
    expect(FlushingLittle, "BK-27", "violated", "a table is set aside at each entry", L=2, M=1),
    expect(Memtable, "BK-22", "violated", "bookkeeper#B7: a single adder has nobody to help it "
           "exactly where an entry may be longer than L", where="M > L", A=1, L=range(1, 7),
           M=lambda L: range(1, 2 * L + 3)),
    expect(FlushingAtOnce, "BK-21", "violated", "bookkeeper#B7: one byte more is allowed where "
           "nothing is added during a flush", where="M > L + 1", A=1, L=range(1, 7),
           M=lambda L: range(1, 2 * L + 3)),
    prove(Memtable, "BK-24", "what is set aside is flushed, for all sizes",
          for_all=("L", "M", "X"), lemmas=("BK-26",), A=1),
    prove(FittingMemtable, "BK-27", "no less than L bytes are set aside, for all sizes",
          for_all=("L", "M"), lemmas=("BK-24", "BK-26"), A=1, X=0),
    prove(FittingMemtable, "BK-22", "a single adder with entries of up to L bytes is helped, for "
          "all sizes", for_all=("L", "M"), lemmas=("BK-24", "BK-26", "BK-27"), A=1, X=0),
    expect(Memtable, "BK-22", "violated", "bookkeeper#latent: of two adders, one may wait until "
           "the other brings something, whatever is longer than a byte", where="M > 1", A=2,
           L=(2, 3), M=(1, 2, 3)),
    expect(Memtable, "BK-21", "violated", "bookkeeper#latent: a flush that fails is asked for "
           "again by the next entry only, and none comes", A=(1, 2), L=(1, 2), M=(1, 2), X=1),
    expect(AskingAtWait, "BK-21", "violated", "asking where one begins to wait does not help a "
           "single adder: a flush may be under way then", where="M > L", A=1, **GRID),
    expect(AskingAtWait, "BK-21", "violated", "two are stuck with shorter entries than if nobody "
           "asked there: small tables are set aside", where="2 * M > L + 1", A=2, L=(1, 2, 3),
           M=(1, 2, 3)),
    expect(AskingUntilServed, "BK-21", "violated", "asking until who waits is served helps all "
           "entries that fit into the room at all, whatever the number of adders",
           where="M > 2 * L", A=(1, 2), L=(1, 2), M=lambda L: range(1, 2 * L + 3)),
    expect(AskingUntilServed, "BK-21", "violated", "asking until who waits is served helps three "
           "adders as well", where="M > 2 * L", A=3, L=1, M=(1, 2, 3)),
    prove(ShortEnough, "BK-22", "who waits is helped, for all sizes that fit",
          for_all=("L", "M"), lemmas=("BK-24", "BK-26"), A=1, X=0),
    expect(Retrying, "BK-21", "holds", "a flush that is tried again helps after all",
           A=(1, 2), L=(1, 2), M=(1, 2), X=(0, 1, 2)),
    expect(KeepingDuplicates, "BK-20", "violated", "BookKeeper #2832: an entry that comes twice "
           "keeps its bytes"),
    expect(KeepingDuplicates, "BK-26", "violated", "the table's books are wrong from then on"),
    expect(KeepingDuplicates, "BK-21", "violated", "BookKeeper #2832: adders wait for bytes that "
           "nobody has", L=2, M=1),
    expect(Sleeping, "BK-23", "violated", "004: a throttle that sleeps bounds nothing, however "
           "short entries are", A=(1, 2), L=(1, 2), M=(1, 2)),
    expect(KeepingFlushed, "BK-20", "violated", "a flush that gives back too little loses room"),
)
