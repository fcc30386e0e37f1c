"""A cluster in virtual time: brokers, controllers, clients, a coordination service; one seed.

Theory of operation
-------------------
Time is in milliseconds, and jumps to the next instant at which something is due. Messages take a
random time, so one seed gives one run, on any machine. Every broker runs a controller that waits to
be elected. Producers and consumers are processes of their own. Events are recorded: a ``Happened``
for each, in order. The words are:

    began broker life, crashed broker, paused broker, resumed broker, expired broker
    wants broker                                it asks the controller to shut down
    released broker                             the controller permits that; left broker: it stops
    registered broker life broker_epoch         the coordination service knows it now
    stands broker                               it asks the service to be the controller
    controls broker epoch                       it is the controller, with that controller epoch
    state partition controller epoch leader isr     the quorum's state from now on
    assigned partition replicas                 its replicas from now on, the preferred one first
    heeded broker life controller meant own     it accepts a request of that controller epoch
        that was meant for the life with the broker epoch ``meant``; the broker's is ``own``
    obeyed broker life partition epoch          a request puts it into that leader epoch
    took broker partition epoch                 it takes writes as the leader of an epoch
    wrote, copied broker partition epoch offset value       its log has one more record
    cut broker partition at                     its log ends there
    committed broker partition epoch hw         a leader's high watermark has risen
    changing broker partition epoch             a leader asks the quorum for another ISR
    acked producer partition acks_all offset value
    answered partition broker life epoch hw     a consumer learns a high watermark
    read partition offset value                 … and reads a record
    ends partition leads in_sync                its state at the end
    made topic partition                        a topic exists, with a partition
    unwanted topic                              … and is to be deleted
    erased broker partition                     a broker has deleted its replica
    gone topic                                  no entry of the topic is left
    moves partition replicas                    these are requested for it; moved partition: that
                                                request has been carried out, or refused
    queued broker to requests                   so many requests of a controller wait for a broker
    waits waiter on reason                      if it does not become quiescent; see ``waiting``
    led partition preferred                     … and whether the preferred one leads, if requested
    wishes left                                 open requests of operators
    rested, stalled                             quiescent at the end, or not

Source: the text's cluster of brokers; its faults are those that it mentions, and those of
``faults``.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import count
from random import Random
from typing import Final, NamedTuple

from ...coordination.memory import InMemory
from ...coordination.port import TimedCoordination, Transaction
from ...coordination.terms import Create, Delete, Multi, Operation, Reply, Write
from ...numbers import below
from ..controller import znodes
from ..replication.messages import NOBODY
from ..replication.replica import Disk
from .clients import Consumer, Producer
from .deployment import Deployment, DeploymentMisuse, Parts
from .network import DELAY_MAX, Envelope, Network
from .node import Node
from .operator import Operator
from .process import Process
from .topics import Topic, Topics
from .waiting import waits

__all__ = ["Cluster", "Deployment", "DeploymentMisuse", "Happened", "Parts", "PATIENCE"]

SESSION_TIMEOUT: Final = 90
PATIENCE: Final = 2_000
"""Milliseconds after the last fault in which a cluster has to become quiescent, or at least to make
progress with a request: then it gets as many again.
"""

CLIENTS: Final = 100
"""The number of the first client."""


class Happened(NamedTuple):
    """An event at an instant: a word, and its fields."""

    at: int
    what: str
    about: tuple[int | str, ...]


class Cluster:
    """One run.

    ``store`` makes the coordination service, from a function for the delay of messages and a
    callback for its transactions.
    """

    def __init__(
        self, deployment: Deployment, parts: Parts | None = None,
        store: Callable[[Callable[[], int], Callable[[Transaction], object]],
                        TimedCoordination] = InMemory,
    ) -> None:
        self.deployment, self.parts = deployment, parts or Parts()
        self.assignment = dict(deployment.assignment())
        self.topics = Topics(deployment.partitions)
        self.random = Random(f"cluster {deployment.seed}")
        self.now = 0
        self.era = 0                    # counts the times that all faults were ended
        self.history: list[Happened] = []
        self.upon: list[tuple[str, Callable[[int], None]]] = []     # calls that wait for an event
        self._due: list[tuple[int, int, Callable[[], None]]] = []
        self._order = count()
        self._called_off: set[int] = set()      # numbers of calls that are due and not made
        self.store = store(self._delay, self._changed)
        self.network = Network(self.random, lambda: self.now, self.at, self._deliver)
        self._sessions: dict[int, Process] = {}
        self._processes: dict[int, Process] = {}
        self.is_unclean = False         # unclean elections are permitted
        self._prepare()
        self.nodes = {broker: Node(self, broker) for broker in range(deployment.brokers)}
        for node in self.nodes.values():
            node.begin()
        self._producers: dict[tuple[int, bool], Producer] = {}
        self._values = count(1)
        self._clients = count(CLIENTS)
        self._preferred: set[int] = set()       # partitions with a requested preferred replica
        self._operators: dict[str, Operator] = {}       # operators, by their subject
        self._moving: dict[int, tuple[int, ...]] = {}   # by partition, the requested replicas
        self.consumers = {each: self._consumer(each) for each in self.assignment}

    def _delay(self) -> int:
        return 1 + below(self.random, DELAY_MAX)

    def _prepare(self) -> None:
        """An operator creates the topic."""
        handle = self.store.open(SESSION_TIMEOUT)
        for path in znodes.TOP_LEVEL:
            self.store.submit(handle, Create(path))
        topic = Create(znodes.topic_path(self.topics.first.name),
                       znodes.assignment_text(self.assignment))
        waiting = {self.store.submit(handle, topic)}
        while waiting:
            for _, told in self.store.collect(within=SESSION_TIMEOUT):
                waiting -= {told.number} if isinstance(told, Reply) else set()
        self.store.close(handle)
        self.now = self.store.now

    # -- used by processes
    # ----------------------------------------------------------------------------

    def at(self, when: int, what: Callable[[], None]) -> int:
        """Plan a call for an instant; the number by which it can be called off."""
        number = next(self._order)
        heapq.heappush(self._due, (max(when, self.now), number, what))
        return number

    def call_off(self, number: int) -> None:
        """A planned call is not made any more."""
        self._called_off.add(number)

    def send(self, envelope: Envelope) -> None:
        """Give a message to the network."""
        self.network.send(envelope)

    def _deliver(self, envelope: Envelope) -> None:
        process = self._processes.get(envelope.to)
        if process is not None:
            process.run(partial(process.receive, envelope))

    def opened(self, process: Process) -> None:
        """A process has a new session."""
        self._sessions[process.session] = process
        node = self.nodes.get(process.id) if hasattr(self, "nodes") else None
        if node is not None:
            node.has_session(process)

    def begins(self, process: Process) -> None:
        """A process begins, and replaces an earlier one with its number."""
        self._processes[process.id] = process

    def record(self, what: str, *about: int | str) -> None:
        """Record an event, and run the calls that have waited for it."""
        self.history.append(Happened(self.now, what, about))
        if self.upon and what not in ("state", "waits") and about:
            self._met(what, int(about[0]))

    def _met(self, moment: str, broker: int) -> None:
        """A moment has come for a broker: run the calls that have waited for it."""
        for each in [each for each in self.upon if each[0] == moment]:
            self.upon.remove(each)
            self.at(self.now, partial(each[1], broker))

    def _changed(self, done: Transaction) -> None:
        """The coordination service has carried out a transaction."""
        if type(done.result).__name__ not in ("Created", "Written", "Deleted", "Committed"):
            return
        parts = done.request.operations if isinstance(done.request, Multi) else (done.request,)
        for each in parts:
            if not isinstance(each, Create | Write | Delete):
                continue
            above, _, name = each.path.rpartition("/")
            topic = self.topics.named(name)
            if each.path.endswith("/state") and not isinstance(each, Delete):
                self._said(each, done)
            elif above == znodes.TOPICS and topic is not None:
                self._of_topic(topic, each, done.at)
            elif above == znodes.DELETE_TOPICS and topic is not None and isinstance(each, Create):
                self._record_at(done.at, "unwanted", topic.number)
            elif each.path == znodes.REASSIGN:
                self._wished(each, done.at)

    def _record_at(self, at: int, what: str, *about: int | str) -> None:
        self.now = max(self.now, at)
        self.record(what, *about)

    def _said(self, each: Create | Write, done: Transaction) -> None:
        """The state of a partition was written."""
        state = znodes.state_of(each.data, 0)
        leader = state.leader if state.leader != NOBODY else len(self.nodes)
        self._record_at(done.at, "state", znodes.partition_of_state(each.path).partition,
                        state.controller_epoch, state.leader_epoch, leader,
                        ",".join(map(str, state.isr)))
        if done.handle in self._sessions:
            self._met("state", self._sessions[done.handle].id)

    def _of_topic(self, topic: Topic, each: Operation, at: int) -> None:
        """A topic was created, has other replicas, or is gone."""
        if isinstance(each, Delete):
            self._record_at(at, "gone", topic.number)
        elif isinstance(each, Create) and topic != self.topics.first:
            for partition, replicas in znodes.assignment_of(each.data).items():
                self.assignment[partition] = replicas
                self._record_at(at, "made", topic.number, partition)
                self.consumers[partition] = self._consumer(partition)
        elif isinstance(each, Write):
            for partition, replicas in znodes.assignment_of(each.data).items():
                if self.assignment[partition] != replicas:
                    self.assignment[partition] = replicas
                    self._record_at(at, "assigned", partition, ",".join(map(str, replicas)))

    def _wished(self, each: Operation, at: int) -> None:
        """Other replicas are requested for partitions, or some request was carried out or refused.
        """
        wished = {} if isinstance(each, Delete) else {
            which.partition: replicas for which, replicas in znodes.reassignment_of(
                each.data).items()} if isinstance(each, Create | Write) else {}
        before, self._moving = self._moving, wished
        for partition in sorted(before.keys() - wished.keys()):
            self._record_at(at, "moved", partition)
        for partition in sorted(wished.keys() - before.keys()):
            self._record_at(at, "moves", partition, ",".join(map(str, wished[partition])))

    # -- time -------------------------------------------------------------------------------------

    def elapse(self, ms: int) -> None:
        """Let time pass, with all events in it."""
        self._run(self.now + ms, lambda: False)

    def _run(self, until: int, is_over: Callable[[], bool]) -> None:
        """Go from one event to the next until an instant, or until it is over."""
        while True:
            store, planned = self.store.next_instant(), self._planned(until)
            when = until + 1 if planned is None else planned
            if store is not None and store < when:
                when = store
            if when > until:
                break
            self.now = max(self.now, when)
            self.store.advance(self.now)
            self._hear()
            while self._due and self._due[0][0] <= self.now:
                _, number, what = heapq.heappop(self._due)
                if number in self._called_off:
                    self._called_off.discard(number)
                    continue
                what()
                if self.store.may_deliver:
                    self._hear()
            if is_over():
                return
        self.now = until
        self.store.advance(until)
        self._hear()

    def _planned(self, until: int) -> int | None:
        """The instant of the next call that is planned.

        Those that were called off ``until`` then pass unseen, unless the service has deliveries:
        those are heard at the next instant of any.
        """
        due = self._due
        while (due and due[0][1] in self._called_off and due[0][0] <= until
               and not self.store.may_deliver):
            self._called_off.discard(heapq.heappop(due)[1])
        return due[0][0] if due else None

    def _hear(self) -> None:
        for handle, told in self.store.collect():
            process = self._sessions.get(handle)
            if process is not None and process.is_up and process.session == handle:
                process.run(lambda process=process, handle=handle, told=told:  # type: ignore[misc]
                            process.told(told) if process.session == handle else None)

    # -- clients ----------------------------------------------------------------------------------

    def _client(self) -> Process:
        return Process(self, next(self._clients), 0, 100, SESSION_TIMEOUT)

    def _consumer(self, partition: int) -> Consumer:
        process = self._client()
        consumer = Consumer(process, partition, self.deployment.brokers, self.random)
        self._processes[process.id] = process
        self.at(self.now, consumer.go_on)
        return consumer

    def produce(self, partition: int, acks_all: bool, records: int) -> None:
        """A producer writes more records."""
        if (partition, acks_all) not in self._producers:
            process = self._client()
            self._processes[process.id] = process
            self._producers[partition, acks_all] = self.parts.producer(
                process, partition, self.deployment.brokers, self.random, acks_all)
        for _ in range(records):
            self._producers[partition, acks_all].add(next(self._values))

    # -- operators --------------------------------------------------------------------------------

    def _wish(self, busy_with: str, path: str, text: bytes, *, stays: bool = False) -> None:
        if busy_with not in self._operators:
            process = self._client()
            self._operators[busy_with] = Operator(process)
            self._processes[process.id] = process
        self._operators[busy_with].wish(path, text, stays=stays)

    @property
    def wishes(self) -> int:
        """The number of operators' requests that have not been carried out."""
        return sum(each.waiting for each in self._operators.values())

    def prefer(self, partition: int) -> None:
        """An operator requests that the preferred replica leads: now, and once more at the end."""
        self._preferred.add(partition)
        self._wish_preferred([partition])

    def _wish_preferred(self, partitions: Iterable[int]) -> None:
        self._wish("partitions", znodes.PREFERRED, znodes.partitions_text(
            self.topics.full_name(each) for each in partitions))

    def reassign(self, partition: int, replicas: tuple[int, ...]) -> None:
        """An operator requests other replicas for a partition."""
        self._wish("partitions", znodes.REASSIGN, znodes.reassignment_text(
            {self.topics.full_name(partition): replicas}))

    def make_topic(self) -> None:
        """An operator creates a topic of one partition, with a replica on every broker."""
        topic = self.topics.make()
        self._wish("topics", znodes.topic_path(topic.name), znodes.assignment_text(
            {each: self.deployment.replicas_of(each) for each in topic.partitions}), stays=True)

    def delete_topic(self, number: int) -> None:
        """An operator requests the deletion of a topic. Raises ``TopicMisuse``."""
        topic = self.topics.remove(number)
        self._preferred -= set(topic.partitions)
        self._wish("topics", f"{znodes.DELETE_TOPICS}/{topic.name}", b"")

    def permit_unclean(self) -> None:
        """From now on any live replica may be elected if no in-sync replica is live."""
        self.is_unclean = True
        for node in self.nodes.values():
            node.permit()

    # -- the end ----------------------------------------------------------------------------------

    def quiet(self) -> None:
        """End every fault, and run until the cluster is quiescent, or makes no progress for
        ``PATIENCE``.
        """
        self.era += 1
        self.upon.clear()
        self.network.recover()
        if not self.store.is_running:
            self.store.restart()
        for node in self.nodes.values():
            node.recover()
        self._come_to_rest()
        if self._preferred and self.is_at_rest():
            self._wish_preferred(sorted(self._preferred))
            self._come_to_rest()
        self._end()

    def _come_to_rest(self) -> None:
        before: int | None = None
        while not self.is_at_rest() and before != self._done():
            before = self._done()
            self._run(self.now + PATIENCE, self.is_at_rest)

    def _done(self) -> int:
        """The progress with all requests: a bounded number that only grows."""
        return (sum(each.offset for each in self.consumers.values()) - self.wishes
                - sum(len(each.values) for each in self._producers.values()))

    def _end(self) -> None:
        for each in () if self.is_at_rest() else waits(self):
            self.record("waits", *each)
        for partition in self.staying():
            leader, in_sync = self.quorum(partition)
            self.record("ends", partition, int(self.takes_writes(partition)), len(in_sync))
            if partition in self._preferred:
                self.record("led", partition, int(leader == self.assignment[partition][0]))
        self.record("wishes", self.wishes)
        self.record("rested" if self.is_at_rest() else "stalled")

    def quorum(self, partition: int) -> tuple[int, tuple[int, ...]]:
        """The leader and the ISR in the quorum."""
        found = self.store.peek(znodes.state_path(self.topics.full_name(partition)))
        if found is None:
            return NOBODY, ()
        state = znodes.state_of(found[0], 0)
        return state.leader, state.isr

    def takes_writes(self, partition: int) -> bool:
        """True if there is a leader, and every producer has been answered."""
        leader, _ = self.quorum(partition)
        replica = None if leader == NOBODY else self.nodes[leader].replica(partition)
        return replica is not None and replica.leads and not self.is_writing(partition)

    def is_writing(self, partition: int) -> bool:
        """True if a producer has a record that is not acknowledged."""
        return any(producer.values for (where, _), producer in self._producers.items()
                   if where == partition)

    def is_at_rest(self) -> bool:
        """True if every partition has a leader and all replicas in sync, all is read, and no
        request is open.
        """
        return self.wishes == 0 and all(self._is_at_rest(each) for each in self.staying())

    def staying(self) -> list[int]:
        """The partitions that exist, and are not to be deleted."""
        return [each for each in self.assignment if self.topics.is_wanted(each)]

    def _is_at_rest(self, partition: int) -> bool:
        leader, in_sync = self.quorum(partition)
        if len(in_sync) < len(self.assignment[partition]) or not self.takes_writes(partition):
            return False
        replica = self.nodes[leader].replica(partition)
        assert replica is not None
        return (self.consumers[partition].offset >= replica.hw == replica.log.end
                and all(end == replica.log.end for end in self._log_ends(partition)))

    def _log_ends(self, partition: int) -> Iterator[int]:
        for broker in self.assignment[partition]:
            replica = self.nodes[broker].replica(partition)
            yield -1 if replica is None else replica.log.end

    def disks(self) -> dict[int, Disk]:
        """The disks of a broker's first life: any partition may be assigned to it."""
        return {partition: Disk() for partition in self.assignment}
