"""The rows of one subject: a design, a suite on a target, a chapter.

Each imports its engine only when it is called: a gate of designs alone loads no suite.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .config import Designs, Suite
from .report import Row, judge

if TYPE_CHECKING:
    from checkvalve.spec.design.findings import Finding
    from checkvalve.spec.verify import Row as Promise

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
    """Run one suite on one target: a row for each rule."""
    raise NotImplementedError


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
