"""A changed machine shows what the right one does not, or it does not; and what counts as
quiescent.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import pytest

from benchmarks.witnesses.breakers import decided, tied
from benchmarks.witnesses.classes import mutants
from benchmarks.witnesses.measures import measures
from benchmarks.witnesses.outside import shows_nothing_new
from checkvalve.conformance.cli.rules import judging
from checkvalve.spec.chapters import chapters
from checkvalve.spec.engines.refine import Seeing, decide
from checkvalve.spec.notation import Machine, action, always, bind, boolean, integer, require
from checkvalve.spec.notation.rules import Strength
from checkvalve.spec.notation.views import Seen, View, see, shown
from checkvalve.spec.verdicts.verdict import Budget, Outcome
from checkvalve.spec.witnesses.refused import known_breakers


class Kettle(Machine):
    """After it is switched on it whistles, once it is hot."""

    on, hot = boolean(), boolean()
    care = integer(0, 1)                # changes nothing

    @action
    def switch(self) -> None:
        """On."""
        require(not self.on)
        self.on = True

    @action
    def heat(self) -> None:
        """Nobody sees it."""
        require(self.may_heat())
        self.hot = True

    def may_heat(self) -> bool:
        """Once it is on."""
        return self.on and not self.hot

    @action
    def whistle(self) -> None:
        """And off."""
        require(self.hot)
        self.on = False
        self.hot = False


class Careless(Kettle):
    """It notes something that nobody reads."""

    @action
    def heat(self) -> None:
        """Hot, and careless."""
        super().heat()
        self.care = 1


class Warm(Kettle):
    """It is hot before anybody has switched it on."""

    def may_heat(self) -> bool:
        """Whenever it is not."""
        return not self.hot


class Cold(Kettle):
    """It is never hot."""

    def may_heat(self) -> bool:
        """Not even once it is on."""
        return False


class Flickering(Kettle):
    """It is busy forever, and never hot."""

    @action
    def heat(self) -> None:
        """Here and there."""
        require(self.may_heat())
        self.care = 1 - self.care


class Listener(Machine):
    """The listener to a kettle."""

    on = boolean()

    @action
    def switch(self) -> None:
        """On."""
        require(not self.on)
        self.on = True

    @action
    def whistle(self) -> None:
        """It is off."""
        self.on = False

    @action
    def rests(self) -> None:
        """Nothing is heard any more."""
        require(not self.on)


class KettleSeen(View[Kettle]):
    """The switch and the whistle."""

    same = ("switch", "whistle")


class Waiting(View[Kettle]):
    """The same, and that one has waited long enough."""

    @shown
    def switch(self, before: Kettle, after: Kettle) -> Seen:
        return see("switch")

    @shown
    def whistle(self, before: Kettle, after: Kettle) -> Seen:
        return see("whistle")

    def at_rest(self, machine: Kettle) -> Iterable[Seen]:
        """A wait in vain is shown."""
        yield see("rests")


def seen(machine: type[Kettle], view: type[View[Kettle]] = KettleSeen) -> Seeing:
    """A kettle and its listener."""
    return Seeing(bind(machine), bind(Listener), view)


@pytest.mark.parametrize(("machine", "nothing_new"), [
    (Kettle, True), (Careless, True), (Warm, False), (Cold, False), (Flickering, False)])
def test_a_machine_is_equivalent_if_all_that_it_shows_the_right_one_shows(
    machine: type[Kettle], nothing_new: bool
) -> None:
    """Its inner steps make no difference; a step too early does, and silence forever."""
    assert shows_nothing_new(seen(machine), seen(Kettle), Budget(max_states=1_000)) is nothing_new


def test_where_the_budget_is_spent_nothing_is_said() -> None:
    """Neither that it is equivalent, nor that it is not."""
    assert shows_nothing_new(seen(Careless), seen(Kettle), Budget(max_states=1)) is None


@pytest.mark.parametrize(("machine", "outcome"), [
    (Kettle, Outcome.HOLDS), (Cold, Outcome.VIOLATED), (Flickering, Outcome.VIOLATED)])
def test_a_machine_that_goes_round_and_shows_nothing_is_at_rest(
    machine: type[Kettle], outcome: Outcome
) -> None:
    """An outside observer cannot tell it from one that can take no step."""
    assert decide(seen(machine, Waiting)).outcome is outcome


def test_a_set_that_only_rules_read_is_a_measure() -> None:
    """As a number is: what is put into it changes nothing else."""
    found = [each for each in tied(chapters(["storm"]), judging())
             if each.name == "storm.source.PartitionManager"]
    assert measures(found[0].machine, ()) >= {"processed", "emitted", "needless"}
    assert "pending" not in measures(found[0].machine, ())


def test_what_a_rule_calls_inside_a_comprehension_is_no_part_of_the_machine() -> None:
    """A mutant of it would be another rule."""
    class Row(Machine):
        size = integer(0, 2)

        @action
        def grow(self) -> None:
            require(self.size < 2)
            self.size += 1

        @always("ROW-1", Strength.MUST, "It has a size.", source="a test")
        def has_a_size(self) -> bool:
            return all(self.is_larger(each) for each in range(1))

        def is_larger(self, other: int) -> bool:
            return self.size >= other

    assert {mutant.method for mutant in mutants(Row)} == {"Row.grow"}


EQUIVALENT = [row for rows in known_breakers().values() for row in rows if row.equivalent]


DECIDED_AGAIN = list({(row.rule, row.like): row for row in EQUIVALENT}.values())
"""One for each rule and machine: each takes seconds. ``make breakers`` decides all."""


@cache
def the_book() -> tuple[Any, Any]:
    """The machines that observers judge, and the observers; the same for every row."""
    watched = judging()
    return tied(chapters(), watched), watched


@pytest.mark.parametrize("row", DECIDED_AGAIN, ids=lambda row: f"{row.rule} {row.machine}")
def test_an_equivalent_mutant_is_equivalent_when_it_is_decided_again(row: Any) -> None:
    """It breaks a rule about states or steps, and no machine of the book is excused so."""
    kinds = {rule.id: rule.kind for chapter in chapters() for rule in chapter.rules}
    assert row.words and not row.refused and kinds[row.rule] in ("always", "step"), row
    again = decided(row, *the_book())
    assert again is not None and again.equivalent, row


def test_equivalent_mutants_are_few() -> None:
    """Each one is printed by `checkvalve rules`."""
    assert len(EQUIVALENT) < 25
