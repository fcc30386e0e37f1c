"""A part of an answer is worked out once where it follows from the request alone."""

from __future__ import annotations

import pytest

from checkvalve.conformance.campaigns.case import RunSettings, plan, run_case
from checkvalve.conformance.suites import shown
from checkvalve.conformance.suites.says import On, each, ends, on, says, table
from checkvalve.conformance.suites.suite import Suite
from checkvalve.conformance.systems.catalogue import SYSTEMS, suite_named
from checkvalve.conformance.systems.targets import reference_of
from checkvalve.spec.notation import Machine, action, integer


def rows_of(name: str) -> list[On]:
    """The rows of a suite's table, if it has one."""
    suite = suite_named(name)
    says = getattr(suite.conversation, "says", None) if isinstance(suite, Suite) else None
    return [row for rows in says.rows.values() for row in rows] if says is not None else []


THOSE = [name for name in SYSTEMS
         if any(part.follows for row in rows_of(name) for part in row.parts)]


def test_a_suite_has_parts_that_follow_from_a_request() -> None:
    """Else nothing is tested here."""
    assert "kafka.controller" in THOSE


@pytest.mark.parametrize("name", THOSE)
def test_a_row_does_not_depend_on_what_parts_remember(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A field that a part does not name, and depends on, would show in another case."""
    cases = plan(name, cases=5, seed=7)
    settings = RunSettings(programs=4)
    remembered = [run_case(name, reference_of(name), case, settings) for case in cases]
    monkeypatch.setattr(shown, "KEPT", 0)
    assert remembered == [run_case(name, reference_of(name), case, settings) for case in cases]


class Rested(Machine):
    """Rests now and then."""

    number = integer(0, 1)

    @action
    def rests(self) -> None:
        """Nothing more is done."""


def test_a_part_with_an_end_that_depends_on_more_follows_from_no_request() -> None:
    """Its notes would be left out where it is remembered."""
    with pytest.raises(AssertionError, match="has to be noted each time"):
        table(Rested, on("go", "go", each(
            ends("rests", "it rests", only_if="stopped"), says("event", "", "something"),
            follows="list")))
