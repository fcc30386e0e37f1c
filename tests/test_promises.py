"""Promises of operations, and the rules that hold a target to them.

A promise of progress that no rule judges is one that an implementation can break by doing nothing.
"""

from __future__ import annotations

from typing import Any

import pytest

from checkvalve.conformance.ports.base import COUNT, Operation, promised
from checkvalve.conformance.suites.progress import ids_of_progress
from checkvalve.conformance.suites.system import System
from checkvalve.conformance.systems.catalogue import SYSTEMS
from checkvalve.spec.notation import (
    MUST, Machine, action, boolean, guard_rule, leads_to, never_stuck, require, upto,
)
from checkvalve.spec.notation.errors import InputError, InternalError
from checkvalve.spec.notation.progress import is_of_progress, rules_of_progress
from checkvalve.spec.notation.rules import seen_from_outside

each_system = pytest.mark.parametrize("system", SYSTEMS.values(), ids=SYSTEMS)


def ids_of(system: System) -> set[str]:
    """The ids of the rules that judge what the operations of a port promise."""
    return {rule for operation in system.port.operations.values()
            for promise in operation.promises for rule in promise.rules}


@each_system
def test_each_promise_is_judged_by_rules_of_progress_of_its_suite(system: System) -> None:
    """A rule that only forbids something is kept by an implementation that does nothing."""
    assert ids_of(system)
    assert ids_of(system) <= ids_of_progress(system.suite)


@each_system
def test_each_rule_of_progress_judges_a_promise(system: System) -> None:
    """Each demand of a suite is promised by an operation, and stands on the page of its port."""
    assert ids_of_progress(system.suite) <= ids_of(system)


@each_system
def test_each_rule_that_judges_a_promise_has_a_twin(system: System) -> None:
    """Without one, nobody has shown that the rule can be broken."""
    assert ids_of(system) <= {twin.rule for twin in system.twins.values() if not twin.equivalent}


@each_system
def test_each_promise_is_a_sentence_that_is_made_once(system: System) -> None:
    """It begins with a capital letter, ends with a full stop, and names its rules once each."""
    for operation in system.port.operations.values():
        words = [promise.words for promise in operation.promises]
        assert len(words) == len(set(words))
        for promise in operation.promises:
            assert promise.words[0].isupper() and promise.words.endswith(".")
            assert promise.rules and len(promise.rules) == len(set(promise.rules))


def test_nothing_is_promised_of_an_operation_that_is_not_there() -> None:
    """A promise of a misspelt operation would be one that nobody makes."""
    with pytest.raises(InternalError, match="offre"):
        promised([Operation("offer", COUNT, "…")], {"offre": {"It is taken.": "QUEUE-2"}})


# ---- what a rule of progress is ------------------------------------------------------------------

LATE = guard_rule("T-1", MUST, "Nothing that is due is late.", source="here")
WRONG = guard_rule("T-2", MUST, "Nothing is done that is not due.", source="here")


class Worker(Machine):
    """Something is due, and is done."""

    due = boolean(False)

    @action(fair=True)
    def does(self) -> None:
        """It does what is due."""
        require(self.due, WRONG)
        self.due = False

    @action(rests=True)
    def rests(self) -> None:
        """It does no more."""
        self.look()

    def look(self) -> None:
        """A helper, in which the guard is."""
        require(not self.due, LATE)

    @leads_to("T-3", MUST, "What is due is done.", source="here")
    def done(self) -> tuple[bool, bool]:
        """In the end."""
        return self.due, not self.due

    @never_stuck("T-4", MUST, "It may stop when nothing is due.", source="here")
    def may_stop(self) -> bool:
        """Nothing is due."""
        return not self.due


SEEN = seen_from_outside(Worker.rules_declared, "T-3")


class Observer(Machine):
    """It sees something that is a rule of progress of another machine."""

    due = boolean(False)

    @action(rests=(LATE,))
    def seen(self) -> None:
        """Two rules are cited, one of which is of progress."""
        require(not self.due, LATE)
        require(self.due, WRONG)

    @action
    def ends(self) -> None:
        """It cites the rule of another machine."""
        require(not self.due, SEEN)


def test_kinds_that_ask_for_something_are_of_progress() -> None:
    """And so is a guard, in a helper too, of an action with ``rests``."""
    assert {rule.id for rule in rules_of_progress(Worker)} == {"T-1", "T-3", "T-4"}


@pytest.mark.parametrize("rests", ["T-1", ("T-1",), upto(2)])
def test_what_rests_is_given_wrongly_is_refused(rests: Any) -> None:
    """A parameter of that name too, which would be none."""
    with pytest.raises(InputError, match="rests"):
        action(rests=rests)


def test_an_action_can_say_which_of_its_guards_ask_for_something() -> None:
    """And a rule that an observer sees from outside stays what it was."""
    assert {rule.id for rule in rules_of_progress(Observer)} == {"T-1", "T-3"}
    assert not is_of_progress(WRONG, Observer)
