"""Batches in front of a recvQ, as the observer of a task's input sees them.

Theory. ``batching`` has a receiving thread with a batch of its own; ``observed_input`` sees a tuple
that arrives, one that is processed, and the lengths of the queues, and knows nothing of batches.
Nor need it: between two transfers there is no tuple in a right batch. So the observer looks on
where the task processes between transfers only, and asks for lengths there.

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
    """``history``: how many tuples have arrived, and the numbers of those that are inside, each
    with the chapter's own."""

    history: tuple[int, tuple[tuple[int, int], ...]] = (0, ())
    around = ("emitted",)               # the sender's numbers

    def follows(self, machine: BatchingInput, action: str) -> bool:
        """The task's steps come between transfers."""
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
        """By the number that the observer gave to the tuple."""
        count, inside = self.history
        mine = next(mine for its, mine in inside if its == number)
        self.history = count, tuple(each for each in inside if each[1] != mine)
        return see("processed", tuple=mine)

    def asked(self, machine: BatchingInput) -> Iterable[Seen]:
        """The lengths, between two transfers; and whether there is another tuple."""
        if not machine.transferring:
            yield see("recvq_sized", count=len(machine.recvq))
            yield see("overflowq_sized", count=len(machine.overflowq))
            if not machine.recvq and not machine.overflowq:
                yield see("ran_out")


SEEN = refines(BatchingInput, ObservedInput, "a batch is a part of the way into recvQ",
               shows=BatchingSeen, seen_by={"C": "C", "R": 1, "S": 0, "K": 5},
               room=("self.named < self.K",), C=(1, 2), B=(1, 2), M=2)

EXPECTATIONS = (
    SEEN,
    refused(SpillingOnly, "STORM-I6", "no transfer empties the batch: what is in it is not there",
            like=SEEN, C=1, B=2),
    refused(EmptyingOnly, "STORM-Q1", "what is refused passes by the batch", like=SEEN, C=1, B=2,
            beside=("STORM-B2",)),
    refused(BatchingAsWritten, "STORM-Q1", "nobody empties the batch (D10)", like=SEEN, C=1, B=2,
            beside=("STORM-B2",)),
)
