"""Judging whole runs of a topology: the events of a history, each by the machine it is about.

The rules are those of ``spec.storm.observed_topology``. A history is a sequence of events
``(at, what, about)``, in the words of ``ports.storm_topology``. Its origin does not
matter: the reference's cluster in virtual time or over TCP, or another implementation behind
the port. ``HistoryJudge`` holds one monitor for each thing that events are about (a lane, a
task, a root, a message), so it can follow a running system as well as a recorded one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Final

from ....reference.storm.cluster import Happened
from ....spec.engines.candidates import CandidateSets
from ....spec.engines.monitor import STATES_MAX, Failure, LostTrack, Monitor
from ....spec.notation.bound import bind
from ....spec.notation.errors import InputError, ModelFault, TargetError
from ....spec.notation.interpreter import Step
from ....spec.notation.machine import Machine
from ....spec.notation.rules import Rule
from ....spec.storm.topologies.observed_topology import (
    AT_ONCE, FAILED_STAYS, FALLS, IN_FLIGHT, LIMIT, OVERSHOOT, PROGRESS, SURVIVES, ObservedFlag,
    ObservedLane, ObservedOverflow, ObservedRoot, ObservedRun, ObservedSource, ObservedTask,
    ObservedWorker,
)
from ...ports.base import Message
from ...suites.history import rules_of
from ...suites.breach import Breach
from ...computer.places import from_root
from ...suites.suite import Exchange
from .port import FAULTS, HISTORIES, WORDS
from .telling import ALONE, TELLING, Observation, Terms, overflows

__all__ = [
    "HistoryJudge", "MACHINES", "Offence", "RULES", "RunJudge", "follow", "in_words", "judged",
]

MACHINES: Final = (
    ObservedLane, ObservedTask, ObservedOverflow, ObservedFlag, ObservedRoot, ObservedSource,
    ObservedWorker, ObservedRun)

_DISTURBING: Final = frozenset(
    fault.name for fault in FAULTS if fault.name not in ("fail", "toil"))
"""Faults after which a run is not calm."""

_SILENCING: Final = _DISTURBING - {"slow"}
"""Faults after which a status may be heard late or never, or a worker may be absent."""

_NAMED: Final = {machine.__name__: machine for machine in MACHINES}

RULES: Final[Mapping[str, Rule]] = {
    rule.id: rule for machine in MACHINES for rule in machine.rules_declared
    if rule.kind == "guard"}
"""The rules that a history is judged by."""


@dataclass(frozen=True)
class Offence:
    """A rule that was violated: by which event (its number, and in words), and why."""

    rule: Rule
    step: int
    event: Happened
    conjunct: str
    where: str

    def words(self) -> str:
        """The violation in words: event, instant, and what happened."""
        return f"in event {self.step}, at instant {self.event.at}, {in_words(self.event)}"


def in_words(event: Happened) -> str:
    """An event for a reader."""
    word = WORDS[event.what]
    return word.sentence.format_map(dict(zip(word.fields, event.about, strict=True)))


@lru_cache(maxsize=256)
def _sets(name: str, constants: tuple[tuple[str, int], ...], candidates: int) -> CandidateSets:
    return CandidateSets(bind(_NAMED[name], **dict(constants)), candidates)




class HistoryJudge:
    """Follows a history, event by event. ``offences`` grows; a thing that has offended is
    not judged any further, nor is one with a machine that could be in more than ``candidates``
    states: the ids of its rules are added to ``unjudged``. ``exercised``, if given, is
    counted up, rule by rule."""

    def __init__(
        self, terms: Terms, exercised: Counter[str] | None = None, candidates: int = STATES_MAX,
    ) -> None:
        self.terms = terms
        self._exercised = exercised
        self._candidates = candidates
        self.unjudged: set[str] = set()
        self.offences: list[Offence] = []
        self.seen = 0
        self._idle = _idle(terms)
        self._at_stake: dict[tuple[type[Machine], str], tuple[str, ...]] = {}
        self._monitors: dict[tuple[type[Machine], Hashable], Monitor | None] = {}
        self._calm = terms.calm
        self._prompt = terms.bounds_overflow
        self._since: dict[tuple[str, Hashable], int] = {}   # for roots: when a bolt first failed it
        self._asked: dict[Hashable, list[int]] = {}         # … and when a bolt asked for time
        self._raised: dict[int | str, int] = {}             # by worker: when user code raised
        for message in range(terms.messages if terms.acking else 0):
            self._monitor(ObservedSource, message)

    def see(self, event: Happened) -> Offence | None:
        """Take the next event, and return the first rule that it violates, if any.

        Raises ``InputError`` for an event that is none of the words.
        """
        found = None
        for machine, key, step in self._about(event):
            try:
                monitor = self._monitors[machine, key]
            except KeyError:
                monitor = self._monitor(machine, key)
            if self._exercised is not None and not (self.unjudged and self._lost(machine)):
                at_stake = self._at_stake.get((machine, step[0]))
                if at_stake is None:
                    at_stake = self._stakes(machine, step[0])
                for rule in at_stake:
                    self._exercised[rule] += 1
            if monitor is None or monitor.follows(step):
                continue
            failure = None
            try:
                failure = self._failure(monitor, step, event)
            except LostTrack:
                self._monitors[machine, key] = None
                self.unjudged |= _guarded_by(machine.__name__)
            if failure is None:
                continue
            self._monitors[machine, key] = None
            if failure.rule is not None:
                offence = Offence(
                    failure.rule, self.seen, event, failure.conjunct, failure.where)
                self.offences.append(offence)
                found = found or offence
        self.seen += 1
        return found

    def _lost(self, machine: type[Machine]) -> bool:
        return not self.unjudged.isdisjoint(_guarded_by(machine.__name__))

    def _failure(self, monitor: Monitor, step: Step, event: Happened) -> Failure | None:
        try:
            return monitor.observe([step])
        except ModelFault as error:
            raise InputError(
                f"event {self.seen} ({event.what}) is outside of the terms of the history: "
                f"{error.what}", next_step="Give terms with its parts, and a larger lane_max.",
            ) from error

    def _monitor(self, machine: type[Machine], key: Hashable) -> Monitor:
        """A monitor of a thing that was not there until now."""
        sets = _sets(machine.__name__, self._constants(machine, key), self._candidates)
        monitor = self._monitors[machine, key] = Monitor(sets.bound, sets=sets)
        return monitor

    def _stakes(self, machine: type[Machine], name: str) -> tuple[str, ...]:
        found = self._at_stake[machine, name] = _at_stake(machine.__name__, name, self._idle)
        return found

    def _constants(self, machine: type[Machine], key: Hashable) -> tuple[tuple[str, int], ...]:
        """The constants of a machine for the thing that it follows: those of the run, and the fan-
        out of a task."""
        terms = self.terms
        if machine is ObservedLane:
            return (("K", terms.lane_max),)
        if machine is ObservedTask:
            fan_out = terms.fan_out.get(key, 1) if isinstance(key, int) else 1
            return (("C", terms.capacity), ("X", terms.overflow_limit), ("F", fan_out),
                    ("M", terms.max_pending), ("E", terms.per_round))
        if machine is ObservedOverflow:
            return (*zip("WH", terms.in_flight, strict=True), ("R", 0), ("L", 1))
        if machine is ObservedWorker:
            return (("G", terms.death_max),)
        if machine is ObservedRun:
            return (("G", terms.wait_max), ("W", terms.link_capacity))
        if machine is ObservedFlag:
            return ()
        if machine is ObservedRoot:
            return (("n", terms.parts), ("P", terms.timeout), ("D", terms.word_max))
        return (("n", terms.parts),)

    def _about(self, event: Happened) -> Collection[Observation]:
        """The observations that an event gives, each for a machine of a task, a link, a worker or
        the run."""
        tell = ALONE.get(event.what)
        if tell is not None and not (self._prompt or self._raised):
            return tell(self.terms, event.about)
        return list(self._all_about(event))

    def _all_about(self, event: Happened) -> Iterator[Observation]:
        if event.what in _OF_ROOTS:
            if not self.terms.acking:
                return
            self._note(event)
        if event.what in _UNSETTLING:
            self._calm = self._prompt = False
        if event.what == "holds" and self._prompt:
            yield overflows(self.terms, event.about)
        yield from self._of_worker(event)
        tell = TELLING.get(event.what)
        if tell is not None:
            yield from tell(self.terms, event.about)
        elif event.what in _OF_WORKERS:
            pass
        elif event.what == "failed":
            yield from self._failed(event)
        elif event.what not in _ABOUT_ALL:
            raise InputError(
                f"{event.what!r} is no event of a topology",
                next_step=f"The events are {', '.join(WORDS)}.")
        if event.what in _ABOUT_ALL:
            yield from self._about_all(event)

    def _of_worker(self, event: Happened) -> Iterator[Observation]:
        """The observations of an event about a worker in which user code has raised."""
        what, about = event.what, event.about
        if what in ("raised", "processed"):
            worker: int | str | None = self.terms.worker_of.get(int(about[0]))
            if what == "raised" and worker is not None:
                self._raised.setdefault(worker, event.at)
                yield ObservedWorker, worker, ("raises", ())
            elif worker in self._raised:
                ago = min(event.at - self._raised[worker], self.terms.death_max + 1)
                yield ObservedWorker, worker, ("works", (("ago", ago),))
        elif what in ("died", "killed"):
            self._raised.pop(about[0], None)
            yield ObservedWorker, about[0], ("dies" if what == "died" else "is_killed", ())
        elif what in ("rested", "stalled"):
            for worker in self._raised:
                yield ObservedWorker, worker, ("ends", ())

    def _note(self, event: Happened) -> None:
        """Record when a root was emitted, when it first failed, and when bolts asked for time."""
        root = event.about[1]
        if event.what == "asking":
            self._asked.setdefault(root, []).append(event.at)
        else:
            self._since.setdefault((event.what, root), event.at)

    def _failed(self, event: Happened) -> Iterator[Observation]:
        message, root = event.about
        terms, calm = self.terms, ("calm", int(self._calm))
        told, emitted = (self._since.get((word, root)) for word in ("failing", "root"))
        if told is not None:
            late = min(event.at - told, terms.word_max + 1)
            yield ObservedRoot, root, ("fails", (("told", late), calm))
        else:
            for asked in self._asked.get(root, ()):
                ago = min(event.at - asked, terms.timeout + 1)
                yield ObservedRoot, root, ("has_asked", (("asked", ago), calm))
            age = min(event.at - (emitted or 0), terms.timeout + 1)
            yield ObservedRoot, root, ("times_out", (("age", age),))
        yield ObservedSource, message, ("fails", ())

    def _about_all(self, event: Happened) -> Iterator[Observation]:
        """Events that are about every thing of a kind."""
        if event.what == "began":
            for machine, key in list(self._monitors):
                if machine is ObservedFlag and isinstance(key, tuple) and key[0] == event.about[0]:
                    yield machine, key, ("restarts", ())
            return
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


def _idle(terms: Terms) -> frozenset[str]:
    """The ids of the rules that no event can violate under these terms."""
    limits = {LIMIT.id: terms.overflow_limit, OVERSHOOT.id: terms.max_pending,
              AT_ONCE.id: int(terms.calm), IN_FLIGHT.id: int(terms.bounds_overflow)}
    return frozenset(rule for rule, limit in limits.items() if limit == 0)


@cache
def _guarded_by(machine: str) -> frozenset[str]:
    """The ids of the rules that a machine judges by."""
    return frozenset(rule.id for rule in _NAMED[machine].rules_declared if rule.kind == "guard")


@cache
def _at_stake(machine: str, name: str, idle: frozenset[str]) -> tuple[str, ...]:
    """The ids of the rules that an event could have violated by being another one.

    Quiescence of a run is the alternative to its stalling, and to the death of a worker; the
    failure of a root that a bolt has failed, to its ack; the death of a worker in which user code
    has raised, to its continuing.
    """
    found = [rule.id for rule in rules_of(_NAMED[machine].actions_declared[name])]
    if machine == ObservedRun.__name__ and name == "comes_to_rest":
        found += [PROGRESS.id, SURVIVES.id]
    if machine == ObservedWorker.__name__ and name == "dies":
        found.append(FALLS.id)
    if machine == ObservedRoot.__name__ and name == "acks":
        found.remove(FAILED_STAYS.id)
    if machine == ObservedRoot.__name__ and name == "fails":
        found.append(FAILED_STAYS.id)
    return tuple(each for each in found if each not in idle)


_OF_ROOTS: Final = frozenset({"root", "reached", "acked", "failed", "failing", "asking"})
_OF_WORKERS: Final = frozenset({"raised", "died"})
_ABOUT_ALL: Final = frozenset({"rested", "forgot", "began"})
_UNSETTLING: Final = frozenset({"lost", "died", "killed"})
"""Events that do not happen in a calm run."""


# ---- a run of a suite -----------------------------------------------------------------------


class RunJudge:
    """Judges the history that a target reports of a run; see ``AnyJudge``.

    ``terms`` gives the limits for what was deployed: it gets the request, and the capacity. Once
    the rule in ``focus`` is violated, nothing more is judged, unless it is to be counted.
    """

    def __init__(
        self, capacity: int, focus: Rule | None, counting: bool,
        terms: Callable[[Message, int], Terms], candidates: int = STATES_MAX,
    ) -> None:
        self._capacity, self._terms_of, self._candidates = capacity, terms, candidates
        self.unjudged: set[str] = set()
        self._focus, self._counting = focus, counting
        self._terms: Terms | None = None
        self._over = False
        self._calm = True
        self._prompt = True
        self.breaches: list[Breach] = []
        self.exercised: Counter[str] = Counter()
        self.wanted: frozenset[str] | None = None

    def count_once(self, rules: Collection[str]) -> None:
        """Change nothing: what an event could have broken is known without asking a machine."""

    @property
    def blind(self) -> bool:
        """See ``AnyJudge``: after the run, or where nothing was deployed."""
        return self._over

    def see(self, exchange: Exchange, step: int) -> None:
        """Take a reply: the deployment, or the history."""
        do = exchange.request["do"]
        if do == "deploy":
            self._terms = self._terms_of(exchange.request, self._capacity)
            self._over = "ok" not in exchange.reply
            self._calm = self._prompt = True
        elif do in _DISTURBING:
            self._calm = False
            self._prompt = self._prompt and do not in _SILENCING
        elif do == "run":
            self._over = True
            if "ok" in exchange.reply and self._terms is not None:
                terms = replace(self._terms, calm=self._calm, prompt=self._prompt)
                self._read(HISTORIES.events(exchange.reply["ok"]), terms, step)

    def _read(self, events: Sequence[Happened], terms: Terms, step: int) -> None:
        """Judge a history from its beginning; of each rule the first breach counts."""
        try:
            judge = follow(
                events, terms, self._candidates,
                exercised=self.exercised if self._counting else None,
                until=None if self._counting else self._focus)
        except InputError as error:
            # The history is the target's, and so is the fault.
            raise TargetError(error.what, next_step="Fix the adapter's history.") from error
        self.unjudged |= judge.unjudged
        found: dict[str, Offence] = {}
        for offence in judge.offences:
            found.setdefault(offence.rule.id, offence)
        self.breaches += [
            Breach(each.rule, step, each.event.what, each.conjunct,
                   from_root(each.where), detail=each.words())
            for each in found.values()]


def judged(
    history: Iterable[Happened], terms: Terms, *, exercised: Counter[str] | None = None
) -> list[Offence]:
    """All violations in a history, in its order; see ``follow``.

    Raises ``LostTrack`` if a part of it could not be judged.
    """
    judge = follow(history, terms, exercised=exercised)
    if judge.unjudged:
        raise LostTrack(f"too many states explain what {', '.join(sorted(judge.unjudged))} judge")
    return judge.offences


def follow(
    history: Iterable[Happened], terms: Terms, candidates: int = STATES_MAX, *,
    exercised: Counter[str] | None = None, until: Rule | None = None,
) -> HistoryJudge:
    """The judge that has seen a history, ``until`` a violation of this rule if one is given.

    ``exercised`` is counted up: by rule, the events that could have violated it. Lanes are as
    long as the history needs them. Raises ``InputError`` for one that does not fit the terms.
    """
    events = list(history)
    most = max((int(event.about[-1]) for event in events if event.what == "emitted"), default=0)
    judge = HistoryJudge(
        replace(terms, lane_max=max(64, 1 << (most + 1).bit_length())), exercised, candidates)
    for event in events:
        offence = judge.see(event)
        if offence is not None and offence.rule is until:
            break
    return judge
