"""What the oracles said, chapter by chapter."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..published import machine
from .expectations import Opinion

__all__ = ["Row", "origin", "sums"]


@dataclass(frozen=True)
class Row:
    """One promise: what the book says, what the oracles say, and processor seconds."""

    chapter: str
    words: str
    expected: str
    found: Opinion
    seconds: float

    @property
    def contradicted(self) -> bool:
        """Whether an oracle says something else than the book."""
        return bool({self.found.plain, self.found.tlc} - {"", self.expected})

    @property
    def sign(self) -> str:
        """``ok``, ``BAD``, or ``?`` where no oracle decided."""
        if self.contradicted:
            return "BAD"
        return "ok" if self.found.plain or self.found.tlc else "?"


HEADINGS = ("", "promises", "violated", "largest", "plain", "TLC", "contradicted")


def sums(rows: Sequence[Row]) -> Iterator[tuple[str, ...]]:
    """The rows of the table: headings, one for each chapter, and the sum.

    ``violated`` counts the promises that a rule is broken, ``largest`` is a number of states,
    ``plain`` and ``TLC`` are the promises that each decided.
    """
    yield HEADINGS
    for chapter in dict.fromkeys(row.chapter for row in rows):
        yield _sum(chapter, [row for row in rows if row.chapter == chapter])
    yield _sum("all", rows)


def _sum(name: str, rows: Sequence[Row]) -> tuple[str, ...]:
    numbers = (
        len(rows), sum(row.expected == "violated" for row in rows),
        max((row.found.states for row in rows), default=0),
        sum(bool(row.found.plain) for row in rows), sum(bool(row.found.tlc) for row in rows),
        sum(row.contradicted for row in rows))
    return (name, *(f"{number:,}" for number in numbers))


def origin(rows: Sequence[Row], commit: str, command: str) -> str:
    """Where the figures are from: commit, command, machine, and what it took."""
    minutes = sum(row.seconds for row in rows) / 60
    return textwrap.fill(
        f"At the commit {commit}, by `{command}`, on {machine()}: {minutes:.0f} minutes of "
        f"processor time.", 100, break_long_words=False, break_on_hyphens=False)
