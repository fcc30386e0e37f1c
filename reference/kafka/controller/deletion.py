"""Deletion of topics: first the replicas on all brokers, then the znodes.

A deletion is requested by a znode. The partitions are taken offline and cease to exist; every live
replica is stopped, and then deleted by its broker. A topic with a replica on a broker that is gone,
or that is being reassigned, is *ineligible*: its deletion waits until the broker is back, or the
reassignment is done. Source: Kafka's TopicDeletionManager.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...coordination.terms import Delete
from . import znodes
from .context import Replica
from .core import Core
from .states import PartitionState, ReplicaState
from .store import Steps
from .terms import BrokerAnswer, Error, StopReplica

__all__ = ["Deletion"]

_State = ReplicaState


class Deletion(Core):
    """The jobs by which topics are deleted."""

    def topics_to_delete(self) -> Steps[None]:
        """The list of topics to be deleted has changed, or is read for the first time."""
        if not self.is_active:
            return
        named = set((yield from self.store.children(znodes.DELETE_TOPICS, watch=True)))
        unwanted = named if not self.settings.delete_topics else named - self.context.topics
        for topic in sorted(unwanted):
            yield from self.store.change(Delete(f"{znodes.DELETE_TOPICS}/{topic}"))
        topics = sorted(named - unwanted - self.context.deleting)
        self.context.deleting |= set(topics)
        self.context.ineligible |= {each.topic for each in self.context.targets} & set(topics)
        yield from self.resume_deletions(topics)

    def resume_deletions(self, topics: Iterable[str] = ()) -> Steps[None]:
        """Continue all deletions; ``topics`` may have become eligible."""
        reassigned = {each.topic for each in self.context.targets}
        self.context.ineligible -= set(topics) - reassigned
        for topic in sorted(self.context.deleting):
            states = {self.context.replica_state_of(each)
                      for each in self.context.replicas_of([topic])}
            if states == {_State.DELETION_SUCCESSFUL} or not states:
                yield from self._complete(topic)
                continue
            if _State.DELETION_STARTED in states:
                continue        # its brokers have been asked already
            if _State.DELETION_INELIGIBLE in states and topic not in self.context.ineligible:
                yield from self.replicas.change(
                    self._in_state(topic, _State.DELETION_INELIGIBLE), _State.OFFLINE)
            if topic not in self.context.ineligible:
                yield from self._begin(topic)

    def _in_state(self, topic: str, state: ReplicaState) -> list[Replica]:
        return [each for each in self.context.replicas_of([topic])
                if self.context.replica_state_of(each) is state]

    def _begin(self, topic: str) -> Steps[None]:
        partitions = self.context.partitions_of([topic])
        if topic not in self.context.started:
            yield from self.partitions.change(partitions, PartitionState.OFFLINE)
            yield from self.partitions.change(partitions, PartitionState.NON_EXISTENT)
            self.context.started.add(topic)
        self.batch.begin()
        self.batch.update_metadata(self.context.registered, partitions)
        self.batch.send(self.store.epoch)
        yield from self._delete_replicas(topic)

    def _delete_replicas(self, topic: str) -> Steps[None]:
        left = [each for each in self.context.replicas_of([topic])
                if self.context.replica_state_of(each) is not _State.DELETION_SUCCESSFUL]
        dead = [each for each in left if each.broker not in self.context.live]
        alive = [each for each in left if each.broker in self.context.live]
        yield from self.replicas.change(dead, _State.OFFLINE)
        yield from self.replicas.change(dead, _State.DELETION_INELIGIBLE)
        yield from self.replicas.change(alive, _State.OFFLINE)
        yield from self.replicas.change(alive, _State.DELETION_STARTED)
        if dead:
            self.context.ineligible.add(topic)

    def _complete(self, topic: str) -> Steps[None]:
        replicas = self.context.replicas_of([topic])
        yield from self.replicas.change(replicas, _State.NON_EXISTENT)
        yield from self.store.delete(znodes.topic_path(topic))
        yield from self.store.change(Delete(f"{znodes.DELETE_TOPICS}/{topic}"))
        self.context.forget_topic(topic)
        self.note("deleted", topic)

    # -- answers of brokers ---------------------------------------------------------------------

    def replicas_stopped(self, broker: int, request: StopReplica,
                         answer: BrokerAnswer) -> Steps[None]:
        """A broker has answered a request to delete replicas.

        An answer to a request for an earlier life is ignored: that deletion failed with that life,
        and may be under way again.
        """
        if not self.is_active or self.context.registered.get(broker) != request.broker_epoch:
            return
        asked = [Replica(each, broker) for each, told in request.partitions.items()
                 if told.delete and self.context.is_being_deleted(each)]
        errors = dict(answer.partitions)
        failed = [each for each in asked if answer.error is not Error.NONE
                  or errors.get(each.partition, Error.NONE) is not Error.NONE]
        yield from self.fail_deletion(failed)
        yield from self.replicas.change([each for each in asked if each not in failed],
                                        _State.DELETION_SUCCESSFUL)
        yield from self.resume_deletions()

    def fail_deletion(self, replicas: Iterable[Replica]) -> Steps[None]:
        """Replicas cannot be deleted now: their topics have to wait."""
        waiting = [each for each in replicas if self.context.is_being_deleted(each.partition)]
        if waiting:
            yield from self.replicas.change(waiting, _State.DELETION_INELIGIBLE)
            self.context.ineligible |= {each.partition.topic for each in waiting}
