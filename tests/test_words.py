"""One word for each thing: docstrings, messages, rules and docs keep to docs/glossary.md."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
CODE = ("spec", "reference", "conformance", "examples", "tests")
PAGES = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs")

PEOPLE = (
    "people", "person", "users?", "readers?", "engineers?", "architects?", "developers?",
    "authors?", "owners?", "maintainers?", "someone", "anyone", "everyone", "those", "teams?")
"""Nouns after which *who* is a person."""

INSTEAD = {
    r"who|whoever|whom|whomever": "the task, the waiter, the process",
    r"he|him|his|himself": "it, the task",
    r"circles?": "cycle",
    r"standstills?|st(?:an|oo)ds? still": "deadlock; makes no progress",
    r"stuck": "deadlocked; of one task: blocked",
    r"for ever": "forever",
    r"some day|one day": "eventually",
    r"at rest|comes? to rest|came to rest": "idle, quiescent",
    r"sums? that (?:never|do(?:es)? not) change": "invariant",
    r"tells?|told|telling": "reports, notifies, answers, says",
    r"mend(?:s|ed|ing)?": "fix",
    r"(?<!under )ways? in(?:to)?(?! which)": "counterexample, run",
    r"in line": "in the wait queue",
    r"(?<!calls )g(?:o|oes|oing) on(?! the PATH)": "continues, progresses",
}
"""Words that are not used, and the field's words for them. ``tell A from B`` is another word."""

CODE_IN_PROSE = re.compile(
    r"``.*?``|`[^`]*`|<[^<>]*>|\"[^\"]*\":|\]\([^)]*\)|\{\w+\}", re.S)

SELDOM = {
    r"whose": ("with, of, that", {
        "spec": 23, "conformance": 70, "tests": 12, "docs": 10, "CHANGELOG.md": 9,
        "ARCHITECTURE.md": 1, "CONTRIBUTING.md": 1}),
    r"rooms?": ("a free slot, free space, fits; package", {
        "spec": 98, "reference": 10, "conformance": 37, "examples": 1, "tests": 57, "docs": 37}),
}
"""Words for which there is mostly a plainer one, and how often they stand in each place at most."""

WORDS_OF_A_MESSAGE = 4
"""A string of fewer words is a key: the name of a kind of rule, or a word of a port's protocol."""

APART = re.compile(r"\b(?:tells?|told|telling)\s+(?:\S+\s+){0,7}?(?:apart|from)\b", re.I)
BANNED = {re.compile(rf"\b(?:{words})\b", re.I): instead for words, instead in INSTEAD.items()}
OF_PEOPLE = re.compile(rf"\b(?:{'|'.join(PEOPLE)}),?$", re.I)

RIDDLES = re.compile(r"(?:Who|Whom|Whose|Whoever|Whether|What|With what|By what|By whom|Of what)\b")
"""With these no docstring begins: it says what is returned, or what is done."""


def texts_of(path: Path) -> Iterator[tuple[int, str, bool]]:
    """The line, the text and whether it is a docstring, of what a file says to people."""
    if path.suffix == ".md":
        yield from paragraphs(path.read_text(encoding="utf-8"))
        return
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)
              for part in ast.walk(node) if part is not node}
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr) and id(node) not in inside:
            fixed = (part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
            yield node.lineno, without_code("".join(map(str, fixed))), False
        elif (isinstance(node, ast.Constant) and isinstance(node.value, str)
              and id(node) not in inside and (
                  id(node) in docstrings or len(node.value.split()) >= WORDS_OF_A_MESSAGE)):
            yield node.lineno, without_code(node.value), id(node) in docstrings


def without_code(text: str) -> str:
    """A text without what stands between backquotes, in markup, or in JSON: names and keys."""
    return CODE_IN_PROSE.sub("``", text)


def paragraphs(text: str) -> Iterator[tuple[int, str, bool]]:
    """The lines of a page outside of its blocks of code."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield number, without_code(line), False


def found_in(text: str) -> Iterator[str]:
    """What stands in a text that has another word, each with that."""
    for pattern, instead in BANNED.items():
        for match in pattern.finditer(text):
            if match[0].lower() == "who" and OF_PEOPLE.search(text[:match.start()].rstrip()):
                continue
            if match[0].lower().startswith("t") and APART.match(text, match.start()):
                continue
            yield f"{match[0]!r}: write {instead}"


def too_often(place: str, texts: Iterable[str]) -> Iterator[str]:
    """The words of ``SELDOM`` that the texts of a place have more often than it may."""
    whole = "\n".join(texts)
    for words, (instead, most) in SELDOM.items():
        number = len(re.findall(rf"\b(?:{words})\b", whole, re.I))
        if number > most.get(place, 0):
            yield f"{words} {number} times, {most.get(place, 0)} before: write {instead}"


def files() -> list[Path]:
    """Every file with prose of ours; the glossary names the words themselves."""
    code = [path for folder in CODE for path in sorted((ROOT / folder).rglob("*.py"))]
    pages = [path for place in PAGES for path in (
        sorted((ROOT / place).rglob("*.md")) if (ROOT / place).is_dir() else [ROOT / place])]
    # The glossary names the words; the page on elections quotes what libraries
    # promise, and the table of sabotage has the names of its kinds.
    names_them = ("glossary.md", "election.md", "sabotage.md", Path(__file__).name)
    return [path for path in (*code, *pages) if path.name not in names_them]


@pytest.mark.parametrize("place", [*CODE, *PAGES])
def test_each_thing_has_one_word(place: str) -> None:
    """The field's, as the glossary has it."""
    said = [(path, line, text) for path in files() if path.is_relative_to(ROOT / place)
            for line, text, _ in texts_of(path)]
    assert [f"{path.relative_to(ROOT)}:{line}: {what}" for path, line, text in said
            for what in found_in(text)] == []
    assert list(too_often(place, (text for _, _, text in said))) == []


@pytest.mark.parametrize("place", CODE)
def test_a_docstring_says_what_is_returned_or_done(place: str) -> None:
    """It does not begin like a question."""
    own = [path for path in files() if path.is_relative_to(ROOT / place) and path.suffix == ".py"]
    assert [f"{path.relative_to(ROOT)}:{line}: {text[:60]!r}" for path in own
            for line, text, is_docstring in texts_of(path)
            if is_docstring and RIDDLES.match(text.lstrip())] == []


@pytest.mark.parametrize(("text", "number"), [
    ("Who waits is told.", 2), ("people who wait", 0), ("It tells a cycle from a tree.", 0),
    ("A waiter is notified.", 0), ("The circle.", 1), ("users, who know", 0),
])
def test_words_are_found_where_they_stand_for_tasks(text: str, number: int) -> None:
    """People may be who, and one thing may be told from another."""
    assert len(list(found_in(text))) == number


def test_a_word_that_is_used_seldom_may_not_come_more_often() -> None:
    """One more than a place has is too many, and a place that is not listed has none."""
    assert len(list(too_often("CONTRIBUTING.md", ["A task whose turn it is."]))) == 0
    assert len(list(too_often("CONTRIBUTING.md", ["Whose turn?", "A task whose turn it is."]))) == 1
    assert len(list(too_often("README.md", ["There is room."]))) == 1
