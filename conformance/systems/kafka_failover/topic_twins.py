"""Clusters with one seeded bug each, of the kind that created and deleted topics show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from ....reference.kafka.cluster.broker import Broker
from ....reference.kafka.cluster.clients import Producer
from ....reference.kafka.cluster.cluster import Parts
from ....reference.kafka.controller.controller import Controller
from ....reference.kafka.controller.partitions import PartitionMachine
from ....reference.kafka.controller.states import PartitionState as State
from ....reference.kafka.controller.states import ReplicaState
from ....reference.kafka.controller.store import Steps
from ....reference.kafka.controller.terms import BrokerAnswer, StopReplica, TopicPartition
from ....reference.kafka.replication.replica import Replica
from ...suites.twin import Twins
from .adapter import ReferenceCluster

__all__ = ["TWINS"]

_PARTS: Final = {Broker: "broker", Replica: "replica", Controller: "controller",
                 Producer: "producer"}


def _parts_of(bug: type[Any]) -> Mapping[str, Any]:
    part = next(name for kind, name in _PARTS.items() if issubclass(bug, kind))
    parts: dict[str, Any] = {part: bug}
    return {"parts": replace(Parts(), **parts)}


TWINS: Final = Twins(
    "kafka.failover", ReferenceCluster, ("reference.kafka.failover",), _parts_of)


# ---- deletion of topics -------------------------------------------------------------------------


@TWINS.twin("failover-unnoticed-topic", "KAFKA-F14",
            "a new topic is not noticed by the present controller, but only by the next one",
            "KAFKA-928")
class NotNoticingTopics(Controller):
    """It has no leader for a long time."""

    def topics_changed(self) -> Steps[None]:
        yield from ()


@TWINS.twin("failover-never-resumes-deletion", "KAFKA-F28",
            "a deletion that was read is never continued", "kafka#topics")
class NeverResuming(Controller):
    """The request is known, and nothing happens."""

    def resume_deletions(self, topics: Iterable[str] = ()) -> Steps[None]:
        yield from ()


@TWINS.twin("failover-forgets-the-ineligible", "KAFKA-F28",
            "a deletion that waited for a broker does not continue when it is back",
            "kafka.topics: ForgettingTheIneligible")
class ForgetsTheIneligible(Controller):
    """Its replica is back, and gets no request to delete."""

    def resume_deletions(self, topics: Iterable[str] = ()) -> Steps[None]:
        yield from super().resume_deletions()


@TWINS.twin("failover-old-life-fails-deletion", "KAFKA-F28",
            "a broker's answer to a request for its earlier life ends the deletion of its present "
            "life", "KAFKA-7235: broker epochs, and topics that are being deleted")
class OldLifeFailsDeletion(Controller):
    """It came back unnoticed; its replica is deleted, and counts as one that waits."""

    def replicas_stopped(
        self, broker: int, request: StopReplica, answer: BrokerAnswer,
    ) -> Steps[None]:
        now = self.context.registered.get(broker, request.broker_epoch)
        yield from super().replicas_stopped(broker, replace(request, broker_epoch=now), answer)


@TWINS.twin("failover-deletes-what-moves", "KAFKA-F29",
            "a topic is deleted while one of its partitions gets other replicas",
            "kafka.topics: DeletingWhatMoves")
class DeletesWhatMoves(Controller):
    """One starts replicas, and the other stops them."""

    def topics_to_delete(self) -> Steps[None]:
        targets, self.context.targets = self.context.targets, {}
        try:
            yield from super().topics_to_delete()
        finally:
            self.context.targets = targets | self.context.targets


@TWINS.twin("failover-gone-without-the-dead", "KAFKA-F30",
            "a topic is gone when all live brokers have deleted their replicas",
            "kafka.topics: DeletingWithoutTheDead")
class GoneWithoutTheDead(Controller):
    """A broker that was down keeps its log, and a new topic of that name would find it."""

    def resume_deletions(self, topics: Iterable[str] = ()) -> Steps[None]:
        for replica in self.context.replicas_of(self.context.deleting):
            if self.context.replica_state_of(replica) is ReplicaState.DELETION_INELIGIBLE:
                self.context.replica_states[replica] = ReplicaState.DELETION_SUCCESSFUL
        yield from super().resume_deletions(topics)


class RevivingPartitions(PartitionMachine):
    """Every partition without a leader gets one."""

    def bring_online(self) -> Steps[None]:
        waiting = [partition for partition, state in self.context.partition_states.items()
                   if state in (State.NEW, State.OFFLINE)]
        yield from self.change(sorted(waiting), State.ONLINE)


@TWINS.twin("failover-revives", "KAFKA-F31",
            "a new controller elects a leader for a partition whose topic is being deleted",
            "kafka.topics: Reviving")
class Revives(Controller):
    """Producers write to a topic that is being deleted."""

    partitions_type = RevivingPartitions


# ---- beginning of a controller ------------------------------------------------------------------


class AllNew(PartitionMachine):
    """Every partition without a live leader is new."""

    def found(self, partition: TopicPartition) -> State:
        """The state in which a controller begins."""
        return State.ONLINE if self.context.has_live_leader(partition) else State.NEW

    def start(self) -> Steps[None]:
        for partition in self.context.assignment:
            self.context.partition_states[partition] = self.found(partition)
        yield from self.bring_online()


class AllOffline(AllNew):
    """Every partition without a live leader is offline."""

    def found(self, partition: TopicPartition) -> State:
        has_node = partition in self.context.leaderships
        return State.ONLINE if has_node and self.context.has_live_leader(
            partition) else State.OFFLINE


@TWINS.twin("failover-begins-all-new", "KAFKA-F14",
            "a controller considers every partition without a leader new",
            "001#states; kafka.controller_states: AllNew")
class BeginningAllNew(Controller):
    """Its node exists already, so it cannot be created."""

    partitions_type = AllNew


@TWINS.twin("failover-begins-all-offline", "KAFKA-F14",
            "a controller considers every partition without a leader offline",
            "001#states; kafka.controller_states: AllOffline")
class BeginningAllOffline(Controller):
    """There is no node to read."""

    partitions_type = AllOffline
