"""The needs of each rule are seen in runs, and written by hand only where these say less."""

from __future__ import annotations

from importlib.resources import files
from itertools import chain, combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.needs import derived, groups_of
from checkvalve.conformance.suites import needs
from checkvalve.conformance.suites.history import HistorySuite
from checkvalve.conformance.suites.suite import Suite
from checkvalve.conformance.systems.catalogue import SYSTEMS

QUICK = ("rate", "bookkeeper.memtable")
"""Suites with references that are asked in a few seconds."""

OPERATIONS = "abcde"

ways = st.frozensets(st.sampled_from(OPERATIONS), min_size=1)

@pytest.mark.parametrize("name", SYSTEMS)
def test_each_rule_has_its_needs_in_one_place(name: str) -> None:
    """By hand, or in the table; a rule with neither would apply to targets that can do nothing."""
    system = SYSTEMS[name]
    suite = system.suite
    assert isinstance(suite, Suite | HistorySuite)
    by_hand, found = set(suite.needs), set(needs.needs_of(name))
    assert not by_hand & found
    assert by_hand | found == {rule.id for rule in suite.rules()}
    named = {each for rule in suite.rules() for group in suite.groups(rule) for each in group}
    asked = {*system.port.operations, *(suite.weights if isinstance(suite, Suite) else ())}
    assert all(each in asked or each.removeprefix("the policy ") in system.port.policies
               for each in named)


@pytest.mark.parametrize("name", QUICK)
def test_the_table_is_what_the_runs_say(name: str) -> None:
    """The search that wrote it finds the same again."""
    system = SYSTEMS[name]
    assert isinstance(system.suite, Suite)
    assert derived(system, system.suite) == needs.needs_of(name)


@given(st.lists(ways, min_size=1))
def test_the_groups_are_the_least_that_every_way_has_one_of(there: list[frozenset[str]]) -> None:
    """However many ways there are: each is found without naming it."""
    def way(without: frozenset[str]) -> frozenset[str] | None:
        return next((each for each in there if not each & without), None)

    hitting = [frozenset(some) for some in chain.from_iterable(
        combinations(OPERATIONS, size) for size in range(len(OPERATIONS) + 1))
        if all(each & {*some} for each in there)]
    least = {some for some in hitting if not any(other < some for other in hitting)}
    groups = groups_of(way, OPERATIONS)
    assert {*map(frozenset, groups)} == least and len(groups) == len(least)


def test_the_table_is_written_as_it_is_read() -> None:
    """A rule a line, so that a change of one is a change of one line."""
    text = (files(needs.__package__ or "") / needs.TABLE).read_text(encoding="utf-8")
    assert needs.to_json({name: needs.needs_of(name) for name in SYSTEMS}) == text
