"""A semaphore; its permits come back on the threads that wait for it.

Theory of operation
-------------------
The auditor's checker of ledgers starts T tasks on a pool of P threads. Each takes one of S permits,
sends a read, and is done; the read's callback returns the permit, and the same pool runs it,
behind the tasks that are in its queue already. A task that finds no permit keeps its thread.

Once S reads are under way and P tasks wait, no thread is left for the callbacks. So the checker
hangs exactly if T >= S + P, however fast the reads are: it depends on the order in which tasks and
callbacks enter the queue, and some order is always bad. If callbacks have a thread of their own
(``CallbacksApart``), it never hangs.

Source: bookkeeper#checker.
"""

from __future__ import annotations

from typing import Any

from ..expectations import expect, prove
from ..notation import MUST, Machine, action, always, assume, const, integer, never_stuck, require

__all__ = ["EXPECTATIONS", "CallbacksApart", "Checker", "FewTasks"]

CODE = "bookkeeper#checker"


class Checker(Machine):
    """Tasks and callbacks, and the pool's threads."""

    P = const(1, at_least=1)            # threads of the pool
    S = const(1, at_least=1)            # permits
    T = const(2, at_least=1)            # tasks

    tasks = integer(0, T, init=T)       # in the pool's queue
    blocked = integer(0, P)             # tasks that wait for a permit, each on its thread
    reads = integer(0, S)               # reads under way, each with a permit
    callbacks = integer(0, S)           # in the pool's queue, each with a permit
    free = integer(0, S, init=S)
    done = integer(0, T)

    @action(fair=True)
    def begin(self) -> None:
        """A thread takes a task from the queue."""
        require(self.tasks > 0 and self.blocked < self.P)
        self.tasks -= 1
        if self.free > 0 and self.blocked == 0:
            self.free -= 1
            self.reads += 1
        else:
            self.blocked += 1

    @action(fair=True)
    def unblock(self) -> None:
        """A task gets its permit, and leaves its thread."""
        require(self.blocked > 0 and self.free > 0)
        self.blocked -= 1
        self.free -= 1
        self.reads += 1

    @action(fair=True)
    def respond(self) -> None:
        """The response of a read arrives; its callback enters the pool's queue."""
        require(self.reads > 0)
        self.reads -= 1
        self.callbacks += 1

    @action(fair=True)
    def call_back(self) -> None:
        """A thread runs a callback."""
        require(self.callbacks > 0 and self.has_a_thread())
        self.callbacks -= 1
        self.free += 1
        self.done += 1

    def has_a_thread(self) -> bool:
        """True if a thread of the pool does not wait."""
        return self.blocked < self.P

    @never_stuck("BK-15", MUST, "The checker never deadlocks before all its tasks are done.",
                 source=f"{CODE}; BookKeeper #3070")
    def all_is_checked(self) -> bool:
        """True if all tasks are done."""
        return self.done == self.T

    @always("BK-16", MUST,
            "While a task waits for a permit, a permit is free, a read is under way, or a "
            "thread that may run callbacks does not wait.",
            source=f"{CODE}; BookKeeper #3070")
    def who_waits_is_helped(self) -> bool:
        """The pool is never full of tasks that wait for callbacks queued behind them."""
        return self.blocked == 0 or self.free > 0 or self.reads > 0 or self.has_a_thread()

    @always("BK-17", MUST,
            "Every permit is free or held by a read or a callback; every task is queued, "
            "waiting for a permit, represented by its read or callback, or done.",
            source=CODE)
    def nothing_is_lost(self) -> bool:
        """Count all S permits and all T tasks."""
        return (self.free + self.reads + self.callbacks == self.S
                and self.tasks + self.blocked + self.reads + self.callbacks + self.done == self.T)


class FewTasks(Checker):
    """There are fewer tasks than permits and threads."""

    @assume
    def they_are_few(self) -> bool:
        """Not enough to fill the pool while all permits are taken."""
        return self.T < self.S + self.P


class CallbacksApart(Checker):
    """Callbacks run on a thread of their own."""

    def has_a_thread(self) -> bool:
        """True always: that thread never waits."""
        return True


GRID: dict[str, Any] = {"P": (1, 2, 3), "S": (1, 2, 3), "T": range(1, 8)}

EXPECTATIONS = (
    expect(Checker, "BK-15", "violated", "BookKeeper #3070: it hangs exactly if there are "
           "enough tasks to take all permits and all threads", where="T >= S + P", **GRID),
    expect(Checker, "BK-16", "violated", "BookKeeper #3214: all threads wait for callbacks behind "
           "them, at the same constants", where="T >= S + P", **GRID),
    prove(Checker, "BK-17", "nothing is lost, for all pools", for_all=("P", "S", "T")),
    prove(FewTasks, "BK-16", "waiting tasks are helped, if there are fewer tasks",
          for_all=("P", "S", "T"), lemmas=("BK-17",)),
    expect(CallbacksApart, "BK-15", "holds", "with a thread for callbacks it always ends", **GRID),
    prove(CallbacksApart, "BK-16", "waiting tasks are helped, for any number of tasks",
          for_all=("P", "S", "T"), lemmas=("BK-17",)),
    prove(CallbacksApart, "BK-17", "nothing is lost, for all pools", for_all=("P", "S", "T")),
)

UNSEEN = {
    "BK-15":
        "An observer of the semaphore sees no lost and no refused permit where a checker hangs: "
        "it sees calls that hold all permits and have not returned them yet.",
    "BK-16": "It is about the checker's threads, which an observer of the semaphore does not see.",
}
