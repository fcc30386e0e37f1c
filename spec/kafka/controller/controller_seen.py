"""The state machines of the controller's chapters, as their observer sees them.

Theory. ``partition_changes`` and ``replica_changes`` read a node, choose, and write it on
condition; ``observed_controller`` is told of a batch, and works out in one step what must be seen
after it. A change is shown when it is done: that is when its last write succeeds, or when it is
given up. What a leader writes meanwhile comes before that, as it did in the store.

The chapters have LeaderAndIsr requests, and no others.

Source: ``partition_changes``, ``replica_changes``, ``observed_controller``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...notation.views import Seen, View, see, shown
from ...refinements import refines, refused
from . import replica_changes
from .observed_controller import ObservedController, Request
from .partition_changes import (
    ChoosingAnybody, ElectingInIsrOrder, ElectingTheDead, IgnoringTheTable, KeepingTheEpoch,
    OverwritingNewer, PartitionChanges, PreferringTheLagging, StoppingAtTheFirst, WritingBlindly,
)
from .replica_changes import EmptyingTheIsr, KeepingTheDead, KeepingTheLeader, ReplicaChanges
from .selectors import ALL, Selector
from .transitions import Era, PartitionState, ReplicaState

__all__ = ["EXPECTATIONS", "PartitionsSeen", "ReplicasSeen"]


class PartitionsSeen(View[PartitionChanges]):
    """Batches, and each partition when it is done."""

    def begins(self, machine: PartitionChanges) -> Iterable[Seen]:
        """Who is there, and which lists the partitions have."""
        yield see("are_up", brokers=ALL, leaving=0)
        for partition in range(machine.P):
            yield see("assign", partition=partition, order=machine.A + partition,
                      unclean=machine.U)

    @shown
    def turn(self, before: PartitionChanges, after: PartitionChanges, broker: int) -> Seen:
        return see("are_up", brokers=after.registered, leaving=after.shutting_down)

    @shown
    def begin_shutdown(
        self, before: PartitionChanges, after: PartitionChanges, broker: int
    ) -> Seen:
        return see("are_up", brokers=after.registered, leaving=after.shutting_down)

    @shown
    def write_isr(
        self, before: PartitionChanges, after: PartitionChanges, partition: int, broker: int
    ) -> Seen:
        return see("isr_written", partition=partition, brokers=after.isr[partition])

    @shown
    def take_over(
        self, before: PartitionChanges, after: PartitionChanges, partition: int
    ) -> Seen:
        return see("taken_over", partition=partition)

    @shown
    def ask(
        self, before: PartitionChanges, after: PartitionChanges, first: int, last: int,
        target: PartitionState, selector: Selector,
    ) -> Seen:
        return see("begin")

    @shown
    def change(
        self, before: PartitionChanges, after: PartitionChanges, partition: int
    ) -> tuple[Seen, ...]:
        return self.done(before, after)

    @shown
    def write(
        self, before: PartitionChanges, after: PartitionChanges, partition: int
    ) -> tuple[Seen, ...]:
        return self.done(before, after)

    def done(
        self, before: PartitionChanges, after: PartitionChanges
    ) -> tuple[Seen, ...]:
        """What can be seen of those that are done now."""
        return tuple(
            step for each in range(after.P) if before.todo[each] and not after.todo[each]
            for step in self.of_one(after, each))

    @staticmethod
    def of_one(after: PartitionChanges, each: int) -> Iterator[Seen]:
        """The change of one partition, and how it is then."""
        yield see("change", partition=each, target=after.target, selector=after.selector,
                  to=after.A + each, era=Era.V0_9)
        yield see("state_seen", partition=each, state=after.state[each])
        yield see("leader_seen", partition=each, leader=after.leader[each])
        yield see("isr_seen", partition=each, brokers=after.isr[each])
        yield see("epoch_seen", partition=each, epoch=after.epoch[each])
        yield see("told_seen", partition=each, request=Request.LEADER_AND_ISR,
                  brokers=after.told[each])


class ReplicasSeen(View[ReplicaChanges]):
    """Each replica when it is done; there is one partition, number 0."""

    def begins(self, machine: ReplicaChanges) -> Iterable[Seen]:
        """All brokers are there, and the partition has its list."""
        yield see("are_up", brokers=ALL, leaving=0)
        yield see("assign", partition=0, order=machine.A, unclean=machine.U)
        yield self.change_of_partition(PartitionState.NEW)

    @staticmethod
    def change_of_partition(target: PartitionState) -> Seen:
        """It is made new, or gets a leader."""
        return see("change", partition=0, target=target, selector=Selector.OFFLINE, to=0,
                   era=Era.V0_9)

    @shown
    def elect(self, before: ReplicaChanges, after: ReplicaChanges) -> tuple[Seen, ...]:
        return see("begin"), self.change_of_partition(PartitionState.ONLINE), *self.node(after)

    @shown
    def write_isr(self, before: ReplicaChanges, after: ReplicaChanges, broker: int) -> Seen:
        return see("isr_written", partition=0, brokers=after.isr)

    @shown
    def take_over(self, before: ReplicaChanges, after: ReplicaChanges) -> Seen:
        return see("taken_over", partition=0)

    @shown
    def change(
        self, before: ReplicaChanges, after: ReplicaChanges, broker: int, target: ReplicaState
    ) -> tuple[Seen, ...]:
        return () if after.reading else self.done(after, broker, target)

    @shown
    def write(
        self, before: ReplicaChanges, after: ReplicaChanges, broker: int
    ) -> tuple[Seen, ...]:
        return () if after.reading else self.done(after, broker, ReplicaState.OFFLINE)

    def done(
        self, after: ReplicaChanges, broker: int, target: ReplicaState
    ) -> tuple[Seen, ...]:
        """The change of a replica, and how all is then."""
        return (
            see("begin"),
            see("change_replica", partition=0, broker=broker, target=target, era=after.V),
            see("replica_seen", partition=0, broker=broker, state=after.replica[broker]),
            *self.node(after),
            see("told_seen", partition=0, request=Request.LEADER_AND_ISR, brokers=after.told))

    @staticmethod
    def node(after: ReplicaChanges) -> tuple[Seen, ...]:
        """Who leads, who is in sync, and the epoch."""
        return (see("leader_seen", partition=0, leader=after.leader),
                see("isr_seen", partition=0, brokers=after.isr),
                see("epoch_seen", partition=0, epoch=after.epoch))


CHANGES = refines(PartitionChanges, ObservedController, "batches end as the observer works out",
                  shows=PartitionsSeen, seen_by={"P": "P", "E": "E"}, P=1, E=1, D=2, U=(0, 1))
BATCHES = refines(PartitionChanges, ObservedController, "batches of two end so, too",
                  shows=PartitionsSeen, seen_by={"P": "P", "E": "E"}, P=2, E=1, D=0)
REPLICAS = refines(ReplicaChanges, ObservedController, "replicas change as the observer works out",
                   shows=ReplicasSeen, seen_by={"P": 1, "E": "E"}, K=1, E=2, D=1, U=(0, 1),
                   V=(0, 1))
OF_TWO = refines(ReplicaChanges, ObservedController, "two replicas change so, too",
                 shows=ReplicasSeen, seen_by={"P": 1, "E": "E"}, K=2, E=1, D=1)
LISTED = refines(ReplicaChanges, ObservedController, "a replica joins the list, and leaves it",
                 shows=ReplicasSeen, seen_by={"P": 1, "E": "E"}, K=2, E=2, D=0, A=12)

EXPECTATIONS = (
    CHANGES, BATCHES, REPLICAS, OF_TWO, LISTED,
    *(refused(variant, rule, about, like=CHANGES, U=0, A=8) for variant, rule, about in (
        (IgnoringTheTable, "KAFKA-C1", "whatever is asked is done"),
        (WritingBlindly, "KAFKA-C12", "what the leader wrote meanwhile is lost"),
        (OverwritingNewer, "KAFKA-C13", "an old controller overwrites (KAFKA-6082)"),
        (KeepingTheEpoch, "KAFKA-C11", "two leaders of one epoch"),
        (ElectingInIsrOrder, "KAFKA-C9", "the ISR's order for the list's (KAFKA-3670)"),
        (ElectingTheDead, "KAFKA-C9", "liveness is not asked (KAFKA-3670)"),
        (ChoosingAnybody, "KAFKA-C10", "unclean though it is off"),
        (PreferringTheLagging, "KAFKA-C10", "the head lags"),
    )),
    refused(StoppingAtTheFirst, "KAFKA-C2", "the first that is illegal ends the batch",
            like=BATCHES),
    *(refused(variant, rule, about, like=OF_TWO, E=2) for variant, rule, about in (
        (replica_changes.IgnoringTheTable, "KAFKA-C16", "whatever is asked is done"),
        (KeepingTheDead, "KAFKA-C18", "the dead stay in sync (KAFKA-3143)"),
        (KeepingTheLeader, "KAFKA-C18", "the dead lead"),
        (EmptyingTheIsr, "KAFKA-C19", "nobody may lead any more"),
        (replica_changes.WritingBlindly, "KAFKA-C12", "what the leader wrote meanwhile is lost"),
    )),
)
