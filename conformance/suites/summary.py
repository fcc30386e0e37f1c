"""From rows to verdicts: what the cases of a run say about each rule of the suite."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...spec.notation.errors import InputError
from ...spec.notation.labels import counted
from ...spec.notation.rules import Rule
from ..results import ERROR, FLAKY, PASSED, REFUSED, VIOLATED, CaseRow
from .catalogue import suite_named
from .fixture import Fixture, read_fixture
from .suite import AnySuite

__all__ = [
    "NOT_APPLICABLE", "NOT_EXERCISED", "NOT_RUN", "RuleResult", "Summary", "known_rules",
    "summarise",
]

NOT_APPLICABLE, NOT_EXERCISED, NOT_RUN = "not applicable", "not exercised", "not run"


@dataclass(frozen=True)
class RuleResult:
    """What a run says about one rule.

    ``passed`` means that no breach was found in ``cases`` cases, in whose ``steps`` steps
    another answer would have broken the rule: a sample, never a proof. ``not exercised``:
    no step could have broken it. ``not applicable``: the target lacks what it takes.
    ``fixture`` is the shortest failure found; ``message`` is one line about the verdict.
    """

    target: str
    suite: str
    rule: Rule
    verdict: str
    cases: int = 0
    steps: int = 0
    message: str = ""
    fixture: Fixture | None = None

    def to_json(self, saved_as: str | None = None) -> dict[str, Any]:
        """The row of ``conform --json``; ``saved_as`` is where the fixture was written."""
        return {
            "target": self.target, "suite": self.suite, "rule": self.rule.id,
            "verdict": self.verdict, "cases": self.cases, "steps": self.steps,
            "fixture": saved_as,
        }


@dataclass(frozen=True)
class Summary:
    """What a run says about a target.

    ``known`` are the ids of rules known to be broken; ``refused`` counts the cases that were
    not applicable, by the words for it.
    """

    suite: str
    suite_version: str
    target: str
    cases: int
    results: tuple[RuleResult, ...]
    error: str = ""
    refused: Mapping[str, int] = field(default_factory=dict)
    known: frozenset[str] = field(default_factory=frozenset)

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
        return "unknown" if nothing or any(each.verdict == FLAKY for each in found) else PASSED

    @property
    def reservation(self) -> str:
        """Why a pass of this run is worth less than others, to stand after ``passed``; or empty."""
        verdicts = [each.verdict for each in self.results if each.verdict != NOT_APPLICABLE]
        if self.cases < len(verdicts):
            return f"by few cases ({self.cases} for {counted(len(verdicts), 'rule')})"
        return "with little exercised" if 2 * len(self.not_exercised) >= len(verdicts) else ""

    @property
    def not_exercised(self) -> tuple[str, ...]:
        """The ids of the rules that apply and that no step could have broken."""
        return tuple(each.rule.id for each in self.results if each.verdict == NOT_EXERCISED)

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
    counts = [json.loads(row.exercised) for row in rows]
    return Summary(
        suite, rows[0].suite_version if rows else "", target, len(rows),
        tuple(_result(chosen, target, rule, rows, counts) for rule in chosen.rules()),
        error, Counter(row.message for row in rows if row.verdict == REFUSED), frozenset(known),
    )


def _result(
    suite: AnySuite, target: str, rule: Rule, rows: Sequence[CaseRow],
    counts: Sequence[Mapping[str, int]],
) -> RuleResult:
    cases = sum(bool(count.get(rule.id)) for count in counts)
    steps = sum(count.get(rule.id, 0) for count in counts)
    broken = [row for row in rows if row.rule == rule.id]
    fixtures = [read_fixture(row.fixture, "a row") for row in broken if row.verdict == VIOLATED]
    if fixtures:
        shortest = min(fixtures, key=lambda fixture: fixture.length)
        return RuleResult(target, suite.name, rule, VIOLATED, cases, steps,
                          shortest.headline(), shortest)
    if broken:
        return RuleResult(target, suite.name, rule, FLAKY, cases, steps, broken[0].message)
    if steps:
        return RuleResult(target, suite.name, rule, PASSED, cases, steps)
    verdict, message = _silent(suite, rule, rows, counts)
    return RuleResult(target, suite.name, rule, verdict, message=message)


def _silent(
    suite: AnySuite, rule: Rule, rows: Sequence[CaseRow], counts: Sequence[Mapping[str, int]]
) -> tuple[str, str]:
    """The verdict on a rule that no step could have broken, and why."""
    if rows and all(row.verdict == ERROR for row in rows):
        return NOT_RUN, "the target failed"
    if rows and all(row.verdict in (ERROR, REFUSED) for row in rows):
        return NOT_RUN, "the target does not support the settings of any case"
    if any(rule.id in count for count in counts):
        more = suite.takes_more.get(rule.id)
        takes = f"; that takes {more}" if more else ""
        return NOT_EXERCISED, f"no step of these cases could have broken it{takes}"
    return NOT_APPLICABLE, f"it needs {'; and '.join(suite.missing(rule, ()))}"
