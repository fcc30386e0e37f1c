"""Kafka's timer: hierarchical timing wheels with a clock that a queue of buckets drives.

Theory of operation
-------------------
A *wheel* with tick u and n buckets has a clock ``cur``, a multiple of u. A task with deadline d
goes to the bucket of its own tick, number floor(d / u) mod n, and that bucket's expiration is
floor(d / u) * u: the *beginning* of the tick. A task within the present tick, d < cur + u, runs at
once; a task with d >= cur + n u overflows into the next wheel, with the tick n u, the interval of
this one. Overflow wheels are made on demand. When one of their buckets expires, its tasks are
inserted again, further down: the *cascade*.

    level 0   tick u        [ . | d<u | .. ]            cur + u <= d < cur + n u
    level 1   tick n u      [ . |  .  | .. ]   else     cur' + n u <= d < cur' + n n u
    level 2   tick n n u    [ . |  .  | .. ]   else     …

No thread ticks. A bucket that gets its first task is offered to one DelayQueue, and the clock moves
only when a bucket expires, to that bucket's expiration, first in level 0, then upwards. Between two
such moments the clock is *stale*: it may lie far behind the time. That is harmless, since bucket,
horizon and expiry are all decided against the same clock, and because of it an idle timer costs
nothing. Everything depends on one alignment: a wheel's clock is its child's clock rounded down to
its own tick. Then d >= cur + n u, the overflow test, means that d lies in a later tick of the
parent, so the parent never considers a live task expired (``timer_alignment`` proves this for every
u, n and time).

The firing law follows. A task's last bucket is in level 0, and expires at floor(d / u) * u. Hence

    a task runs at  max(time of its add, floor(d / u) * u)

if the driver polls each bucket as it expires; a driver that polls up to L late makes it up to L
later, and nothing else causes lateness. For u = 1 this is the deadline itself. For u > 1 tasks run
*early*, by up to u - 1. The text suggests the opposite; ``timer_text`` has its looser statements as
rules that are expected to be violated.

Granularity: SystemTimer's locks keep add apart from the driver, which polls and flushes all buckets
that are due before it gives up the write lock. cancel takes no such lock, and may come between two
polls. The smaller steps of several threads are in ``timer_races``. If buckets of two wheels expire
together, the queue may return either first. The order of the tasks within a bucket has no effect
here, so buckets are sets. Tasks are added again after they ran or were cancelled, as often as time
up to the horizon H allows.

The claim that neither DelayQueue nor Timer supports random delete is about Java's library, not
about the wheel (DelayQueue.remove exists, at O(n)), and has no rule.

Source: "Apache Kafka, Purgatory, and Hierarchical Timing Wheels"; the code is TimingWheel,
TimerTaskList and SystemTimer of Kafka 3.9; kafka#wheel, kafka#lists, kafka#system-timer, kafka#W1.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from ..expectations import expect
from ..notation import (
    MUST, Machine, action, always, array, assume, boolean, choice, const, integer, leads_to,
    require, step, upto,
)

__all__ = ["EXPECTATIONS", "LAWS", "Phase", "SingleUseTimer", "Timer", "firing_time"]

WHEEL = "002#wheel"
DRIVING = "002#driving"


class Phase(IntEnum):
    """Phases of a task."""

    NEW = 0         # not added yet
    PENDING = 1     # in the timer
    RAN = 2         # given to the executor
    CANCELLED = 3   # cancelled before it ran


def firing_time(now: int, delay: int, tick: int) -> int:
    """The firing law: the instant at which a task that is added now runs, if the driver is not
    late.
    """
    return max(now, (now + delay) // tick * tick)


class Timer(Machine):
    """SystemTimer: wheels, buckets, the DelayQueue, and a driver that polls it.

    Buckets are numbered consecutively: bucket i of level l is l * n + i.
    """

    u = const(1, at_least=1)            # tick of level 0
    n = const(2, at_least=2)            # buckets of a wheel
    M = const(3, at_least=1)            # wheels that the model can hold
    K = const(2, at_least=1)            # tasks
    D = const(7)                        # the longest delay
    H = const(7)                        # the last instant, and the last deadline
    S = const(0)                        # the time at which the timer is created
    L = const(0)                        # how late the driver may poll

    now = integer(0, H, init=S)
    wheels = integer(1, M, init=1)      # wheels that were made
    clock = array(upto(M), integer(0, H, init=S // u * u))
    expiration = array(upto(M * n), integer(-1, H, init=-1))    # of a bucket; -1: not in use
    queued = array(upto(M * n), integer(0, 2))      # how often a bucket is in the DelayQueue
    size = integer(0 - K, 2 * K, init=0)       # the counter that all buckets share
    held = integer(0, K, init=K)        # the task that is being placed; K: none
    flushed = integer(0, M * n, init=M * n)     # the bucket that is being flushed; M * n: none
    driving = boolean(False)            # the driver holds the write lock, until nothing is due

    phase = array(upto(K), choice(Phase))
    deadline = array(upto(K), integer(0, H))
    bucket = array(upto(K), integer(0, M * n, init=M * n))      # M * n: in none
    insertions = array(upto(K), integer(0, M + 1))
    due = array(upto(K), integer(0, H))             # instant by the firing law
    runs = array(upto(K), integer(0, 2))            # since it was added last
    lateness = array(upto(K), integer(0 - H, H, init=0))       # against the firing law

    @assume
    def time_has_an_order(self) -> bool:
        """The timer is created before the horizon."""
        return self.S <= self.H

    # --- users of the timer ----------------------------------------------------------

    @action(task=upto(K), delay=upto(D + 1))
    def add(self, task: int, delay: int) -> None:
        """A task is added (again); a task that is due in the present tick runs at once."""
        require(self.is_idle() and not self.driving and self.phase[task] != Phase.PENDING)
        require(self.now + delay <= self.H)
        self.phase[task] = Phase.PENDING
        self.deadline[task] = self.now + delay
        self.due[task] = firing_time(self.now, delay, self.u)
        self.insertions[task] = 0
        self.runs[task] = 0
        self.lateness[task] = 0
        self.held = task

    @action(task=upto(K))
    def cancel(self, task: int) -> None:
        """A pending task is unlinked from its bucket, which stays in the queue."""
        require(self.is_idle() and self.phase[task] == Phase.PENDING)
        self.phase[task] = Phase.CANCELLED
        self.unlink(task)
        self.deadline[task] = 0
        self.due[task] = 0

    def is_idle(self) -> bool:
        """True if no entry is being moved."""
        return self.held == self.K and self.flushed == self.M * self.n

    # --- the driver ------------------------------------------------------------------

    @action(fair=True)
    def elapse(self) -> None:
        """A unit of time passes; the driver is never more than L late."""
        require(self.is_idle() and not self.driving and self.now < self.H)
        require(all(
            not self.queued[bucket] or self.now < self.expiration[bucket] + self.L
            for bucket in range(self.M * self.n)
        ))
        self.now += 1

    @action(fair=True, bucket=upto(M * n))
    def poll(self, bucket: int) -> None:
        """The bucket that expires first leaves the queue, and the clock advances to its expiration.
        """
        require(self.is_idle())
        require(self.queued[bucket] > 0 and self.expiration[bucket] <= self.now)
        require(all(
            not self.queued[other] or self.expiration[bucket] <= self.expiration[other]
            for other in range(self.M * self.n)
        ))
        self.queued[bucket] -= 1
        self.advance(self.expiration[bucket])
        self.flushed = bucket
        self.driving = True

    def advance(self, time: int) -> None:
        """TimingWheel.advanceClock: level by level, as long as the clocks change."""
        moves = True
        reached = time
        for level in range(self.M):
            moves = moves and level < self.wheels and (
                reached >= self.clock[level] + self.tick(level))
            if moves:
                reached = self.rounded(reached, level)
                self.clock[level] = reached

    @action(fair=True, task=upto(K))
    def take_out(self, task: int) -> None:
        """TimerTaskList.flush: a task is unlinked from the bucket, to be placed again."""
        require(self.held == self.K and self.flushed < self.M * self.n)
        require(self.bucket[task] == self.flushed)
        self.unlink(task)
        self.held = task

    @action(fair=True)
    def finish(self) -> None:
        """The bucket is flushed, and can be used for another tick; the driver continues with the
        next bucket that is due, and releases its lock if there is none.
        """
        require(self.held == self.K and self.flushed < self.M * self.n)
        require(all(self.bucket[task] != self.flushed for task in range(self.K)))
        self.release()
        self.flushed = self.M * self.n
        self.driving = any(
            self.queued[bucket] > 0 and self.expiration[bucket] <= self.now
            for bucket in range(self.M * self.n)
        )

    def release(self) -> None:
        """The flushed bucket no longer has an expiration."""
        self.expiration[self.flushed] = -1

    # --- the wheels ------------------------------------------------------------------

    @action(fair=True, task=upto(K))
    def place(self, task: int) -> None:
        """SystemTimer.addTimerTaskEntry: link the task into the first wheel that covers it, or run
        it.
        """
        require(self.held == task)
        self.held = self.K
        placed = False
        deadline = self.deadline[task]
        for level in range(self.M):
            if not placed and self.is_expired(level, deadline):
                placed = True
                self.run(task)
            elif not placed and self.is_covered(level, deadline):
                placed = True
                self.link(task, level)
            elif not placed:
                self.make_overflow(level)
        assert placed, "the model has too few wheels"

    def is_expired(self, level: int, deadline: int) -> bool:
        """True if the deadline is within the present tick, or before it."""
        return deadline < self.clock[level] + self.tick(level)

    def is_covered(self, level: int, deadline: int) -> bool:
        """True if the deadline is within the wheel's interval."""
        return deadline < self.clock[level] + self.tick(level) * self.n

    def make_overflow(self, level: int) -> None:
        """The wheel above a level is created when it is first needed."""
        if level + 1 < self.M and self.wheels == level + 1:
            self.wheels += 1
            self.clock[level + 1] = self.start_of_overflow(level)

    def start_of_overflow(self, level: int) -> int:
        """Start of a new wheel's clock: its child's clock, rounded to its own ticks."""
        return self.rounded(self.clock[level], level + 1)

    def rounded(self, time: int, level: int) -> int:
        """The beginning of the level's tick."""
        return time - time % self.tick(level)

    def tick(self, level: int) -> int:
        """u, n u, n n u, …"""
        found = self.u
        for _ in range(level):
            found = found * self.n
        return found

    def link(self, task: int, level: int) -> None:
        """Link the task into the bucket of its tick, and offer the bucket to the queue if it is
        newly used.
        """
        number = self.deadline[task] // self.tick(level)
        bucket = level * self.n + self.slot(level, number)
        self.bucket[task] = bucket
        self.size += 1
        self.insertions[task] = min(self.insertions[task] + 1, self.M + 1)
        if self.is_new(bucket, number * self.tick(level)):
            self.offer(bucket)
        self.expiration[bucket] = number * self.tick(level)

    def slot(self, level: int, number: int) -> int:
        """The bucket of a tick, by the tick's number."""
        return number % self.n

    def is_new(self, bucket: int, expiration: int) -> bool:
        """TimerTaskList.setExpiration: true if the bucket's expiration changes."""
        return self.expiration[bucket] != expiration

    def offer(self, bucket: int) -> None:
        """The bucket enters the DelayQueue."""
        self.queued[bucket] = min(self.queued[bucket] + 1, 2)

    def unlink(self, task: int) -> None:
        """Remove the task from its bucket."""
        if self.bucket[task] < self.M * self.n:
            self.size -= 1
        self.bucket[task] = self.M * self.n

    def run(self, task: int) -> None:
        """The task is given to the executor."""
        if self.phase[task] == Phase.PENDING:
            self.phase[task] = Phase.RAN
        self.runs[task] = min(self.runs[task] + 1, 2)
        self.lateness[task] = self.now - self.due[task]
        self.deadline[task] = 0
        self.due[task] = 0

    # --- rules -----------------------------------------------------------------------

    @always("KAFKA-W1", MUST, "A task runs at most once for each time that it is added.",
            source=f"{WHEEL}; kafka#W1", task=upto(K))
    def runs_at_most_once(self, task: int) -> bool:
        """Counted since its last add."""
        return self.runs[task] <= 1

    @always("KAFKA-W1C", MUST,
            "A task that was cancelled before it ran does not run unless it is added again.",
            source=f"{WHEEL} (stop-timer); kafka#W1; KAFKA-2226", task=upto(K))
    def cancelled_tasks_never_run(self, task: int) -> bool:
        """Unless it is added again."""
        return self.phase[task] != Phase.CANCELLED or self.runs[task] == 0

    @always("KAFKA-W1T", MUST,
            "With a tick of u and a driver at most L late, no task is pending later than L "
            "after max(time of its add, floor(deadline / u) * u).",
            source=f"{WHEEL} ('expire all timer tasks in it'); kafka#W1", task=upto(K))
    def no_task_is_left(self, task: int) -> bool:
        """No task is pending after its time."""
        return self.phase[task] != Phase.PENDING or self.now <= self.due[task] + self.L

    @always("KAFKA-W2", MUST,
            "Between calls that do not overlap, the timer's size is the number of pending "
            "tasks: added, and since then neither run nor cancelled.",
            source="002#purging ('exactly at any time'); kafka#W2; "
                   "KAFKA-1616")
    def size_is_exact(self) -> bool:
        """Holds between calls; for concurrent calls see ``timer_races``."""
        return self.size == sum(
            self.phase[task] == Phase.PENDING and self.held != task for task in range(self.K))

    @always("KAFKA-W3", MUST,
            "With a tick of u and a driver at most L late, a task that runs does so at max(time "
            "of its add, floor(deadline / u) * u), or at most L later.",
            source=f"{WHEEL}; kafka#W3", task=upto(K))
    def firing_law(self, task: int) -> bool:
        """Never before, and at most L after."""
        return 0 <= self.lateness[task] <= self.L

    @always("KAFKA-W4", MUST,
            "An overflow wheel's clock is the clock of the wheel below it, rounded down to a "
            "multiple of the overflow wheel's tick.",
            source="kafka#W4, kafka#wheel (advanceClock)", level=upto(M - 1))
    def levels_are_aligned(self, level: int) -> bool:
        """Hence no live task counts as expired in an overflow wheel."""
        return level + 1 >= self.wheels or (
            self.clock[level + 1] == self.clock[level] - self.clock[level] % self.tick(level + 1))

    @always("KAFKA-W5", MUST,
            "The deadlines of all tasks in a bucket lie within one tick of its wheel, the one "
            "that begins at the bucket's expiration.",
            source=f"{WHEEL} ('Each bucket holds tasks that fall into the corresponding time "
                   "range'); kafka#W5", task=upto(K))
    def buckets_hold_their_tick(self, task: int) -> bool:
        """floor(deadline / tick) * tick is the expiration of its bucket."""
        return all(
            self.bucket[task] != bucket
            or self.expiration[bucket] == self.rounded(self.deadline[task], bucket // self.n)
            for bucket in range(self.M * self.n)
        )

    @step("KAFKA-W5H", MUST,
          "No task is put into the bucket of the tick that its wheel's clock shows: only the "
          "other n - 1 of the wheel's n buckets get tasks.",
          source=f"{WHEEL} ('never inserts a task into the bucket for the current time'); "
                 "kafka#W5", task=upto(K))
    def present_bucket_is_not_used(self, after: Timer, task: int) -> bool:
        """Tasks may remain in it if two buckets expire together and one is polled first."""
        return after.bucket[task] == self.bucket[task] or all(
            after.bucket[task] != level * self.n + after.clock[level] // self.tick(level) % self.n
            for level in range(self.M)
        )

    @step("KAFKA-W5R", MUST,
          "A bucket's expiration (the beginning of the tick that it stands for) changes only "
          "while no task is in the bucket.",
          source=f"{WHEEL} ('The emptied bucket is then available'); kafka#W5",
          bucket=upto(M * n))
    def buckets_are_emptied_first(self, after: Timer, bucket: int) -> bool:
        """No task is in it when its expiration changes."""
        return (self.expiration[bucket] == after.expiration[bucket]
                or all(self.bucket[task] != bucket for task in range(self.K)))

    @always("KAFKA-W6", MUST,
            "A bucket is in the DelayQueue at most once, so the queue holds at most n entries "
            "for each wheel of n buckets.",
            source=f"{DRIVING} ('capped by the number of buckets'); kafka#W6",
            bucket=upto(M * n))
    def buckets_are_queued_once(self, bucket: int) -> bool:
        """It is offered only when its expiration changes."""
        return self.queued[bucket] <= 1

    @always("KAFKA-W6Q", MUST, "A bucket that holds a task is in the DelayQueue, unless it is "
            "being flushed.",
            source=f"{DRIVING}; kafka#W6", task=upto(K))
    def tasks_are_in_queued_buckets(self, task: int) -> bool:
        """Otherwise its tasks would never run."""
        return all(
            self.bucket[task] != bucket or self.queued[bucket] > 0 or self.flushed == bucket
            for bucket in range(self.M * self.n)
        )

    @step("KAFKA-W8", MUST,
          "An overflow wheel is made only if its tick is at most the longest possible delay "
          "plus the time by which the clock of the wheel below lags.",
          source=f"{WHEEL} ('on-demand'); kafka#W8")
    def wheels_are_few(self, after: Timer) -> bool:
        """So there are about log_n of (delay + staleness) / u."""
        return all(
            after.wheels <= level or self.wheels > level
            or self.tick(level) <= self.D + self.now - after.clock[level - 1]
            for level in range(1, self.M)
        )

    @always("KAFKA-W9", MUST,
            "For each add, a task is inserted into buckets at most as often as there are "
            "wheels.",
            source=f"{WHEEL} ('recursively'); kafka#W9", task=upto(K))
    def insertions_are_few(self, task: int) -> bool:
        """Each cascade moves the task at least one level down."""
        return self.insertions[task] <= self.wheels


class SingleUseTimer(Timer):
    """Every task is added at most once, so the timer cannot be kept busy forever."""

    @action(task=upto(Timer.K), delay=upto(Timer.D + 1))
    def add(self, task: int, delay: int) -> None:
        """Only the first add is allowed."""
        require(self.phase[task] == Phase.NEW)
        super().add(task, delay)

    @leads_to("KAFKA-W1L", MUST, "A task that was added eventually runs, unless it is cancelled.",
              source=f"{WHEEL} ('expire all timer tasks in it'); kafka#W1",
              task=upto(Timer.K))
    def tasks_run(self, task: int) -> tuple[bool, bool]:
        """All deadlines lie within the horizon; KAFKA-W1T says when."""
        return self.phase[task] == Phase.PENDING, self.phase[task] != Phase.PENDING


# Horizons that M wheels reach from any clock: H < u * n ** M.
SHAPES: tuple[dict[str, Any], ...] = (
    {"u": 1, "n": 2, "M": 3, "H": 7, "D": 7},
    {"u": 1, "n": 3, "M": 2, "H": 8, "D": 8, "S": 1},
    {"u": 2, "n": 2, "M": 3, "H": 11, "D": 11, "S": 1},
    {"u": 2, "n": 3, "M": 2, "H": 11, "D": 11, "S": 3},
)
THREE_TASKS: dict[str, Any] = {"u": 1, "n": 2, "M": 3, "K": 3, "H": 7, "D": 7}
LATE: tuple[dict[str, Any], ...] = (
    {"u": 1, "n": 2, "M": 3, "H": 7, "D": 4, "L": 2},
    {"u": 2, "n": 2, "M": 3, "H": 11, "D": 6, "L": 3},
)
SHORT: dict[str, Any] = {"u": 1, "n": 3, "M": 2, "H": 6, "D": 1}

LAWS = (
    ("KAFKA-W1", "at most once"),
    ("KAFKA-W1C", "never after it was cancelled"),
    ("KAFKA-W1T", "a task runs in time"),
    ("KAFKA-W2", "size = added - run - cancelled"),
    ("KAFKA-W3", "the firing law"),
    ("KAFKA-W4", "the clocks stay aligned"),
    ("KAFKA-W5", "buckets hold their tick"),
    ("KAFKA-W5H", "n - 1 buckets in use"),
    ("KAFKA-W5R", "buckets are emptied first"),
    ("KAFKA-W6", "a bucket is queued once"),
    ("KAFKA-W6Q", "no task is lost"),
    ("KAFKA-W8", "wheels follow delay and staleness"),
    ("KAFKA-W9", "at most one insertion for each wheel"),
)

EXPECTATIONS = (
    expect(Timer, "KAFKA-W8", "holds", "short delays need no wheel, unless the clock is stale",
           **SHORT),
    *(expect(Timer, rule, "holds", about, **shape) for shape in SHAPES for rule, about in LAWS),
    *(expect(Timer, rule, "holds", f"{about}; three tasks", **THREE_TASKS)
      for rule, about in LAWS),
    *(expect(SingleUseTimer, "KAFKA-W1L", "holds", "a task that is added eventually runs", **shape)
      for shape in (SHAPES[0], SHAPES[2])),
    *(expect(Timer, rule, "holds", f"{about}; the driver is late", **shape)
      for shape in LATE for rule, about in LAWS),
)
