"""The gallery: each hang deadlocks, its fix does not, and it has a story with its source."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from checkvalve.conformance.designs import check_design, load_file

ROOT = Path(__file__).resolve().parent.parent
ENTRIES = sorted(path.parent for path in (ROOT / "examples" / "gallery").glob("*/story.md"))

each_entry = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)


def test_there_are_twelve() -> None:
    """As the pages say."""
    assert len(ENTRIES) == 12


@each_entry
@pytest.mark.parametrize(("name", "verdict"), [("hangs", "violated"), ("fixed", "holds")])
def test_a_hang_deadlocks_and_its_fix_does_not(entry: Path, name: str, verdict: str) -> None:
    """And each file expects what is found."""
    report = check_design(load_file(entry / f"{name}.yaml"))
    assert report.as_expected
    assert report.results[0]["property"] == "deadlock-free"
    assert report.results[0]["verdict"] == verdict
    assert report.design.name == f"{entry.name}-{name}"


@each_entry
def test_a_hang_has_a_story_of_some_lines_with_its_source_and_its_fix(entry: Path) -> None:
    """Five to fifteen lines, that somebody reads."""
    story = (entry / "story.md").read_text(encoding="utf-8")
    assert story.startswith("# ") and "\nSource: " in story and "\n## Fix\n" in story
    tale = [line for line in story.partition("\n## Fix\n")[0].splitlines()[1:] if line]
    assert 5 <= len(tale) <= 15, len(tale)


@each_entry
def test_the_links_of_a_story_lead_somewhere(entry: Path) -> None:
    """Those to pages of docs/ are written as the site has them, below ``gallery/``."""
    story = (entry / "story.md").read_text(encoding="utf-8")
    inner = [link for link in re.findall(r"\]\(([^)]+)\)", story) if "://" not in link]
    assert [link for link in inner
            if not (ROOT / "docs" / "gallery" / link).resolve().exists()] == []
