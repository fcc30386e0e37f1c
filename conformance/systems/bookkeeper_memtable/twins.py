"""Memtables with one seeded bug each."""

from __future__ import annotations

from collections import deque
from typing import Final

from ....reference.bookkeeper.memtable import Key, Memtable, Moved
from ...suites.twin import Twins
from .adapter import ReferenceMemtable

__all__ = ["TWINS"]

TWINS: Final = Twins("bookkeeper.memtable", ReferenceMemtable, ("reference.bookkeeper.memtable",))


@TWINS.twin(
    "memtable-looks-before-waiting", "BK-22", "the need for a flush is checked when an entry "
    "comes, and not while it waits",
    "bookkeeper#B7: the threshold is evaluated only before blocking")
class LookingBefore(Memtable):
    """As merged: a table of less than ``size`` bytes is never flushed."""

    def _is_worth_a_flush(self) -> bool:
        return not self._snapshot and sum(self._table.values()) >= self.size


@TWINS.twin(
    "memtable-asks-once", "BK-22", "an entry asks for a flush when it begins to wait, and not "
    "again", "a flush that brings too little, and no request for another one")
class AskingForOneFlush(Memtable):
    """A flush under way is assumed to bring enough space."""

    def flushed(self, *, failed: bool = False) -> Moved:
        moved = super().flushed(failed=failed)
        if moved.flush and not failed and sum(self._snapshot.values()) < self.size:
            self._table, self._snapshot = self._snapshot, {}
            return moved._replace(flush=0)
        return moved


@TWINS.twin(
    "memtable-holds-more", "BK-23", "there is a byte more than twice the size",
    "<= instead of <: permits for one more")
class HoldingMore(Memtable):
    """The memtable has space for one byte too many."""

    def _has_room(self, length: int) -> bool:
        return length <= self._free + 1


@TWINS.twin(
    "memtable-has-no-limit", "BK-23", "entries go to the table without any limit",
    "004#memtable: a wait of a millisecond instead of a limit")
class Unlimited(Memtable):
    """No entry ever waits for the disk."""

    def _has_room(self, length: int) -> bool:
        return True


@TWINS.twin(
    "memtable-frees-duplicates-twice", "BK-23", "an entry that is there already gives its bytes "
    "back twice", "a release by the code that finds the duplicate, and one by its caller")
class FreeingTwice(Memtable):
    """More bytes are free than there are."""

    def _give_back(self, length: int) -> None:
        self._free += 2 * length


@TWINS.twin(
    "memtable-never-retries", "BK-24", "a flush that has failed is not tried again",
    "bookkeeper#latent: only the next entry asks for it, and that one waits")
class NeverRetrying(Memtable):
    """The snapshot of a failed flush stays there."""

    def _try_again(self) -> Moved:
        return Moved([], 0)


@TWINS.twin(
    "memtable-inserts-twice", "BK-70", "an entry that is there already is inserted once more",
    "a put instead of a put if absent")
class InsertingTwice(Memtable):
    """The insertion of a duplicate is reported twice."""

    def add(self, key: Key, length: int) -> Moved:
        known = self._is_known(key)
        moved = super().add(key, length)
        return moved._replace(inserted=moved.inserted * 2) if known else moved


@TWINS.twin(
    "memtable-newest-first", "BK-71", "of the waiting entries, the newest is inserted first",
    "a stack instead of a queue")
class NewestEntryFirst(Memtable):
    """The wait queue is served from its end."""

    def flushed(self, *, failed: bool = False) -> Moved:
        self._line.reverse()
        return super().flushed(failed=failed)


@TWINS.twin(
    "memtable-lets-short-ones-pass", "BK-71", "a short entry overtakes a long one that waits",
    "a try that ignores the wait queue: a long entry starves")
class LettingPass(Memtable):
    """A new entry takes free bytes ahead of waiting ones."""

    def add(self, key: Key, length: int) -> Moved:
        if self._line and self._has_room(length) and not self._is_known(key):
            self._free -= length
            self._table[key] = length
            return Moved([key], 0)
        return super().add(key, length)


@TWINS.twin(
    "memtable-takes-any-length", "BK-72", "an entry that never fits waits",
    "bookkeeper#B7: an entry longer than the limit blocks forever")
class TakingAll(Memtable):
    """An entry that never fits waits, and all later ones wait behind it."""

    def add(self, key: Key, length: int) -> Moved:
        try:
            return super().add(key, length)
        except ValueError:
            self._line.append((key, length))
            return self._go_on()


@TWINS.twin(
    "memtable-refuses-above-size", "BK-72", "an entry longer than the flush size is refused",
    "a bound on the table taken for one on the space")
class RefusingLong(Memtable):
    """An entry may take at most half of the space."""

    def add(self, key: Key, length: int) -> Moved:
        return super().add(key, length if length <= self.size else 2 * self.size + 1)


@TWINS.twin(
    "memtable-keeps-duplicates", "BK-73", "an entry that is there already keeps its bytes",
    "BookKeeper #2832: adds wait for bytes that are lost")
class KeepingDuplicates(Memtable):
    """The bytes of a duplicate are never given back."""

    def _give_back(self, length: int) -> None:
        """Do nothing: the duplicate was not inserted, so no flush returns its bytes, either."""


@TWINS.twin(
    "memtable-keeps-a-byte", "BK-73", "a flush gives back a byte too few",
    "the length of a header that is counted on one side only")
class KeepingAByte(Memtable):
    """Space is lost with every flush."""

    def flushed(self, *, failed: bool = False) -> Moved:
        if not failed and self._snapshot:
            self._free -= 1
        return super().flushed(failed=failed)


@TWINS.twin(
    "memtable-wakes-nobody", "BK-73", "a waiting entry is not served when a flush is done",
    "a lost wake-up: bytes are free, and no entry takes them")
class WakingNobody(Memtable):
    """Only the next entry makes the memtable serve its wait queue."""

    def flushed(self, *, failed: bool = False) -> Moved:
        if failed or not self._snapshot:
            return super().flushed(failed=failed)
        line = list(self._line)
        self._line.clear()
        moved = super().flushed()
        self._line.extend(line)
        return moved


@TWINS.twin(
    "memtable-flushes-again", "BK-74", "a table is set aside although there is a snapshot",
    "a snapshot that is overwritten before it is written")
class FlushingAgain(Memtable):
    """The table is set aside without a check for a snapshot."""

    def _is_worth_a_flush(self) -> bool:
        return bool(self._table) and sum(self._table.values()) >= self.size


@TWINS.twin(
    "memtable-flushes-part", "BK-74", "a flush leaves an entry in the table",
    "an iterator that ends one too early")
class FlushingPart(Memtable):
    """The newest entry stays in the table."""

    def _set_aside(self) -> int:
        key = next(reversed(self._table))
        kept = {key: self._table.pop(key)} if len(self._table) > 1 else {}
        flush = super()._set_aside()
        self._table = kept
        return flush


@TWINS.twin(
    "memtable-flushes-each", "BK-75", "each entry is flushed as soon as it is inserted",
    "a threshold of nothing: a write to disk for each entry")
class FlushingEach(Memtable):
    """Any table is worth a flush."""

    def _is_worth_a_flush(self) -> bool:
        return bool(self._table) and not self._snapshot


# ---- bugs that show late ------------------------------------------------------------------------

TWINS.late("memtable-looks-before-waiting", 40, 300)


# ---- bugs that show in long queues ---------------------------------------------------------------

TWINS.stacks(
    "memtable-", "BK-71", "waiting entries", Memtable, "flushed", lambda self: self._line)


# ---- bugs in names and lengths -------------------------------------------------------------------

class _Alike(Memtable):
    """A memtable that takes some names for one, and reports each as it came."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self._told: dict[Key, deque[Key]] = {}

    def alike(self, key: Key) -> Key:
        """The part of a name that is kept."""
        return key

    def add(self, key: Key, length: int) -> Moved:
        kept = self.alike(key)
        self._told.setdefault(kept, deque()).append(key)
        try:
            return self._as_told(super().add(kept, length))
        except ValueError:
            self._told[kept].pop()
            raise

    def flushed(self, *, failed: bool = False) -> Moved:
        return self._as_told(super().flushed(failed=failed))

    def _as_told(self, moved: Moved) -> Moved:
        return moved._replace(inserted=[self._told[key].popleft() for key in moved.inserted])


@TWINS.twin(
    "memtable-cuts-names", "BK-74", "names with the same beginning are one entry",
    "a key of fixed width: eight characters of it")
class CuttingNames(_Alike):
    """The second of two such entries is not written."""

    def alike(self, key: Key) -> Key:
        return key[:8] if isinstance(key, str) else key


@TWINS.twin(
    "memtable-ignores-case", "BK-74", "names that differ only in case are one entry",
    "a file system, or a collation, that ignores case")
class IgnoringCase(_Alike):
    """The second of two such entries is not written."""

    def alike(self, key: Key) -> Key:
        return key.lower() if isinstance(key, str) else key


@TWINS.twin(
    "memtable-names-of-32-bits", "BK-74", "numbers that are equal in 32 bits are one entry",
    "a ledger's id, a long, kept in an int")
class NamesOf32Bits(_Alike):
    """The second of two such entries is not written."""

    def alike(self, key: Key) -> Key:
        return key % 2**32 if isinstance(key, int) else key


@TWINS.twin(
    "memtable-lengths-of-32-bits", "BK-72", "an entry of 2^32 bytes has space",
    "a length in 32 bits, whose highest bits are lost before it is compared")
class LengthsOf32Bits(Memtable):
    """A length is compared after its upper bits are lost."""

    def add(self, key: Key, length: int) -> Moved:
        return super().add(key, length % 2**32 or 1)
