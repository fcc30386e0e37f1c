"""Timers that lose or change delays at the ends of numbers, or when many tasks are pending."""

from __future__ import annotations

from typing import Final

from ....reference.kafka.timer import Timer
from ....reference.kafka.timing_wheel import TimerTask
from ...suites.twin import Twins
from .timers import ReferenceTimer, SchedTimer

__all__ = ["ENDS"]

ENDS: Final = Twins("timer", ReferenceTimer, ("reference.timer",))
"""These twins, which ``twins`` has too."""


class _Delays(Timer):
    """Makes another delay of some, or none, which is never."""

    def add(self, task: TimerTask, now: int) -> None:
        wanted = task.delay
        delay = self.delay_of(wanted)
        if delay is None:
            task.cancel()
            return
        task.delay = delay
        super().add(task, now)
        task.delay = wanted

    def delay_of(self, wanted: int) -> int | None:
        """The delay that is kept."""
        raise NotImplementedError


@ENDS.twin(
    "timer-loses-long-delays", "KAFKA-W23", "a delay of more than 20 s is never over",
    "a wheel without overflow, of as many buckets as anybody had tried")
class LosesLongDelays(_Delays):
    """What is far away falls off the wheel."""

    def delay_of(self, wanted: int) -> int | None:
        return None if wanted > 20_000 else wanted


@ENDS.twin(
    "timer-wraps-at-16-bits", "KAFKA-W22", "a delay is kept in 16 bits",
    "a delay in milliseconds in a field that was made for one in seconds")
class WrapsAt16Bits(_Delays):
    """65,537 ms are 1 ms."""

    def delay_of(self, wanted: int) -> int | None:
        return wanted % 2**16


@ENDS.twin(
    "timer-wraps-at-31-bits", "KAFKA-W22", "a delay beyond 2^31 ms is none",
    "setTimeout of browsers and of Node.js, which takes 25 days for 1 ms")
class WrapsAt31Bits(_Delays):
    """25 days are over at once."""

    def delay_of(self, wanted: int) -> int | None:
        return wanted if wanted < 2**31 else 1


@ENDS.twin(
    "timer-loses-delays-of-nought", "KAFKA-W23", "a task whose delay is 0 never runs",
    "`if delay` where `if delay is not None` was meant")
class LosesDelaysOfNought(_Delays):
    """Nought is taken for none."""

    def delay_of(self, wanted: int) -> int | None:
        return wanted or None


@ENDS.twin(
    "timer-loses-every-hundredth", "KAFKA-W23", "every hundredth task that is added never runs",
    "a buffer of a hundred places whose last one is overwritten before it is read")
class LosesEveryHundredth(_Delays):
    """Counts what is added."""

    _added = 0

    def delay_of(self, wanted: int) -> int | None:
        self._added += 1
        return None if self._added % 100 == 0 else wanted


@ENDS.twin(
    "timer-has-sixteen-places", "KAFKA-W2", "a task that is added when sixteen are pending never "
    "runs", "a table of fixed size whose overflow nobody looks at")
class HasSixteenPlaces(_Delays):
    """The seventeenth finds no place."""

    def delay_of(self, wanted: int) -> int | None:
        return None if self.size >= 16 else wanted


class _ByDeadline(SchedTimer):
    """Keeps one task for each deadline."""

    def schedule(self, task: int, delay: int) -> None:
        for other, event in list(self._events.items()):
            if event.time == self.now + delay:
                self.unschedule(other)
        super().schedule(task, delay)


ENDS.add(
    "timer-keeps-one-for-each-deadline", "KAFKA-W25",
    "a task whose deadline is that of another takes its place",
    "a sorted map from deadlines to tasks", parts={}, of=_ByDeadline,
    originals=("sched",))
