"""The suite ``storm.topology``: topologies from source to sink, on a cluster under faults.

A program deploys a topology, plans faults, and lets it run. The history is judged by
``topology_runs``. Shrinking leaves out faults, and then takes fewer messages and workers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import lru_cache
from random import Random
from typing import ClassVar, Final

from ....reference.storm.cluster import Happened
from ....reference.storm.faults import TOILS, Fault, Scenario, What, bolts_of, scenario, users_of
from ....reference.storm.topologies import PING_PONG, TOPOLOGIES, WORD_COUNT, Topology, ping_pong
from ....spec.notation.rules import Rule
from ....spec.storm.topologies.observed_topology import (
    AT_ONCE, FAILED_STAYS, FALLS, IN_FLIGHT, NOT_EARLY, NOT_HELD_UP, NOT_INVENTED, PROGRESS,
    SURVIVES,
)
from ...ports.base import Message
from ...suites.besides import counted_as, given, phrase, phrases
from ...suites.history import HistorySuite
from ...suites.planned import PlannedConversation
from ...suites.says import Fields, on, table
from ...suites.suite import Act, Fuller, Long, Program
from .port import FAULTS, HISTORIES, PORT
from .runs import MACHINES, RunJudge
from .telling import Terms, terms_of

__all__ = ["SUITE", "TopologyConversation"]

_MOST: Final[Mapping[str, int]] = {
    "workers": 8, "messages": 2_000, "at": 10_000, "lasts": 10_000, "ackers": 8, "timeout": 10_000}
"""The largest numbers that a fixture may ask for; no larger one is ever drawn."""

_SAYS: Final = table(
    (),
    on("deploy", "{topology} is deployed ({sizes})"),
    on("kill", "at {at}, worker {worker} is killed, and restarts after {lasts}"),
    on("cut", "at {at}, for {lasts}, the connection from worker {worker} to worker {to} is cut"),
    on("lose_status",
       "from {at} on, the next status of worker {to} to worker {worker} gets lost"),
    on("delay_status",
       "at {at}, for {lasts}, statuses of worker {to} to worker {worker} are late"),
    on("slow", "at {at}, for {lasts}, task {task} is slow"),
    on("fail", "from {at} on, task {task} fails the next tuple that it executes"),
    on("toil", "from {at} on, task {task} works at its next tuple for {lasts}, and asks for more "
               "time"),
    on("throw",
       "from {at} on, user code of task {task} raises an exception that is not caught"),
    on("stray", "at {at}, a tuple for a task that does not exist arrives at worker {to} from "
                "worker {worker}"),
    on("run", "the topology runs"),
    on("settle", "settle"),
)
"""The words of the requests; the answer to the last one is a history."""

_UNSETTLED: Final = 6
"""Faults about a status that are planned besides, in a search for a stall."""

_CALM: Final = (What.FAIL, What.FAIL, What.TOIL)
"""Faults of a calm run."""

ACKERS: Final = (1, 1, 1, 2, None, 0)
"""Possible numbers of ackers; None: one for each worker."""

_MUCH: Final = 9
"""Messages of a run that searches for a stall."""

_SWAMP: Final = 32
"""Messages of a run that tests how much an overflowQ comes to hold."""

_KNOWN: Final[Mapping[str, Topology]] = {**TOPOLOGIES, PING_PONG: ping_pong(cycles=True)}
"""The topologies by name, with the one that may not be run."""


class TopologyConversation(PlannedConversation):
    """One session with a cluster; see ``Conversation``. ``RunJudge`` judges its history."""

    says = _SAYS
    port, page, last = PORT, "storm-ports.md", "run"
    most = _MOST
    names: ClassVar[Mapping[str, Collection[str]]] = {"topology": _KNOWN.keys()}

    def events(self, rows: Sequence[str]) -> Sequence[Happened]:
        return HISTORIES.events(rows)

    deploys: ClassVar[Mapping[str, Collection[str]]] = {"workers": ("worker", "to")}
    knows = (given("workers", sizes=phrases(
        counted_as("workers", "worker"), counted_as("messages", "message"),
        phrase("overflow_limit", "at most {overflow_limit} in an overflowQ", {0: "", None: ""}),
        phrase("max_pending", "at most {max_pending} roots pending", {0: "", None: ""}),
        phrase("ackers", "{ackers} ackers", {1: "", None: "an acker for each worker"}),
        phrase("batch", "batches of {batch}", {0: "", 1: ""}))),)

    def fits(self, do: str, fields: Fields, deployed: Message) -> bool:
        """True if a fault is about existing workers and tasks."""
        topology = _deployed(deployed)
        tasks = (
            bolts_of(topology) if do in _OF_BOLTS else users_of(topology) if do == "throw" else [
                task for each in topology.tasks_of().values() for task in each])
        return super().fits(do, fields, deployed) and fields.get("task", tasks[0]) in tasks


def _deployed(request: Message) -> Topology:
    """The topology that a request deploys, with its number of ackers."""
    return _known(request["topology"], request.get("ackers", 1), request["workers"])


@lru_cache(maxsize=256)     # asked for at each fault of a program
def _known(name: str, ackers: int | None, workers: int) -> Topology:
    return replace(_KNOWN[name], ackers=ackers).on(workers)


_OF_BOLTS: Final = ("fail", "toil")


# ---- programs -------------------------------------------------------------------------------


_OPERATION_OF: Final[Mapping[What, str]] = {
    What.KILL: "kill", What.CUT: "cut", What.LOSE_STATUS: "lose_status",
    What.DELAY_STATUS: "delay_status", What.SLOW: "slow", What.STRAY: "stray",
    What.FAIL: "fail", What.TOIL: "toil", What.THROW: "throw",
}
_OF_A_FAULT: Final = {
    operation.name: tuple(each.name for each in operation.arguments) for operation in FAULTS}


def _draw(random: Random, can: Collection[str], focus: Rule, number: int) -> Program:
    """Draw a topology, its sizes, and up to five faults.

    In a search for a stall, it may be a cycle of bolts; otherwise much is under way, and there
    are more faults that can make a sender wait for a status that is never sent. In a search for the
    effects of bolts that fail or take long, half of the runs are calm. An overflowQ gets long
    if one bolt at the end of a pipeline is slow.
    """
    circular = focus is PROGRESS and random.random() < 0.125
    topology = ping_pong(cycles=True) if circular else random.choice([*TOPOLOGIES.values()])
    if focus is IN_FLIGHT and random.random() < 0.75:
        topology = WORD_COUNT
    if not circular:
        topology = replace(topology, ackers=random.choice(ACKERS))
    one = scenario(topology, random.getrandbits(32))
    if focus is PROGRESS and one.workers > 1:
        one = _unsettled(one, random)
    if focus is FALLS:
        one = _throwing(one, random)
    if focus is IN_FLIGHT:
        one = _swamped(one, random)
    if focus in (FAILED_STAYS, AT_ONCE, NOT_EARLY) and random.random() < 0.5:
        one = _calm(one, random)
    return _program(one, topology, can)


def _program(one: Scenario, topology: Topology, can: Collection[str]) -> Program:
    """The acts of a run of a topology, with the faults that a target offers."""
    sizes = asdict(one.settings)
    del sizes["capacity"]
    deployed = {"topology": one.topology.name, "workers": one.workers, "messages": one.messages,
                **sizes, "ackers": None if topology.ackers is None else one.topology.ackers,
                "seed": one.seed}
    faults = sorted(one.faults, key=lambda fault: fault.at)
    acts = [act for act in map(_act_of, faults) if act.do in can]
    return (Act("deploy", about=tuple(deployed.items())), *acts, Act("run"))


def _swamped(one: Scenario, random: Random) -> Scenario:
    """A run in which one bolt is much slower than the source, and few messages are on their way
    besides: as a rule the sink of a pipeline, to which all tuples come from the other worker."""
    bolts = bolts_of(one.topology)
    last = one.topology.name == "word-count" and random.random() < 0.75
    slow = Fault(0, What.SLOW, bolts[-1] if last else random.choice(bolts), lasts=4_000)
    settings = replace(one.settings, overflow_limit=0, transfer_capacity=1, batch=1,
                       link_capacity=2, max_pending=0)
    return replace(one, workers=2, messages=_SWAMP, faults=(slow,), settings=settings)


def _unsettled(one: Scenario, random: Random) -> Scenario:
    """A run with as many messages under way as possible, and faults about their statuses."""
    faults = [*one.faults]
    for _ in range(_UNSETTLED):
        on = random.randrange(one.workers)
        to = (on + random.randrange(1, one.workers)) % one.workers
        what = random.choice((What.LOSE_STATUS, What.LOSE_STATUS, What.CUT))
        faults.append(Fault(random.randrange(60), what, on, to, random.randrange(1, 20)))
    settings = replace(one.settings, max_pending=0)
    return replace(one, settings=settings, messages=_MUCH, faults=tuple(faults))


def _throwing(one: Scenario, random: Random) -> Scenario:
    """A run in which user code raises while there is much to do."""
    users = users_of(one.topology)
    thrown = tuple(Fault(random.randrange(60), What.THROW, random.choice(users))
                   for _ in range(random.randrange(1, 3)))
    return replace(one, messages=_MUCH, faults=(*one.faults, *thrown))


def _calm(one: Scenario, random: Random) -> Scenario:
    """A run with an acker, and with bolts that fail or take long as its only faults."""
    one = replace(one, topology=replace(one.topology, ackers=max(1, one.topology.ackers or 0)))
    bolts = bolts_of(one.topology)
    if random.random() < 0.5:
        return replace(one, faults=tuple(_toils(random.choice(bolts), random)),
                       settings=replace(one.settings, max_pending=1, per_round=1))
    return replace(one, faults=tuple(
        Fault(random.randrange(60), random.choice(_CALM), random.choice(bolts),
              lasts=random.randrange(*TOILS)) for _ in range(random.randrange(1, 6))))


def _toils(task: int, random: Random) -> Iterator[Fault]:
    """A task works long at one tuple after the other: roots begin at any time between ticks."""
    at = random.randrange(60)
    for _ in range(3):
        toil = Fault(at, What.TOIL, task, lasts=random.randrange(*TOILS))
        yield toil
        at = toil.ends + 1


LONG: Final = Long()
"""A long program has a thousand messages instead of requests, and no sizes of its own."""

_MESSAGES_OF_LONG: Final = 1_000
_TIME_OF_LONG: Final = 5_000
"""Faults of a long run begin within so many instants, in which most of its messages are emitted."""
_FAULTS_OF_LONG: Final = 12


def _draw_long(random: Random, can: Collection[str]) -> tuple[Program, Program]:
    """A thousand messages on a topology, with faults from its beginning to its end; and its run."""
    topology = replace(random.choice([*TOPOLOGIES.values()]), ackers=random.choice((1, 1, 2, None)))
    one = scenario(topology, random.getrandbits(32))
    faults: list[Fault] = []
    while len(faults) < _FAULTS_OF_LONG:
        drawn = scenario(topology, random.getrandbits(32))
        faults += [each._replace(at=random.randrange(_TIME_OF_LONG)) for each in drawn.faults
                   if drawn.workers == one.workers]
    one = replace(one, messages=_MESSAGES_OF_LONG, faults=tuple(faults[:_FAULTS_OF_LONG]))
    program = _program(one, topology, can)
    return program[:-1], program[-1:]


def _act_of(fault: Fault) -> Act:
    do = _OPERATION_OF[fault.what]
    about = {"at": fault.at, "worker": fault.on, "task": fault.on, "to": fault.to,
             "lasts": fault.lasts}
    return Act(do, about=tuple((name, about[name]) for name in _OF_A_FAULT[do]))


_EASIER: Final[Mapping[str, int]] = {
    "messages": 1, "workers": 1, "max_pending": 0, "per_round": 1, "at": 0, "lasts": 1,
    "overflow_limit": 0, "batch": 1,
}
"""Fields of a run, with the number at which it is easiest to follow."""

_ALL_OR_NOTHING: Final = ("overflow_limit", "max_pending")
"""Limits, which are removed or kept. Below those that are drawn a correct cluster need not become
quiescent: an overflowQ of one drops replayed tuples again and again."""


def _easier(act: Act) -> Iterator[Act]:
    """Acts with one number reduced: to the least, or half way there; or without a limit."""
    fields = dict(act.about)
    for name, least in _EASIER.items():
        number = int(fields.get(name, least))
        half_way = least if name in _ALL_OR_NOTHING else (number + least) // 2
        for value in sorted({least, half_way}):
            if value < number:
                yield act._replace(about=tuple({**fields, name: value}.items()))


# ---- the suite ------------------------------------------------------------------------------


def _settings(capacity: int) -> Mapping[str, int]:
    return {"capacity": capacity}


def _terms(request: Message, capacity: int) -> Terms:
    sizes = {name: value for name, value in request.items()
             if name not in ("do", "topology", "ackers")}
    return terms_of(_deployed(request), capacity=capacity, **sizes)


def _judging(capacity: int, focus: Rule | None, counting: bool, candidates: int) -> RunJudge:
    return RunJudge(capacity, focus, counting, _terms, candidates)


SUITE: Final = HistorySuite(
    name="storm.topology",
    version=3,
    port=PORT.name,
    watching=MACHINES,
    # In any run an overflowQ holds some tuples; it comes near the bound only if a task is slow.
    needs={IN_FLIGHT.id: (("deploy",), ("slow",), ("run",))},
    draw=_draw,
    converse=TopologyConversation,
    judging=_judging,
    easier=_easier,
    settings=_settings,
    capacities=(1, 2, 4),
    # With short recvQs the senders wait for one another, and few tuples are on their way.
    telling={IN_FLIGHT.id: (4,)},
    fuller={
        PROGRESS.id: (
            Fuller(("lose_status",), "a stall after a status got lost (D6)"),
            Fuller(("cut",), "a stall after a connection broke (STORM-3763)")),
        SURVIVES.id: (
            Fuller(("stray",), "a worker that dies of a tuple for an absent task (STORM-3751)"),),
        NOT_HELD_UP.id: (
            Fuller(("kill",), "a dead worker that delays tuples for others (STORM-329)"),),
        NOT_INVENTED.id: (
            Fuller(("kill",), "statuses of an earlier life of a worker"),),
    },
    long=LONG,
    draw_long=_draw_long,
    scene="Tasks with a recvQ of capacity {capacity}.",
)
