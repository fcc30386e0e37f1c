"""Batches in front of a recvQ, as the observer of a task's input sees them.

Theory. ``batching`` has a receiving thread with a batch of its own; ``observed_input`` sees a tuple
that arrives, one that is processed, and the lengths of the queues, and knows nothing of batches.
Nor need it: between two transfers a correct batch is empty. So in this view the task processes
between transfers only, and lengths are asked for there.

The observer follows K tuples; a run ends before the next.

Source: ``batching``, ``observed_input``.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...notation.views import Seen, View, see, shown
from ...refinements import refines, refused
from .batching import BatchingAsWritten, BatchingInput, EmptyingOnly, SpillingOnly
from .observed_input import ObservedInput

__all__ = ["BatchingSeen", "EXPECTATIONS"]


class BatchingSeen(View[BatchingInput]):
    """``history``: how many tuples have arrived, and for each one inside the chapter's number
    and the observer's."""

    history: tuple[int, tuple[tuple[int, int], ...]] = (0, ())
    around = ("emitted",)               # the sender's numbers

    def follows(self, machine: BatchingInput, action: str) -> bool:
        """True unless the task would process during a transfer."""
        return not (machine.transferring and action.startswith("process"))

    @shown
    def arrive(self, before: BatchingInput, after: BatchingInput) -> Seen:
        count, inside = self.history
        self.history = count + 1, (*inside, (before.emitted, count))
        return see("kept", sender=0)

    @shown
    def process(self, before: BatchingInput, after: BatchingInput) -> Seen:
        return self.processed(before.recvq[0])

    @shown
    def process_overflow(self, before: BatchingInput, after: BatchingInput) -> Seen:
        return self.processed(before.overflowq[0])

    def processed(self, number: int) -> Seen:
        """The processing of a tuple, by the observer's number."""
        count, inside = self.history
        mine = next(mine for its, mine in inside if its == number)
        self.history = count, tuple(each for each in inside if each[1] != mine)
        return see("processed", tuple=mine)

    def asked(self, machine: BatchingInput) -> Iterable[Seen]:
        """The lengths, between two transfers; and that the task has run out, if it has. A thread
        that cannot end its transfer takes no more from the sender."""
        if machine.transferring and "end_transfer" not in self.enabled:
            yield see("held_up", sender=0)
        if not machine.transferring:
            yield see("recvq_sized", count=len(machine.recvq))
            yield see("overflowq_sized", count=len(machine.overflowq))
            if not machine.recvq and not machine.overflowq:
                yield see("ran_out")


SEEN = refines(BatchingInput, ObservedInput, "a batch is a part of the path to recvQ",
               shows=BatchingSeen, seen_by={"C": "C", "R": 1, "S": 0, "K": 5},
               room=("self.named < self.K",), C=(1, 2), B=(1, 2), M=2)

EXPECTATIONS = (
    SEEN,
    refused(SpillingOnly, "STORM-I6", "no transfer empties the batch: its tuples are missing",
            like=SEEN, C=1, B=2),
    refused(EmptyingOnly, "STORM-Q1", "a refused tuple overtakes the batch", like=SEEN, C=1, B=2,
            beside=("STORM-B2",)),
    refused(BatchingAsWritten, "STORM-Q1", "no thread empties the batch (D10)", like=SEEN, C=1, B=2,
            beside=("STORM-B2",)),
)
