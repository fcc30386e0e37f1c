"""A controller's channels, first states and batches, as the observers of failover see them.

Theory. Of a controller's channels one sees whether a broker that leads is replaced, and that is to
be so only where its session may be over. Of the states in which it begins one sees what comes of
them: whether every partition is led in the end, and whether a topic that was to go is gone. Of a
batch one sees by which requests a broker is told, one after the other.

Source: ``controller_channels``, ``controller_states``, ``controller_requests``,
``observed_delivery``, ``observed_failover``, ``observed_controller``.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...notation.views import Seen, View, see, shown
from ...refinements import refines, refused
from ..observed_delivery import ObservedDeletion, ObservedTenure
from ..observed_failover import ObservedPartition
from .controller_channels import Channels, TakingSilenceForDeath
from .controller_requests import BatchOrder, MetadataFirst, StoppingFirst
from .controller_states import (
    AllNew, AllOffline, AllOnline, AllReplicasOnline, BeginningStates, ReplicaStage,
)
from .observed_controller import ObservedController

__all__ = ["EXPECTATIONS", "BatchSeen", "DeletedSeen", "LedSeen", "TenureSeen"]


class TenureSeen(View[Channels]):
    """A partition that broker 0 leads, until it is given up; then the quorum says that nobody
    does. Sessions end by the service's clock."""

    around = ("go", "fall_silent", "answer_again")

    def begins(self, machine: Channels) -> Iterable[Seen]:
        """That one leads, by the quorum's word."""
        yield see("is_led", replica=0)

    @shown
    def go(self, before: Channels, after: Channels, broker: int) -> Seen:
        return see("may_be_gone", replica=broker)

    @shown
    def notice(self, before: Channels, after: Channels, broker: int) -> Seen | None:
        return see("is_led", replica=after.B) if broker == 0 else None


class LedSeen(View[BeginningStates]):
    """Whether the partition is led, when nothing happens any more."""

    def at_rest(self, machine: BeginningStates) -> Iterable[Seen]:
        """By somebody who is there."""
        yield see("ends", leads=int(machine.has_leader()), in_sync=1)


class DeletedSeen(View[BeginningStates]):
    """Whether the topic is gone, when nothing happens any more."""

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
        """If it was to go."""
        yield see("ends")


class BatchSeen(View[BatchOrder]):
    """By which requests the broker is told. What it does then is its own affair."""

    around = ("receive",)

    @shown
    def enqueue(self, before: BatchOrder, after: BatchOrder) -> Seen | None:
        if before.put == 0:
            return None
        return see("told_next", earlier=before.kind(before.put - 1), later=before.kind(before.put))


STAYS = refines(Channels, ObservedTenure, "who leads is replaced only when its session is over",
                shows=TenureSeen, seen_by={"N": "B"}, B=(1, 2), N=1, G=(1, 2))
LED = refines(BeginningStates, ObservedPartition, "every partition is led in the end",
              shows=LedSeen, seen_by={"N": 1}, room=("not self.over",), B=(1, 2))
DELETED = refines(BeginningStates, ObservedDeletion, "a topic that is to go is gone in the end",
                  shows=DeletedSeen, seen_by={"N": "B"}, B=(1, 2))
IN_TURN = refines(BatchOrder, ObservedController, "a broker is told in turn", shows=BatchSeen,
                  seen_by={"P": 1, "E": 1}, N=(1, 2))

EXPECTATIONS = (
    STAYS, LED, DELETED, IN_TURN,
    refused(TakingSilenceForDeath, "KAFKA-F33", "who is registered is replaced", like=STAYS, B=1,
            G=1),
    *(refused(variant, "KAFKA-F14", about, like=LED, B=1) for variant, about in (
        (AllOnline, "nobody elects for a partition whose node says that nobody leads"),
        (AllNew, "the node of a partition cannot be made once more"),
        (AllOffline, "there is no node to be read"),
    )),
    refused(AllReplicasOnline, "KAFKA-F28", "who was away was told nothing", like=DELETED, B=1),
    refused(MetadataFirst, "KAFKA-C24", "clients are sent to who does not lead yet", like=IN_TURN,
            N=1),
    refused(StoppingFirst, "KAFKA-C24", "clients are sent to what is stopped", like=IN_TURN, N=1),
)
