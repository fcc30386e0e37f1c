"""Literal readings of the text about the timer, and expectations that it raises.

Theory of operation
-------------------
The machine is that of ``timer`` with other rules. Each rule is a sentence of the text, and each is
expected to be violated: the counterexample shows what the sentence leaves out. Variants show that
the sentences make sense: they are true of other timers.

Where the text contradicts itself, the rule is what the text says first. At the beginning, it says,
the first bucket holds tasks for [0, u); two sentences later, that the timer never inserts a task
into the bucket of the current time and runs it at once. The second is true (KAFKA-W5H), from the
beginning, and the first bucket stays empty until it is used for the tick n.

Two statements need no rule here. Each insertion does cost O(m), and the text itself says that a
task is inserted again when wheels cascade (KAFKA-W9). That few buckets of the lowest wheel are ever
in the queue depends on the load, and is measured.

Source: "Apache Kafka, Purgatory, and Hierarchical Timing Wheels"; 002#WE1 and what follows it.
"""

from __future__ import annotations

from typing import Any

from ..expectations import expect
from ..notation import CLAIM, action, always, require, step, upto
from .timer import DRIVING, WHEEL, Phase, Timer

__all__ = [
    "EXPECTATIONS", "DequeuingEmptyBuckets", "FillingTheFirstBucket", "TimerByTheText",
]


class TimerByTheText(Timer):
    """The same timer, judged by the text's sentences and the expectations that they raise."""

    @always("KAFKA-WE1", CLAIM,
            "The timer ticks in every interval of its tick u: its clock is never u or more "
            "behind the time.",
            source=f"{WHEEL}; 002#WE1: the clock moves only when a bucket expires")
    def clock_keeps_up(self) -> bool:
        """The clock is never a tick behind the time."""
        return self.now < self.clock[0] + self.u

    @always("KAFKA-WE2", CLAIM,
            "During the timer's first tick, every task that runs was in a bucket before: the "
            "first bucket holds tasks for [0, u).",
            source=f"{WHEEL}; 002#WE2: what is in the present tick runs at once",
            task=upto(Timer.K))
    def first_tick_has_a_bucket(self, task: int) -> bool:
        """During the first tick, every task that ran was in a bucket before."""
        beginning = self.now < self.S - self.S % self.u + self.u
        return not beginning or self.runs[task] == 0 or self.insertions[task] > 0

    @step("KAFKA-WE3", CLAIM,
          "An added task goes to an overflow wheel only if its deadline is at least n * u after "
          "the current time, for n buckets with a tick of u.",
          source=f"{WHEEL}; 002#WE3: the test is against the stale, aligned clock",
          task=upto(Timer.K))
    def overflow_is_beyond_now(self, after: TimerByTheText, task: int) -> bool:
        """A task just added within that interval is in the lowest wheel."""
        return (self.held != task or self.insertions[task] > 0
                or self.deadline[task] >= self.now + self.n * self.u
                or after.bucket[task] < self.n or after.bucket[task] == self.M * self.n)

    @step("KAFKA-WE4", CLAIM,
          "A request does not time out before the time specified for it, its deadline.",
          source="002#old; 002#WE4, kafka#W3: early by up to u - 1",
          task=upto(Timer.K))
    def nothing_runs_early(self, after: TimerByTheText, task: int) -> bool:
        """No task runs before its deadline."""
        return (self.phase[task] != Phase.PENDING or after.phase[task] != Phase.RAN
                or self.now >= self.deadline[task])

    @step("KAFKA-WE6", CLAIM,
          "The thread that drives the timer wakes up only for a bucket that holds a task.",
          source=f"{DRIVING}; 002#summary ('many of the buckets become empty'); 002#WE6, kafka#W7: "
                 "an emptied bucket stays queued, and wakes the thread")
    def only_filled_buckets_wake(self, after: TimerByTheText) -> bool:
        """A bucket that is taken from the queue holds a task."""
        wakes = self.flushed == self.M * self.n and after.flushed < self.M * self.n
        return not wakes or any(
            after.bucket[task] == after.flushed for task in range(self.K))

    @step("KAFKA-WE7", CLAIM,
          "An overflow wheel is made only if its tick is at most the longest delay.",
          source=f"{WHEEL} ('If a timer request is out of this interval'); 002#WE7, kafka#W8: "
                 "a stale clock can push a task without any delay into an overflow wheel")
    def delay_decides_wheels(self, after: TimerByTheText) -> bool:
        """KAFKA-W8 without the staleness."""
        return all(
            after.wheels <= level or self.wheels > level or self.tick(level) <= self.D
            for level in range(1, self.M)
        )


class FillingTheFirstBucket(TimerByTheText):
    """A task that is due in the first tick is put into its bucket, as long as the clock has not
    advanced: the reading of the text's first sentence. The driver finds it at once.
    """

    def is_expired(self, level: int, deadline: int) -> bool:
        """True only before the present tick, while the clock is at its start."""
        start = self.S - self.S % self.u
        if level == 0 and self.clock[0] == start and self.flushed == self.M * self.n:
            return deadline < self.clock[0]
        return deadline < self.clock[level] + self.tick(level)


class DequeuingEmptyBuckets(TimerByTheText):
    """A cancel that takes the last task out of a bucket takes the bucket out of the queue: O(n) in
    Java's DelayQueue, so Kafka does not do it.
    """

    @action(task=upto(Timer.K))
    def cancel(self, task: int) -> None:
        """The bucket leaves the queue with its last task."""
        require(self.is_idle() and self.phase[task] == Phase.PENDING)
        self.phase[task] = Phase.CANCELLED
        for bucket in range(self.M * self.n):
            if self.bucket[task] == bucket and all(
                    other == task or self.bucket[other] != bucket for other in range(self.K)):
                self.queued[bucket] = 0
                self.expiration[bucket] = -1
        self.unlink(task)
        self.deadline[task] = 0
        self.due[task] = 0
        self.driving = self.driving and any(
            self.queued[bucket] > 0 and self.expiration[bucket] <= self.now
            for bucket in range(self.M * self.n)
        )


SMALL: dict[str, Any] = {"u": 2, "n": 2, "M": 2, "H": 6, "D": 6}

EXPECTATIONS = (
    expect(TimerByTheText, "KAFKA-WE1", "violated", "no thread ticks: the clock is stale", **SMALL),
    expect(TimerByTheText, "KAFKA-WE2", "violated", "the first bucket gets no task", **SMALL),
    expect(FillingTheFirstBucket, "KAFKA-WE2", "holds", "a timer that puts the first tick's tasks "
           "into a bucket",
           **SMALL),
    expect(TimerByTheText, "KAFKA-WE3", "violated", "the horizon is that of a stale clock",
           **SMALL),
    expect(TimerByTheText, "KAFKA-WE4", "violated", "early by up to u - 1", where="u > 1",
           u=(1, 2), n=2, M=3, H=6, D=6),
    expect(TimerByTheText, "KAFKA-WE6", "violated", "an emptied bucket wakes the thread",
           **SMALL),
    expect(DequeuingEmptyBuckets, "KAFKA-WE6", "holds",
           "a cancel that removes its bucket leaves only wake-ups with tasks", **SMALL),
    expect(DequeuingEmptyBuckets, "KAFKA-W3", "holds",
           "all tasks run as before if a cancel removes its bucket", **SMALL),
    expect(TimerByTheText, "KAFKA-WE7", "violated",
           "a task without delay goes to an overflow wheel", u=1, n=2, M=3, H=7, D=0),
)

UNSEEN = {
    "KAFKA-WE1":
        "The text says it of a ticking timer, and it is false of Kafka's, which sleeps, so no "
        "implementation has to satisfy it.",
    "KAFKA-WE2":
        "It is false of every timer that runs tasks of the present tick at once, so no "
        "implementation has to satisfy it; that the first bucket stays empty is invisible from "
        "outside.",
    "KAFKA-WE3": "It is false if the clock is stale, so no implementation has to satisfy it.",
    "KAFKA-WE4":
        "It is false for a tick of more than 1 ms, so no implementation has to satisfy it; "
        "KAFKA-W22 says when a task runs.",
    "KAFKA-WE6":
        "It is false of a bucket of cancelled tasks, so no implementation has to satisfy "
        "it.",
    "KAFKA-WE7":
        "It is false if the clock is stale, so no implementation has to satisfy it; KAFKA-W30 "
        "holds instead.",
}
