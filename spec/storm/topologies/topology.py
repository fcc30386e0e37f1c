"""A spout, a bolt and an acker that feed each other: which tasks may wait for which.

Theory of operation
-------------------
With acknowledgements every topology is a cycle, even if its bolts form none:

                 data                       done
        spout --------------->  bolt  ----------------+
         ^  |                                         v
         |  +--------------- init ---------------->  acker
         |                                             |
         +-------------------- acked ------------------+

Each task has a bounded recvQ, and a task that sends must not block: it would stop reading,
and the cycle would close. So a message that cannot be sent goes to the sender's own *pendingEmits*,
one FIFO queue, and is retried from its head. The stopping rules are:

- a **bolt** (the acker is one) consumes nothing while its pendingEmits is not empty;
- a **spout** calls nextTuple only while its pendingEmits is empty, and **never stops
  consuming** its recvQ.

X waits for Y if the head of X's pendingEmits goes to Y and Y's recvQ is full. A deadlock is
a cycle of waiting tasks none of which consumes. Bolts form no cycle among themselves, so
every cycle goes through a spout; a spout always consumes; hence there is no deadlock. The
machines below show that each half of this is needed: a spout that stops consuming, a spout
with an emit or flush that blocks, and bolts that feed each other all deadlock.

pendingEmits needs no configured bound. A bolt's never holds more than one execution emits,
a spout's no more than one round of nextTuple emits. A bound below that, at which emit waits,
makes the spout stop consuming in the midst of nextTuple. Messages that the spout emits from ack()
or fail() are not gated by its pendingEmits: there no bound holds (STORM-T4), and with a bound at
which emit waits even a generous one ends in the deadlock.

Without ackers there is no cycle, no INIT, and nothing for the spout to consume; a root is done
when the bolt has processed it. The same rules hold ("with or without ACKing enabled").

Granularity: one action is a call of nextTuple, one tryTransfer of a message it emits, one
retry of a pending head, or the processing of one received message with what it emits. The
spout's retries may come between two emits of a round: an emit that waits for a free slot needs
that, and elsewhere it only adds behaviour. A run emits N root tuples in all.

Source: "Backpressure model for Storm 2.0" (STORM-2306); 000#within, which names the messaging
redesign's section 3.6; the code is ExecutorTransfer.tryTransfer, BoltExecutor.call and
SpoutExecutor.call.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from ...expectations import expect
from ...notation import (
    MUST, Machine, action, always, array, boolean, choice, const, fifo, integer, leads_to,
    never_stuck, record, require, subset, upto,
)

__all__ = [
    "EXPECTATIONS", "BlockingFlush", "BoundedEmittingInAck", "BoundedPending", "ChainedBolts",
    "EchoingBolts", "EmittingInAck", "GreedyBolt", "LoopingBolts", "LosingWithoutAckers",
    "SpoutThatStopsConsuming", "Topology", "TryingFlush", "WithoutAckers",
]

WITHIN = "000#within (deadlock cycles, pendingEmitQ)"


class Task(IntEnum):
    """The three tasks of the topology."""

    SPOUT = 0
    BOLT = 1
    ACKER = 2


class Kind(IntEnum):
    """The kind of a message, which determines its destination."""

    DATA = 0        # spout -> bolt: the tuple itself
    INIT = 1        # spout -> acker: this root exists
    DONE = 2        # bolt -> acker: the tuple was processed
    ACKED = 3       # acker -> spout: the root is complete


class Message(NamedTuple):
    """A message about one root tuple."""

    kind: Kind
    root: int


def destination(kind: int) -> Task:
    """The task that receives messages of a kind."""
    if kind == Kind.DATA:
        return Task.BOLT
    return Task.SPOUT if kind == Kind.ACKED else Task.ACKER


class Topology(Machine):
    """The code's stopping rules: bolts stop consuming while something is pending, spouts
    never do."""

    C = const(1, at_least=1)            # capacity of each recvQ
    E = const(1, at_least=1)            # root tuples that one call of nextTuple emits
    N = const(6, at_least=1)            # root tuples in all

    recvq = array(Task, fifo(record(Message, kind=choice(Kind), root=integer(0, N - 1)), C))
    pending = array(
        Task, fifo(record(Message, kind=choice(Kind), root=integer(0, N - 1)), 2 * E + 2))
    begun = integer(0, N)               # roots for which nextTuple was called
    left = integer(0, 2 * E)            # messages that this call has yet to emit
    half_seen = subset(upto(N))         # roots of which the acker has seen INIT or DONE
    acked = integer(0, N)               # roots acknowledged to the spout

    def transfer(self, task: int, message: Message) -> None:
        """tryTransfer: put the message into the recvQ, or append it to pendingEmits."""
        to = destination(message.kind)
        if not self.pending[task] and len(self.recvq[to]) < self.C:
            self.recvq[to].push(message)
        else:
            self.pending[task].push(message)

    # --- the spout -------------------------------------------------------------------

    @action(fair=True)
    def next_tuple(self) -> None:
        """The spout calls nextTuple, since nothing is pending."""
        require(self.left == 0 and not self.pending[Task.SPOUT] and self.begun < self.N)
        more = min(self.E, self.N - self.begun)
        self.begun += more
        self.left = 2 * more

    @action(fair=True)
    def emit(self) -> None:
        """Emit the next message of this call: for each root its data, then its init."""
        require(self.left > 0)
        self.transfer(Task.SPOUT, self.upcoming())
        self.left -= 1

    def upcoming(self) -> Message:
        """The message that is emitted next."""
        root = self.begun - (self.left + 1) // 2
        return Message(Kind.DATA if self.left % 2 == 0 else Kind.INIT, root)

    @action(fair=True)
    def spout_consumes(self) -> None:
        """The spout takes an acknowledgement, whatever is pending."""
        require(self.left == 0)         # its thread is not inside nextTuple
        self.recvq[Task.SPOUT].pop()
        self.acked += 1

    # --- bolt and acker --------------------------------------------------------------

    @action(fair=True)
    def bolt_consumes(self) -> None:
        """The bolt processes a tuple and reports it to the acker."""
        require(not self.pending[Task.BOLT])
        root = self.recvq[Task.BOLT].pop().root
        self.transfer(Task.BOLT, Message(Kind.DONE, root))

    @action(fair=True)
    def acker_consumes(self) -> None:
        """INIT and DONE, in either order, complete a root."""
        require(not self.pending[Task.ACKER])
        root = self.recvq[Task.ACKER].pop().root
        if root in self.half_seen:
            self.half_seen.discard(root)
            self.transfer(Task.ACKER, Message(Kind.ACKED, root))
        else:
            self.half_seen.add(root)

    @action(fair=True, task=Task)
    def retry(self, task: Task) -> None:
        """The head of a task's pendingEmits is sent; only the head is retried."""
        to = destination(self.pending[task][0].kind if self.pending[task] else Kind.DATA)
        require(len(self.recvq[to]) < self.C)
        self.recvq[to].push(self.pending[task].pop())

    # --- rules -----------------------------------------------------------------------

    @never_stuck("STORM-T1", MUST,
                 "Whenever no task can take a step, every root was acknowledged: spouts, bolts "
                 "and ackers never deadlock.",
                 source=f"{WITHIN}; STORM-2306; storm#waits")
    def may_rest(self) -> bool:
        """True if every root is acknowledged."""
        return self.acked == self.N

    @leads_to("STORM-T2", MUST, "Every root that the spout emits is acknowledged to it eventually.",
              source=f"{WITHIN}; storm#waits", root=upto(N))
    def roots_are_acknowledged(self, root: int) -> tuple[bool, bool]:
        """Roots are completed in the order of their numbers, so counting is enough."""
        return self.begun > root, self.acked > root

    @always("STORM-T3", MUST, "A bolt's pendingEmits holds at most what one execution emits.",
            source=f"{WITHIN}; storm#executors (BoltExecutor.call); STORM-3073")
    def pending_of_bolts_is_bounded(self) -> bool:
        """Here bolt and acker emit at most one message for each that they receive."""
        return len(self.pending[Task.BOLT]) <= 1 and len(self.pending[Task.ACKER]) <= 1

    @always("STORM-T4", MUST,
            "A spout's pendingEmits holds at most what one round of nextTuple emits.",
            source="storm#executors (SpoutExecutor.call), storm#waits; STORM-3073")
    def pending_of_spout_is_bounded(self) -> bool:
        """A data message and an init for each of E roots."""
        return len(self.pending[Task.SPOUT]) <= 2 * self.E


class WithoutAckers(Topology):
    """ACKing is off: the spout emits data alone, and learns nothing of its processing. ``acked``
    counts the roots that the bolt has processed."""

    @action(fair=True)
    def next_tuple(self) -> None:
        """Emit one message for each root."""
        super().next_tuple()
        self.left = self.left // 2

    def upcoming(self) -> Message:
        """The next message of the round is data."""
        return Message(Kind.DATA, self.begun - self.left)

    @action(fair=True)
    def bolt_consumes(self) -> None:
        """The bolt processes a tuple, and has nothing to send."""
        self.recvq[Task.BOLT].pop()
        self.acked += 1


class LosingWithoutAckers(WithoutAckers):
    """Without ackers a refused tuple is not kept: its loss would not be noticed."""

    def transfer(self, task: int, message: Message) -> None:
        """Send the tuple, or throw it away if the bolt's recvQ is full."""
        if len(self.recvq[Task.BOLT]) < self.C:
            super().transfer(task, message)


class SpoutThatStopsConsuming(Topology):
    """A spout that consumes nothing while something is pending, like a bolt."""

    @action(fair=True)
    def spout_consumes(self) -> None:
        """Consume only with an empty pendingEmits."""
        require(not self.pending[Task.SPOUT])
        super().spout_consumes()


class BoundedPending(Topology):
    """The spout's pendingEmits has a bound, and emit waits for a free slot in it (STORM-292).

    Storm's own bounded queue threw an exception there instead, and the worker died
    (STORM-3073)."""

    bound = const(1, at_least=1)        # of the spout's pendingEmits

    @action(fair=True)
    def emit(self) -> None:
        """Emit, or wait inside nextTuple, where the spout consumes nothing."""
        passes = (not self.pending[Task.SPOUT]
                  and len(self.recvq[destination(self.upcoming().kind)]) < self.C)
        require(passes or len(self.pending[Task.SPOUT]) < self.bound)
        super().emit()


class GreedyBolt(Topology):
    """A bolt that continues to consume while something is pending."""

    @action(fair=True)
    def bolt_consumes(self) -> None:
        """Consume even with pending messages; the guard only keeps the machine finite."""
        require(len(self.pending[Task.BOLT]) < 2 * self.E + 2)
        root = self.recvq[Task.BOLT].pop().root
        self.transfer(Task.BOLT, Message(Kind.DONE, root))


class EmittingInAck(Topology):
    """A spout with an ack() that may emit another root: pendingEmits does not gate that."""

    @action(fair=True)
    def spout_consumes_and_emits(self) -> None:
        """An acknowledgement is taken, and its callback emits."""
        require(self.begun < self.N)
        require(len(self.pending[Task.SPOUT]) <= 2 * self.E)    # keeps the machine finite
        self.spout_consumes()
        self.begun += 1
        self.transfer(Task.SPOUT, Message(Kind.DATA, self.begun - 1))
        self.transfer(Task.SPOUT, Message(Kind.INIT, self.begun - 1))


class BoundedEmittingInAck(BoundedPending):
    """ack() may emit, and emit waits at a bound: a bound that fits a round is not enough."""

    @action(fair=True)
    def spout_consumes_and_emits(self) -> None:
        """The callback emits a root as nextTuple does, message by message."""
        require(self.begun < self.N)
        self.spout_consumes()
        self.begun += 1
        self.left = 2


class BlockingFlush(Topology):
    """Data is batched at the spout, and a tick makes it flush: it waits until at least one
    tuple is in the bolt's recvQ (D11; with a metrics tick in its place, STORM-1027)."""

    B = const(2, at_least=1)            # tuples that the batch holds

    batch = fifo(integer(0, Topology.N - 1), B)
    flushing = boolean(False)

    def transfer(self, task: int, message: Message) -> None:
        """Data counts as sent once it is in the batch."""
        if message.kind != Kind.DATA:
            super().transfer(task, message)
        elif not self.pending[task] and self.has_room():
            self.put(message.root)
        else:
            self.pending[task].push(message)

    def has_room(self) -> bool:
        """True if the batch can take a tuple, perhaps after it has passed one on."""
        return len(self.batch) < self.B or len(self.recvq[Task.BOLT]) < self.C

    def put(self, root: int) -> None:
        """Put the root into the batch; a full one first passes on its oldest tuple."""
        if len(self.batch) == self.B:
            self.recvq[Task.BOLT].push(Message(Kind.DATA, self.batch.pop()))
        self.batch.push(root)

    @action(fair=True, task=Task)
    def retry(self, task: Task) -> None:
        """Retry the head; data goes to the batch here, too."""
        message = self.pending[task][0] if self.pending[task] else Message(Kind.INIT, 0)
        require(task != Task.SPOUT or not self.flushing)
        if message.kind == Kind.DATA:
            require(self.has_room())
            self.put(self.pending[task].pop().root)
        else:
            super().retry(task)

    @action(fair=True)
    def tick(self) -> None:
        """A flush tuple: the spout starts to flush."""
        require(self.left == 0 and not self.flushing and len(self.batch) > 0)
        self.flushing = True

    @action(fair=True)
    def flush(self) -> None:
        """The flush returns once a tuple has found a free slot."""
        require(self.flushing and len(self.recvq[Task.BOLT]) < self.C)
        self.recvq[Task.BOLT].push(Message(Kind.DATA, self.batch.pop()))
        self.flushing = False

    @action(fair=True)
    def next_tuple(self) -> None:
        """The thread must not wait in the flush."""
        require(not self.flushing)
        super().next_tuple()

    @action(fair=True)
    def spout_consumes(self) -> None:
        """The thread must not wait in the flush: that wait is what closes the cycle."""
        require(not self.flushing)
        super().spout_consumes()


class TryingFlush(BlockingFlush):
    """A tick passes on what fits and does not wait: the fix for D11."""

    @action(fair=True)
    def tick(self) -> None:
        """Start only if the flush need not wait."""
        require(len(self.recvq[Task.BOLT]) < self.C)
        super().tick()

    @action(fair=True)
    def flush(self) -> None:
        """Flush; no other task sends to the bolt, so there is still room."""
        super().flush()


# --- bolts in a cycle ----------------------------------------------------------------------

class LoopingBolts(Machine):
    """Two bolts that feed each other, and a spout that feeds the first (STORM-3637).

    Tuples need no names here: a recvQ is the number of tuples in it."""

    C = const(1, at_least=1)            # capacity of each recvQ

    recvq = array(upto(2), integer(0, C))
    pending = array(upto(2), boolean(False))

    @action(fair=True)
    def publish(self) -> None:
        """The spout sends to the first bolt."""
        require(self.recvq[0] < self.C)
        self.recvq[0] += 1

    @action(fair=True, bolt=upto(2))
    def consume(self, bolt: int) -> None:
        """A bolt takes a tuple and sends one to the other."""
        require(not self.pending[bolt] and self.recvq[bolt] > 0)
        self.recvq[bolt] -= 1
        if self.recvq[1 - bolt] < self.C:
            self.recvq[1 - bolt] += 1
        else:
            self.pending[bolt] = True

    @action(fair=True)
    def finish(self) -> None:
        """The second bolt may also process a tuple without sending one."""
        require(not self.pending[1] and self.recvq[1] > 0)
        self.recvq[1] -= 1

    @action(fair=True, bolt=upto(2))
    def retry(self, bolt: int) -> None:
        """The other bolt accepts the pending tuple."""
        require(self.pending[bolt] and self.recvq[1 - bolt] < self.C)
        self.pending[bolt] = False
        self.recvq[1 - bolt] += 1

    @never_stuck("STORM-T5", MUST,
                 "Bolts never deadlock, even if they send to each other in a cycle.",
                 source=f"{WITHIN}; STORM-3637 (closed as abandoned); storm#waits")
    def never_at_rest(self) -> bool:
        """Work is always left: the spout always has more."""
        return False


class EchoingBolts(LoopingBolts):
    """The second bolt sends one tuple back for each that it gets."""

    @action(fair=True)
    def finish(self) -> None:
        """Never: nothing leaves the cycle."""
        require(False)


class WaitingToTake(EchoingBolts):
    """A bolt waits for a free slot before it takes a tuple, so that nothing is ever pending."""

    @action(fair=True, bolt=upto(2))
    def consume(self, bolt: int) -> None:
        """The other's recvQ has a free slot."""
        require(self.recvq[1 - bolt] < self.C)
        super().consume(bolt)


class ChainedBolts(LoopingBolts):
    """The second bolt sends nothing back: a graph without cycles."""

    @action(fair=True, bolt=upto(2))
    def consume(self, bolt: int) -> None:
        """Only the first bolt emits."""
        require(bolt == 0)
        super().consume(bolt)


STUCK = "STORM-T1"

EXPECTATIONS = (
    expect(Topology, STUCK, "holds", "the code's rules do not deadlock",
           E=(1, 3), C=1),
    expect(SpoutThatStopsConsuming, STUCK, "violated",
           "the spout too stops consuming while something is pending",
           C=(1, 2)),
    expect(BoundedPending, STUCK, "violated",
           "emit waits at a bound below what one round emits",
           E=4, bound=1, N=8),
    *(expect(BoundedPending, STUCK, "holds", "a bound that fits one round does not deadlock",
             E=E, bound=bound, N=8) for E, bound in ((4, 8), (2, 4))),
    expect(BoundedPending, STUCK, "violated",
           "emit waits at a bound below what one round emits",
           E=2, bound=1, N=8),
    expect(Topology, STUCK, "holds", "the code's rules, larger queues", E=(1, 2), C=2),
    expect(WithoutAckers, STUCK, "holds", "without ackers: no cycle", E=(1, 3), C=(1, 2)),
    expect(WithoutAckers, "STORM-T2", "holds",
           "without ackers every root is processed", E=(1, 3), C=(1, 2)),
    expect(WithoutAckers, "STORM-T4", "holds",
           "without ackers a spout holds back at most one round", E=(1, 3), C=1),
    expect(LosingWithoutAckers, STUCK, "violated",
           "without ackers roots are missing if refused tuples are thrown away", C=1,
           E=(1, 3)),
    expect(Topology, "STORM-T2", "holds", "every root is acknowledged", E=(1, 3), C=1),
    expect(SpoutThatStopsConsuming, "STORM-T2", "violated",
           "a spout that stops consuming leaves roots unacknowledged",
           C=1),
    expect(Topology, "STORM-T3", "holds", "a bolt holds back one execution", E=(1, 3), C=1),
    expect(Topology, "STORM-T4", "holds", "a spout holds back one round", E=(1, 3), C=1),
    expect(GreedyBolt, "STORM-T3", "violated", "a bolt that continues to consume", E=1, C=1),
    expect(EmittingInAck, "STORM-T4", "violated", "emits in ack() are not gated", E=1, C=1),
    expect(EmittingInAck, STUCK, "holds",
           "emits in ack() block no task if pendingEmits has no bound", E=1, C=1),
    expect(BoundedEmittingInAck, STUCK, "violated",
           "emits in ack() deadlock if pendingEmits has a bound",
           E=1, bound=(2, 3, 4), N=10),
    expect(BlockingFlush, STUCK, "violated",
           "a flush that waits, in the spout (storm#D11, STORM-1027)",
           C=1),
    expect(TryingFlush, STUCK, "holds", "a flush that passes on what fits", C=1),
    expect(LoopingBolts, "STORM-T5", "violated",
           "bolts that feed each other (STORM-3637)", C=(1, 2, 3)),
    expect(EchoingBolts, "STORM-T5", "violated", "nothing leaves the cycle", C=(1, 2, 3)),
    expect(WaitingToTake, "STORM-T5", "violated", "each waits for a free slot before it takes",
           C=(1, 2, 3)),
    expect(ChainedBolts, "STORM-T5", "holds", "bolts without a cycle", C=(1, 2, 3)),
)
