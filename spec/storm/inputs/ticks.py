"""Ticks in Storm: one timer in front of several bounded queues.

Theory of operation
-------------------
A tick is a tuple that a timer puts into a task's recvQ, which is bounded and may be full. One
timer thread serves all tasks of a worker, one after the other:

    timer  --- a tick for task 0 ---> [recvQ] ---> task 0, which may be blocked
           --- a tick for task 1 ---> [recvQ] ---> task 1 ...

The user-timer *waits* while a recvQ is full. As long as that task is blocked, no other task gets
a tick. A time that is counted in ticks, such as the timeout of a message, has no upper bound (D14).

The flush-timer does not wait. It *skips* a recvQ that is full, and comes again in the next
period. No task delays another, but that tick is left out: good enough for a flush, which has the
same effect a period later, and not for ticks that are counted.

The fix is a timer that neither waits nor skips: it *owes* a tick to each recvQ that is full,
and continues with the others. Periods that pass meanwhile add nothing to what is owed.

Task 0 may be blocked, for a while or forever. The others continue.

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
    """The user-timer: a blocking publish to each task in turn (D14)."""

    C = const(1, at_least=1)            # capacity of each recvQ
    n = const(2, at_least=2)            # tasks

    recvq = array(upto(n), integer(0, C))
    due = array(upto(n), boolean())     # a tick is due, and not in recvQ yet
    turn = integer(0, n)                # the task that is served next; n: the period is over

    # --- the timer ---------------------------------------------------------------------------

    @action(fair=True)
    def begin_period(self) -> None:
        """A period begins: a tick is due to every task."""
        require(self.turn == self.n or not any(self.due))
        for task in range(self.n):
            self.due[task] = True
        self.turn = 0

    @action(fair=True, task=upto(n))
    def serve(self, task: int) -> None:
        """Serve a task: put a tick into its recvQ, if there is a free slot."""
        require(self.turn == task and self.due[task])
        if self.recvq[task] < self.C:
            self.recvq[task] += 1
            self.due[task] = False
        else:
            self.find_full(task)
        self.turn = task + 1

    def find_full(self, task: int) -> None:
        """Wait until the recvQ has a free slot."""
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

    @leads_to("STORM-L12", MUST,
              "A tick that is due to a task does not stay due forever (it enters the task's "
              "recvQ or is skipped), even if another task is blocked.",
              source=f"{TICKS}; STORM-2786, STORM-3514",
              other=upto(n - 1))
    def ticks_are_not_delayed(self, other: int) -> tuple[bool, bool]:
        """Task 0 must not delay the others."""
        return self.due[other + 1], not self.due[other + 1]

    @step("STORM-L13", SHOULD, "A due tick stays due until it is in the recvQ of its task.",
          source=TICKS, task=upto(n))
    def ticks_are_not_left_out(self, after: WaitingTimer, task: int) -> bool:
        """It stays due until it is in recvQ."""
        is_settled = self.due[task] and not after.due[task]
        return not is_settled or after.recvq[task] > self.recvq[task]


class SkippingTimer(WaitingTimer):
    """The flush-timer: a task with a full recvQ gets no tick in this period."""

    def find_full(self, task: int) -> None:
        """Leave this tick out."""
        self.due[task] = False


class OwingTimer(WaitingTimer):
    """The fixed timer: a tick stays due to a task with a full recvQ, and others are served."""

    def find_full(self, task: int) -> None:
        """Nothing: this tick stays due until the next period."""


NOT_DELAYED, NOT_LEFT_OUT = "STORM-L12", "STORM-L13"

EXPECTATIONS = (
    expect(WaitingTimer, NOT_DELAYED, "violated", "one blocked task delays all others (D14)",
           C=(1, 2), n=(2, 3)),
    expect(WaitingTimer, NOT_LEFT_OUT, "holds", "waits, so no tick is left out", n=(2, 3)),
    expect(SkippingTimer, NOT_DELAYED, "holds", "skips, so no task is delayed", C=(1, 2), n=(2, 3)),
    expect(SkippingTimer, NOT_LEFT_OUT, "violated",
           "a timer that skips full queues leaves ticks out (D14)", n=(2, 3)),
    expect(OwingTimer, NOT_DELAYED, "holds", "owes, and continues", C=(1, 2), n=(2, 3)),
    expect(OwingTimer, NOT_LEFT_OUT, "holds", "owes, and continues", C=(1, 2), n=(2, 3)),
)

UNSEEN = {
    "STORM-L12": "A late tick differs from a lost one only in infinite runs.",
    "STORM-L13":
        "A tick that finds no slot is left out by every timer that does not wait; how many were "
        "sent is known inside only.",
}
