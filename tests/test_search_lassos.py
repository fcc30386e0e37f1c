"""Lassos: a prefix, and a round on which every fair step is disabled or taken."""

from __future__ import annotations

import pytest

from checkvalve.spec.engines.search import Engine, check_rules
from checkvalve.spec.notation import (
    MUST, Machine, action, bind, boolean, integer, leads_to, require,
)
from checkvalve.spec.verdicts.verdict import Outcome


class Carousel(Machine):
    """Three horses go round, each step fair; a bell may ring, and a hand may stop it once."""

    horse = integer(0, 2)
    bell = boolean()
    entered = boolean()

    @action
    def enter(self) -> None:
        require(not self.entered)
        self.entered = True

    @action(fair=True)
    def turn(self) -> None:
        require(self.entered)
        self.horse = (self.horse + 1) % 3

    @action(fair=True)
    def ring(self) -> None:
        require(self.entered and self.horse != 1)
        self.bell = not self.bell

    @leads_to("RIDE-1", MUST, "A visitor that enters leaves.", source="a test")
    def leaves(self) -> tuple[bool, bool]:
        return self.entered, not self.entered

    @leads_to("RIDE-2", MUST, "A visitor that enters comes to the second horse.", source="a test")
    def comes_round(self) -> tuple[bool, bool]:
        return self.entered, self.horse == 1


@pytest.mark.parametrize("engine", ["interpreter", "native"])
def test_the_round_takes_every_fair_step_that_is_enabled_all_along(engine: Engine) -> None:
    """It turns; and it rings, or comes by the horse where it cannot."""
    leaves, comes_round = check_rules(bind(Carousel), engine=engine)
    assert comes_round.outcome is Outcome.HOLDS
    assert leaves.outcome is Outcome.VIOLATED and leaves.trace is not None
    trace = leaves.trace
    assert trace.loop == 1 and trace.steps[0].action == "enter"
    names = [each.action for each in trace.steps[1:]]
    states = [each.state for each in trace.steps]
    assert "turn" in names and states[-1] == states[0]
    assert "ring" in names or any(state["horse"] == 1 for state in states)


class Wheel(Machine):
    """Two fair steps, each enabled where the other is not."""

    place = integer(0, 3)

    @action(fair=True)
    def tick(self) -> None:
        require(self.place % 2 == 0)
        self.place += 1

    @action(fair=True)
    def tock(self) -> None:
        require(self.place % 2 == 1)
        self.place = (self.place + 1) % 4

    @leads_to("WHEEL-1", MUST, "It stops.", source="a test")
    def stops(self) -> tuple[bool, bool]:
        return self.place == 0, False


@pytest.mark.parametrize("engine", ["interpreter", "native"])
def test_a_round_without_a_choice_goes_round(engine: Engine) -> None:
    """Each step follows the one before it, back to where it began."""
    verdict, = check_rules(bind(Wheel), engine=engine)
    assert verdict.outcome is Outcome.VIOLATED and verdict.trace is not None
    assert [each.action for each in verdict.trace.steps] == ["tick", "tock"] * 2
    assert [each.state["place"] for each in verdict.trace.steps] == [1, 2, 3, 0]
