"""The default run of a suite on its reference, sabotaged: which rule is broken, and of which kind.

The cases are those of ``checkvalve conform TARGET --suite S`` with its default settings, in their
order. A run ends with the first breach of a rule of progress, for the rest would say no more.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from statistics import median
from typing import Any, Final

from checkvalve.conformance.adapters.session import InProcessTarget
from checkvalve.conformance.campaigns.case import RunSettings, plan, row_of
from checkvalve.conformance.engines.conduct import Order, next_cases
from checkvalve.conformance.ports.base import Message, Session, Target
from checkvalve.conformance.suites.results import ERROR, FLAKY, UNKNOWN, VIOLATED, Case, CaseRow
from checkvalve.conformance.suites.history import HistorySuite
from checkvalve.conformance.suites.progress import ids_of_progress
from checkvalve.conformance.suites.run import capabilities, items_for
from checkvalve.conformance.suites.suite import Act, AnySuite, Conversation, Exchange, Program
from checkvalve.conformance.systems.catalogue import port_named, system_of
from checkvalve.conformance.systems.targets import resolve_target
from checkvalve.spec.notation.errors import TargetError
from checkvalve.spec.notation.rules import Rule

from .acts import SABOTAGES, Place, Sabotaged, Scene, matters
from .unread import NeverRead

__all__ = [
    "BY_HAND", "FOUND", "NO_MATTER", "PASSES", "UNREAD", "UNSEEN", "Outcome", "outcome", "scene_of",
]

FOUND, PASSES = "found", "passes"
NO_MATTER: Final = "no matter"
"""The sabotage is nothing of its own there; see ``acts.matters``."""
UNSEEN: Final = "not shown"
"""No program of the run is so long that the sabotage begins, and the suite has no long programs."""

UNREAD: Final = "never reads the last"
BY_HAND: Final = (("kafka.failover", UNREAD),)
"""Implementations that are spoiled by hand, beyond those of the table."""

_SAMPLED: Final = 6
_SAMPLES: Final = 3


@dataclass(frozen=True)
class Outcome:
    """What a default run says of a sabotaged reference.

    ``verdict`` is ``found``, ``passes``, or that of the rows where nothing was found. ``rule`` is
    the first rule of progress that was broken, else the first rule; ``others`` are further ones
    that were seen before it.
    """

    suite: str
    sabotage: str
    about: str
    verdict: str
    rule: str
    is_progress: bool
    others: tuple[str, ...]
    cases: int
    message: str


class _Placed:
    """A conversation that says where in its program it is."""

    def __init__(self, conversation: Conversation, place: Place) -> None:
        self._conversation, self._place = conversation, place
        place.at = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._conversation, name)

    def makes_sense(self, act: Act) -> bool:
        """See ``Conversation``; it is asked once for each act of a program."""
        self._place.at += 1
        return self._conversation.makes_sense(act)

    def say(self, act: Act) -> Exchange:
        return self._conversation.say(act)


class _Placing:
    """A suite that says how long a program is before it is run; else it is that suite."""

    def __init__(self, suite: AnySuite, place: Place) -> None:
        self._suite, self._place = suite, place

    def __getattr__(self, name: str) -> Any:
        return getattr(self._suite, name)

    def converse(self, session: Session, capacity: int, items_max: int) -> Conversation:
        return _Placed(self._suite.converse(session, capacity, items_max), self._place)

    def explore(
        self, can: Collection[str], focus: Rule, seed: int, examples: int,
        attempt: Callable[[Program], None],
    ) -> None:
        def placed(program: Program) -> None:
            self._place.length = len(program)
            attempt(program)

        self._suite.explore(can, focus, seed, examples, placed)


class _Sampling:
    """A session that notes what is answered."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.close = session.close
        self.replies: list[tuple[str, Message]] = []

    def request(self, message: Message) -> Message:
        reply = self._session.request(message)
        if message["do"] != "hello":
            self.replies.append((message["do"], reply))
        return reply


@cache
def scene_of(name: str, seed: int = 0) -> Scene:
    """What the reference answers in some cases of its default run, and how long its runs are."""
    system = system_of(name)
    suite, target = system.suite, resolve_target(system.reference.name)
    is_history = isinstance(suite, HistorySuite)
    samples: dict[str, list[Any]] = {}
    lengths: list[int] = []
    ends: set[str] = set()
    can = capabilities(suite, target, *suite.capacities)
    rules = suite.applicable(can)
    for case in plan(suite.name, cases=_SAMPLED, seed=seed):
        programs: list[Program] = []
        suite.explore(can, rules[case.index % len(rules)], case.seed, 20, programs.append)
        for program in programs:
            replies = _replies(suite, target, program)
            for do, reply in replies:
                known = samples.setdefault(do, [])
                if "ok" in reply and len(known) < _SAMPLES and reply["ok"] not in known:
                    known.append(reply["ok"])
            lengths.append(_events(replies) if is_history else len(replies))
            if is_history:
                ends.add(replies[-1][1]["ok"][-1].split(" ")[1])
    return Scene(system.port, samples, round(median(lengths)), frozenset(ends))


def _events(replies: list[tuple[str, Message]]) -> int:
    return sum(len(reply["ok"]) for _, reply in replies if isinstance(reply.get("ok"), list))


def _replies(suite: AnySuite, target: Target, program: Program) -> list[tuple[str, Message]]:
    session = _Sampling(target.open())
    try:
        talk = suite.converse(session, suite.capacities[-1], items_for(program))
        for act in program:
            if talk.makes_sense(act):
                talk.say(act)
    except TargetError:
        pass
    finally:
        session.close()
    return session.replies


def outcome(suite: str, name: str, seed: int = 0, quick: bool = False) -> Outcome:
    """What the default run of a suite says of its reference, sabotaged in the way of that name.

    A pure function of its arguments. ``quick``: only with the cases that a run begins with, and not
    with those that it adds where nothing is found.
    """
    system = system_of(suite)
    if (suite, name) in BY_HAND:
        target: Target = InProcessTarget(name, NeverRead, port_named)
        return _told(suite, name, name, _rows(system.suite, target, suite, seed, quick))
    scene = scene_of(suite, seed)
    sabotage = SABOTAGES[name]
    if not matters(name, scene):
        return Outcome(suite, name, sabotage.about(scene), NO_MATTER, "", False, (), 0, "")
    target = Sabotaged(resolve_target(system.reference.name), sabotage, scene)
    placing: Any = _Placing(system.suite, scene.place)
    return _told(suite, name, sabotage.about(scene), _rows(placing, target, suite, seed, quick))


def _rows(
    suite: AnySuite, target: Target, name: str, seed: int, quick: bool
) -> list[CaseRow]:
    """The rows of the default run, up to the first breach of a rule of progress.

    At first its cases only look for breaches, which takes a part of the time, and finds the same;
    where they find none, they count too, so that those follow that a user's run would add.
    """
    order = Order(name, seed=seed)
    settings = replace(order.settings, shrinks=0, counting=False)
    rows = [*_some(suite, target, next_cases(order, []), settings)]
    if quick or any(row.verdict == VIOLATED for row in rows) or rows[0].verdict == ERROR:
        return rows
    rows = []
    while cases := next_cases(order, rows):
        rows += _some(suite, target, cases, order.settings)
    return rows


def _some(
    suite: AnySuite, target: Target, cases: Sequence[Case], settings: RunSettings
) -> Iterator[CaseRow]:
    live = ids_of_progress(suite)
    for case in cases:
        row = row_of(suite, target, case, settings)
        yield row
        # As for a user: a target is not asked any further if its first case fails.
        if (row.verdict == VIOLATED and row.rule in live) or (
                row.verdict == ERROR and case.index == 0):
            return


def _told(suite: str, name: str, about: str, rows: list[CaseRow]) -> Outcome:
    live = ids_of_progress(system_of(suite).suite)
    broken = [row for row in rows if row.verdict == VIOLATED]
    first = next((row for row in broken if row.rule in live), None) or next(iter(broken), None)
    if first is not None:
        others = dict.fromkeys(row.rule for row in broken if row.rule != first.rule)
        return Outcome(suite, name, about, FOUND, first.rule, first.rule in live, tuple(others),
                       len(rows), first.message)
    longest = max(row.longest for row in rows)
    after = name.removeprefix("silent from ")
    if after.isdecimal() and longest <= int(after) and system_of(suite).suite.long is None:
        return Outcome(suite, name, about, UNSEEN, "", False, (), len(rows),
                       f"the longest program makes {longest} requests")
    other = next((row for verdict in (FLAKY, ERROR, UNKNOWN) for row in rows
                  if row.verdict == verdict), None)
    return Outcome(suite, name, about, PASSES if other is None else other.verdict, "", False, (),
                   len(rows), "" if other is None else other.message)
