"""What each rule needs is read off its observer, and written by hand only where that says less."""

from __future__ import annotations

from importlib.resources import files

import pytest

from checkvalve.conformance.bench.needs import derived, shown
from checkvalve.conformance.suites import needs
from checkvalve.conformance.suites.suite import Suite
from checkvalve.conformance.systems.catalogue import SYSTEMS

CONVERSING = {name: system for name, system in SYSTEMS.items() if isinstance(system.suite, Suite)}
SMALL = ("rate", "marks")
"""Suites whose observers are looked through in less than a second."""


@pytest.mark.parametrize("name", CONVERSING)
def test_each_rule_has_its_needs_in_one_place(name: str) -> None:
    """By hand, or in the table; a rule with neither would apply to targets that can do nothing."""
    suite = CONVERSING[name].suite
    assert isinstance(suite, Suite)
    by_hand, found = set(suite.needs), set(needs.needs_of(name))
    assert not by_hand & found
    assert by_hand | found == {rule.id for rule in suite.rules()}
    known = {*suite.weights, *(name for groups in suite.needs.values() for each in groups
                               for name in each)}
    assert all(set(each) <= known for rule in suite.rules() for each in suite.groups(rule))


@pytest.mark.parametrize("name", SMALL)
def test_the_table_is_what_the_observers_say(name: str) -> None:
    """The search that wrote it finds the same again."""
    system = CONVERSING[name]
    assert isinstance(system.suite, Suite)
    found = derived(system.suite, shown(system, system.suite))
    assert {rule: each for rule, each in found.items()
            if rule not in system.suite.needs} == needs.needs_of(name)


def test_the_table_is_written_as_it_is_read() -> None:
    """A rule a line, so that a change of one is a change of one line."""
    text = (files(needs.__package__ or "") / needs.TABLE).read_text(encoding="utf-8")
    assert needs.to_json({name: needs.needs_of(name) for name in SYSTEMS}) == text
