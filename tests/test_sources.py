"""The pages on the source texts are true of the rule book, and every citation leads to them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from checkvalve.conformance.cli.rules import entries
from checkvalve.conformance.systems.catalogue import SYSTEMS
from checkvalve.spec.chapters import chapter_names, chapters
from checkvalve.spec.citations import citations

ROOT = Path(__file__).parent.parent
PAGES = sorted((ROOT / "docs" / "sources").glob("*.md"))
INDEX = next(page for page in PAGES if page.name == "README.md").read_text()
NUMBER = re.compile(r"(?<![-\w`#])([DE]\d{1,2})\b(?! to)")
RULE = re.compile(
    r"\b(?:FLOW|STORM|KAFKA|QUEUE|PERMIT|COND|DESIGN|DELIV|ELECT|EXEC|BK)-[A-Z]*\d+[A-Z]*\b")
MARKDOWN = [*sorted((ROOT / "docs").rglob("*.md")), *sorted(ROOT.glob("*.md"))]


@cache
def rule_ids() -> frozenset[str]:
    """The ids of every rule and lemma of the book."""
    return frozenset(rule.id for chapter in chapters([]) for rule in (
        *chapter.rules, *chapter.lemmas))


@cache
def anchors(file: str) -> frozenset[str]:
    """The anchors of a page of the repository: those that are set, and its headings'."""
    text = (ROOT / file).read_text()
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return frozenset(re.findall(r'<a id="([^"]+)"></a>', text)) | {
        re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def leads_nowhere(text: str) -> Iterator[str]:
    """The citations of a text that no page has."""
    for cited in citations(text):
        if not (ROOT / cited.file).is_file() or (
                cited.anchor and cited.anchor not in anchors(cited.file)):
            yield cited.where


def machines() -> frozenset[str]:
    """The names of the machines of the chapters on Storm and Kafka, with their variants."""
    return frozenset(
        name for chapter in chapters(["storm", "kafka"]) for name in vars(chapter.module))


def test_every_rule_says_where_to_read_on() -> None:
    """Every reference that ``checkvalve rules`` prints below a source exists, and is not empty."""
    assert [entry.id for entry in entries() if not entry.read_on] == []
    assert [(entry.id, lost) for entry in entries() for lost in leads_nowhere(entry.source)] == []


def test_a_source_consists_of_citations() -> None:
    """One form, so that nothing is cited which only its author can find."""
    for entry in entries():
        for piece in entry.source.split("; "):
            first = citations(piece)[:1]
            assert RULE.match(piece) or (first and piece.startswith(first[0].text)), (
                entry.id, piece)
            issue = re.compile(r"(?:STORM|KAFKA)-\d+")
            assert {rule for rule in RULE.findall(piece) if not issue.fullmatch(rule)
                    } <= rule_ids(), entry.id


@pytest.mark.parametrize("package", ["spec", "reference", "conformance", "tests"])
def test_every_citation_in_the_code_leads_somewhere(package: str) -> None:
    """In sources, docstrings, comments and the histories of twins."""
    lost = {(str(file.relative_to(ROOT)), where)
            for file in (ROOT / package).rglob("*.py") for where in leads_nowhere(file.read_text())}
    assert sorted(lost) == []


def test_every_citation_and_link_in_the_docs_leads_somewhere() -> None:
    """Links to other pages, with their anchors, as well."""
    lost = []
    for page in MARKDOWN:
        text = re.sub(r"```.*?```|`[^`]*`", "", page.read_text(), flags=re.DOTALL)
        lost += [(page.name, where) for where in leads_nowhere(text)]
        for file, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)", text):
            target = (page.parent / file).resolve() if file else page
            if not target.exists() or (
                    anchor and anchor not in anchors(str(target.relative_to(ROOT)))):
                lost.append((page.name, f"{file}#{anchor}"))
    assert lost == []


@pytest.mark.parametrize(("text", "leads_to"), [
    ("000#order ('Tasks alternate'); storm#D3",
     ["docs/sources/000.md#order", "docs/sources/storm.md#D3"]),
    ("STORM-17, JStorm #404",
     ["docs/sources/storm.md#STORM-17", "docs/sources/storm.md#jstorm-404"]),
    ("python/asyncio #265: a waiter", ["docs/sources/libraries.md#asyncio-265"]),
    ("STORM-K1 (with E = 1); a test", []),
    ("docs/decisions/one-deadline.md", ["docs/decisions/one-deadline.md"]),
    ("see https://example.org/issues#12, [it](../sources/storm.md#D4) and C#7x", []),
])
def test_a_citation_names_a_page_and_an_anchor(text: str, leads_to: list[str]) -> None:
    """And whatever else a text says is passed over."""
    assert [cited.where for cited in citations(text)] == leads_to


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_an_anchor_stands_once_on_its_page(page: Path) -> None:
    """Else a link leads to the first of them."""
    found = re.findall(r'<a id="([^"]+)"></a>', page.read_text())
    assert len(found) == len(set(found))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_cites_rules_that_there_are(page: Path) -> None:
    """A rule that is renamed or goes takes its citations with it."""
    cited = set(RULE.findall(page.read_text()))
    issues = {each for each in cited if re.fullmatch(r"(STORM|KAFKA)-\d{2,}", each)}
    assert sorted(cited - issues - rule_ids()) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_names_chapters_that_there_are(page: Path) -> None:
    """Or suites, which are named like them."""
    quoted = set(re.findall(r"`((?:storm|kafka|flow|queues)\.(?!md)\w+)`", page.read_text()))
    assert sorted(quoted - set(chapter_names()) - set(SYSTEMS)) == []


@pytest.mark.parametrize("name", ["000", "001"])
def test_the_pages_on_storm_name_machines_that_there_are(name: str) -> None:
    """Whatever stands in backticks and looks like a class is a machine, or Storm's exception."""
    page = next(page for page in PAGES if page.stem == name)
    quoted = set(re.findall(r"`([A-Z]\w*[a-z]\w*)`", page.read_text()))
    assert quoted and sorted(quoted - machines() - {"FailedException"}) == []


def test_the_facts_of_the_field_name_machines_that_there_are() -> None:
    """Each with the row that decides it."""
    page = next(page for page in PAGES if page.stem == "field")
    decided = {row.machine.__name__ for chapter in chapters() for row in chapter.expectations}
    quoted = set(re.findall(r"`([A-Z]\w*[a-z]\w*)`", page.read_text()))
    assert quoted and sorted(quoted - decided) == []


def test_every_page_is_in_the_index() -> None:
    """Nobody finds the others."""
    assert [page.name for page in PAGES if f"({page.name})" not in INDEX and page.stem != "README"
            ] == []


def test_every_number_of_the_index_is_explained_on_a_page() -> None:
    """The index says of which kind a remark is, a page says what it is."""
    told = {number for page in PAGES for number in anchors(f"docs/sources/{page.name}")
            if re.fullmatch(r"[DE]\d+", number)}
    of_kinds = {number for first, last in re.findall(r"([DE]\d+)(?: to [DE](\d+))?", INDEX)
                for number in ([f"{first[0]}{each}" for each in
                                range(int(first[1:]), int(last or first[1:]) + 1)])}
    assert sorted(of_kinds ^ told) == []


def test_a_remark_that_is_named_alone_is_on_a_page() -> None:
    """``D4`` in a docstring means something to a reader who has the repository alone."""
    named = {number for package in ("spec", "reference", "conformance")
             for file in (ROOT / package).rglob("*.py")
             for number in re.findall(r"(?<![-\w#.])(D\d{1,2})\b(?!\.)", file.read_text())}
    assert named and sorted(named - anchors("docs/sources/storm.md")) == []
