"""The wait-for graph of a cluster that does not become quiescent.

The nodes are processes: ``producer-P``, ``consumer-P`` (of partition P), ``operator``,
``broker-B``, ``controller-B`` (that of broker B), and ``service``, the coordination service. A wait
has a reason:

    answer        a record was sent, or is to be sent, and not acknowledged
    record        a record is in the log, and was not read yet
    leader        the partition has no leader: the controller has to elect one
    role          a broker has not got its role, or not in the present epoch
    copy          a follower has not copied all records, as far as its leader knows
    rejoin        a replica has all records, and is not in sync
    change        a change of the ISR, or a question about it, has no answer
    request       a request of the controller has no answer
    deletion      a replica was not deleted yet
    wish          a request of an operator was not carried out
    registration  a broker is not registered
    election      there is no active controller; the broker that the znode names, if there is one,
                  does not know that it is the controller, or that it is not

All of that is derived from the state of the processes. A process that waits for no other could
continue, and does not.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import NamedTuple, Protocol

from ...coordination.port import TimedCoordination
from ..controller import znodes
from ..controller.states import ReplicaState
from ..replication.messages import NOBODY
from ..replication.replica import Replica
from .clients import Consumer
from .node import Node

__all__ = ["Observed", "Wait", "waits"]

_SERVICE = "service"


class Wait(NamedTuple):
    """A process that waits for another one, and the reason."""

    waiter: str
    on: str
    reason: str


class Observed(Protocol):
    """The part of a cluster (``cluster.Cluster``) that is read here."""

    @property
    def nodes(self) -> Mapping[int, Node]:
        """The machines, by the number of their broker."""
        ...

    @property
    def store(self) -> TimedCoordination:
        """The coordination service of all processes."""
        ...

    @property
    def assignment(self) -> Mapping[int, tuple[int, ...]]:
        """By partition, the brokers that have its replicas."""
        ...

    @property
    def consumers(self) -> Mapping[int, Consumer]:
        """The consumer of each partition."""
        ...

    @property
    def wishes(self) -> int:
        """Requests of operators that are not fulfilled yet."""
        ...

    def staying(self) -> list[int]:
        """The partitions that will still be there."""
        ...

    def quorum(self, partition: int) -> tuple[int, tuple[int, ...]]:
        """The leader and the replicas in sync, as the coordination service has them."""
        ...

    def is_writing(self, partition: int) -> bool:
        """True if a producer waits for an answer."""
        ...


def waits(cluster: Observed) -> list[Wait]:
    """All present waits, each once."""
    controller = _controller_of(cluster)
    found = [*_of_clients(cluster, controller), *_of_brokers(cluster, controller),
             *_of_candidates(cluster, controller)]
    for node in cluster.nodes.values():
        if f"controller-{node.id}" == controller:
            found += _of_controller(node)
    return list(dict.fromkeys(found))


def _controller_of(cluster: Observed) -> str:
    """The active controller; the service, which has to elect one, if there is none."""
    active = [node for node in cluster.nodes.values()
              if node.process is not None and node.controller.is_active]
    newest = max(active, key=lambda node: int(node.controller.epoch), default=None)
    if newest is not None:
        return f"controller-{newest.id}"
    found = cluster.store.peek(znodes.CONTROLLER)
    return _SERVICE if found is None else f"controller-{json.loads(found[0])['brokerid']}"


def _of_candidates(cluster: Observed, controller: str) -> Iterator[Wait]:
    """Without an active controller, all wait for the znode of one to go, maybe its own."""
    if controller == _SERVICE or any(node.process is not None and node.controller.is_active
                                     for node in cluster.nodes.values()):
        return
    for node in cluster.nodes.values():
        yield Wait(f"controller-{node.id}", controller, "election")


def _reason(controller: str, otherwise: str) -> str:
    return "election" if controller == _SERVICE else otherwise


def _of_clients(cluster: Observed, controller: str) -> Iterator[Wait]:
    if cluster.wishes:
        yield Wait("operator", controller, _reason(controller, "wish"))
    for partition in cluster.staying():
        leader, _ = cluster.quorum(partition)
        broker = f"broker-{leader}"
        replica = None if leader == NOBODY else cluster.nodes[leader].replica(partition)
        for who, is_waiting, reason in (
                ("producer", cluster.is_writing(partition), "answer"),
                ("consumer", replica is not None
                 and cluster.consumers[partition].offset < replica.log.end, "record")):
            if is_waiting and leader == NOBODY:
                yield Wait(f"{who}-{partition}", controller, _reason(controller, "leader"))
            elif is_waiting:
                yield Wait(f"{who}-{partition}", broker, reason)


def _of_brokers(cluster: Observed, controller: str) -> Iterator[Wait]:
    for node in cluster.nodes.values():
        if node.process is not None and node.broker.epoch < 0:
            yield Wait(f"broker-{node.id}", _SERVICE, "registration")
    for partition in cluster.staying():
        leader, in_sync = cluster.quorum(partition)
        for broker in cluster.assignment[partition]:
            replica = cluster.nodes[broker].replica(partition)
            if replica is None or replica.leader != leader or leader == NOBODY:
                yield Wait(f"broker-{broker}", controller, _reason(controller, "role"))
            elif replica.leads:
                yield from _of_leader(replica)
            elif broker not in in_sync and replica.log.end >= _end_of(cluster, leader, partition):
                yield Wait(f"broker-{broker}", f"broker-{leader}", "rejoin")


def _end_of(cluster: Observed, broker: int, partition: int) -> int:
    """The end of a broker's log."""
    replica = cluster.nodes[broker].replica(partition)
    return 0 if replica is None else replica.log.end


def _of_leader(replica: Replica) -> Iterator[Wait]:
    leader = f"broker-{replica.broker}"
    if replica.in_sync is not None and not replica.in_sync.may_change:
        yield Wait(leader, _SERVICE, "change")
    for other in replica.replicas:
        if other != replica.broker and replica.end_of(other) < replica.log.end:
            yield Wait(leader, f"broker-{other}", "copy")


def _of_controller(node: Node) -> Iterator[Wait]:
    controller = f"controller-{node.id}"
    for broker, length in node.controller.channels.lengths().items():
        if length:
            yield Wait(controller, f"broker-{broker}", "request")
    if not node.controller.is_idle:
        yield Wait(controller, _SERVICE, "answer")
    for replica, state in node.controller.context.replica_states.items():
        if state in (ReplicaState.DELETION_STARTED, ReplicaState.DELETION_INELIGIBLE):
            yield Wait(controller, f"broker-{replica.broker}", "deletion")
