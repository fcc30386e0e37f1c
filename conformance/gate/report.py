"""The findings of a gate: rows, each judged by what was expected of it, and one verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from checkvalve.spec.design.why.findings import DesignReport

__all__ = [
    "EXIT_CODES", "GRAVITY", "Judgement", "Key", "Place", "Report", "Row", "Section", "judge",
    "time_of",
]

Judgement = Literal[
    "as expected", "violated", "follows", "not shown", "unknown", "unavailable", "error",
    "accepted"]
"""*violated*: found something else than expected (also where a violation was expected and
none was found). *follows*: broken only after another rule in the same run; that rule's row decides.
*not shown*: the target says itself that it cannot show the rule, or the configuration says so.
*unavailable*: an optional target that this machine cannot run. *accepted*: violated or unknown, and
a baseline lists it, or it was so before the change."""

Section = Literal["designs", "suites", "chapters"]

Key = tuple[str, str, str]
"""The section, the subject and the property of a row."""

EXIT_CODES: Mapping[Judgement, int] = {
    "as expected": 0, "error": 64, "violated": 1, "follows": 0, "not shown": 0,
    "unknown": 2, "unavailable": 0, "accepted": 0,
}
TARGET_FAILED = 69
GRAVITY: Mapping[Judgement, int] = {"unknown": 1, "violated": 2, "error": 3}
"""The judgements that let a gate fail, and how grave each is."""
_GRAVEST_FIRST = sorted(GRAVITY, key=GRAVITY.__getitem__, reverse=True)


@dataclass(frozen=True)
class Place:
    """A place in a file, with a path from the current folder: line and column from 1."""

    file: str
    line: int = 1
    column: int = 1


@dataclass(frozen=True)
class Row:
    """One expectation and what was found.

    ``subject`` is the design, ``suite on target``, or the machine with its constants;
    ``property`` is a rule's id or what a design promises. ``message`` says in one line what
    the reader needs beyond that. ``details`` are for the JSON file. ``story`` has the lines with
    which a violation can be acted upon, and ``place`` is where to look. ``shares_time``: one run
    judged all rows of the subject together, and ``seconds`` is the time of that run; then
    ``own_seconds`` is the time of the cases that looked for this rule, if it is known. ``checked``
    is the report on the design that a row is about, for pages.
    """

    section: Section
    subject: str
    property: str
    expected: str
    found: str
    judgement: Judgement
    message: str = ""
    seconds: float = 0.0
    details: Mapping[str, Any] = field(default_factory=dict)
    story: tuple[str, ...] = ()
    place: Place | None = None
    shares_time: bool = False
    own_seconds: float | None = None
    checked: DesignReport | None = field(default=None, compare=False, repr=False)

    @cached_property  # the name `property` is that of a field here
    def key(self) -> Key:
        """The names of the row, by which it is found in another report."""
        return self.section, self.subject, self.property

    def with_fixture(self, path: str, command: str) -> Row:
        """The row of a broken rule; its fixture was saved and is replayed by ``command``."""
        more = (f"  Saved as {path}", f"  Replay it: {command}")
        return replace(self, details={**self.details, "saved_as": path, "replay": command},
                       story=(*self.story, *more) if self.story else ())

    def title(self) -> str:
        """The property for people: of a design the fact that it is about."""
        from checkvalve.spec.design.reading.properties import fact

        return fact(self.property) if self._is_of_a_design() else self.property

    def claim(self) -> str:
        """The property and what was found, for people."""
        return f"{self.title()}: {self._words(self.found)}"

    def wanted(self) -> str:
        """The expectation, for people."""
        return self._words(self.expected)

    def _is_of_a_design(self) -> bool:
        from checkvalve.spec.design.reading.properties import is_property

        return self.section == "designs" and is_property(self.property)

    def _words(self, verdict: str) -> str:
        from checkvalve.spec.design.reading.properties import FOUND

        return FOUND.get(verdict, verdict) if self._is_of_a_design() else verdict

    def notes(self) -> list[str]:
        """The assumptions about a design and its lints, line by line."""
        if self.section != "designs":
            return []
        from ..designs.text import notes

        return list(notes(self.details.get("assumed", ()), self.details.get("lints", ())))


@dataclass(frozen=True)
class Report:
    """All rows of one run, in the order of the configuration. ``compared`` is what a comparison
    with a baseline or a revision found, as the document has it."""

    config: str
    rows: tuple[Row, ...]
    seconds: float
    compared: Mapping[str, Any] = field(default_factory=dict)

    @property
    def verdict(self) -> Judgement:
        """The gravest judgement among the rows.

        What is unavailable or not shown decides nothing, unless it is all that there is.
        """
        there = {row.judgement for row in self.rows}
        if there and there <= {"unavailable", "not shown"}:
            return "unknown"
        return next((grave for grave in _GRAVEST_FIRST if grave in there), "as expected")

    @property
    def exit_code(self) -> int:
        """0 all as expected, 1 something violated, 2 something unknown, 64 bad input, 69 where all
        that could not be run are targets that failed."""
        errors = [row for row in self.rows if row.judgement == "error"]
        if errors and all(row.details.get("fault") == "target" for row in errors):
            return TARGET_FAILED
        return EXIT_CODES[self.verdict]

    @property
    def counts(self) -> dict[Judgement, int]:
        """The number of rows by judgement."""
        counted = Counter(row.judgement for row in self.rows)
        return {judgement: counted[judgement] for judgement in EXIT_CODES}

    def document(self) -> dict[str, Any]:
        """The report as plain data; docs/schemas/gate.json describes it."""
        return {
            "verdict": self.verdict, "exit_code": self.exit_code, "counts": self.counts,
            "config": self.config, "seconds": round(self.seconds, 3),
            **self.compared, "results": [_plain(row) for row in self.rows],
        }


def _plain(row: Row) -> dict[str, Any]:
    """The row as plain data, without the report on its design."""
    plain = asdict(replace(row, checked=None))
    del plain["checked"]
    own = row.own_seconds
    return {**plain, "seconds": round(row.seconds, 3), "story": list(row.story),
            "own_seconds": None if own is None else round(own, 3)}


def judge(expected: str, found: str) -> Judgement:
    """The judgement of a finding, by what was expected of it."""
    if found == expected:
        return "as expected"
    return "unknown" if found == "unknown" else "violated"


def time_of(rows: Iterable[Row]) -> float:
    """The seconds that the rows took together; a run that judged several of them counts once."""
    apart, runs = 0.0, dict[tuple[str, str], float]()
    for row in rows:
        if row.shares_time:
            runs[row.section, row.subject] = row.seconds
        else:
            apart += row.seconds
    return apart + sum(runs.values())
