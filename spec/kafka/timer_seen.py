"""The timer of the chapters, as its observer sees it.

Theory. ``timer`` has wheels, buckets, clocks and a queue of buckets; ``observed_timer`` sees tasks
that are added, cancelled and run, and may ask for the size and for the numbers of buckets and
wheels. A task runs in the step in which it is placed, if it is placed nowhere. Time passes by one
unit, and only when the driver is through with what is due. As long as no bucket waits to be polled,
the observer may be told that nothing more runs at this instant. The driver is never late (L = 0).

The observer numbers adds, and has room for T of them: a run ends before the next one.

A driver that goes on flushing one bucket for ever shows nothing more, for its time stands still. An
observer does not wait for ever: where a task was inserted more often than there are wheels, which
KAFKA-W9 excludes, time passes, and it is told that nothing more runs.

Source: ``timer``, ``timer_mutants``, ``observed_timer``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from ..notation.views import Seen, View, see, shown
from ..refinements import refines, refused
from .observed_timer import Law, ObservedTimer
from .timer import Timer
from .timer_mutants import (
    CancelledStaysLinked, ClockNotMovedAtFlush, CoarseOverflow, ExpirationKept,
    ExpiredOneTickEarly, ExpiredOnlyBeforeClock, NotOfferedAgain, OfferedAlways,
    OverflowFromZero, OverflowNotAdvanced, RunWithoutCascade, SlotFromClock,
)

__all__ = ["EXPECTATIONS", "TimerSeen"]


class TimerSeen(View[Timer]):
    """Calls, and tasks that run, by Kafka's law."""

    @shown
    def add(self, before: Timer, after: Timer, task: int, delay: int) -> Seen:
        return see("add", task=task, delay=delay, law=Law.TICK)

    @shown
    def cancel(self, before: Timer, after: Timer, task: int) -> Seen:
        return see("cancel", task=task)

    @shown
    def place(self, before: Timer, after: Timer, task: int) -> Seen | None:
        return self.run(before, after, task)

    @shown
    def take_out(self, before: Timer, after: Timer, task: int) -> Seen | None:
        return self.run(before, after, task)

    @staticmethod
    def run(before: Timer, after: Timer, task: int) -> Seen | None:
        """Whether the task was handed to the executor."""
        has_run = after.runs[task] > before.runs[task]
        return see("ran", task=task, at=before.now, law=Law.TICK) if has_run else None

    @shown
    def elapse(self, before: Timer, after: Timer) -> Seen:
        return see("elapse", until=after.now)

    def asked(self, machine: Timer) -> Iterable[Seen | Sequence[Seen]]:
        """What the timer says of itself between two calls; and whether it ever ends."""
        if machine.is_idle():
            if not self.is_due(machine):
                yield see("rest", law=Law.TICK)
            yield see("sized", count=machine.size)
            yield see("queued", buckets=sum(machine.queued), wheels=machine.wheels)
        if any(insertions > machine.wheels for insertions in machine.insertions):
            yield see("elapse", until=machine.H), see("rest", law=Law.TICK)

    @staticmethod
    def is_due(machine: Timer) -> bool:
        """A bucket waits to be polled."""
        return any(machine.queued[bucket] and machine.expiration[bucket] <= machine.now
                   for bucket in range(machine.M * machine.n))


SAME = {name: name for name in ("u", "n", "M", "K", "D", "H", "S")}
ROOM = ("self.added < self.T", "self.now + max(delay, 1) <= self.H")
SMALL: dict[str, Any] = {"u": 1, "n": 2, "M": 2, "K": 2, "H": 3, "D": 3}
LONG: dict[str, Any] = {"u": 1, "n": 2, "M": 3, "K": 1, "H": 7, "D": 7}
COARSE: dict[str, Any] = {"u": 2, "n": 2, "M": 2, "K": 1, "H": 7, "D": 5, "S": 1}

SEEN = refines(Timer, ObservedTimer, "tasks run when the law says", shows=TimerSeen,
               seen_by=SAME | {"T": 2}, room=ROOM, **SMALL)
CASCADING = refines(Timer, ObservedTimer, "tasks of three wheels run when the law says",
                    shows=TimerSeen, seen_by=SAME | {"T": 2}, room=ROOM, **LONG)
TICKING = refines(Timer, ObservedTimer, "tasks run at the beginning of their tick",
                  shows=TimerSeen, seen_by=SAME | {"T": 3}, room=ROOM, **COARSE)

EXPECTATIONS = (
    SEEN, CASCADING, TICKING,
    replace(SEEN, machine=ExpirationKept, about="a kept expiration is not to be seen"),
    *(refused(variant, rule, about, like=SEEN) for variant, rule, about in (
        (ExpiredOneTickEarly, "KAFKA-W22", "exp <= cur + u: early"),
        (RunWithoutCascade, "KAFKA-W22", "no cascade: early by up to a coarse tick"),
        (CoarseOverflow, "KAFKA-W22", "an overflow tick that is too coarse: early"),
        (CancelledStaysLinked, "KAFKA-W1C", "a cancelled task runs (KAFKA-2226)"),
        (ClockNotMovedAtFlush, "KAFKA-W23", "flushed into the same bucket for ever"),
        (ExpiredOnlyBeforeClock, "KAFKA-W23", "exp < cur: flushed for ever"),
    )),
    *(refused(variant, rule, about, like=CASCADING) for variant, rule, about in (
        (OverflowNotAdvanced, "KAFKA-W23", "the overflow's clock stands still"),
        (NotOfferedAgain, "KAFKA-W23", "a bucket is offered once in its life"),
    )),
    refused(OverflowFromZero, "KAFKA-W23", "an overflow wheel starts at 0", like=CASCADING, S=3),
    refused(SlotFromClock, "KAFKA-W23", "two ticks in one bucket", like=CASCADING,
            seen_by={"T": 3}, K=2, M=2, H=3, D=2),
    refused(OfferedAlways, "KAFKA-W29", "a bucket is in the queue twice", like=CASCADING,
            seen_by={"T": 4}, n=3, M=1, H=2, D=2),
)
