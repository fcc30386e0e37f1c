"""A semaphore whose permits come back on the threads that wait for it.

Theory of operation
-------------------
The auditor's checker of ledgers starts T tasks on a pool of P threads. Each takes one of S permits,
sends a read, and is done; the permit comes back in the read's callback, which the same pool runs,
behind the tasks that are in its queue already. A task that finds no permit keeps its thread.

Once S reads are under way and P tasks wait, no thread is left for the callbacks. So the checker
hangs exactly where T >= S + P, however fast the reads are: it depends on the order in which tasks
and callbacks enter the queue, and some order is always bad. If callbacks have a thread of their own
(``CallbacksApart``), it never does.

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
        """The response of a read has come; its callback is for the pool."""
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
        """One of the pool that does not wait."""
        return self.blocked < self.P

    @never_stuck("BK-15", MUST, "A checker comes to an end.", source=f"{CODE}; BookKeeper #3070")
    def all_is_checked(self) -> bool:
        """All tasks are done."""
        return self.done == self.T

    @always("BK-16", MUST, "While a task waits, a permit is free, a read is under way, or a thread "
            "is left for callbacks.", source=f"{CODE}; BookKeeper #3070")
    def who_waits_is_helped(self) -> bool:
        """The pool is never full of tasks that wait for what is behind them."""
        return self.blocked == 0 or self.free > 0 or self.reads > 0 or self.has_a_thread()

    @always("BK-17", MUST, "Permits are free, at reads, or at callbacks; tasks wait, or are at "
            "one of these places, or done.", source=CODE)
    def nothing_is_lost(self) -> bool:
        """S permits and T tasks."""
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
        """Which waits for nothing."""
        return True


GRID: dict[str, Any] = {"P": (1, 2, 3), "S": (1, 2, 3), "T": range(1, 8)}

EXPECTATIONS = (
    expect(Checker, "BK-15", "violated", "BookKeeper #3070: it hangs exactly where there are "
           "enough tasks to take all permits and all threads", where="T >= S + P", **GRID),
    expect(Checker, "BK-16", "violated", "BookKeeper #3214: all threads wait for callbacks behind "
           "them, at the same constants", where="T >= S + P", **GRID),
    prove(Checker, "BK-17", "nothing is lost, for all pools", for_all=("P", "S", "T")),
    prove(FewTasks, "BK-16", "who waits is helped, for all with fewer tasks",
          for_all=("P", "S", "T"), lemmas=("BK-17",)),
    expect(CallbacksApart, "BK-15", "holds", "with a thread for callbacks it always ends", **GRID),
    prove(CallbacksApart, "BK-16", "who waits is helped, for all tasks",
          for_all=("P", "S", "T"), lemmas=("BK-17",)),
    prove(CallbacksApart, "BK-17", "nothing is lost, for all pools", for_all=("P", "S", "T")),
)

UNSEEN = {
    "BK-15":
        "Where a checker hangs no permit is lost and none is refused: who sees the semaphore sees "
        "calls that hold all of them and have not given them back yet.",
    "BK-16": "Which thread waits for what is inside the checker.",
}
