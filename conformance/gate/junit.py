"""A report as JUnit XML, the form that CI systems read."""

from __future__ import annotations

import re
from itertools import groupby
from xml.etree import ElementTree as xml

from .report import Report, Row, time_of

__all__ = ["junit"]

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(report: Report, command: str = "gate") -> str:
    """The XML document of a run of ``command``: a suite for each subject, a case for each row.

    One run of a suite judges all its rules together, so its time stands at the suite; the time of a
    rule is that of the cases that looked for it, if it is known. The text of a failure is the row's
    story. What is not as expected is a failure, what is unknown or could not be run an error, and
    what is unavailable is skipped, as is what follows from another failure and what the target
    says it cannot show, and what a baseline accepts; a rule that was not shown for another reason
    is unknown, and an error.
    """
    suites = xml.Element("testsuites", {"name": f"checkvalve {command}", **_sums(report.rows)})
    for name, rows in groupby(report.rows, key=lambda row: f"{row.section}.{row.subject}"):
        of_subject = tuple(rows)
        suite = xml.SubElement(suites, "testsuite", {"name": _clean(name), **_sums(of_subject)})
        for row in of_subject:
            _add_case(suite, row)
    xml.indent(suites)
    return xml.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _sums(rows: tuple[Row, ...]) -> dict[str, str]:
    def count(*judgements: str) -> str:
        return str(sum(row.judgement in judgements for row in rows))

    return {
        "tests": str(len(rows)), "failures": count("violated"),
        "errors": count("unknown", "error"),
        "skipped": count("unavailable", "follows", "not shown", "accepted"),
        "time": f"{time_of(rows):.3f}",
    }


def _add_case(suite: xml.Element, row: Row) -> None:
    """Add a row as a test case: violated is a failure, unknown an error, and what does not count is
    skipped."""
    case = xml.SubElement(
        suite, "testcase", classname=_clean(f"{row.section}.{row.subject}"),
        name=_clean(row.title()),
    )
    seconds = row.own_seconds if row.shares_time else row.seconds
    if seconds is not None:
        case.set("time", f"{seconds:.3f}")
    if row.place is not None:
        case.set("file", _clean(row.place.file))
        case.set("line", str(row.place.line))
    kinds = {"violated": "failure", "unknown": "error", "error": "error",
             "unavailable": "skipped", "follows": "skipped", "not shown": "skipped",
             "accepted": "skipped"}
    if row.judgement in kinds:
        told = f"{row.claim()}, expected: {row.wanted()}. {row.message}".rstrip()
        outcome = xml.SubElement(case, kinds[row.judgement], message=_clean(told))
        if kinds[row.judgement] != "skipped":
            outcome.set("type", row.judgement)
            # Each line ends with a line feed: `patch` refuses a patch without one on its last line.
            outcome.text = _clean("".join(f"{line}\n" for line in row.story)) or None


def _clean(text: str) -> str:
    """``text`` without the characters that no XML document may have, as a target may print."""
    return _NOT_IN_XML.sub("\ufffd", text)
