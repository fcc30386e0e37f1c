"""Two paths in Storm that cross the same two workers: why a receiving thread must not wait.

Theory of operation
-------------------
Two paths run through workers 0 and 1, one in each direction and back:

    path 0:   spout 0 (worker 0) --> middle (worker 1) --> last (worker 0)
    path 1:   spout 1 (worker 1) --> middle (worker 0) --> last (worker 1)

A link carries all tuples from one worker to the other, in order: those for the middle bolt
there, and those for the last one. There is no cycle among the components. There is one among
the threads if the receiving thread may wait for a free slot:

    receiving thread of 0  waits for  middle of 0          (it is full)
    middle of 0            waits for  the link from 0 to 1 (its output is refused)
    the link from 0 to 1   waits for  the receiving thread of 1
    receiving thread of 1  waits for  middle of 1,  and so on round to the first.

Both last bolts are idle meanwhile: the tuples for them are behind the ones that find no free slot.
The overflowQ cuts the cycle where a receiving thread would wait. So does dropping. Waiting
*at the limit* of an overflowQ closes it again, unless the limit X is greater than H, the tuples
that a spout sends after the first one has spilled and before it hears ON. Below W + H, the
most that an overflowQ can hold, the receiving threads may still have to wait, but not in a
cycle. Without any overflowQ (X = 0) every pair of crossing paths can deadlock.

*Synchronous* communication is the text's alternative: there "we would not need this", since the
receiver can refuse. A sender waits for the answer to its tuple, and a refusal leaves the tuple
with it. That cuts the cycle too, without any overflowQ, *if* a refusal goes back to the task that
sent the tuple: then nothing on the link is behind it. If the worker's transfer thread keeps
the refused tuple and tries it again before it sends the next one, the tuples for the last bolts
are behind it, and the cycle is closed as before, though no receiving thread ever waits. The
text speaks of refusing "the current batch of messages"; a batch with tuples for several tasks is
the second case. And tasks that try again must not crowd out the others: a place on the link for
each task of the worker is enough.

A link holds W tuples; a full link stops every task that wants to send over it, as a full transfer
queue does. The bolts hear of a full overflowQ at once, the spouts after at most H tuples more;
the effects of late or lost statuses are the subject of ``storm.status``.

Source: "Backpressure model for Storm 2.0" (STORM-2306); 000#overflow.
"""

from __future__ import annotations

from enum import IntEnum

from ...expectations import expect
from ...notation import (
    MUST, Machine, action, always, array, boolean, choice, const, fifo, integer, leads_to,
    never_stuck, require, upto,
)

__all__ = [
    "EXPECTATIONS", "CrossingPaths", "DeafSpouts", "DroppingAtTheLimit", "RefusingReceiver",
    "RefusingTheHead", "SendingRegardless", "Task", "WaitingAtTheLimit", "WaitingForRecvq",
    "WaitingForTheOutput", "WithoutTransferThread",
]

OVERFLOW = "000#overflow ('prevent deadlocked wait cycles'); storm#D7"


class Task(IntEnum):
    """The tasks of a worker that receive tuples from the other one."""

    MIDDLE = 0      # sends one tuple back for each that it processes
    LAST = 1        # sends nothing


class CrossingPaths(Machine):
    """An overflowQ takes every tuple that recvQ does not."""

    C = const(1, at_least=1)            # capacity of each recvQ
    W = const(1, at_least=1)            # tuples that fit on each link, its capacity
    H = const(0)                        # tuples that a spout sends before it hears ON

    link = array(upto(2), fifo(choice(Task), W))        # from worker w to the other
    middle = array(upto(2), integer(0, C + 2 * W + H))  # in recvQ and overflowQ of w's middle
    last = array(upto(2), integer(0, C + 2 * W))        # … of its last
    pending = array(upto(2), boolean())                 # the middle's output is not sent yet
    late = array(upto(2), integer(0, H))                # sent by w's spout after the ON

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
        """The link accepts the middle's output."""
        require(self.pending[worker])
        require(len(self.link[worker]) < self.W and self.may_send_to_last(1 - worker))
        self.link[worker].push(Task.LAST)
        self.pending[worker] = False

    def may_send_to_last(self, worker: int) -> bool:
        """True if a worker's last bolt is not known to be backlogged."""
        return self.last[worker] <= self.C

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
        """True always: the next tuple can be placed."""
        return True

    def place(self, worker: int) -> None:
        """Put a tuple for the middle into recvQ or the overflowQ."""
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

    @never_stuck("STORM-L9", MUST,
                 "Two paths that cross the same two workers in opposite directions never "
                 "deadlock: some task can always take a step.",
                 source=OVERFLOW)
    def never_at_rest(self) -> bool:
        """Work is always left: the spouts always have data."""
        return False

    @always("STORM-L10", MUST,
            "A receiving thread never waits: it can place, drop or refuse the next tuple on its "
            "link at any time.",
            source=OVERFLOW, worker=upto(2))
    def receiver_never_waits(self, worker: int) -> bool:
        """The next tuple on the link can always be placed."""
        return not self.link[1 - worker] or self.can_place(worker)

    @always("STORM-L11", MUST,
            "recvQ and overflowQ of a last bolt hold at most C + W tuples together, those of a "
            "middle bolt at most C + W + H; C is the capacity of a recvQ, W that of a link, H "
            "the most that the spout sends from the setting of the bolt's flag until it hears "
            "ON.",
            source="000#overflow; storm#status", worker=upto(2))
    def overflow_is_what_was_in_flight(self, worker: int) -> bool:
        """A limit of an overflowQ is chosen by this bound."""
        return (self.middle[worker] <= self.C + self.W + self.H
                and self.last[worker] <= self.C + self.W)



class SendingRegardless(CrossingPaths):
    """The middles ignore the status of the last bolts; the guard keeps the model finite."""

    def may_send_to_last(self, worker: int) -> bool:
        """True up to the bound of the model."""
        return self.last[worker] <= self.C + self.W


class DeafSpouts(CrossingPaths):
    """The spouts ignore the status of the middles; the guard keeps the model finite."""

    @action(fair=True, worker=upto(2))
    def emit(self, worker: int) -> None:
        """Send up to the bound of the model."""
        require(len(self.link[worker]) < self.W)
        require(self.middle[1 - worker] + len(self.link[worker]) < self.C + 2 * self.W + self.H)
        self.link[worker].push(Task.MIDDLE)


class WaitingAtTheLimit(CrossingPaths):
    """The receiving thread waits while the middle's overflowQ is at its limit."""

    X = const(0)                        # the limit; 0: there is no overflowQ at all

    def can_place(self, worker: int) -> bool:
        """False for a tuple for the middle if both its queues are full."""
        return (not self.link[1 - worker] or self.link[1 - worker][0] == Task.LAST
                or self.middle[worker] < self.C + self.X)


class WaitingForRecvq(CrossingPaths):
    """The receiving thread waits for a place in recvQ, whichever task its tuple is for."""

    def can_place(self, worker: int) -> bool:
        """The next tuple has a place in its own recvQ."""
        if not self.link[1 - worker]:
            return True
        is_last = self.link[1 - worker][0] == Task.LAST
        return (self.last[worker] if is_last else self.middle[worker]) < self.C


class WaitingForTheOutput(CrossingPaths):
    """The receiving thread gives the middle nothing while an output of it waits to be sent."""

    def can_place(self, worker: int) -> bool:
        """A tuple for the last bolt always has somewhere to go."""
        return (not self.link[1 - worker] or self.link[1 - worker][0] == Task.LAST
                or not self.pending[worker])


class DroppingAtTheLimit(CrossingPaths):
    """A tuple that finds the middle's overflowQ at its limit is dropped."""

    X = const(0)                        # the limit; 0: there is no overflowQ at all

    def place(self, worker: int) -> None:
        """Put the tuple into one of the queues, or drop it."""
        if self.middle[worker] < self.C + self.X:
            self.middle[worker] += 1


class WithoutTransferThread(CrossingPaths):
    """STORM-2983: the number of workers is read from the topology's settings, not from its
    placement, and a worker that takes itself for the only one starts no transfer thread: the
    tuples that its middle emits stay there."""

    @action(fair=True, worker=upto(2))
    def forward(self, worker: int) -> None:
        """Never: no thread forwards the output."""
        super().forward(worker)
        require(False)


# --- synchronous communication ------------------------------------------------------------------

class RefusingReceiver(CrossingPaths):
    """No overflowQ. Each task waits for the answer to its tuple before it sends the next, and a
    refused tuple stays with the task, which sends it again."""

    asked = array(upto(2), boolean())       # w's spout waits for an answer
    offered = array(upto(2), boolean())     # w's middle waits for an answer

    @action(fair=True, worker=upto(2))
    def emit(self, worker: int) -> None:
        """Send the next tuple, or the refused one: a spout still has both."""
        require(not self.asked[worker] and len(self.link[worker]) < self.W)
        self.link[worker].push(Task.MIDDLE)
        self.asked[worker] = True

    @action(fair=True, worker=upto(2))
    def forward(self, worker: int) -> None:
        """Send the middle's output, which stays with it until it is accepted."""
        require(self.pending[worker] and not self.offered[worker])
        require(len(self.link[worker]) < self.W)
        self.link[worker].push(Task.LAST)
        self.offered[worker] = True

    @action(fair=True, worker=upto(2))
    def receive(self, worker: int) -> None:
        """Accept or refuse the next tuple, and answer at once."""
        require(self.can_place(worker))
        if self.link[1 - worker].pop() == Task.LAST:
            self.offered[1 - worker] = False
            if self.last[worker] < self.C:
                self.last[worker] += 1
                self.pending[1 - worker] = False
        else:
            self.asked[1 - worker] = False
            if self.middle[worker] < self.C:
                self.middle[worker] += 1


    @leads_to("STORM-L14", MUST,
              "If the last bolt of one of two crossing paths has no tuple, it receives one "
              "eventually, given that the spouts always have data.",
              source=OVERFLOW, worker=upto(2))
    def last_bolts_are_served(self, worker: int) -> tuple[bool, bool]:
        """Endless retries are no deadlock, so STORM-L9 alone would not show that they help."""
        return self.last[worker] == 0, self.last[worker] > 0


class RefusingTheHead(RefusingReceiver):
    """A refused tuple stays at the head of the link: the transfer thread sends it again before
    the next one."""

    @action(fair=True, worker=upto(2))
    def receive(self, worker: int) -> None:
        """Accept the head, if there is a free slot; a refusal changes nothing."""
        if self.link[1 - worker]:
            full = (self.last[worker] == self.C if self.link[1 - worker][0] == Task.LAST
                    else self.middle[worker] == self.C)
            require(not full)
        super().receive(worker)


DEADLOCK_FREE, NEVER_WAITS = "STORM-L9", "STORM-L10"
IN_FLIGHT, SERVED = "STORM-L11", "STORM-L14"

EXPECTATIONS = (
    expect(CrossingPaths, DEADLOCK_FREE, "holds", "with an overflowQ", W=(1, 2), H=(0, 1)),
    expect(CrossingPaths, NEVER_WAITS, "holds", "with an overflowQ", W=(1, 2), H=(0, 1)),
    expect(CrossingPaths, IN_FLIGHT, "holds", "the overflowQ is bounded", W=(1, 2), H=(0, 1)),
    expect(SendingRegardless, IN_FLIGHT, "violated", "bolts that ignore ON", W=1),
    expect(DeafSpouts, IN_FLIGHT, "violated", "spouts that ignore ON", W=1, H=0),
    expect(WaitingAtTheLimit, DEADLOCK_FREE, "violated", "waiting at the limit deadlocks "
           "exactly if a spout may exceed it before it hears ON (D7)",
           where="X <= H", W=1, H=(0, 1), X=(0, 1, 2)),
    expect(WaitingAtTheLimit, DEADLOCK_FREE, "violated",
           "waiting at the limit deadlocks exactly if X <= H, also with two tuples on the link",
           where="X <= H", W=2, H=1, X=(1, 2)),
    expect(WaitingAtTheLimit, NEVER_WAITS, "violated", "waits if the limit is too low",
           where="X < W + H", W=1, H=(0, 1), X=(0, 1, 2)),
    expect(WaitingAtTheLimit, NEVER_WAITS, "violated",
           "with two tuples on the link the receiving thread waits if X < W + H",
           where="X < W + H", W=2, H=1, X=(1, 2)),
    expect(WaitingForRecvq, NEVER_WAITS, "violated", "waits for a place in recvQ", W=1, H=(0, 1)),
    expect(WaitingForTheOutput, NEVER_WAITS, "violated", "waits until an output is sent", W=1,
           H=(0, 1)),
    expect(WithoutTransferThread, DEADLOCK_FREE, "violated",
           "no transfer thread: nothing leaves the worker (STORM-2983)", W=(1, 2)),
    expect(RefusingReceiver, DEADLOCK_FREE, "holds", "a receiver that refuses: no overflowQ needed",
           W=(1, 2)),
    expect(RefusingReceiver, NEVER_WAITS, "holds",
           "a receiver that refuses answers at once", W=(1, 2)),
    expect(RefusingReceiver, IN_FLIGHT, "holds",
           "a receiver that refuses holds no more than recvQ", W=1),
    expect(RefusingReceiver, SERVED, "violated",
           "both paths continue, unless a spout that tries again takes the"
           " middle's place on the link", where="W < 2", W=(1, 2)),
    expect(RefusingTheHead, SERVED, "violated",
           "no tuple passes a head that is refused and tried again", W=(1, 2)),
    expect(RefusingTheHead, DEADLOCK_FREE, "violated",
           "refused, and tried again before the next one", W=(1, 2)),
    expect(DroppingAtTheLimit, DEADLOCK_FREE, "holds", "dropping at the limit", H=1, X=(0, 1)),
)
