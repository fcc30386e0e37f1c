"""The page of exact conditions: it has each row that the chapters decide, and what is proved."""

from __future__ import annotations

import re
from pathlib import Path

from checkvalve.spec.chapters import chapters
from checkvalve.spec.expectations import points_of

PAGE = Path(__file__).resolve().parent.parent / "docs" / "exact-conditions.md"
ROWS = re.findall(r"^(\| `[\w.]+` [A-Z0-9-]+ \| `.*` \| [\d,]+) \| (.*) \|$", PAGE.read_text(),
                  re.MULTILINE)


def test_the_page_has_every_condition_with_its_points() -> None:
    """Each once; put the lines that differ into its table."""
    decided = [
        f"| `{chapter.name}.{row.machine.__name__}` {row.rule} | `{row.where}` | "
        f"{len(list(points_of(row.grid))):,}"
        for chapter in chapters(["flow", "bookkeeper"])
        for row in chapter.expectations if row.where]
    assert sorted(row for row, _ in ROWS) == sorted(decided)


def test_what_the_page_says_is_proved_is_a_proof_in_its_chapter() -> None:
    """Or it says why there is none."""
    proved = {f"`{chapter.name}.{row.machine.__name__}` {row.rule}, for all "
              f"{', '.join(row.for_all)}"
              for chapter in chapters(["flow", "bookkeeper"])
              for row in chapter.expectations if row.for_all}
    for _, proof in ROWS:
        assert proof in proved or proof.startswith("no: "), proof


def test_the_page_says_how_many_points_there_are() -> None:
    """The sum over all conditions."""
    points = sum(len(list(points_of(row.grid))) for chapter in chapters(["flow", "bookkeeper"])
                 for row in chapter.expectations if row.where)
    assert f"({points:,} points)" in PAGE.read_text()
