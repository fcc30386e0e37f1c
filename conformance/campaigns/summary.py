"""From rows to verdicts: what the cases of a run say about each rule of the suite."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

from ...spec.notation.errors import InputError
from ...spec.notation.labels import counted
from ...spec.notation.rules import Rule
from ..ports.base import NO_OCCASION_FOR
from ..suites.results import (
    ERROR, FLAKY, NO_OCCASION, NOT_OFFERED, NOT_SHOWN, PASSED, REASONS, REFUSED, TARGET_FAILED,
    TECHNIQUE, TOO_FEW, UNKNOWN, VIOLATED, CaseRow,
)
from ..suites.fixture import Fixture, read_fixture
from ..suites.suite import AnySuite, Fuller, Measure
from ..systems.catalogue import suite_named
from .causes import causes_of
from .enough import Coverage, coverage, said_by
from .failures import failure_in_words
from .places import focus_of

__all__ = [
    "FOLLOWS", "Measured", "RuleResult", "Summary", "known_rules", "seconds_by_rule", "summarise",
]

FOLLOWS: Final = "follows"
"""The verdict on a rule that was only seen to break after another one in the same run."""

@dataclass(frozen=True)
class RuleResult:
    """The result of a run for one rule.

    ``passed`` means that no breach was found in ``cases`` cases, in each of which
    another answer would have broken the rule, and that these are enough (see enough.py): a
    sample, never a proof. ``unknown``: some could not be judged. ``follows``: it was broken, but
    each time after a rule of ``follows_from`` in the same run, which may be why. ``not shown``: the
    run says nothing of it, or only of a part of it, for a ``reason`` (of ``REASONS``), which the
    target has ``declared`` or not. ``fixture`` is the shortest failure found; ``message`` is one
    line about the verdict; ``not_looked_for`` is what was left out of its test.
    """

    target: str
    suite: str
    rule: Rule
    verdict: str
    cases: int = 0
    message: str = ""
    fixture: Fixture | None = None
    not_looked_for: tuple[Fuller, ...] = ()
    follows_from: tuple[str, ...] = ()
    reason: str = ""
    declared: bool = False

    def to_json(self, saved_as: str | None = None) -> dict[str, Any]:
        """The row of ``conform --json``; ``saved_as`` is where the fixture was written."""
        return {
            "target": self.target, "suite": self.suite, "rule": self.rule.id,
            "verdict": self.verdict, "reason": self.reason, "declared": self.declared,
            "cases": self.cases, "fixture": saved_as, "message": self.message,
            "not_looked_for": [each.in_words() for each in self.not_looked_for],
            "follows_from": list(self.follows_from),
        }


@dataclass(frozen=True)
class Measured:
    """The largest that a measure of the suite was: by capacity, for those of the run."""

    measure: Measure
    by_capacity: Mapping[int, int]

    @property
    def most(self) -> int | None:
        """In the whole run; None if nothing was measured."""
        return max(self.by_capacity.values(), default=None)

    def in_words(self) -> str:
        """A line for a reader."""
        if self.most is None:
            return f"{self.measure.words}: not measured; that takes {self.measure.takes}"
        apart = [f"{most:,} with capacity {capacity}"
                 for capacity, most in sorted(self.by_capacity.items())]
        alike = len({*self.by_capacity.values()}) == 1
        return f"{self.measure.words}: {f'{self.most:,}' if alike else ', '.join(apart)}"

    def to_json(self) -> dict[str, Any]:
        """An entry of ``measured`` in ``conform --json``."""
        return {"measure": self.measure.name, "words": self.measure.words, "most": self.most,
                "by_capacity": {str(capacity): most
                                for capacity, most in sorted(self.by_capacity.items())}}


@dataclass(frozen=True)
class Summary:
    """The results of a run for a target.

    ``known`` are the ids of rules known to be broken; ``refused`` counts the cases with settings
    that the target does not offer, by the words for it; ``unjudged`` says of how many cases a part
    could not be judged, if any, and what to do. ``measured`` has the suite's measures, in their
    order. ``strict``: what the target has declared that it cannot show counts as well. ``sizes``
    are the capacities that were tried, and ``longest`` is the number of requests of the longest
    program. ``cut`` says that the run ended before its time, and is empty if it did not. ``times``
    has the seconds of the cases that looked for each rule, by its id, if they were made on this
    machine; with several processes these add up to more than the run took.
    """

    suite: str
    suite_version: str
    target: str
    cases: int
    results: tuple[RuleResult, ...]
    error: str = ""
    refused: Mapping[str, int] = field(default_factory=dict)
    known: frozenset[str] = field(default_factory=frozenset)
    unjudged: str = ""
    measured: tuple[Measured, ...] = ()
    strict: bool = False
    sizes: tuple[int, ...] = ()
    longest: int = 0
    cut: str = ""
    times: Mapping[str, float] = field(default_factory=dict, compare=False)

    @property
    def tried(self) -> str:
        """The capacities and the longest program, in two sentences; empty if nothing was run."""
        if not self.longest:
            return ""
        several = "Capacity" if len(self.sizes) == 1 else "Capacities"
        return (f"{several} tried: {', '.join(map(str, self.sizes))}; requests of the longest "
                f"program: {self.longest:,}. What shows only beyond these is unknown.")

    @property
    def verdict(self) -> str:
        """``violated`` (a rule, MUST or SHOULD, that is not known to be), ``error``, ``unknown``,
        ``not shown`` (nothing, or not all of what the target does not say it cannot) or
        ``passed``."""
        found = [result for result in self.results if result.rule.id not in self.known]
        if any(each.verdict == VIOLATED for each in found):
            return VIOLATED
        if self.error:
            return ERROR
        if self.unjudged or any(each.verdict in (FLAKY, UNKNOWN) for each in found):
            return UNKNOWN
        nothing = not any(each.verdict in (PASSED, VIOLATED) for each in self.results)
        lacking = any(each.verdict == NOT_SHOWN and (self.strict or not each.declared)
                      for each in found)
        return NOT_SHOWN if nothing or lacking else PASSED

    @property
    def tested_nothing(self) -> bool:
        """True if the target answered, and no rule applies to it."""
        return bool(self.cases) and not self.error and not self.refused and all(
            each.reason == NOT_OFFERED and not each.cases for each in self.results)

    @property
    def not_shown(self) -> Mapping[str, tuple[str, ...]]:
        """By reason, in the order of ``REASONS``, the ids of the rules that were not shown."""
        return {reason: ids for reason in REASONS if (ids := tuple(
            each.rule.id for each in self.results if each.reason == reason))}

    @property
    def fixtures(self) -> tuple[Fixture, ...]:
        """The shortest failure of each rule; the shortest of them first."""
        found = (each.fixture for each in self.results if each.fixture is not None)
        return tuple(sorted(found, key=lambda fixture: fixture.length))

    def those(self, verdict: str) -> tuple[str, ...]:
        """The ids of the rules with this verdict."""
        return tuple(each.rule.id for each in self.results if each.verdict == verdict)

    @property
    def no_longer_broken(self) -> tuple[str, ...]:
        """The ids of the rules that are listed as known to be broken and were exercised without a
        breach."""
        return tuple(each.rule.id for each in self.results
                     if each.rule.id in self.known and each.verdict == PASSED)


def known_rules(suite: str, names: Collection[str]) -> frozenset[str]:
    """The ids that a user gave, checked. Raises ``InputError`` for one that the suite lacks."""
    ids = [rule.id for rule in suite_named(suite).rules()]
    for name in names:
        if name not in ids:
            raise InputError(f"the suite {suite} has no rule {name!r}",
                             next_step=f"Its rules are {', '.join(ids)}.")
    return frozenset(names)


def summarise(
    suite: str, target: str, rows: Sequence[CaseRow], known: Collection[str] = (),
) -> Summary:
    """The summary of one target's rows: a result for each rule of the suite."""
    chosen = suite_named(suite)
    error = failure_in_words(rows)
    covered = coverage(chosen, rows)
    can = said_by(rows)
    results = [_result(chosen, target, rule, rows, covered.get(rule.id), can)
               for rule in chosen.rules()]
    causes = causes_of(chosen, rows)
    return Summary(
        suite, rows[0].suite_version if rows else "", target, len(rows),
        tuple(_behind(result, causes.get(result.rule.id, "")) for result in results),
        error, Counter(row.message for row in rows if row.verdict == REFUSED), frozenset(known),
        _unjudged(rows), tuple(_measured(each, rows) for each in chosen.measures),
        sizes=tuple(sorted({row.capacity for row in rows if row.longest})),
        longest=max((row.longest for row in rows), default=0),
    )


def seconds_by_rule(
    suite: str, rows: Sequence[CaseRow], spent: Mapping[int, float]
) -> dict[str, float]:
    """The seconds of each rule: of the cases that looked for it, and made the failures short that
    they found. Empty if the seconds of no case are known (see ``Summary``)."""
    chosen = suite_named(suite)
    applying = chosen.applicable(said_by(rows))
    times = dict.fromkeys((rule.id for rule in chosen.rules()), 0.0) if spent else {}
    for place, seconds in spent.items() if applying else ():
        times[focus_of(applying, place).id] += seconds
    return times


def _behind(result: RuleResult, cause: str) -> RuleResult:
    """A rule that was broken, as what follows from the cause of it, if there is one."""
    if not cause or result.verdict != VIOLATED:
        return result
    return replace(result, verdict=FOLLOWS, fixture=None, follows_from=(cause,), message=(
        f"follows from {cause} (with another reply where that is broken, nothing is)"))


def _measured(measure: Measure, rows: Sequence[CaseRow]) -> Measured:
    most: dict[int, int] = {}
    for row in rows:
        for capacity, measured in json.loads(row.measured).items():
            if measure.name in measured:
                found = measured[measure.name]
                most[int(capacity)] = max(found, most.get(int(capacity), found))
    return Measured(measure, most)


def _unjudged(rows: Sequence[CaseRow]) -> str:
    lost = [row for row in rows if row.verdict == UNKNOWN]
    if not lost:
        return ""
    return (f"{counted(len(lost), 'case')} of {len(rows)} could not be judged: case "
            f"{lost[0].case}, {lost[0].message}. {_MORE_CANDIDATES}")


_MORE_CANDIDATES = "Give a smaller capacity, or let it hold more states: --max-states."


def _result(
    suite: AnySuite, target: str, rule: Rule, rows: Sequence[CaseRow],
    covered: Coverage | None, can: Collection[str],
) -> RuleResult:
    """The verdict on a rule, by the first of these that is so: it was violated, by its shortest
    fixture, or flaky; it follows from another rule's breach; its machine lost track; it passed;
    else why it is not shown."""
    if covered is None:
        reason, declared, message = _inapplicable(suite, rule, rows, can)
        return RuleResult(target, suite.name, rule, NOT_SHOWN, message=message, reason=reason,
                          declared=declared)
    lacking = _lacking(suite.fuller.get(rule.id, ()), can)
    result = partial(RuleResult, target, suite.name, rule, cases=covered.cases,
                     not_looked_for=lacking)
    broken = [row for row in rows if row.rule == rule.id]
    for found in (VIOLATED, FLAKY):
        fixtures = [(read_fixture(row.fixture, "a row"), row.message)
                    for row in broken if row.verdict == found and row.fixture]
        if fixtures:
            shortest, message = min(fixtures, key=lambda each: each[0].length)
            return result(found, message=message, fixture=shortest)
    roots = _roots(rule, rows)
    if roots:
        return result(FOLLOWS, follows_from=roots, message=(
            f"follows from {' or '.join(roots)} (seen broken only after it)"))
    if covered.unjudged:
        return result(UNKNOWN, message=(
            f"its machine lost track in {counted(covered.unjudged, 'program')}. "
            f"{_MORE_CANDIDATES}"))
    failed = any(row.verdict == ERROR for row in rows) and not covered.suffices
    why = (TARGET_FAILED, False, "the target failed") if failed else _why_not_shown(
        suite, covered, lacking, can)
    if why is None:
        return result(PASSED)
    reason, declared, message = why
    return result(NOT_SHOWN, message=message, reason=reason, declared=declared)


def _roots(rule: Rule, rows: Sequence[CaseRow]) -> tuple[str, ...]:
    """The ids of the rules after which a rule was broken, each once, in the order of the cases."""
    followed = (json.loads(row.follows).get(rule.id) for row in rows)
    return tuple(dict.fromkeys(root for root in followed if root))


def _lacking(fuller: Sequence[Fuller], can: Collection[str]) -> tuple[Fuller, ...]:
    """The parts of a whole test that the target lacks. Without the operations the technique does
    not matter: nothing waits, and so nothing is woken."""
    lacking = tuple(each for each in fuller if not {*each.takes} & {*can})
    return tuple(each for each in lacking if not each.is_technique) or lacking


_Why = tuple[str, bool, str]
"""Why a rule was not shown: the reason, whether the target has declared it, and a line."""


def _why_not_shown(
    suite: AnySuite, covered: Coverage, lacking: Sequence[Fuller], can: Collection[str]
) -> _Why | None:
    """Why no breach of a rule says little; None if it was exercised enough, and in full."""
    rest = "; ".join(each.in_words() for each in lacking)
    hidden = any(each.is_technique for each in lacking)
    if covered.never:
        nothing = f"no step of {counted(covered.of, 'case')} could have broken it"
        if hidden:
            return TECHNIQUE, True, f"{nothing}; not looked for: {rest}"
        more = suite.takes_more.get(covered.rule.id)
        declared = f"{NO_OCCASION_FOR}{covered.rule.id}" in can
        said = ", as the target says" if declared else ""
        return NO_OCCASION, declared, f"{nothing}{said}{f'; that takes {more}' if more else ''}"
    if not covered.suffices:
        return TOO_FEW, False, covered.shortfall()
    if not lacking:
        return None
    return (TECHNIQUE if hidden else NOT_OFFERED), True, (
        f"a part of it was tested, in {counted(covered.cases, 'case')}, and not broken; not looked "
        f"for: {rest}")


def _inapplicable(
    suite: AnySuite, rule: Rule, rows: Sequence[CaseRow], can: Collection[str]
) -> _Why:
    """Why no case says anything of a rule."""
    if not rows:
        return TOO_FEW, False, "no case was run"
    if any(row.verdict == ERROR for row in rows) and all(
            row.verdict in (ERROR, REFUSED) for row in rows):
        return TARGET_FAILED, False, "the target failed"
    if all(row.verdict == REFUSED for row in rows):
        return NOT_OFFERED, False, "the target does not support the settings of any case"
    return NOT_OFFERED, True, f"it needs {'; and '.join(suite.missing(rule, can))}"
