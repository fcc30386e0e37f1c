"""The rows of one subject: a design, a suite on a target, a chapter.

Each imports its engine only when it is called: a gate of designs alone loads no suite.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from checkvalve.spec.notation.errors import CheckvalveError, InputError

from ..environment import missing_extra, usable_cores
from ..results import CaseRow
from .config import Designs, Suite
from .report import Row, judge

if TYPE_CHECKING:
    from checkvalve.spec.design.findings import Finding
    from checkvalve.spec.verify import Row as Promise

    from ..summary import RuleFinding

__all__ = ["chapter_rows", "design_rows", "suite_rows"]


def design_rows(subject: str, file: Path, designs: Designs) -> tuple[Row, ...]:
    """Check one design: a row for each property that its author expects something of."""
    from checkvalve.spec.engines.verdict import Budget

    from ..designs import check_file

    report = check_file(file, Budget(max_seconds=designs.max_seconds))
    return tuple(_design_row(subject, found) for found in report.findings)


def _design_row(subject: str, found: Finding) -> Row:
    verdict = found.outcome.value
    judgement = judge(found.expected, verdict)
    way = f"the shortest way there: {', '.join(found.steps)}" if found.steps else ""
    return Row(
        "designs", subject, found.property, found.expected, verdict, judgement,
        "" if judgement == "as expected" else found.reason or way, found.seconds,
        found.to_json(subject),
    )


def suite_rows(suite: Suite, target: str) -> tuple[Row, ...]:
    """Run one suite on one target: a row for each rule that applies to it.

    Raises InputError for a suite, a rule or a target that cannot be used; an optional target
    that this machine cannot run is a row.
    """
    from ..engines.local import run_locally
    from ..suites import RunSettings, plan, suite_named
    from ..summary import errors_of_target, summarise

    book = suite_named(suite.suite)
    subject, known = f"{suite.suite} on {target}", suite.known.get(target, ())
    _check_rules(known, [rule.id for rule in book.rules()])
    lack = _why_unavailable(suite, target) if target in suite.optional else ""
    if lack:
        return (Row("suites", subject, "can be run", "runs", "not here", "unavailable", lack),)
    began = time.perf_counter()
    cases = plan(suite.suite, cases=suite.cases, seed=suite.seed)
    settings = RunSettings(timeout_seconds=suite.timeout)
    rows = run_locally(suite.suite, target, cases, settings, jobs=usable_cores())
    found = summarise(book, target, rows)
    each = (time.perf_counter() - began) / len(found)
    failed = [_error_row(subject, row) for row in errors_of_target(rows)[:1]]
    return (*failed, *(
        _rule_row(subject, finding, "violated" if finding.rule in known else "passed", each)
        for finding in found if finding.verdict != "not applicable" or finding.rule in known
    ))


def _check_rules(known: Sequence[str], rules: Sequence[str]) -> None:
    for rule in known:
        if rule not in rules:
            raise InputError(f"`known` names {rule!r}, which is no rule of this suite", "",
                             f"Its rules are {', '.join(rules)}.")


def _why_unavailable(suite: Suite, target: str) -> str:
    """Why this machine cannot run ``target``; empty if it can."""
    from ..suites import suite_named
    from ..suites.run import capabilities
    from ..targets import resolve_target

    try:
        opened = resolve_target(target, timeout=suite.timeout)
        capabilities(suite_named(suite.suite), opened, 1)
    except ImportError as error:
        return str(missing_extra(error) or error)
    except CheckvalveError as error:
        return str(error)
    return ""


def _error_row(subject: str, row: CaseRow) -> Row:
    return Row("suites", subject, "answers", "answers", "does not answer", "error", row.message,
               details=asdict(row))


_JUDGED_BY_COMPARISON = ("passed", "violated")


def _rule_row(subject: str, finding: RuleFinding, expected: str, seconds: float) -> Row:
    """The row of one rule. What was not tried, or not the same each time, is unknown."""
    judgement = (judge(expected, finding.verdict)
                 if finding.verdict in _JUDGED_BY_COMPARISON else "unknown")
    message = "" if judgement == "as expected" else finding.message or _ADVICE[finding.verdict]
    return Row("suites", subject, finding.rule, expected, finding.verdict, judgement, message,
               seconds, asdict(finding))


_ADVICE = {
    "passed": "It is listed under `known`, and no case broke it: take it off the list, or raise "
              "`cases`.",
    "not tried": "No step of any case could have broken it: raise `cases`.",
    "not applicable": "It is listed under `known`, and this target lacks what it is about.",
    "violated": "", "flaky": "",
}


def chapter_rows(name: str) -> tuple[Row, ...]:
    """Verify the chapters that ``name`` selects: a row for each promise and its constants."""
    from checkvalve.spec.chapters import chapters
    from checkvalve.spec.verify import verify

    return tuple(_chapter_row(name, found) for found in verify(chapters([name])))


def _chapter_row(name: str, found: Promise) -> Row:
    constants = ", ".join(f"{key} {value}" for key, value in found.constants.items())
    verdict = found.verdict
    judgement = judge(found.expected, verdict.outcome.value)
    return Row(
        "chapters", name, f"{found.machine} {found.rule} [{constants}]", found.expected,
        verdict.outcome.value, judgement, "" if judgement == "as expected" else verdict.reason,
        verdict.seconds, found.to_json(),
    )
