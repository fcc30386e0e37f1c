"""Ackers with one seeded bug each: the reference core with one decision changed."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ....reference.storm.acker import BUCKETS, Acker, Entry, Tell, Telling
from ....reference.storm.rotating import RotatingMap
from ....spec.storm.acking.acker_seen import EXPECTATIONS
from ...suites.twin import Twins
from .adapter import ReferenceAcker
from .mechanism import AckingOnly, EntryOfTheBook, FailingOnly, OrphansOfTheBook

__all__ = ["TWINS"]

DOUBLE_BITS: Final = 53

Tells = tuple[Tell, ...]


TWINS: Final = Twins("storm.acker", ReferenceAcker, ("reference.storm.acker",))
TWINS.variants(EXPECTATIONS, EntryOfTheBook, of=FailingOnly, known={
    "CopyingMap": (
        "acker-copies-left", "RotatingMap.put without the removal from the other buckets"),
    "SpareMap": ("acker-one-bucket-more", "N and N + 1 mixed up")})
TWINS.variants(EXPECTATIONS, OrphansOfTheBook, of=AckingOnly, known={
    "MemoryWithoutTicks": (
        "acker-memory-grows", "STORM-2786: no ticks to system components, and orphans stay")})


# ---- time -----------------------------------------------------------------------------------


@TWINS.twin(
    "storm-2786-no-ticks", "STORM-A29", "ticks do not reach the acker, whose entries never go",
    "STORM-2786: no ticks to system components")
class WithoutTicks(Acker):
    """No tick reaches the acker."""

    def tick(self) -> Tells:
        return ()


@TWINS.twin(
    "storm-1245-two-buckets", "STORM-A28", "the acker forgets one tick too early",
    "STORM-1245: two buckets at the acker, as at the spout")
class OneBucketLess(Acker):
    """The acker has as many buckets as the spout, and forgets before the spout gives up."""

    def __init__(self, buckets: int = BUCKETS) -> None:
        super().__init__(max(1, buckets - 1))


@TWINS.twin(
    "acker-ack-renews", "STORM-A29", "an ACK renews the entry",
    "what Storm's documentation says of acks")
class RenewingAtAck(Acker):
    """An ACK renews the entry, as Storm's documentation says."""

    def _keep(self, root: int, entry: Entry) -> None:
        self._renew(root, entry)


@TWINS.twin(
    "acker-fail-does-not-renew", "STORM-A28", "a FAIL does not renew the entry",
    "put left out where the code puts")
class NotRenewingAtFail(Acker):
    """FAIL marks the entry and leaves its lifetime as it is."""

    def fail(self, root: int) -> Tells:
        self._keep(root, replace(self._entries.get(root) or Entry(), failed=True))
        return self._conclude(root)


@TWINS.twin(
    "acker-reset-does-not-renew", "STORM-A28",
    "a RESET_TIMEOUT does not renew the acker's own entry", "put left out where the code puts")
class NotRenewingAtReset(Acker):
    """RESET_TIMEOUT is passed on, but the acker's own entry goes as if it had not come."""

    def reset_timeout(self, root: int) -> Tells:
        entry = self._entries.get(root)
        if entry is None:
            return super().reset_timeout(root)
        known = entry.task is not None
        return (Tell(self._task_of(entry), Telling.RESET_TIMEOUT, root),) if known else ()


@TWINS.twin(
    "acker-tells-of-expiry", "STORM-A30", "when an entry expires, fail is sent to its spout",
    "the timeout decided twice, at the acker and at the spout")
class TellingOfExpiry(Acker):
    """A known spout gets a fail when the entry expires: it would fail the root twice."""

    def tick(self) -> Tells:
        expired = self._entries.rotate()
        return tuple(Tell(entry.task, Telling.FAIL, root)
                     for root, entry in expired.items() if entry.task is not None)


# ---- algebra --------------------------------------------------------------------------------


@TWINS.twin(
    "acker-or-init", "STORM-A22", "INIT is or-ed, not xored, into the value",
    "or in the place of xor")
class OringInit(Acker):
    """INIT is or-ed into the value: right only where it comes first."""

    def _with_init(self, entry: Entry, value: int) -> int:
        return entry.value | value


@TWINS.twin(
    "acker-or-ack", "STORM-A22", "an ACK is or-ed, not xored, into the value",
    "or in the place of xor")
class OringAck(Acker):
    """An ACK is or-ed into the value, which so never comes back to zero."""

    def _with_ack(self, entry: Entry, value: int) -> int:
        return entry.value | value


@TWINS.twin(
    "acker-ids-in-doubles", "STORM-A1", "ids lose all but 53 of their 64 bits",
    "numbers of JavaScript and JSON")
class InDoubles(Acker):
    """Ids are kept as floating-point numbers: the high bits of a value are lost."""

    def _with_ack(self, entry: Entry, value: int) -> int:
        return (entry.value ^ value) % (1 << DOUBLE_BITS)


# ---- order ----------------------------------------------------------------------------------


@TWINS.twin(
    "acker-complete-without-init", "STORM-A20",
    "a zero value counts as complete before INIT has come", "the test of the spout task left out")
class CompleteWithoutInit(Acker):
    """A zero value is taken for complete although INIT has not come."""

    def _telling(self, entry: Entry) -> Telling | None:
        return Telling.ACK if entry.value == 0 else super()._telling(entry)


@TWINS.twin(
    "acker-early-ack-ignored", "STORM-A22", "an ACK that comes before INIT is dropped",
    "messages out of order")
class IgnoringEarlyAck(Acker):
    """An ACK that comes before INIT is of a root that nobody knows, and is dropped."""

    def ack(self, root: int, value: int) -> Tells:
        return super().ack(root, value) if root in self._entries else ()


@TWINS.twin(
    "acker-early-fail-forgotten", "STORM-A24", "INIT clears the mark of a FAIL that came before",
    "messages out of order")
class ForgettingEarlyFail(Acker):
    """INIT makes a clean entry: a FAIL that came before is forgotten."""

    def init(self, root: int, value: int, task: int) -> Tells:
        entry = self._entries.get(root)
        if entry is not None:
            self._entries.replace(root, replace(entry, failed=False))
        return super().init(root, value, task)


@TWINS.twin(
    "acker-init-starts-anew", "STORM-A22", "INIT overwrites what earlier messages left",
    "messages out of order")
class InitStartingAnew(Acker):
    """INIT puts an entry of its own over the one that an earlier ACK has made."""

    def init(self, root: int, value: int, task: int) -> Tells:
        self._forget(root)
        return super().init(root, value, task)


@TWINS.twin(
    "storm-3300-unknown-reset", "STORM-A28",
    "a RESET_TIMEOUT of an unknown root ends the acker and all its entries",
    "STORM-3300: reset_timeout for an unknown id")
class DyingOfUnknownReset(Acker):
    """A RESET_TIMEOUT of an unknown root ends the acker; another one starts with no entries."""

    def reset_timeout(self, root: int) -> Tells:
        if root in self._entries:
            return super().reset_timeout(root)
        self._entries = RotatingMap(self._entries.buckets)
        return ()


# ---- answers --------------------------------------------------------------------------------


@TWINS.twin(
    "acker-fail-first", "STORM-A26", "a mark takes precedence over a value of zero",
    "the two tests of Acker.execute exchanged")
class FailFirst(Acker):
    """A mark takes precedence over a value of zero."""

    def _telling(self, entry: Entry) -> Telling | None:
        if entry.failed and entry.task is not None:
            return Telling.FAIL
        return super()._telling(entry)


@TWINS.twin(
    "acker-fails-unfinished", "STORM-A25", "fail is sent for a tree that is not complete yet",
    "else in the place of else if")
class FailingAtOnce(Acker):
    """A tree that is known and not complete is taken for failed."""

    def _telling(self, entry: Entry) -> Telling | None:
        due = super()._telling(entry)
        return Telling.FAIL if due is None and entry.task is not None else due


@TWINS.twin(
    "acker-keeps-the-entry", "STORM-A23", "a root is answered again and again",
    "remove left out after the answer")
class KeepingTheEntry(Acker):
    """An answered root is not forgotten, and is answered again with the next message."""

    def _forget(self, root: int) -> None:
        """Nothing goes but with the ticks."""


@TWINS.twin(
    "acker-tells-the-first-task", "STORM-A31", "all answers go to the first spout task",
    "emit in the place of emitDirect")
class TellingTheFirstTask(Acker):
    """Answers go to the first spout task, for roots of every task."""

    def _task_of(self, entry: Entry) -> int:
        return 1


@TWINS.twin(
    "acker-swallows-reset", "STORM-A27", "a RESET_TIMEOUT is not passed on to the spout",
    "the acker's half of the reset alone")
class SwallowingReset(Acker):
    """A RESET_TIMEOUT renews the acker's entry, and the spout never hears of it."""

    def reset_timeout(self, root: int) -> Tells:
        told = super().reset_timeout(root)
        return tuple(each for each in told if each.telling is not Telling.RESET_TIMEOUT)


# ---- what shows late ----------------------------------------------------------------------------

TWINS.late("storm-2786-no-ticks", 40, 300)


# ---- what looks at ids ---------------------------------------------------------------------------

class _OtherRoots(Acker):
    """Keeps roots as other numbers."""

    def kept(self, root: int) -> int:
        """The number that is kept."""
        raise NotImplementedError

    def init(self, root: int, value: int, task: int) -> Tells:
        return self._of(root, super().init(self.kept(root), value, task))

    def ack(self, root: int, value: int) -> Tells:
        return self._of(root, super().ack(self.kept(root), value))

    def fail(self, root: int) -> Tells:
        return self._of(root, super().fail(self.kept(root)))

    def reset_timeout(self, root: int) -> Tells:
        return self._of(root, super().reset_timeout(self.kept(root)))

    @staticmethod
    def _of(root: int, tells: tuple[Tell, ...]) -> Tells:
        return tuple(each._replace(root=root) for each in tells)


@TWINS.twin(
    "acker-roots-of-32-bits", "STORM-A25", "roots are kept in 32 bits",
    "an id of 64 bits in a field of 32")
class RootsOf32Bits(_OtherRoots):
    """The high bits are lost."""

    def kept(self, root: int) -> int:
        return root % 2**32
