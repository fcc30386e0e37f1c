"""The suite is tested by what it must catch: queues with one seeded bug each."""

from __future__ import annotations

import json
from functools import cache
from statistics import median

import pytest

from checkvalve.conformance.campaigns.case import (
    RunSettings, case_at, plan, run_case, suite_version,
)
from checkvalve.conformance.campaigns.places import place_of
from checkvalve.conformance.suites.results import VIOLATED, CaseRow
from checkvalve.conformance.suites.fixture import read_fixture
from checkvalve.conformance.suites.generate import GENERATOR
from checkvalve.conformance.suites.run import capabilities, run_program
from checkvalve.conformance.suites.suite import Program
from checkvalve.conformance.systems.catalogue import suite_named
from checkvalve.conformance.systems.targets import resolve_target

SUITE = suite_named("queue")

CAUGHT = {
    "swallowed-wakeup": ("QUEUE-10", 6),
    "deaf-producer": ("QUEUE-7", 4),
    "deaf-consumer": ("QUEUE-8", 3),
    "lossy-cancel": ("QUEUE-9", 5),
    "doubled-on-cancel": ("QUEUE-6", 5),
    "ghost-put": ("QUEUE-9", 5),
    "silent-drop": ("QUEUE-1", 2),
    "one-too-many": ("QUEUE-1", 2),
    "refuses-early": ("QUEUE-2", 1),
    "handed-back": ("QUEUE-9", 4),
    "last-in-first-out": ("QUEUE-3", 3),
    "youngest-put-first": ("QUEUE-12", 4),
    "says-oldest-drops-newest": ("QUEUE-17", 3),
    "says-newest-drops-oldest": ("QUEUE-17", 3),
}
"""The rule that each twin breaks, and the length of the shortest program that shows it."""


@cache
def rows_in_focus(target: str, rule_id: str) -> tuple[CaseRow, ...]:
    """The rows of the first six cases that look for a rule."""
    rules = SUITE.applicable(capabilities(SUITE, resolve_target(target), 1))
    position, every = [rule.id for rule in rules].index(rule_id), len(rules)
    return tuple(
        run_case("queue", target, case, RunSettings())
        for case in (case_at("queue", place_of(position + turn * every), 0) for turn in range(6))
    )


def shortest(name: str) -> int:
    """The steps of the shortest fixture of the rule that a twin breaks."""
    rule_id, _ = CAUGHT[name]
    fixtures = [row.fixture for row in rows_in_focus(f"zoo:{name}", rule_id)
                if row.rule == rule_id and row.verdict == VIOLATED]
    assert fixtures, f"{name} was not caught by {rule_id}"
    return min(read_fixture(text, name).length for text in fixtures)


@pytest.mark.parametrize("name", CAUGHT)
def test_a_twin_is_caught_by_the_rule_that_it_breaks(name: str) -> None:
    """The bug is found, and shrunk to the program that a person would have written."""
    assert shortest(name) <= CAUGHT[name][1]


def test_shrunk_failures_are_short() -> None:
    """Half of the twins' fixtures have at most four steps."""
    assert median(map(shortest, CAUGHT)) <= 4


def test_a_few_cases_find_a_plain_bug() -> None:
    """They try all capacities: with capacity 1 there is no order to keep."""
    rows = [run_case("queue", "zoo:last-in-first-out", case, RunSettings())
            for case in plan("queue", cases=6, seed=0)]
    assert "QUEUE-3" in {row.rule for row in rows if row.verdict == VIOLATED}


def test_a_dropping_queue_fails_both_by_refusing_nothing_and_by_losing() -> None:
    """deque(maxlen=…) accepts when full (QUEUE-1); that what it dropped is missed follows."""
    rows = [run_case("queue", "deque", case, RunSettings(programs=8))
            for case in plan("queue", cases=14, seed=0)]
    assert {row.rule for row in rows if row.verdict == VIOLATED} == {"QUEUE-1"}
    assert {"QUEUE-4": "QUEUE-1"} in [json.loads(row.follows) for row in rows]
    assert "QUEUE-7" not in json.loads(rows[0].exercised)  # it has no put


def test_a_row_names_the_version_of_what_its_seed_depends_on() -> None:
    """Another generator may draw other programs from the same seed."""
    (row,) = (run_case("queue", "reference", case, RunSettings(programs=1))
              for case in plan("queue", cases=1, seed=0))
    assert row.suite_version == suite_version(SUITE)
    assert f"+generator.{GENERATOR}" in row.suite_version


def test_acks_that_cancel_keep_a_topology_from_rest_and_break_nothing_before() -> None:
    """With several messages as well, with acks that wait; so the hunt need not look for one by
    one."""
    suite, target = suite_named("storm.topology"), resolve_target("zoo:cluster-double-ack")
    focus = suite.rule("STORM-C13")
    assert focus is not None
    found: list[list[str]] = []

    def attempt(program: Program) -> None:
        run = run_program(suite, target, program, 2)
        found.append([breach.rule.id for breach in run.breaches])

    suite.explore(capabilities(suite, target, 2), focus, 2, 16, attempt)
    assert {"STORM-C13"} == {each[0] for each in found if each} and len(found) == 4
