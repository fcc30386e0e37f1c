"""``make coverage`` counts the claims of the source texts, and says which are not answered."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.coverage import (
    TEXTS, Book, Row, complaints, numbering, rows_of, the_book,
)
from checkvalve.spec.notation.errors import InputError

SOURCES = Path(__file__).parent.parent / "docs" / "sources"
BOOK = Book({"FLOW-1", "FLOW-E1", "KAFKA-C60"}, {"FLOW-E1"}, {"KAFKA-C60"}, {"flow.credit.Link"})


def page(*rows: str) -> str:
    """A page with one table of claims."""
    return "\n".join(["<!-- coverage -->", "", "| row | the text | kind | answered by |",
                      "|---|---|---|---|", *rows, "", "<!-- coverage. -->", ""])


def test_a_row_has_numbers_a_claim_a_kind_and_an_answer() -> None:
    """Several claims with one answer stand in one row."""
    text = page("| K1 | it ends | rule | FLOW-1 |", "| K2 to K3 | a | open | |")
    assert list(rows_of(text)) == [
        Row(("K1",), "it ends", "rule", "FLOW-1"), Row(("K2", "K3"), "a", "open", "")]


@pytest.mark.parametrize("text", [
    page("| FLOW-1 | it ends | rule | FLOW-1 |"), page("| K1 | it ends | FLOW-1 |"),
    page("| K1 | a | rule | FLOW-1 |").replace("<!-- coverage. -->", "")])
def test_a_table_that_cannot_be_read_is_refused(text: str) -> None:
    """Else its claims would count as if they were not there."""
    with pytest.raises(InputError):
        list(rows_of(text))


@pytest.mark.parametrize(("kind", "answer", "why"), [
    ("rule", "FLOW-1; KAFKA-4443", ""),
    ("rule", "it is so", "it names no rule"),
    ("rule", "FLOW-1, FLOW-99", "there is no rule FLOW-99"),
    ("claim", "FLOW-E1", ""),
    ("claim", "FLOW-1", "it names no claim that the book refutes"),
    ("variant", "`flow.credit.Link`", ""),
    ("variant", "`flow.credit.Gone`", "no row of the book is about flow.credit.Gone"),
    ("variant", "FLOW-1", "it names no machine as `chapter.Machine`"),
    ("unseen", "KAFKA-C60", ""),
    ("unseen", "FLOW-1", "it names no rule of an UNSEEN table"),
    ("left out", "a matter of measurement", ""),
    ("left out", "", "it gives no reason"),
    ("open", "", "it is open"),
    ("perhaps", "FLOW-1", "there is no kind 'perhaps'"),
])
def test_an_answer_names_what_its_kind_asks_for(kind: str, answer: str, why: str) -> None:
    """And nothing that the book does not have."""
    found = list(complaints([Row(("K1",), "a claim", kind, answer)], BOOK))
    assert found == ([f"K1: {why}"] if why else [])


def test_a_number_that_is_missing_or_stands_twice_is_told() -> None:
    """A claim without a row would be forgotten, one with two has two answers."""
    rows = [Row((number,), "a claim", "rule", "FLOW-1") for number in ("K1", "K3", "K3")]
    assert list(numbering(rows)) == ["K3 is answered 2 times", "K2 has no row"]


def test_no_claim_of_the_texts_is_forgotten() -> None:
    """Their numbers run through all pages."""
    rows = [row for name in TEXTS for row in rows_of((SOURCES / f"{name}.md").read_text())]
    assert rows and list(numbering(rows)) == []


@pytest.mark.parametrize("name", TEXTS)
def test_every_claim_of_a_text_is_answered(name: str) -> None:
    """As ``make coverage`` decides it on the pages as they are."""
    assert list(complaints(list(rows_of((SOURCES / f"{name}.md").read_text())), the_book())) == []
