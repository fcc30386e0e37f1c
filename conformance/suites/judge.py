"""Judging a run: several machines watch it side by side, each until it no longer explains it."""

from __future__ import annotations

import linecache
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from ...spec.engines.candidates import Candidates, CandidateSets
from ...spec.engines.monitor import STATES_MAX, Failure, LostTrack, Monitor
from ...spec.notation.bound import bind
from ...spec.notation.errors import InternalError
from ...spec.notation.interpreter import Step
from ...spec.notation.rules import Rule
from .exchange import Answer, Exchange, Watch

if TYPE_CHECKING:
    from .suite import Suite

__all__ = ["Breach", "Judge", "from_root"]


@dataclass(frozen=True)
class Breach:
    """A rule that was broken: at which step of the run (from 0), and why.

    ``conjunct`` is the condition that was false, ``where`` its file (from the project's
    root) and line. ``alternatives`` are the answers that every machine would have taken at
    this point: after ``position`` steps of the machines that the same reply had shown. Where
    a reply shows several, ``refused`` has the words of the one that broke the rule, and
    ``detail`` says it where there are no such words.

    ``is_added``: by a machine that adds its rule to another one. That one explains the run
    as well as before, so nothing follows from this breach. ``is_apart``: by a machine that
    allows what others forbid, so this does not follow from their breaches either.
    """

    rule: Rule
    step: int
    observation: str
    conjunct: str
    where: str
    alternatives: tuple[Answer, ...] = ()
    position: int = 0
    refused: str = ""
    detail: str = ""
    is_added: bool = False
    is_apart: bool = False

    @property
    def allowed(self) -> tuple[str, ...]:
        """What the target could have answered instead, in words."""
        return tuple(dict.fromkeys(answer.words for answer in self.alternatives))

    def allowed_in_words(self) -> str:
        """The line that says so; empty if there is nothing to say."""
        if not self.alternatives:
            return ""
        instead = f' instead of "{self.refused}"' if self.refused else ""
        return f"Allowed in step {self.step + 1}{instead}: {', or '.join(self.allowed)}."

    def in_words(self, step: str) -> str:
        """The words of the step that broke the rule, with the detail."""
        return f"{step}: {self.detail}" if self.detail else step


@lru_cache(maxsize=64)
def _sets_of(
    watch: Watch, constants: tuple[tuple[str, int], ...], candidates: int
) -> CandidateSets:
    """The candidate sets of a machine. Settings that it knows nothing of make no others."""
    declared = watch.machine.constants_declared
    known = tuple((name, value) for name, value in constants if name in declared)
    return _sets(Watch(watch.machine), known, candidates)


@lru_cache(maxsize=64)
def _sets(
    watch: Watch, constants: tuple[tuple[str, int], ...], candidates: int
) -> CandidateSets:
    for defining in watch.machine.__mro__:
        # The monitor quotes the source, which in an archive only the loader can read.
        names = vars(sys.modules[defining.__module__])
        linecache.lazycache(str(names.get("__file__")), names)
    return CandidateSets(bind(watch.machine, **dict(constants)), candidates)


@lru_cache(maxsize=64)
def _rule_ids(watch: Watch) -> frozenset[str]:
    return frozenset(rule.id for rule in watch.rules())


class _Eye:
    """One machine that watches, while it is ``open``; it may have ``lost`` track."""

    def __init__(
        self, watch: Watch, constants: tuple[tuple[str, int], ...], candidates: int
    ) -> None:
        self.watch = watch
        self.rule_ids = _rule_ids(watch)
        self.actions = watch.machine.actions_declared
        sets = _sets_of(watch, constants, candidates)
        self.monitor = Monitor(sets.bound, sets=sets)
        self.lost = self.monitor.overflowed
        self.open = not self.lost

    def loses_track(self) -> None:
        self.lost, self.open = True, False

    def knows(self, step: Step) -> bool:
        return step[0] in self.actions


class Judge:
    """Watches one run. ``focus`` is the rule that is looked for, or None for all rules.

    ``exercised`` counts, by rule, the replies and events in whose place another one would
    have broken the rule; only if ``counting``, for it takes as long as judging does. A machine
    that could be in more than ``candidates`` states loses track, and judges no more.
    """

    def __init__(
        self, suite: Suite, capacity: int, items_max: int, focus: Rule | None,
        counting: bool = False, candidates: int = STATES_MAX,
    ) -> None:
        constants = tuple(suite.constants(capacity, items_max).items())
        self._eyes = [
            _Eye(watch, constants, candidates) for watch in suite.watches
            if counting or watch.adds is None or focus is None or watch.adds is focus
        ]
        self._focus = focus
        self._counting = counting
        self.breaches: list[Breach] = []
        self.exercised: Counter[str] = Counter()

    @property
    def unjudged(self) -> frozenset[str]:
        """The ids of the rules whose machine lost track."""
        return frozenset().union(*(eye.rule_ids for eye in self._eyes if eye.lost))

    @property
    def blind(self) -> bool:
        """Whether nothing that is still to come could show a breach that is looked for."""
        sought = self._focus
        return not any(
            eye.open and (sought is None or sought.id in eye.rule_ids) for eye in self._eyes)

    def see(self, exchange: Exchange, step: int) -> None:
        """Take what an exchange showed; breaches are added to ``breaches``."""
        if self._counting:
            self.exercised.update(self._at_stake(exchange.possible))
        shown = list(exchange.observed())
        for position, (observed, is_event) in enumerate(shown):
            answers = exchange.completions if is_event else exchange.possible
            if self._counting and is_event:
                self.exercised.update(self._at_stake(answers))
            held = [(eye, eye.monitor.here) for eye in self._eyes if eye.open]
            for eye, rule, failure in self._observe(observed):
                given = next((each.words for each in answers if each.step == observed), "")
                self.breaches.append(Breach(
                    rule, step, failure.observation, failure.conjunct, from_root(failure.where),
                    _alternatives(answers, observed, held), position,
                    given if len(shown) > 1 else "", is_added=eye.watch.adds is not None,
                    is_apart=eye.watch.apart,
                ))

    def _at_stake(self, answers: Sequence[Answer]) -> set[str]:
        """The ids of the rules that one of some answers would break: for each answer, those of
        the first machine that refuses it."""
        eyes = [(eye.actions, eye.monitor.sets.refused, eye.monitor.here, eye.watch.adds)
                for eye in self._eyes if eye.open]
        broken: set[Rule | None] = set()
        for answer in answers:
            step = answer.step
            for actions, refused, here, adds in eyes:
                if step[0] in actions and (rules := refused(here, step)) is not None:
                    broken.update([adds] if adds else rules)
                    break
        return {rule.id for rule in broken if rule is not None}

    def _observe(self, observed: Step) -> list[tuple[_Eye, Rule, Failure]]:
        """What refuses a step: the first machine that does, and those that stand apart."""
        found: list[tuple[_Eye, Rule, Failure]] = []
        told = False
        for eye in self._eyes:
            if not eye.open or not eye.knows(observed):
                continue
            if eye.watch.base is not None and not self._has_base(eye):
                continue
            try:
                failure = eye.monitor.observe([observed])
            except LostTrack:
                eye.loses_track()
                continue
            if failure is None:
                continue
            eye.open = False
            rule = eye.watch.adds or failure.rule
            if told and not eye.watch.apart:
                continue
            if rule is None:
                raise InternalError(
                    f"{failure.observation} is refused, and no rule says why", failure.where)
            found.append((eye, rule, failure))
            told = told or not eye.watch.apart
        return found

    def _has_base(self, eye: _Eye) -> bool:
        """Whether the machine that an eye adds a rule to, if any, still explains the run."""
        base = eye.watch.base
        closed = [other for other in self._eyes
                  if base is not None and other.watch.machine is base and not other.open]
        if any(other.lost for other in closed):
            eye.loses_track()
        elif closed:
            eye.open = False
        return not closed


_Held = Sequence[tuple[_Eye, Candidates]]


def _alternatives(
    answers: Sequence[Answer], refused: Step, held: _Held
) -> tuple[Answer, ...]:
    """Those answers that every machine would have taken instead of a step, in these states."""
    return tuple(
        answer for answer in answers
        if (not answer.instead_of or refused[0] in answer.instead_of)
        and all(_takes(eye, answer, here) for eye, here in held)
    )


def _takes(eye: _Eye, answer: Answer, here: Candidates) -> bool:
    steps = [step for step in (answer.step, *answer.then) if eye.knows(step)]
    return eye.monitor.sets.accepts(here, steps)


def from_root(where: str) -> str:
    """``spec/…:line`` for a place in a chapter of ours, so that fixtures agree anywhere."""
    file, _, line = where.rpartition(":")
    root = Path(__file__).resolve().parents[2]
    path = Path(file).resolve()
    shown = path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name
    return f"{shown}:{line}"
