"""Ticks in Storm: one timer in front of several bounded queues.

Theory of operation
-------------------
A tick is a tuple that a timer puts into a task's recvQ, which is bounded and may be full. One
timer thread serves all tasks of a worker, one after the other:

    timer  --- a tick for task 0 ---> [recvQ] ---> task 0, which may be stuck
           --- a tick for task 1 ---> [recvQ] ---> task 1 ...

The user-timer *waits* while a recvQ is full. As long as that task is stuck, no other task gets
a tick. What is counted in ticks, such as the timeouts of messages, has no upper bound (D14).

The flush-timer does not wait. It *skips* a recvQ that is full, and comes again in the next
period. Nobody delays anybody, but that tick is left out: good enough for a flush, which means
the same a period later, and not for what counts.

The repair is a timer that neither waits nor skips: it *owes* a tick to each recvQ that is full,
and goes on with the others. Periods that pass meanwhile add nothing to what is owed.

Task 0 may be stuck, for a while or for ever. The others go on.

Source: "Backpressure model for Storm 2.0" (STORM-2306); 000#within; in the
code Executor.setupTicks and the flush-tuple timer (tryPublishDirect).
"""

from __future__ import annotations

from ...expectations import expect
from ...notation import (
    MUST, SHOULD, Machine, action, array, boolean, const, integer, leads_to, require, step, upto,
)

__all__ = ["EXPECTATIONS", "OwingTimer", "SkippingTimer", "WaitingTimer"]

TICKS = "storm#threads, storm#D14"


class WaitingTimer(Machine):
    """What the user-timer does: a blocking publish to each in turn (D14)."""

    C = const(1, at_least=1)            # capacity of each recvQ
    n = const(2, at_least=2)            # tasks

    recvq = array(upto(n), integer(0, C))
    due = array(upto(n), boolean())     # a tick is due, and not in recvQ yet
    turn = integer(0, n)                # whom the timer serves next; n: the period is over

    # --- the timer ---------------------------------------------------------------------------

    @action(fair=True)
    def begin_period(self) -> None:
        """A tick is due to every task."""
        require(self.turn == self.n or not any(self.due))
        for task in range(self.n):
            self.due[task] = True
        self.turn = 0

    @action(fair=True, task=upto(n))
    def serve(self, task: int) -> None:
        """It is a task's turn: a tick into its recvQ, if there is room."""
        require(self.turn == task and self.due[task])
        if self.recvq[task] < self.C:
            self.recvq[task] += 1
            self.due[task] = False
        else:
            self.find_full(task)
        self.turn = task + 1

    def find_full(self, task: int) -> None:
        """There is no room: the timer waits until there is."""
        require(self.recvq[task] < self.C)

    # --- the tasks ---------------------------------------------------------------------------

    @action
    def process_if_not_stuck(self) -> None:
        """Task 0 takes a tuple; it need not, so this is not fair."""
        require(self.recvq[0] > 0)
        self.recvq[0] -= 1

    @action(fair=True, other=upto(n - 1))
    def process(self, other: int) -> None:
        """Any other task takes a tuple."""
        require(self.recvq[other + 1] > 0)
        self.recvq[other + 1] -= 1

    # --- rules -------------------------------------------------------------------------------

    @leads_to("STORM-L12", MUST, "A task that goes on gets the ticks that are due to it.",
              source=f"{TICKS}; STORM-2786, STORM-3514", other=upto(n - 1))
    def ticks_are_not_delayed(self, other: int) -> tuple[bool, bool]:
        """Whatever task 0 does."""
        return self.due[other + 1], not self.due[other + 1]

    @step("STORM-L13", SHOULD, "A tick that is due is not left out.", source=TICKS, task=upto(n))
    def ticks_are_not_left_out(self, after: WaitingTimer, task: int) -> bool:
        """It stays due until it is in recvQ."""
        is_settled = self.due[task] and not after.due[task]
        return not is_settled or after.recvq[task] > self.recvq[task]


class SkippingTimer(WaitingTimer):
    """What the flush-timer does: whose recvQ is full gets nothing in this period."""

    def find_full(self, task: int) -> None:
        """This tick is left out."""
        self.due[task] = False


class OwingTimer(WaitingTimer):
    """The repaired timer: a tick stays due to whose recvQ is full, and the others are served."""

    def find_full(self, task: int) -> None:
        """This tick stays due; the next period comes back to it."""


NOT_DELAYED, NOT_LEFT_OUT = "STORM-L12", "STORM-L13"

EXPECTATIONS = (
    expect(WaitingTimer, NOT_DELAYED, "violated", "one stuck task delays all others (D14)",
           C=(1, 2), n=(2, 3)),
    expect(WaitingTimer, NOT_LEFT_OUT, "holds", "waits, so nothing is left out", n=(2, 3)),
    expect(SkippingTimer, NOT_DELAYED, "holds", "skips, so nobody is delayed", C=(1, 2), n=(2, 3)),
    expect(SkippingTimer, NOT_LEFT_OUT, "violated",
           "a timer that skips full queues leaves ticks out (D14)", n=(2, 3)),
    expect(OwingTimer, NOT_DELAYED, "holds", "owes, and goes on", C=(1, 2), n=(2, 3)),
    expect(OwingTimer, NOT_LEFT_OUT, "holds", "owes, and goes on", C=(1, 2), n=(2, 3)),
)

UNSEEN = {
    "STORM-L12": "A tick that is late is told from one that is lost only in runs without an end.",
    "STORM-L13":
        "A tick that finds no room is left out by every timer that does not wait; who sent how "
        "many is inside it.",
}
