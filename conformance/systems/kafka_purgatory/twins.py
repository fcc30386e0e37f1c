"""Purgatories with one seeded bug each: the reference core, or its operation, with one change.

What takes two threads to show is in the zoo of ``kafka.races``.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from typing import Final

from ....reference.kafka.delayed_operation import DelayedOperation, Keys, Watch
from ....reference.kafka.old_purgatory import OldPurgatory
from ....reference.kafka.purgatory import PURGE_INTERVAL, Purgatory
from ....reference.kafka.timer import Timer
from ....reference.kafka.watcher_lists import WatcherLists, Watchers
from ...suites.twin import CoreTwin
from .adapter import (
    ReferenceOldPurgatory, ReferencePurgatory, ReportingOperation,
)
from .twins_rounds import (
    AnsweringThatNothingMoved, AnsweringThatTimeMoved, CancellingLast, CompletingAgainAfterAnError,
    EndingAtTheFirstError, HorizonIncluded, SkippingThePurge, SwallowingErrors,
    TimeoutsEndingAtAnError,
)

__all__ = ["TWINS"]

WALL_CLOCK_MS: Final = 20
"""By how much the wall clock is set back."""

COARSE_TICK_MS: Final = 100


# ---- who completes --------------------------------------------------------------------------


class CompletedTwice(ReportingOperation):
    """``completed`` is set, and not asked."""

    def force_complete(self) -> bool:
        self.completed = True
        self.cancel()
        self.on_complete()
        return True


class ExpiringFirst(ReportingOperation):
    """The expiry callback comes before completion."""

    def run(self) -> None:
        self.on_expiration()
        self.force_complete()


class NeverTellingOfExpiry(ReportingOperation):
    """A timeout completes, and nobody learns that it was one."""

    def run(self) -> None:
        self.force_complete()


class ExpiringWheneverCompleted(ReportingOperation):
    """Whoever completes calls the expiry callback too."""

    def on_complete(self) -> None:
        super().on_complete()
        self.on_expiration()


class ExpiringAtEvents(Purgatory):
    """An event that completes a request tells it that it expired."""

    def _try_watched(self, key: Hashable, watchers: Watchers) -> int:
        pending = [each for each in tuple(watchers) if not each.completed]
        count = super()._try_watched(key, watchers)
        for operation in pending:
            if operation.completed:
                operation.on_expiration()
        return count


class ForcedIfReady(ReportingOperation):
    """Force is taken for one more try."""

    def run(self) -> None:
        if super().force_complete():
            self.on_expiration()

    def force_complete(self) -> bool:
        return self.name in self.ready and super().force_complete()


class ClaimingEveryWin(ReportingOperation):
    """``force_complete`` says that it is completed, not by whom."""

    def force_complete(self) -> bool:
        super().force_complete()
        return True


class StayingInTimer(ReportingOperation):
    """Whoever wins leaves the request in the timer."""

    def force_complete(self) -> bool:
        if self.completed:
            return False
        self.completed = True
        self.on_complete()
        return True


class WithoutTries(ReportingOperation):
    """The requester does not try at all: an event will come."""

    def safe_try_complete_or_else(self, watch: Watch, keys: Keys) -> bool:
        watch(self, keys)
        return False


class WithoutSecondTry(ReportingOperation):
    """The requester tries, watches, and goes to the timer."""

    def safe_try_complete_or_else(self, watch: Watch, keys: Keys) -> bool:
        if self.try_complete():
            return True
        watch(self, keys)
        return False


class AnsweringAsWatched(ReportingOperation):
    """What the second try completes is answered as if it waited."""

    def safe_try_complete_or_else(self, watch: Watch, keys: Keys) -> bool:
        if self.try_complete():
            return True
        watch(self, keys)
        self.try_complete()
        return False


class TryingPerKey(Purgatory):
    """A try before each key's list."""

    def _watch(self, operation: DelayedOperation, keys: Keys) -> None:
        for key in keys:
            if operation.try_complete():
                return
            super()._watch(operation, (key,))


# ---- events ---------------------------------------------------------------------------------


class WatchingTheFirstKey(Purgatory):
    """Only the first key's events find the request."""

    def _watch(self, operation: DelayedOperation, keys: Keys) -> None:
        super()._watch(operation, list(keys)[:1])


class EndingAtTheFirstPending(Purgatory):
    """An event looks no further than the first request that is not ready."""

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


class ForcingTheWatched(Purgatory):
    """An event completes whatever is on its list."""

    def _try_watched(self, key: Hashable, watchers: Watchers) -> int:
        for operation in tuple(watchers):
            operation.force_complete()
        return super()._try_watched(key, watchers)


class CountingTheDead(Purgatory):
    """What leaves the list is counted, whoever completed it."""

    def _try_watched(self, key: Hashable, watchers: Watchers) -> int:
        before = len(watchers)
        super()._try_watched(key, watchers)
        return before - len(watchers)


class AnsweringTheLeft(Purgatory):
    """The answer is how many are left on the list."""

    def _try_watched(self, key: Hashable, watchers: Watchers) -> int:
        super()._try_watched(key, watchers)
        return len(watchers)


class LeavingTheFound(Purgatory):
    """What an event completes stays on its list."""

    def _try_watched(self, key: Hashable, watchers: Watchers) -> int:
        return sum(
            operation.safe_try_complete() for operation in tuple(watchers)
            if not operation.completed)


class _Keeping(WatcherLists):
    def remove_if_empty(self, key: Hashable, watchers: Watchers) -> None:
        """The empty list stays in the map."""


class KeepingEmptyLists(Purgatory):
    """Empty lists stay in the map."""

    def __init__(self, purge_interval: int = PURGE_INTERVAL) -> None:
        super().__init__(purge_interval)
        self.lists = _Keeping()


# ---- cancelling -----------------------------------------------------------------------------


class CompletingTheCancelled(Purgatory):
    """A cancel for a key completes what it cancels."""

    def cancel_for_key(self, key: Hashable) -> list[DelayedOperation]:
        cancelled = super().cancel_for_key(key)
        for operation in cancelled:
            operation.force_complete()
        return cancelled


class CancellingTheListAlone(Purgatory):
    """A key's requests stay in the timer, which runs them."""

    def cancel_for_key(self, key: Hashable) -> list[DelayedOperation]:
        return list(self.lists.take(key))


class CancellingTheTimerAlone(Purgatory):
    """A key's requests stay on its list."""

    def cancel_for_key(self, key: Hashable) -> list[DelayedOperation]:
        cancelled = list(self.lists.of(key) or ())
        for operation in cancelled:
            operation.cancel()
        return cancelled


# ---- time -----------------------------------------------------------------------------------


class WithoutTimeouts(Purgatory):
    """No request enters the timer (timerEnabled = false)."""

    def _begin_timeout(self, operation: DelayedOperation, now: int) -> None:
        """Only events end it."""


class ExpiringAfter(Purgatory):
    """A timeout must be over, not reached: the test's timer compares strictly."""

    def advance(self, now: int) -> bool:
        return super().advance(now - 1)


class OnWallClock(Purgatory):
    """The reaper reads the wall clock, which is set back after a while."""

    def advance(self, now: int) -> bool:
        return super().advance(now if now < WALL_CLOCK_MS else now - WALL_CLOCK_MS)

    def _tell_time(self, now: int) -> None:
        self._now = min(self._now, now)


class CoarseTimer(Purgatory):
    """A tick of 100 ms where 1 ms is promised: what is due within a tick is due at once."""

    def __init__(self, purge_interval: int = PURGE_INTERVAL) -> None:
        super().__init__(purge_interval, timer=Timer(COARSE_TICK_MS))


# ---- sizes, estimate, purges ----------------------------------------------------------------


class DelayedAsEstimated(Purgatory):
    """The estimate is shown as the number of delayed requests."""

    @property
    def delayed(self) -> int:
        return self.estimate


class CompletedSubtractedTwice(Purgatory):
    """The completed are subtracted from the size of the timer, which has not got them."""

    @property
    def delayed(self) -> int:
        return max(0, 2 * self.timer.size - self.estimate)


class CountingPerKey(Purgatory):
    """A request is counted once for each of its keys."""

    def _watch(self, operation: DelayedOperation, keys: Keys) -> None:
        for key in keys:
            super()._watch(operation, (key,))


class CountingThePendingOnly(Purgatory):
    """What the second try completes is on the lists, and not counted."""

    def _watch(self, operation: DelayedOperation, keys: Keys) -> None:
        self.lists.watch(operation, keys)

    def _begin_timeout(self, operation: DelayedOperation, now: int) -> None:
        self._estimate += 1
        super()._begin_timeout(operation, now)


class NeverPurging(Purgatory):
    """What is completed leaves the lists if an event finds it, and else never."""

    def purge(self) -> int:
        return 0


class PurgingOneList(Purgatory):
    """A purge ends after its first list."""

    def _purge_lists(self) -> int:
        return sum(self._purge_list(key, watchers) for key, watchers in self.lists.items()[:1])


class ImpatientPurge(Purgatory):
    """A purge begins at the threshold, not above it."""

    def advance(self, now: int) -> bool:
        moved = super().advance(now)
        if self.estimate - self.timer.size >= self.purge_interval:
            self.purge()
        return moved


class PurgingByLength(Purgatory):
    """The lists are purged when they are long, as in the old design."""

    def advance(self, now: int) -> bool:
        moved = super().advance(now)
        if self.watched >= self.purge_interval:
            self.purge()
        return moved


class StaleEstimate(Purgatory):
    """A purge does not set the estimate."""

    def _restart_estimate(self) -> None:
        """The estimate stays what it was."""


class EstimateFromNothing(Purgatory):
    """A purge sets the estimate to zero: the pending are forgotten."""

    def _restart_estimate(self) -> None:
        self._estimate = 0


class PurgingThePending(Purgatory):
    """A purge does not ask whether a request is completed."""

    def _purge_list(self, key: Hashable, watchers: Watchers) -> int:
        return len(self.lists.take(key))


# ---- the old purgatory ----------------------------------------------------------------------


class OldExpiringAnyway(OldPurgatory):
    """The expiry callback, then completion, whatever became of the request."""

    def _expire(self, operation: DelayedOperation) -> None:
        operation.on_expiration()
        operation.force_complete()


class OldWithoutPurge(OldPurgatory):
    """Nothing but events takes a completed request off a list."""

    def _purge_lists(self) -> int:
        return 0


# ---- the table ------------------------------------------------------------------------------


def _made_of(operation: type[ReportingOperation]) -> Callable[[], ReferencePurgatory]:
    def make() -> ReferencePurgatory:
        adapter = ReferencePurgatory()
        adapter.operation = operation
        return adapter

    return make


_new = partial(CoreTwin, suite="kafka.purgatory", of=ReferencePurgatory)
_old = partial(CoreTwin, suite="kafka.purgatory", of=ReferenceOldPurgatory)


def _of(operation: type[ReportingOperation], name: str, rule: str, bug: str, history: str,
        ) -> CoreTwin:
    return CoreTwin(name, "kafka.purgatory", rule, bug, history, Purgatory, _made_of(operation))


_TWINS: Final = (
    _of(CompletedTwice, "kafka-385-completed-twice", "KAFKA-P1",
        "a completed request is completed again",
        "KAFKA-385: satisfied and expired; the test of completed left out"),
    _new(name="kafka-664-never-purged", rule="KAFKA-P6", core=NeverPurging,
         bug="completed requests stay on the lists that no event reaches",
         history="KAFKA-664: satisfied requests never removed from the watcher map"),
    _new(name="kafka-664-left-where-found", rule="KAFKA-P25", core=LeavingTheFound,
         bug="a request stays on the list on which an event found it",
         history="KAFKA-664: satisfied requests never removed from the watcher map"),
    _new(name="kafka-1616-delayed-as-estimated", rule="KAFKA-P4", core=DelayedAsEstimated,
         bug="the number of delayed requests includes the completed",
         history="KAFKA-1616: the purgatory's size and delayed metrics are wrong"),
    _new(name="kafka-1616-subtracted-twice", rule="KAFKA-P4N", core=CompletedSubtractedTwice,
         bug="the completed are subtracted from a size that does not include them",
         history="KAFKA-1616: the purgatory's size and delayed metrics are wrong"),
    _new(name="kafka-1952-try-per-key", rule="KAFKA-P10", core=TryingPerKey,
         bug="a request is tried once for each of its keys",
         history="KAFKA-1952: tryComplete in the loop that watches"),
    _of(StayingInTimer, "kafka-1989-stays-in-timer", "KAFKA-P4",
        "a completed request stays in the timer until its timeout",
        "KAFKA-1989: completed requests fill the timer; no cancel in forceComplete"),
    _old(name="kafka-1989-old-expired-anyway", rule="KAFKA-P1ER", core=OldExpiringAnyway,
         bug="the expiry callback of a request that was completed long before",
         history="KAFKA-1989: expireNext calls onExpiration regardless"),
    _old(name="kafka-664-old-never-purged", rule="KAFKA-P6", core=OldWithoutPurge,
         bug="the old purgatory, without the purge of its lists",
         history="KAFKA-664: satisfied requests never removed from the watcher map"),
    _new(name="kafka-1989-purge-by-length", rule="KAFKA-P6E", core=PurgingByLength,
         bug="long lists are purged although nothing on them is completed",
         history="KAFKA-1989: the purge triggered by watched()"),
    _new(name="kafka-2160-empty-lists-stay", rule="KAFKA-P7", core=KeepingEmptyLists,
         bug="a key stays in the map when its list is empty",
         history="KAFKA-2160: empty watcher lists are never removed"),
    _new(name="kafka-4051-purgatory-clock-back", rule="KAFKA-P2L", core=OnWallClock,
         bug="the reaper's clock is set back, and requests do not expire",
         history="KAFKA-4051: a timer on the wall clock"),
    _of(ExpiringFirst, "purgatory-expires-first", "KAFKA-P1ER",
        "the expiry callback comes before completion", "the two lines of run exchanged"),
    _of(NeverTellingOfExpiry, "purgatory-silent-expiry", "KAFKA-P21",
        "a timeout completes without the expiry callback", "onExpiration left out of run"),
    _of(ExpiringWheneverCompleted, "purgatory-expiry-for-all", "KAFKA-P1ER",
        "whoever completes calls the expiry callback", "onExpiration without the timer"),
    _new(name="purgatory-expiry-at-events", rule="KAFKA-P1ER", core=ExpiringAtEvents,
         bug="what an event completes is told that it expired",
         history="onExpiration without the timer"),
    _of(ForcedIfReady, "purgatory-force-as-try", "KAFKA-P23",
        "force completes only what is ready", "forceComplete taken for tryComplete"),
    _of(ClaimingEveryWin, "purgatory-claims-every-win", "KAFKA-P24",
        "force answers true although another was first", "isCompleted for the CAS's answer"),
    _of(AnsweringAsWatched, "purgatory-second-try-untold", "KAFKA-P24",
        "what the second try completes is answered as waiting",
        "the second try's answer dropped"),
    _of(WithoutTries, "purgatory-no-tries", "KAFKA-P22",
        "a request that is ready waits for an event", "both tries left out"),
    _of(WithoutSecondTry, "purgatory-no-second-try", "KAFKA-P3",
        "a request that became ready before it was watched waits for its timeout",
        "no second tryComplete"),
    _new(name="purgatory-first-key-only", rule="KAFKA-P3W", core=WatchingTheFirstKey,
         bug="a request is watched for the first of its keys", history="a return in the loop"),
    _new(name="purgatory-ends-at-first-pending", rule="KAFKA-P3", core=EndingAtTheFirstPending,
         bug="an event ends at the first request that is not ready",
         history="break where continue belongs"),
    _new(name="purgatory-forces-the-watched", rule="KAFKA-P20", core=ForcingTheWatched,
         bug="an event completes what is not ready", history="forceComplete for tryComplete"),
    _new(name="purgatory-counts-the-dead", rule="KAFKA-P8", core=CountingTheDead,
         bug="what others completed is counted when it leaves the list",
         history="count after the removal, not after the try"),
    _new(name="purgatory-answers-the-left", rule="KAFKA-P8", core=AnsweringTheLeft,
         bug="an event answers how many are left", history="the list's length for the count"),
    _new(name="purgatory-cancel-completes", rule="KAFKA-P26", core=CompletingTheCancelled,
         bug="requests cancelled for a key are completed", history="cancel taken for completion"),
    _new(name="purgatory-cancelled-expires", rule="KAFKA-P20", core=CancellingTheListAlone,
         bug="requests cancelled for a key expire", history="KAFKA-2226, in sequence"),
    _new(name="purgatory-cancelled-is-watched", rule="KAFKA-P25", core=CancellingTheTimerAlone,
         bug="requests cancelled for a key stay on its list",
         history="the map's remove left out"),
    _new(name="purgatory-untimed", rule="KAFKA-P2L", core=WithoutTimeouts,
         bug="requests never time out", history="timerEnabled = false"),
    _new(name="purgatory-expires-after", rule="KAFKA-P2L", core=ExpiringAfter,
         bug="a request expires when its timeout is over, not when it is reached",
         history="MockTimer: now > expiration"),
    _new(name="purgatory-coarse-timer", rule="KAFKA-P20", core=CoarseTimer,
         bug="a request expires up to 99 ms early", history="a tick of 100 ms"),
    _new(name="purgatory-counts-per-key", rule="KAFKA-P5U", core=CountingPerKey,
         bug="the estimate counts a request once for each key", history="the text, point 1"),
    _new(name="purgatory-counts-pending-only", rule="KAFKA-P5", core=CountingThePendingOnly,
         bug="what the second try completes is watched and not counted",
         history="estimatedTotal++ after the second try"),
    _new(name="purgatory-purges-one-list", rule="KAFKA-P25", core=PurgingOneList,
         bug="a purge ends after one list", history="a return in the loop"),
    _new(name="purgatory-impatient-purge", rule="KAFKA-P6E", core=ImpatientPurge,
         bug="lists are purged one request too early", history=">= for >"),
    _new(name="purgatory-stale-estimate", rule="KAFKA-P5U", core=StaleEstimate,
         bug="the estimate is not set by a purge", history="the reset of E left out"),
    _new(name="purgatory-estimate-from-nothing", rule="KAFKA-P5", core=EstimateFromNothing,
         bug="a purge sets the estimate to zero", history="E := 0 for E := |timer|"),
    _new(name="purgatory-event-ends-at-error", rule="KAFKA-P28", core=EndingAtTheFirstError,
         bug="an event ends at the first request that raises",
         history="tryCompleteWatched of Kafka 0.9 to 3.9; KAFKA-17240 mends a neighbour of it"),
    _new(name="purgatory-round-ends-at-error", rule="KAFKA-P27", core=TimeoutsEndingAtAnError,
         bug="a timeout that raises keeps others from theirs",
         history="timeouts run in the reaper's own thread, not in an executor"),
    _new(name="purgatory-swallows-errors", rule="KAFKA-P29", core=SwallowingErrors,
         bug="what a callback raises in an event is lost", history="catch (Throwable ignored)"),
    _new(name="purgatory-error-skips-purge", rule="KAFKA-P25", core=SkippingThePurge,
         bug="a round in which a callback raises does not purge",
         history="the purge after, not in a finally"),
    _of(CancellingLast, "purgatory-error-stays-in-timer", "KAFKA-P4",
        "a request whose completion raises stays in the timer",
        "cancel() after onComplete()"),
    _of(CompletingAgainAfterAnError, "purgatory-error-completes-again", "KAFKA-P1",
        "a request whose completion raises is completed again", "completed set after onComplete()"),
    _new(name="purgatory-moved-always", rule="KAFKA-P30", core=AnsweringThatTimeMoved,
         bug="a round answers that the timer moved, whatever it did",
         history="advanceClock: the return value"),
    _new(name="purgatory-moved-never", rule="KAFKA-P30", core=AnsweringThatNothingMoved,
         bug="a round answers that the timer did not move",
         history="advanceClock: the return value"),
    _new(name="purgatory-horizon", rule="KAFKA-P20", core=HorizonIncluded,
         bug="a request expires a round of the wheel early",
         history="exp <= cur + n u in TimingWheel.add; timer_mutants"),
    _new(name="purgatory-purges-the-pending", rule="KAFKA-P3W", core=PurgingThePending,
         bug="a purge drops pending requests", history="the test of isCompleted left out"),
)

TWINS: Final[dict[str, CoreTwin]] = {twin.name: twin for twin in _TWINS}
"""The twins by name; ``zoo:NAME`` is the target."""
