"""Workers before a bounded queue of tasks, as seen from outside: an executor, or thread pool.

Theory. W workers take tasks from a queue of Q places. A task that is submitted starts at once if a
worker is idle; else it waits. With all workers busy and all places taken, the *policy* decides, as
a queue's does: the task is *refused* (``submit`` fails), *its caller runs it*, which is
backpressure, for meanwhile that caller submits nothing; it is *dropped*, or the oldest is dropped
for it. An *unbounded* executor never decides, and may fill all memory. A submit hands out a
*future*, which ends once: with the result of its task, its exception, or a cancel.

    submit --> [ Q places ] --> W workers --> the future ends
       |            |
       |            +--cancel, drop, stop--> the future ends, and its task never starts
       +--full: refused, dropped, run by the caller

So a task that was accepted runs once, or is reported as one that never will. What is dropped in
silence still waits as far as its client knows, and forever: the future that the JDK's
``DiscardPolicy`` leaves behind never ends. A *shutdown* accepts nothing more and lets what waits
run; a *stop* (``shutdownNow``, ``cancel_futures``) lets nothing start and reports what waits. An
executor has *terminated* when after either no task waits and none runs; tasks that callers run do
not count.

All is seen: each start, each end of a future, and the instant at which the executor is idle. An
observer knows which tasks wait and in what order, for they start in it; whether a worker is idle
it knows from the number of those that run. A worker that dies with its task is replaced, so it
counts as one that is idle again. Tasks are numbered in the order of their submits.

Source: libraries#executor-jdk, libraries#executor-python; 003#workers, 003#dropping.
"""

from __future__ import annotations

from enum import IntEnum

from ..expectations import expect
from ..notation import (
    MUST, SHOULD, Machine, action, always, assume, boolean, choice, const, fifo, guard_rule,
    integer, require, subset, upto,
)

__all__ = ["EXPECTATIONS", "ObservedExecutor", "Phase", "Policy"]

JDK, PYTHON = "libraries#executor-jdk", "libraries#executor-python"
WORKERS, DROPPING = "003#workers", "003#dropping"

AT_MOST = guard_rule(
    "EXEC-1", MUST, "An executor runs at most as many tasks at a time as it has workers; those "
                    "that callers run do not count.",
    source=f"{JDK} (maximumPoolSize); {PYTHON} (max_workers)")
IN_ORDER = guard_rule(
    "EXEC-2", SHOULD, "Workers start tasks in the order in which these were submitted.",
    source=f"{WORKERS}; {JDK} (a FIFO work queue)")
NO_IDLE_WORKER = guard_rule(
    "EXEC-3", MUST,
    "When an executor has finished reacting to an event, no task waits while fewer tasks run "
    "than it has workers, where a worker that died counts as replaced.",
    source=f"{WORKERS}; cpython #115634: a worker that ended was not replaced")
BOUND = guard_rule(
    "EXEC-4", MUST,
    "When a bounded executor has finished reacting to an event, at most as many tasks wait as "
    "it has places: those too many were reported as refused, dropped or run by their callers.",
    source=f"{DROPPING}: a fixed size job queue; {JDK} (bounded queues)")
ONLY_FULL = guard_rule(
    "EXEC-5", MUST,
    "Until a shutdown or a stop, a task is refused, dropped or run by its caller only while "
    "more tasks wait, the newcomer included, than there are places.",
    source=f"{DROPPING}; {JDK} (rejected tasks)")
AS_PROMISED = guard_rule(
    "EXEC-6", MUST, "The policy decides what becomes of a task too many: it is refused, run by its "
                    "caller, or dropped, or the oldest that waits is dropped.",
    source=f"{DROPPING}: drop the oldest instead of the youngest; {JDK} (the four policies)")
REFUSED_NEVER_RUNS = guard_rule(
    "EXEC-7", MUST, "A task that was refused or dropped never runs.", source=JDK)
CANCELLED_NEVER_STARTS = guard_rule(
    "EXEC-8", MUST, "A task that was cancelled with success never starts.",
    source=f"{PYTHON} (Future.cancel); pebble #33: it was run all the same")
RUNS_ONCE = guard_rule(
    "EXEC-9", MUST, "A task starts at most once.", source="003#tokens")
OWN_ITEM = guard_rule(
    "EXEC-10", MUST,
    "A task starts with the argument that was given when it was submitted.",
    source="003#tokens")
ENDS_AS_ITS_RUN = guard_rule(
    "EXEC-11", MUST,
    "A future ends with a result or an exception only after a run of its task, once, and as "
    "that run ended; the death of a worker counts as an exception.",
    source=PYTHON)
ENDS_IN_TIME = guard_rule(
    "EXEC-12", MUST,
    "When an executor has finished reacting to an event, the future of each task has ended if "
    "the run of the task has ended, or its worker has died.",
    source=PYTHON)
CANCELS_WHAT_WAITS = guard_rule(
    "EXEC-13", MUST,
    "A cancel succeeds if its task waits, and fails if the task has started, or was refused or "
    "dropped; of a task that was cancelled before, it may do either.",
    source=f"{PYTHON} (Future.cancel)")
ACCEPTS_NO_MORE = guard_rule(
    "EXEC-14", MUST, "A task that is submitted after a shutdown or a stop never starts: it is "
    "refused or dropped, and that is reported.",
    source=f"{PYTHON} (shutdown); {JDK} (shutdown)")
KEEPS_ITS_PROMISE = guard_rule(
    "EXEC-15", MUST,
    "Between a shutdown and a stop, no task that was accepted before the shutdown is reported "
    "as one that never runs, unless a client cancels it.",
    source=f"{JDK} (shutdown); {PYTHON} (shutdown)")
NOTHING_STARTS = guard_rule(
    "EXEC-16", MUST, "From the call of a stop on, no task starts.",
    source=f"{JDK} (shutdownNow); {PYTHON} (cancel_futures)")
ALL_REPORTED = guard_rule(
    "EXEC-17", MUST,
    "When an executor has finished reacting to a stop, each task that waited was reported as "
    "one that never runs.",
    source=f"{JDK} (shutdownNow); cpython #87893: waiters of cancelled futures")
NOT_EARLY = guard_rule(
    "EXEC-18", MUST,
    "An executor reports its termination at most once, only after a shutdown or a stop, and "
    "only when no task waits and no worker runs one.",
    source=f"{JDK} (awaitTermination); {PYTHON} (wait)")
TERMINATES = guard_rule(
    "EXEC-19", MUST,
    "When an executor has finished reacting to an event after a shutdown or a stop, and no task "
    "waits and no worker runs one, it has reported its termination.",
    source=f"{JDK} (awaitTermination); cpython #94440: a cancelled future, and a shutdown that "
           "hung")


class Policy(IntEnum):
    """The treatment of a task for which there is no place."""

    NONE = 0              # not known
    REFUSE = 1            # its submit fails
    CALLER_RUNS = 2       # the thread that submits it runs it
    DROP_NEWEST = 3       # it is dropped
    DROP_OLDEST = 4       # the one that has waited longest is dropped
    UNBOUNDED = 5         # there is none: all wait


class Phase(IntEnum):
    """The stages of the end of an executor."""

    OPEN = 0              # it accepts tasks
    SHUT = 1              # it accepts none, and those that wait still run
    STOPPED = 2           # no task starts any more


class ObservedExecutor(Machine):
    """W workers, and Q places for tasks that wait."""

    W = const(1, at_least=1)            # workers
    Q = const(1, at_least=1)            # places
    K = const(3, at_least=1)            # tasks that a run may submit
    L = const(2, at_least=2)            # tasks that may wait at a time, the newcomer included

    policy = choice(Policy)
    phase = choice(Phase)
    terminated = boolean(False)

    named = integer(0, K)               # tasks submitted so far: the next one has this number
    coming = integer(0, K, init=K)      # the task that was just submitted; K: none
    line = fifo(integer(0, K - 1), L)   # tasks that wait, the newcomer last
    running = subset(upto(K))           # those that workers run
    here = subset(upto(K))              # those that their callers run
    good = subset(upto(K))              # have returned, and their futures have not ended
    bad = subset(upto(K))               # have raised, or lost their workers, and the same
    refused = subset(upto(K))           # were refused or dropped
    cancelled = subset(upto(K))
    over = subset(upto(K))              # their futures have ended with what their runs did

    @assume
    def newcomers_have_room(self) -> bool:
        """There is a place for the task that is one too many."""
        return self.L > self.Q

    # --- what its clients and its tasks do -------------------------------------------------

    @action(promise=Policy)
    def submits(self, promise: Policy) -> None:
        """A client submits the next task; the executor has stated its policy before."""
        require(promise != Policy.NONE)
        require(self.policy == Policy.NONE or self.policy == promise)
        require(self.named < self.K and self.coming == self.K and len(self.line) < self.L)
        self.policy = promise
        self.coming = self.named
        self.line.push(self.named)
        self.named += 1

    @action(task=upto(K))
    def run_returns(self, task: int) -> None:
        """A task that runs is done."""
        self.run_ends(task)
        self.good.add(task)

    @action(task=upto(K))
    def run_raises(self, task: int) -> None:
        """A task that runs raises an exception."""
        self.run_ends(task)
        self.bad.add(task)

    @action(task=upto(K))
    def worker_dies(self, task: int) -> None:
        """The worker that runs a task dies; its future ends with an exception."""
        require(task in self.running)
        self.run_ends(task)
        self.bad.add(task)

    @action
    def shuts(self) -> None:
        """A shutdown is requested, perhaps again."""
        if self.phase == Phase.OPEN:
            self.phase = Phase.SHUT

    @action
    def stops(self) -> None:
        """A stop is requested, perhaps again."""
        self.phase = Phase.STOPPED

    # --- what the executor does with a task that comes -------------------------------------

    @action(task=upto(K))
    def refuses(self, task: int) -> None:
        """A submit fails, and its task is not accepted."""
        require(task == self.coming, AS_PROMISED)
        require(self.phase != Phase.OPEN or len(self.line) > self.Q, ONLY_FULL)
        require(self.phase != Phase.OPEN or self.policy == Policy.REFUSE, AS_PROMISED)
        self.never_runs(task)

    @action(task=upto(K))
    def caller_runs(self, task: int) -> None:
        """The thread that submits the task runs it."""
        self.may_start(task)
        require(len(self.line) > self.Q, ONLY_FULL)
        require(self.policy == Policy.CALLER_RUNS and task == self.coming, AS_PROMISED)
        self.leaves(task)
        self.here.add(task)

    @action(task=upto(K))
    def drops(self, task: int) -> None:
        """A task is reported as one that never runs, and no client has cancelled it."""
        require(task in self.line, ENDS_AS_ITS_RUN)
        require(self.phase != Phase.SHUT or task == self.coming, KEEPS_ITS_PROMISE)
        require(self.phase != Phase.OPEN or len(self.line) > self.Q, ONLY_FULL)
        newest = self.policy == Policy.DROP_NEWEST and task == self.coming
        oldest = self.policy == Policy.DROP_OLDEST and task == self.line[0]
        require(self.phase != Phase.OPEN or newest or oldest, AS_PROMISED)
        self.never_runs(task)

    # --- what it does with one that waits, or has run ---------------------------------------

    @action(task=upto(K))
    def starts(self, task: int) -> None:
        """A worker begins to run a task."""
        self.may_start(task)
        require(len(self.running) < self.W, AT_MOST)
        require(task == self.line[0], IN_ORDER)
        self.leaves(task)
        self.running.add(task)

    @action
    def starts_another(self) -> None:
        """A task begins to run with an item that is not its own."""
        require(False, OWN_ITEM)

    @action(task=upto(K), rests=(CANCELS_WHAT_WAITS,))
    def cancel_succeeds(self, task: int) -> None:
        """A client cancels a task, and hears that it never starts, perhaps again."""
        require(task in self.line or task in self.cancelled, CANCELS_WHAT_WAITS)
        if task in self.line:
            self.leaves(task)
        self.cancelled.add(task)

    @action(task=upto(K), rests=(CANCELS_WHAT_WAITS,))
    def cancel_fails(self, task: int) -> None:
        """A client cancels a task, and hears that it is too late."""
        require(task not in self.line, CANCELS_WHAT_WAITS)

    @action(task=upto(K))
    def future_returns(self, task: int) -> None:
        """A future ends with the result of its task."""
        require(task in self.good, ENDS_AS_ITS_RUN)
        self.good.discard(task)
        self.over.add(task)

    @action(task=upto(K))
    def future_raises(self, task: int) -> None:
        """A future ends with an exception."""
        require(task in self.bad, ENDS_AS_ITS_RUN)
        self.bad.discard(task)
        self.over.add(task)

    @action
    def another_result(self) -> None:
        """A future ends with a result that is not its task's."""
        require(False, ENDS_AS_ITS_RUN)

    @action
    def terminates(self) -> None:
        """Those that wait for the end of the executor learn of it."""
        require(not self.terminated and self.has_ended(), NOT_EARLY)
        self.terminated = True

    @action(rests=True)
    def rests(self) -> None:
        """The executor does nothing more for the time being."""
        require(self.phase == Phase.OPEN or self.coming == self.K, ACCEPTS_NO_MORE)
        require(len(self.line) == 0 or self.phase != Phase.STOPPED, ALL_REPORTED)
        require(len(self.line) == 0 or len(self.running) >= self.W, NO_IDLE_WORKER)
        require(len(self.line) <= self.Q or self.policy == Policy.UNBOUNDED, BOUND)
        require(len(self.good) + len(self.bad) == 0, ENDS_IN_TIME)
        require(self.terminated or not self.has_ended(), TERMINATES)
        self.coming = self.K

    # --- the few places where something moves ----------------------------------------------

    def may_start(self, task: int) -> None:
        """Only a task that waits starts, and none after a stop."""
        require(task not in self.refused, REFUSED_NEVER_RUNS)
        require(task not in self.cancelled, CANCELLED_NEVER_STARTS)
        require(task in self.line, RUNS_ONCE)
        require(self.phase != Phase.STOPPED, NOTHING_STARTS)
        require(self.phase == Phase.OPEN or task != self.coming, ACCEPTS_NO_MORE)

    def leaves(self, task: int) -> None:
        """A task leaves the queue, at whatever position; the others keep their order."""
        for _ in range(len(self.line)):
            other = self.line.pop()
            if other != task:
                self.line.push(other)
        if task == self.coming:
            self.coming = self.K

    def never_runs(self, task: int) -> None:
        """A task is refused or dropped."""
        self.leaves(task)
        self.refused.add(task)

    def run_ends(self, task: int) -> None:
        """A run ends; the worker is idle again, or has a new one in its place."""
        require(task in self.running or task in self.here)
        self.running.discard(task)
        self.here.discard(task)

    def has_ended(self) -> bool:
        """True if nothing is left to do, and nothing will come."""
        return self.phase != Phase.OPEN and len(self.line) == 0 and len(self.running) == 0

    @always("EXEC-20", MUST,
            "Every submitted task waits, runs, has ended (returned, raised, or died with its "
            "worker), or was reported as one that never runs.",
            source=f"003#tokens; {WORKERS}")
    def conserved(self) -> bool:
        """Each is counted once."""
        return self.named == (
            len(self.line) + len(self.running) + len(self.here) + len(self.good) + len(self.bad)
            + len(self.refused) + len(self.cancelled) + len(self.over))


EXPECTATIONS = (
    expect(ObservedExecutor, "EXEC-20", "holds", "no task is lost, and none is doubled",
           W=(1, 2), Q=1, K=3, L=2),
)

BOOKKEEPING = {
    "EXEC-20":
        "The observer moves a task from one of its sets to another; a task that appears in a "
        "second one, or in none, is refused by EXEC-9, EXEC-11 or a rule of progress before.",
}
