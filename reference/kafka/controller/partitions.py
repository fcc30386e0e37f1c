"""The partition state machine: effects of a change of state, and its requests to brokers.

A change is requested for several partitions at once. An illegal change is noted without effect, and
the rest of the batch continues; the same holds for a partition that gets no leader. Source: Kafka's
ZkPartitionStateMachine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import ClassVar

from .batch import Batch
from .context import Context
from .selectors import Candidates, Elected, NotElected, Selector
from .states import PARTITIONS, PartitionState
from .store import Steps, Store
from .terms import Effect, Leadership, Noted, TopicPartition

__all__ = ["PartitionMachine"]


class PartitionMachine:
    """The state machine of one controller: ``selector_of`` returns the selector for a topic's lost
    leaders.
    """

    legal: ClassVar[Mapping[PartitionState, frozenset[PartitionState]]] = PARTITIONS

    def __init__(self, store: Store, context: Context, batch: Batch,
                 emit: Callable[[Effect], None], selector_of: Callable[[str], Selector]) -> None:
        self.store, self.context, self.batch = store, context, batch
        self._emit, self._selector_of = emit, selector_of

    # -- changes ------------------------------------------------------------------------------

    def change(self, partitions: Iterable[TopicPartition], target: PartitionState,
               selector: Selector | None = None) -> Steps[None]:
        """Bring partitions into a state.

        For ONLINE a ``selector`` elects; None means the one for lost leaders.
        """
        self.batch.begin()
        for partition in partitions:
            before = self.context.state_of(partition)
            if before not in self.legal[target]:
                self._emit(Noted("illegal", (partition, before, target)))
                continue
            if (yield from self._carry_out(partition, before, target, selector)):
                self._set(partition, target)
        self.batch.send(self.store.epoch)

    def _carry_out(self, partition: TopicPartition, before: PartitionState,
                   target: PartitionState, selector: Selector | None) -> Steps[bool]:
        if target is not PartitionState.ONLINE:
            return True
        if before is PartitionState.NEW:
            return (yield from self.initialize(partition))
        return (yield from self.elect(partition, selector or self._selector_of(partition.topic)))

    def _set(self, partition: TopicPartition, target: PartitionState) -> None:
        if target is PartitionState.NON_EXISTENT:
            self.context.partition_states.pop(partition, None)
        else:
            self.context.partition_states[partition] = target

    def fails(self, partition: TopicPartition, why: str) -> bool:
        """Note the reason why a partition is not changed; always False."""
        self._emit(Noted("not changed", (partition, why)))
        return False

    # -- leaders ------------------------------------------------------------------------------

    def initialize(self, partition: TopicPartition) -> Steps[bool]:
        """The first leader: the first assigned replica that is live; all live ones are in sync."""
        replicas = self.context.assignment.get(partition, ())
        live = tuple(each for each in replicas if each in self.context.live)
        if not live:
            return self.fails(partition, NotElected.NO_LIVE_REPLICA.value)
        first = Leadership(live[0], 0, live, self.store.epoch, 0)
        if not (yield from self.store.create_leadership(partition, first)):
            return self.fails(partition, "another controller has made it")
        self.context.leaderships[partition] = first
        self.batch.lead(live, partition, first, is_new=True)
        return True

    def elect(self, partition: TopicPartition, selector: Selector) -> Steps[bool]:
        """Elect another leader; written on the condition that the node has not been written
        meanwhile.
        """
        while True:
            found = yield from self.store.read_leadership(partition)
            if found is None:
                return self.fails(partition, "its leadership is not there")
            if self.is_from_later_controller(found):
                return self.fails(partition, "a later controller has written its leadership")
            elected = selector(self.candidates(partition, found))
            if isinstance(elected, NotElected):
                self.context.leaderships[partition] = found
                return self.nobody_elected(partition, elected)
            written = yield from self.store.write_leadership(
                partition, self.next_leadership(found, elected))
            if written is not None:
                self.context.leaderships[partition] = written
                self.batch.lead(elected.recipients, partition, written)
                return True

    def nobody_elected(self, partition: TopicPartition, why: NotElected) -> bool:
        """The selector found no leader: true if the change of state counts as done nevertheless."""
        return self.fails(partition, why.value)

    def is_from_later_controller(self, found: Leadership) -> bool:
        """True if a controller with a greater epoch wrote it."""
        return found.controller_epoch > self.store.epoch

    def candidates(self, partition: TopicPartition, found: Leadership) -> Candidates:
        """The partition in the form that selectors take."""
        return Candidates(
            self.context.assignment[partition], found.leader, found.isr,
            frozenset(self.context.registered), frozenset(self.context.shutting_down),
            self.context.targets.get(partition, ()))

    def next_leadership(self, found: Leadership, elected: Elected) -> Leadership:
        """The leadership to write: every change has a leader epoch of its own."""
        return Leadership(elected.leader, found.leader_epoch + 1, elected.isr, self.store.epoch,
                          found.version)

    def raise_leader_epoch(self, partition: TopicPartition) -> Steps[bool]:
        """Write the leadership again with the next leader epoch, so that brokers obey it."""
        while True:
            found = yield from self.store.read_leadership(partition)
            if found is None or self.is_from_later_controller(found):
                return self.fails(partition, "its leadership is not there, or is later")
            same = Elected(found.leader, found.isr, ())
            written = yield from self.store.write_leadership(
                partition, self.next_leadership(found, same))
            if written is not None:
                self.context.leaderships[partition] = written
                return True

    # -- at the election ----------------------------------------------------------------------

    def start(self) -> Steps[None]:
        """Give every partition its initial state, and elect missing leaders."""
        for partition in self.context.assignment:
            if partition not in self.context.leaderships:
                state = PartitionState.NEW
            elif self.context.has_live_leader(partition):
                state = PartitionState.ONLINE
            else:
                state = PartitionState.OFFLINE
            self.context.partition_states[partition] = state
        yield from self.bring_online()

    def bring_online(self) -> Steps[None]:
        """Elect leaders for all partitions without one, except for topics that are being deleted.
        """
        waiting = [partition for partition, state in sorted(
                       self.context.partition_states.items(), key=lambda pair: pair[0])
                   if state in (PartitionState.NEW, PartitionState.OFFLINE)
                   and not self.context.is_being_deleted(partition)]
        yield from self.change(waiting, PartitionState.ONLINE)
