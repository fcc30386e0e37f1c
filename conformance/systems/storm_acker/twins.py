"""Ackers with one seeded bug each: the reference core with one decision changed."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Final

from ....reference.storm.acker import BUCKETS, Acker, Entry, Tell, Telling
from ....reference.storm.rotating import RotatingMap
from ...suites.twin import CoreTwin
from .adapter import ReferenceAcker

__all__ = ["TWINS"]

DOUBLE_BITS: Final = 53

Tells = tuple[Tell, ...]


# ---- time -----------------------------------------------------------------------------------


class WithoutTicks(Acker):
    """No tick reaches the acker."""

    def tick(self) -> Tells:
        return ()


class OneBucketLess(Acker):
    """The acker has as many buckets as the spout, and forgets before the spout gives up."""

    def __init__(self, buckets: int = BUCKETS) -> None:
        super().__init__(max(1, buckets - 1))


class OneBucketMore(Acker):
    """An entry lives for one tick too many."""

    def __init__(self, buckets: int = BUCKETS) -> None:
        super().__init__(buckets + 1)


class RenewingAtAck(Acker):
    """An ACK renews the entry, as Storm's documentation says."""

    def _keep(self, root: int, entry: Entry) -> None:
        self._renew(root, entry)


class NotRenewingAtFail(Acker):
    """FAIL marks the entry and leaves its lifetime as it is."""

    def fail(self, root: int) -> Tells:
        self._keep(root, replace(self._entries.get(root) or Entry(), failed=True))
        return self._conclude(root)


class NotRenewingAtReset(Acker):
    """RESET_TIMEOUT is passed on, but the acker's own entry goes as if it had not come."""

    def reset_timeout(self, root: int) -> Tells:
        entry = self._entries.get(root)
        if entry is None:
            return super().reset_timeout(root)
        known = entry.task is not None
        return (Tell(self._task_of(entry), Telling.RESET_TIMEOUT, root),) if known else ()


class _Copying(RotatingMap[int, Entry]):
    """A put leaves what the other buckets have of the key."""

    def put(self, key: int, value: Entry) -> None:
        self._buckets[0][key] = value


class LeavingCopies(Acker):
    """What is renewed stays in its old bucket too, and goes with it."""

    def __init__(self, buckets: int = BUCKETS) -> None:
        super().__init__(buckets)
        self._entries = _Copying(buckets)


class TellingOfExpiry(Acker):
    """Whoever is known is told fail when the entry expires: a spout would fail it twice."""

    def tick(self) -> Tells:
        expired = self._entries.rotate()
        return tuple(Tell(entry.task, Telling.FAIL, root)
                     for root, entry in expired.items() if entry.task is not None)


# ---- algebra --------------------------------------------------------------------------------


class OringInit(Acker):
    """INIT is or-ed into the value: right only where it comes first."""

    def _with_init(self, entry: Entry, value: int) -> int:
        return entry.value | value


class OringAck(Acker):
    """An ACK is or-ed into the value, which so never comes back to zero."""

    def _with_ack(self, entry: Entry, value: int) -> int:
        return entry.value | value


class InDoubles(Acker):
    """Ids are kept as floating-point numbers: the high bits of a value are lost."""

    def _with_ack(self, entry: Entry, value: int) -> int:
        return (entry.value ^ value) % (1 << DOUBLE_BITS)


# ---- order ----------------------------------------------------------------------------------


class CompleteWithoutInit(Acker):
    """A zero value is taken for complete although INIT has not come."""

    def _telling(self, entry: Entry) -> Telling | None:
        return Telling.ACK if entry.value == 0 else super()._telling(entry)


class IgnoringEarlyAck(Acker):
    """An ACK that comes before INIT is of a root that nobody knows, and is dropped."""

    def ack(self, root: int, value: int) -> Tells:
        return super().ack(root, value) if root in self._entries else ()


class ForgettingEarlyFail(Acker):
    """INIT makes a clean entry: a FAIL that came before is forgotten."""

    def init(self, root: int, value: int, task: int) -> Tells:
        entry = self._entries.get(root)
        if entry is not None:
            self._entries.replace(root, replace(entry, failed=False))
        return super().init(root, value, task)


class InitStartingAnew(Acker):
    """INIT puts an entry of its own over the one that an earlier ACK has made."""

    def init(self, root: int, value: int, task: int) -> Tells:
        self._forget(root)
        return super().init(root, value, task)


class DyingOfUnknownReset(Acker):
    """A RESET_TIMEOUT of an unknown root ends the acker; another one starts with no entries."""

    def reset_timeout(self, root: int) -> Tells:
        if root in self._entries:
            return super().reset_timeout(root)
        self._entries = RotatingMap(self._entries.buckets)
        return ()


# ---- answers --------------------------------------------------------------------------------


class FailFirst(Acker):
    """A mark takes precedence over a value of zero."""

    def _telling(self, entry: Entry) -> Telling | None:
        if entry.failed and entry.task is not None:
            return Telling.FAIL
        return super()._telling(entry)


class FailingAtOnce(Acker):
    """A tree that is known and not complete is taken for failed."""

    def _telling(self, entry: Entry) -> Telling | None:
        due = super()._telling(entry)
        return Telling.FAIL if due is None and entry.task is not None else due


class KeepingTheEntry(Acker):
    """What has been told is not forgotten, and told again with the next message."""

    def _forget(self, root: int) -> None:
        """Nothing goes but with the ticks."""


class TellingTheFirstTask(Acker):
    """Answers go to the first spout task, whoever emitted the root."""

    def _task_of(self, entry: Entry) -> int:
        return 1


class SwallowingReset(Acker):
    """A RESET_TIMEOUT renews the acker's entry, and the spout never hears of it."""

    def reset_timeout(self, root: int) -> Tells:
        told = super().reset_timeout(root)
        return tuple(each for each in told if each.telling is not Telling.RESET_TIMEOUT)


class MixingTrees(Acker):
    """Two roots with one id, drawn at random, share an entry: both trees time out.

    No change to the reference: an acker knows a root by its id alone, so no acker can tell
    the two apart. It is the spout that must not give one id to two messages; the twin
    ``storm-17-id-given-twice`` of the suite ``storm.spout`` does, and is killed.
    """


_twin = partial(CoreTwin, suite="storm.acker", of=ReferenceAcker)
KEPT, EXPIRES, AT_ONCE = "STORM-A28", "STORM-A29", "STORM-A22"

_TWINS: Final = (
    _twin(name="storm-2786-no-ticks", rule=EXPIRES, core=WithoutTicks,
          bug="ticks do not reach the acker, whose entries never go",
          history="STORM-2786: no ticks to system components"),
    _twin(name="storm-3300-unknown-reset", rule=KEPT, core=DyingOfUnknownReset,
          bug="a RESET_TIMEOUT of an unknown root ends the acker and all its entries",
          history="STORM-3300: reset_timeout for an unknown id"),
    _twin(name="storm-1245-two-buckets", rule=KEPT, core=OneBucketLess,
          bug="the acker forgets one tick too early",
          history="STORM-1245: two buckets at the acker, as at the spout"),
    _twin(name="storm-17-acker-mixes-trees", rule="STORM-A21", core=MixingTrees,
          bug="two trees with one root id share an entry",
          history="STORM-17: root ids chosen blindly",
          equivalent="an acker knows a root by its id alone (see the chapter storm.collision); "
                     "only the spout can tell, and storm-17-id-given-twice is killed"),
    _twin(name="acker-one-bucket-more", rule=EXPIRES, core=OneBucketMore,
          bug="an entry lives for one tick too many", history="N and N + 1 mixed up"),
    _twin(name="acker-ack-renews", rule=EXPIRES, core=RenewingAtAck,
          bug="an ACK renews the entry", history="what Storm's documentation says of acks"),
    _twin(name="acker-fail-does-not-renew", rule=KEPT, core=NotRenewingAtFail,
          bug="a FAIL does not renew the entry", history="put left out where the code puts"),
    _twin(name="acker-reset-does-not-renew", rule=KEPT, core=NotRenewingAtReset,
          bug="a RESET_TIMEOUT does not renew the acker's own entry",
          history="put left out where the code puts"),
    _twin(name="acker-copies-left", rule=EXPIRES, core=LeavingCopies,
          bug="a renewed entry stays in its old bucket too",
          history="RotatingMap.put without the removal from the other buckets"),
    _twin(name="acker-tells-of-expiry", rule="STORM-A30", core=TellingOfExpiry,
          bug="an entry that expires has its spout told fail",
          history="the timeout decided twice, at the acker and at the spout"),
    _twin(name="acker-or-init", rule=AT_ONCE, core=OringInit,
          bug="INIT is or-ed, not xored, into the value", history="or in the place of xor"),
    _twin(name="acker-or-ack", rule=AT_ONCE, core=OringAck,
          bug="an ACK is or-ed, not xored, into the value", history="or in the place of xor"),
    _twin(name="acker-ids-in-doubles", rule="STORM-A21", core=InDoubles,
          bug="ids lose all but 53 of their 64 bits", history="numbers of JavaScript and JSON"),
    _twin(name="acker-complete-without-init", rule="STORM-A20", core=CompleteWithoutInit,
          bug="a zero value counts as complete before INIT has come",
          history="the test of the spout task left out"),
    _twin(name="acker-early-ack-ignored", rule=AT_ONCE, core=IgnoringEarlyAck,
          bug="an ACK that comes before INIT is dropped", history="messages out of order"),
    _twin(name="acker-early-fail-forgotten", rule="STORM-A24", core=ForgettingEarlyFail,
          bug="INIT clears the mark of a FAIL that came before",
          history="messages out of order"),
    _twin(name="acker-init-starts-anew", rule=AT_ONCE, core=InitStartingAnew,
          bug="INIT overwrites what earlier messages left", history="messages out of order"),
    _twin(name="acker-fail-first", rule="STORM-A26", core=FailFirst,
          bug="a mark takes precedence over a value of zero",
          history="the two tests of Acker.execute exchanged"),
    _twin(name="acker-fails-unfinished", rule="STORM-A25", core=FailingAtOnce,
          bug="a tree that is not complete yet is told fail",
          history="else in the place of else if"),
    _twin(name="acker-keeps-the-entry", rule="STORM-A23", core=KeepingTheEntry,
          bug="a root is told of again and again", history="remove left out after the answer"),
    _twin(name="acker-tells-the-first-task", rule="STORM-A31", core=TellingTheFirstTask,
          bug="all answers go to the first spout task", history="emit in the place of emitDirect"),
    _twin(name="acker-swallows-reset", rule="STORM-A27", core=SwallowingReset,
          bug="a RESET_TIMEOUT is not passed on to the spout",
          history="the acker's half of the reset alone"),
)

TWINS: Final[dict[str, CoreTwin]] = {twin.name: twin for twin in _TWINS}
"""The twins by name; ``zoo:NAME`` is the target."""
