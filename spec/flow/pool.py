"""Workers that sleep before a queue of tasks: how an executor, or thread pool, works.

Theory of operation
-------------------
A pool has W workers and a queue with Q places. A worker takes the task at the head, runs it, and
looks again. If the queue is empty it goes to sleep, and costs nothing until a submit wakes it.

    submit --> [ Q places ] --take--> a worker runs it --> its future ends
       |            |                    |      ^
       |            +--cancel, stop      +-look-+--empty--> asleep --wake--+
       +--full: the policy decides                            ^            |
                                                              +---look-----+

A pool keeps two promises. The queue *conserves* tasks: however a task leaves it, its future ends or
the task runs (EXEC-22). And no worker sleeps beside work: a worker looks at the
queue before it sleeps, and a submit that puts a task there wakes one that sleeps. Both halves are
needed, and they suffice: while a task waits some worker is awake or all are busy (EXEC-24). A
worker that dies is neither, so another one takes its place and looks at the queue for it; a pool
that starts new workers in its submits alone leaves the task waiting until the next one comes.

The end takes a wake-up as well. After a shutdown a worker that finds the queue empty leaves, and
the last one that leaves ends the pool. So the workers that sleep have to be woken, although there
is no task for them (EXEC-26). The end may be reported only when no other worker runs a task; that
the queue is empty does not show this (EXEC-25). A stop empties the queue, so the tasks in it have
to be reported too.

A task that is cancelled leaves the queue. It could stay, to be thrown away by the worker that takes
it; then it takes a place from one that would run, and tasks are refused before a queue of tasks
that never run.

``observed_executor`` says how all this looks from outside, and ``pool_seen`` ties the two.

Source: 003#workers, 003#dropping; libraries#executor-jdk, libraries#executor-python.
"""

from __future__ import annotations

from enum import IntEnum

from ..expectations import expect
from ..notation import (
    MUST, Machine, action, always, array, boolean, choice, const, fifo, integer, leads_to,
    require, subset, upto,
)
from .observed_executor import Phase, Policy

__all__ = [
    "AskingTheQueueAlone", "DroppingInSilence", "EXPECTATIONS", "Fate", "KeepingTooMany", "Pool",
    "RunningWhatWasCancelled", "Sleep", "SleepingOnTheJob", "StoppingInSilence",
    "WakingNobodyAtTheEnd", "WithoutReplacement",
]

JDK, PYTHON = "libraries#executor-jdk", "libraries#executor-python"
WORKERS, DROPPING = "003#workers", "003#dropping"


class Fate(IntEnum):
    """The stages of a task."""

    COMING = 0            # it was not submitted yet
    WAITS = 1
    RUNS = 2              # a worker runs it
    HERE = 3              # the thread that submitted it does
    RETURNED = 4          # its future has not ended
    RAISED = 5            # the same, or its worker died
    OVER = 6              # its future has ended
    REFUSED = 7
    DROPPED = 8           # and its future has ended with that
    CANCELLED = 9


class Sleep(IntEnum):
    """The states of a worker."""

    ASLEEP = 0
    AWAKE = 1             # it is about to look at the queue
    BUSY = 2
    GONE = 3


class Pool(Machine):
    """A submit wakes a worker, and a worker looks at the queue before it sleeps."""

    W = const(1, at_least=1)            # workers
    Q = const(1, at_least=1)            # places
    K = const(2, at_least=1)            # tasks that are submitted in all
    P = const(1, at_least=1, at_most=5)     # the policy: a number of Policy
    X = const(0)                        # workers that may die, in all

    phase = choice(Phase)
    ended = boolean(False)
    named = integer(0, K)               # tasks submitted so far
    line = fifo(integer(0, K - 1), K)
    fate = array(upto(K), choice(Fate))
    begun = array(upto(K), integer(0, 2))       # how often each has been begun
    undone = subset(upto(K))            # tasks that were reported as never to run
    does = array(upto(W), choice(Sleep))
    has = array(upto(W), integer(0, K, init=K))     # the task that a worker runs; K: none
    deaths = integer(0, X)

    # --- its clients -----------------------------------------------------------------------

    @action
    def submit(self) -> None:
        """The next task comes; without a place for it, the policy decides."""
        require(self.named < self.K)
        task = self.named
        self.named += 1
        if self.phase != Phase.OPEN:
            self.refuse(task)
        elif self.has_room():
            self.joins(task)
        elif self.P == Policy.REFUSE:
            self.refuse(task)
        elif self.P == Policy.CALLER_RUNS:
            self.fate[task] = Fate.HERE
            self.begun[task] += 1
        elif self.P == Policy.DROP_NEWEST:
            self.drop(task)
        else:
            oldest = self.line.pop()
            self.drop(oldest)
            self.joins(task)

    def has_room(self) -> bool:
        """True if there is a place, or any number of them."""
        return self.P == Policy.UNBOUNDED or len(self.line) < self.Q

    def joins(self, task: int) -> None:
        """A task waits, and a worker that sleeps is woken for it."""
        self.line.push(task)
        self.fate[task] = Fate.WAITS
        self.wakes(1)

    def wakes(self, many: int) -> None:
        """So many of those that sleep are woken."""
        for each in range(self.W):
            if self.does[each] == Sleep.ASLEEP and many > 0:
                self.does[each] = Sleep.AWAKE
                many -= 1

    def refuse(self, task: int) -> None:
        """The submit of a task fails."""
        self.fate[task] = Fate.REFUSED
        self.undone.add(task)

    def drop(self, task: int) -> None:
        """A task is reported as one that never runs."""
        self.fate[task] = Fate.DROPPED
        self.undone.add(task)

    @action(task=upto(K))
    def cancel(self, task: int) -> None:
        """A client cancels a task; one that waits leaves the queue."""
        require(task < self.named)
        if self.fate[task] == Fate.WAITS:
            self.fate[task] = Fate.CANCELLED
            self.undone.add(task)
            self.removes(task)

    def removes(self, task: int) -> None:
        """A task leaves the queue, and the others keep their order."""
        for _ in range(len(self.line)):
            other = self.line.pop()
            if other != task:
                self.line.push(other)

    @action
    def shut(self) -> None:
        """Nothing more is accepted; those that sleep are woken, to leave."""
        require(self.phase == Phase.OPEN)
        self.phase = Phase.SHUT
        self.wakes_all()

    @action
    def stop(self) -> None:
        """The same, and what waits is given up."""
        require(self.phase != Phase.STOPPED)
        self.phase = Phase.STOPPED
        for _ in range(len(self.line)):
            task = self.line.pop()
            self.give_up(task)
        self.wakes_all()

    def give_up(self, task: int) -> None:
        """A stop reports a task that waits."""
        self.drop(task)

    def wakes_all(self) -> None:
        """A shutdown wakes all that sleep."""
        self.wakes(self.W)

    # --- its workers -----------------------------------------------------------------------

    @action(fair=True, worker=upto(W))
    def take(self, worker: int) -> None:
        """A worker looks at the queue, takes the task at its head, and begins to run it."""
        require(self.does[worker] == Sleep.AWAKE and len(self.line) > 0)
        task = self.line.pop()
        self.does[worker] = Sleep.BUSY
        self.has[worker] = task
        self.fate[task] = Fate.RUNS
        self.begun[task] = min(2, self.begun[task] + 1)

    @action(fair=True, worker=upto(W))
    def sleep(self, worker: int) -> None:
        """A worker finds the queue empty: it sleeps, or leaves if nothing will come."""
        require(self.does[worker] == Sleep.AWAKE and len(self.line) == 0)
        self.does[worker] = Sleep.ASLEEP if self.phase == Phase.OPEN else Sleep.GONE

    @action(fair=True, worker=upto(W), good=upto(2))
    def finish(self, worker: int, good: int) -> None:
        """The run of a task ends, with its result or an exception; the worker looks again."""
        require(self.does[worker] == Sleep.BUSY)
        for task in range(self.K):
            if self.has[worker] == task:
                self.fate[task] = Fate.RETURNED if good == 1 else Fate.RAISED
        self.has[worker] = self.K
        self.does[worker] = self.after_a_run()

    def after_a_run(self) -> Sleep:
        """A worker that is done looks at the queue."""
        return Sleep.AWAKE

    @action(worker=upto(W))
    def die(self, worker: int) -> None:
        """A worker dies with its task, and another one takes its place."""
        require(self.does[worker] == Sleep.BUSY and self.deaths < self.X)
        self.deaths += 1
        for task in range(self.K):
            if self.has[worker] == task:
                self.fate[task] = Fate.RAISED
        self.has[worker] = self.K
        self.does[worker] = self.after_a_death()

    def after_a_death(self) -> Sleep:
        """The new worker looks at the queue."""
        return Sleep.AWAKE

    @action(fair=True, task=upto(K), good=upto(2))
    def return_here(self, task: int, good: int) -> None:
        """The run of a task by its caller ends."""
        require(self.fate[task] == Fate.HERE)
        self.fate[task] = Fate.RETURNED if good == 1 else Fate.RAISED

    @action(fair=True, task=upto(K))
    def report(self, task: int) -> None:
        """The future of a task ends as its run did."""
        require(self.fate[task] == Fate.RETURNED or self.fate[task] == Fate.RAISED)
        self.fate[task] = Fate.OVER

    @action(fair=True)
    def end(self) -> None:
        """The pool reports its end."""
        require(not self.ended and self.phase != Phase.OPEN and self.all_have_left())
        self.ended = True

    def all_have_left(self) -> bool:
        """True if the last worker has left."""
        return all(each == Sleep.GONE for each in self.does)

    # --- what it keeps ---------------------------------------------------------------------

    @always("EXEC-21", MUST, "At most as many tasks wait as the queue has places, unless it is "
                             "unbounded.", source=f"{DROPPING}; {JDK} (bounded queues)")
    def is_bounded(self) -> bool:
        """The policy decides about one too many."""
        return self.P == Policy.UNBOUNDED or len(self.line) <= self.Q

    @always("EXEC-22", MUST,
            "A task that has not begun to run, and was not reported as one that never will, waits "
            "in the queue.", source=f"003#tokens; {PYTHON} (cancel_futures)", task=upto(K))
    def nobody_waits_for_nothing(self, task: int) -> bool:
        """Else its client waits for a task that nobody has."""
        return (self.fate[task] == Fate.WAITS) == (task in self.line)

    @always("EXEC-23", MUST,
            "A task begins to run at most once, and never if it was cancelled, refused or dropped.",
            source=f"{PYTHON} (Future.cancel); {JDK}", task=upto(K))
    def runs_once(self, task: int) -> bool:
        """A task that was reported as one that never runs has not begun."""
        return self.begun[task] <= (0 if task in self.undone else 1)

    @always("EXEC-24", MUST,
            "While a task waits, all workers are busy, or one is awake that will look at the "
            "queue.", source=f"{WORKERS}; cpython #115634: a worker that ended was not replaced")
    def nobody_sleeps_beside_work(self) -> bool:
        """The workers that are awake look before they sleep."""
        return len(self.line) == 0 or any(each == Sleep.AWAKE for each in self.does) or all(
            each == Sleep.BUSY for each in self.does)

    @always("EXEC-25", MUST, "When the end of a pool is reported, no task waits and no worker "
                             "runs one.", source=f"{JDK} (awaitTermination)")
    def ends_last(self) -> bool:
        """And none will, for nothing is accepted any more."""
        return not self.ended or (
            len(self.line) == 0 and not any(each == Sleep.BUSY for each in self.does))

    @leads_to("EXEC-26", MUST,
              "If every run ends, a pool eventually reports its end after a shutdown or a stop.",
              source=f"{JDK} (awaitTermination); cpython #94440: a cancelled future, and a "
                     "shutdown that hung")
    def comes_to_its_end(self) -> tuple[bool, bool]:
        """Those that sleep are woken for it."""
        return self.phase != Phase.OPEN, self.ended

    @leads_to("EXEC-27", MUST,
              "If every run ends, a task that waits eventually begins to run, or is reported as "
              "one that never will.", source=WORKERS, task=upto(K))
    def is_not_forgotten(self, task: int) -> tuple[bool, bool]:
        """Those before it in the queue do not wait forever either."""
        return self.fate[task] == Fate.WAITS, self.fate[task] != Fate.WAITS


# --- one line wrong --------------------------------------------------------------------------

class KeepingTooMany(Pool):
    """The length is compared with <= where it has to be <."""

    def has_room(self) -> bool:
        """True for one too many."""
        return len(self.line) <= self.Q


class DroppingInSilence(Pool):
    """A task that is dropped is thrown away, and its future never ends (DiscardPolicy)."""

    def drop(self, task: int) -> None:
        """The task still waits, as far as its client knows."""
        self.fate[task] = Fate.WAITS


class StoppingInSilence(Pool):
    """A stop empties the queue, and no future learns of it (cpython #87893)."""

    def give_up(self, task: int) -> None:
        """The task still waits, as far as its client knows."""
        self.fate[task] = Fate.WAITS


class RunningWhatWasCancelled(Pool):
    """A cancel succeeds, and leaves the task where it is (pebble #33)."""

    def removes(self, task: int) -> None:
        """The worker that takes it does not look."""


class SleepingOnTheJob(Pool):
    """A worker that is done sleeps until the next task comes."""

    def after_a_run(self) -> Sleep:
        """It does not look at the queue."""
        return Sleep.ASLEEP


class WithoutReplacement(Pool):
    """Nobody takes the place of a worker that died (cpython #115634)."""

    def after_a_death(self) -> Sleep:
        """Its place stays empty."""
        return Sleep.GONE


class WakingNobodyAtTheEnd(Pool):
    """A shutdown sets a flag, which those that sleep do not see (cpython #94440)."""

    def wakes_all(self) -> None:
        """Those that are awake leave in time."""


class AskingTheQueueAlone(Pool):
    """A pool that ends when nothing waits, whatever still runs."""

    def all_have_left(self) -> bool:
        """The workers are not asked."""
        return len(self.line) == 0


EXPECTATIONS = (
    *(expect(Pool, rule, "holds", about, W=(1, 2), Q=1, K=2, P=(1, 2, 3, 4, 5), X=(0, 1))
      for rule, about in (
          ("EXEC-21", "the queue is bounded"),
          ("EXEC-22", "no client waits for a task that nobody has"),
          ("EXEC-23", "a task runs once"),
          ("EXEC-24", "nobody sleeps beside work"),
          ("EXEC-25", "the end comes last"))),
    *(expect(Pool, rule, "holds", about, W=(1, 2), Q=1, K=2, P=(1, 4, 5), X=1)
      for rule, about in (
          ("EXEC-26", "a pool that was shut comes to its end"),
          ("EXEC-27", "no task is forgotten"))),
    expect(KeepingTooMany, "EXEC-21", "violated", "one too many waits", W=1, Q=1, K=2, P=1),
    expect(DroppingInSilence, "EXEC-22", "violated", "a future that never ends", W=1, Q=1, K=2,
           P=(3, 4)),
    expect(StoppingInSilence, "EXEC-22", "violated", "a stop whose futures never end", W=1,
           Q=1, K=1),
    expect(RunningWhatWasCancelled, "EXEC-23", "violated", "a task that was cancelled runs", W=1,
           Q=1, K=1),
    expect(SleepingOnTheJob, "EXEC-24", "violated", "a worker sleeps beside a task", W=1, Q=1,
           K=2),
    expect(SleepingOnTheJob, "EXEC-27", "violated", "a task waits forever beside a worker "
           "that sleeps", W=1, Q=1, K=2),
    expect(WithoutReplacement, "EXEC-24", "violated", "a worker that died is missed, even beside "
           "another one", W=(1, 2), Q=1, K=3, X=1),
    expect(WakingNobodyAtTheEnd, "EXEC-26", "violated", "a pool whose workers sleep has no end",
           W=1, Q=1, K=1),
    expect(AskingTheQueueAlone, "EXEC-25", "violated", "an end that is reported while a task runs",
           W=1, Q=1, K=1),
)
