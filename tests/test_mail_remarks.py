"""The remarks on the mail "back pressure": each is a row that the engines decide again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from checkvalve.spec.chapters import chapters

PAGE = Path(__file__).resolve().parent.parent / "docs" / "sources" / "003.md"
REMARKS = range(1, 25)
REMARK = re.compile("003#" + r"E(\d+): (.*)")


def rows() -> Iterator[tuple[int, str]]:
    """Each row of the chapters that says which remark it shows, as the page has it."""
    for chapter in chapters(["flow", "queues"]):
        for row in chapter.expectations:
            if found := REMARK.match(row.about):
                how = f"proof for all {', '.join(row.for_all)}" if row.for_all else "search"
                machine = f"{chapter.name}.{row.machine.__name__}"
                yield int(found[1]), (f"| E{found[1]} | `{machine}` {row.rule}, {row.verdict} by "
                                      f"{how} | {found[2]} |")
        for tie in chapter.refinements:
            if found := REMARK.match(tie.about):
                machine = f"{chapter.name}.{tie.machine.__name__}"
                yield int(found[1]), (f"| E{found[1]} | `{machine}` {tie.title}, {tie.verdict} by "
                                      f"search | {found[2]} |")


def test_every_remark_is_a_row() -> None:
    """E1 to E24: each names at least one, and none has another number."""
    assert {number for number, _ in rows()} == set(REMARKS)


def test_every_remark_stands_on_the_page_with_what_is_right() -> None:
    """The text's statement, and what the book says of it."""
    text = PAGE.read_text()
    assert [number for number in REMARKS if f"</a>E{number} |" not in text] == []


def test_the_page_lists_the_rows_that_show_each_remark() -> None:
    """In the order of the remarks; put the lines that differ between its two marks."""
    text = PAGE.read_text()
    head = ["| | row | it shows |", "|---|---|---|"]
    table = [*head, *(line for _, line in sorted(rows(), key=lambda each: each[0]))]
    found = text.partition("<!-- rows -->\n")[2].partition("<!-- rows. -->")[0].strip()
    assert found.splitlines() == table
