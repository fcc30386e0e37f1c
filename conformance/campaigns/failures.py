"""A target that fails again and again: after how many cases it is asked no more, and one message.

A target that hangs costs a time limit each time. Where a few cases have failed in one way, more of
them say no more: the run ends there, on every engine at the same case, and reports the failure
once, with the shortest program that was seen to lead to it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from ...spec.notation.labels import counted
from ..adapters.child import LATE
from ..suites.results import ERROR, CaseRow

__all__ = ["GIVEN_UP_AFTER", "failure_in_words", "is_given_up", "until_given_up"]

GIVEN_UP_AFTER: Final = 3
"""Cases that fail alike, after which no more are run."""

_AFTER: Final = " after: "
"""Separates the failure from the program in a message."""


def _kind(row: CaseRow) -> str:
    """The key of failures that are alike: being late, or the words before the program."""
    return LATE if LATE in row.message else row.message.partition(_AFTER)[0]


def until_given_up(rows: Iterable[CaseRow]) -> Iterator[CaseRow]:
    """The rows of cases in their order, up to the one with which the target is given up."""
    seen: dict[str, int] = {}
    for row in rows:
        yield row
        if row.verdict == ERROR:
            kind = _kind(row)
            seen[kind] = seen.get(kind, 0) + 1
            if seen[kind] == GIVEN_UP_AFTER:
                return


def is_given_up(rows: Sequence[CaseRow]) -> bool:
    """True if so many of some rows are failures that are alike that no more cases are run."""
    kinds = Counter(_kind(row) for row in rows if row.verdict == ERROR)
    return any(times >= GIVEN_UP_AFTER for times in kinds.values())


def failure_in_words(rows: Sequence[CaseRow]) -> str:
    """The failures of a target, each kind once, by its shortest message; empty if there are none.
    """
    kinds: dict[str, list[CaseRow]] = {}
    for row in rows:
        if row.verdict == ERROR:
            kinds.setdefault(_kind(row), []).append(row)
    return " ".join(_in_words(alike, len(rows)) for alike in kinds.values())


def _in_words(alike: Sequence[CaseRow], of: int) -> str:
    shortest = min(alike, key=lambda row: (row.message.partition(_AFTER)[2].count(";"), row.case))
    again = "" if len(alike) < GIVEN_UP_AFTER else ", after which it was asked no more"
    return f"{shortest.message} ({len(alike)} of {counted(of, 'case')}{again})"
