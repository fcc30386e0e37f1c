"""Timers that lose or change delays at the limits of numbers, or when many tasks are pending."""

from __future__ import annotations

from typing import Final

from ....reference.kafka.timer import Timer
from ....reference.kafka.timing_wheel import TimerTask
from ...suites.twin import Twins
from .timers import ReferenceTimer, SchedTimer

__all__ = ["ENDS"]

ENDS: Final = Twins("timer", ReferenceTimer, ("reference.timer",))
"""Twins of this module; ``twins`` includes them."""


class _Delays(Timer):
    """A timer that changes some delays; a delay of None means never."""

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
        """The delay that is used instead."""
        raise NotImplementedError


@ENDS.twin(
    "timer-loses-long-delays", "KAFKA-W23", "a delay of more than 20 s never ends",
    "a wheel without overflow, with as many buckets as tests had needed")
class LosesLongDelays(_Delays):
    """A long delay falls off the wheel."""

    def delay_of(self, wanted: int) -> int | None:
        return None if wanted > 20_000 else wanted


@ENDS.twin(
    "timer-wraps-at-16-bits", "KAFKA-W22", "a delay is kept in 16 bits",
    "a delay in milliseconds in a field that was made for one in seconds")
class WrapsAt16Bits(_Delays):
    """A delay of 65,537 ms becomes 1 ms."""

    def delay_of(self, wanted: int) -> int | None:
        return wanted % 2**16


@ENDS.twin(
    "timer-wraps-at-31-bits", "KAFKA-W22", "a delay beyond 2^31 ms becomes 1 ms",
    "setTimeout of browsers and of Node.js, which turns 25 days into 1 ms")
class WrapsAt31Bits(_Delays):
    """A delay of 25 days ends at once."""

    def delay_of(self, wanted: int) -> int | None:
        return wanted if wanted < 2**31 else 1


@ENDS.twin(
    "timer-wraps-at-32-bits", "KAFKA-W22", "of a delay the last 32 bits count",
    "milliseconds in a DWORD, which Windows' SetTimer takes: 49.7 days are no time at all",
    in_long=True)
class WrapsAt32Bits(_Delays):
    """A delay of 2^32 ms ends at once."""

    def delay_of(self, wanted: int) -> int | None:
        return wanted % 2**32


@ENDS.twin(
    "timer-counts-nanoseconds", "KAFKA-W22", "a delay of more than 292 years ends at once",
    "System.nanoTime() + delay of Java in 64 bits, which becomes a time long past", in_long=True)
class CountsNanoseconds(_Delays):
    """A delay that 64 bits do not hold in nanoseconds is below 0."""

    def delay_of(self, wanted: int) -> int | None:
        return wanted if wanted * 10**6 < 2**63 else 0


@ENDS.twin(
    "timer-loses-delays-of-nought", "KAFKA-W23", "a task whose delay is 0 never runs",
    "`if delay` where `if delay is not None` was meant")
class LosesDelaysOfNought(_Delays):
    """A delay of 0 counts as no delay."""

    def delay_of(self, wanted: int) -> int | None:
        return wanted or None


@ENDS.twin(
    "timer-loses-every-hundredth", "KAFKA-W23", "every hundredth task that is added never runs",
    "a buffer of a hundred places whose last one is overwritten before it is read", in_long=True)
class LosesEveryHundredth(_Delays):
    """Every hundredth added task is lost."""

    _added = 0

    def delay_of(self, wanted: int) -> int | None:
        self._added += 1
        return None if self._added % 100 == 0 else wanted


@ENDS.twin(
    "timer-has-sixteen-places", "KAFKA-W2", "a task that is added when sixteen are pending never "
    "runs", "a table of fixed size whose overflow is not tested", in_long=True)
class HasSixteenPlaces(_Delays):
    """The seventeenth task finds no place."""

    def delay_of(self, wanted: int) -> int | None:
        return None if self.size >= 16 else wanted


class _ByDeadline(SchedTimer):
    """A timer that keeps one task for each deadline."""

    def schedule(self, task: int, delay: int) -> None:
        for other, event in list(self._events.items()):
            if event.time == self.now + delay:
                self.unschedule(other)
        super().schedule(task, delay)


ENDS.add(
    "timer-keeps-one-for-each-deadline", "KAFKA-W25",
    "a task replaces another one with the same deadline",
    "a sorted map from deadlines to tasks", parts={}, of=_ByDeadline,
    originals=("sched",))
