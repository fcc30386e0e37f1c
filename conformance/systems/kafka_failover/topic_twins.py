"""Clusters with one seeded bug each, of those that topics show which are made and deleted."""

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


# ---- topics that go -----------------------------------------------------------------------------


@TWINS.twin("failover-unnoticed-topic", "KAFKA-F14",
            "a topic that is made while a controller is there is noticed by the next one only",
            "KAFKA-928")
class NotNoticingTopics(Controller):
    """Nobody leads it for a long time."""

    def topics_changed(self) -> Steps[None]:
        yield from ()


@TWINS.twin("failover-never-resumes-deletion", "KAFKA-F28",
            "a deletion that was noted is never gone on with", "kafka#topics")
class NeverResuming(Controller):
    """The wish stands there, and nothing happens."""

    def resume_deletions(self, topics: Iterable[str] = ()) -> Steps[None]:
        yield from ()


@TWINS.twin("failover-forgets-the-ineligible", "KAFKA-F28",
            "a deletion that waited for a broker does not go on when that is back",
            "kafka.topics: ForgettingTheIneligible")
class ForgetsTheIneligible(Controller):
    """Its replica is there again, and nobody tells it to delete."""

    def resume_deletions(self, topics: Iterable[str] = ()) -> Steps[None]:
        yield from super().resume_deletions()


@TWINS.twin("failover-old-life-fails-deletion", "KAFKA-F28",
            "a broker's answer to a request for its earlier life ends the deletion that is under "
            "way in this one", "KAFKA-7235: broker epochs, and topics that are being deleted")
class OldLifeFailsDeletion(Controller):
    """It came back unnoticed; its replica is deleted, and taken for one that waits."""

    def replicas_stopped(
        self, broker: int, request: StopReplica, answer: BrokerAnswer,
    ) -> Steps[None]:
        now = self.context.registered.get(broker, request.broker_epoch)
        yield from super().replicas_stopped(broker, replace(request, broker_epoch=now), answer)


@TWINS.twin("failover-deletes-what-moves", "KAFKA-F29",
            "a topic is deleted while one of its partitions gets other replicas",
            "kafka.topics: DeletingWhatMoves")
class DeletesWhatMoves(Controller):
    """One tells replicas to come, and the other to go."""

    def topics_to_delete(self) -> Steps[None]:
        targets, self.context.targets = self.context.targets, {}
        try:
            yield from super().topics_to_delete()
        finally:
            self.context.targets = targets | self.context.targets


@TWINS.twin("failover-gone-without-the-dead", "KAFKA-F30",
            "a topic is gone when all brokers that are there have deleted their replicas",
            "kafka.topics: DeletingWithoutTheDead")
class GoneWithoutTheDead(Controller):
    """Who was away keeps its log, and a topic of that name would find it."""

    def resume_deletions(self, topics: Iterable[str] = ()) -> Steps[None]:
        for replica in self.context.replicas_of(self.context.deleting):
            if self.context.replica_state_of(replica) is ReplicaState.DELETION_INELIGIBLE:
                self.context.replica_states[replica] = ReplicaState.DELETION_SUCCESSFUL
        yield from super().resume_deletions(topics)


class RevivingPartitions(PartitionMachine):
    """Whatever has no leader gets one."""

    def bring_online(self) -> Steps[None]:
        waiting = [partition for partition, state in self.context.partition_states.items()
                   if state in (State.NEW, State.OFFLINE)]
        yield from self.change(sorted(waiting), State.ONLINE)


@TWINS.twin("failover-revives", "KAFKA-F31",
            "a new controller elects a leader for a partition whose topic is being deleted",
            "kafka.topics: Reviving")
class Revives(Controller):
    """Producers write to what goes."""

    partitions_type = RevivingPartitions


# ---- how a controller begins --------------------------------------------------------------------


class AllNew(PartitionMachine):
    """Whoever has no live leader is new."""

    def found(self, partition: TopicPartition) -> State:
        """The state in which a controller begins."""
        return State.ONLINE if self.context.has_live_leader(partition) else State.NEW

    def start(self) -> Steps[None]:
        for partition in self.context.assignment:
            self.context.partition_states[partition] = self.found(partition)
        yield from self.bring_online()


class AllOffline(AllNew):
    """Whoever has no live leader is offline."""

    def found(self, partition: TopicPartition) -> State:
        has_node = partition in self.context.leaderships
        return State.ONLINE if has_node and self.context.has_live_leader(
            partition) else State.OFFLINE


@TWINS.twin("failover-begins-all-new", "KAFKA-F14",
            "a controller takes every partition without a leader for one that never had one",
            "001#states; kafka.controller_states: AllNew")
class BeginningAllNew(Controller):
    """Its node is there already, so it cannot be made."""

    partitions_type = AllNew


@TWINS.twin("failover-begins-all-offline", "KAFKA-F14",
            "a controller takes every partition without a leader for one that has lost it",
            "001#states; kafka.controller_states: AllOffline")
class BeginningAllOffline(Controller):
    """There is no node that could be read."""

    partitions_type = AllOffline
