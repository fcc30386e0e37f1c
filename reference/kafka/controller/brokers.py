"""Brokers that start, stop, come back unnoticed, or ask to shut down.

Only its znode, or its own request, shows that a broker is gone: never a broken connection. Source:
Kafka's KafkaController: BrokerChange, onBrokerStartup, onBrokerFailure, ControlledShutdown.
"""

from __future__ import annotations

from collections.abc import Iterable

from . import znodes
from .context import Replica
from .selectors import Selector, controlled_shutdown
from .states import PartitionState, ReplicaState
from .store import Steps
from .terms import ShutDown, ShutDownAnswer, TopicPartition
from .topics import Topics

__all__ = ["Brokers"]


class Brokers(Topics):
    """The jobs about brokers."""

    def brokers_changed(self) -> Steps[None]:
        """The list of registered brokers has changed."""
        if not self.is_active:
            return
        there = yield from self.read_brokers()
        known = self.context.registered
        new = sorted(set(there) - set(known))
        dead = sorted(set(known) - set(there))
        bounced = self.find_bounced(there)
        for broker in (*bounced, *dead):
            self.channels.remove(broker)
        for broker in (*new, *bounced):
            self.channels.add(broker)
        yield from self._they_come({each: there[each] for each in new})
        yield from self._they_go(bounced)
        yield from self._they_come({each: there[each] for each in bounced})
        yield from self._they_go(dead)

    def find_bounced(self, there: dict[int, int]) -> list[int]:
        """Brokers that stopped and came back between two reads: in another life now.

        Without that they never get their requests (KAFKA-7235).
        """
        known = self.context.registered
        return sorted(each for each, epoch in there.items()
                      if each in known and epoch > known[each])

    def read_brokers(self) -> Steps[dict[int, int]]:
        """The broker epochs of all that are registered; the list is watched from now on."""
        there = {}
        for name in (yield from self.store.children(znodes.IDS, watch=True)):
            found = yield from self.store.read(f"{znodes.IDS}/{name}")
            if found is not None:
                there[int(name)] = found[1].czxid
        return there

    def _they_come(self, epochs: dict[int, int]) -> Steps[None]:
        if epochs:
            self.context.registered |= epochs
            self.note("came", *sorted(epochs))
            yield from self.brokers_came(sorted(epochs))

    def _they_go(self, brokers: list[int]) -> Steps[None]:
        if brokers:
            for broker in brokers:
                del self.context.registered[broker]
            self.note("went", *brokers)
            yield from self.brokers_went(brokers)

    # -- consequences ----------------------------------------------------------------------

    def brokers_came(self, new: list[int]) -> Steps[None]:
        """Announce the new brokers, send them their partitions, and elect missing leaders."""
        self.announce(new)
        yield from self.replicas.change(self.context.replicas_on(new), ReplicaState.ONLINE)
        yield from self.partitions.bring_online()
        yield from self.resume_reassignments(new)
        yield from self.resume_deletions(
            sorted({each.partition.topic for each in self.context.replicas_on(new)}))

    def announce(self, new: list[int]) -> None:
        """Known brokers learn of the new ones, which learn of all partitions."""
        self.batch.begin()
        self.batch.update_metadata(self.context.registered.keys() - set(new), ())
        self.batch.send(self.store.epoch)
        self.batch.update_metadata(new, self.context.leaderships)
        self.batch.send(self.store.epoch)

    def brokers_went(self, dead: list[int]) -> Steps[None]:
        """Elect other leaders, and remove the replicas on stopped brokers from the ISRs."""
        self.context.shutting_down -= set(dead)
        led = sorted(each for each, leadership in self.context.leaderships.items()
                     if leadership.leader in dead and not self.context.is_being_deleted(each))
        yield from self.partitions.change(led, PartitionState.OFFLINE)
        yield from self.partitions.bring_online()
        lost = self.context.replicas_on(dead)
        yield from self.replicas.change(
            [each for each in lost if not self.context.is_being_deleted(each.partition)],
            ReplicaState.OFFLINE)
        yield from self.fail_deletion(lost)
        yield from self.resume_deletions()
        if not led:
            self.batch.begin()
            self.batch.update_metadata(self.context.registered, ())
            self.batch.send(self.store.epoch)

    # -- controlled shutdown ------------------------------------------------------------------

    def shut_down(self, asked: ShutDown) -> Steps[None]:
        """A broker asks to shut down: others take over its leaderships, and it leaves the ISRs."""
        known = self.context.registered.get(asked.broker)
        if not self.is_active or known is None or asked.broker_epoch < known:
            self.emit(ShutDownAnswer(asked.number, None))
            return
        self.context.shutting_down.add(asked.broker)
        replicated = [each.partition for each in self.context.replicas_on([asked.broker])
                      if len(self.context.assignment[each.partition]) > 1
                      and each.partition in self.context.leaderships
                      and not self.context.is_being_deleted(each.partition)]
        led = self._led_by(asked.broker, replicated)
        yield from self.partitions.change(led, PartitionState.ONLINE, self.shutdown_selector())
        followed = [each for each in replicated if each not in led]
        yield from self.replicas.change(
            [Replica(each, asked.broker) for each in followed], ReplicaState.OFFLINE)
        self.emit(ShutDownAnswer(asked.number, tuple(self._led_by(asked.broker, replicated))))

    def shutdown_selector(self) -> Selector:
        """The selector for partitions led by a broker that is shutting down."""
        return controlled_shutdown

    def _led_by(self, broker: int, partitions: Iterable[TopicPartition]) -> list[TopicPartition]:
        return [each for each in partitions if self.context.leaderships[each].leader == broker]
