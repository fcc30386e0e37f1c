"""Spouts with one seeded bug each in what they keep of their pending roots."""

from __future__ import annotations

from functools import partial
from typing import Final

from ....reference.storm.spout import Call, Outcome, SpoutMisuse, SpoutPending
from ...suites.twin import CoreTwin
from .adapter import ReferenceSpout

__all__ = ["TWINS"]

Calls = tuple[Call[str], ...]
Spout = SpoutPending[str]


# ---- the maximum ----------------------------------------------------------------------------


class OverTheMaximum(Spout):
    """The test is whether pending exceeds the maximum."""

    def _has_reached_max(self) -> bool:
        return 0 < self.limit < len(self)


class OneLimitForAll(Spout):
    """The maximum of one task is that of the executor, however many tasks it has."""

    def __init__(self, max_pending: int = 0, tasks: int = 1, buckets: int = 2) -> None:
        super().__init__(max_pending, 1, buckets)


class LookingAtEveryEmit(Spout):
    """The maximum stops a round in its middle: the rest of the round is lost to the spout."""

    def emit(self, root: int, message: str) -> Calls:
        if self._has_reached_max():
            raise SpoutMisuse("as many are pending as may be")
        return super().emit(root, message)


class GivingAnIdTwice(Spout):
    """An id that is pending is given to a second message, which takes the first one's place."""

    def _refuse_pending(self, root: int) -> None:
        """Whatever is drawn is used."""


# ---- callbacks ------------------------------------------------------------------------------


class CallingAgain(Spout):
    """A root stays pending when it is acked: a later fail, or the timeout, calls again."""

    def ack(self, root: int) -> Calls:
        message = self._pending.get(root)
        return () if message is None else (Call(Outcome.ACK, message),)


class FailingOnlyByTimeout(Spout):
    """What the acker fails is left to the timeout."""

    def fail(self, root: int) -> Calls:
        return ()


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


class WithoutTimeouts(Spout):
    """Message timeouts are disabled: what is lost stays pending."""

    def tick(self) -> Calls:
        return ()


class KeepingTheTimedOut(Spout):
    """A root that times out has fail() called, and goes on taking a place."""

    def _has_reached_max(self) -> bool:
        return 0 < self.limit <= len(self) + getattr(self, "_ghosts", 0)

    def tick(self) -> Calls:
        calls = super().tick()
        self._ghosts = getattr(self, "_ghosts", 0) + len(calls)
        return calls


class OneBucket(Spout):
    """The spout's map has one bucket: a root emitted just before a tick fails with it."""

    def __init__(self, max_pending: int = 0, tasks: int = 1, buckets: int = 2) -> None:
        super().__init__(max_pending, tasks, buckets - 1)


class ThreeBuckets(Spout):
    """The spout's map has as many buckets as the acker's."""

    def __init__(self, max_pending: int = 0, tasks: int = 1, buckets: int = 2) -> None:
        super().__init__(max_pending, tasks, buckets + 1)


class DeafToResets(Spout):
    """A RESET_TIMEOUT that the acker passes on is ignored."""

    def reset_timeout(self, root: int) -> Calls:
        return ()


_twin = partial(CoreTwin, suite="storm.spout", of=ReferenceSpout)
BELOW, ONE_CALL, NOT_EARLY, NOT_LATE = "STORM-K41", "STORM-K43", "STORM-K45", "STORM-K46"

_TWINS: Final = (
    _twin(name="storm-17-id-given-twice", rule="STORM-K42", core=GivingAnIdTwice,
          bug="a root id that is pending is given to another message",
          history="STORM-17: root ids chosen blindly"),
    _twin(name="storm-3514-no-timeouts", rule=NOT_LATE, core=WithoutTimeouts,
          bug="a root that is not heard of stays pending for ever",
          history="STORM-3514: message timeouts disabled"),
    _twin(name="storm-549-place-kept", rule=BELOW, core=KeepingTheTimedOut,
          bug="a root that timed out goes on counting towards the maximum",
          history="STORM-549: lost tuples occupy max.spout.pending"),
    _twin(name="storm-1595-fail-by-timeout", rule="STORM-K44", core=FailingOnlyByTimeout,
          bug="what the acker fails reaches the spout only by its timeout",
          history="STORM-1595: a fail that arrives late"),
    _twin(name="spout-limit-of-one-task", rule=BELOW, core=OneLimitForAll,
          bug="an executor of two tasks stops at the maximum of one",
          history="SpoutExecutor: (* p num-tasks) left out"),
    _twin(name="spout-over-the-maximum", rule="STORM-K40", core=OverTheMaximum,
          bug="a round begins with as many pending as the maximum allows",
          history="> in the place of >="),
    _twin(name="spout-looks-at-every-emit", rule=BELOW, core=LookingAtEveryEmit,
          bug="the maximum cuts a round short", history="the one look of a round made many"),
    _twin(name="spout-calls-again", rule=ONE_CALL, core=CallingAgain,
          bug="a root stays pending after ack()", history="get in the place of remove"),
    _twin(name="spout-acks-the-late", rule=ONE_CALL, core=AckingTheLate,
          bug="an ack after the timeout calls ack() after fail()",
          history="late acks not ignored"),
    _twin(name="spout-one-bucket", rule=NOT_EARLY, core=OneBucket,
          bug="a root may time out with the very next tick", history="one bucket for two"),
    _twin(name="spout-three-buckets", rule=NOT_LATE, core=ThreeBuckets,
          bug="a root times out a tick too late", history="the acker's number of buckets"),
    _twin(name="spout-deaf-to-resets", rule=NOT_EARLY, core=DeafToResets,
          bug="a RESET_TIMEOUT does not renew the spout's root",
          history="the acker's half of the reset alone"),
)

TWINS: Final[dict[str, CoreTwin]] = {twin.name: twin for twin in _TWINS}
"""The twins by name; ``zoo:NAME`` is the target."""
