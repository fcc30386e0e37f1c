"""The rows of one subject: a design, a suite on a target, a chapter.

Each imports its engine only when it is called: a gate of designs alone loads no suite.
"""

from __future__ import annotations

import json
import time
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from checkvalve.spec.notation.errors import CheckvalveError
from checkvalve.spec.notation.labels import counted

from ..computer.environment import missing_extra, usable_cores
from .config import Designs, Limits, Suite
from .report import Judgement, Row, judge

if TYPE_CHECKING:
    from checkvalve.spec.design.why.findings import Finding
    from checkvalve.spec.verdicts.verdict import Budget
    from checkvalve.spec.verify import Row as Promise

    from ..campaigns.summary import RuleResult

__all__ = ["chapter_rows", "design_rows", "suite_rows"]


def design_rows(subject: str, file: Path, designs: Designs) -> tuple[Row, ...]:
    """Check the designs of a file: a row for each property that its author expects something of.

    Each design has all the seconds that are allowed for one.
    """
    from checkvalve.spec.design.reading.lints import lints

    from ..designs import check_design, load_designs

    loaded = load_designs(file)
    rows: list[Row] = []
    for design in loaded:
        report = check_design(design, _budget(designs.limits))
        which = subject if len(loaded) == 1 else f"{subject} ({design.name})"
        notes = {"assumed": list(design.assumed),
                 "lints": [lint.to_json() for lint in lints(design)]}
        rows += [_design_row(which, found, notes) for found in report.findings]
    return tuple(rows)


def _budget(limits: Limits) -> Budget:
    from checkvalve.spec.verdicts.verdict import Budget

    return Budget(limits.max_memory, limits.max_seconds, limits.max_states)


def _design_row(subject: str, found: Finding, notes: dict[str, Any]) -> Row:
    verdict = found.outcome.value
    judgement = judge(found.expected or verdict, verdict)  # there may be no expectation
    way = f"{found.way} has {counted(len(found.steps), 'step')}:" if found.steps else ""
    return Row(
        "designs", subject, found.name, found.expected or "", verdict, judgement,
        "" if judgement == "as expected" else found.reason or way, found.seconds,
        {**found.to_json(subject), **notes},
    )


def suite_rows(suite: Suite, target: str, strict: bool = False) -> tuple[Row, ...]:
    """Run one suite on one target: a row for each rule. ``strict``: one that is not shown counts,
    whatever the reason.

    Raises InputError for a suite, a rule or a target that cannot be used; an optional target
    that this machine cannot run is a row.
    """
    from checkvalve.spec.verdicts.deadline import Deadline

    from ..campaigns.case import RunSettings
    from ..campaigns.summary import known_rules
    from ..engines.conduct import Engine, Order, conduct

    subject = f"{suite.suite} on {target}"
    known = known_rules(suite.suite, suite.known.get(target, ()))
    lack = _why_unavailable(suite, target) if target in suite.optional else ""
    if lack:
        return (Row("suites", subject, "can be run", "runs", "cannot be run here",
                    "unavailable", lack),)
    began = time.perf_counter()
    order = Order(suite.suite, suite.cases, suite.seed, RunSettings(
        timeout_seconds=suite.timeout, candidates=suite.candidates), quick=suite.quick)
    engine = Engine(jobs=usable_cores(), thin=True, deadline=Deadline(suite.max_seconds))
    summary, _ = conduct(target, order, engine=engine, known=known)
    each = (time.perf_counter() - began) / len(summary.results)
    if summary.error:
        return (Row("suites", subject, "answers", "answers", "does not answer", "error",
                    summary.error, each * len(summary.results), {"fault": "target"}),)
    if summary.tested_nothing:
        return (Row("suites", subject, "can be tested", "tested", "nothing applies", "unknown",
                    _NOTHING, each * len(summary.results)),)
    unjudged = () if not summary.unjudged else (
        Row("suites", subject, "can be judged", "judged", "lost track", "unknown",
            summary.unjudged),)
    unshown = known_rules(suite.suite, suite.not_shown.get(target, ()))
    return unjudged + tuple(
        _rule_row(subject, result, known, each, unshown, strict) for result in summary.results)


_NOTHING = ("no rule applies to what the target says that it can do: let its adapter offer more of "
            "the port's operations, and name them in `can`")


def _why_unavailable(suite: Suite, target: str) -> str:
    """Why this machine cannot run ``target``; empty if it can."""
    from ..suites.run import capabilities
    from ..systems.catalogue import suite_named
    from ..systems.targets import resolve_target

    try:
        opened = resolve_target(target, timeout=suite.timeout)
        chosen = suite_named(suite.suite)
        capabilities(chosen, opened, *dict.fromkeys((1, *chosen.capacities)))
    except ImportError as error:
        return str(missing_extra(error) or error)
    except CheckvalveError as error:
        return str(error)
    return ""


def _rule_row(
    subject: str, result: RuleResult, accepted: Collection[str], seconds: float,
    unshown: Collection[str] = (), strict: bool = False,
) -> Row:
    """The row of one rule: a breach is expected of those accepted, and of no other; a known
    breach covers what follows from it. Of those ``unshown`` nothing is expected to be shown."""
    from ..campaigns.summary import FOLLOWS
    from ..suites.results import FLAKY, NOT_SHOWN, PASSED, UNKNOWN

    known = result.rule.id in accepted
    found = result.verdict
    message = result.message
    judgement: Judgement = "as expected"
    if found == FOLLOWS and (known or set(result.follows_from) <= set(accepted)):
        message = f"{message}, which is known"
    elif found == FOLLOWS:
        judgement, message = "follows", f"{message}, whose row decides"
    elif known and found != "violated":
        judgement, message = "violated", _STALE
    elif found == NOT_SHOWN:
        said = result.declared or result.rule.id in unshown
        judgement = "not shown" if said and not strict else "unknown"
        message = f"{result.reason}: {message}"
    elif found == PASSED and result.rule.id in unshown:
        judgement, message = "violated", _SHOWN
    elif found in (FLAKY, UNKNOWN):
        judgement = "unknown"
    elif found == "violated" and not known:
        judgement, message = "violated", f"{result.rule.strength.value}: {message}"
    else:
        message = ""
    fixture = None if result.fixture is None else json.loads(result.fixture.to_json())
    return Row("suites", subject, result.rule.id, "violated" if known else "no breach", found,
               judgement, message, seconds, {**result.to_json(), "fixture": fixture})


_STALE = ("It is listed under `known`, and no case broke it: take it off the list, or raise "
          "`cases`.")
_SHOWN = "It is listed under `not_shown`, and it was shown: take it off the list."


def chapter_rows(name: str, limits: Limits) -> tuple[Row, ...]:
    """Verify the chapters that ``name`` selects, each search within ``limits``: a row for each
    promise and its constants."""
    from checkvalve.spec.chapters import chapters
    from checkvalve.spec.verify import verify

    return tuple(_chapter_row(name, found) for found in verify(chapters([name]), _budget(limits)))


def _chapter_row(name: str, found: Promise) -> Row:
    constants = ", ".join(f"{key} {value}" for key, value in found.constants.items())
    verdict = found.verdict
    judgement = judge(found.expected, verdict.outcome.value)
    return Row(
        "chapters", name, f"{found.machine} {found.rule} [{constants}]", found.expected,
        verdict.outcome.value, judgement, "" if judgement == "as expected" else verdict.reason,
        verdict.seconds, found.to_json(),
    )
