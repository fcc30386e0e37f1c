"""A controller of partitions, in every broker: one of them is elected, the others wait.

Theory of operation
-------------------
Whoever creates the ephemeral znode ``/controller`` is the controller. In the same transaction it
raises the *controller epoch*; each of its writes is conditional on that epoch, so a controller
that has been replaced can write nothing any more (KAFKA-6082). It watches the brokers that are
registered. Where the leader of a partition is gone, or has begun another life, the first replica
of the assignment that is there and in sync leads; where none is, nobody does. Whoever is gone
leaves the ISR, unless it is the last there. Each change has a new leader epoch.

Brokers are told by requests. There is a queue for each broker, with one request under way; one
that is not answered is sent again, for as long as the broker is there.

Source: Kafka's ``KafkaController``, ``Election``, ``ControllerChannelManager``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Final

from ...coordination.terms import (
    BadVersion, Check, Children, Committed, ConnectionLost, Create, Data, Event, Exists, Found,
    Listed, Multi, NodeExists, NoNode, Read, Request, Result, RolledBack, Write, Written,
)
from ..replication.messages import NOBODY, PartitionState
from ..replication.replica import Told
from .process import Process
from .requests import Leader, LeaderAndIsr, Obeyed, UpdateMetadata
from .znodes import CONTROLLER, CONTROLLER_EPOCH, IDS, broker_path, state_of, state_path, text_of

__all__ = ["Controlling"]

REQUEST_WITHIN: Final = 40
AGAIN_AFTER: Final = 10


class Controlling:
    """See the module. ``assignment`` has the replicas of each partition, the preferred first."""

    def __init__(self, process: Process, assignment: Mapping[int, tuple[int, ...]]) -> None:
        self.process, self.assignment = process, assignment
        self.epoch = 0                      # 0: another one is the controller
        self.epoch_version = 0
        self.term = 0                       # what was asked in an earlier one is not heard
        self.live: dict[int, int] = {}      # the broker epochs of those that are registered
        self.states: dict[int, Told] = {}
        self.queues: dict[int, deque[Any]] = {}

    # -- election ---------------------------------------------------------------------------------

    def elect(self) -> None:
        """Become the controller, or watch who is."""
        self.term += 1
        self.epoch = 0
        self.live, self.states, self.queues = {}, {}, {}
        self._ask(Exists(CONTROLLER, watch=True), self._seen)

    def _ask(self, request: Request, then: Callable[[Result], None]) -> None:
        """Ask, again after a lost connection; an answer that is for an earlier term is dropped."""
        term = self.term

        def heard(result: Result) -> None:
            if term == self.term:
                then(result)

        self.process.insist(request, heard)

    def _seen(self, result: Result) -> None:
        if isinstance(result, Found) and result.stat is None:
            self._ask(Read(CONTROLLER_EPOCH), self._run_for_it)
        elif isinstance(result, Found) and result.stat is not None and (
                result.stat.owner == self.process.service_session):
            # Its own: a reply got lost. It begins again, as a new controller.
            self._ask(Read(CONTROLLER_EPOCH), self._run_again)

    def _run_for_it(self, result: Result) -> None:
        assert isinstance(result, Data)
        epoch = int(result.data) + 1
        wanted = Multi((
            Create(CONTROLLER, str(self.process.id).encode(), ephemeral=True),
            Write(CONTROLLER_EPOCH, str(epoch).encode(), result.stat.version)))
        self.process.ask(wanted, partial(self._has_run, self.term, epoch, result.stat.version + 1))

    def _run_again(self, result: Result) -> None:
        assert isinstance(result, Data)
        epoch = int(result.data) + 1
        wanted = Multi((Write(CONTROLLER_EPOCH, str(epoch).encode(), result.stat.version),))
        self.process.ask(wanted, partial(self._has_run, self.term, epoch, result.stat.version + 1))

    def _has_run(self, term: int, epoch: int, version: int, result: Result) -> None:
        if term != self.term:
            return
        if isinstance(result, Committed):
            self.begin(epoch, version)
        else:
            self.elect()

    def begin(self, epoch: int, version: int) -> None:
        """It is the controller: find out who is there, and then what there is to do."""
        self.epoch, self.epoch_version = epoch, version
        self.process.world.record("controls", self.process.id, epoch)
        self.look_around()

    def resign(self) -> None:
        """Another one has replaced it."""
        self.elect()

    def expired(self) -> None:
        """The session is over, and with it all that it was elected for."""
        self.term += 1
        self.epoch = 0
        self.queues = {}

    def changed(self, event: Event) -> None:
        """A watch has fired."""
        if event.path == CONTROLLER:
            self.elect()
        elif event.path == IDS and self.epoch:
            self.look_around()

    # -- brokers ----------------------------------------------------------------------------------

    def look_around(self) -> None:
        """Read who is registered, and in which life."""
        self._ask(Children(IDS, watch=True), self._listed)

    def _listed(self, result: Result) -> None:
        assert isinstance(result, Listed)
        self._read_next(sorted(map(int, result.names)), {})

    def _read_next(self, names: list[int], found: dict[int, int]) -> None:
        if not names:
            self.brokers_are(found)
            return

        def read(result: Result) -> None:
            if isinstance(result, Found) and result.stat is not None:
                found[names[0]] = result.stat.czxid
            self._read_next(names[1:], found)

        self._ask(Exists(broker_path(names[0])), read)

    def brokers_are(self, found: dict[int, int]) -> None:
        """Who has come, gone, or begun another life; all partitions are looked at again."""
        returned = {each for each in found if self.live.get(each, found[each]) != found[each]}
        for each in set(self.queues) - (set(found) - returned):
            del self.queues[each]
        self.live = found
        if set(self.states) == set(self.assignment):
            self.tell_metadata(found)
        for partition in self.assignment:
            self._ask(Read(state_path(partition)), partial(self._decide, partition, returned))

    # -- partitions -------------------------------------------------------------------------------

    def _decide(self, partition: int, returned: set[int], result: Result) -> None:
        """Write what has to change, or tell what there is."""
        there = {each for each in self.live if each not in returned}
        if isinstance(result, NoNode):
            state = self.first_state(partition)
            if state is not None:
                self._write(partition, Create(state_path(partition), text_of(state)), state, 0)
        elif isinstance(result, Data):
            now, version = state_of(result.data), result.stat.version
            state = self.next_state(partition, now, there)
            if state == now:
                self.decided(partition, now, version)
            else:
                self._write(partition, Write(state_path(partition), text_of(state), version),
                            state, version + 1)

    def first_state(self, partition: int) -> PartitionState | None:
        """Of a partition that is new: the first replica that is there leads."""
        there = [each for each in self.assignment[partition] if each in self.live]
        return PartitionState(there[0], 0, tuple(there), self.epoch) if there else None

    def next_state(self, partition: int, now: PartitionState, there: set[int]) -> PartitionState:
        """The state of a partition when these brokers are there; the same if nothing changes."""
        staying = tuple(each for each in now.isr if each in there)
        leader = now.leader if now.leader in there else self.choose(partition, now.isr)
        isr = staying or ((leader,) if leader != NOBODY else now.isr)
        if leader != NOBODY and leader not in isr:
            isr = (*isr, leader)
        if (leader, isr) == (now.leader, now.isr):
            return now
        return PartitionState(leader, now.epoch + 1, isr, self.epoch)

    def choose(self, partition: int, isr: Iterable[int]) -> int:
        """The first of the assignment that is there and in sync; else nobody."""
        return next((each for each in self.assignment[partition]
                     if each in self.live and each in isr), NOBODY)

    def guarded(self, operation: Any) -> Request:
        """A write that takes effect only while this is the controller."""
        return Multi((Check(CONTROLLER_EPOCH, self.epoch_version), operation))

    def _write(self, partition: int, operation: Any, state: PartitionState, version: int) -> None:
        self.process.ask(self.guarded(operation), partial(
            self._written, self.term, partition, state, version))

    def _written(self, term: int, partition: int, state: PartitionState, version: int,
                 result: Result) -> None:
        if term != self.term:
            return
        if isinstance(result, Committed | Written):
            self.decided(partition, state, version)
        elif isinstance(result, RolledBack) and result.part == 0:
            self.resign()
        elif isinstance(result, RolledBack | ConnectionLost | BadVersion | NodeExists):
            self._ask(Read(state_path(partition)), partial(self._decide, partition, set()))

    def decided(self, partition: int, state: PartitionState, version: int) -> None:
        """A state is what the quorum has: tell it."""
        told = Told(state, version, self.assignment[partition])
        self.states[partition] = told
        for broker in self.assignment[partition]:
            if broker in self.live:
                self.send(broker, LeaderAndIsr(self.epoch, self.live[broker], {partition: told}))
        self.tell_metadata(self.live)

    def tell_metadata(self, brokers: Iterable[int]) -> None:
        """Say who leads what, and who is there."""
        leaders = {partition: Leader(told.state.leader, told.state.epoch)
                   for partition, told in self.states.items()}
        for broker in brokers:
            self.send(broker, UpdateMetadata(
                self.epoch, self.live[broker], leaders, frozenset(self.live)))

    # -- requests ---------------------------------------------------------------------------------

    def send(self, broker: int, request: Any) -> None:
        """Put a request into the queue of a broker."""
        queue = self.queues.setdefault(broker, deque())
        queue.append(request)
        if len(queue) == 1:
            self._send_head(broker, queue)

    def _send_head(self, broker: int, queue: deque[Any]) -> None:
        if queue and self.queues.get(broker) is queue:
            self.process.call(broker, queue[0], REQUEST_WITHIN,
                              partial(self._answered, broker, queue))

    def _answered(self, broker: int, queue: deque[Any], answer: Obeyed | None) -> None:
        if self.queues.get(broker) is not queue:
            return
        if answer is Obeyed.STALE_CONTROLLER:
            self.resign()
        elif answer is None:
            self.process.later(AGAIN_AFTER, partial(self._send_head, broker, queue))
        else:
            queue.popleft()
            self._send_head(broker, queue)
