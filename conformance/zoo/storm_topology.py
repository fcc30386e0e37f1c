"""Clusters with one seeded bug each: the rules about whole runs must see them.

Each twin is the reference's cluster with one part replaced by a class that overrides a method
or two. ``hunt_topology`` runs scenarios from seed to seed until the twin's rule is broken, and
shrinks the scenario.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

from ...reference.storm.cluster import Cluster, Happened
from ...reference.storm.executor import Attempt, BoltTask, Executor, SpoutTask
from ...reference.storm.faults import Scenario, What, scenario
from ...reference.storm.spout import Call, SpoutPending
from ...reference.storm.status import RemoteFlags, Status, StatusTracker
from ...reference.storm.topologies import (
    TOPOLOGIES, Component, Message, Output, Stream, Topology,
)
from ...reference.storm.worker import Parts, Place, Worker
from ..suites.topology_runs import Offence, judged, shrunk, story, terms_of

__all__ = ["SEEDS_MAX", "TopologyTrophy", "TopologyTwin", "ZOO", "hunt_topology"]

SEEDS_MAX: Final = 400

PENDING_BOUND: Final = 2
"""STORM-3073 had 1024; one execution of a bolt here emits up to four messages."""


# ---- status ---------------------------------------------------------------------------------


class NoRepetition(StatusTracker):
    """The status is told when it changes, and never again."""

    def _is_repetition_due(self) -> bool:
        return False


class DeafAtFirst(RemoteFlags):
    """The first status after a connection was made is ignored: the client is not ready yet."""

    def __init__(self, *about: Any) -> None:
        super().__init__(*about)
        self._is_ready: set[str] = set()

    def hear(self, status: Status) -> bool:
        if status.worker not in self._is_ready:
            self._is_ready.add(status.worker)
            return False
        return super().hear(status)

    def disconnected(self, worker: str) -> None:
        super().disconnected(worker)
        self._is_ready.discard(worker)


# ---- executors ------------------------------------------------------------------------------


class GatedSpout(SpoutTask):
    """The spout treats its recvQ as a bolt does."""

    def may_consume(self) -> bool:
        return not self.pending


class GreedyBolt(BoltTask):
    """The bolt goes on consuming, whatever is pending."""

    def may_consume(self) -> bool:
        return True


def _capped(self: Executor, message: Message) -> None:
    if len(self.pending) >= PENDING_BOUND:
        raise RuntimeError("unable to add more elements to pendingEmits")
    self.pending.append(message)


class CappedBolt(BoltTask):
    """pendingEmits has a bound, at which it throws."""

    _pend = _capped


class CappedSpout(SpoutTask):
    """pendingEmits has a bound, at which it throws."""

    _pend = _capped


def _skipping(self: Executor) -> bool:
    if self.context.transfer(self.pending[0]):
        self.pending.popleft()
        return True
    self.pending.rotate(-1)
    return False


class SkippingBolt(BoltTask):
    """A head that is blocked goes to the end of pendingEmits."""

    def flush_pending(self) -> bool:
        return _skipping(self)


class SkippingSpout(SpoutTask):
    """A head that is blocked goes to the end of pendingEmits."""

    def flush_pending(self) -> bool:
        return _skipping(self)


class EarlyAck(BoltTask):
    """A tuple is acked before what is emitted from it: the acker never hears of that."""

    def emit(self, value: tuple[object, ...], anchors: Iterable[Message]) -> None:
        inputs = tuple(anchors)
        for anchor in inputs:
            self._ack_values[anchor] = {}
        super().emit(value, inputs)
        for anchor in inputs:
            self._ack_values.pop(anchor)


class DoubleAck(BoltTask):
    """Every tuple is acked twice; the two cancel."""

    def ack(self, message: Message) -> None:
        values = dict(self._ack_values.get(message, {}))
        super().ack(message)
        self._ack_values[message] = values
        super().ack(message)


class DoubledBolt(BoltTask):
    """Every tuple is emitted twice."""

    def emit(self, value: tuple[object, ...], anchors: Iterable[Message]) -> None:
        inputs = tuple(anchors)
        super().emit(value, inputs)
        super().emit(value, inputs)


class TwiceTold(SpoutTask):
    """Every callback of the spout is called twice."""

    def conclude(self, calls: Iterable[Call[Attempt]]) -> None:
        super().conclude([call for each in calls for call in (each, each)])


class EagerSpout(SpoutTask):
    """The maximum is not looked at."""

    def __init__(self, *about: Any) -> None:
        super().__init__(*about)
        self.roots = SpoutPending(0)


class ForgetfulSpout(SpoutTask):
    """What failed is not emitted again, and counts as done."""

    def conclude(self, calls: Iterable[Call[Attempt]]) -> None:
        for outcome, attempt in calls:
            self.context.record("acked" if outcome.value == "ack" else "failed", *attempt)
            self.partition.ack(attempt.offset)


class HastySpout(SpoutTask):
    """A message is emitted again while its first attempt is pending."""

    def next_tuple(self) -> bool:
        if len(self.roots) == 2:
            self.partition._waiting.append(min(self.partition._under_way))
        return super().next_tuple()


# ---- workers --------------------------------------------------------------------------------


class UnguardedReceiver(Worker):
    """A tuple for a task that is no longer here is looked up all the same."""

    def not_here(self, message: Message) -> None:
        self.inputs[message.to].transfer(str(message.sender), (message,))


class FaithfulToTheDead(Worker):
    """The transfer thread waits for a worker that is not connected."""

    def _without_connection(self, message: Message) -> bool:
        return False


class Unlimited(Worker):
    """The limit of the overflowQs is not read."""

    def __init__(self, *about: Any, **more: Any) -> None:
        super().__init__(*about, **more)
        for inbox in self.inputs.values():
            inbox.overflow_limit = 0  # type: ignore[misc]


class Forced(Worker):
    """A local tuple enters recvQ whether or not there is room."""

    def transfer(self, message: Message) -> bool:
        if message.to in self.inputs:
            self.inputs[message.to]._insert(message)
            self._note(message.to)
            return True
        return super().transfer(message)


class SameLife(Worker):
    """After a restart the worker counts as if it had always been there."""

    def __init__(self, topology: Topology, place: Place, *about: Any, **more: Any) -> None:
        super().__init__(topology, Place(place.number, 0, place.worker_of), *about, **more)


class SilentDrop(Worker):
    """What has no connection is dropped, and nobody counts it."""

    def _without_connection(self, message: Message) -> bool:
        self._leave()
        return True


class Shuffled(Worker):
    """What was taken together for one task is sent in the reverse order."""

    def drain(self, is_writable: Callable[[int], bool]) -> dict[int, list[Message]]:
        taken = super().drain(is_writable)
        return {peer: messages[::-1] for peer, messages in taken.items()}


class SentTwice(Worker):
    """The last message of every batch is sent once more."""

    def drain(self, is_writable: Callable[[int], bool]) -> dict[int, list[Message]]:
        taken = super().drain(is_writable)
        return {peer: [*messages, messages[-1]] for peer, messages in taken.items()}


# ---- a topology that must be refused --------------------------------------------------------


class _PingPong:
    """Passes a tuple to the other bolt a few times; a sink only for the record."""

    def execute(self, message: Message, out: Output) -> None:
        offset, part, *hops = message.value
        if len(hops) < 3:
            for copy in range(2):
                out.emit((offset, part, *hops, copy), (message,))
        out.ack(message)

    def tick(self) -> None:
        """Nothing is kept."""


class _Sink:
    """Acks what comes."""

    def execute(self, message: Message, out: Output) -> None:
        out.ack(message)

    def tick(self) -> None:
        """Nothing is kept."""


LOOPING: Final = Topology(
    "looping", lambda _offset: "0", 1,
    (Component("ping", _PingPong, fan_out=4), Component("pong", _PingPong, fan_out=4),
     Component("sink", _Sink)),
    (Stream("source", "ping"), Stream("source", "sink"), Stream("ping", "pong"),
     Stream("pong", "ping")), circles=True)
"""Two bolts that feed each other; the check that refuses them is turned off."""


# ---- the table ------------------------------------------------------------------------------


@dataclass(frozen=True)
class TopologyTwin:
    """A cluster with one seeded bug. ``rule`` must catch it in a run of ``topologies``."""

    name: str
    rule: str
    bug: str
    history: str
    parts: Parts = Parts()
    worker: type[Worker] = Worker
    topologies: tuple[Topology, ...] = tuple(TOPOLOGIES.values())
    without: frozenset[What] = frozenset()      # faults that are left out of its scenarios
    suite: str = "storm.topology"
    equivalent: str = ""

    def run(self, one: Scenario) -> tuple[Happened, ...]:
        """The history of a scenario with this bug."""
        cluster = type("Twin", (Cluster,), {"worker_type": self.worker})
        history: tuple[Happened, ...] = cluster(one, self.parts).run()
        return history


@dataclass(frozen=True)
class TopologyTrophy:
    """What a hunt came to: the smallest scenario found, with its story; the seeds tried."""

    twin: TopologyTwin
    scenario: Scenario | None
    offence: Offence | None
    others: tuple[str, ...]
    seeds: int

    @property
    def as_expected(self) -> bool:
        """Whether the twin was killed by its own rule."""
        return self.scenario is not None

    @property
    def verdict(self) -> str:
        """``killed`` by its own rule, or ``survived``."""
        return "survived" if self.scenario is None else "killed"

    @property
    def length(self) -> int:
        """The faults that the shrunk scenario needs."""
        return 0 if self.scenario is None else len(self.scenario.faults)

    @property
    def size(self) -> str:
        """How small the shrunk scenario is, in words."""
        if self.scenario is None:
            return ""
        return f"{self.length} fault{'' if self.length == 1 else 's'}"

    def to_json(self) -> dict[str, Any]:
        """The row of ``zoo --json``; a scenario is no fixture, so it has no ``steps``."""
        twin = self.twin
        return {
            "suite": twin.suite, "twin": twin.name, "bug": twin.bug, "history": twin.history,
            "rule": twin.rule, "verdict": self.verdict, "steps": None,
            "also_broken": list(self.others), "cases": self.seeds,
            "equivalent": twin.equivalent, "story": self.story(),
        }

    def story(self) -> list[str]:
        """The shrunk scenario in words."""
        if self.scenario is None or self.offence is None:
            return []
        return story(self.scenario, self.offence)


def hunt_topology(twin: TopologyTwin, seeds: int = SEEDS_MAX) -> TopologyTrophy:
    """Run scenarios until one breaks the twin's rule; shrink it. At most ``seeds`` are tried."""
    others: set[str] = set()
    for seed in range(seeds):
        topology = twin.topologies[seed % len(twin.topologies)]
        one = scenario(topology, seed // len(twin.topologies))
        one = replace(one, faults=tuple(
            fault for fault in one.faults if fault.what not in twin.without))
        offences = judged(twin.run(one), terms_of(one))
        if any(offence.rule.id == twin.rule for offence in offences):
            smallest = shrunk(one, twin.rule, twin.run)
            offence = next(each for each in judged(twin.run(smallest), terms_of(smallest))
                           if each.rule.id == twin.rule)
            return TopologyTrophy(twin, smallest, offence, tuple(sorted(others)), seed + 1)
        others |= {offence.rule.id for offence in offences}
    return TopologyTrophy(twin, None, None, tuple(sorted(others)), seeds)


_TWINS: Final = (
    TopologyTwin("D6-no-repetition", "STORM-C13", "a lost OFF is never told again",
                 "storm.md D6; JStorm #404, STORM-1949", Parts(tracker=NoRepetition)),
    TopologyTwin("STORM-3763", "STORM-C13", "the status at a new connection is ignored, "
                 "and no other follows", "STORM-3763",
                 Parts(tracker=NoRepetition, flags=DeafAtFirst),
                 without=frozenset({What.LOSE_STATUS})),
    TopologyTwin("STORM-3637", "STORM-C13", "bolts that feed each other are let through",
                 "STORM-3637", topologies=(LOOPING,)),
    TopologyTwin("gated-spout", "STORM-C13", "the spout stops consuming while it has "
                 "something pending", "storm.md section 3; STORM-292", Parts(spout=GatedSpout)),
    TopologyTwin("greedy-bolt", "STORM-C6", "the bolt consumes while it has something pending",
                 "storm.md section 5, extra mutants", Parts(bolt=GreedyBolt)),
    TopologyTwin("STORM-3073", "STORM-C14", "pendingEmits throws when it is full",
                 "STORM-3073", Parts(spout=CappedSpout, bolt=CappedBolt)),
    TopologyTwin("skipped-head", "STORM-C1", "the retry skips a head that is blocked",
                 "storm.md D8", Parts(spout=SkippingSpout, bolt=SkippingBolt)),
    TopologyTwin("STORM-3751", "STORM-C14", "a tuple for a task that is gone ends the worker",
                 "STORM-3751, PR 8896", worker=UnguardedReceiver),
    TopologyTwin("STORM-329", "STORM-C15", "the transfer thread waits for a dead worker",
                 "STORM-329, STORM-404, STORM-510", worker=FaithfulToTheDead),
    TopologyTwin("STORM-996", "STORM-C1", "a batch is sent out of order", "STORM-996",
                 worker=Shuffled),
    TopologyTwin("sent-twice", "STORM-C1", "the end of a batch is sent twice",
                 "at least once on a connection that promises at most once", worker=SentTwice),
    TopologyTwin("STORM-3376", "STORM-C3", "messages are dropped and not counted",
                 "STORM-3376", worker=SilentDrop),
    TopologyTwin("STORM-744", "STORM-C4", "a full recvQ takes local tuples all the same",
                 "STORM-744", worker=Forced),
    TopologyTwin("STORM-1087", "STORM-C5", "the limit of the overflowQ has no effect",
                 "STORM-1087: backpressure stuck off", worker=Unlimited),
    TopologyTwin("same-life", "STORM-C2", "a worker's restarts are not counted",
                 "storm.md D4: ids restart at 0", worker=SameLife),
    TopologyTwin("doubled", "STORM-C11", "every tuple is emitted twice",
                 "storm.md 4.2: a duplicate is always another attempt", Parts(bolt=DoubledBolt)),
    TopologyTwin("told-twice", "STORM-C9", "ack() and fail() are called twice",
                 "storm.md ACK-XOR-FAIL", Parts(spout=TwiceTold)),
    TopologyTwin("early-ack", "STORM-C8", "a tuple is acked before its children are emitted",
                 "storm.md 4.1, XOR facts", Parts(bolt=EarlyAck)),
    TopologyTwin("double-ack", "STORM-C13", "a tuple is acked twice",
                 "storm.md 4.1, XOR facts: not idempotent", Parts(bolt=DoubleAck)),
    TopologyTwin("eager-spout", "STORM-C7", "the maximum of pending roots is ignored",
                 "storm.md 1.8", Parts(spout=EagerSpout)),
    TopologyTwin("forgetful-spout", "STORM-C12", "what failed is not emitted again",
                 "STORM-643, storm.md section 5: FAIL removes the pending offset",
                 Parts(spout=ForgetfulSpout)),
    TopologyTwin("hasty-spout", "STORM-C10", "a message is emitted again while it is pending",
                 "STORM-2666", Parts(spout=HastySpout)),
)

ZOO: Final[dict[str, TopologyTwin]] = {twin.name: twin for twin in _TWINS}
"""The twins by name."""
