"""Deciding again what the chapters promise: expected against found, row by row."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field, replace
from typing import Any

from .chapters import Chapter
from .engines.search import check_rules, instances
from .expectations import Expectation
from .lemmas import decide
from .notation.bound import bind
from .notation.errors import InputError
from .notation.machine import Machine, constants_of
from .notation.model import Slot
from .refinements import Refinement
from .verdicts.deadline import Spent
from .verdicts.verdict import Budget, Outcome, Verdict

__all__ = ["Deciding", "Row", "verify", "verify_chapter"]


@dataclass(frozen=True)
class Row:
    """One promise with what was found. ``constants`` has ``all`` for those that a proof
    left symbolic; ``steps`` is the length of the trace, if there is one. ``slots`` says how the
    values in its states are shown; empty if they are texts already."""

    chapter: str
    machine: str
    constants: dict[str, Any]
    rule: str
    about: str
    expected: str
    verdict: Verdict
    slots: Mapping[str, Slot] = field(default_factory=dict, compare=False, repr=False)

    @property
    def as_expected(self) -> bool:
        """True if the verdict is the one that the chapter promises."""
        return self.verdict.outcome.value == self.expected

    @property
    def steps(self) -> int:
        """The length of the trace."""
        return 0 if self.verdict.trace is None else len(self.verdict.trace.steps)

    def to_json(self) -> dict[str, Any]:
        """The row of ``verify --json``."""
        found = self.verdict
        return {
            "machine": f"{self.chapter}.{self.machine}".rstrip("."), "constants": self.constants,
            "rule": self.rule, "expected": self.expected, "verdict": found.outcome.value,
            "method": found.method, "states": found.states, "steps": self.steps,
            "seconds": round(found.seconds, 4), "about": self.about, "reason": found.reason,
            "shown": dict(found.shown),
        }


def verify(selected: Iterable[Chapter], budget: Budget | None = None) -> Iterator[Row]:
    """The rows of some chapters, each as soon as it is decided."""
    for chapter in selected:
        yield from verify_chapter(chapter, budget or Budget())


def verify_chapter(chapter: Chapter, budget: Budget) -> Iterator[Row]:
    """One row for each expectation and each choice of its constants.

    Expectations of one machine under the same constants share one search. Raises InputError,
    with the chapter's file, for a mistake of its author.
    """
    deciding = Deciding(chapter, budget)
    for number in range(len(deciding.promised)):
        yield deciding.row(number)


@contextmanager
def _in_file_of(chapter: Chapter) -> Iterator[None]:
    try:
        yield
    except InputError as error:
        error.where = error.where or chapter.module.__file__ or ""
        raise


class Deciding:
    """The rows of one chapter, each decided when it is asked for.

    ``promised`` has all of them before anything is decided, each with an unknown verdict.
    Raises InputError for a mistake of the chapter's author.
    """

    def __init__(self, chapter: Chapter, budget: Budget) -> None:
        self._chapter = chapter
        self._budget = budget
        self._decided: dict[tuple[Key, str], Verdict] = {}
        self._wanted: dict[type[Machine], dict[Key, list[str]]] = {}
        self._expectations: list[Expectation] = []
        self._points: list[dict[str, Any]] = []
        self._seen: dict[int, Refinement] = {}
        self.promised: list[Row] = []
        with _in_file_of(chapter):
            for expectation in chapter.expectations:
                for constants in expectation.points():
                    self._expectations.append(expectation)
                    self._points.append(constants)
                    self.promised.append(_promise(chapter, expectation, constants))
            for refinement in chapter.refinements:
                for constants in refinement.points():
                    self._seen[len(self.promised)] = refinement
                    self.promised.append(Row(
                        chapter.name, refinement.machine.__name__, constants, refinement.title,
                        refinement.about, refinement.verdict, _UNDECIDED))
            self._lemmas_from = len(self.promised)
            self.promised += [
                Row(chapter.name, "", {}, lemma.id, lemma.statement, lemma.verdict, _UNDECIDED)
                for lemma in chapter.lemmas]

    def check_constants(self) -> None:
        """Raise InputError for a promise about constants that its machine does not allow."""
        with _in_file_of(self._chapter):
            for expectation, constants in zip(self._expectations, self._points, strict=True):
                if not expectation.for_all:
                    bind(expectation.machine, **constants)
            for number, refinement in self._seen.items():
                given = self.promised[number].constants
                bind(refinement.machine, **given)
                bind(refinement.observer, **refinement.observers_constants(given))

    def row(self, number: int) -> Row:
        """The row of that number, from 0, decided within the budget."""
        promised = self.promised[number]
        with _in_file_of(self._chapter):
            if number >= self._lemmas_from:
                lemma = self._chapter.lemmas[number - self._lemmas_from]
                return replace(promised, verdict=decide(lemma, self._budget))
            if number in self._seen:
                found = _look_on(self._seen[number], promised.constants, self._budget)
                return _found(promised, found, self._seen[number].machine, promised.constants)
            expectation = self._expectations[number]
            constants = self._points[number]
            if expectation.for_all:
                found = _prove(expectation, constants, self._budget)
                return _found(promised, found, expectation.machine, constants)
            key = _key(expectation, constants)
            if (key, expectation.rule) not in self._decided:
                rules = self._rules_of(expectation.machine)[key]
                for rule, found in _search(expectation, constants, rules, self._budget).items():
                    self._decided[key, rule] = found
            return _found(promised, self._decided[key, expectation.rule],
                          expectation.machine, constants)

    def _rules_of(self, machine: type[Machine]) -> dict[Key, list[str]]:
        """Every rule that the chapter expects something of, for each choice of a machine's
        constants: one search decides them together."""
        if machine not in self._wanted:
            rules = self._wanted[machine] = {}
            for expectation, constants in zip(self._expectations, self._points, strict=True):
                if expectation.machine is machine and not expectation.for_all:
                    here = rules.setdefault(_key(expectation, constants), [])
                    if expectation.rule not in here:
                        here.append(expectation.rule)
        return self._wanted[machine]


def _found(
    promised: Row, verdict: Verdict, machine: type[Machine], constants: dict[str, Any]
) -> Row:
    slots = () if verdict.trace is None else bind(machine, **constants).slots
    return replace(promised, verdict=verdict, slots={slot.name: slot for slot in slots})


_UNDECIDED = Verdict(Outcome.UNKNOWN, "not decided")


def _promise(chapter: Chapter, expectation: Expectation, constants: dict[str, Any]) -> Row:
    shown = dict.fromkeys(expectation.for_all, "all") | constants
    return Row(chapter.name, expectation.machine.__name__, shown, expectation.rule,
               expectation.about, expectation.expected(constants), _UNDECIDED)


Key = tuple[Any, ...]


def _key(expectation: Expectation, constants: dict[str, Any]) -> Key:
    """The key of a search; two expectations with the same key share the search."""
    machine = expectation.machine
    return machine, expectation.renaming, tuple(constants_of(machine, constants).items())


def _search(
    expectation: Expectation, constants: dict[str, Any], rules: list[str], budget: Budget
) -> dict[str, Verdict]:
    """The verdict on each of some rules, for one machine and its constants."""
    bound = bind(expectation.machine, **constants)
    budget = replace(budget, renaming=budget.renaming and expectation.renaming)
    items = [item for rule in rules for item in instances(bound, rule)]
    with redirect_stdout(sys.stderr):  # an action may print; a report is not the place for it
        found = check_rules(bound, items, budget)
    by_rule: dict[str, list[Verdict]] = {}
    for item, verdict in zip(items, found, strict=True):
        by_rule.setdefault(item.rule.id, []).append(verdict)
    return {rule: worst(group) for rule, group in by_rule.items()}


_ORDER = (Outcome.VIOLATED, Outcome.UNKNOWN, Outcome.HOLDS)


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict of a rule over all choices of its parameters: the gravest, and among
    violations the shortest."""
    def gravity(verdict: Verdict) -> tuple[int, int]:
        length = 0 if verdict.trace is None else len(verdict.trace.steps)
        return _ORDER.index(verdict.outcome), length
    return min(verdicts, key=gravity)


def _look_on(refinement: Refinement, constants: dict[str, Any], budget: Budget) -> Verdict:
    """Decide whether the observer explains the machine's runs."""
    from .engines.refine import Seeing
    from .engines.refine import decide as decide_refinement
    seeing = Seeing(
        bind(refinement.machine, **constants),
        bind(refinement.observer, **refinement.observers_constants(constants)),
        refinement.shows, frozenset(refinement.room), refinement.rule)
    with redirect_stdout(sys.stderr):
        return decide_refinement(seeing, budget)


def _prove(expectation: Expectation, constants: dict[str, Any], budget: Budget) -> Verdict:
    from .engines.prove import prove
    from .notation.lower import lower
    machine = expectation.machine
    values = constants_of(machine, constants)
    if budget.max_seconds is None:
        budget = replace(budget, max_seconds=120.0)
    budget = budget.start()
    try:
        model = lower(machine, values, frozenset(expectation.for_all),
                      budget.deadline.watch("lowering the machine"))
    except Spent as late:
        return Verdict(Outcome.UNKNOWN, "k-induction", seconds=budget.deadline.spent(),
                       reason=str(late))
    wanted = [rule for rule in model.rules if rule.rule.id == expectation.rule]
    lemmas = [rule for rule in model.rules if rule.rule.id in expectation.lemmas]
    return worst(prove(model, rule, lemmas=lemmas, budget=budget) for rule in wanted)
