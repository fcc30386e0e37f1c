"""The rows of a gate and of the rule book, as sections of a page."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from ..gate.report import Judgement, Report
from ..gate.report import Row as GateRow
from ..suites.fixture import Fixture
from .page import Line, Section
from .suites import MOST_BYTES, fixture_run

if TYPE_CHECKING:
    from checkvalve.spec.verify import Row as Promise

__all__ = ["chapter_section", "gate_sections"]

_MARKS: dict[Judgement, str] = {
    "as expected": "ok", "violated": "fail", "error": "fail", "unknown": "unknown",
    "follows": "plain", "not shown": "plain", "unavailable": "plain",
    "accepted": "accepted"}


def gate_sections(report: Report) -> list[Section]:
    """A section for each subject of a gate."""
    return [_gate_section(subject, list(rows), report, f"g{number}")
            for number, ((_, subject), rows) in enumerate(groupby(
                report.rows, key=lambda row: (row.section, row.subject)))]


def _gate_section(subject: str, rows: list[GateRow], report: Report, mark: str) -> Section:
    """The section of one subject in the gate's page: its rows, the failures to step through, and
    drawings of a design."""
    fixtures = [Fixture(row.details["fixture"]) for row in rows if row.details.get("fixture")]
    ways = [(f"{row.title()}: the steps", "\n".join(way)) for row in rows if (way := row.story)]
    again = f"checkvalve gate {shlex.quote(report.config)}"
    runs = [fixture_run(
        fixture, str(fixture.document.get("found_on", {}).get("target", "target")),
        MOST_BYTES // len(fixtures)) for fixture in fixtures]
    drawings: tuple[str, ...] = ()
    checked = rows[0].checked
    if checked is not None and any(_MARKS[row.judgement] == "fail" for row in rows):
        from .designs import section
        shown = section(checked, mark)
        runs, drawings = list(shown.runs), shown.drawings
    return Section(
        subject, rows[0].section,
        lines=tuple(Line(_MARKS[row.judgement], row.title(), _words(row), row.message.rstrip(":"))
                    for row in rows),
        runs=tuple(runs), drawings=drawings,
        more=tuple(ways), repeat=again, notes=tuple(line.strip() for line in rows[0].notes()))


def _words(row: GateRow) -> str:
    wanted = "" if row.judgement == "as expected" or not row.expected else (
        f", expected {row.wanted()}")
    return f"{row.found if row.judgement in ('unavailable', 'error') else _found(row)}{wanted}"


def _found(row: GateRow) -> str:
    return row.claim().removeprefix(f"{row.title()}: ")


def chapter_section(rows: Sequence[Promise], summary: str) -> Section:
    """The section on one promise of a chapter with all its constants; ``summary`` is that of the
    terminal."""
    first, _, rest = summary.partition("\n")
    wrong = [row for row in rows if not row.as_expected]
    unknown = wrong and all(row.verdict.outcome.value == "unknown" for row in wrong)
    mark = "unknown" if unknown else "fail" if wrong else "ok"
    shown = next((row for row in rows if row.verdict.trace is not None), None)
    name = f"{rows[0].chapter}.{rows[0].machine}".rstrip(".")
    return Section(
        f"{name} {rows[0].rule}", lines=(Line(mark, first[5:].strip(), rest.strip()),),
        runs=() if shown is None else (_trace(shown),),
        repeat=f"checkvalve verify {shlex.quote(rows[0].chapter)}")


def _trace(row: Promise) -> dict[str, Any]:
    """The run of a machine: its steps and what each changes."""
    from checkvalve.spec.engines.report import changes

    trace = row.verdict.trace
    assert trace is not None
    moves, before = [], trace.initial
    for step in trace.steps:
        moves.append({"label": step.label, "changes": changes(before, step.state, row.slots),
                      "shows": list(step.shows)})
        before = step.state
    constants = ", ".join(f"{name} {value}" for name, value in row.constants.items())
    return {
        "kind": "machine", "about": f"{row.rule} [{constants}]", "drawing": None,
        "length": len(moves), "shortest": True, "lanes": [], "moves": moves,
        "steps": list(range(len(moves))), "known": True, "loop": trace.loop, "blocked": None,
        "reason": row.verdict.reason.rstrip("."),
    }
