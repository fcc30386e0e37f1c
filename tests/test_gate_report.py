"""From rows to a verdict, an exit code, JUnit XML and a table."""

from __future__ import annotations

import json
from xml.etree import ElementTree as xml

import click
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from checkvalve.conformance.gate.junit import junit
from checkvalve.conformance.gate.report import EXIT_CODES, Judgement, Report, Row, judge
from checkvalve.conformance.gate.text import lines_of, verdict_line

JUDGEMENTS = st.sampled_from(sorted(EXIT_CODES))
SECTIONS = st.sampled_from(["designs", "suites", "chapters"])
ROWS = st.builds(
    Row, SECTIONS, st.text(), st.text(), st.text(), st.text(), JUDGEMENTS, st.text(),
    st.floats(0, 100),
)
REPORTS = st.builds(Report, st.text(), st.lists(ROWS).map(tuple), st.floats(0, 100))


def report_of(*judgements: Judgement) -> Report:
    """A report with one row for each of ``judgements``."""
    return Report("x.toml", tuple(
        Row("suites", "queue on a", f"QUEUE-{at}", "holds", "holds", judgement)
        for at, judgement in enumerate(judgements)
    ), 1.0)


@pytest.mark.parametrize(("judgements", "verdict", "code"), [
    ([], "as expected", 0),
    (["as expected", "unavailable"], "as expected", 0),
    (["as expected", "unknown"], "unknown", 2),
    (["unavailable", "unavailable"], "unknown", 2),
    (["as expected", "follows"], "as expected", 0),
    (["violated", "follows"], "violated", 1),
    (["unknown", "violated"], "violated", 1),
    (["violated", "error", "unknown"], "error", 64),
])
def test_the_gravest_row_is_the_verdict(
    judgements: list[Judgement], verdict: str, code: int
) -> None:
    """An error outweighs a violation, which outweighs what is unknown."""
    report = report_of(*judgements)
    assert (report.verdict, report.exit_code) == (verdict, code)


@pytest.mark.parametrize(("expected", "found", "judgement"), [
    ("holds", "holds", "as expected"), ("violated", "violated", "as expected"),
    ("holds", "violated", "violated"), ("violated", "holds", "violated"),
    ("holds", "unknown", "unknown"), ("unknown", "unknown", "as expected"),
    ("unknown", "holds", "violated"),
])
def test_only_what_was_expected_is_as_expected(
    expected: str, found: str, judgement: Judgement
) -> None:
    """A violation that was expected and did not come is as much of a surprise as one that was
    not."""
    assert judge(expected, found) == judgement


@given(REPORTS)
def test_junit_is_xml_whatever_the_rows_say(report: Report) -> None:
    """Texts from a target may hold any character; the document parses and its sums are right."""
    root = xml.fromstring(junit(report).encode())
    cases = root.findall("testsuite/testcase")
    assert len(cases) == len(report.rows) == int(root.get("tests", ""))
    assert int(root.get("failures", "")) == len(root.findall("testsuite/testcase/failure"))
    assert int(root.get("errors", "")) == len(root.findall("testsuite/testcase/error"))
    assert int(root.get("skipped", "")) == len(root.findall("testsuite/testcase/skipped"))


@given(REPORTS)
def test_the_document_is_json_and_counts_every_row(report: Report) -> None:
    """The JSON file holds all rows, and its counts add up to them."""
    document = json.loads(json.dumps(report.document()))
    assert sum(document["counts"].values()) == len(document["results"]) == len(report.rows)


@given(ROWS)
def test_whatever_is_not_as_expected_has_its_own_line(row: Row) -> None:
    """The table says what was found in each such row, and what the reader needs beyond. Rows that
    are not shown share a line with their reasons."""
    assume(row.judgement != "not shown")
    told = "\n".join(lines_of([row]))
    assert row.subject in told and row.found in told and row.message in told


def test_rules_that_held_share_one_line() -> None:
    """Fourteen rules that hold are one fact to a reader."""
    lines = list(lines_of(report_of(*["as expected"] * 14).rows))
    assert len(lines) == 1 and "14 holds" in lines[0]


def test_the_verdict_line_names_what_is_not_as_expected() -> None:
    """The last line says how many checks there were and what to look for above."""
    line = click.unstyle(verdict_line(report_of("as expected", "violated", "unavailable")))
    assert line == "Gate: VIOLATED (3 checks in 1.0 s; 1 violated; 1 unavailable)"
