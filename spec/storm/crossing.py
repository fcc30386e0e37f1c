"""Two paths in Storm that cross the same two workers: why a receiving thread must not wait.

Theory of operation
-------------------
Two paths run through workers 0 and 1, one in each direction and back:

    path 0:   spout 0 (worker 0) --> middle (worker 1) --> last (worker 0)
    path 1:   spout 1 (worker 1) --> middle (worker 0) --> last (worker 1)

A link carries all tuples from one worker to the other, in order: those for the middle bolt
there, and those for the last one. There is no cycle among the components. There is one among
the threads if the receiving thread may wait for room:

    receiving thread of 0  waits for  middle of 0          (it is full)
    middle of 0            waits for  the link from 0 to 1 (its output does not get through)
    the link from 0 to 1   waits for  the receiving thread of 1
    receiving thread of 1  waits for  middle of 1,  and so on round to the first.

Both last bolts are idle meanwhile: the tuples for them stand behind the ones that do not get
in. The overflowQ cuts the cycle where a receiving thread would wait. So does dropping. Waiting
*at the limit* of an overflowQ ties it again, unless the limit X is greater than H, the tuples
that a spout sends after the first one has spilled and before it hears ON. Below W + H, the
most that an overflowQ can hold, the receiving threads may still have to wait, but not in a
circle. Without any overflowQ (X = 0) every pair of crossing paths can deadlock.

A link holds W tuples; a full link stops whoever wants to send over it, as a full transfer
queue does. The bolts hear of a full overflowQ at once, the spouts after at most H tuples more;
what late or lost statuses do is the subject of ``storm.status``.

Source: "Backpressure model for Storm 2.0" (STORM-2306), section 2 (b), third paragraph.
"""

from __future__ import annotations

from enum import IntEnum

from ..expectations import expect
from ..notation import (
    MUST, Machine, action, always, array, boolean, choice, const, fifo, integer, never_stuck,
    require, upto,
)

__all__ = [
    "EXPECTATIONS", "CrossingPaths", "DroppingAtTheLimit", "Task", "WaitingAtTheLimit",
    "WithoutTransferThread",
]

OVERFLOW = "000, section 2 (b) ('prevent deadlocked wait cycles'); storm.md D7"


class Task(IntEnum):
    """The tasks of a worker that receive tuples from the other one."""

    MIDDLE = 0      # sends one tuple back for each that it processes
    LAST = 1        # sends nothing


class CrossingPaths(Machine):
    """The overflowQ takes what recvQ does not."""

    C = const(1, at_least=1)            # capacity of each recvQ
    W = const(1, at_least=1)            # capacity of each link
    H = const(0)                        # tuples that a spout sends before it hears ON

    link = array(upto(2), fifo(choice(Task), W))        # from worker w to the other
    middle = array(upto(2), integer(0, C + W + H))      # in recvQ and overflowQ of w's middle
    last = array(upto(2), integer(0, C + W))            # … of its last
    pending = array(upto(2), boolean())                 # the middle's output is not sent yet
    late = array(upto(2), integer(0, H))                # what w's spout has sent after the ON

    @action(fair=True, worker=upto(2))
    def emit(self, worker: int) -> None:
        """A spout, which always has data, sends a tuple to the other worker's middle."""
        backlogged = self.middle[1 - worker] > self.C
        require(len(self.link[worker]) < self.W)
        require(not backlogged or self.late[worker] < self.H)
        self.late[worker] = self.late[worker] + 1 if backlogged else 0
        self.link[worker].push(Task.MIDDLE)

    @action(fair=True, worker=upto(2))
    def forward(self, worker: int) -> None:
        """The middle's output gets through to the link."""
        require(self.pending[worker])
        require(len(self.link[worker]) < self.W and self.last[1 - worker] <= self.C)
        self.link[worker].push(Task.LAST)
        self.pending[worker] = False

    @action(fair=True, worker=upto(2))
    def receive(self, worker: int) -> None:
        """The receiving thread of a worker places the next tuple from the other one."""
        require(self.can_place(worker))
        task = self.link[1 - worker].pop()
        if task == Task.LAST:
            self.last[worker] += 1
        else:
            self.place(worker)

    def can_place(self, worker: int) -> bool:
        """The next tuple has somewhere to go: always."""
        return True

    def place(self, worker: int) -> None:
        """A tuple for the middle: into recvQ, or into the overflowQ."""
        self.middle[worker] += 1

    @action(fair=True, worker=upto(2))
    def process(self, worker: int) -> None:
        """The middle processes a tuple, which gives an output."""
        require(self.middle[worker] > 0 and not self.pending[worker])
        self.middle[worker] -= 1
        self.pending[worker] = True

    @action(fair=True, worker=upto(2))
    def finish(self, worker: int) -> None:
        """The last bolt processes a tuple."""
        require(self.last[worker] > 0)
        self.last[worker] -= 1

    @never_stuck("STORM-L9", MUST, "Two paths that cross cannot deadlock.", source=OVERFLOW)
    def never_at_rest(self) -> bool:
        """The spouts always have data, and the last bolts are always ready."""
        return False

    @always("STORM-L10", MUST, "A receiving thread never waits.", source=OVERFLOW, worker=upto(2))
    def receiver_never_waits(self, worker: int) -> bool:
        """Whatever is next on the link can be placed."""
        return not self.link[1 - worker] or self.can_place(worker)

    @always("STORM-L11", MUST, "An overflowQ holds at most what was on the link.",
            source="000, section 2 (b); storm.md 1.7", worker=upto(2))
    def overflow_is_what_was_in_flight(self, worker: int) -> bool:
        """By their types as well; stated because limits are chosen by it."""
        return (self.middle[worker] <= self.C + self.W + self.H
                and self.last[worker] <= self.C + self.W)


class WaitingAtTheLimit(CrossingPaths):
    """The receiving thread waits while the middle's overflowQ is at its limit."""

    X = const(0)                        # the limit; 0: there is no overflowQ at all

    def can_place(self, worker: int) -> bool:
        """Not a tuple for the middle that finds both queues full."""
        return (not self.link[1 - worker] or self.link[1 - worker][0] == Task.LAST
                or self.middle[worker] < self.C + self.X)


class DroppingAtTheLimit(CrossingPaths):
    """A tuple that finds the middle's overflowQ at its limit is dropped."""

    X = const(0)                        # the limit; 0: there is no overflowQ at all

    def place(self, worker: int) -> None:
        """Into one of the queues, or nowhere."""
        if self.middle[worker] < self.C + self.X:
            self.middle[worker] += 1


class WithoutTransferThread(CrossingPaths):
    """STORM-2983: the number of workers is read from the topology's settings, not from where
    it was placed, and a worker that takes itself for the only one starts no transfer thread:
    what its middle emits stays where it is."""

    @action(fair=True, worker=upto(2))
    def forward(self, worker: int) -> None:
        """There is nobody to do it."""
        super().forward(worker)
        require(False)


DEADLOCK_FREE, NEVER_WAITS = "STORM-L9", "STORM-L10"

EXPECTATIONS = (
    expect(CrossingPaths, DEADLOCK_FREE, "holds", "with an overflowQ", W=(1, 2), H=(0, 1)),
    expect(CrossingPaths, NEVER_WAITS, "holds", "with an overflowQ", W=(1, 2), H=(0, 1)),
    expect(CrossingPaths, "STORM-L11", "holds", "the overflowQ is bounded", W=(1, 2), H=(0, 1)),
    expect(WaitingAtTheLimit, DEADLOCK_FREE, "violated", "waiting at the limit deadlocks "
           "exactly where a spout may exceed it before it hears ON (D7)",
           where="X <= H", W=1, H=(0, 1), X=(0, 1, 2)),
    expect(WaitingAtTheLimit, DEADLOCK_FREE, "violated", "… whatever else is on the link",
           where="X <= H", W=2, H=1, X=(1, 2)),
    expect(WaitingAtTheLimit, NEVER_WAITS, "violated", "waits where the limit is below what comes",
           where="X < W + H", W=1, H=(0, 1), X=(0, 1, 2)),
    expect(WaitingAtTheLimit, NEVER_WAITS, "violated", "… and what else is on the link",
           where="X < W + H", W=2, H=1, X=(1, 2)),
    expect(WithoutTransferThread, DEADLOCK_FREE, "violated",
           "no transfer thread: nothing leaves the worker (STORM-2983)", W=(1, 2)),
    expect(DroppingAtTheLimit, DEADLOCK_FREE, "holds", "dropping at the limit", H=1, X=(0, 1)),
)
