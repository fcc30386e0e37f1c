"""Breaches that are left as they were seen: how many are kept, and which are made short."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from checkvalve.conformance.campaigns.case import RunSettings, plan, run_case
from checkvalve.conformance.campaigns.drafts import (
    Drafts, case_of, draft_in, is_draft, with_few_drafts, without_drafts,
)
from checkvalve.conformance.suites.results import FLAKY, VIOLATED, CaseRow, sort_rows

DRAFTING = RunSettings(programs=4, drafts=True)
CASE = plan("queue", cases=1, seed=0)[0]


def seen() -> CaseRow:
    """The row of a case with a breach that is left as it was seen."""
    row = run_case("queue", "deque", CASE, DRAFTING)
    assert row.verdict == VIOLATED and is_draft(row)
    return row


def test_what_is_kept_of_many_cases_does_not_grow_and_does_not_depend_on_their_order() -> None:
    """Of hundreds of breaches of one kind a handful has a text, those of the first cases."""
    row = seen()
    rows = [replace(row, case=10 * number) for number in range(300)]
    kept = sort_rows(with_few_drafts(rows))
    assert [each.case for each in kept if each.fixture] == [10 * number for number in range(8)]
    Random(1).shuffle(rows)
    assert sort_rows(with_few_drafts(rows)) == kept
    assert not any(each.fixture for each in without_drafts(kept))


def test_a_breach_that_is_taken_up_is_what_its_case_would_have_shown_at_once() -> None:
    """The same rule, words and fixture, with the program, the items and the rule from the row."""
    row = seen()
    at_once = run_case("queue", "deque", CASE, replace(DRAFTING, drafts=False))
    later = run_case("queue", "deque", case_of(row), DRAFTING)
    (whole,) = Drafts().with_found([row], [later])
    assert whole == at_once
    assert draft_in(row.fixture).to_text() == row.fixture


def test_more_are_taken_up_where_a_breach_does_not_come_again() -> None:
    """Two of a kind, and another one for each that was not steady; if it is late, one of a rule."""
    rows, drafts = [replace(seen(), case=10 * number) for number in range(6)], Drafts()
    assert [row.case for row in drafts.next_of(rows, late=False)] == [0, 10]
    assert [row.case for row in drafts.next_of(rows, late=True)] == [0]
    rows = drafts.with_found(rows, [replace(rows[0], fixture="{}"),
                                    replace(rows[1], verdict=FLAKY, fixture="{}")])
    assert [row.case for row in drafts.next_of(rows, late=False)] == [20]
    assert drafts.next_of(rows, late=True) == []
