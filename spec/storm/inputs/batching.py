"""Batches in front of a task's recvQ in Storm: where order and liveness get lost.

Theory of operation
-------------------
With ``producer.batch.size`` B > 1 a thread does not insert a tuple into recvQ; it adds it to a
batch of its own. When the batch is full it is *flushed*: as many tuples as fit go to recvQ.
"Published" then means "in the batch", and a receiving thread that believes it has put a tuple
into recvQ may not have done so:

    remote sender --> [ batch, at most B ] --flush--> [ recvQ, at most C ] ----> task
                  \\-- if the flush fails --> [ overflowQ, at most M ] ---------'

1. *Order*. The batch is full, recvQ too, the flush fails, the tuple goes to the overflowQ.
   The task processes recvQ, finds it empty, turns to the overflowQ, and the tuples of the batch
   come later still: with C = 4 and B = 2 the order is 1, 2, 3, 4, 7, 8, 5, 6 (D10).
2. *Liveness*. The last tuples of a burst fill no batch. Flush tuples make executors flush
   theirs; nothing makes a receiving thread do so. Its tuples stay until more arrive.

The rule that repairs both: **the batch is a part of the path to recvQ**. It is empty whenever
the overflowQ is not, so that no tuple in it can be overtaken: when the flush fails, its tuples
are the first to go to the overflowQ. And it is empty at the end of every transfer (the tuples
that arrive together). Each half repairs only one of the two, as the variants show. With
B = 1 there is no batch, and nothing to repair; that is Storm's default.

The run is endless: tuples are numbered modulo more than can be outstanding. How the task takes
tuples is the subject of ``storm.queue``. One remote sender is enough.

Source: "Backpressure model for Storm 2.0" (STORM-2306); 000#order; in the code
JCQueue.BatchInserter and WorkerState.transferLocalBatch. The other use of batches, by
executors, which do flush but wait when they do, is D11.
"""

from __future__ import annotations

from ...expectations import expect
from ...notation import (
    MUST, Machine, action, always, boolean, const, fifo, integer, leads_to, require,
)

__all__ = [
    "EXPECTATIONS", "BatchingAsWritten", "BatchingInput", "EmptyingOnly", "SpillingOnly",
]

ORDERING = "000#order; storm#D10"


class BatchingInput(Machine):
    """The receiving thread with its batch, with the repair."""

    C = const(1, at_least=1)            # capacity of recvQ
    B = const(2, at_least=1)            # size of a batch; 1: there is none
    M = const(2, at_least=1)            # what can be in flight when the sender is stopped

    batch = fifo(integer(0, C + 2 * B + M), B)
    recvq = fifo(integer(0, C + 2 * B + M), C)
    overflowq = fifo(integer(0, C + 2 * B + M), M + B)

    transferring = boolean()            # in the middle of tuples that arrived together
    emitted = integer(0, C + 2 * B + M, init=1)     # number of the next tuple
    expected = integer(0, C + 2 * B + M, init=1)    # … that the task must process next
    disordered = boolean()
    moved = boolean()                   # the last step took tuples out of the batch

    # --- the receiving thread ----------------------------------------------------------------

    @action
    def arrive(self) -> None:
        """A tuple arrives, perhaps the first of a transfer; it never passes the overflowQ."""
        require(len(self.overflowq) < self.M)       # the sender was stopped by then
        self.moved = False
        published = False
        if not self.overflowq:
            published = self.publish(self.emitted)
        if not published:
            self.spill(self.emitted)
        self.emitted = (self.emitted + 1) % (self.C + 2 * self.B + self.M + 1)
        self.transferring = True

    def publish(self, number: int) -> bool:
        """JCQueue.tryPublish: into recvQ or, with batches, into the batch; or refused."""
        if self.B == 1:
            fits = len(self.recvq) < self.C
            if fits:
                self.recvq.push(number)
            return fits
        if len(self.batch) == self.B:
            self.flush()
        accepted = len(self.batch) < self.B
        if accepted:
            self.batch.push(number)
        return accepted

    def flush(self) -> None:
        """JCQueue.tryFlush: as many tuples as fit into recvQ."""
        under_way = len(self.batch)
        for place in range(self.B):
            if place < under_way and len(self.recvq) < self.C:
                self.recvq.push(self.batch.pop())
                self.moved = True

    def spill(self, number: int) -> None:
        """Put the batch into the overflowQ, and then the refused tuple."""
        self.spill_batch()
        self.overflowq.push(number)

    def spill_batch(self) -> None:
        """Put the whole batch into the overflowQ."""
        under_way = len(self.batch)
        for place in range(self.B):
            if place < under_way:
                self.overflowq.push(self.batch.pop())
                self.moved = True

    @action(fair=True)
    def end_transfer(self) -> None:
        """No tuple is left of those that arrived together: the batch is emptied."""
        require(self.transferring)
        self.transferring = False
        self.moved = False
        self.empty_batch()

    def empty_batch(self) -> None:
        """Put into recvQ what fits, the rest into the overflowQ: the thread must not wait."""
        self.flush()
        self.spill_batch()

    # --- the task ----------------------------------------------------------------------------

    @action(fair=True)
    def process(self) -> None:
        """The task takes a tuple from recvQ."""
        self.note(self.recvq.pop())

    @action(fair=True)
    def process_overflow(self) -> None:
        """recvQ is empty: the task takes a tuple from the overflowQ."""
        require(not self.recvq)
        self.note(self.overflowq.pop())

    def note(self, number: int) -> None:
        """Process a tuple, and record whether it is the next one."""
        self.disordered = self.disordered or number != self.expected
        self.expected = (number + 1) % (self.C + 2 * self.B + self.M + 1)
        self.moved = False

    # --- rules -------------------------------------------------------------------------------

    @always("STORM-B1", MUST,
            "With any batch size, a task processes the tuples of a remote sender in the order "
            "of emission, without gaps or repetitions.",
            source=ORDERING)
    def order_is_kept(self) -> bool:
        """No tuple was processed out of order."""
        return not self.disordered

    @leads_to("STORM-B2", MUST,
              "If a receiving thread's batch is not empty, tuples leave it eventually, even if "
              "no more arrive.",
              source="storm#D10, storm#eventual-delivery")
    def batch_is_not_forgotten(self) -> tuple[bool, bool]:
        """The batch is flushed or spilled eventually."""
        return len(self.batch) > 0, self.moved or not self.batch

    @always("STORM-B3", MUST, "While the overflowQ is not empty, the batch of the receiving "
            "thread is empty.",
            source=ORDERING)
    def nothing_can_be_overtaken(self) -> bool:
        """Tuples in the batch are older than those in the overflowQ, and would come later."""
        return not self.overflowq or not self.batch

    @always("STORM-B4", MUST, "The batch of a receiving thread is empty whenever no transfer "
            "(of the tuples that arrived together) is in progress.", source=ORDERING)
    def transfers_leave_nothing(self) -> bool:
        """No other thread flushes a receiving thread's batch."""
        return self.transferring or not self.batch


class SpillingOnly(BatchingInput):
    """The batch goes to the overflowQ before a tuple does, but no transfer empties it."""

    def empty_batch(self) -> None:
        """Nothing: the tuples of the batch stay there."""


class EmptyingOnly(BatchingInput):
    """Each transfer flushes what fits; a refused tuple overtakes the batch."""

    def spill(self, number: int) -> None:
        """Put the tuple into the overflowQ at once."""
        self.overflowq.push(number)

    def empty_batch(self) -> None:
        """Put into recvQ what fits; the rest stays."""
        self.flush()


class BatchingAsWritten(EmptyingOnly):
    """The code's behaviour: it does neither (D10)."""

    def empty_batch(self) -> None:
        """Nothing: no thread flushes a receiving thread's batch."""


ORDER, LIVE, NOT_OVERTAKEN, EMPTIED = "STORM-B1", "STORM-B2", "STORM-B3", "STORM-B4"
SIZES = (1, 2, 3)

EXPECTATIONS = (
    expect(BatchingInput, ORDER, "holds", "the batch is part of the path", B=SIZES, C=(1, 2)),
    expect(BatchingInput, LIVE, "holds", "the batch is part of the path", B=SIZES, C=(1, 2)),
    expect(BatchingInput, NOT_OVERTAKEN, "holds", "the batch is part of the path", B=SIZES,
           C=(1, 2)),
    expect(BatchingInput, EMPTIED, "holds", "the batch is part of the path", B=SIZES, C=(1, 2)),
    expect(BatchingAsWritten, ORDER, "violated", "out of order exactly if there are batches "
           "(D10)", where="B > 1", B=(1, 2)),
    expect(BatchingAsWritten, ORDER, "violated", "1, 2, 3, 4, and then 7 (D10)", C=4, B=2),
    expect(BatchingAsWritten, LIVE, "violated", "a batch that no thread flushes (D10)",
           where="B > 1", B=(1, 2)),
    expect(SpillingOnly, ORDER, "holds", "spilling alone keeps the order", B=2),
    expect(SpillingOnly, LIVE, "violated",
           "spilling alone forgets a batch that nothing follows", B=2),
    expect(SpillingOnly, EMPTIED, "violated",
           "spilling alone leaves a batch behind between two transfers", B=2),
    expect(EmptyingOnly, NOT_OVERTAKEN, "violated", "emptying alone lets the batch be overtaken",
           B=2),
    expect(EmptyingOnly, ORDER, "violated", "a batch that is overtaken breaks the order", B=2),
    expect(EmptyingOnly, LIVE, "violated", "emptying alone forgets tuples that did not fit", B=2),
)
