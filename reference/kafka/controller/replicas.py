"""The replica state machine: effects of a change of state, and its requests to brokers.

As with partitions, an illegal change is noted without effect, and the rest continues. Source:
Kafka's ZkReplicaStateMachine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import ClassVar

from .batch import Batch
from .context import Context, Replica
from .states import REPLICAS, ReplicaState
from .store import Steps, Store
from .terms import NOBODY, Effect, Leadership, Noted, TopicPartition

__all__ = ["ReplicaMachine"]


class ReplicaMachine:
    """Holds and changes the states of all replicas of one controller."""

    legal: ClassVar[Mapping[ReplicaState, frozenset[ReplicaState]]] = REPLICAS

    def __init__(self, store: Store, context: Context, batch: Batch,
                 emit: Callable[[Effect], None]) -> None:
        self.store, self.context, self.batch, self._emit = store, context, batch, emit

    # -- changes ------------------------------------------------------------------------------

    def change(self, replicas: Iterable[Replica], target: ReplicaState) -> Steps[None]:
        """Bring replicas into a state."""
        self.batch.begin()
        for replica in replicas:
            before = self.context.replica_state_of(replica)
            if before not in self.legal[target]:
                self._emit(Noted("illegal", (replica, before, target)))
            elif (yield from self._carry_out(replica, before, target)):
                self._set(replica, target)
        self.batch.send(self.store.epoch)

    def _carry_out(self, replica: Replica, before: ReplicaState,
                   target: ReplicaState) -> Steps[bool]:
        if target is ReplicaState.NEW:
            return self._begin(replica)
        if target is ReplicaState.ONLINE:
            return self._bring_online(replica, before)
        if target is ReplicaState.OFFLINE:
            return (yield from self.take_offline(replica))
        if target is ReplicaState.DELETION_STARTED:
            self.batch.stop(replica.broker, replica.partition, delete=True)
        if target is ReplicaState.NON_EXISTENT:
            assigned = self.context.assignment.get(replica.partition, ())
            self.context.assignment[replica.partition] = tuple(
                each for each in assigned if each != replica.broker)
        return True

    def _set(self, replica: Replica, target: ReplicaState) -> None:
        if target is ReplicaState.NON_EXISTENT:
            self.context.replica_states.pop(replica, None)
        else:
            self.context.replica_states[replica] = target

    def fails(self, replica: Replica, why: str) -> bool:
        """Note the reason why a replica is not changed; always False."""
        self._emit(Noted("not changed", (replica, why)))
        return False

    # -- effects -------------------------------------------------------------------------

    def _begin(self, replica: Replica) -> bool:
        """A new replica follows the leader, if there is one; it is not the leader itself."""
        leadership = self.context.leaderships.get(replica.partition)
        if leadership is None:
            return True
        if leadership.leader == replica.broker:
            return self.fails(replica, "a new replica cannot lead")
        self.batch.lead((replica.broker,), replica.partition, leadership, is_new=True)
        return True

    def _bring_online(self, replica: Replica, before: ReplicaState) -> bool:
        """A replica on a live broker learns the leader, if there ever was one."""
        if before is ReplicaState.NEW:
            assigned = self.context.assignment.get(replica.partition, ())
            if replica.broker not in assigned:
                self.context.assignment[replica.partition] = (*assigned, replica.broker)
            return True
        leadership = self.context.leaderships.get(replica.partition)
        if leadership is not None:
            self.batch.lead((replica.broker,), replica.partition, leadership)
        return True

    def take_offline(self, replica: Replica) -> Steps[bool]:
        """The broker stops the replica, it leaves the ISR, and the others learn that."""
        self.batch.stop(replica.broker, replica.partition, delete=False)
        if replica.partition not in self.context.leaderships:
            return self.take_unled_offline(replica)
        left = yield from self.leave_isr(replica)
        if left is None:
            return self.fails(replica, "it could not be taken out of the ISR")
        self.context.leaderships[replica.partition] = left
        if not self.context.is_being_deleted(replica.partition):
            others = [each for each in self.context.assignment[replica.partition]
                      if each != replica.broker]
            self.batch.lead(others, replica.partition, left)
        return True

    def take_unled_offline(self, replica: Replica) -> bool:
        """Take a replica offline of a partition that never had a leader; true if that is
        possible."""
        self.batch.update_metadata(self.context.registered, (replica.partition,))
        return True

    def leave_isr(self, replica: Replica) -> Steps[Leadership | None]:
        """Remove a replica from the ISR, unless it is the last member; return the leadership then.

        None if there is no leadership, or it is a later controller's.
        """
        while True:
            found = yield from self.store.read_leadership(replica.partition)
            if found is None or found.controller_epoch > self.store.epoch:
                return None
            if replica.broker not in found.isr:
                return found
            wanted = self.without(found, replica.broker)
            written = yield from self.store.write_leadership(replica.partition, wanted)
            if written is not None:
                return written

    def without(self, found: Leadership, broker: int) -> Leadership:
        """A leadership after a broker has gone: it does not lead, and leaves the ISR if others are
        in it.
        """
        rest = tuple(each for each in found.isr if each != broker)
        return Leadership(NOBODY if found.leader == broker else found.leader,
                          found.leader_epoch + 1, rest or found.isr, self.store.epoch,
                          found.version)

    # -- at the election ----------------------------------------------------------------------

    def start(self) -> Steps[None]:
        """Give every replica its initial state, by the liveness of its broker.

        Those on stopped brokers begin as ineligible for deletion, and are taken offline, so that
        they leave the ISR (KAFKA-3143).
        """
        online, offline = self._sorted_out()
        for replica in online:
            self.context.replica_states[replica] = ReplicaState.ONLINE
        for replica in offline:
            self.context.replica_states[replica] = ReplicaState.DELETION_INELIGIBLE
        yield from self.change(online, ReplicaState.ONLINE)
        yield from self.take_dead_offline(offline)

    def take_dead_offline(self, replicas: list[Replica]) -> Steps[None]:
        """At the election, replicas on stopped brokers leave the ISR."""
        yield from self.change(replicas, ReplicaState.OFFLINE)

    def _sorted_out(self) -> tuple[list[Replica], list[Replica]]:
        everywhere = {broker for replicas in self.context.assignment.values()
                      for broker in replicas}
        live = self.context.live
        return (self.context.replicas_on(everywhere & live),
                self.context.replicas_on(everywhere - live))

    def replicas_of(self, partition: TopicPartition) -> list[Replica]:
        """The assigned replicas of one partition, in order."""
        return [Replica(partition, each) for each in self.context.assignment.get(partition, ())]
