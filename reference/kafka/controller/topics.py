"""New topics and partitions, elections of preferred leaders, ISR notifications.

Source: Kafka's KafkaController: TopicChange, PartitionModifications, ReplicaLeaderElection,
IsrChangeNotification.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...coordination.terms import Delete, Exists
from . import znodes
from .reassignment import Reassignment
from .selectors import preferred
from .states import PartitionState, ReplicaState
from .store import Steps
from .terms import TopicPartition

__all__ = ["Topics"]


class Topics(Reassignment):
    """The jobs about the existing partitions, their preferred leaders, and their ISRs."""

    def topics_changed(self) -> Steps[None]:
        """The list of topics has changed."""
        if not self.is_active:
            return
        named = set((yield from self.store.children(znodes.TOPICS, watch=True)))
        for topic in sorted(self.context.topics - named):
            self.context.forget_topic(topic)
        new = sorted(named - self.context.topics)
        self.context.topics |= set(new)
        for topic in new:
            yield from self._partitions_came(topic)

    def assignment_changed(self, topic: str) -> Steps[None]:
        """The assignment of a topic has changed: it may have more partitions."""
        if self.is_active and topic in self.context.topics:
            yield from self._partitions_came(topic)

    def _partitions_came(self, topic: str) -> Steps[None]:
        assigned = yield from self.read_assignment(topic)
        if topic in self.context.deleting:
            return
        new = {each: replicas for each, replicas in assigned.items()
               if each not in self.context.assignment}
        self.context.assignment |= new
        yield from self.create(sorted(new))

    def read_assignment(self, topic: str) -> Steps[dict[TopicPartition, tuple[int, ...]]]:
        """The replicas of all partitions of a topic, which is watched from now on."""
        found = yield from self.store.read(znodes.topic_path(topic), watch=True)
        replicas = znodes.assignment_of(found[0]) if found else {}
        return {TopicPartition(topic, each): replicas[each] for each in sorted(replicas)}

    def create(self, partitions: Iterable[TopicPartition]) -> Steps[None]:
        """Bring new partitions online: both machines to New, then both to Online."""
        partitions = list(partitions)
        replicas = [each for partition in partitions
                    for each in self.replicas.replicas_of(partition)]
        yield from self.partitions.change(partitions, PartitionState.NEW)
        yield from self.replicas.change(replicas, ReplicaState.NEW)
        yield from self.partitions.change(partitions, PartitionState.ONLINE)
        yield from self.replicas.change(replicas, ReplicaState.ONLINE)

    # -- preferred leaders --------------------------------------------------------------------

    def preferred_wanted(self) -> Steps[None]:
        """The request for preferred leaders has changed, or is read for the first time."""
        if not self.is_active:
            return
        yield from self.store.ask(Exists(znodes.PREFERRED, watch=True))
        found = yield from self.store.read(znodes.PREFERRED)
        if found is None:
            return
        wanted = [each for each in znodes.partitions_of(found[0])
                  if each in self.context.assignment and not self.context.is_being_deleted(each)]
        yield from self.partitions.change(wanted, PartitionState.ONLINE, preferred)
        yield from self.store.change(Delete(znodes.PREFERRED))

    # -- notifications ------------------------------------------------------------------------

    def isr_changed(self) -> Steps[None]:
        """Leaders have changed ISRs and notify the controller, so that all brokers learn it."""
        if not self.is_active:
            return
        names = yield from self.store.children(znodes.ISR_CHANGES, watch=True)
        partitions: dict[TopicPartition, None] = {}
        for name in names:
            found = yield from self.store.read(f"{znodes.ISR_CHANGES}/{name}")
            partitions |= dict.fromkeys(znodes.partitions_of(found[0]) if found else ())
        for partition in partitions:
            if partition in self.context.assignment:
                yield from self.refresh(partition)
        if partitions:
            self.batch.begin()
            self.batch.update_metadata(self.context.registered, partitions)
            self.batch.send(self.store.epoch)
        for name in names:
            yield from self.store.change(Delete(f"{znodes.ISR_CHANGES}/{name}"))

    def refresh(self, partition: TopicPartition) -> Steps[None]:
        """Read the leadership of a partition again."""
        found = yield from self.store.read_leadership(partition)
        if found is not None:
            self.context.leaderships[partition] = found
