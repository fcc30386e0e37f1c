"""The rows of one subject: a design, a suite on a target, a chapter.

Each imports its engine only when it is called: a gate of designs alone loads no suite.
"""

from __future__ import annotations

import json
import time
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from checkvalve.spec.notation.errors import CheckvalveError
from checkvalve.spec.notation.labels import counted

from ..computer.environment import missing_extra, usable_cores
from .config import Designs, Limits, Suite
from .places import place_in_design
from .report import Judgement, Row, judge

if TYPE_CHECKING:
    from checkvalve.spec.design.reading.language import Design
    from checkvalve.spec.design.why.findings import DesignReport, Finding
    from checkvalve.spec.verdicts.verdict import Budget
    from checkvalve.spec.verify import Row as Promise

    from ..campaigns.summary import RuleResult, Summary

__all__ = ["chapter_rows", "design_rows", "rows_of_design", "rows_of_summary", "suite_rows"]


def design_rows(subject: str, file: Path, designs: Designs) -> tuple[Row, ...]:
    """Check the designs of a file: a row for each property that its author expects something of.

    Each design has all the seconds that are allowed for one, of which reading takes its part.
    Raises Spent where the file is not read by then.
    """
    from checkvalve.spec.verdicts.deadline import Deadline
    from checkvalve.spec.verdicts.memory import limited_to

    from ..designs import load_designs

    limits, reading = designs.limits, Deadline(designs.limits.max_seconds)
    rows: list[Row] = []
    with limited_to(limits.max_memory):
        loaded = load_designs(file, deadline=reading)
        if limits.max_seconds is not None:
            left = limits.max_seconds - reading.spent() / len(loaded)
            limits = replace(limits, max_seconds=max(0.0, left))
        for design in loaded:
            which = subject if len(loaded) == 1 else f"{subject} ({design.name})"
            rows += rows_of_design(which, _checked(design, limits))
    return tuple(rows)


def _checked(design: Design, limits: Limits) -> DesignReport:
    """The report on a design, with a fix for what is violated and should not be."""
    from checkvalve.spec.design.check import Settings
    from checkvalve.spec.design.repairs.repair import with_repair

    from ..designs import check_design
    from ..designs.places import with_places

    running = _budget(limits).start()  # one for the check and for the search for a fix
    report = check_design(design, settings=Settings(budget=running))
    if not any(_is_wrong(found) for found in report.findings):
        return report
    return with_places(with_repair(report, running))


def rows_of_design(subject: str, report: DesignReport) -> tuple[Row, ...]:
    """A row for each property that was decided, of a design that was checked."""
    notes = {"assumed": list(report.design.assumed),
             "lints": list(report.lints),
             "possible": [[wait.task for wait in cycle.waits] for cycle in report.cycles
                          if not cycle.excluded],
             "all_cycles": report.all_cycles}
    return tuple(replace(_design_row(subject, report.design, found, notes), checked=report)
                 for found in report.findings)


def _is_wrong(found: Finding) -> bool:
    return found.outcome.value == "violated" and not found.as_expected


def _budget(limits: Limits) -> Budget:
    from checkvalve.spec.verdicts.verdict import Budget

    return Budget(limits.max_memory, limits.max_seconds, limits.max_states)


def _design_row(subject: str, design: Design, found: Finding, notes: dict[str, Any]) -> Row:
    """The row of one property of a design, with its counterexample and its place in the file where
    it is not as expected."""
    from checkvalve.spec.design.why.blocked import OF_A_POOL
    from checkvalve.spec.design.why.cycles import round_of

    verdict = found.outcome.value
    judgement = judge(found.expected or verdict, verdict)  # there may be no expectation
    way = f"{found.way}: {counted(len(found.steps), 'step')}" if found.steps else ""
    around = [wait.task for wait in round_of(found.cycle)]
    if around:
        way = f"{' -> '.join([*around, around[0]])} wait for each other; {way or 'at the start'}"
    as_expected = judgement == "as expected"
    return Row(
        "designs", subject, found.name, found.expected or "", verdict, judgement,
        "" if as_expected else found.reason or way, found.seconds,
        {**found.to_json(subject), **notes, "around": around,
         "pooled": any(wait.what in OF_A_POOL for wait in found.cycle)},
        _design_story(design, found) if _is_wrong(found) else (),
        None if as_expected else place_in_design(design, found),
    )


def _design_story(design: Design, found: Finding) -> tuple[str, ...]:
    """The steps, the waits, the cycle, and the fix with its patch."""
    from ..designs.text import repair_lines, violation_lines

    fix = () if found.repair is None else repair_lines(found.repair, design.file)
    return (*violation_lines(found, design), *fix)


def suite_rows(suite: Suite, target: str, strict: bool = False) -> tuple[Row, ...]:
    """Run one suite on one target: a row for each rule. ``strict``: one that is not shown counts,
    whatever the reason.

    Raises InputError for a suite, a rule or a target that cannot be used; an optional target
    that this machine cannot run is a row.
    """
    from checkvalve.spec.engines.monitor import STATES_MAX
    from checkvalve.spec.verdicts.deadline import Deadline
    from checkvalve.spec.verdicts.memory import limited_to

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
        timeout_seconds=suite.timeout, candidates=suite.limits.max_states or STATES_MAX),
        quick=suite.quick)
    engine = Engine(jobs=usable_cores(), thin=True, deadline=Deadline(suite.limits.max_seconds))
    with limited_to(suite.limits.max_memory):
        summary, _ = conduct(target, order, engine=engine, known=known)
    seconds = time.perf_counter() - began
    unshown = known_rules(suite.suite, suite.not_shown.get(target, ()))
    return rows_of_summary(summary, known, seconds, unshown, strict)


def rows_of_summary(
    summary: Summary, accepted: Collection[str], seconds: float,
    unshown: Collection[str] = (), strict: bool = False,
) -> tuple[Row, ...]:
    """A row for each rule of a suite that was run on a target in so many ``seconds``; where it did
    not come to that, one row for the reason. ``accepted`` are the ids of the rules that should be
    broken."""
    subject = f"{summary.suite} on {summary.target}"
    if summary.error:
        return (Row("suites", subject, "answers", "answers", "does not answer", "error",
                    summary.error, seconds, {"fault": "target"}),)
    if summary.tested_nothing:
        return (Row("suites", subject, "can be tested", "tested", "nothing applies", "unknown",
                    _NOTHING, seconds),)
    unjudged = () if not summary.unjudged else (
        Row("suites", subject, "can be judged", "judged", "lost track", "unknown",
            summary.unjudged, seconds, shares_time=True),)
    return unjudged + tuple(
        replace(_rule_row(subject, result, accepted, seconds, unshown, strict),
                own_seconds=summary.times.get(result.rule.id))
        for result in summary.results)


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
    details = {**result.to_json(), "fixture": fixture, "statement": result.rule.statement,
               "source": result.rule.source, "strength": result.rule.strength.value}
    story = _rule_story(result) if found == "violated" and judgement == "violated" else ()
    return Row("suites", subject, result.rule.id, "violated" if known else "no breach", found,
               judgement, message, seconds, details, story, shares_time=True)


def _rule_story(result: RuleResult) -> tuple[str, ...]:
    """The steps of the shortest failure, the sentence that they break, and its source."""
    steps = [] if result.fixture is None else result.fixture.story()
    says = [] if steps else [
        f"{result.rule.id} ({result.rule.strength.value}): {result.rule.statement}"]
    return tuple(f"  {line}" for line in (*steps, *says, f"Source: {result.rule.source}"))


_STALE = ("It is listed under `known`, and no case broke it: take it off the list, or raise "
          "`cases`.")
_SHOWN = "It is listed under `not_shown`, and it was shown: take it off the list."


def chapter_rows(name: str, limits: Limits) -> tuple[Row, ...]:
    """Verify the chapters that ``name`` selects, each search within ``limits``: a row for each
    promise and its constants."""
    from checkvalve.spec.chapters import chapters
    from checkvalve.spec.verdicts.memory import limited_to
    from checkvalve.spec.verify import verify

    with limited_to(limits.max_memory):
        return tuple(_chapter_row(name, found)
                     for found in verify(chapters([name]), _budget(limits)))


def _chapter_row(name: str, found: Promise) -> Row:
    constants = ", ".join(f"{key} {value}" for key, value in found.constants.items())
    verdict = found.verdict
    judgement = judge(found.expected, verdict.outcome.value)
    return Row(
        "chapters", name, f"{found.machine} {found.rule} [{constants}]", found.expected,
        verdict.outcome.value, judgement, "" if judgement == "as expected" else verdict.reason,
        verdict.seconds, found.to_json(),
    )
