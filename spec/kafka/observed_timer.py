"""Observable behaviour of a timer: tasks are added, some are cancelled, and some run.

Theory. ``timer`` explains wheels, buckets and clocks. They are invisible from outside; visible is
when tasks run. That is decided by the task's deadline d = (time of its add) + delay, by the time of
the add, and by the *law* of the timer, of which there are four:

    tick      max(add, floor(d / u) * u)     Kafka's wheels with the tick u: early by up to u - 1
    deadline  max(add, d)                    asyncio's call_at, trio's deadlines, a queue of tasks
    in-order  the same; and tasks that are due together run in the order of their adds (sched)
    timeout   add + max(1, delay), in order; setTimeout, which takes a delay below 1 ms for 1 ms

A delay may be below 0: a deadline that was computed from another clock may have passed when the
task is added. Under each of these laws such a task runs when one with a delay of 0 does, so ``add``
gets a delay of 0. A timer may refuse it instead; then nothing was added.

The driver is not late unless it says so: time is virtual, and the driver stops at each instant at
which the timer is due. So a task has exactly one instant at which it may run. A *late* driver
drives once, and everything that became due meanwhile runs then; the timer answers whether there was
anything. If a timer reports how many tasks it holds, how many buckets are queued or how many wheels
were made, that is judged as well. A timer with
*lazy deletion* holds cancelled tasks too.

A task may raise. It has run then, and other tasks are not affected: tasks that are due with it run
at the same instant. Kafka gives tasks to an executor; its threads survive the exceptions of a
task.

Source: TimingWheel and SystemTimer of Kafka 3.9, kafka#wheel, kafka#system-timer, kafka#W1;
libraries#asyncio-call-at, libraries#html-timers.
"""

from __future__ import annotations

from enum import IntEnum

from ..expectations import expect
from ..notation import (
    MUST, Machine, action, always, array, boolean, choice, const, guard_rule, integer, require,
    subset, upto,
)
from ..notation.rules import seen_from_outside
from .timer import Phase, Timer, firing_time

__all__ = ["EXPECTATIONS", "Law", "ObservedTimer"]

WHEEL = "002#wheel"
EXACT = "libraries#asyncio-call-at"
SET_TIMEOUT = "libraries#html-timers"

ONCE = seen_from_outside(Timer.rules_declared, "KAFKA-W1")
NOT_CANCELLED = seen_from_outside(Timer.rules_declared, "KAFKA-W1C")
TICK_NOT_EARLY = guard_rule(
    "KAFKA-W22", MUST,
    "A timer with a tick u runs no task before max(time of its add, floor(deadline / u) * u).",
    source=f"{WHEEL}; kafka#W3",
)
TICK_NOT_LATE = guard_rule(
    "KAFKA-W23", MUST,
    "A timer with a tick u that is driven at every instant runs each task by max(time of its "
    "add, floor(deadline / u) * u), unless the task is cancelled or added anew.",
    source=f"{WHEEL} ('expire all timer tasks in it'); kafka#W1, kafka#W3; KAFKA-4051",
)
NOT_EARLY = guard_rule(
    "KAFKA-W24", MUST,
    "An exact timer (one without ticks) runs no task before its deadline.",
    source=f"{EXACT}; 002#old",
)
NOT_LATE = guard_rule(
    "KAFKA-W25", MUST,
    "An exact timer (without ticks) that is driven at every instant runs each task by its "
    "deadline, unless the task is cancelled or added anew; setTimeout takes delays below 1 ms "
    "for 1 ms.",
    source=f"{EXACT}; 002#old; KAFKA-4051",
)
AT_LEAST_ONE = guard_rule(
    "KAFKA-W26", MUST, "setTimeout with a delay below 1 ms runs its task no earlier than 1 ms "
    "after the call.", source=SET_TIMEOUT)
IN_ORDER = guard_rule(
    "KAFKA-W27", MUST,
    "In a timer that promises an order (setTimeout, sched), tasks that are due at the same "
    "instant run in the order of their adds.",
    source=f"{SET_TIMEOUT}; libraries#asyncio-call-at (sched)",
)
SIZE = seen_from_outside(Timer.rules_declared, "KAFKA-W2")
QUEUE = guard_rule(
    "KAFKA-W29", MUST,
    "The DelayQueue never holds more buckets than all wheels made so far have together, n for "
    "each wheel.",
    source="002#driving ('capped by the number of buckets'); " "kafka#W6")
WHEELS = guard_rule(
    "KAFKA-W30", MUST,
    "A timer has a wheel above the lowest only if its tick is less than the longest delay so "
    "far plus the timer's age plus the tick of the wheel below.",
    source=f"{WHEEL} ('on-demand'); kafka#W8",
)
HELD = guard_rule(
    "KAFKA-W31", MUST,
    "A timer with lazy deletion (cancelled tasks stay in it for a time) holds at least all "
    "pending tasks, and at most one for each add that has not led to a run.",
    source="002#old; kafka#purgatory",
)
ANSWERED = guard_rule(
    "KAFKA-W34", MUST,
    "Driving a timer returns true if this drive runs a task, and false if an earlier drive at "
    "the same instant left nothing due.",
    source="kafka#system-timer (true if a bucket expired)",
)
RAISING = guard_rule(
    "KAFKA-W35", MUST,
    "A task that raises does not keep another due task from running at its instant.",
    source="kafka#system-timer (an executor runs the tasks); docs/decisions/"
           "callbacks-that-raise.md",
)
CAUGHT_UP = guard_rule(
    "KAFKA-W36", MUST,
    "One drive of a timer, however late, runs every task that is due by then.",
    source="kafka#system-timer (polls until no bucket is due)",
)
FORWARD = guard_rule(
    "KAFKA-W37", MUST,
    "Within one call, tasks run in the order of time: none runs at an earlier instant than the "
    "task that ran before it.",
    source="002#driving (the queue gives buckets in the order of their times); "
           "libraries#asyncio-call-at; libraries#html-timers",
)


class Law(IntEnum):
    """Laws for the instant at which a timer runs a task."""

    TICK = 0
    DEADLINE = 1
    IN_ORDER = 2
    TIMEOUT = 3


class ObservedTimer(Machine):
    """Tasks are added and run.

    Each call is followed by the runs that it caused, and then by ``rest``.
    """

    u = const(1, at_least=1)            # tick
    n = const(2, at_least=2)            # buckets of a wheel
    K = const(2, at_least=1)            # tasks
    D = const(3)                        # the longest delay
    H = const(6)                        # the last instant, and the last deadline
    T = const(4)                        # adds that a run may have
    M = const(4, at_least=1)            # wheels that are counted
    S = const(0)                        # the time at which the timer is made

    now = integer(0, H, init=S)
    phase = array(upto(K), choice(Phase))
    due = array(upto(K), integer(0, H))         # instant by the timer's law; 0 unless pending
    brief = array(upto(K), integer(0, 1))       # pending, and added with a delay of 0
    turn = array(upto(K), integer(0, T))        # number of its add, if pending
    added = integer(0, T)
    ran_of_them = integer(0, T)
    longest = integer(0, D)             # the longest delay so far
    faulty = subset(upto(K))            # tasks that raise when they run next
    last = integer(0, H)                # instant of the last run since the last ``rest``
    raised = boolean(False)             # a task raised at this instant
    late = boolean(False)               # the driver is late, and drives once
    fruitful = boolean(False)           # a task ran since the driver came
    driven = boolean(False)             # driven at this instant, with nothing left over

    # --- calls ---------------------------------------------------------------------------

    @action(task=upto(K), delay=upto(D + 1), law=Law)
    def add(self, task: int, delay: int, law: Law) -> None:
        """Add a task; a pending task is added anew."""
        require(self.added < self.T and self.now + max(delay, 1) <= self.H)
        self.added += 1
        self.phase[task] = Phase.PENDING
        self.due[task] = self.due_at(delay, law)
        self.brief[task] = 1 if delay == 0 else 0
        self.turn[task] = self.added
        self.longest = max(self.longest, delay)

    def due_at(self, delay: int, law: Law) -> int:
        """The one instant at which a task that is added now may run."""
        deadline = self.now + delay
        if law == Law.TICK:
            return firing_time(self.now, delay, self.u)
        return max(self.now + 1, deadline) if law == Law.TIMEOUT else deadline

    @action(task=upto(K))
    def cancel(self, task: int) -> None:
        """Cancel a task; no effect unless it is pending."""
        if self.phase[task] == Phase.PENDING:
            self.phase[task] = Phase.CANCELLED
            self.forget(task)

    @action(until=upto(H + 1))
    def elapse(self, until: int) -> None:
        """Time passes without driving the timer."""
        require(until >= self.now)
        self.driven = self.driven and until == self.now
        self.now = until

    @action(until=upto(H + 1))
    def drive(self, until: int) -> None:
        """Time passes, and then the timer is driven once."""
        require(until >= self.now)
        self.driven = self.driven and until == self.now
        self.now = until
        self.late = True
        self.fruitful = False

    @action(task=upto(K))
    def fail(self, task: int) -> None:
        """The task will raise when it runs next."""
        self.faulty.add(task)

    # --- observed behaviour --------------------------------------------------------------

    @action(task=upto(K), at=upto(H + 1), law=Law)
    def ran(self, task: int, at: int, law: Law) -> None:
        """A task has run at this instant."""
        require(at >= self.last, FORWARD)
        require(self.phase[task] != Phase.CANCELLED, NOT_CANCELLED)
        require(self.phase[task] == Phase.PENDING, ONCE)
        early = at < self.due[task] or at > self.now
        require(not early or law != Law.TICK, TICK_NOT_EARLY)
        require(not early or law != Law.TIMEOUT or self.brief[task] == 0, AT_LEAST_ONE)
        require(not early or law == Law.TICK, NOT_EARLY)
        in_time = at <= self.due[task] or self.late
        require(in_time or law != Law.TICK, TICK_NOT_LATE)
        require(in_time or law == Law.TICK, NOT_LATE)
        ordered = law == Law.IN_ORDER or law == Law.TIMEOUT
        require(not ordered or self.is_first(task), IN_ORDER)
        self.phase[task] = Phase.RAN
        self.ran_of_them += 1
        self.last = at
        self.fruitful = True
        self.raised = self.raised or task in self.faulty
        self.faulty.discard(task)
        self.forget(task)

    @action
    def stray(self) -> None:
        """A task has run that was never added."""
        require(False, ONCE)

    def is_first(self, task: int) -> bool:
        """True if no pending task with the same instant was added before."""
        return all(
            self.phase[other] != Phase.PENDING or self.due[other] != self.due[task]
            or self.turn[other] >= self.turn[task]
            for other in range(self.K)
        )

    def forget(self, task: int) -> None:
        """The task is no longer pending."""
        self.due[task] = 0
        self.brief[task] = 0
        self.turn[task] = 0

    @action(law=Law, rests=True)
    def rest(self, law: Law) -> None:
        """Nothing more runs at this instant."""
        require(self.is_all_run() or not self.raised, RAISING)
        require(self.is_all_run() or not self.late, CAUGHT_UP)
        require(self.is_all_run() or law != Law.TICK, TICK_NOT_LATE)
        require(self.is_all_run() or law == Law.TICK, NOT_LATE)
        self.last = 0
        self.raised = False
        self.late = False

    def is_all_run(self) -> bool:
        """True if no pending task is due."""
        return all(
            self.phase[task] != Phase.PENDING or self.due[task] > self.now
            for task in range(self.K)
        )

    # --- reports of the timer ------------------------------------------------------------

    @action(due=upto(2))
    def answered(self, due: int) -> None:
        """The timer's answer when it was driven: whether anything was due."""
        require(due == 1 or not self.fruitful, ANSWERED)
        require(due == 0 or not self.driven, ANSWERED)
        self.driven = True

    @action(count=upto(T + 1))
    def sized(self, count: int) -> None:
        """The timer reports how many tasks are pending."""
        require(count == self.pending(), SIZE)

    @action(count=upto(T + 1))
    def held(self, count: int) -> None:
        """The timer reports how many tasks it holds, cancelled ones included."""
        require(count >= self.pending() and count <= self.added - self.ran_of_them, HELD)

    @action(buckets=upto(M * n + 1), wheels=upto(M + 1))
    def queued(self, buckets: int, wheels: int) -> None:
        """The timer reports how many buckets are in its queue, and how many wheels it has made."""
        require(buckets <= self.n * wheels, QUEUE)
        require(all(
            level > wheels - 1 or self.tick(level) <= self.reach(level)
            for level in range(1, self.M)
        ), WHEELS)

    def reach(self, level: int) -> int:
        """Largest distance of a deadline beyond the clock of the wheel below a level.

        That clock was at the beginning of its own tick when the timer was made, and may still be
        there.
        """
        return self.longest + self.now - self.S + self.tick(level - 1) - 1

    def tick(self, level: int) -> int:
        """u, n u, n n u, …"""
        found = self.u
        for _ in range(level):
            found = found * self.n
        return found

    def pending(self) -> int:
        """The number of pending tasks."""
        return sum(phase == Phase.PENDING for phase in self.phase)

    # --- invariants ----------------------------------------------------------------------

    @always("KAFKA-W32", MUST, "Only a pending task has an instant at which it has to run.",
            source=f"{WHEEL}: the state that the guard rules leave behind", task=upto(K))
    def nothing_else_is_due(self, task: int) -> bool:
        """True of tasks that ran and of cancelled tasks."""
        return self.phase[task] == Phase.PENDING or self.due[task] == 0

    @always("KAFKA-W33", MUST,
            "The number of pending tasks is at most the number of adds less the number of runs.",
            source="kafka#W2: the state that the guard rules leave behind")
    def pending_tasks_were_added(self) -> bool:
        """So a timer's size is within the bounds of a timer with lazy deletion."""
        return self.pending() <= self.added - self.ran_of_them


EXPECTATIONS = (
    expect(ObservedTimer, "KAFKA-W32", "holds", "only pending tasks have an instant", u=(1, 2),
           K=1, D=2, H=3, T=2),
    expect(ObservedTimer, "KAFKA-W33", "holds", "every task that runs was "
           "added", u=1, K=2, D=1, H=2, T=3),
)

BOOKKEEPING = {
    "KAFKA-W32":
        "The observer itself writes down the instant, and erases it when the task is over.",
    "KAFKA-W33":
        "It compares the observer's own count of adds with its own list of tasks; the size that a "
        "timer reports is judged by KAFKA-W31.",
}
