"""The state machines of the controller's chapters as their observer sees them.

Theory. ``partition_changes`` and ``replica_changes`` read a node, choose, and write it
conditionally; ``observed_controller`` gets a batch, and computes in one step what must be visible
after it. A change is shown when it is finished: when its last write succeeds, or when it is given
up. A leader's writes in the meantime come before that, as in the store.

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
    """Batches, and each partition when its change is finished."""

    def begins(self, machine: PartitionChanges) -> Iterable[Seen]:
        """The live brokers, and the lists of the partitions."""
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
        """Observable steps of the changes that are completed in this step."""
        return tuple(
            step for each in range(after.P) if before.todo[each] and not after.todo[each]
            for step in self.of_one(after, each))

    @staticmethod
    def of_one(after: PartitionChanges, each: int) -> Iterator[Seen]:
        """The change of one partition, and the partition after it."""
        yield see("change", partition=each, target=after.target, selector=after.selector,
                  to=after.A + each, era=Era.V0_9)
        yield see("state_seen", partition=each, state=after.state[each])
        yield see("leader_seen", partition=each, leader=after.leader[each])
        yield see("isr_seen", partition=each, brokers=after.isr[each])
        yield see("epoch_seen", partition=each, epoch=after.epoch[each])
        yield see("told_seen", partition=each, request=Request.LEADER_AND_ISR,
                  brokers=after.told[each])


class ReplicasSeen(View[ReplicaChanges]):
    """Each replica when its change is finished; there is one partition, number 0."""

    def begins(self, machine: ReplicaChanges) -> Iterable[Seen]:
        """All brokers are up, and the partition has its list."""
        yield see("are_up", brokers=ALL, leaving=0)
        yield see("assign", partition=0, order=machine.A, unclean=machine.U)
        yield self.change_of_partition(PartitionState.NEW)

    @staticmethod
    def change_of_partition(target: PartitionState) -> Seen:
        """The partition becomes new, or gets a leader."""
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
        """The change of a replica, and the state after it."""
        return (
            see("begin"),
            see("change_replica", partition=0, broker=broker, target=target, era=after.V),
            see("replica_seen", partition=0, broker=broker, state=after.replica[broker]),
            *self.node(after),
            see("told_seen", partition=0, request=Request.LEADER_AND_ISR, brokers=after.told))

    @staticmethod
    def node(after: ReplicaChanges) -> tuple[Seen, ...]:
        """The leader, the ISR, and the epoch."""
        return (see("leader_seen", partition=0, leader=after.leader),
                see("isr_seen", partition=0, brokers=after.isr),
                see("epoch_seen", partition=0, epoch=after.epoch))


CHANGES = refines(PartitionChanges, ObservedController, "batches end as the observer computes",
                  shows=PartitionsSeen, seen_by={"P": "P", "E": "E"}, P=1, E=1, D=2, U=(0, 1))
BATCHES = refines(PartitionChanges, ObservedController, "changes of partitions, in batches of two",
                  shows=PartitionsSeen, seen_by={"P": "P", "E": "E"}, P=2, E=1, D=0)
REPLICAS = refines(ReplicaChanges, ObservedController, "replicas change as the observer computes",
                   shows=ReplicasSeen, seen_by={"P": 1, "E": "E"}, K=1, E=2, D=1, U=(0, 1),
                   V=(0, 1))
OF_TWO = refines(ReplicaChanges, ObservedController, "changes of replicas, for two replicas",
                 shows=ReplicasSeen, seen_by={"P": 1, "E": "E"}, K=2, E=1, D=1)
LISTED = refines(ReplicaChanges, ObservedController, "a replica joins the list, and leaves it",
                 shows=ReplicasSeen, seen_by={"P": 1, "E": "E"}, K=2, E=2, D=0, A=12)

EXPECTATIONS = (
    CHANGES, BATCHES, REPLICAS, OF_TWO, LISTED,
    *(refused(variant, rule, about, like=CHANGES, U=0, A=8) for variant, rule, about in (
        (IgnoringTheTable, "KAFKA-C1", "every requested change is made"),
        (WritingBlindly, "KAFKA-C12", "the leader's write in the meantime is lost"),
        (OverwritingNewer, "KAFKA-C13", "an old controller overwrites (KAFKA-6082)"),
        (KeepingTheEpoch, "KAFKA-C11", "two leaders in one epoch"),
        (ElectingInIsrOrder, "KAFKA-C9", "the ISR's order for the list's (KAFKA-3670)"),
        (ElectingTheDead, "KAFKA-C9", "liveness is not tested (KAFKA-3670)"),
        (ChoosingAnybody, "KAFKA-C10", "an unclean election although it is off"),
        (PreferringTheLagging, "KAFKA-C10", "the head lags"),
    )),
    refused(StoppingAtTheFirst, "KAFKA-C2", "the first illegal change ends the batch",
            like=BATCHES),
    *(refused(variant, rule, about, like=OF_TWO, E=2) for variant, rule, about in (
        (replica_changes.IgnoringTheTable, "KAFKA-C16", "every requested change is made"),
        (KeepingTheDead, "KAFKA-C18", "stopped brokers stay in sync (KAFKA-3143)"),
        (KeepingTheLeader, "KAFKA-C18", "the dead lead"),
        (EmptyingTheIsr, "KAFKA-C19", "no replica may lead any more"),
        (replica_changes.WritingBlindly, "KAFKA-C12", "the leader's write in the meantime is lost"),
    )),
)
