"""The chapters' purgatory as its observer sees it.

Theory. ``purgatory`` has requests, lists, a timer and a purge in steps, ``purgatory_answers`` has
the answers of events. ``observed_purgatory`` sees each call with the callbacks that it causes, and
may ask for the lengths of the lists, the size of the timer, the estimate and the number of keys.
Calls come one at a time here: no call is observed while a purge is under way, and the reaper is
idle whenever lengths are read. The steps within calls are in ``races_seen``.

The chapter's timeouts come in any order, and the observer computes times. So request r gets the
r-th of the observer's timeouts; when it expires, its remaining time passes a millisecond at a time,
and the run is left out if another request would have expired before it. While the timer is empty,
any time may pass without an effect.

Source: ``purgatory``, ``purgatory_answers``, ``observed_purgatory``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..notation.views import LEFT_OUT, Seen, View, see, shown
from ..refinements import refines, refused
from .observed_purgatory import PERIODS, TIMEOUTS, ObservedPurgatory
from .purgatory import (
    CancellingPurgatory, ImpatientPurge, KeepingEmptyKeys, KeepingInTimer, LosingEarlierTimeouts,
    LosingLaterTimeouts, LosingTimeouts,
    NeverPurging, PerKeyEstimate, Purgatory, PurgingPending, ReopeningPurgatory,
    StaleEstimate, UntimedPurgatory,
)
from .purgatory_answers import AnsweringPurgatory, CountingTheDead, CountingTheReady
from .purgatory_old import OldPurgatory

__all__ = ["EXPECTATIONS", "AnswersSeen", "CancellingSeen", "PurgatorySeen"]


class PurgatorySeen(View[Purgatory]):
    """Calls with their callbacks.

    ``history`` has the milliseconds that each request still has to wait.
    """

    history: tuple[int, ...] = ()

    def follows(self, machine: Purgatory, action: str) -> bool:
        """A purge is not interrupted."""
        return not machine.to_purge or action == "purge"

    def begins(self, machine: Purgatory) -> Iterable[Seen]:
        """No request has a remaining time yet."""
        self.history = (0,) * machine.K
        return ()

    @shown
    def become_ready(self, before: Purgatory, after: Purgatory, request: int) -> Seen:
        return see("become_ready", request=request)

    @shown
    def make(
        self, before: Purgatory, after: Purgatory, request: int, keys: int, meanwhile: int
    ) -> Seen:
        self.history = (*self.history[:request], TIMEOUTS[request], *self.history[request + 1:])
        return see("made", request=request, keys=keys, timeout=request, meanwhile=meanwhile,
                   tries=1 if request in before.ready else 2, **self.outcome(before, after))

    @shown
    def force(self, before: Purgatory, after: Purgatory, request: int) -> Seen:
        return see("forced", request=request, **self.outcome(before, after))

    def outcome(self, before: Purgatory, after: Purgatory) -> dict[str, int]:
        """The callbacks and the answer of a call about one request."""
        completed = len(self.completed(before, after))
        return {"completed": completed, "expired": self.expired(before, after),
                "answer": completed}

    @shown
    def check_and_complete(self, before: Purgatory, after: Purgatory, key: int) -> Seen:
        those = self.completed(before, after)
        return see("checked", key=key, those=as_set(those), count=self.counted(before, after))

    def counted(self, before: Purgatory, after: Purgatory) -> int:
        """The answer of an event: here the correct one."""
        return len(self.completed(before, after))

    @shown
    def expire(self, before: Purgatory, after: Purgatory, request: int) -> Iterable[Seen] | str:
        pass_by = self.history[request]
        if any(self.history[other] <= pass_by for other in before.timer if other != request):
            return LEFT_OUT
        self.history = tuple(max(0, left - pass_by) for left in self.history)
        quiet = see("advanced", by=PERIODS.index(1), those=0, expired=0)
        last = see("advanced", by=PERIODS.index(1), those=as_set(self.completed(before, after)),
                   expired=self.expired(before, after) << request)
        return [*[quiet] * (pass_by - 1), last]

    @shown
    def start_purge(self, before: Purgatory, after: Purgatory) -> Seen:
        return see("reaped")

    @staticmethod
    def completed(before: Purgatory, after: Purgatory) -> list[int]:
        """The requests for which onComplete was called."""
        return [each for each in range(before.K)
                if after.completions[each] > before.completions[each]]

    @staticmethod
    def expired(before: Purgatory, after: Purgatory) -> int:
        """The number of calls of onExpiration."""
        return sum(after.expirations) - sum(before.expirations)

    def asked(self, machine: Purgatory) -> Iterable[Seen]:
        """All counts; the lengths of the lists only when the reaper is idle."""
        if not machine.to_purge:
            yield see("delayed", count=len(machine.timer))
            yield see("estimated", count=machine.estimate)
        if machine.rests():
            yield see("listed", count=len(machine.watched))
            yield see("listed_exactly", count=len(machine.watched))
            yield see("keyed", count=len(machine.keys))
            if not machine.timer:
                yield see("advanced", by=len(PERIODS) - 1, those=0, expired=0)


def as_set(requests: list[int]) -> int:
    """A set of requests in the observer's encoding."""
    return sum(1 << each for each in requests)


class CancellingSeen(PurgatorySeen):
    """The same, where keys may be cancelled."""

    @shown
    def cancel_for_key(self, before: Purgatory, after: Purgatory, key: int) -> Seen:
        return see("cancelled", key=key, those=as_set(self.completed(before, after)))


class AnswersSeen(PurgatorySeen):
    """The same, with the answers of events."""

    def counted(self, before: Purgatory, after: Purgatory) -> int:
        """The amount by which the machine's answers have grown."""
        assert isinstance(before, AnsweringPurgatory)
        assert isinstance(after, AnsweringPurgatory)
        return after.answered - before.answered


TWO: dict[str, Any] = {"K": 2, "J": 2, "Q": 0}
SAME = {"K": "K", "J": "J", "Q": "Q", "S": "2 ** K"}

SEEN = refines(Purgatory, ObservedPurgatory, "callbacks and counts are as the observer demands",
               shows=PurgatorySeen, seen_by=SAME, **TWO)
CANCELLED = refines(CancellingPurgatory, ObservedPurgatory, "cancelling a key is accepted",
                    shows=CancellingSeen, seen_by=SAME, K=2, J=1, Q=0)
ANSWERED = refines(AnsweringPurgatory, ObservedPurgatory, "events return the right counts",
                   shows=AnswersSeen, seen_by=SAME, K=2, J=1, Q=0)

EXPECTATIONS = (
    SEEN, CANCELLED, ANSWERED,
    *(refused(variant, rule, about, like=SEEN) for variant, rule, about in (
        (KeepingInTimer, "KAFKA-P4", "no cancel in forceComplete"),
        (ReopeningPurgatory, "KAFKA-P1", "a completion is undone"),
        (UntimedPurgatory, "KAFKA-P2L", "no timer: the request waits forever"),
        (PerKeyEstimate, "KAFKA-P5U", "counted once for each key"),
        (StaleEstimate, "KAFKA-P5U", "E is not reset"),
        (PurgingPending, "KAFKA-P3W", "pending requests are purged"),
        (KeepingEmptyKeys, "KAFKA-P7", "empty lists stay (KAFKA-2160)"),
        (NeverPurging, "KAFKA-P6", "the lists grow without bound (KAFKA-664)"),
    )),
    refused(OldPurgatory, "KAFKA-P1ER", "expiry callback of a completed request (KAFKA-1989)",
            like=SEEN, beside=("KAFKA-P4", "KAFKA-P6E", "KAFKA-P6S")),
    refused(ImpatientPurge, "KAFKA-P6E", ">= for >", like=SEEN, Q=1),
    refused(LosingTimeouts, "KAFKA-P2L", "no timer: the request waits forever", like=CANCELLED),
    refused(LosingLaterTimeouts, "KAFKA-P2L", "one place: the second waits forever",
            like=CANCELLED),
    refused(LosingEarlierTimeouts, "KAFKA-P2L", "one place: the first waits forever",
            like=CANCELLED),
    refused(CountingTheDead, "KAFKA-P8", "every request that leaves a list is "
            "counted", like=ANSWERED),
    refused(CountingTheReady, "KAFKA-P8", "a completed request is counted", like=ANSWERED),
)
