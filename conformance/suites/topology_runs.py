"""Judging whole runs of a topology: the events of a history, each by the machine it is about.

The rules are those of ``spec.storm.observed_topology``. A history is a sequence of events
``(at, what, about)``, in the words of ``reference.storm.cluster``; where it comes from does not
matter. ``HistoryJudge`` holds one monitor for each thing that events are about (a lane, a task,
a root, a message), so it can follow a running system as well as a recorded one.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from ...reference.storm.cluster import Cluster, Happened
from ...reference.storm.faults import Scenario, scenario
from ...reference.storm.topologies import TOPOLOGIES, Topology
from ...spec.engines.interpreter import Step
from ...spec.engines.monitor import Failure, Monitor
from ...spec.notation.bound import bind
from ...spec.notation.errors import InputError, ModelFault
from ...spec.notation.machine import Machine
from ...spec.notation.rules import Rule
from ...spec.storm.observed_topology import (
    ObservedLane, ObservedRoot, ObservedRun, ObservedSource, ObservedTask,
)

__all__ = [
    "HistoryJudge", "Offence", "RULES", "Terms", "WAIT_MAX", "breaks", "judged", "reference",
    "run_once", "shrunk",
    "story", "terms_of",
]

WAIT_MAX: Final = 20
"""Instants that a message may wait in a transfer queue. A connection that is not writable
becomes so when it has delivered what it holds; no wait for that is longer than a few delays."""

_MACHINES: Final = (ObservedLane, ObservedTask, ObservedRoot, ObservedSource, ObservedRun)

RULES: Final[Mapping[str, Rule]] = {
    rule.id: rule for machine in _MACHINES for rule in machine.rules_declared
    if rule.kind == "guard"}
"""The rules that a history is judged by."""


@dataclass(frozen=True)
class Terms:
    """What a history is judged against; 0 means unlimited where that makes sense.

    ``fan_out`` has, for each task that is no spout, the messages that one execution emits at
    most. ``lane_max`` is more than the messages on any one lane.
    """

    capacity: int
    overflow_limit: int
    max_pending: int
    per_round: int
    parts: int
    messages: int
    fan_out: Mapping[int, int]
    lane_max: int = 1024
    wait_max: int = WAIT_MAX


@dataclass(frozen=True)
class Offence:
    """A rule that was broken: by which event (its number, and in words), and why."""

    rule: Rule
    step: int
    event: Happened
    conjunct: str

    def words(self) -> str:
        """For a reader."""
        about = " ".join(map(str, self.event.about))
        return (f"{self.rule.id} at instant {self.event.at}, event {self.step} "
                f"({self.event.what} {about}): {self.conjunct} is false")


def terms_of(one: Scenario) -> Terms:
    """The terms of a scenario of the reference's cluster."""
    settings, topology = one.settings, one.topology
    bolts = [task for name, tasks in topology.tasks_of().items() if name != "source"
             for task in tasks]
    return Terms(
        settings.capacity, settings.overflow_limit, settings.max_pending, settings.per_round,
        topology.parts, one.messages, {task: topology.emits_at_most(task) for task in bolts})


@lru_cache(maxsize=256)
def _fresh(name: str, constants: tuple[tuple[str, int], ...]) -> Monitor:
    machine = next(each for each in _MACHINES if each.__name__ == name)
    return Monitor(bind(machine, **dict(constants)))


Observation = tuple[type[Machine], Hashable, Step]


class HistoryJudge:
    """Follows a history, event by event. ``offences`` grows; a thing that has offended is
    not judged any further."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.offences: list[Offence] = []
        self.seen = 0
        self._monitors: dict[tuple[type[Machine], Hashable], Monitor | None] = {}
        for message in range(terms.messages):
            self._monitor(ObservedSource, message)

    def see(self, event: Happened) -> Offence | None:
        """Take the next event: the first rule that it breaks.

        Raises ``InputError`` for an event that is none of the words.
        """
        found = None
        for machine, key, step in list(self._about(event)):
            monitor = self._monitor(machine, key)
            failure = None if monitor is None else self._failure(monitor, step, event)
            if failure is None:
                continue
            self._monitors[machine, key] = None
            if failure.rule is not None:
                offence = Offence(failure.rule, self.seen, event, failure.conjunct)
                self.offences.append(offence)
                found = found or offence
        self.seen += 1
        return found

    def _failure(self, monitor: Monitor, step: Step, event: Happened) -> Failure | None:
        try:
            return monitor.observe([step])
        except ModelFault as error:
            raise InputError(
                f"event {self.seen} ({event.what}) is outside of the terms of the history: "
                f"{error.what}", next_step="Give terms with its parts, and a larger lane_max.",
            ) from error

    def _monitor(self, machine: type[Machine], key: Hashable) -> Monitor | None:
        if (machine, key) not in self._monitors:
            # A monitor never changes what it holds, only which: a shallow copy is a fresh one.
            fresh = _fresh(machine.__name__, self._constants(machine, key))
            self._monitors[machine, key] = copy.copy(fresh)
        return self._monitors[machine, key]

    def _constants(self, machine: type[Machine], key: Hashable) -> tuple[tuple[str, int], ...]:
        terms = self.terms
        if machine is ObservedLane:
            return (("K", terms.lane_max),)
        if machine is ObservedTask:
            fan_out = terms.fan_out.get(key, 1) if isinstance(key, int) else 1
            return (("C", terms.capacity), ("X", terms.overflow_limit), ("F", fan_out),
                    ("M", terms.max_pending), ("E", terms.per_round))
        if machine is ObservedRun:
            return (("W", terms.wait_max),)
        return (("P", terms.parts),)

    def _about(self, event: Happened) -> Iterator[Observation]:
        tell = _WORDS.get(event.what)
        if tell is not None:
            yield from tell(self.terms, event.about)
        elif event.what in ("rested", "forgot"):
            yield from self._about_all(event)
        else:
            raise InputError(
                f"{event.what!r} is no event of a topology",
                next_step=f"The events are {', '.join([*_WORDS, 'rested', 'forgot'])}.")

    def _about_all(self, event: Happened) -> Iterator[Observation]:
        """Events that are about every thing of a kind."""
        if event.what == "rested":
            for machine, key in list(self._monitors):
                if machine in (ObservedLane, ObservedSource):
                    yield machine, key, ("comes_to_rest", ())
            yield ObservedRun, "", ("comes_to_rest", ())
            return
        task, is_spout = event.about
        yield ObservedTask, task, ("restarts", ())
        if is_spout:
            for machine, key in list(self._monitors):
                if machine is ObservedSource:
                    yield machine, key, ("forgets", ())


# ---- the words of a history -----------------------------------------------------------------


About = Sequence[int | str]


def _number(value: int | str) -> tuple[tuple[str, int], ...]:
    return (("number", int(value)),)


def _emitted(_terms: Terms, about: About) -> Iterator[Observation]:
    sender, life, to, number = about
    yield ObservedLane, (sender, life, to), ("emits", _number(number))


def _processed(_terms: Terms, about: About) -> Iterator[Observation]:
    task, sender, life, number = about
    yield ObservedLane, (sender, life, task), ("processes", _number(number))
    yield ObservedTask, task, ("consumes", ())


def _lost(_terms: Terms, about: About) -> Iterator[Observation]:
    sender, life, to, number = about
    yield ObservedLane, (sender, life, to), ("loses", _number(number))


def _holds(terms: Terms, about: About) -> Iterator[Observation]:
    task, recvq, overflowq = about
    yield ObservedTask, task, ("holds", (
        ("recvq", min(int(recvq), terms.capacity + 1)),
        ("overflowq", min(int(overflowq), terms.overflow_limit + 1))))


def _stands(terms: Terms, about: About) -> Iterator[Observation]:
    task, count = about
    fan_out = terms.fan_out.get(int(task))
    yield ObservedTask, task, ("stands", (
        ("spout", int(fan_out is None)), ("count", min(int(count), (fan_out or 1) + 1))))


def _pends(terms: Terms, about: About) -> Iterator[Observation]:
    task, count = about
    most = terms.max_pending + terms.per_round
    yield ObservedTask, task, ("pends", (("roots", min(int(count), most)),))


def _attempt(name: str) -> Callable[[Terms, About], Iterator[Observation]]:
    def tell(_terms: Terms, about: About) -> Iterator[Observation]:
        message, root = about
        yield ObservedRoot, root, (name, ())
        yield ObservedSource, message, (name, ())
    return tell


def _reached(_terms: Terms, about: About) -> Iterator[Observation]:
    message, root, part = about
    step = ("reaches", (("part", int(part)),))
    yield ObservedRoot, root, step
    yield ObservedSource, message, step


def _left(terms: Terms, about: About) -> Iterator[Observation]:
    waited = min(int(about[1]), terms.wait_max + 1)
    yield ObservedRun, "", ("passes_on", (("waited", waited),))


def _of_run(name: str) -> Callable[[Terms, About], Iterator[Observation]]:
    def tell(_terms: Terms, _about: About) -> Iterator[Observation]:
        yield ObservedRun, "", (name, ())
    return tell


_WORDS: Final[Mapping[str, Callable[[Terms, About], Iterator[Observation]]]] = {
    "emitted": _emitted, "processed": _processed, "lost": _lost, "holds": _holds,
    "stands": _stands, "pends": _pends, "root": _attempt("emits"), "reached": _reached,
    "acked": _attempt("acks"), "failed": _attempt("fails"), "left": _left,
    "killed": _of_run("is_killed"), "began": _of_run("is_killed"), "died": _of_run("dies"),
    "stalled": _of_run("stalls"),
}


# ---- runs -----------------------------------------------------------------------------------


Run = Callable[[Scenario], Iterable[Happened]]
"""What is under test: from a scenario to its history."""


def reference(one: Scenario) -> Iterable[Happened]:
    """The reference's cluster."""
    return Cluster(one).run()


def judged(history: Iterable[Happened], terms: Terms) -> list[Offence]:
    """All rules that a history breaks, in its order; lanes are as long as it needs them."""
    events = list(history)
    most = max((int(event.about[-1]) for event in events if event.what == "emitted"), default=0)
    judge = HistoryJudge(replace(terms, lane_max=max(64, 1 << (most + 1).bit_length())))
    for event in events:
        judge.see(event)
    return judge.offences


def run_once(topology: str | Topology, seed: int, run: Run = reference) -> list[Offence]:
    """Run the scenario of a seed, and judge it. Raises ``InputError`` for an unknown name."""
    if isinstance(topology, str):
        if topology not in TOPOLOGIES:
            raise InputError(f"there is no topology {topology!r}",
                             next_step=f"Use one of {', '.join(TOPOLOGIES)}.")
        topology = TOPOLOGIES[topology]
    one = scenario(topology, seed)
    return judged(run(one), terms_of(one))


def breaks(one: Scenario, rule: str, run: Run = reference) -> bool:
    """Whether a run of the scenario breaks the rule."""
    return any(offence.rule.id == rule for offence in judged(run(one), terms_of(one)))


def shrunk(one: Scenario, rule: str, run: Run = reference) -> Scenario:
    """A smaller scenario that still breaks the rule: fewer faults, then fewer messages.

    ``one`` is known to break it. Greedy and deterministic; every candidate is run.
    """
    at = 0
    while at < len(one.faults):
        fewer = replace(one, faults=one.faults[:at] + one.faults[at + 1:])
        if breaks(fewer, rule, run):
            one = fewer
        else:
            at += 1
    for messages in range(1, one.messages):
        fewer = replace(one, messages=messages)
        if breaks(fewer, rule, run):
            return fewer
    return one


def story(one: Scenario, offence: Offence) -> list[str]:
    """A scenario and what came of it, for a reader."""
    settings = one.settings
    bounds = [f"recvQs of {settings.capacity}"]
    bounds += [f"at most {settings.overflow_limit} in an overflowQ"] * (
        settings.overflow_limit > 0)
    bounds += [f"at most {settings.max_pending} roots pending"] * (settings.max_pending > 0)
    faults = sorted(one.faults, key=lambda fault: fault.at)
    return [
        f"{one.topology.name} on {one.workers} workers, {one.messages} messages, "
        f"{', '.join(bounds)} (seed {one.seed}).",
        *(f"{fault.words()}." for fault in faults), f"{offence.words()}."]
