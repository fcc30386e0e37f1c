"""Purgatories with one seeded bug each: the reference core, or its operation, with one change.

Bugs that need two threads are twins of ``kafka.races``.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

from ....reference.kafka.delayed_operation import DelayedOperation, Keys, Watch
from ....reference.kafka.old_purgatory import OldPurgatory
from ....reference.kafka.purgatory import PURGE_INTERVAL, Purgatory
from ....reference.kafka.timer import Timer
from ....reference.kafka.watcher_lists import WatcherLists, Watchers
from ...suites.twin import Twins
from .adapter import (
    ReferenceOldPurgatory, ReferencePurgatory, ReportingOperation,
)
from .twins_lists import LISTS
from .twins_rounds import ROUNDS, parts_of
from .twins_times import TIMES

__all__ = ["TWINS"]

WALL_CLOCK_MS: Final = 20
"""The time by which the wall clock is set back."""

COARSE_TICK_MS: Final = 100


TWINS: Final = Twins("kafka.purgatory", ReferencePurgatory, ("reference.purgatory",), parts_of)
TWINS.update(ROUNDS)
TWINS.update(LISTS)
TWINS.update(TIMES)


# ---- completion -----------------------------------------------------------------------------


@TWINS.twin(
    "kafka-385-completed-twice", "KAFKA-P1", "a completed request is completed again",
    "KAFKA-385: satisfied and expired; the test of completed left out")
class CompletedTwice(ReportingOperation):
    """``completed`` is set, and not tested."""

    def force_complete(self) -> bool:
        self.completed = True
        self.cancel()
        self.on_complete()
        return True


@TWINS.twin(
    "purgatory-expires-first", "KAFKA-P1ER", "the expiry callback comes before completion",
    "the two lines of run exchanged")
class ExpiringFirst(ReportingOperation):
    """The expiry callback comes before completion."""

    def run(self) -> None:
        self.on_expiration()
        self.force_complete()


@TWINS.twin(
    "purgatory-silent-expiry", "KAFKA-P21", "a timeout completes without the expiry callback",
    "onExpiration left out of run")
class NeverTellingOfExpiry(ReportingOperation):
    """A timeout completes a request, but no callback reports that it was a timeout."""

    def run(self) -> None:
        self.force_complete()


@TWINS.twin(
    "purgatory-expiry-for-all", "KAFKA-P1ER", "every completion calls the expiry callback",
    "onExpiration without the timer")
class ExpiringWheneverCompleted(ReportingOperation):
    """Every completion calls the expiry callback too."""

    def on_complete(self) -> None:
        super().on_complete()
        self.on_expiration()


@TWINS.twin(
    "purgatory-expiry-at-events", "KAFKA-P1ER", "a request that an event completes gets the expiry "
                                                "callback",
    "onExpiration without the timer")
class ExpiringAtEvents(Purgatory):
    """An event that completes a request calls its expiry callback."""

    def _try_watched(self, key: Hashable, watchers: Watchers) -> int:
        pending = [each for each in tuple(watchers) if not each.completed]
        count = super()._try_watched(key, watchers)
        for operation in pending:
            if operation.completed:
                operation.on_expiration()
        return count


@TWINS.twin(
    "purgatory-force-as-try", "KAFKA-P23", "force completes only a ready request",
    "forceComplete confused with tryComplete")
class ForcedIfReady(ReportingOperation):
    """Force is one more try."""

    def run(self) -> None:
        if super().force_complete():
            self.on_expiration()

    def force_complete(self) -> bool:
        return self.name in self.ready and super().force_complete()


@TWINS.twin(
    "purgatory-claims-every-win", "KAFKA-P24", "force returns true although another call was first",
    "isCompleted instead of the CAS's answer")
class ClaimingEveryWin(ReportingOperation):
    """``force_complete`` reports that the request is completed, even by another call."""

    def force_complete(self) -> bool:
        super().force_complete()
        return True


@TWINS.twin(
    "kafka-1989-stays-in-timer", "KAFKA-P4",
    "a completed request stays in the timer until its timeout",
    "KAFKA-1989: completed requests fill the timer; no cancel in forceComplete")
class StayingInTimer(ReportingOperation):
    """The winner leaves the request in the timer."""

    def force_complete(self) -> bool:
        if self.completed:
            return False
        self.completed = True
        self.on_complete()
        return True


@TWINS.twin(
    "purgatory-no-tries", "KAFKA-P22", "a ready request waits for an event",
    "both tries left out")
class WithoutTries(ReportingOperation):
    """The requester does not try at all, and relies on events."""

    def safe_try_complete_or_else(self, watch: Watch, keys: Keys) -> bool:
        watch(self, keys)
        return False


@TWINS.twin(
    "purgatory-no-second-try", "KAFKA-P3",
    "a request that became ready before it was watched waits for its timeout",
    "no second tryComplete")
class WatchingTooLate(ReportingOperation):
    """The requester tries, watches, and goes to the timer."""

    def safe_try_complete_or_else(self, watch: Watch, keys: Keys) -> bool:
        if self.try_complete():
            return True
        watch(self, keys)
        return False


@TWINS.twin(
    "purgatory-second-try-untold", "KAFKA-P24",
    "a request that the second try completes is reported as "
    "waiting", "the second try's answer dropped")
class AnsweringAsWatched(ReportingOperation):
    """A request that the second try completes is reported as if it waited."""

    def safe_try_complete_or_else(self, watch: Watch, keys: Keys) -> bool:
        if self.try_complete():
            return True
        watch(self, keys)
        self.try_complete()
        return False


@TWINS.twin(
    "kafka-1952-try-per-key", "KAFKA-P10", "a request is tried once for each of its keys",
    "KAFKA-1952: tryComplete in the loop that watches")
class TryingPerKey(Purgatory):
    """A try before each key's list."""

    def _watch(self, operation: DelayedOperation, keys: Keys) -> None:
        for key in keys:
            if operation.try_complete():
                return
            super()._watch(operation, (key,))


# ---- events ---------------------------------------------------------------------------------


@TWINS.twin(
    "purgatory-first-key-only", "KAFKA-P3W", "a request is watched for the first of its keys",
    "a return in the loop")
class WatchingTheFirstKey(Purgatory):
    """Only the first key's events find the request."""

    def _watch(self, operation: DelayedOperation, keys: Keys) -> None:
        super()._watch(operation, list(keys)[:1])


@TWINS.twin(
    "purgatory-ends-at-first-pending", "KAFKA-P3",
    "an event stops at the first request that is not ready", "break instead of continue")
class EndingAtTheFirstPending(Purgatory):
    """An event stops at the first request that is not ready."""

    def _try_watched(self, key: Hashable, watchers: Watchers) -> int:
        count = 0
        for operation in tuple(watchers):
            if not operation.safe_try_complete():
                break
            watchers.pop(operation)
            count += 1
        if not watchers:
            self.lists.remove_if_empty(key, watchers)
        return count


@TWINS.twin(
    "purgatory-forces-the-watched", "KAFKA-P20", "an event completes a request that is not ready",
    "forceComplete for tryComplete")
class ForcingTheWatched(Purgatory):
    """An event completes every request on its list."""

    def _try_watched(self, key: Hashable, watchers: Watchers) -> int:
        for operation in tuple(watchers):
            operation.force_complete()
        return super()._try_watched(key, watchers)


@TWINS.twin(
    "purgatory-counts-the-dead", "KAFKA-P8",
    "a request that another call completed is counted when it leaves the list",
    "count after the removal, not after the try")
class CountingTheDead(Purgatory):
    """Every request that leaves the list is counted, even if another call completed it."""

    def _try_watched(self, key: Hashable, watchers: Watchers) -> int:
        before = len(watchers)
        super()._try_watched(key, watchers)
        return before - len(watchers)


@TWINS.twin(
    "purgatory-answers-the-left", "KAFKA-P8", "an event returns the number of requests left",
    "the list's length instead of the count")
class AnsweringTheLeft(Purgatory):
    """The answer is the number of requests left on the list."""

    def _try_watched(self, key: Hashable, watchers: Watchers) -> int:
        super()._try_watched(key, watchers)
        return len(watchers)


@TWINS.twin(
    "kafka-664-left-where-found", "KAFKA-P25",
    "a request stays on the list on which an event found it",
    "KAFKA-664: satisfied requests never removed from the watcher map")
class LeavingTheFound(Purgatory):
    """A request that an event completes stays on its list."""

    def _try_watched(self, key: Hashable, watchers: Watchers) -> int:
        return sum(
            operation.safe_try_complete() for operation in tuple(watchers)
            if not operation.completed)


class _Keeping(WatcherLists):
    def remove_if_empty(self, key: Hashable, watchers: Watchers) -> None:
        """The empty list stays in the map."""


@TWINS.twin(
    "kafka-2160-empty-lists-stay", "KAFKA-P7", "a key with an empty list stays in the map",
    "KAFKA-2160: empty watcher lists are never removed")
class LeavingEmptyLists(Purgatory):
    """Empty lists stay in the map."""

    def __init__(self, purge_interval: int = PURGE_INTERVAL) -> None:
        super().__init__(purge_interval)
        self.lists = _Keeping()


# ---- cancelling -----------------------------------------------------------------------------


@TWINS.twin(
    "purgatory-cancel-completes", "KAFKA-P26", "requests cancelled for a key are completed",
    "cancel confused with completion")
class CompletingTheCancelled(Purgatory):
    """The cancellation of a key completes its requests."""

    def cancel_for_key(self, key: Hashable) -> list[DelayedOperation]:
        cancelled = super().cancel_for_key(key)
        for operation in cancelled:
            operation.force_complete()
        return cancelled


@TWINS.twin(
    "purgatory-cancelled-expires", "KAFKA-P20", "requests cancelled for a key expire",
    "KAFKA-2226, in sequence")
class CancellingTheListAlone(Purgatory):
    """A key's requests stay in the timer, which runs them."""

    def cancel_for_key(self, key: Hashable) -> list[DelayedOperation]:
        return list(self.lists.take(key))


@TWINS.twin(
    "purgatory-cancelled-is-watched", "KAFKA-P25", "requests cancelled for a key stay on its list",
    "the map's remove left out")
class CancellingTheTimerAlone(Purgatory):
    """A key's requests stay on its list."""

    def cancel_for_key(self, key: Hashable) -> list[DelayedOperation]:
        cancelled = list(self.lists.of(key) or ())
        for operation in cancelled:
            operation.cancel()
        return cancelled


# ---- time -----------------------------------------------------------------------------------


@TWINS.twin("purgatory-untimed", "KAFKA-P2L", "requests never time out", "timerEnabled = false")
class NeverTimingOut(Purgatory):
    """No request enters the timer (timerEnabled = false)."""

    def _begin_timeout(self, operation: DelayedOperation, now: int) -> None:
        """Only events complete the request."""


@TWINS.twin(
    "purgatory-expires-after", "KAFKA-P2L",
    "a request expires after its timeout, not at its end",
    "MockTimer: now > expiration")
class ExpiringAfter(Purgatory):
    """A timeout must be over, not just reached: the test's timer compares strictly."""

    def advance(self, now: int) -> bool:
        return super().advance(now - 1)


@TWINS.twin(
    "kafka-4051-purgatory-clock-back", "KAFKA-P2L",
    "the reaper's clock is set back, and requests do not expire",
    "KAFKA-4051: a timer on the wall clock")
class OnWallClock(Purgatory):
    """The reaper reads the wall clock, which is set back after a while."""

    def advance(self, now: int) -> bool:
        return super().advance(now if now < WALL_CLOCK_MS else now - WALL_CLOCK_MS)

    def _tell_time(self, now: int) -> None:
        self._now = min(self._now, now)


@TWINS.twin(
    "purgatory-coarse-timer", "KAFKA-P20", "a request expires up to 99 ms early",
    "a tick of 100 ms")
class CoarseTimer(Purgatory):
    """A tick of 100 ms instead of 1 ms: a request that is due within a tick expires at once."""

    def __init__(self, purge_interval: int = PURGE_INTERVAL) -> None:
        super().__init__(purge_interval, timer=Timer(COARSE_TICK_MS))


# ---- sizes, estimate, purges ----------------------------------------------------------------


@TWINS.twin(
    "kafka-1616-delayed-as-estimated", "KAFKA-P4",
    "the number of delayed requests includes the completed ones",
    "KAFKA-1616: the purgatory's size and delayed metrics are wrong")
class DelayedAsEstimated(Purgatory):
    """The estimate is reported as the number of delayed requests."""

    @property
    def delayed(self) -> int:
        return self.estimate


@TWINS.twin(
    "kafka-1616-subtracted-twice", "KAFKA-P4N",
    "completed requests are subtracted from a size that does not include them",
    "KAFKA-1616: the purgatory's size and delayed metrics are wrong")
class CompletedSubtractedTwice(Purgatory):
    """Completed requests are subtracted from the timer's size, which does not include them."""

    @property
    def delayed(self) -> int:
        return max(0, 2 * self.timer.size - self.estimate)


@TWINS.twin(
    "purgatory-counts-per-key", "KAFKA-P5U", "the estimate counts a request once for each key",
    "the text, point 1")
class CountingPerKey(Purgatory):
    """A request is counted once for each of its keys."""

    def _watch(self, operation: DelayedOperation, keys: Keys) -> None:
        for key in keys:
            super()._watch(operation, (key,))


@TWINS.twin(
    "purgatory-counts-pending-only", "KAFKA-P5",
    "a request that the second try completes is watched but not counted",
    "estimatedTotal++ after the second try")
class CountingThePendingOnly(Purgatory):
    """A request that the second try completes is on the lists, but not counted."""

    def _watch(self, operation: DelayedOperation, keys: Keys) -> None:
        self.lists.watch(operation, keys)

    def _begin_timeout(self, operation: DelayedOperation, now: int) -> None:
        self._estimate += 1
        super()._begin_timeout(operation, now)


@TWINS.twin(
    "kafka-664-never-purged", "KAFKA-P6",
    "completed requests stay on the lists that no event reaches",
    "KAFKA-664: satisfied requests never removed from the watcher map")
class NeverPurging(Purgatory):
    """A completed request leaves a list only if an event finds it."""

    def purge(self) -> int:
        return 0


@TWINS.twin(
    "purgatory-purges-one-list", "KAFKA-P25", "a purge ends after one list",
    "a return in the loop")
class PurgingOneList(Purgatory):
    """A purge ends after its first list."""

    def _purge_lists(self) -> int:
        return sum(self._purge_list(key, watchers) for key, watchers in self.lists.items()[:1])


@TWINS.twin(
    "purgatory-impatient-purge", "KAFKA-P6E", "lists are purged one request too early", ">= for >")
class ImpatientPurge(Purgatory):
    """A purge begins at the threshold, not above it."""

    def advance(self, now: int) -> bool:
        moved = super().advance(now)
        if self.estimate - self.timer.size >= self.purge_interval:
            self.purge()
        return moved


@TWINS.twin(
    "kafka-1989-purge-by-length", "KAFKA-P6E",
    "long lists are purged although nothing on them is completed",
    "KAFKA-1989: the purge triggered by watched()")
class PurgingByLength(Purgatory):
    """The lists are purged when they are long, as in the old design."""

    def advance(self, now: int) -> bool:
        moved = super().advance(now)
        if self.watched >= self.purge_interval:
            self.purge()
        return moved


@TWINS.twin(
    "purgatory-stale-estimate", "KAFKA-P5U", "a purge does not reset the estimate",
    "the reset of E left out")
class StaleEstimate(Purgatory):
    """A purge does not reset the estimate."""

    def _restart_estimate(self) -> None:
        """The estimate keeps its old value."""


@TWINS.twin(
    "purgatory-estimate-from-nothing", "KAFKA-P5", "a purge sets the estimate to zero",
    "E := 0 for E := |timer|")
class EstimateFromNothing(Purgatory):
    """A purge sets the estimate to zero, without the pending requests."""

    def _restart_estimate(self) -> None:
        self._estimate = 0


@TWINS.twin(
    "purgatory-purges-the-pending", "KAFKA-P3W", "a purge drops pending requests",
    "the test of isCompleted left out")
class PurgingThePending(Purgatory):
    """A purge does not test whether a request is completed."""

    def _purge_list(self, key: Hashable, watchers: Watchers) -> int:
        return len(self.lists.take(key))


# ---- the old purgatory ----------------------------------------------------------------------


@TWINS.twin(
    "kafka-1989-old-expired-anyway", "KAFKA-P1ER",
    "the expiry callback is called for a request that was completed long before",
    "KAFKA-1989: expireNext calls onExpiration regardless", of=ReferenceOldPurgatory)
class OldExpiringAnyway(OldPurgatory):
    """The expiry callback, then completion, even for a completed request."""

    def _expire(self, operation: DelayedOperation) -> None:
        operation.on_expiration()
        operation.force_complete()


@TWINS.twin(
    "kafka-664-old-never-purged", "KAFKA-P6", "the old purgatory, without the purge of its lists",
    "KAFKA-664: satisfied requests never removed from the watcher map", of=ReferenceOldPurgatory)
class OldWithoutPurge(OldPurgatory):
    """Only events take completed requests off a list."""

    def _purge_lists(self) -> int:
        return 0


# ---- the table ------------------------------------------------------------------------------


# ---- twins that show late -------------------------------------------------------------------

TWINS.late("purgatory-swallows-errors", 40, 300)


# ---- twins that confuse keys ----------------------------------------------------------------

class _Alike(Purgatory):
    """A purgatory that confuses some keys."""

    def alike(self, key: Hashable) -> Hashable:
        """The part of a key that is kept."""
        return key

    def try_complete_else_watch(self, operation: DelayedOperation, keys: Keys, now: int) -> bool:
        return super().try_complete_else_watch(operation, [*map(self.alike, keys)], now)

    def check_and_complete(self, key: Hashable) -> int:
        return super().check_and_complete(self.alike(key))

    def cancel_for_key(self, key: Hashable) -> list[DelayedOperation]:
        return super().cancel_for_key(self.alike(key))


@TWINS.twin(
    "purgatory-cuts-keys", "KAFKA-P3W", "keys with the same beginning count as one",
    "a name of a topic and its partition, cut to the topic")
class CuttingKeys(_Alike):
    """An event of one key is an event of the other."""

    def alike(self, key: Hashable) -> Hashable:
        return key[:8] if isinstance(key, str) else key


@TWINS.twin(
    "purgatory-ignores-case", "KAFKA-P3W", "keys that differ only in case count as one",
    "a comparison of names that ignores case")
class IgnoringCase(_Alike):
    """An event of one key is an event of the other."""

    def alike(self, key: Hashable) -> Hashable:
        return key.lower() if isinstance(key, str) else key


@TWINS.twin(
    "purgatory-hashes-keys", "KAFKA-P3W", "keys that agree in 32 bits count as one",
    "a map that uses the hash of a key instead of the key")
class HashingKeys(_Alike):
    """Keys that are numbers agree if their low 32 bits do."""

    def alike(self, key: Hashable) -> Hashable:
        return int(key) % 2**32 if isinstance(key, str) and key.isdecimal() else key
