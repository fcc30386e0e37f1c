"""``make coverage``: by what each claim of the source texts is answered, as docs/sources/ says it.

Each page on a source text has tables of its claims between two marks. A row names the claim's
number, the claim, the kind of its answer, and the answer itself; docs/sources/README.md says what
each kind has to name. This program counts the rows and holds them against the book. It ends with 1
if a row is open, if a number is missing, or if a row cites what the book does not have.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from checkvalve.spec.chapters import Chapter, chapter_names, chapters
from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.notation.rules import CLAIM, natural

from .published import table

__all__ = ["KINDS", "TEXTS", "Book", "Row", "complaints", "main", "numbering", "rows_of",
           "the_book"]

TEXTS: Final = ("000", "001", "002", "003", "004")
KINDS: Final = ("rule", "claim", "variant", "unseen", "left out", "open")
_BEGIN, _END = "<!-- coverage -->", "<!-- coverage. -->"
_NUMBERS: Final = re.compile(r"([A-Z])(\d+)(?: to \1(\d+))?")
_MACHINE: Final = re.compile(r"`([a-z]+\.[a-z_0-9]+)\.([A-Z]\w*)`")
_WORDS: Final = 3
"""A reason has at least so many words."""


@dataclass(frozen=True)
class Row:
    """One row of a page: the numbers of the claims that it answers, and the answer."""

    numbers: tuple[str, ...]
    claim: str
    kind: str
    answer: str

    @property
    def name(self) -> str:
        """``K23``, or ``T8 to T10``."""
        return self.numbers[0] if len(self.numbers) == 1 else (
            f"{self.numbers[0]} to {self.numbers[-1]}")


@dataclass
class Book:
    """What a row may cite: the ids of rules, and machines by their full names."""

    rules: set[str] = field(default_factory=set)
    claims: set[str] = field(default_factory=set)
    unseen: set[str] = field(default_factory=set)
    machines: set[str] = field(default_factory=set)

    def cited(self, text: str) -> list[str]:
        """What looks like the id of a rule in a text; Kafka's and Storm's issues do not."""
        prefixes = "|".join(sorted({id.partition("-")[0] for id in self.rules}))
        found = re.findall(rf"\b(?:{prefixes})-[A-Z]*\d+(?:\.\d+)*[A-Z]*\b", text)
        return [each for each in found if not re.fullmatch(r"(?:STORM|KAFKA)-\d+", each)]


def the_book(of: Sequence[Chapter] | None = None) -> Book:
    """What the chapters have; a claim is a rule that some row of them expects to be violated."""
    book = Book()
    for chapter in chapters() if of is None else of:
        book.rules |= {rule.id for rule in chapter.rules} | {rule.id for rule in chapter.lemmas}
        violated = {row.rule for row in chapter.expectations
                    if row.verdict == "violated" or row.where}
        book.claims |= {rule.id for rule in chapter.rules
                        if rule.strength is CLAIM and rule.id in violated}
        book.unseen |= set(chapter.unseen)
        book.machines |= {f"{chapter.name}.{machine.__name__}" for machine in (
            *(row.machine for row in chapter.expectations),
            *(tie.machine for tie in chapter.refinements))}
    return book


def rows_of(text: str) -> Iterator[Row]:
    """The rows of a page's tables of claims, in its order; InputError for one without a number."""
    for part in text.split(_BEGIN)[1:]:
        body, ended, _ = part.partition(_END)
        if not ended:
            raise InputError(f"a table of claims has no end; write {_END} below it")
        lines = [line for line in body.splitlines() if line.startswith("|")]
        for line in lines[2:]:
            cells = [cell.strip() for cell in line.strip()[1:-1].split(" | ")]
            found = _NUMBERS.fullmatch(cells[0])
            if len(cells) != 4 or found is None:
                raise InputError(f"a row of claims is {line[:80]!r}",
                                 next_step="Write | K23 | the claim | rule | what answers it |.")
            letter, first, last = found.groups()
            numbers = range(int(first), int(last or first) + 1)
            yield Row(tuple(f"{letter}{each}" for each in numbers), *cells[1:])


def complaints(rows: Collection[Row], book: Book) -> Iterator[str]:
    """What is wrong with rows by themselves, each in words; nothing if all is answered."""
    for row in rows:
        yield from (f"{row.name}: {what}" for what in _wrong(row, book))


def numbering(rows: Collection[Row]) -> Iterator[str]:
    """Which claims have no row, or several, of all pages together."""
    count = Counter(number for row in rows for number in row.numbers)
    for number, times in count.items():
        if times > 1:
            yield f"{number} is answered {times} times"
    for letter in sorted({number[0] for number in count}):
        last = max(int(number[1:]) for number in count if number[0] == letter)
        for each in range(1, last + 1):
            if f"{letter}{each}" not in count:
                yield f"{letter}{each} has no row"


def _wrong(row: Row, book: Book) -> Iterator[str]:
    """What a row cites that the book does not have, and what its kind asks for and it lacks."""
    cited = book.cited(row.answer)
    for id in sorted({id for id in cited if id not in book.rules}, key=natural):
        yield f"there is no rule {id}"
    machines = [f"{chapter}.{name}" for chapter, name in _MACHINE.findall(row.answer)]
    for machine in machines:
        if machine not in book.machines:
            yield f"no row of the book is about {machine}"
    lacks = {
        "rule": not book.rules & set(cited) and "it names no rule",
        "claim": not book.claims & set(cited) and "it names no claim that the book refutes",
        "variant": not machines and "it names no machine as `chapter.Machine`",
        "unseen": not book.unseen & set(cited) and "it names no rule of an UNSEEN table",
        "left out": len(row.answer.split()) < _WORDS and "it gives no reason",
        "open": "it is open",
    }
    if wanting := lacks.get(row.kind, f"there is no kind {row.kind!r}"):
        yield str(wanting)


def main() -> int:
    """Read the pages, print the counts and what is wrong; 1 if anything is, else 0."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--docs", type=Path, default=Path("docs/sources"), help="the pages")
    options = parser.parse_args()
    book = the_book()
    pages = {name: list(rows_of((options.docs / f"{name}.md").read_text(encoding="utf-8")))
             for name in TEXTS}
    counts = {name: Counter(row.kind for row in rows for _ in row.numbers)
              for name, rows in pages.items()}
    wrong = list(numbering([row for rows in pages.values() for row in rows]))
    for name, rows in pages.items():
        wrong += [f"{name}: {what}" for what in complaints(rows, book)]
        wrong += [] if rows else [f"{name}: there is no row"]
    print("\n".join(table(list(_printed(counts)))))
    print(f"{len(book.rules)} rules in {len(chapter_names())} chapters.")
    for line in wrong:
        print(line)
    return int(bool(wrong))


def _printed(counts: dict[str, Counter[str]]) -> Iterator[tuple[str, ...]]:
    yield ("text", "claims", *KINDS)
    for name, count in {**counts, "all": sum(counts.values(), Counter[str]())}.items():
        yield (name, str(sum(count.values())), *(str(count[kind]) for kind in KINDS))


if __name__ == "__main__":
    sys.exit(main())
