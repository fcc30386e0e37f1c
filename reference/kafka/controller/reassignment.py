"""Reassignment of partitions: other replicas, without ever having fewer.

First the new replicas are added to the old ones, and follow. When all of them are in sync, the
leader changes if it does not stay, and the old ones are stopped and deleted. The request stays in
its znode until all is done, so the next controller finds it, and continues from the partition's
present state.

The new list is written, and the request removed, without waiting for the answers of the old
replicas; the same as in Kafka, where their states change from stopped to deleted at once. If the
controller is replaced before its requests have arrived, they are not repeated, and the old replicas
keep their logs (KAFKA-C94). Only disk space is lost by that: their leader epoch is old, they are on
no list, and one that becomes a replica again later cuts its log like any follower. Waiting would
take as long as a broker is down.

Source: Kafka's KafkaController.onPartitionReassignment, stopOldReplicasOfReassignedPartition.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...coordination.terms import BadVersion, Delete, Exists, Write
from . import znodes
from .context import Replica
from .deletion import Deletion
from .selectors import reassigned
from .states import PartitionState, ReplicaState
from .store import Steps
from .terms import Leadership, TopicPartition

__all__ = ["Reassignment"]


class Reassignment(Deletion):
    """The jobs by which partitions get other replicas."""

    def reassignment_wanted(self) -> Steps[None]:
        """The list of wanted reassignments has changed, or is read for the first time."""
        if not self.is_active:
            return
        yield from self.store.ask(Exists(znodes.REASSIGN, watch=True))
        wanted = yield from self._wanted()
        for partition, targets in sorted(wanted.items()):
            if self.context.targets.get(partition) == targets:
                continue
            if self._is_possible(partition, targets):
                self.context.targets[partition] = targets
                yield from self.go_on(partition)
            else:
                self.note("not reassigned", partition, targets)
                yield from self._remove_wish(partition)

    def _wanted(self) -> Steps[dict[TopicPartition, tuple[int, ...]]]:
        found = yield from self.store.read(znodes.REASSIGN)
        return znodes.reassignment_of(found[0]) if found else {}

    def _is_possible(self, partition: TopicPartition, targets: tuple[int, ...]) -> bool:
        return (partition in self.context.assignment and bool(targets)
                and len(set(targets)) == len(targets)
                and not self.context.is_being_deleted(partition)
                and set(targets) - set(self.context.assignment[partition])
                <= self.context.live)

    def go_on(self, partition: TopicPartition) -> Steps[None]:
        """Take the next step of a reassignment: finish it, or inform all that it is under way."""
        if not (yield from self.try_to_finish(partition)):
            yield from self._add(partition, self.context.targets[partition])

    def try_to_finish(self, partition: TopicPartition) -> Steps[bool]:
        """Finish a reassignment if all targets are in sync; else watch, and return False."""
        targets = self.context.targets[partition]
        # The watch fires when a target has joined the ISR.
        found = yield from self.store.read_leadership(partition, watch=True)
        if found is None or not self.may_finish(targets, found):
            return False
        self.context.leaderships[partition] = found
        yield from self._finish(partition, targets)
        return True

    def may_finish(self, targets: tuple[int, ...], found: Leadership) -> bool:
        """True if the old replicas are no longer needed: all targets are in sync."""
        return set(targets) <= set(found.isr)

    def _add(self, partition: TopicPartition, targets: tuple[int, ...]) -> Steps[None]:
        """Add the targets, and inform the leader in a new leader epoch.

        A controller that finds them added already informs the leader again: the previous one may
        have been replaced in between.
        """
        old = self.context.assignment[partition]
        new = tuple(each for each in targets if each not in old)
        if new:
            yield from self._assign(partition, old + new)
        if (yield from self.partitions.raise_leader_epoch(partition)):
            self.batch.begin()
            self.batch.lead(old + new, partition, self.context.leaderships[partition])
            self.batch.send(self.store.epoch)
        yield from self.replicas.change(
            [Replica(partition, each) for each in new], ReplicaState.NEW)

    def _finish(self, partition: TopicPartition, targets: tuple[int, ...]) -> Steps[None]:
        removed = [each for each in self.context.assignment[partition] if each not in targets]
        yield from self.replicas.change(
            [Replica(partition, each) for each in targets], ReplicaState.ONLINE)
        self.context.assignment[partition] = targets
        yield from self._move_leader(partition, targets, removed)
        gone = [Replica(partition, each) for each in removed]
        for state in (ReplicaState.OFFLINE, ReplicaState.DELETION_STARTED,
                      ReplicaState.DELETION_SUCCESSFUL, ReplicaState.NON_EXISTENT):
            yield from self.replicas.change(gone, state)
        yield from self._assign(partition, targets)
        del self.context.targets[partition]
        yield from self._remove_wish(partition)
        self.batch.begin()
        self.batch.update_metadata(self.context.registered, (partition,))
        self.batch.send(self.store.epoch)
        self.note("reassigned", partition, targets)
        yield from self.resume_deletions([partition.topic])

    def _move_leader(self, partition: TopicPartition, targets: tuple[int, ...],
                     removed: Iterable[int]) -> Steps[None]:
        leader = self.context.leaderships[partition].leader
        if leader not in targets or leader not in self.context.live:
            yield from self.partitions.change([partition], PartitionState.ONLINE, reassigned)
        elif (yield from self.partitions.raise_leader_epoch(partition)):
            self.batch.begin()
            self.batch.lead((*targets, *removed), partition, self.context.leaderships[partition])
            self.batch.send(self.store.epoch)

    def _assign(self, partition: TopicPartition, replicas: tuple[int, ...]) -> Steps[None]:
        self.context.assignment[partition] = replicas
        assignment = {each.partition: self.context.assignment[each]
                      for each in self.context.partitions_of([partition.topic])}
        yield from self.store.change(Write(
            znodes.topic_path(partition.topic), znodes.assignment_text(assignment)))

    def _remove_wish(self, partition: TopicPartition) -> Steps[None]:
        """Remove a partition from the list; the znode is deleted with its last entry."""
        while True:
            found = yield from self.store.read(znodes.REASSIGN)
            if found is None:
                return
            rest = znodes.reassignment_of(found[0])
            rest.pop(partition, None)
            version = found[1].version
            outcome = yield from self.store.change(
                Write(znodes.REASSIGN, znodes.reassignment_text(rest), version) if rest
                else Delete(znodes.REASSIGN, version))
            if not isinstance(outcome.error, BadVersion):
                return

    def resume_reassignments(self, brokers: Iterable[int]) -> Steps[None]:
        """New brokers have come: continue the reassignments with one of them as a target."""
        for partition, targets in sorted(self.context.targets.items()):
            if set(targets) & set(brokers):
                yield from self.go_on(partition)

    def leadership_watched(self, partition: TopicPartition) -> Steps[None]:
        """The leadership of a partition that is being reassigned has changed."""
        if self.is_active and partition in self.context.targets:
            yield from self.try_to_finish(partition)
