"""A report on a design as a section of a page."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import Any

from checkvalve.spec.design.drawing.svg import draw_to_step_through
from checkvalve.spec.design.drawing.folding import boxes_of
from checkvalve.spec.design.reading.language import Design
from checkvalve.spec.design.reading.properties import fact
from checkvalve.spec.design.why.findings import DesignReport, Finding
from checkvalve.spec.verdicts.deadline import Deadline, Spent
from checkvalve.spec.verdicts.verdict import Outcome

from ..designs.text import notes, repair_lines, violation_lines
from ..designs.wording import verdict
from .page import Line, Section
from .runs import run_of

__all__ = ["section"]

MOST_DRAWN = 250
"""Boxes of a design that is drawn, where alike members are one: a larger drawing could not be read
in a page."""
MOST_SECONDS = 6.0
"""Seconds that drawings and steps of one design may take where no budget says otherwise."""


def section(report: DesignReport, mark: str, deadline: Deadline | None = None) -> Section:
    """The section on a design. ``mark`` sets its drawings apart from those of other designs; they
    and the steps are left out where they are not made by the ``deadline``, or in ``MOST_SECONDS``.
    """
    design = report.design
    shown = [finding for finding in report.findings
             if finding.outcome is Outcome.VIOLATED and (finding.length or finding.waits)]
    until = deadline or Deadline(MOST_SECONDS)
    drawings, why = _drawings(design, shown or list(report.findings[:1]), mark, until)
    runs, missing = _runs(design, shown, bool(drawings), until)
    return Section(
        design.name, design.file, design.about.strip(),
        tuple(Line(_mark(finding), fact(finding.name), verdict(finding))
              for finding in report.findings),
        runs, drawings, tuple(_runs_of_a_net(report) if design.net_alone else _fixes(report)),
        _command(report),
        tuple(line.strip() for line in notes(
            design.assumed, report.lints)) + why + missing)


def _runs(
    design: Design, findings: Sequence[Finding], are_drawn: bool, deadline: Deadline
) -> tuple[tuple[dict[str, Any], ...], tuple[str, ...]]:
    """The steps of each finding, or none at all and a sentence that says why."""
    if design.net_alone:
        return (), ()
    watch = deadline.watch("writing down the steps")
    try:
        return tuple(run_of(design, finding, number if are_drawn else None, watch)
                     for number, finding in enumerate(findings)), ()
    except Spent as late:
        return (), (f"The steps are left out: {late}.",)


def _drawings(
    design: Design, findings: Sequence[Finding], mark: str, deadline: Deadline
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """A drawing for each finding, or none at all and a sentence that says why."""
    if design.net_alone:
        return (), ()
    try:
        if (boxes := boxes_of(design, deadline)) > MOST_DRAWN:
            return (), (f"The drawing is left out: it has {boxes:,} boxes, and one in a page at "
                        f"most {MOST_DRAWN}.",)
        return tuple(draw_to_step_through(design, finding, f"{mark}-{number}", deadline)
                     for number, finding in enumerate(findings)), ()
    except Spent as late:
        return (), (f"The drawing is left out: {late}.",)


def _mark(finding: Finding) -> str:
    if finding.as_expected:
        return "ok"
    return "unknown" if finding.outcome is Outcome.UNKNOWN else "fail"


def _fixes(report: DesignReport) -> list[tuple[str, str]]:
    """The fixes of what was found, each as a block of text."""
    return [(f"Fix of: {fact(finding.name)}",
             "\n".join(repair_lines(finding.repair, report.design.file)))
            for finding in report.findings if finding.repair is not None]


def _runs_of_a_net(report: DesignReport) -> Iterator[tuple[str, str]]:
    """The runs of a net without tasks, which cannot be stepped through, each as a block of text."""
    for finding in report.findings:
        if finding.outcome is Outcome.VIOLATED:
            yield fact(finding.name), "\n".join(violation_lines(finding, report.design))


def _command(report: DesignReport) -> str:
    """The command that checks the design again."""
    given = [f"--set {shlex.quote(f'{name}={value}')}"
             for name, value in report.design.parameters]
    return " ".join(["checkvalve check", *given, shlex.quote(report.design.file)])
