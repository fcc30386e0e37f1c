"""Executions of a basic bolt, as the observer of a root sees them.

Theory. The input of ``executions`` is the only tuple of a root here, and the bolt emits F tuples
for it, each of which is a part that reaches the sink. The acker is correct: an ack of the input
makes it ack the root, whatever was not emitted yet, and a fail makes it fail the root at once. The
observer knows when user code raises: a root is known to be failed when ``execute`` raises.

An input without a report of its failure times out with its root, later than a report would have
come. An input with which a worker dies belongs to another chapter, and so does the next input.

Source: ``executions``, ``observed_topology``; docs/sources/001.md#flow.
"""

from __future__ import annotations

from ...notation.views import LEFT_OUT, Seen, View, see, shown
from ...refinements import refines, refused
from ..topologies.observed_topology import ObservedRoot
from .executions import (
    AckingAnyway, AckingBeforehand, BasicBolt, FailingAnyway, ForgettingFailures, Phase, RichBolt,
)

__all__ = ["EXPECTATIONS", "ExecutionsSeen"]

LATE = 2
"""Instants until a failure is noticed if only the timeout reports it: D + 1."""


class ExecutionsSeen(View[BasicBolt]):
    """One input. ``history`` is true if it is over."""

    history: bool = False
    around = ("take_next", "dies")      # another input, and a worker that dies

    def follows(self, machine: BasicBolt, action: str) -> bool:
        """True for steps of the first input while its worker lives."""
        return not self.history and action not in ("take_next", "dies")

    @shown
    def begin(self, before: BasicBolt, after: BasicBolt) -> list[Seen]:
        return [see("emits"), *([see("acks")] if after.acked else [])]

    @shown
    def emit(self, before: BasicBolt, after: BasicBolt) -> Seen:
        return see("reaches", part=before.emitted)

    @shown
    def returns(self, before: BasicBolt, after: BasicBolt) -> object:
        """Nothing; a run that emits fewer tuples has another tree, and is left out."""
        return LEFT_OUT if before.emitted < before.F else None

    @shown
    def refuses(self, before: BasicBolt, after: BasicBolt) -> Seen:
        return see("is_faulted")

    @shown
    def ack(self, before: BasicBolt, after: BasicBolt) -> Seen:
        return see("acks")

    @shown
    def fail(self, before: BasicBolt, after: BasicBolt) -> Seen:
        if before.phase != Phase.REFUSED:
            return see("times_out", age=0)
        self.history = True
        return see("fails", told=0 if after.failed else LATE, calm=1)


SEEN = refines(BasicBolt, ObservedRoot, "a root is acked or failed as its input is",
               shows=ExecutionsSeen, seen_by={"n": "F", "D": LATE - 1}, F=(1, 2))

EXPECTATIONS = (
    SEEN,
    refused(AckingBeforehand, "STORM-C8", "an ack comes before the emitted tuples", like=SEEN, F=1),
    refused(AckingAnyway, "STORM-C20", "an ack in a finally, after a failure", like=SEEN, F=1),
    refused(ForgettingFailures, "STORM-C21", "FailedException is not reported", like=SEEN, F=1),
    refused(FailingAnyway, "STORM-C22", "a root fails although no bolt has failed it", like=SEEN,
            F=0,
            seen_by={"n": 1}),
    refused(RichBolt, "STORM-C8", "a bolt acks, and then emits", like=SEEN, F=1,
            beside=("STORM-E1",)),
)
