"""The pages that are made for the site: nothing of the tree is missing, nothing of a machine in it.

``make docs`` builds the site, with warnings as errors; here it is only what goes into it.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.site import drawn, gallery, reference, rulebook, staging, transitions
from checkvalve.conformance.cli import COMMANDS
from checkvalve.conformance.systems.catalogue import SYSTEMS
from checkvalve.spec.chapters import Chapter, chapters
from checkvalve.spec.flow.credit import Link

ROOT = Path(__file__).resolve().parent.parent
CREDIT: Chapter = next(each for each in chapters(["flow.credit"]))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The pages made of records and of the gallery."""
    source = tmp_path_factory.mktemp("source")
    return reference.pages(ROOT, source) | gallery.pages(ROOT, source)


def test_each_command_has_its_help(made: dict[str, str]) -> None:
    """In the groups of ``checkvalve --help``."""
    heads = re.findall(r"^### checkvalve (\S+)$", made["commands.md"], re.MULTILINE)
    assert heads == [*COMMANDS]


def test_each_rule_of_a_suite_that_a_twin_breaks_is_listed_with_it(made: dict[str, str]) -> None:
    """And each twin once."""
    for system in SYSTEMS.values():
        part = made["killed.md"].partition(f"## `{system.name}`\n")[2].partition("\n## ")[0]
        named = re.findall(r"^\| (\S+) \| `([^`]+)` \|", part, re.MULTILINE)
        ids = {rule.id for rule in system.suite.rules()}
        assert sorted(named) == sorted(
            (twin.rule, name) for name, twin in system.twins.items() if twin.rule in ids)


def test_each_hang_has_its_picture_its_steps_and_its_fix(tmp_path: Path) -> None:
    """And no report names a place on this machine."""
    pages = gallery.pages(ROOT, tmp_path)
    for entry in gallery.entries(ROOT):
        page = pages[f"gallery/{entry.name}.md"]
        steps = (tmp_path / "extra" / "steps" / f"{entry.name}.html").read_text(encoding="utf-8")
        assert "<svg" in (tmp_path / "gallery" / f"{entry.name}.svg").read_text(encoding="utf-8")
        assert "```diff" in page and "**holds**" in page
        assert str(ROOT) not in steps


def test_a_chapter_shows_its_theory_and_its_guards(tmp_path: Path) -> None:
    """Read off its own text."""
    text = "\n".join(rulebook.chapter_page(CREDIT, {}, tmp_path))
    assert "Theory of operation\n---" in text
    assert "| `arrive` (fair) | `D > 0` | An element is enqueued at B. |" in text


def test_a_small_machine_is_drawn_with_all_its_states() -> None:
    """One token has five places, and five steps between them."""
    found = transitions.drawing(CREDIT)
    assert found is not None
    picture = found.svg
    assert found.machine is Link
    assert found.words == "All 5 states with C = 1, b = 1:"
    assert picture.count("<rect") == 5 + 5 and picture.count("marker-end") == 5


def test_a_larger_machine_is_drawn_by_the_values_that_tell_most_apart() -> None:
    """And the sentence says which, and of how many states."""
    gates = next(each for each in chapters(["queues.gate"]))
    found = transitions.drawing(gates)
    assert found is not None
    picture = found.svg
    assert found.words.startswith(
        "All 32 states with K = 1, by `may_pass{0}` and `stopping{0}`: a box is all of them with ")
    assert 3 <= picture.count('fill="#eef3ff"') <= transitions.BOXES


def test_a_machine_with_too_many_states_is_drawn_by_the_first_ones() -> None:
    """The sentence says so, and that there may be more arrows."""
    permits = next(each for each in chapters(["queues.permits"]))
    found = transitions.drawing(permits)
    assert found is not None and found.words.startswith(
        f"The first {transitions.VISITED_OF_LARGE} states, breadth first, by `")
    assert found.words.endswith("There are more states, and may be more arrows.")


@pytest.mark.parametrize(("name", "why"), [
    ("flow.link_seen", "no machine of its own, but ties others to `ObservedLink`."),
    ("design.net", "its machine is made for what it is given, and does nothing without."),
])
def test_a_chapter_without_a_picture_says_why(name: str, why: str, tmp_path: Path) -> None:
    """One that ties machines to an observer has a table of them."""
    chapter = next(each for each in chapters([name]))
    text = "\n".join(rulebook.chapter_page(chapter, {}, tmp_path))
    assert why in text and not list(tmp_path.iterdir())
    rows = text.count("| every run is accepted |") + text.count("| some run is refused by ")
    assert rows == len(chapter.refinements)


def test_a_design_in_a_page_is_drawn_below_its_text(tmp_path: Path) -> None:
    """That of the tutorial deadlocks, and a file that a page shows is drawn too."""
    page = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    page += "\n[`fixed.yaml`](../examples/gallery/echo/fixed.yaml)\n"
    text = drawn.with_drawings("tutorial.md", page, ROOT, tmp_path)
    assert "![shop: the tasks and queues, with the cycle of waits in red](drawn/tutor" in text
    assert "the tasks and queues](drawn/tutorial-2.svg)" in text
    assert all("<svg" in (tmp_path / "drawn" / f"tutorial-{number}.svg").read_text()
               for number in (1, 2))


def test_the_grid_of_a_suite_marks_the_rule_of_each_twin(made: dict[str, str]) -> None:
    """A row for each rule, a column for each twin, one full mark in each column."""
    for system in SYSTEMS.values():
        part = made["killed.md"].partition(f"## `{system.name}`\n")[2].partition("</tbody>")[0]
        rows = re.findall(r"<tr><th>(\S+?)</th>(.*?)</tr>", part.partition("<tbody>")[2])
        assert [name for name, _ in rows] == [rule.id for rule in system.suite.rules()]
        assert all(cells.count("<td") == len(system.twins) for _, cells in rows)
        assert sum(cells.count("●") for _, cells in rows) == len(system.twins)


@pytest.mark.parametrize(("name", "link", "led"), [
    ("finds.md", "[a](awaits.md#what-it-found)", "[a](awaits.md#what-it-found)"),
    ("finds.md", "[a](../README.md)", "[a](index.md)"),
    ("sources/003.md", "[a](../zoo.md)", "[a](../zoo.md)"),
    ("CHANGELOG.md", "[a](docs/zoo.md)", "[a](zoo.md)"),
    ("sources/storm.md", "[a](#STORM-17)", "[a](#storm-17)"),
])
def test_a_link_is_led_to_a_page_of_the_site(name: str, link: str, led: str) -> None:
    """Pages of the root stand beside those of docs/, and fragments are small."""
    assert staging.for_the_site(name, link, ROOT).rpartition("\n")[2] == led


def test_each_page_of_the_menu_is_there() -> None:
    """Those of docs/ that it lacks are added by themselves."""
    index = (ROOT / "docs" / "site" / "index.myst").read_text(encoding="utf-8")
    made = {"commands", "gallery", "killed", "rules", "schemas"}
    assert [name for name in staging.in_menu(index) if name not in made
            and not (ROOT / "docs" / f"{name}.md").exists()
            and f"{name}.md" not in staging.ABOVE] == []
