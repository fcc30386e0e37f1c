"""A controller's channels, first states and batches, as the failover observers see them.

Theory. Of a controller's channels the replacement of a leader is visible, which is allowed only if
its session may be over. Of the states in which it begins the consequences are visible: whether
every partition has a leader at the end, and whether a topic that was to be deleted is gone. Of a
batch the requests to a broker are visible, one after the other.

Source: ``controller_channels``, ``controller_states``, ``controller_requests``,
``observed_failover_liveness``, ``observed_failover``, ``observed_controller``.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...notation.views import Seen, View, see, shown
from ...refinements import refines, refused
from ..observed_failover import ObservedPartition
from ..observed_failover_liveness import ObservedDeletion, ObservedTenure
from .controller_channels import Channels, TakingSilenceForDeath
from .controller_requests import BatchOrder, MetadataFirst, StoppingFirst, WithoutLeaders
from .controller_states import (
    AllNew, AllOffline, AllOnline, AllReplicasOnline, BeginningStates, ReplicaStage,
)
from .observed_controller import ObservedController

__all__ = [
    "EXPECTATIONS", "BatchSeen", "DeletedSeen", "LastBatchSeen", "LedSeen", "TenureSeen",
]


class TenureSeen(View[Channels]):
    """A partition that broker 0 leads until it is given up; then the quorum says that there is no
    leader. Sessions end by the service's clock.
    """

    around = ("go", "fall_silent", "answer_again")

    def begins(self, machine: Channels) -> Iterable[Seen]:
        """At first broker 0 is the quorum's leader."""
        yield see("is_led", replica=0)

    @shown
    def go(self, before: Channels, after: Channels, broker: int) -> Seen:
        return see("may_be_gone", replica=broker)

    @shown
    def notice(self, before: Channels, after: Channels, broker: int) -> Seen | None:
        return see("is_led", replica=after.B) if broker == 0 else None


class LedSeen(View[BeginningStates]):
    """Leadership of the partition, when nothing happens any more."""

    def at_rest(self, machine: BeginningStates) -> Iterable[Seen]:
        """At the end: whether there is a live leader."""
        yield see("ends", leads=int(machine.has_leader()), in_sync=1)


class DeletedSeen(View[BeginningStates]):
    """Existence of the topic, when nothing happens any more."""

    @shown
    def want_away(self, before: BeginningStates, after: BeginningStates) -> Seen:
        return see("is_unwanted")

    @shown
    def answer(
        self, before: BeginningStates, after: BeginningStates, broker: int
    ) -> Seen | None:
        if any(after.replica[each] != ReplicaStage.SUCCESSFUL for each in range(after.B)):
            return None
        return see("goes")

    def at_rest(self, machine: BeginningStates) -> Iterable[Seen]:
        """At the end the topic is gone, if it was to be deleted."""
        yield see("ends")


class BatchSeen(View[BatchOrder]):
    """Requests of a batch to the broker. What the broker does then is not visible."""

    around = ("receive",)

    @shown
    def enqueue(self, before: BatchOrder, after: BatchOrder) -> Seen | None:
        if before.put == 0:
            return None
        return see("told_next", earlier=before.kind(before.put - 1), later=before.kind(before.put))


class LastBatchSeen(View[BatchOrder]):
    """The broker leads by the last batch, or not, when nothing happens any more."""

    around = ("receive",)

    def at_rest(self, machine: BatchOrder) -> Iterable[Seen]:
        """It leads if a request says so."""
        yield see("ends", leads=int(machine.led == machine.made), in_sync=1)


STAYS = refines(Channels, ObservedTenure, "a leader is replaced only when its session is over",
                shows=TenureSeen, seen_by={"N": "B"}, B=(1, 2), N=1, G=(1, 2))
LED = refines(BeginningStates, ObservedPartition, "every partition has a leader at the end",
              shows=LedSeen, seen_by={"N": 1}, room=("not self.over",), B=(1, 2))
DELETED = refines(BeginningStates, ObservedDeletion, "a topic that is to be deleted is gone at the "
                  "end",
                  shows=DeletedSeen, seen_by={"N": "B"}, B=(1, 2))
IN_TURN = refines(BatchOrder, ObservedController, "a broker gets requests in their "
                  "order", shows=BatchSeen,
                  seen_by={"P": 1, "E": 1}, N=(1, 2))

TOLD = refines(BatchOrder, ObservedPartition, "a broker leads by the last batch",
               shows=LastBatchSeen, seen_by={"N": 1}, room=("not self.over",), N=(1, 2))

EXPECTATIONS = (
    STAYS, LED, DELETED, IN_TURN, TOLD,
    refused(WithoutLeaders, "KAFKA-F14", "clients are sent to a broker that got no request",
            like=TOLD, N=1),
    refused(TakingSilenceForDeath, "KAFKA-F33", "a registered broker is replaced", like=STAYS, B=1,
            G=1),
    *(refused(variant, "KAFKA-F14", about, like=LED, B=1) for variant, about in (
        (AllOnline, "no election for a partition if its node names no leader"),
        (AllNew, "the node of a partition cannot be created once more"),
        (AllOffline, "there is no node to read"),
    )),
    refused(AllReplicasOnline, "KAFKA-F28", "a broker that was down got no "
            "request", like=DELETED, B=1),
    refused(MetadataFirst, "KAFKA-C24", "clients are sent to a broker that does not lead "
            "yet", like=IN_TURN,
            N=1),
    refused(StoppingFirst, "KAFKA-C24", "clients are sent to a stopped replica", like=IN_TURN, N=1),
)
