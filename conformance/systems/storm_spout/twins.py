"""Spouts with one seeded bug each in their record of pending roots."""

from __future__ import annotations

from typing import Final

from ....reference.storm.spout import Call, Outcome, SpoutMisuse, SpoutPending
from ....spec.storm.spouts.spout_seen import EXPECTATIONS
from ...suites.twin import Twins
from .adapter import ReferenceSpout
from .mechanism import RootOfTheBook, SpoutOfTheBook

__all__ = ["TWINS"]

Calls = tuple[Call[str], ...]
Spout = SpoutPending[str]


TWINS: Final = Twins("storm.spout", ReferenceSpout, ("reference.storm.spout",))
TWINS.variants(EXPECTATIONS, RootOfTheBook, of=SpoutOfTheBook, known={
    "CopyingMap": (
        "spout-copies-left", "RotatingMap.put without the removal from the other buckets"),
    "SpareMap": ("spout-three-buckets", "the acker's number of buckets")})


# ---- the maximum ----------------------------------------------------------------------------


@TWINS.twin(
    "spout-over-the-maximum", "STORM-K40",
    "a round begins with as many pending as the maximum allows", "> instead of >=")
class OverTheMaximum(Spout):
    """A round is stopped only if pending exceeds the maximum."""

    def _has_reached_max(self) -> bool:
        return 0 < self.limit < len(self)


@TWINS.twin(
    "spout-limit-of-one-task", "STORM-K41", "an executor of two tasks stops at the maximum of one",
    "SpoutExecutor: (* p num-tasks) left out")
class OneLimitForAll(Spout):
    """The maximum of one task is that of the executor, however many tasks it has."""

    def __init__(self, max_pending: int = 0, tasks: int = 1, buckets: int = 2) -> None:
        super().__init__(max_pending, 1, buckets)


@TWINS.twin(
    "spout-looks-at-every-emit", "STORM-K41", "the maximum cuts a round short",
    "the single check of a round made at every emit")
class LookingAtEveryEmit(Spout):
    """The maximum stops a round in its middle: the rest of the round is lost to the spout."""

    def emit(self, root: int, message: str) -> Calls:
        if self._has_reached_max():
            raise SpoutMisuse("as many are pending as may be")
        return super().emit(root, message)


@TWINS.twin(
    "storm-17-id-given-twice", "STORM-K42",
    "a root id that is pending is given to another message", "STORM-17: root ids chosen blindly")
class GivingAnIdTwice(Spout):
    """An id that is pending is given to a second message, which takes the first one's place."""

    def _refuse_pending(self, root: int) -> None:
        """Do nothing: every drawn id is used."""


# ---- callbacks ------------------------------------------------------------------------------


@TWINS.twin(
    "spout-calls-again", "STORM-K43", "a root stays pending after ack()",
    "get instead of remove")
class CallingAgain(Spout):
    """A root stays pending when it is acked: a later fail, or the timeout, calls again."""

    def ack(self, root: int) -> Calls:
        message = self._pending.get(root)
        return () if message is None else (Call(Outcome.ACK, message),)


@TWINS.twin(
    "storm-1595-fail-by-timeout", "STORM-K44",
    "a root that the acker fails reaches the spout only by its timeout",
    "STORM-1595: a fail that arrives late")
class FailingOnlyByTimeout(Spout):
    """A root that the acker fails is left to the timeout."""

    def fail(self, root: int) -> Calls:
        return ()


@TWINS.twin(
    "spout-acks-the-late", "STORM-K43", "an ack after the timeout calls ack() after fail()",
    "late acks not ignored")
class AckingTheLate(Spout):
    """An ack that comes after the timeout calls ack() for a message that has failed."""

    def tick(self) -> Calls:
        calls = super().tick()
        self._late = [*getattr(self, "_late", []), *(call.message for call in calls)]
        return calls

    def ack(self, root: int) -> Calls:
        if root not in self._pending and getattr(self, "_late", []):
            return (Call(Outcome.ACK, self._late.pop()),)
        return super().ack(root)


# ---- time -----------------------------------------------------------------------------------


@TWINS.twin(
    "storm-3514-no-timeouts", "STORM-K46", "a root without an answer stays pending forever",
    "STORM-3514: message timeouts disabled")
class PendingForever(Spout):
    """Message timeouts are disabled: a lost root stays pending."""

    def tick(self) -> Calls:
        return ()


@TWINS.twin(
    "storm-549-place-kept", "STORM-K41",
    "a root that timed out still counts towards the maximum",
    "STORM-549: lost tuples occupy max.spout.pending")
class KeepingTheTimedOut(Spout):
    """A root that times out has fail() called, and still takes a place."""

    def _has_reached_max(self) -> bool:
        return 0 < self.limit <= len(self) + getattr(self, "_ghosts", 0)

    def tick(self) -> Calls:
        calls = super().tick()
        self._ghosts = getattr(self, "_ghosts", 0) + len(calls)
        return calls


@TWINS.twin(
    "spout-one-bucket", "STORM-K45", "a root may time out with the very next tick",
    "one bucket instead of two")
class OneBucket(Spout):
    """The spout's map has one bucket: a root emitted just before a tick fails with it."""

    def __init__(self, max_pending: int = 0, tasks: int = 1, buckets: int = 2) -> None:
        super().__init__(max_pending, tasks, buckets - 1)


@TWINS.twin(
    "spout-deaf-to-resets", "STORM-K45", "a RESET_TIMEOUT does not renew the spout's root",
    "the acker's half of the reset alone")
class DeafToResets(Spout):
    """A RESET_TIMEOUT that the acker passes on is ignored."""

    def reset_timeout(self, root: int) -> Calls:
        return ()


# ---- bugs that show late ------------------------------------------------------------------------

TWINS.late("storm-17-id-given-twice", 40, 300)


# ---- bugs that show when many are pending -------------------------------------------------------

class _StackFrom(Spout):
    """A spout that takes an answer for its newest pending root, from a certain number on."""

    roots = 4

    def _over(self, root: int, outcome: Outcome) -> Calls:
        if root in self._pending and len(self._pending) >= self.roots:
            root = [each for bucket in reversed(self._pending._buckets) for each in bucket][-1]
        return super()._over(root, outcome)


@TWINS.twin(
    "spout-stack-from-four", "STORM-K43",
    "with four roots pending or more, an answer ends the newest",
    "a stack where a map was meant, tried with three")
class StackFromFour(_StackFrom):
    """With four or more it is a stack."""


@TWINS.twin(
    "spout-stack-from-six", "STORM-K43",
    "with six roots pending or more, an answer ends the newest",
    "a stack where a map was meant, tried with five")
class StackFromSix(_StackFrom):
    """With six or more it is a stack."""

    roots = 6


# ---- bugs in ids and messages --------------------------------------------------------------------

class _OtherRoots(Spout):
    """A spout that keeps roots as other numbers."""

    def kept(self, root: int) -> int:
        """The number that is kept for a root."""
        raise NotImplementedError

    def emit(self, root: int, message: str) -> Calls:
        return super().emit(self.kept(root), message)

    def reset_timeout(self, root: int) -> Calls:
        return super().reset_timeout(self.kept(root))

    def _over(self, root: int, outcome: Outcome) -> Calls:
        return super()._over(self.kept(root), outcome)


@TWINS.twin(
    "spout-roots-of-32-bits", "STORM-K41", "roots are kept in 32 bits",
    "an id of 64 bits in a field of 32")
class RootsOf32Bits(_OtherRoots):
    """The high bits are lost."""

    def kept(self, root: int) -> int:
        return root % 2**32


@TWINS.twin(
    "spout-roots-as-doubles", "STORM-K41", "roots are kept as doubles",
    "an id of 64 bits that went through JSON and JavaScript")
class RootsAsDoubles(_OtherRoots):
    """The low bits are lost."""

    def kept(self, root: int) -> int:
        return min(int(float(root)), 2**64 - 1)


@TWINS.twin(
    "spout-cuts-messages", "STORM-K43", "the id of a message is cut to eight characters",
    "a column of fixed width for replayed messages")
class CutsMessages(Spout):
    """A replayed message id has at most eight characters."""

    def _emit(self, root: int, message: str) -> Calls:
        return super()._emit(root, message[:8])
