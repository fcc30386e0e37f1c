"""Stages that roll up, and those that batch, as their sources and sinks see them.

Theory. In ``summaries`` each value has weight 1, so an output stands for a number of values. A
source that has to wait sees it when it has another value, and a sink sees that no output comes for
its credit. Values have no order there, so the order of the values in a batch is not shown.

Source: ``summaries``, ``observed_summaries``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..notation.views import Seen, View, see, shown
from ..refinements import refines, refused
from .observed_summaries import ObservedBatches, ObservedSummaries
from .summaries import (
    BATCHES, FEW, Appending, Batching, Forgetting, HoldingUp, KeepingAList, Losing, Overfilling,
    Summaries,
)

__all__ = [
    "EXPECTATIONS", "BatchesSeen", "EmittingNothing", "Hesitating", "SummariesSeen",
    "WaitingForMore",
]


class SummariesSeen(View[Summaries]):
    """Each value that is taken or has to wait, and each output, or that there is none."""

    @shown
    def take(self, before: Summaries, after: Summaries) -> Seen:
        return see("takes", value=1)

    @shown
    def emit(self, before: Summaries, after: Summaries) -> Seen:
        if before.size > 1:
            return see("emits_several")
        return see("emits", total=after.sent - before.sent)

    def asked(self, machine: Summaries) -> Iterable[Seen | Sequence[Seen]]:
        """There is always another value, and another credit."""
        if "take" not in self.enabled and machine.received < machine.K:
            yield see("holds_up")
        if "emit" not in self.enabled:
            yield see("emits_nothing")


class BatchesSeen(View[Batching]):
    """The same for batches, which are lists."""

    @shown
    def take(self, before: Batching, after: Batching) -> Seen:
        return see("collects", value=1)

    @shown
    def emit(self, before: Batching, after: Batching) -> Seen:
        return see("sends", total=after.sent - before.sent)

    def asked(self, machine: Batching) -> Iterable[Seen | Sequence[Seen]]:
        """There is always another value, and another credit."""
        if "take" not in self.enabled and machine.received < machine.K:
            yield see("makes_wait")
        if "emit" not in self.enabled:
            yield see("sends_nothing")


class EmittingNothing(Summaries):
    """A summary of nothing goes if nothing has come."""

    def may_emit(self) -> bool:
        """True: an output goes with every credit."""
        return True


class Hesitating(Batching):
    """A stage that makes its source wait one value too early."""

    def may_take(self) -> bool:
        """The last place is never used."""
        return self.held < self.m - 1


class WaitingForMore(Batching):
    """A stage that sends only full batches."""

    def may_emit(self) -> bool:
        """False for the last values, which stay in an incomplete batch."""
        return self.held == self.m


SEEN = refines(Summaries, ObservedSummaries, "an output stands for every value that came",
               shows=SummariesSeen, seen_by={"K": "K"}, **FEW)
BATCHED = refines(Batching, ObservedBatches, "a batch has every value that came, and is bounded",
                  shows=BatchesSeen, seen_by={"K": "K", "m": "m"}, **BATCHES)

EXPECTATIONS = (
    SEEN,
    BATCHED,
    refused(Losing, "FLOW-56", "a value that takes the place of another", like=SEEN, K=2),
    refused(Forgetting, "FLOW-56", "an output that stands for one value only", like=SEEN, K=2),
    refused(HoldingUp, "FLOW-120", "a stage that rolls up one value and then waits", like=SEEN,
            K=2),
    refused(KeepingAList, "FLOW-120", "a list that is full makes its source wait", like=SEEN, K=3),
    refused(Appending, "FLOW-122", "a list in the place of a summary", like=SEEN, K=2),
    refused(EmittingNothing, "FLOW-125", "a summary of nothing", like=SEEN, K=1),
    refused(Hesitating, "FLOW-121", "the last place of a batch is not used", like=BATCHED, K=3,
            m=2),
    refused(Overfilling, "FLOW-123", "a full batch takes one more", like=BATCHED, K=3, m=(1, 2)),
    refused(WaitingForMore, "FLOW-124", "a batch waits until it is full", like=BATCHED, K=2, m=2),
)
