"""Controllers in virtual time: brokers that only obey, a network, a coordination service.

A broker here has no log. It registers, obeys what controllers say with the fencing that Kafka's
brokers have, and as a leader takes every replica that obeys the same leader epoch into the ISR.
All that happens is in ``history``, and one seed gives one run.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from functools import partial
from itertools import count
from random import Random
from typing import Any

from checkvalve.reference.coordination import terms as coordination
from checkvalve.reference.coordination.memory import InMemory
from checkvalve.reference.coordination.port import TimedCoordination, Transaction
from checkvalve.reference.kafka.controller import znodes
from checkvalve.reference.kafka.controller.controller import Controller
from checkvalve.reference.kafka.controller.core import Settings
from checkvalve.reference.kafka.controller.terms import (
    Answered, Ask, BrokerAnswer, ControllerRequest, Effect, Elapsed, Error, Event, Failed, Later,
    LeaderAndIsr, Leadership, Metadata, Noted, Obeyed, Opened, Over, PartitionTold, Send, ShutDown,
    ShutDownAnswer, StopReplica, TopicPartition, UpdateMetadata,
)

TIMEOUT = 300
"""Timeout of a session, in ms."""

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)

EXPAND_EVERY = 50
"""Period at which a leader looks for replicas to take into the ISR, in ms."""


Store = Callable[[Callable[[], int], Callable[[Transaction], object]], TimedCoordination]
"""Makes a coordination service from the delay of messages, and a listener to transactions."""


class Node:
    """A broker with its controller; ``broker_epoch`` is -1 while it is not registered."""

    def __init__(self, world: World, id: int, life: int) -> None:
        self.world, self.id, self.life = world, id, life
        self.is_up, self.is_paused, self.is_leaving = True, False, False
        self.controller = world.controller_type(id, world.settings)
        self.handle = world.service.open(TIMEOUT)
        self.session = 0
        self.broker_epoch = -1
        self.controller_epoch = 0
        self.told: dict[TopicPartition, PartitionTold] = {}
        self.metadata: dict[TopicPartition, Metadata] = {}
        self.live: tuple[int, ...] = ()
        self.stopped: dict[TopicPartition, bool] = {}
        self.remaining: list[tuple[TopicPartition, ...] | None] = []
        self._backlog: list[Callable[[], None]] = []
        self._asked: dict[int, Callable[[coordination.Result], None]] = {}
        world.after(EXPAND_EVERY, self._expand)

    def run(self, what: Callable[[], None]) -> None:
        """Do it now, or when the process is resumed; never if it is gone."""
        if self.is_paused:
            self._backlog.append(what)
        elif self.is_up:
            what()

    def resume(self) -> None:
        """Resume, and do all that has come meanwhile."""
        self.is_paused = False
        backlog, self._backlog = self._backlog, []
        for what in backlog:
            self.run(what)

    # -- the coordination service -------------------------------------------------------------

    def hear(self, delivery: coordination.Delivery) -> None:
        """Note a delivery to the session."""
        if isinstance(delivery, coordination.Reply):
            self._asked.pop(delivery.number, lambda _: None)(delivery.result)
        elif isinstance(delivery, coordination.Connected) and not self.session:
            self.session = delivery.session
            self._register()
        elif isinstance(delivery, coordination.Event):
            self.give(delivery)
        elif isinstance(delivery, coordination.Expired):
            self.session, self._asked = 0, {}
            self.handle = self.world.service.open(TIMEOUT)
            self.world.by_handle[self.handle] = self
            self.give(Over())

    def ask(self, request: coordination.Request,
            then: Callable[[coordination.Result], None]) -> None:
        """Ask in the session of now."""
        self._asked[self.world.service.submit(self.handle, request)] = then

    def _register(self) -> None:
        def done(result: coordination.Result) -> None:
            if isinstance(result, coordination.Created):
                assert result.stat is not None
                self.broker_epoch = result.stat.czxid
                self.give(Opened(self.session))
            elif isinstance(result, coordination.NodeExists):
                self.ask(coordination.Read(znodes.broker_path(self.id)), whose)
            elif not isinstance(result, coordination.SessionExpired):
                self.world.after(5, partial(self.run, self._register))

        def whose(result: coordination.Result) -> None:
            if isinstance(result, coordination.Data) and result.stat.owner == self.session:
                self.broker_epoch = result.stat.czxid
                self.give(Opened(self.session))
            else:
                self.world.after(5, partial(self.run, self._register))

        if self.session:
            self.ask(coordination.Create(znodes.broker_path(self.id), ephemeral=True), done)

    # -- the controller -----------------------------------------------------------------------

    def give(self, event: Event) -> None:
        """Give the controller an event, and have its effects done."""
        for effect in self.controller.receive(event):
            self._have_done(effect)

    def _have_done(self, effect: Effect) -> None:
        if isinstance(effect, Ask):
            number = effect.number
            self.ask(effect.request, lambda result: self.give(Answered(number, result)))
        elif isinstance(effect, Later):
            self.world.after(effect.ms, partial(self.run, partial(
                self.give, Elapsed(effect.number))))
        elif isinstance(effect, Send):
            self.world.send(self, effect)
        elif isinstance(effect, Noted):
            self.world.note(effect.what, self.id, *effect.about)
        else:
            assert isinstance(effect, ShutDownAnswer)
            self.remaining.append(effect.remaining)

    # -- the broker ---------------------------------------------------------------------------

    def obey(self, request: ControllerRequest) -> BrokerAnswer:
        """Do what a controller says, unless a later one has spoken or it means an earlier life."""
        if request.controller_epoch < self.controller_epoch:
            return BrokerAnswer(Error.STALE_CONTROLLER_EPOCH)
        if request.broker_epoch < self.broker_epoch:
            return BrokerAnswer(Error.STALE_BROKER_EPOCH)
        self.controller_epoch = request.controller_epoch
        self.world.note("obeyed", self.id, request)
        if isinstance(request, LeaderAndIsr):
            for partition, told in request.partitions.items():
                known = self.told.get(partition)
                if known is None or told.leadership.leader_epoch > known.leadership.leader_epoch:
                    self.told[partition] = told
                    self.stopped.pop(partition, None)
        elif isinstance(request, UpdateMetadata):
            self.live = request.live
            self.metadata.update(request.partitions)
        else:
            for partition, stopped in request.partitions.items():
                self.stopped[partition] = stopped.delete
                if stopped.delete:
                    self.told.pop(partition, None)
        return BrokerAnswer()

    def _expand(self) -> None:
        if not self.is_up:
            return
        self.world.after(EXPAND_EVERY, self._expand)
        for partition, told in self.told.items():
            if told.leadership.leader == self.id and not self.is_paused and self.session:
                self._expand_one(partition, told)

    def _expand_one(self, partition: TopicPartition, told: PartitionTold) -> None:
        now = told.leadership
        isr = tuple(each for each in told.replicas
                    if each in now.isr or self.world.follows(each, partition, now))
        if set(isr) == set(now.isr):
            return

        def done(result: coordination.Result) -> None:
            if isinstance(result, coordination.Written) and self.told.get(partition) is told:
                self.told[partition] = told._replace(leadership=now._replace(
                    isr=isr, version=now.version + 1))
                self.ask(coordination.Create(
                    f"{znodes.ISR_CHANGES}/isr_change_", znodes.partitions_text([partition]),
                    sequential=True), lambda _: None)

        self.ask(coordination.Write(
            znodes.state_path(partition), znodes.state_text(now._replace(isr=isr)), now.version),
            done)


class World:
    """Brokers 1 to ``brokers``, and a client of the coordination service for the tests."""

    def __init__(self, brokers: int = 3, seed: int = 0, settings: Settings | None = None,
                 controller_type: type[Controller] = Controller, store: Store = InMemory) -> None:
        self.random = Random(seed)
        self.settings, self.controller_type = settings, controller_type
        self.now = 0
        self.history: list[tuple[int, str, tuple[object, ...]]] = []
        self.transactions: list[Transaction] = []
        self.service = store(lambda: self.random.randint(1, 4), self.transactions.append)
        self.by_handle: dict[int, Node] = {}
        self.lives: dict[int, int] = {}
        self.nodes: dict[int, Node] = {}
        self.cut: set[int] = set()              # brokers that requests do not reach
        self._due: list[tuple[int, int, Callable[[], None]]] = []
        self._order = count()
        self._client = self.service.open(1_000_000)
        self.do(*map(coordination.Create, znodes.TOP_LEVEL))
        for broker in range(1, brokers + 1):
            self.start(broker)

    # -- time ---------------------------------------------------------------------------------

    def after(self, ms: int, what: Callable[[], None]) -> None:
        """Do it so much later."""
        heapq.heappush(self._due, (self.now + ms, next(self._order), what))

    def note(self, what: str, *about: object) -> None:
        """Write it into the history."""
        self.history.append((self.now, what, about))

    def run(self, ms: int = 2_000) -> None:
        """Let time pass."""
        until = self.now + ms
        while True:
            whens = [self._due[0][0]] if self._due else []
            instant = self.service.next_instant()
            whens += [] if instant is None else [max(instant, self.now)]
            if not whens or min(whens) > until:
                break
            self.now = min(whens)
            self.service.advance(self.now)
            self._deliver()
            while self._due and self._due[0][0] <= self.now:
                heapq.heappop(self._due)[2]()
                self._deliver()
        self.now = until
        self.service.advance(until)
        self._deliver()

    def _deliver(self) -> None:
        for handle, delivery in self.service.collect():
            node = self.by_handle.get(handle)
            if node is not None:
                node.run(partial(self._hear, node, handle, delivery))

    def _hear(self, node: Node, handle: int, delivery: coordination.Delivery) -> None:
        if node.handle == handle:
            node.hear(delivery)

    # -- requests -----------------------------------------------------------------------------

    def send(self, sender: Node, sent: Send) -> None:
        """A request on its way, and its answer; either may be lost."""
        def arrive() -> None:
            node = self.nodes.get(sent.broker)
            if node is None or not node.is_up or sent.broker in self.cut:
                self.after(20, partial(sender.run, fail))
            else:
                node.run(lambda: answer(node.obey(sent.request)))

        def answer(said: BrokerAnswer) -> None:
            self.after(self.random.randint(1, 4), partial(sender.run, partial(
                sender.give, Obeyed(sent.broker, sent.number, said))))

        def fail() -> None:
            sender.give(Failed(sent.broker, sent.number))

        self.after(self.random.randint(1, 4), arrive)

    # -- what tests do ------------------------------------------------------------------------

    def start(self, broker: int) -> Node:
        """Start a broker, for the first time or again."""
        self.lives[broker] = self.lives.get(broker, -1) + 1
        node = self.nodes[broker] = Node(self, broker, self.lives[broker])
        self.by_handle[node.handle] = node
        return node

    def crash(self, broker: int) -> None:
        """A broker is gone; its session is left to expire."""
        node = self.nodes[broker]
        node.is_up = False
        self.service.pause(node.handle)

    def pause(self, broker: int) -> None:
        """Pause a broker's process."""
        self.nodes[broker].is_paused = True
        self.service.pause(self.nodes[broker].handle)

    def resume(self, broker: int) -> None:
        """Resume it; it does not know that time has passed."""
        self.service.resume(self.nodes[broker].handle)
        self.nodes[broker].resume()

    def shut_down(self, broker: int) -> None:
        """A broker asks the controller for a controlled shutdown."""
        controller = self.active()
        self.nodes[broker].is_leaving = True
        controller.give(ShutDown(1, broker, self.nodes[broker].broker_epoch))

    def do(self, *requests: coordination.Request) -> None:
        """A client asks the coordination service, and that is done."""
        for request in requests:
            self.service.submit(self._client, request)
        self.run(10)

    def create_topic(self, topic: str, replicas: dict[int, tuple[int, ...]],
                     ms: int = 2_000) -> None:
        """Write the assignment of a topic, as a tool does."""
        self.do(coordination.Create(znodes.topic_path(topic), znodes.assignment_text(replicas)))
        self.run(ms)

    # -- what tests see -----------------------------------------------------------------------

    def active(self) -> Node:
        """The broker with a controller that believes that it is the controller; the latest of
        them."""
        return max((each for each in self.nodes.values() if each.controller.is_active),
                   key=lambda each: each.controller.epoch)

    def leadership(self, partition: TopicPartition) -> Leadership:
        """The leadership of a partition as the store has it."""
        found = self.service.peek(znodes.state_path(partition))
        assert found is not None, f"nothing is written of {partition}"
        return znodes.state_of(found[0], found[1].version)

    def replicas(self, partition: TopicPartition) -> tuple[int, ...]:
        """The replicas that are written down for a partition."""
        found = self.service.peek(znodes.topic_path(partition.topic))
        return znodes.assignment_of(found[0])[partition.partition] if found else ()

    def follows(self, broker: int, partition: TopicPartition, leadership: Leadership) -> bool:
        """True if a broker follows a leader in the epoch of a leadership."""
        node = self.nodes.get(broker)
        told = node.told.get(partition) if node else None
        return (node is not None and node.is_up and not node.is_paused and told is not None
                and not node.is_leaving and partition not in node.stopped
                and broker in self.service_brokers()
                and told.leadership.leader_epoch == leadership.leader_epoch)

    def service_brokers(self) -> set[int]:
        """The brokers that are registered."""
        return {each for each in self.nodes
                if self.service.peek(znodes.broker_path(each)) is not None}

    def words(self, *which: str) -> list[tuple[object, ...]]:
        """The entries of the history under some words, each with its word."""
        return [(what, *about) for _, what, about in self.history if what in which]

    def settled(self) -> bool:
        """True if the controller does nothing and all have answered it."""
        controller = self.active().controller
        return controller.is_idle and not any(
            controller.channels.queue_of(each) for each in self.nodes)

    def agrees(self) -> bool:
        """True if every live broker knows the written leaderships of all its partitions."""
        for node in self.nodes.values():
            if not node.is_up or node.is_paused:
                continue
            for partition, told in node.told.items():
                found = self.service.peek(znodes.state_path(partition))
                if found is None or node.id not in self.replicas(partition):
                    continue    # a replica that was removed while its broker was away
                written = znodes.state_of(found[0], found[1].version)
                if (told.leadership.leader, told.leadership.leader_epoch) != (
                        written.leader, written.leader_epoch):
                    return False
        return True


def running(brokers: int = 3, seed: int = 0, **more: Any) -> World:
    """Brokers with a controller, and a topic of two partitions on the first three of them."""
    world = World(brokers, seed, **more)
    world.run()
    world.create_topic("t", {0: (1, 2, 3), 1: (2, 3, 1)})
    return world


def obeyed(world: World, broker: int) -> list[ControllerRequest]:
    """The requests that a broker obeyed, in order."""
    found = []
    for _, who, request in world.words("obeyed"):
        if who == broker:
            assert isinstance(request, LeaderAndIsr | UpdateMetadata | StopReplica)
            found.append(request)
    return found
