"""The controller's knowledge: all of it is read at its election, and kept up to date after that."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from .states import PartitionState, ReplicaState
from .terms import Leadership, TopicPartition

__all__ = ["Context", "Replica"]


class Replica(NamedTuple):
    """A replica of a partition, on a broker."""

    partition: TopicPartition
    broker: int


@dataclass
class Context:
    """``registered`` has the broker epoch of each; ``assignment`` the preferred replica first.

    ``targets`` are the reassignments under way. ``deleting`` are the topics that are to be
    deleted, ``started`` those of them with partitions that were taken down, and ``ineligible``
    those that must wait, for a broker or for a reassignment.
    """

    registered: dict[int, int] = field(default_factory=dict)
    shutting_down: set[int] = field(default_factory=set)
    topics: set[str] = field(default_factory=set)
    assignment: dict[TopicPartition, tuple[int, ...]] = field(default_factory=dict)
    leaderships: dict[TopicPartition, Leadership] = field(default_factory=dict)
    partition_states: dict[TopicPartition, PartitionState] = field(default_factory=dict)
    replica_states: dict[Replica, ReplicaState] = field(default_factory=dict)
    targets: dict[TopicPartition, tuple[int, ...]] = field(default_factory=dict)
    deleting: set[str] = field(default_factory=set)
    started: set[str] = field(default_factory=set)
    ineligible: set[str] = field(default_factory=set)

    @property
    def live(self) -> frozenset[int]:
        """The brokers that are registered and not shutting down."""
        return frozenset(self.registered) - self.shutting_down

    def partitions_of(self, topics: Iterable[str]) -> list[TopicPartition]:
        """All partitions of some topics, in order."""
        wanted = set(topics)
        return sorted(each for each in self.assignment if each.topic in wanted)

    def replicas_of(self, topics: Iterable[str]) -> list[Replica]:
        """All assigned replicas of some topics, in the order of their partitions."""
        return [Replica(partition, broker) for partition in self.partitions_of(topics)
                for broker in self.assignment[partition]]

    def replicas_on(self, brokers: Iterable[int]) -> list[Replica]:
        """All assigned replicas on some brokers, in the order of their partitions."""
        wanted = set(brokers)
        return [Replica(partition, broker) for partition in sorted(self.assignment)
                for broker in self.assignment[partition] if broker in wanted]

    def state_of(self, partition: TopicPartition) -> PartitionState:
        """The partition's state; an unknown partition does not exist."""
        return self.partition_states.get(partition, PartitionState.NON_EXISTENT)

    def replica_state_of(self, replica: Replica) -> ReplicaState:
        """The replica's state; an unknown replica does not exist."""
        return self.replica_states.get(replica, ReplicaState.NON_EXISTENT)

    def has_live_leader(self, partition: TopicPartition) -> bool:
        """True if the recorded leader is a live broker."""
        leadership = self.leaderships.get(partition)
        return leadership is not None and leadership.leader in self.live

    def is_being_deleted(self, partition: TopicPartition) -> bool:
        """True if its topic is to be deleted."""
        return partition.topic in self.deleting

    def forget_topic(self, topic: str) -> None:
        """Forget a topic that is gone, with all of its partitions."""
        for known in (self.topics, self.deleting, self.started, self.ineligible):
            known.discard(topic)
        for table in (self.assignment, self.leaderships, self.partition_states, self.targets):
            for partition in [each for each in table if each.topic == topic]:
                del table[partition]
        for replica in [each for each in self.replica_states if each.partition.topic == topic]:
            del self.replica_states[replica]
