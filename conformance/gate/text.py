"""A report for a person: a table for each section, and one closing line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import click

from checkvalve.spec.notation.labels import counted

from .report import Judgement, Report, Row, time_of

__all__ = ["heading", "lines_of", "verdict_line"]

_TITLES = {"designs": "Designs", "suites": "Suites", "chapters": "Chapters"}
_WORDS: dict[Judgement, tuple[str, str]] = {
    "as expected": ("ok", "green"), "violated": ("VIOLATED", "red"),
    "unknown": ("UNKNOWN", "yellow"), "unavailable": ("not here", "yellow"),
    "error": ("ERROR", "red"), "follows": ("follows", "yellow"),
    "not shown": ("not shown", "yellow"), "accepted": ("accepted", "yellow"),
}
_WIDEST = max(len(word) for word, _ in _WORDS.values())
_BY_NAME = 5
_SUBJECT = 48
"""Columns for the subject; a longer one moves the rest of its line."""


def heading(section: str) -> str:
    """The line above a section's rows."""
    return click.style(_TITLES[section], bold=True)


def lines_of(rows: Sequence[Row]) -> Iterator[str]:
    """The lines that show the rows of one subject.

    What is as expected and needs no word beyond that shares one line, and so does what the target
    says it cannot show; any other row has its own. Below stands what was taken for
    granted, and what is odd, if it is a design. The time of a run that judged all of them stands in
    the first line alone.
    """
    seconds = {True: f"{time_of(row for row in rows if row.shares_time):.2f} s in all"}

    def timed(row: Row, found: str, which: Sequence[Row]) -> str:
        alone = f"{time_of(which):.2f} s"
        return _line(row, found, seconds.pop(True, "") if row.shares_time else alone)

    quiet = [row for row in rows if row.judgement == "as expected" and not row.message]
    if quiet:
        yield timed(quiet[0], _together(quiet), quiet)
    unshown = [row for row in rows if row.judgement == "not shown"]
    if unshown:
        yield timed(unshown[0], _reasons(unshown), unshown)
    for row in rows:
        if row not in quiet and row not in unshown:
            yield timed(row, _told(row), [row])
            if row.message:
                yield f"{'':{_WIDEST + 4}}{row.message}"
            yield from (f"{'':{_WIDEST + 2}}{line}" for line in row.story)
    for row in rows[:1]:
        yield from (f"{'':{_WIDEST + 2}}{line}" for line in row.notes())


def _together(rows: Sequence[Row]) -> str:
    """A few rows by name, ``deadlock: found as expected, growth: none``; more by number."""
    if len(rows) <= _BY_NAME:
        return ", ".join(f"{row.claim()}{_as_expected(row.found)}" for row in rows)
    counts = Counter(row.found for row in rows)
    if rows[0].section == "designs":
        others = [f"{row.claim()}{_as_expected(row.found)}" for row in rows if row.found != "holds"]
        return ", ".join([f"{counted(counts['holds'], 'property', 'properties')} hold", *others])
    return ", ".join(f"{number} {found}{_as_expected(found)}"
                     for found, number in counts.most_common())


def _why(report: Report) -> str:
    """The reasons of what was not shown, and how many rules each."""
    reasons = Counter(str(row.details.get("reason")) for row in report.rows
                      if row.judgement == "not shown")
    return f": {', '.join(f'{number} {reason}' for reason, number in reasons.most_common())}"


def _reasons(rows: Sequence[Row]) -> str:
    """Rules that were not shown, by their reasons."""
    ids: dict[str, list[str]] = {}
    for row in rows:
        ids.setdefault(str(row.details.get("reason")), []).append(row.property)
    return ", ".join(f"{len(each)} {reason} ({', '.join(each)})" for reason, each in ids.items())


def _as_expected(found: str) -> str:
    return " as expected" if found == "violated" else ""


def _told(row: Row) -> str:
    if row.judgement in ("unavailable", "error"):
        return row.found
    return row.claim() if row.judgement == "as expected" else (
        f"{row.claim()}, expected {row.wanted()}")


def _line(row: Row, found: str, seconds: str) -> str:
    word, colour = _WORDS[row.judgement]
    mark = click.style(f"{word:<{_WIDEST}}", fg=colour)
    return f"  {mark}  {row.subject:<{_SUBJECT}}  {found}{f'  ({seconds})' if seconds else ''}"


def verdict_line(report: Report) -> str:
    """The one line that the whole run comes to."""
    counts = report.counts
    told = [f"{number} {judgement}{_why(report) if judgement == 'not shown' else ''}"
            for judgement, number in counts.items() if number and judgement != "as expected"]
    every = f"{counted(len(report.rows), 'check')} in {report.seconds:.1f} s"
    word, colour = {
        "as expected": ("all as expected", "green"), "violated": ("VIOLATED", "red"),
        "unknown": ("UNKNOWN", "yellow"), "error": ("ERROR", "red"),
    }[report.verdict]
    rest = f"; {'; '.join(told)}" if told else ""
    return f"Gate: {click.style(word, fg=colour, bold=True)} ({every}{rest})"
