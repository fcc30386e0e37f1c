"""A spout over a log, as its observer sees it.

Theory. ``source`` and ``guarantees`` have a manager with its lists, bolts that process, a log that
forgets, and crashes. ``observed_partition`` sees the messages that are emitted, acked, failed and
committed, those that leave the log, and starts. That the bolts have processed a message is not
seen, only its ack. A fetch that brings nothing is shown: then there is nothing to emit.

One call of nextTuple fetches, if nothing waits, and emits; nothing comes between. The chapter has
two steps for it, and this view has only runs in which the second follows the first. Otherwise a
message that is fetched and not emitted yet could be overtaken by one that fails, and all F of a
fetch would come first, although STORM-K29 allows F - 1.

If two tuples share an id (``SharedSeen``), each of them is acked when it is processed, and the
manager's reaction to the first ack is hidden.

Source: ``source``, ``guarantees``, ``observed_partition``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from ...notation.views import Seen, View, see, shown
from ...refinements import refines, refused
from .guarantees import (
    BackingOff, GivingUpAll, GivingUpBelow, RememberingAcked, RememberingInside, RememberingOdd,
    RetryingAllButLast, RetryingAtOnce, RetryingTogether,
)
from .observed_partition import ObservedPartition
from .source import (
    AddingAtEmit, CommittingHighest, CountingSiblings, FetchingAhead, ForgettingFailed,
    ForgettingRetries, GivingUp, IgnoringFailed,
    KeepingDroppedFailed, KeepingDroppedPending, LookingBackOnly, PartitionManager, ReplayingAll,
    SharingAnId,
)

__all__ = ["EXPECTATIONS", "BackingOffSeen", "PartitionSeen", "SharedSeen"]


class PartitionSeen(View[PartitionManager]):
    """Messages by their offsets; all of the log is there from the beginning. ``history`` is true
    if a fetch has just been made, in a call that continues to emit."""

    history: bool = False
    # The topology and its acker, the log, and the faults.
    around: ClassVar[tuple[str, ...]] = (
        "process", "is_complete", "may_fail", "settle", "drop", "crashes", "failures")

    def follows(self, machine: PartitionManager, action: str) -> bool:
        """True unless ``action`` breaks into a call, or would fetch at the maximum."""
        if action == "fill":
            return machine.M == 0 or len(machine.under_way) < machine.M
        return action == "next" or not self.history

    def begins(self, machine: PartitionManager) -> Iterable[Seen]:
        """The log is filled."""
        yield see("appended", count=machine.L)

    @shown
    def fill(self, before: PartitionManager, after: PartitionManager) -> Seen | None:
        self.history = len(after.waiting) > 0
        return None if after.waiting else see("nothing")

    @shown
    def next(self, before: PartitionManager, after: PartitionManager) -> Seen:
        self.history = False
        return see("emitted", offset=before.waiting[0])

    @shown
    def ack(self, before: PartitionManager, after: PartitionManager, offset: int) -> Seen:
        return see("ack", offset=offset)

    @shown
    def fail(self, before: PartitionManager, after: PartitionManager, offset: int) -> Seen:
        return see("fail", offset=offset)

    @shown
    def commit(self, before: PartitionManager, after: PartitionManager) -> Seen:
        return see("committed_at", position=after.committed)

    @shown
    def crash(self, before: PartitionManager, after: PartitionManager) -> Seen:
        return see("restarted")

    @shown
    def drop(self, before: PartitionManager, after: PartitionManager, offset: int) -> Seen:
        return see("compacted", offset=offset)

    def asked(self, machine: PartitionManager) -> Iterable[Seen]:
        """Show that there is nothing to emit, if so; and a commit that changes nothing."""
        if not machine.waiting and machine.fetches_from() >= machine.L:
            yield see("nothing")
        if machine.committed == machine.completed():
            yield see("committed_at", position=machine.committed)


class BackingOffSeen(PartitionSeen):
    """The same view, with the passing of time."""

    @shown
    def time_passes(self, before: BackingOff, after: BackingOff) -> Seen:
        return see("waits", milliseconds=1)


class SharedSeen(PartitionSeen):
    """The same view, with two tuples for each message."""

    around = (*PartitionSeen.around, "process_first")

    @shown
    def next(self, before: PartitionManager, after: PartitionManager) -> Seen:
        self.history = False
        return see("split", offset=before.waiting[0])

    @shown
    def process_first(self, before: SharingAnId, after: SharingAnId, offset: int) -> Seen:
        return see("ack", offset=offset)


OFTEN = {"L": "L", "F": "F", "retries": "X"}

SEEN = refines(PartitionManager, ObservedPartition, "emissions and commits follow the rules",
               shows=PartitionSeen, seen_by=OFTEN | {"M": "M"}, L=3, F=(1, 2), M=(0, 1), X=1, Y=1)
GONE = refines(PartitionManager, ObservedPartition, "a log that forgets changes none of that",
               shows=PartitionSeen, seen_by=OFTEN, L=3, F=2, X=1, Y=0, G=1)
LIMITED = refines(GivingUp, ObservedPartition,
                  "a message is given up after its last retry, not before",
                  shows=PartitionSeen, seen_by={"L": "L", "F": "F", "retries": "retries"},
                  L=2, F=2, X=2, Y=1, retries=(0, 1))
SLOWLY = refines(BackingOff, ObservedPartition, "delayed retries come in time",
                 shows=BackingOffSeen, seen_by=OFTEN | {"first": "first", "longest": "longest"},
                 L=2, X=2, Y=0, longest=(1, 2))
SHARED = refines(CountingSiblings, ObservedPartition, "two tuples of one id are acked as one",
                 shows=SharedSeen, seen_by=OFTEN, L=2, X=1, Y=1)

EXPECTATIONS = (
    SEEN, GONE, LIMITED, SLOWLY, SHARED,
    *(refused(variant, rule, about, like=SEEN, F=2, M=0) for variant, rule, about in (
        (AddingAtEmit, "STORM-K20", "pending only from emit on (D13)"),
        (CommittingHighest, "STORM-K20", "commit = max(acked) + 1"),
        (ForgettingFailed, "STORM-K20", "FAIL takes the offset out of pending"),
        (IgnoringFailed, "STORM-K27", "failed offsets are not fetched again"),
        (LookingBackOnly, "STORM-K27", "messages too far behind are not replayed (STORM-399)"),
        (ReplayingAll, "STORM-K24", "a replay emits messages that did not fail"),
    )),
    refused(FetchingAhead, "STORM-K29", "messages fetched ahead come before a replay", like=SEEN,
            L=4, F=2, M=0, Y=0),
    refused(ForgettingRetries, "STORM-K20", "a commit ignores waiting retries",
            like=LIMITED, retries=1),
    refused(RememberingAcked, "STORM-K21", "an acked offset delays the commit", like=SLOWLY,
            longest=1),
    refused(RememberingInside, "STORM-K21", "an offset that is acked among others stays",
            like=SLOWLY, F=2, longest=1),
    refused(RememberingOdd, "STORM-K21", "every second offset stays", like=SLOWLY, longest=1),
    refused(GivingUp, "STORM-K27", "it gives up, and its policy is to retry always", like=SEEN,
            F=2, M=0, X=1, Y=0, retries=0),
    refused(KeepingDroppedFailed, "STORM-K30", "a dropped offset is sought forever (STORM-643)",
            like=GONE),
    refused(KeepingDroppedPending, "STORM-K30", "a dropped offset stays pending (STORM-2608)",
            like=GONE),
    refused(SharingAnId, "STORM-K20", "the first ack counts", like=SHARED),
    refused(RetryingAtOnce, "STORM-K35", "the delay is not used", like=SLOWLY),
    refused(RetryingAllButLast, "STORM-K35", "a retry of all but the last", like=SLOWLY),
    refused(RetryingTogether, "STORM-K35", "one retry takes all others along", like=SLOWLY, F=2),
    refused(GivingUpAll, "STORM-K20", "one that is given up takes others with it", like=LIMITED,
            X=3, Y=0, retries=1),
    refused(GivingUpBelow, "STORM-K20", "one that is given up takes older ones with it",
            like=LIMITED, X=1, Y=0, retries=0),
)
