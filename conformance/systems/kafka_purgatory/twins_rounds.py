"""Purgatories with a bug that shows when a callback raises, or in a round of the reaper.

``twins`` has the others.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, Final

from ....reference.kafka.purgatory import PURGE_INTERVAL, Purgatory
from ....reference.kafka.timer import Timer
from ....reference.kafka.watcher_lists import Watchers
from ...suites.twin import Twins
from ..timer.twins import EndOfIntervalIncluded as LongWheel
from ..timer.twins import timer_of
from .adapter import ReferencePurgatory, ReportingOperation

__all__ = ["ROUNDS", "parts_of"]


def parts_of(bug: type[Any]) -> Mapping[str, type[Any]]:
    """The part that a class replaces: the reference's core, or the requests on it."""
    return {"operation" if issubclass(bug, ReportingOperation) else "core": bug}


ROUNDS: Final = Twins("kafka.purgatory", ReferencePurgatory, ("reference.purgatory",), parts_of)
"""Twins of this module; ``twins`` includes them."""

LongWheelTimer = timer_of(LongWheel)


@ROUNDS.twin(
    "purgatory-event-ends-at-error", "KAFKA-P28", "an event stops at the first request that raises",
    "tryCompleteWatched of Kafka 0.9 to 3.9; KAFKA-17240 fixes a similar bug")
class EndingAtTheFirstError(Purgatory):
    """An event stops at the first request that raises, as in Kafka itself."""

    def _try_watched(self, key: Hashable, watchers: Watchers) -> int:
        count = 0
        for operation in tuple(watchers):
            if not operation.completed and operation.safe_try_complete():
                count += 1
            if operation.completed:
                watchers.pop(operation, None)
        if not watchers:
            self.lists.remove_if_empty(key, watchers)
        return count


class _StoppingTimer(Timer):
    """Tasks after one that raises wait for the next call."""

    def _run_ready(self) -> None:
        while self._ready:
            self._ready.popleft().run()


@ROUNDS.twin(
    "purgatory-round-ends-at-error", "KAFKA-P27", "a timeout that raises delays others",
    "timeouts run in the reaper's own thread, not in an executor")
class TimeoutsEndingAtAnError(Purgatory):
    """A timeout that raises delays the others that are due until the next round."""

    def __init__(self, purge_interval: int = PURGE_INTERVAL) -> None:
        super().__init__(purge_interval, timer=_StoppingTimer())


@ROUNDS.twin(
    "purgatory-swallows-errors", "KAFKA-P29", "an exception that a callback raises in an event is "
                                              "lost",
    "catch (Throwable ignored)")
class SwallowingErrors(Purgatory):
    """An exception that a callback raises in an event is lost."""

    def _try_watched(self, key: Hashable, watchers: Watchers) -> int:
        try:
            return super()._try_watched(key, watchers)
        except Exception:       # noqa: BLE001  the bug
            return 0


@ROUNDS.twin(
    "purgatory-error-skips-purge", "KAFKA-P25",
    "a round in which a callback raises does not purge", "the purge comes after the timeouts, not "
                                                         "in a finally")
class SkippingThePurge(Purgatory):
    """A round in which a callback raises does not purge."""

    def advance(self, now: int) -> bool:
        self._tell_time(now)
        moved = self.timer.advance(now)
        if self._estimate - self.timer.size > self.purge_interval:
            self.purge()
        return moved


@ROUNDS.twin(
    "purgatory-error-stays-in-timer", "KAFKA-P4",
    "a request whose completion raises stays in the timer", "cancel() after onComplete()")
class CancellingLast(ReportingOperation):
    """The timer entry is cancelled after ``on_complete``, which may raise."""

    def force_complete(self) -> bool:
        if self.completed:
            return False
        self.completed = True
        self.on_complete()
        self.cancel()
        return True


@ROUNDS.twin(
    "purgatory-error-completes-again", "KAFKA-P1",
    "a request whose completion raises is completed again", "completed set after onComplete()")
class CompletingAgainAfterAnError(ReportingOperation):
    """The request counts as completed only after ``on_complete`` has returned."""

    def force_complete(self) -> bool:
        if self.completed:
            return False
        self.on_complete()
        self.completed = True
        self.cancel()
        return True


@ROUNDS.twin(
    "purgatory-moved-always", "KAFKA-P30", "a round always returns that something was due",
    "advanceClock: the return value")
class AnsweringThatTimeMoved(Purgatory):
    """A round returns true even if nothing was due."""

    def advance(self, now: int) -> bool:
        super().advance(now)
        return True


@ROUNDS.twin(
    "purgatory-moved-never", "KAFKA-P30", "a round always returns that nothing was due",
    "advanceClock: the return value")
class AnsweringThatNothingMoved(Purgatory):
    """The timer's answer is dropped."""

    def advance(self, now: int) -> bool:
        super().advance(now)
        return False


@ROUNDS.twin(
    "purgatory-horizon", "KAFKA-P20", "a request expires a round of the wheel early",
    "exp <= cur + n u in TimingWheel.add; timer_mutants")
class ExpiringARoundEarly(Purgatory):
    """On wheels with exp <= cur + n u."""

    def __init__(self, purge_interval: int = PURGE_INTERVAL) -> None:
        super().__init__(purge_interval, timer=LongWheelTimer())
