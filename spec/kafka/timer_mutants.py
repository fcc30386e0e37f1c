"""The timer with one wrong line each: the purpose of every line.

Theory of operation
-------------------
Each machine is ``timer``'s with one thing changed, as a hasty implementation would have it. Nine of
them violate a rule, most of them the firing law, and the shortest counterexample shows the purpose
of the line. A mutant violates its rule for the same reason in any implementation, so the list is
also a list of twins that a suite has to tell from the real timer.

Some changes are *equivalent* as far as tasks can see: KAFKA-W1 to KAFKA-W5 hold of them.

- A bucket that keeps its old expiration when it is flushed: it is used next for another tick, so
  the expiration changes anyway, and the bucket is offered.
- A bucket that is offered for every task: it is in the queue several times, and is found empty the
  second time. KAFKA-W6 is violated: the queue is no longer capped by the number of buckets.
  (The machine's queue always finds the bucket that expires first. A binary heap would not, where
  a bucket's expiration changes while it is still queued; only KAFKA-W6 keeps that from happening.)
- A horizon that includes cur + n u: that tick's bucket is the one of the present tick, which is
  not in use. With two wheels only KAFKA-W5H is violated, that n - 1 buckets are in use. With three
  it
  is **not** equivalent, although it passes for it in simulations: when buckets of two wheels
  expire together, and the upper one is polled first, a cascaded task for cur + n u takes over
  the lowest wheel's bucket while tasks that are due now are still in it. These are then late by
  n u. Only a queue that gives the lowest wheel's bucket first would hide it.

An endless flush is a loop of two steps here; KAFKA-W9 is the rule that detects it.

Source: kafka#mutants; TimingWheel, TimerTaskList and SystemTimer of Kafka 3.9.
"""

from __future__ import annotations

from typing import Any

from ..expectations import expect
from ..notation import action, require, upto
from .timer import Phase, Timer

__all__ = [
    "EXPECTATIONS", "CancelledStaysLinked", "ClockNotMovedAtFlush", "ClockNotRounded",
    "CoarseOverflow", "EagerOverflow", "ExpiredOneTickEarly", "ExpiredOnlyBeforeClock",
    "ExpirationKept", "HorizonIncluded", "NotOfferedAgain", "OfferedAlways", "OverflowFromZero",
    "OverflowNotAdvanced", "RunWithoutCascade", "SlotFromClock",
]


class ClockNotMovedAtFlush(Timer):
    """A flush without advanceClock: the tasks return to the bucket that is being flushed."""

    def advance(self, time: int) -> None:
        """The clock does not advance."""


class ExpiredOneTickEarly(Timer):
    """exp <= cur + u: a task that is due with the next tick runs now."""

    def is_expired(self, level: int, deadline: int) -> bool:
        """A task that is due with the next tick counts as expired."""
        return deadline <= self.clock[level] + self.tick(level)


class ExpiredOnlyBeforeClock(Timer):
    """exp < cur: a task that is due in the present tick goes to the bucket that was just flushed.
    """

    def is_expired(self, level: int, deadline: int) -> bool:
        """The test is one tick too low."""
        return deadline < self.clock[level]


class OverflowNotAdvanced(Timer):
    """The clock advances in the lowest wheel only."""

    def advance(self, time: int) -> None:
        """The clocks of overflow wheels do not advance."""
        if time >= self.clock[0] + self.u:
            self.clock[0] = self.rounded(time, 0)


class OverflowFromZero(Timer):
    """An overflow wheel's clock starts at 0, not at its child's."""

    def start_of_overflow(self, level: int) -> int:
        """The start of a timer that was just created."""
        return 0


class ClockNotRounded(Timer):
    """The clock is the time itself: ticks do not begin at multiples of u."""

    def start_of_overflow(self, level: int) -> int:
        """Not rounded to the overflow wheel's ticks."""
        return self.clock[level]

    def advance(self, time: int) -> None:
        """Advance the clocks without rounding."""
        moves = True
        for level in range(self.M):
            moves = moves and level < self.wheels and (
                time >= self.clock[level] + self.tick(level))
            if moves:
                self.clock[level] = time


class NotOfferedAgain(Timer):
    """A bucket is offered when it is used first, and not when it is used for another tick."""

    def is_new(self, bucket: int, expiration: int) -> bool:
        """Only a bucket that never had an expiration is new."""
        return self.expiration[bucket] == -1

    def release(self) -> None:
        """The bucket keeps its old expiration."""


class RunWithoutCascade(Timer):
    """When an overflow bucket expires, its tasks run; they are not inserted again."""

    @action(fair=True, task=upto(Timer.K))
    def take_out(self, task: int) -> None:
        """Unlink the task, and give it to the executor."""
        require(self.held == self.K and self.flushed < self.M * self.n)
        require(self.bucket[task] == self.flushed)
        self.unlink(task)
        self.run(task)


class SlotFromClock(Timer):
    """A bucket is chosen by the distance from the clock, which moves, not by the tick."""

    def slot(self, level: int, number: int) -> int:
        """The bucket's number counts from the clock, not from 0."""
        return (number - self.clock[level] // self.tick(level)) % self.n


class CoarseOverflow(Timer):
    """Overflow wheels with ticks of u n n, u n n n n, …: whole intervals are skipped."""

    def tick(self, level: int) -> int:
        """Larger by n for each level."""
        found = self.u
        for _ in range(level):
            found = found * self.n * self.n
        return found


class CancelledStaysLinked(Timer):
    """cancel() only marks the task; the mark is never tested (KAFKA-2226)."""

    @action(task=upto(Timer.K))
    def cancel(self, task: int) -> None:
        """The entry stays in its bucket."""
        require(self.is_idle() and self.phase[task] == Phase.PENDING)
        self.phase[task] = Phase.CANCELLED


# --- equivalent as far as tasks can see ------------------------------------------------------

class ExpirationKept(Timer):
    """A flushed bucket keeps its old expiration."""

    def release(self) -> None:
        """The expiration is not set to -1."""


class HorizonIncluded(Timer):
    """exp <= cur + interval: the idle slot of the present tick is used for the tick n later."""

    def is_covered(self, level: int, deadline: int) -> bool:
        """The end of the interval is included."""
        return deadline <= self.clock[level] + self.tick(level) * self.n


class EagerOverflow(Timer):
    """A wheel makes the one above it as soon as it holds a task."""

    def link(self, task: int, level: int) -> None:
        """Make the wheel above even if no task has to go there."""
        super().link(task, level)
        self.make_overflow(level)


class TwoOverflows(Timer):
    """Where a wheel is needed, the one above it is made as well."""

    def link(self, task: int, level: int) -> None:
        """A task in an overflow wheel makes one more."""
        super().link(task, level)
        if level > 0:
            self.make_overflow(level)


class OfferedAlways(Timer):
    """A bucket is offered for every task that it gets."""

    def is_new(self, bucket: int, expiration: int) -> bool:
        """Any expiration counts as new."""
        return True


FINE: dict[str, Any] = {"u": 1, "n": 2, "M": 3, "H": 7, "D": 7}
COARSE: dict[str, Any] = {"u": 2, "n": 2, "M": 3, "H": 11, "D": 11}
VISIBLE = ("KAFKA-W1", "KAFKA-W1C", "KAFKA-W1T", "KAFKA-W2", "KAFKA-W3", "KAFKA-W4", "KAFKA-W5")

EXPECTATIONS = (
    expect(ClockNotMovedAtFlush, "KAFKA-W9", "violated", "flushed into the same bucket forever",
           **FINE),
    expect(ExpiredOneTickEarly, "KAFKA-W3", "violated", "exp <= cur + u: early", **FINE),
    expect(ExpiredOnlyBeforeClock, "KAFKA-W9", "violated",
           "exp < cur: into the bucket that is being flushed, forever", **FINE),
    expect(OverflowNotAdvanced, "KAFKA-W4", "violated", "the overflow's clock does not advance",
           **FINE),
    expect(OverflowFromZero, "KAFKA-W4", "violated", "overflow started at 0", **FINE, S=5),
    expect(ClockNotRounded, "KAFKA-W4", "violated", "clock not rounded", **COARSE),
    expect(NotOfferedAgain, "KAFKA-W6Q", "violated", "not offered again: out of the queue",
           **FINE),
    expect(NotOfferedAgain, "KAFKA-W1T", "violated",
           "the task of a bucket that is not offered again never runs", **FINE),
    expect(RunWithoutCascade, "KAFKA-W3", "violated", "no cascade: early by up to a coarse tick",
           **FINE),
    expect(SlotFromClock, "KAFKA-W5", "violated", "two ticks in one bucket", **FINE),
    expect(SlotFromClock, "KAFKA-W3", "violated",
           "one of the tasks in a bucket with two ticks runs at the wrong time",
           **FINE),
    expect(CoarseOverflow, "KAFKA-W3", "violated", "an overflow tick that is too coarse: early",
           **FINE),
    expect(CancelledStaysLinked, "KAFKA-W1C", "violated", "runs although it was cancelled "
           "(KAFKA-2226)",
           **FINE),
    *(expect(mutant, rule, "holds", "equivalent as far as tasks can see", **FINE)
      for mutant in (ExpirationKept, OfferedAlways) for rule in VISIBLE),
    expect(ExpirationKept, "KAFKA-W5R", "holds",
           "a bucket that keeps its expiration is empty when it is used again", **FINE),
    expect(ExpirationKept, "KAFKA-W6", "holds",
           "a bucket that keeps its expiration is still queued once", **FINE),
    expect(OfferedAlways, "KAFKA-W6", "violated",
           "a bucket that is always offered is in the queue twice", **FINE),
    *(expect(HorizonIncluded, rule, "holds", "two wheels: equivalent as far as tasks can see",
             u=1, n=3, M=2, H=8, D=8) for rule in VISIBLE),
    expect(HorizonIncluded, "KAFKA-W5H", "violated",
           "<= at the horizon uses the n-th bucket",
           u=1, n=3, M=2, H=8, D=8),
    expect(HorizonIncluded, "KAFKA-W3", "violated",
           "three wheels: a cascade takes over a bucket that is due, and its task is late",
           **FINE),
    expect(ExpiredOnlyBeforeClock, "KAFKA-W5H", "violated", "put into the present bucket",
           **FINE),
    expect(TwoOverflows, "KAFKA-W8", "violated", "a wheel above one that is needed", u=1, n=2, M=3,
           K=1, H=3, D=2),
    expect(EagerOverflow, "KAFKA-W8", "violated", "a wheel is made that no delay reaches", u=1, n=2,
           M=2, H=3, D=1),
    expect(NotOfferedAgain, "KAFKA-W5R", "violated",
           "a bucket is used again, though the task is in it that nobody polled",
           **FINE),
)
