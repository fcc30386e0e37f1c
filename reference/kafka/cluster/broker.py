"""A broker: it registers, obeys the controller, serves clients and followers, and fetches.

A broker begins by opening a session and registering itself in an ephemeral znode; its creation
gives it its *broker epoch*. If its znode of an earlier life exists still, it waits until that is
gone. The controller notices the znode, and sends its requests. Requests of a replaced controller,
or for an earlier life of the broker, have no effect.

Times are ms of the broker's own clock.

Source: Kafka's ``KafkaServer``, ``ReplicaManager``, ``AbstractFetcherThread``; KAFKA-1387,
KAFKA-7235 (KIP-380).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final

from ...coordination.terms import (
    BadVersion, ConnectionLost, Create, Created, Data, Event, NodeExists, Read, Result, Write,
    Written,
)
from ..controller import znodes
from ..controller.terms import (
    BrokerAnswer, Error, LeaderAndIsr, Leadership, PartitionTold, StopReplica, TopicPartition,
    UpdateMetadata,
)
from ..replication.in_sync import InSync, Outcome
from ..replication.messages import (
    Code, EndedAt, EndOfEpoch, Fetch, Fetched, PartitionState, Produce, Produced, ReadUpTo,
)
from ..replication.messages import Read as ReadRequest
from ..replication.replica import Disk, Replica, Told
from ..replication.settings import Settings
from .process import Answer, Process
from .requests import Leader, Metadata, WhoLeads

__all__ = ["Broker"]

_OF_CONTROLLERS: Final = LeaderAndIsr | UpdateMetadata | StopReplica
_OF_PARTITIONS: Final = Fetch | EndOfEpoch | Produce | ReadRequest

REQUEST_WITHIN: Final = 25
FETCH_EVERY: Final = 8
CHECK_EVERY: Final = 30
CHECKPOINT_EVERY: Final = 70
REGISTER_EVERY: Final = 15


def told_of(said: PartitionTold) -> Told:
    """A controller's request about a partition, in a replica's terms."""
    return Told(PartitionState(*said.leadership[:4]), said.leadership.version, said.replicas)


class Broker:
    """One life of a broker; ``disks`` outlive it."""

    def __init__(
        self, process: Process, disks: dict[int, Disk], settings: Settings,
        replica_type: type[Replica] = Replica,
    ) -> None:
        self.process, self.settings = process, settings
        self.disks, self._replica_type = disks, replica_type
        self.id = process.id
        self.epoch = -1                     # the broker epoch: of its registration
        self.controller_epoch = 0           # the largest controller epoch so far
        self.leaders: dict[int, Leader] = {}
        self.replicas = {partition: self._replica(partition) for partition in disks}
        self._names: dict[int, TopicPartition] = {}     # names of the partitions in requests
        self._fetching: dict[int, int] = {}     # by partition, the number of its only fetch
        self._fetches = 0
        self._is_unsure = False         # a session ended while a request was open
        self.is_leaving = False         # it has asked to shut down
        self.when_registered: Callable[[], None] = lambda: None

    def _replica(self, partition: int) -> Replica:
        """A replica over its disk, which is empty the first time."""
        disk = self.disks.setdefault(partition, Disk())
        return self._replica_type(partition, self.id, disk, self.settings, self._record)

    def _record(self, what: str, *about: int | str) -> None:
        self.process.world.record(what, self.id, *about)

    # -- its life ---------------------------------------------------------------------------------

    def start(self) -> None:
        """Open a session, and begin the regular work."""
        self.process.open()
        self._regularly(CHECK_EVERY, self.check)
        self._regularly(CHECKPOINT_EVERY, self.checkpoint)

    def _regularly(self, every: int, what: Callable[[], None]) -> None:
        def again() -> None:
            what()
            self.process.later(every, again)

        self.process.later(every, again)

    def connected(self) -> None:
        """Register: the controller, and by it other brokers, learn of the broker.

        The result of a change of the ISR that was under way in an earlier session is looked up.
        """
        for replica in self.replicas.values() if self._is_unsure else ():
            if replica.in_sync is not None and replica.in_sync.wanted is not None:
                self.change_failed(replica, replica.in_sync)
        self._is_unsure = False
        self._register()

    def _register(self) -> None:
        self.process.ask(Create(znodes.broker_path(self.id), ephemeral=True), self._registered)

    def _registered(self, result: Result) -> None:
        if isinstance(result, Created) and result.stat is not None:
            self.epoch = result.stat.czxid
            self._record("registered", self.process.life, self.epoch)
            self.when_registered()
        elif isinstance(result, NodeExists):
            self.process.ask(Read(znodes.broker_path(self.id)), self._who_is_there)
        elif isinstance(result, ConnectionLost):
            self._register()

    def _who_is_there(self, result: Result) -> None:
        """The znode is its own registration without a reply, or an earlier life's, which will go.
        """
        session = self.process.service_session
        if isinstance(result, Data) and result.stat.owner == session:
            self.epoch = result.stat.czxid
            self._record("registered", self.process.life, self.epoch)
            self.when_registered()
        else:
            self.wait_for_old()

    def wait_for_old(self) -> None:
        """Try again later: the session of the earlier life will have expired."""
        self.process.later(REGISTER_EVERY, self._register)

    def checkpoint(self) -> None:
        """Write all high watermarks to the disk."""
        for replica in self.replicas.values():
            replica.checkpoint()

    # -- requests ---------------------------------------------------------------------------------

    def handle(self, sender: int, body: Any, answer: Answer) -> None:
        """Answer a request of a controller, a broker or a client."""
        if isinstance(body, _OF_CONTROLLERS):
            answer(self.obey(body))
        elif isinstance(body, WhoLeads):
            answer(Metadata(self.leaders.get(body.partition)))
        elif isinstance(body, _OF_PARTITIONS):
            self._of_partition(body, answer)

    def _of_partition(self, body: Any, answer: Answer) -> None:
        replica = self.replicas.get(body.partition)
        if replica is None:
            answer({Fetch: Fetched, EndOfEpoch: EndedAt, Produce: Produced}.get(
                type(body), ReadUpTo)(Code.NOT_LEADER))
        elif isinstance(body, Fetch):
            answer(replica.fetch(body, self.process.clock()))
            self._expand(replica)
        elif isinstance(body, EndOfEpoch):
            answer(replica.end_of_epoch(body))
        elif isinstance(body, Produce):
            replica.produce(body, answer)
        else:
            answer(replace(replica.read(body), life=self.process.life))

    # -- the controller's requests ----------------------------------------------------------------

    def obey(self, request: LeaderAndIsr | UpdateMetadata | StopReplica) -> BrokerAnswer:
        """Obey a controller, unless it has been replaced or means an earlier life."""
        if self.is_of_old_controller(request.controller_epoch):
            return BrokerAnswer(Error.STALE_CONTROLLER_EPOCH)
        if self.is_for_earlier_life(request.broker_epoch):
            return BrokerAnswer(Error.STALE_BROKER_EPOCH)
        self.controller_epoch = max(self.controller_epoch, request.controller_epoch)
        self._record("heeded", self.process.life, request.controller_epoch, request.broker_epoch,
                     self.epoch)
        if isinstance(request, UpdateMetadata):
            self._learn(request)
        elif isinstance(request, StopReplica):
            self._stop(request)
        else:
            for which, said in request.partitions.items():
                self._names[which.partition] = which
                self._obey_for(which.partition, told_of(said))
        return BrokerAnswer()

    def is_of_old_controller(self, controller_epoch: int) -> bool:
        """True if a newer controller is known."""
        return controller_epoch < self.controller_epoch

    def is_for_earlier_life(self, broker_epoch: int) -> bool:
        """True if a request was made before this registration; always true without one."""
        return self.epoch < 0 or broker_epoch < self.epoch

    def _obey_for(self, partition: int, told: Told) -> None:
        if partition not in self.replicas:
            self.replicas[partition] = self._replica(partition)
        replica = self.replicas[partition]
        if not replica.is_news(told.state):
            return
        self._record("obeyed", self.process.life, partition, told.state.epoch)
        replica.obey(told, self.process.clock())
        self._fetching.pop(partition, None)
        if self.may_follow():
            self._fetch_next(partition)

    def may_follow(self) -> bool:
        """True if it fetches in an epoch that begins now (see ``leaving``, KAFKA-14140)."""
        return not self.is_leaving

    def _learn(self, request: UpdateMetadata) -> None:
        for which, said in request.partitions.items():
            known = self.leaders.get(which.partition)
            if known is None or said.leader_epoch >= known.epoch:
                self.leaders[which.partition] = Leader(said.leader, said.leader_epoch)

    def _stop(self, request: StopReplica) -> None:
        for which, said in request.partitions.items():
            replica = self.replicas.get(which.partition)
            if replica is not None and said.leader_epoch >= replica.epoch:
                self._fetching.pop(which.partition, None)
                replica.delete() if said.delete else replica.stop()
            if said.delete:
                self._record("erased", which.partition)

    # -- following --------------------------------------------------------------------------------

    def _fetch_next(self, partition: int) -> None:
        """Send the next request to the leader; there is one at a time."""
        replica = self.replicas[partition]
        request = replica.next_request()
        if request is None:
            self._fetching.pop(partition, None)
            return
        self._fetches += 1
        self._fetching[partition] = self._fetches
        self.process.call(replica.leader, request, REQUEST_WITHIN,
                          partial(self._fetched, partition, self._fetches, replica.epoch))

    def _fetched(self, partition: int, number: int, epoch: int, answer: Any) -> None:
        replica = self.replicas[partition]
        if self._fetching.get(partition) != number or epoch != replica.epoch:
            return      # of another request, or of an epoch that is over
        has_more = False
        if isinstance(answer, EndedAt):
            has_more = replica.has_ended(answer)
        elif isinstance(answer, Fetched):
            has_more = replica.fetched(answer)
        if has_more:
            self._fetch_next(partition)
        else:
            self.process.later(FETCH_EVERY, partial(self._fetch_again, partition, number))

    def _fetch_again(self, partition: int, number: int) -> None:
        if self._fetching.get(partition) == number:
            self._fetch_next(partition)

    # -- changes of the ISR -----------------------------------------------------------------------

    def check(self) -> None:
        """Find followers that lag, and followers that may join."""
        for replica in self.replicas.values():
            self._change(replica, replica.shrunk(self.process.clock()))
            self._expand(replica)

    def _expand(self, replica: Replica) -> None:
        self._change(replica, replica.expanded())

    def _change(self, replica: Replica, isr: frozenset[int] | None) -> None:
        """Write another ISR to the quorum, on the condition that it has not been written meanwhile.
        """
        if isr is None or replica.in_sync is None:
            return
        in_sync = replica.in_sync
        wanted = in_sync.want(isr)
        self._record("changing", replica.partition, replica.epoch)
        self.process.ask(
            Write(self._path(replica), znodes.state_text(Leadership(*wanted, -1)),
                  in_sync.version),
            partial(self._changed, replica, in_sync))

    def _path(self, replica: Replica) -> str:
        """The path of a partition's state in the quorum; the partition is known by a request."""
        return znodes.state_path(self._names[replica.partition])

    def _changed(self, replica: Replica, in_sync: InSync, result: Result) -> None:
        if isinstance(result, Written):
            in_sync.written(result.stat.version)
            self._has_changed(replica, in_sync)
        elif isinstance(result, BadVersion | ConnectionLost):
            self.change_failed(replica, in_sync)

    def change_failed(self, replica: Replica, in_sync: InSync) -> None:
        """The result of the write is unknown: read the state."""
        self.process.insist(Read(self._path(replica)),
                            partial(self._read_again, replica, in_sync))

    def _read_again(self, replica: Replica, in_sync: InSync, result: Result) -> None:
        if isinstance(result, Data):
            found = PartitionState(*znodes.state_of(result.data, 0)[:4])
            outcome = in_sync.read_again(found, result.stat.version)
            if outcome is not Outcome.DEPOSED:
                self._has_changed(replica, in_sync)

    def _has_changed(self, replica: Replica, in_sync: InSync) -> None:
        if replica.in_sync is in_sync:
            replica.raise_hw()

    # -- its session ------------------------------------------------------------------------------

    def changed(self, event: Event) -> None:
        """Ignore the event: a broker has no watches."""

    def expired(self) -> None:
        """Continue, and register again in the new session."""
        self._is_unsure = True
