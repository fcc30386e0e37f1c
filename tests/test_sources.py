"""The pages on the source texts are true of the rule book that they speak of."""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

from checkvalve.conformance.suites.catalogue import SUITES
from checkvalve.spec.chapters import CHAPTERS, chapters

PAGES = sorted((Path(__file__).parent.parent / "docs" / "sources").glob("*.md"))
INDEX = next(page for page in PAGES if page.name == "README.md").read_text()
NUMBER = re.compile(r"(?<![-\w`])([DE]\d{1,2})\b(?! to)")


@cache
def rule_ids() -> frozenset[str]:
    """The ids of every rule and lemma of the book."""
    return frozenset(rule.id for chapter in chapters([]) for rule in (
        *chapter.rules, *chapter.lemmas))


def machines() -> frozenset[str]:
    """The names of the machines of Storm's chapters, with their variants."""
    return frozenset(
        name for chapter in CHAPTERS if chapter.startswith("storm.")
        for name in vars(import_module(f"checkvalve.spec.{chapter}")))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_cites_rules_that_there_are(page: Path) -> None:
    """A rule that is renamed or goes takes its citations with it."""
    cited = set(re.findall(r"\b(?:FLOW|STORM|KAFKA|QUEUE)-[A-Z]*\d+[A-Z]?\b", page.read_text()))
    issues = {each for each in cited if re.fullmatch(r"(STORM|KAFKA)-\d{2,}", each)}
    assert sorted(cited - issues - rule_ids()) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_names_chapters_that_there_are(page: Path) -> None:
    """Or suites, which are named like them."""
    quoted = set(re.findall(r"`((?:storm|kafka|flow|queues)\.(?!md)\w+)`", page.read_text()))
    assert sorted(quoted - set(CHAPTERS) - set(SUITES)) == []


@pytest.mark.parametrize("name", ["000", "001"])
def test_the_pages_on_storm_name_machines_that_there_are(name: str) -> None:
    """Whatever stands in backticks and looks like a class is a machine, or Storm's exception."""
    page = next(page for page in PAGES if page.stem == name)
    quoted = set(re.findall(r"`([A-Z]\w*[a-z]\w*)`", page.read_text()))
    assert quoted and sorted(quoted - machines() - {"FailedException"}) == []


def test_every_page_is_in_the_index() -> None:
    """Nobody finds the others."""
    assert [page.name for page in PAGES if f"({page.name})" not in INDEX and page.stem != "README"
            ] == []


def test_every_number_of_the_index_is_explained_on_a_page() -> None:
    """The index says of which kind a remark is, a page says what it is."""
    told = {number for page in PAGES if page.stem != "README"
            for number in NUMBER.findall(page.read_text())}
    of_kinds = {number for first, last in re.findall(r"([DE]\d+)(?: to [DE](\d+))?", INDEX)
                for number in ([f"{first[0]}{each}" for each in
                                range(int(first[1:]), int(last or first[1:]) + 1)])}
    assert sorted(of_kinds ^ told) == []


def test_every_remark_that_a_chapter_cites_is_on_a_page() -> None:
    """``storm.md D4`` means something to a reader who has the repository alone."""
    book = Path(import_module("checkvalve.spec.storm").__file__ or "").parent
    cited = {number for chapter in book.glob("*.py")
             for number in re.findall(r"(?<![-\w])(D\d{1,2})\b", chapter.read_text())}
    pages = " ".join(page.read_text() for page in PAGES)
    assert cited and [number for number in sorted(cited)
                      if not re.search(rf"\b{number}\b", pages)] == []
