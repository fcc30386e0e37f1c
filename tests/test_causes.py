"""Of several rules that are broken for one reason, the report names the reason, and first."""

from __future__ import annotations

from functools import cache

from checkvalve.conformance.campaigns.case import RunSettings, plan, run_case
from checkvalve.conformance.campaigns.causes import causes_of
from checkvalve.conformance.campaigns.summary import FOLLOWS, Summary, summarise
from checkvalve.conformance.suites.results import VIOLATED, CaseRow
from checkvalve.conformance.suites.fixture import read_fixture
from checkvalve.conformance.systems.catalogue import suite_named

LOSES = "zoo:asyncio-get-loses-item"
"""A get that is cancelled after it was handed its item loses it."""


@cache
def rows_of(suite: str, target: str, cases: int) -> tuple[CaseRow, ...]:
    """The rows of some cases."""
    return tuple(run_case(suite, target, case, RunSettings(programs=10))
                 for case in plan(suite, cases=cases, seed=0))


def summary_of(suite: str, target: str, cases: int) -> Summary:
    """The summary of these cases."""
    return summarise(suite, target, rows_of(suite, target, cases))


def test_an_item_that_is_lost_with_a_cancelled_take_is_told_as_that() -> None:
    """Not as a queue that holds too much and reorders; those rules follow. That ``asyncio.Queue``
    lets newcomers overtake has nothing to do with it, and stays."""
    summary = summary_of("awaits.queue", LOSES, 12)
    broken = {row.rule for row in rows_of("awaits.queue", LOSES, 12) if row.verdict == VIOLATED}
    assert len(broken) > 3 and summary.those(VIOLATED) == ("QUEUE-9", "QUEUE-12")
    follows = [each for each in summary.results if each.verdict == FOLLOWS]
    assert {each.rule.id for each in follows} == broken - {"QUEUE-9", "QUEUE-12"}
    assert all(each.follows_from == ("QUEUE-9",) and not each.fixture for each in follows)
    lengths = [each.length for each in summary.fixtures]
    assert len(lengths) == 2 and lengths == sorted(lengths)


def test_a_fixture_names_the_earlier_reply_that_explains_it() -> None:
    """With the step, and with what would have done in its place."""
    found = [read_fixture(row.fixture, "a row") for row in rows_of("awaits.queue", LOSES, 12)
             if row.fixture and row.rule in ("QUEUE-1", "QUEUE-3")]
    assert found
    assert all(("cancelled_take", "consumer 1 gets a1") in each.culprits for each in found)


def test_a_rule_that_breaks_in_another_way_too_has_a_cause_of_its_own() -> None:
    """One failure that the other rule does not explain is enough."""
    rows = [*rows_of("awaits.queue", LOSES, 12), *rows_of("queue", "deque", 2)]
    causes = causes_of(suite_named("awaits.queue"), rows)
    assert "QUEUE-1" not in causes and "QUEUE-9" in causes.values()
