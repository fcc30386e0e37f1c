"""docs/matrix.md: a row for each target of other projects, as the rows that were run say."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.matrix.page import page
from benchmarks.matrix.rows import Row, command, saved
from checkvalve.conformance.suites.fixture import read_fixture
from checkvalve.conformance.systems.catalogue import SYSTEMS

DOCS = Path(__file__).resolve().parent.parent / "docs"
ROWS = saved(DOCS / "matrix" / "rows.json")
PAGE = (DOCS / "matrix.md").read_text(encoding="utf-8")


def test_the_page_is_as_the_rows_have_it() -> None:
    """``make matrix ARGS=--page`` writes it, and runs nothing."""
    assert page(ROWS) == PAGE


def test_the_page_has_the_targets_of_others_that_were_run_and_none_of_ours() -> None:
    """So that a new adapter leaves it true; what no longer ships is not on it."""
    for system in SYSTEMS.values():
        part = PAGE.partition(f"## `{system.name}`\n")[2].partition("\n## ")[0]
        for each in system.shipped:
            was_run = not each.is_ours and (system.name, each.name) in ROWS
            assert (f"\n| `{each.name}` |" in part) == was_run


@pytest.mark.parametrize("suite", sorted({suite for suite, _ in ROWS}))
def test_a_rule_is_in_one_cell_of_its_row(suite: str) -> None:
    """Kept, broken or not shown: every rule that the suite had when the row was run, so that a new
    rule leaves the page true. No row lacks a rule that an earlier one has."""
    rows = sorted((row.date, sorted(row.rules)) for row in ROWS.values()
                  if row.suite == suite and not row.error)
    assert all(len(rules) == len(set(rules)) for _, rules in rows)
    had = set[str]()
    for _, rules in sorted(rows, key=lambda row: (row[0], len(row[1]))):
        assert had <= set(rules)
        had = set(rules)
    assert had <= {rule.id for rule in SYSTEMS[suite].suite.rules()}


@pytest.mark.parametrize("row", ROWS.values(), ids=lambda row: row.target)
def test_the_fixtures_of_a_row_are_of_the_rules_that_it_breaks(row: Row) -> None:
    """They are read as ``checkvalve replay`` reads them."""
    for rule, name in row.broken.items():
        if name:
            path = DOCS / "matrix" / name
            assert read_fixture(path.read_text(encoding="utf-8"), str(path)).rule_id == rule


def test_a_row_is_repeated_by_a_command_of_the_command_line() -> None:
    """With a bound on its time, as it was run."""
    for (suite, target), row in ROWS.items():
        part = PAGE.partition(f"## `{suite}`\n")[2].partition("\n## ")[0]
        words = command(suite, "TARGET", row.seconds, row.jobs)
        assert f"`checkvalve {' '.join(words)}`" in part and target in part
    assert command("queue", "janus", 60, 2) == [
        "conform", "janus", "--suite", "queue", "--max-seconds", "60", "--jobs", "2"]
