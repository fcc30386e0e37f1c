"""The page of mistakes that streams make: complete, and true of the zoo and of the chapters."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from checkvalve.conformance.systems.catalogue import zoo
from checkvalve.spec.chapters import chapters

PAGE = Path(__file__).resolve().parent.parent / "docs" / "sources" / "mistakes.md"
ROWS = dict(re.findall(r"^\| ([MH]\d+) \| .* \| (.*) \|$", PAGE.read_text(), re.MULTILINE))
KINDS = (1, 2, 3, 5, 6, 7, 9, 10, 11, 13, 14, 15, 16, 17, 18, 19, 20, 21, 23, 24, 26, 27, 29, 30)
BUGS = range(1, 41)


def test_every_mistake_and_every_bug_has_a_row() -> None:
    """By number, in order, each once."""
    assert list(ROWS) == [*(f"M{each}" for each in KINDS), *(f"H{each}" for each in BUGS)]


@pytest.mark.parametrize("row", ROWS)
def test_a_row_names_what_there_is_or_says_why_there_is_nothing(row: str) -> None:
    """A twin of the zoo, or a machine that is expected to violate a rule."""
    found = ROWS[row]
    names = re.findall(r"`([^`]+)`", found)
    if not names:
        assert found.startswith("none: ") and len(found.split()) > 8 and found[-1] == "."
    for name in names:
        assert name in zoo() if "." not in name else is_broken(name), name


def is_broken(machine: str) -> bool:
    """True if the chapter of a machine expects that it violates a rule."""
    chapter, _, name = machine.rpartition(".")
    return any(row.machine.__name__ == name and row.verdict == "violated"
               for each in chapters([chapter]) for row in (*each.expectations, *each.refinements))
