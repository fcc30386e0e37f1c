"""From rows to verdicts: what the cases of a run say about each rule of the suite."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from ...spec.notation.errors import InputError
from ...spec.notation.labels import counted
from ...spec.notation.rules import Rule
from ..results import ERROR, FLAKY, PASSED, REFUSED, UNKNOWN, VIOLATED, CaseRow
from ..suites.fixture import Fixture, read_fixture
from ..suites.suite import AnySuite, Fuller, Measure
from ..systems.catalogue import suite_named
from .enough import Coverage, coverage

__all__ = [
    "FOLLOWS", "NOT_APPLICABLE", "NOT_EXERCISED", "NOT_RUN", "Measured", "RuleResult", "Summary",
    "known_rules", "summarise",
]

FOLLOWS: Final = "follows"
"""The verdict on a rule that was only seen to break after another one in the same run."""

NOT_APPLICABLE, NOT_EXERCISED, NOT_RUN = "not applicable", "not exercised", "not run"


@dataclass(frozen=True)
class RuleResult:
    """What a run says about one rule.

    ``passed`` means that no breach was found in ``cases`` cases, in whose ``steps`` steps
    another answer would have broken the rule, and that these are enough (see enough.py): a
    sample, never a proof. ``unknown``: they are too few, or some could not be judged.
    ``follows``: it was broken, but each time after a rule of ``follows_from`` in the same run,
    which may be why. ``not exercised``: the target gives no occasion to break it.
    ``not applicable``: it lacks what the rule takes. ``fixture`` is the shortest failure
    found; ``message`` is one line about the verdict; ``not_looked_for`` is what the target
    lacks operations for.
    """

    target: str
    suite: str
    rule: Rule
    verdict: str
    cases: int = 0
    steps: int = 0
    message: str = ""
    fixture: Fixture | None = None
    not_looked_for: tuple[Fuller, ...] = ()
    follows_from: tuple[str, ...] = ()

    def to_json(self, saved_as: str | None = None) -> dict[str, Any]:
        """The row of ``conform --json``; ``saved_as`` is where the fixture was written."""
        return {
            "target": self.target, "suite": self.suite, "rule": self.rule.id,
            "verdict": self.verdict, "cases": self.cases, "steps": self.steps,
            "fixture": saved_as, "message": self.message,
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
    """What a run says about a target.

    ``known`` are the ids of rules known to be broken; ``refused`` counts the cases that were
    not applicable, by the words for it; ``unjudged`` says of how many cases a part could not be
    judged, if any, and what to do. ``measured`` has the suite's measures, in their order.
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

    @property
    def verdict(self) -> str:
        """``violated`` (a rule, MUST or SHOULD, that is not known to be), ``error``, ``unknown``
        or ``passed``."""
        found = [result for result in self.results if result.rule.id not in self.known]
        if any(each.verdict == VIOLATED for each in found):
            return VIOLATED
        if self.error:
            return ERROR
        nothing = not any(each.verdict in (PASSED, VIOLATED) for each in self.results)
        undecided = any(each.verdict in (FLAKY, UNKNOWN) for each in found)
        return UNKNOWN if nothing or undecided or self.unjudged else PASSED

    @property
    def tested_nothing(self) -> bool:
        """Whether the target answered, and no rule applies to it."""
        return bool(self.cases) and not self.error and all(
            each.verdict == NOT_APPLICABLE for each in self.results)

    @property
    def reservation(self) -> str:
        """Why a pass of this run is worth less than others, to stand after ``passed``; or empty."""
        rules = [each for each in self.results if each.verdict != NOT_APPLICABLE]
        if self.cases < len(rules):
            return f"by few cases ({self.cases} for {counted(len(rules), 'rule')})"
        weaker = [each.rule.id for each in rules if each.not_looked_for]
        parts = [f"{', '.join(weaker)} in a weaker form"] if weaker else []
        parts += [f"{each.rule.id} {each.message}" for each in rules if each.verdict == FOLLOWS]
        return f"in part ({'; '.join(parts)})" if parts else ""

    @property
    def not_exercised(self) -> tuple[str, ...]:
        """The ids of the rules that the target gives no occasion to break."""
        return self._those(NOT_EXERCISED)

    @property
    def unknown(self) -> tuple[str, ...]:
        """The ids of the rules that apply and were exercised or judged too little."""
        return self._those(UNKNOWN)

    def _those(self, verdict: str) -> tuple[str, ...]:
        return tuple(each.rule.id for each in self.results if each.verdict == verdict)

    @property
    def no_longer_broken(self) -> tuple[str, ...]:
        """The ids of the rules that are said to be broken and were exercised without a breach."""
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
    """What the rows of one target say about each rule of the suite."""
    chosen = suite_named(suite)
    errors = [row.message for row in rows if row.verdict == ERROR]
    error = "" if not errors else f"{errors[0]} ({len(errors)} of {counted(len(rows), 'case')})"
    covered = coverage(chosen, rows)
    told: Iterator[list[str]] = (json.loads(row.can) for row in rows)
    can = next(filter(None, told), [])
    return Summary(
        suite, rows[0].suite_version if rows else "", target, len(rows),
        tuple(
            _result(chosen, target, rule, rows, covered.get(rule.id), can)
            for rule in chosen.rules()),
        error, Counter(row.message for row in rows if row.verdict == REFUSED), frozenset(known),
        _unjudged(rows), tuple(_measured(each, rows) for each in chosen.measures),
    )


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


_MORE_CANDIDATES = "Give a smaller capacity, or let it hold more states: --candidates."


def _result(
    suite: AnySuite, target: str, rule: Rule, rows: Sequence[CaseRow],
    covered: Coverage | None, can: Collection[str],
) -> RuleResult:
    if covered is None:
        verdict, message = _inapplicable(suite, rule, rows, can)
        return RuleResult(target, suite.name, rule, verdict, message=message)
    lacking = tuple(each for each in suite.fuller.get(rule.id, ())
                    if not any(name in can for name in each.takes))
    result = partial(RuleResult, target, suite.name, rule, cases=covered.cases,
                     steps=covered.steps, not_looked_for=lacking)
    broken = [row for row in rows if row.rule == rule.id]
    for found in (VIOLATED, FLAKY):
        fixtures = [(read_fixture(row.fixture, "a row"), row.message)
                    for row in broken if row.verdict == found]
        if fixtures:
            shortest, message = min(fixtures, key=lambda each: each[0].length)
            return result(found, message=message, fixture=shortest)
    roots = _roots(rule, rows)
    if roots:
        return result(FOLLOWS, message=f"follows from {' or '.join(roots)}", follows_from=roots)
    verdict, message = _unbroken(suite, covered, lacking)
    return result(verdict, message=message)


def _roots(rule: Rule, rows: Sequence[CaseRow]) -> tuple[str, ...]:
    """The ids of the rules after which a rule was broken, each once, in the order of the cases."""
    followed = (json.loads(row.follows).get(rule.id) for row in rows)
    return tuple(dict.fromkeys(root for root in followed if root))


def _unbroken(
    suite: AnySuite, covered: Coverage, lacking: Sequence[Fuller]
) -> tuple[str, str]:
    """The verdict on a rule of which no breach was seen, and why."""
    more = suite.takes_more.get(covered.rule.id)
    takes = f"; that takes {more}" if more else ""
    if covered.unjudged:
        return UNKNOWN, (f"its machine lost track in {counted(covered.unjudged, 'program')}. "
                         f"{_MORE_CANDIDATES}")
    if covered.without_occasion:
        cases = counted(covered.of, "case")
        return NOT_EXERCISED, f"no step of {cases} could have broken it{takes}"
    if not covered.suffices:
        return UNKNOWN, f"{covered.shortfall()}{'' if covered.cases else takes}"
    if not lacking:
        return PASSED, ""
    return PASSED, f"not looked for: {'; '.join(each.in_words() for each in lacking)}"


def _inapplicable(
    suite: AnySuite, rule: Rule, rows: Sequence[CaseRow], can: Collection[str]
) -> tuple[str, str]:
    """The verdict on a rule of which no case says anything, and why."""
    if rows and all(row.verdict == ERROR for row in rows):
        return NOT_RUN, "the target failed"
    if rows and all(row.verdict in (ERROR, REFUSED) for row in rows):
        return NOT_RUN, "the target does not support the settings of any case"
    return NOT_APPLICABLE, f"it needs {'; and '.join(suite.missing(rule, can))}"
