"""Purgatories that go wrong when a callback raises, or in a round of the reaper.

They are twins of ``kafka_purgatory``, which has the table.
"""

from __future__ import annotations

from collections.abc import Hashable

from ....reference.kafka.purgatory import PURGE_INTERVAL, Purgatory
from ....reference.kafka.timer import Timer
from ....reference.kafka.watcher_lists import Watchers
from ..kafka_timer.twins import HorizonIncluded as LongWheel
from ..kafka_timer.twins import timer_of
from .adapter import ReportingOperation

__all__ = [
    "AnsweringThatNothingMoved", "AnsweringThatTimeMoved", "CancellingLast",
    "CompletingAgainAfterAnError", "EndingAtTheFirstError", "HorizonIncluded", "SkippingThePurge",
    "SwallowingErrors", "TimeoutsEndingAtAnError",
]

LongWheelTimer = timer_of(LongWheel)



class EndingAtTheFirstError(Purgatory):
    """An event ends at the first request that raises, as in Kafka itself."""

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


class TimeoutsEndingAtAnError(Purgatory):
    """A timeout that raises keeps the others that are due from theirs, until the next round."""

    def __init__(self, purge_interval: int = PURGE_INTERVAL) -> None:
        super().__init__(purge_interval, timer=_StoppingTimer())


class SwallowingErrors(Purgatory):
    """What a callback raises in an event is lost."""

    def _try_watched(self, key: Hashable, watchers: Watchers) -> int:
        try:
            return super()._try_watched(key, watchers)
        except Exception:       # noqa: BLE001  the bug
            return 0


class SkippingThePurge(Purgatory):
    """A round in which a callback raises does not purge."""

    def advance(self, now: int) -> bool:
        self._tell_time(now)
        moved = self.timer.advance(now)
        if self._estimate - self.timer.size > self.purge_interval:
            self.purge()
        return moved


class CancellingLast(ReportingOperation):
    """The timer entry is cancelled after ``on_complete``, which may raise."""

    def force_complete(self) -> bool:
        if self.completed:
            return False
        self.completed = True
        self.on_complete()
        self.cancel()
        return True


class CompletingAgainAfterAnError(ReportingOperation):
    """It counts as completed when ``on_complete`` has returned."""

    def force_complete(self) -> bool:
        if self.completed:
            return False
        self.on_complete()
        self.completed = True
        self.cancel()
        return True


class AnsweringThatTimeMoved(Purgatory):
    """A round answers that the timer moved, whatever it did."""

    def advance(self, now: int) -> bool:
        super().advance(now)
        return True


class AnsweringThatNothingMoved(Purgatory):
    """The timer's answer is dropped."""

    def advance(self, now: int) -> bool:
        super().advance(now)
        return False


class HorizonIncluded(Purgatory):
    """On wheels with exp <= cur + n u."""

    def __init__(self, purge_interval: int = PURGE_INTERVAL) -> None:
        super().__init__(purge_interval, timer=LongWheelTimer())
