"""Drafts: breaches as they were seen, of which a run makes only a few into failures to show.

To make one breach short takes some forty runs of its program. A target that breaks a rule does so
in most of its cases, and a summary shows the shortest failure of each rule: so a run of many cases
leaves each breach as it was seen, in the row of its case, and afterwards takes up some of each
*kind*, which is a rule and what was observed when it broke. These are seen again, made shorter and
written down; of the others the rows say that the rule was broken, and no more.

The smallest are taken up, of equal ones that of the first case, and one of a long program only if
no short one is left. So which they are depends on the rows alone, and on no engine. More are taken
up where a breach did not come again each time.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from ..suites.exchange import Act
from ..suites.fixture import Fixture
from ..suites.results import VIOLATED, Case, CaseRow
from ..suites.suite import Program
from .places import is_long

__all__ = ["Draft", "Drafts", "case_of", "draft_in", "is_draft", "with_few_drafts",
           "without_drafts"]

Kind = tuple[str, str]
"""The id of a rule, and the action that was observed when it broke."""

_TAKEN_UP: Final = 2
"""Breaches of a kind that are made into failures. With one, some rules are shown by a failure that
is longer than need be, or seem to follow from others; with two, none of 15 twins differed from what
all of their failures say."""

_KEPT: Final = 8
"""Breaches of a kind that wait to be taken up: the others do if they do not come again."""

_MARK: Final = '{"draft": '
"""The beginning of a draft, where a row has else a fixture."""


@dataclass(frozen=True)
class Draft:
    """A breach of a rule as it was seen in a case.

    ``program`` is the whole program, which could name ``items`` (0: as many as go with its length);
    ``tried`` are those that the case ran last, this one included. ``seen`` is what is reported if
    it never comes again.
    """

    rule: str
    program: Program
    items: int
    tried: tuple[Program, ...]
    seen: Fixture

    @property
    def kind(self) -> Kind:
        """The rule, and what was observed."""
        observed = str(self.seen.document["because"].get("observation", ""))
        return self.rule, observed.partition("(")[0]

    def to_text(self) -> str:
        """The draft as the text that stands in the row of its case."""
        return _MARK + json.dumps({
            "rule": self.rule, "program": self.program, "items": self.items, "tried": self.tried,
            "seen": self.seen.document}, ensure_ascii=False) + "}"


def is_draft(row: CaseRow) -> bool:
    """True if the breach of a row was left as it was seen."""
    return row.fixture.startswith(_MARK)


def draft_in(text: str) -> Draft:
    """The draft of a text that ``Draft.to_text`` wrote."""
    told = json.loads(text)["draft"]
    return Draft(told["rule"], _program(told["program"]), told["items"],
                 tuple(_program(each) for each in told["tried"]), Fixture(told["seen"]))


def _program(acts: Iterable[Sequence[Any]]) -> Program:
    return tuple(Act(do, pick, tuple((key, value) for key, value in about))
                 for do, pick, about in acts)


class _Waiting:
    """The drafts that wait to be taken up: by kind, their places in the order of their sizes."""

    def __init__(self) -> None:
        self._places: dict[Kind, list[tuple[bool, int, int]]] = {}

    def adds(self, row: CaseRow) -> int | None:
        """Add the draft of a row; the case of the draft that it displaces, if it does: perhaps its
        own."""
        draft = draft_in(row.fixture)
        places = self._places.setdefault(draft.kind, [])
        places.append((is_long(row.case), draft.seen.length, row.case))
        places.sort()
        return places.pop()[2] if len(places) > _KEPT else None


def with_few_drafts(rows: Iterable[CaseRow]) -> Iterator[CaseRow]:
    """The rows, in any order; the drafts of which none is taken up are without their text."""
    waiting = _Waiting()
    held: dict[int, CaseRow] = {}
    for row in rows:
        if not is_draft(row):
            yield row
            continue
        held[row.case] = row
        displaced = waiting.adds(row)
        if displaced is not None:
            yield _without(held.pop(displaced))
    yield from held.values()


def without_drafts(rows: Iterable[CaseRow]) -> list[CaseRow]:
    """The rows; what is a draft still has no text."""
    return [_without(row) if is_draft(row) else row for row in rows]


def _without(row: CaseRow) -> CaseRow:
    return replace(row, fixture="")


@dataclass
class Drafts:
    """The drafts of a run: which of them are taken up next, and what came of them.

    ``steady`` counts those that came again each time, by kind.
    """

    steady: Counter[Kind] = field(default_factory=Counter)

    def next_of(self, rows: Sequence[CaseRow], late: bool) -> list[CaseRow]:
        """The rows with the drafts that are taken up next. If it is ``late``, only what a verdict
        takes: one of each rule of which no failure is known."""
        by_kind: dict[Kind, list[tuple[bool, int, int, CaseRow]]] = {}
        for row in filter(is_draft, rows):
            draft = draft_in(row.fixture)
            by_kind.setdefault(draft.kind, []).append(
                (is_long(row.case), draft.seen.length, row.case, row))
        if late:
            return _one_of_each_rule(by_kind.values(), _shown(rows))
        chosen = [each[-1] for kind, found in by_kind.items()
                  for each in _of_kind(found, _TAKEN_UP - self.steady[kind])]
        return sorted(chosen, key=lambda row: row.case)

    def with_found(self, rows: Sequence[CaseRow], found: Sequence[CaseRow]) -> list[CaseRow]:
        """The rows, with what came of drafts in their places."""
        by_case: Mapping[int, CaseRow] = {row.case: row for row in found}
        together: list[CaseRow] = []
        for row in rows:
            came = by_case.get(row.case) if is_draft(row) else None
            if came is not None:
                self.steady[draft_in(row.fixture).kind] += came.verdict == VIOLATED
                row = replace(row, verdict=came.verdict, rule=came.rule, message=came.message,
                              fixture=came.fixture, follows=came.follows)
            together.append(row)
        return together


def _of_kind(
    found: list[tuple[bool, int, int, CaseRow]], lacking: int
) -> list[tuple[bool, int, int, CaseRow]]:
    """The next of a kind. Those of long programs, each of which costs as much as many short ones,
    are for kinds that no short program shows."""
    if 0 < lacking < _TAKEN_UP:
        found = [each for each in found if not each[0]]
    short = [each for each in found if not each[0]]
    return sorted(short or found, key=_size)[:max(0, lacking)]


def _size(each: tuple[bool, int, int, CaseRow]) -> tuple[bool, int, int]:
    return each[:3]


def _one_of_each_rule(
    groups: Iterable[list[tuple[bool, int, int, CaseRow]]], shown: Collection[str]
) -> list[CaseRow]:
    smallest: dict[str, CaseRow] = {}
    for each in sorted((each for found in groups for each in found), key=_size):
        if each[-1].rule not in shown:
            smallest.setdefault(each[-1].rule, each[-1])
    return list(smallest.values())


def _shown(rows: Iterable[CaseRow]) -> Collection[str]:
    return {row.rule for row in rows
            if row.verdict == VIOLATED and row.fixture and not is_draft(row)}


def case_of(row: CaseRow) -> Case:
    """The case that takes up the draft of a row."""
    return Case(row.case, row.seed, row.fixture)
