"""A broker: it registers, obeys the controller, serves clients and followers, and fetches.

A broker begins by opening a session and registering itself in an ephemeral znode, whose creation
gives it its *broker epoch*. Where its znode is there already, of an earlier life, it waits until
that is gone. The controller finds it there, and says what it has to do. Requests of a controller
that has been replaced, or that are meant for an earlier life of the broker, have no effect.

Times are ms of the broker's own clock.

Source: Kafka's ``KafkaServer``, ``ReplicaManager``, ``AbstractFetcherThread``; KAFKA-1387,
KAFKA-7235 (KIP-380).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

from ...coordination.terms import (
    BadVersion, ConnectionLost, Create, Created, Data, Event, NodeExists, Read, Result, Write,
    Written,
)
from ..replication.in_sync import Outcome
from ..replication.messages import (
    Code, EndedAt, EndOfEpoch, Fetch, Fetched, Produce, Produced, ReadUpTo,
)
from ..replication.messages import Read as ReadRequest
from ..replication.replica import Disk, Replica
from ..replication.settings import Settings
from .process import Answer, Process
from .requests import (
    Leader, LeaderAndIsr, Metadata, Obeyed, StopReplica, UpdateMetadata, WhoLeads,
)
from .znodes import broker_path, state_of, state_path, text_of

__all__ = ["Broker"]

REQUEST_WITHIN: Final = 25
FETCH_EVERY: Final = 8
CHECK_EVERY: Final = 30
CHECKPOINT_EVERY: Final = 70
REGISTER_EVERY: Final = 15


class Broker:
    """One life of a broker; ``disks`` outlive it."""

    replica_type: type[Replica] = Replica

    def __init__(
        self, process: Process, disks: Mapping[int, Disk], settings: Settings,
    ) -> None:
        self.process, self.settings = process, settings
        self.id = process.id
        self.epoch = -1                     # the broker epoch: of its registration
        self.controller_epoch = 0           # the largest that it has heard of
        self.leaders: dict[int, Leader] = {}
        self.live: frozenset[int] = frozenset()
        self.replicas = {
            partition: self.replica_type(partition, self.id, disk, settings, self._record)
            for partition, disk in disks.items()}
        self._fetching: dict[int, int] = {}     # by partition: the number of its only request
        self._fetches = 0
        self._is_unsure = False         # whether a session ended while something was asked
        self.when_registered: Callable[[], None] = lambda: None

    def _record(self, what: str, *about: int | str) -> None:
        self.process.world.record(what, self.id, *about)

    # -- its life ---------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin: open a session, and work at regular times."""
        self.process.open()
        self._regularly(CHECK_EVERY, self.check)
        self._regularly(CHECKPOINT_EVERY, self.checkpoint)

    def _regularly(self, every: int, what: Callable[[], None]) -> None:
        def again() -> None:
            what()
            self.process.later(every, again)

        self.process.later(every, again)

    def connected(self) -> None:
        """Register: other brokers, and the controller, know by that that it is there.

        What became of a change of the ISR that was under way in an earlier session is looked up.
        """
        for replica in self.replicas.values() if self._is_unsure else ():
            if replica.in_sync is not None and replica.in_sync.wanted is not None:
                self.change_failed(replica, replica.in_sync)
        self._is_unsure = False
        self._register()

    def _register(self) -> None:
        self.process.ask(Create(broker_path(self.id), ephemeral=True), self._registered)

    def _registered(self, result: Result) -> None:
        if isinstance(result, Created) and result.stat is not None:
            self.epoch = result.stat.czxid
            self._record("registered", self.process.life, self.epoch)
            self.when_registered()
        elif isinstance(result, NodeExists):
            self.process.ask(Read(broker_path(self.id)), self._who_is_there)
        elif isinstance(result, ConnectionLost):
            self._register()

    def _who_is_there(self, result: Result) -> None:
        """Its own registration, of which no reply came; or an earlier life's, which will go."""
        session = self.process.service_session
        if isinstance(result, Data) and result.stat.owner == session:
            self.epoch = result.stat.czxid
            self._record("registered", self.process.life, self.epoch)
            self.when_registered()
        else:
            self.process.later(REGISTER_EVERY, self._register)

    def checkpoint(self) -> None:
        """Write all high watermarks to the disk."""
        for replica in self.replicas.values():
            replica.checkpoint()

    # -- requests ---------------------------------------------------------------------------------

    def handle(self, sender: int, body: Any, answer: Answer) -> None:
        """See ``Hosted``."""
        if isinstance(body, LeaderAndIsr | UpdateMetadata | StopReplica):
            answer(self.obey(body))
        elif isinstance(body, WhoLeads):
            answer(Metadata(self.leaders.get(body.partition)))
        elif isinstance(body, Fetch | EndOfEpoch | Produce | ReadRequest):
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

    def obey(self, request: LeaderAndIsr | UpdateMetadata | StopReplica) -> Obeyed:
        """Do what a controller says, unless it has been replaced or means an earlier life."""
        if self.is_of_old_controller(request.controller_epoch):
            return Obeyed.STALE_CONTROLLER
        if self.is_for_earlier_life(request.broker_epoch):
            return Obeyed.STALE_BROKER
        self.controller_epoch = max(self.controller_epoch, request.controller_epoch)
        if isinstance(request, UpdateMetadata):
            self._learn(request)
        elif isinstance(request, StopReplica):
            self._stop(request)
        else:
            for partition, told in request.partitions.items():
                self._obey_for(partition, told, request)
        return Obeyed.DONE

    def is_of_old_controller(self, controller_epoch: int) -> bool:
        """Whether a newer controller has been heard of."""
        return controller_epoch < self.controller_epoch

    def is_for_earlier_life(self, broker_epoch: int) -> bool:
        """Whether a request was made before this registration; until there is one, all were."""
        return self.epoch < 0 or broker_epoch < self.epoch

    def _obey_for(self, partition: int, told: Any, request: LeaderAndIsr) -> None:
        replica = self.replicas.get(partition)
        if replica is None or not replica.is_news(told.state):
            return
        self._record("obeyed", self.process.life, partition, request.controller_epoch,
                     told.state.epoch, request.broker_epoch, self.epoch)
        replica.obey(told, self.process.clock())
        self._fetching.pop(partition, None)
        self._fetch_next(partition)

    def _learn(self, request: UpdateMetadata) -> None:
        self.live = request.live
        for partition, leader in request.leaders.items():
            known = self.leaders.get(partition)
            if known is None or leader.epoch >= known.epoch:
                self.leaders[partition] = leader

    def _stop(self, request: StopReplica) -> None:
        replica = self.replicas.get(request.partition)
        if replica is not None and request.epoch >= replica.epoch:
            self._fetching.pop(request.partition, None)
            replica.stop()

    # -- following --------------------------------------------------------------------------------

    def _fetch_next(self, partition: int) -> None:
        """Ask the leader for what comes next; there is one request at a time."""
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
        """Look for followers that lag, and for such as may join."""
        for replica in self.replicas.values():
            self._change(replica, replica.shrunk(self.process.clock()))
            self._expand(replica)

    def _expand(self, replica: Replica) -> None:
        self._change(replica, replica.expanded())

    def _change(self, replica: Replica, isr: frozenset[int] | None) -> None:
        """Write another ISR to the quorum, on the condition that nobody else has written."""
        if isr is None or replica.in_sync is None:
            return
        in_sync = replica.in_sync
        wanted = in_sync.want(isr)
        self._record("changing", replica.partition, replica.epoch)
        self.process.ask(
            Write(state_path(replica.partition), text_of(wanted), in_sync.version),
            partial(self._changed, replica, in_sync))

    def _changed(self, replica: Replica, in_sync: Any, result: Result) -> None:
        if isinstance(result, Written):
            in_sync.written(result.stat.version)
            self._has_changed(replica, in_sync)
        elif isinstance(result, BadVersion | ConnectionLost):
            self.change_failed(replica, in_sync)

    def change_failed(self, replica: Replica, in_sync: Any) -> None:
        """Nobody knows whether it was made: look."""
        self.process.insist(Read(state_path(replica.partition)),
                            partial(self._read_again, replica, in_sync))

    def _read_again(self, replica: Replica, in_sync: Any, result: Result) -> None:
        if isinstance(result, Data):
            outcome = in_sync.read_again(state_of(result.data), result.stat.version)
            if outcome is not Outcome.DEPOSED:
                self._has_changed(replica, in_sync)

    def _has_changed(self, replica: Replica, in_sync: Any) -> None:
        if replica.in_sync is in_sync:
            replica.raise_hw()

    # -- its session ------------------------------------------------------------------------------

    def changed(self, event: Event) -> None:
        """See ``Hosted``: a broker watches nothing."""

    def expired(self) -> None:
        """See ``Hosted``: the broker goes on, and registers again in the new session."""
        self._is_unsure = True
