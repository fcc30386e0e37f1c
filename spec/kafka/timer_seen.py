"""The chapters' timer as its observer sees it.

Theory. ``timer`` has wheels, buckets, clocks and a queue of buckets; ``observed_timer`` sees tasks
that are added, cancelled and run, and may ask for the size and for the numbers of buckets and
wheels. A task runs in the step in which it is placed, if no bucket takes it. Time passes by one
unit, and only when the driver has finished all buckets that are due. While no bucket waits to be
polled, the observer may learn that nothing more runs at this instant. The driver is never late (L =
0).

The observer numbers adds, and has room for T of them: a run ends before the next one.

A driver that flushes one bucket forever shows nothing more, since its time does not advance. An
observer does not wait forever: if a task was inserted more often than there are wheels, which
KAFKA-W9 excludes, time passes, and the observer learns that nothing more runs.

``timer_alignment`` has the clocks of two wheels and nothing else; by them a task that is added is
placed. ``timer_races`` has a clock that may be set back; the observer's own clock is another one.

Source: ``timer``, ``timer_alignment``, ``timer_mutants``, ``timer_races``, ``observed_timer``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from ..notation.views import Seen, View, see, shown
from ..refinements import refines, refused
from .observed_timer import Law, ObservedTimer
from .timer import Timer
from .timer_alignment import Clocks, ClocksNotRounded, UpperToldTheTime
from .timer_mutants import (
    CancelledStaysLinked, ClockNotMovedAtFlush, CoarseOverflow, EagerOverflow,
    ExpirationKept,
    ExpiredOneTickEarly, ExpiredOnlyBeforeClock, NotOfferedAgain, OfferedAlways,
    OverflowFromZero, OverflowNotAdvanced, RunWithoutCascade, SlotFromClock, TwoOverflows,
)
from .timer_races import Clock, WallClock

__all__ = ["AlignmentSeen", "ClockSeen", "EXPECTATIONS", "TimerSeen"]


class TimerSeen(View[Timer]):
    """Calls and runs of tasks, by Kafka's law."""

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
        """The run of the task, if it was given to the executor."""
        has_run = after.runs[task] > before.runs[task]
        return see("ran", task=task, at=before.now, law=Law.TICK) if has_run else None

    @shown
    def elapse(self, before: Timer, after: Timer) -> Seen:
        return see("elapse", until=after.now)

    def asked(self, machine: Timer) -> Iterable[Seen | Sequence[Seen]]:
        """The timer's reports between two calls; and an end of an endless flush."""
        if machine.is_idle():
            if not self.is_due(machine):
                yield see("rest", law=Law.TICK)
            yield see("sized", count=machine.size)
            yield see("queued", buckets=sum(machine.queued), wheels=machine.wheels)
        if any(insertions > machine.wheels for insertions in machine.insertions):
            yield see("elapse", until=machine.H), see("rest", law=Law.TICK)

    @staticmethod
    def is_due(machine: Timer) -> bool:
        """True if a bucket waits to be polled."""
        return any(machine.queued[bucket] and machine.expiration[bucket] <= machine.now
                   for bucket in range(machine.M * machine.n))


class ClockSeen(View[Clock]):
    """A timer with one task, and real time."""

    def begins(self, machine: Clock) -> Iterable[Seen]:
        """The task is added first."""
        yield see("add", task=0, delay=machine.D, law=Law.TICK)

    @shown
    def elapse(self, before: Clock, after: Clock) -> Seen:
        return see("elapse", until=after.waited)

    @shown
    def expire(self, before: Clock, after: Clock) -> Seen:
        return see("ran", task=0, at=before.waited, law=Law.TICK)

    def asked(self, machine: Clock) -> Iterable[Seen]:
        """Nothing runs, according to the timer's clock."""
        if not (machine.pending and machine.is_due()):
            yield see("rest", law=Law.TICK)


class AlignmentSeen(View[Clocks]):
    """Two wheels, and a task that is added at any time, and placed according to their clocks."""

    @shown
    def elapse(self, before: Clocks, after: Clocks) -> Seen:
        return see("elapse", until=after.now)

    def asked(self, machine: Clocks) -> Iterable[Sequence[Seen]]:
        """The task is added: it runs at once if it is expired, and otherwise when its bucket
        expires.
        """
        lower, upper, deadline = machine.lower, machine.upper, machine.deadline
        if deadline < machine.now:
            return
        add = see("add", task=0, delay=deadline - machine.now, law=Law.TICK)
        is_held = deadline < lower + machine.t
        if deadline < (lower + machine.u if is_held else upper + machine.t):
            yield add, see("ran", task=0, at=machine.now, law=Law.TICK)
        elif deadline - deadline % (machine.u if is_held else machine.t) > machine.now:
            yield add, see("rest", law=Law.TICK)


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
ALIGNED = refines(Clocks, ObservedTimer, "two wheels place a task by its tick",
                  shows=AlignmentSeen, seen_by={"u": "u", "K": 1, "D": "H", "H": "H + 1", "T": 1},
                  room=ROOM, u=2, t=4, H=8)
CLOCKED = refines(Clock, ObservedTimer, "a request does not wait longer than its "
                  "timeout", shows=ClockSeen,
                  seen_by={"K": 1, "D": "D", "H": "D + 1", "T": 1}, D=3, B=2)

EXPECTATIONS = (
    SEEN, CASCADING, TICKING, CLOCKED, ALIGNED,
    replace(SEEN, machine=ExpirationKept, about="a kept expiration is invisible"),
    *(refused(variant, rule, about, like=SEEN) for variant, rule, about in (
        (ExpiredOneTickEarly, "KAFKA-W22", "exp <= cur + u: early"),
        (RunWithoutCascade, "KAFKA-W22", "no cascade: early by up to a coarse tick"),
        (CoarseOverflow, "KAFKA-W22", "an overflow tick that is too coarse: early"),
        (CancelledStaysLinked, "KAFKA-W1C", "a cancelled task runs (KAFKA-2226)"),
        (ClockNotMovedAtFlush, "KAFKA-W23", "flushed into the same bucket forever"),
        (ExpiredOnlyBeforeClock, "KAFKA-W23", "exp < cur: flushed forever"),
    )),
    *(refused(variant, rule, about, like=CASCADING) for variant, rule, about in (
        (OverflowNotAdvanced, "KAFKA-W23", "the overflow's clock does not advance"),
        (NotOfferedAgain, "KAFKA-W23", "a bucket is offered only once"),
    )),
    refused(TwoOverflows, "KAFKA-W30", "a wheel above one that is needed", like=SEEN, M=3, D=2),
    refused(EagerOverflow, "KAFKA-W30", "a wheel is made that no delay reaches", like=SEEN, D=1),
    refused(ClocksNotRounded, "KAFKA-W22", "clocks that are the time itself: early", like=ALIGNED),
    refused(UpperToldTheTime, "KAFKA-W22", "an upper clock that is ahead: early", like=ALIGNED,
            H=12),
    refused(WallClock, "KAFKA-W23", "a clock that is set back lets a task wait (KAFKA-4051)",
            like=CLOCKED),
    refused(OverflowFromZero, "KAFKA-W23", "an overflow wheel starts at 0", like=CASCADING, S=3),
    refused(SlotFromClock, "KAFKA-W23", "two ticks in one bucket", like=CASCADING,
            seen_by={"T": 3}, K=2, M=2, H=3, D=2),
    refused(OfferedAlways, "KAFKA-W29", "a bucket is in the queue twice", like=CASCADING,
            seen_by={"T": 4}, n=3, M=1, H=2, D=2),
)
