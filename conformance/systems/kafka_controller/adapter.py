"""The reference controller's state machines behind their port, over the store in memory."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Set
from typing import Any, ClassVar

from ....reference.coordination.server import Server
from ....reference.coordination.terms import Create, Data, Read, Request, Result, Write
from ....reference.kafka.controller import znodes
from ....reference.kafka.controller.batch import Batch
from ....reference.kafka.controller.channels import Channels
from ....reference.kafka.controller.context import Context, Replica
from ....reference.kafka.controller.kafka_0_9 import (
    PartitionMachineOf09, ReplicaMachineOf09, UnguardedStore,
)
from ....reference.kafka.controller.partitions import PartitionMachine
from ....reference.kafka.controller.replicas import ReplicaMachine
from ....reference.kafka.controller.selectors import (
    Selector, controlled_shutdown, offline, offline_unclean, preferred, reassigned,
)
from ....reference.kafka.controller.states import PartitionState, ReplicaState
from ....reference.kafka.controller.store import Steps, Store
from ....reference.kafka.controller.terms import (
    NOBODY, Leadership, StopReplica, TopicPartition, UpdateMetadata,
)
from ...adapters.port_adapter import PortAdapter
from ...ports.base import Message
from .port import PORT

__all__ = ["ReferenceController", "ReferenceControllerOf09"]

_CONTROLLER = 0


class ReferenceController(PortAdapter):
    """Each partition is number 0 of a topic of its own. What a twin replaces are the types of the
    parts, and the selectors."""

    port: ClassVar = PORT
    policy: ClassVar[str] = "3.9"
    store_type: type[Store] = Store
    batch_type: type[Batch] = Batch
    partitions_type: type[PartitionMachine] = PartitionMachine
    replicas_type: type[ReplicaMachine] = ReplicaMachine
    selectors: Mapping[str, Selector] = {
        "reassigned": reassigned, "preferred": preferred,
        "controlled_shutdown": controlled_shutdown}
    lost_leaders: tuple[Selector, Selector] = (offline, offline_unclean)
    """Where unclean elections are off, and where they are on."""

    def start(self, settings: Mapping[str, Any]) -> None:
        self._brokers = range(settings["brokers"])
        self._server = Server()
        self._session = self._server.open()
        self._unclean: set[str] = set()
        for path in (*znodes.TOP_LEVEL, znodes.CONTROLLER_EPOCH):
            self._ask(Create(path))
        for number in range(settings["capacity"]):
            self._ask(Create(znodes.topic_path(_topic(number).topic)))
        self._make_parts()
        self.brokers(list(self._brokers), [])

    def _make_parts(self) -> None:
        store = self.store_type()
        store.session, store.epoch, store.epoch_version = self._session, 1, 0
        self._context = Context()
        self._channels = Channels(lambda effect: None, lambda: 0)
        batch = self.batch_type(_CONTROLLER, self._context, self._channels)
        self._partitions = self.partitions_type(
            store, self._context, batch, lambda effect: None,
            lambda topic: self.lost_leaders[topic in self._unclean])
        self._replicas = self.replicas_type(store, self._context, batch, lambda effect: None)

    # -- what the harness does ------------------------------------------------------------------

    def assign(self, partition: int, replicas: list[int], unclean: bool) -> bool:
        self._context.assignment[_topic(partition)] = tuple(replicas)
        if unclean:
            self._unclean.add(_topic(partition).topic)
        else:
            self._unclean.discard(_topic(partition).topic)
        return True

    def brokers(self, up: list[int], leaving: list[int]) -> bool:
        for broker in self._brokers:
            if broker in up:
                self._context.registered.setdefault(broker, 1)
                self._channels.add(broker)
            else:
                self._context.registered.pop(broker, None)
                self._channels.remove(broker)
        self._context.shutting_down = set(leaving)
        return True

    def write_isr(self, partition: int, isr: list[int]) -> bool:
        found = self._node(partition)
        if found is not None:
            self._write(partition, found._replace(isr=tuple(isr)))
        return True

    def take_over(self, partition: int) -> bool:
        found = self._node(partition)
        if found is not None:
            self._write(partition, found._replace(controller_epoch=2))
        return True

    # -- what the controller does -----------------------------------------------------------------

    def change(
        self, partitions: list[int], target: str, selector: str, to: list[int],
        meanwhile: list[int] | None = None,
    ) -> Message:
        topics = [_topic(each) for each in partitions]
        self._context.targets = {topic: tuple(to) for topic in topics}
        steps = self._partitions.change(
            topics, PartitionState[target.upper()], self.selectors.get(selector))
        met = self._run(steps, partitions[0], meanwhile)
        self._context.targets = {}
        return self._seen(partitions, [], met)

    def change_replicas(
        self, replicas: list[list[int]], target: str, meanwhile: list[int] | None = None,
    ) -> Message:
        named = [Replica(_topic(partition), broker) for partition, broker in replicas]
        steps = self._replicas.change(named, ReplicaState[target.upper()])
        met = self._run(steps, replicas[0][0], meanwhile)
        return self._seen(sorted({partition for partition, _ in replicas}), replicas, met)

    def look(self, partition: int) -> Message:
        return self._seen([partition], [[partition, broker] for broker in self._brokers], False)

    def _run(
        self, steps: Generator[Request, Result, None], partition: int, isr: list[int] | None
    ) -> bool:
        """Answer each request at once; the leader writes its ISR, once, after its node was read.

        Returns whether it did.
        """
        result: Result | None = None
        met = False
        while True:
            try:
                request = steps.send(result)  # type: ignore[arg-type]
            except StopIteration:
                return met
            result = self._ask(request)
            if isr is not None and not met and self._is_read_of(request, result, partition):
                met = self.write_isr(partition, isr)

    @staticmethod
    def _is_read_of(request: Request, result: Result, partition: int) -> bool:
        return (isinstance(request, Read) and isinstance(result, Data)
                and request.path == znodes.state_path(_topic(partition)))

    # -- what is seen

    def _seen(
        self, partitions: Iterable[int], replicas: Iterable[list[int]], met: bool
    ) -> Message:
        states = [{
            "partition": partition, "broker": broker,
            "state": self._context.replica_state_of(
                Replica(_topic(partition), broker)).name.lower(),
        } for partition, broker in replicas]
        return {"partitions": [self._partition(each) for each in partitions],
                "replicas": states, "told": self._told(), "met": met}

    def _partition(self, partition: int) -> Message:
        found = self._node(partition)
        leader = None if found is None or found.leader == NOBODY else found.leader
        return {"partition": partition,
                "state": self._context.state_of(_topic(partition)).name.lower(),
                "leader": leader, "isr": list(found.isr) if found else [],
                "epoch": found.leader_epoch if found else 0}

    def _told(self) -> list[Message]:
        """What is in the queues; they are empty then."""
        told = []
        for broker in self._brokers:
            for request in self._channels.queue_of(broker):
                for topic in request.partitions:
                    name = ("update_metadata" if isinstance(request, UpdateMetadata)
                            else "leader_and_isr")
                    if isinstance(request, StopReplica):
                        name = "delete" if request.partitions[topic].delete else "stop"
                    told.append({"to": broker, "request": name, "partition": _number(topic)})
            self._channels.remove(broker)
            if broker in self._context.registered:
                self._channels.add(broker)
        return told

    # -- the store

    def _ask(self, request: Request) -> Result:
        return self._server.handle(self._session, request)[0]

    def _node(self, partition: int) -> Leadership | None:
        found = self._ask(Read(znodes.state_path(_topic(partition))))
        return znodes.state_of(found.data, found.stat.version) if isinstance(found, Data) else None

    def _write(self, partition: int, wanted: Leadership) -> None:
        self._ask(Write(znodes.state_path(_topic(partition)), znodes.state_text(wanted)))


class _ReplicasOf09(ReplicaMachineOf09):
    """Where unclean elections are on, the last of an ISR leaves it like any other."""

    unclean: Set[str] = frozenset()

    def leave_isr(self, replica: Replica) -> Steps[Leadership | None]:
        self._keeps_the_last = replica.partition.topic not in self.unclean
        return super().leave_isr(replica)

    def without(self, found: Leadership, broker: int) -> Leadership:
        left = super().without(found, broker)
        return left if self._keeps_the_last or found.isr != (broker,) else left._replace(isr=())


class ReferenceControllerOf09(ReferenceController):
    """The parts of 0.9; a controlled shutdown elects as in 0.10, by the list."""

    policy: ClassVar[str] = "0.9"
    store_type = UnguardedStore
    partitions_type = PartitionMachineOf09
    replicas_type = _ReplicasOf09

    def _make_parts(self) -> None:
        super()._make_parts()
        assert isinstance(self._replicas, _ReplicasOf09)
        self._replicas.unclean = self._unclean


def _topic(number: int) -> TopicPartition:
    return TopicPartition(f"topic-{number}", 0)


def _number(partition: TopicPartition) -> int:
    return int(partition.topic.removeprefix("topic-"))
