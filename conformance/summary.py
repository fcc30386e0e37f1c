"""From the rows of a run to one finding for each rule."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from .results import ERROR, FLAKY, VIOLATED, CaseRow

if TYPE_CHECKING:
    from .suites.suite import Suite

__all__ = ["RuleFinding", "Word", "errors_of_target", "summarise"]

Word = Literal["passed", "violated", "flaky", "not tried", "not applicable"]
"""*passed*: no case broke the rule, and some could have; *not tried*: none could have;
*not applicable*: the target lacks operations that the rule is about; *flaky*: the same
program broke the rule in some of its runs."""


@dataclass(frozen=True)
class RuleFinding:
    """What a run found on one rule.

    ``steps`` counts the steps that could have broken it, ``cases`` the cases of the run.
    ``message`` and ``fixture`` (JSON text) are those of the shortest failure, or empty.
    """

    target: str
    suite: str
    rule: str
    verdict: Word
    cases: int
    steps: int
    message: str = ""
    fixture: str = ""


def summarise(suite: Suite, target: str, rows: Sequence[CaseRow]) -> tuple[RuleFinding, ...]:
    """One finding for each rule of the suite, in the order of their numbers."""
    tried: Counter[str] = Counter()
    for row in rows:
        tried.update(json.loads(row.exercised))
    return tuple(_finding(suite, target, rule.id, rows, tried) for rule in suite.rules())


def _finding(
    suite: Suite, target: str, rule: str, rows: Sequence[CaseRow], tried: Counter[str]
) -> RuleFinding:
    of_rule = [row for row in rows if row.rule == rule]
    broken = [row for row in of_rule if row.verdict == VIOLATED]
    shown = min(broken or of_rule, key=lambda row: (len(row.fixture), row.case), default=None)
    word: Word = "passed"
    if broken:
        word = "violated"
    elif any(row.verdict == FLAKY for row in of_rule):
        word = "flaky"
    elif not tried[rule]:
        # The Counter has a key, with 0, for every rule that applies to the target.
        word = "not tried" if rule in tried else "not applicable"
    return RuleFinding(
        target, suite.name, rule, word, len(rows), tried[rule],
        shown.message if shown else "", shown.fixture if shown else "",
    )


def errors_of_target(rows: Sequence[CaseRow]) -> list[CaseRow]:
    """The rows of the cases in which the target could not be talked to."""
    return [row for row in rows if row.verdict == ERROR]
