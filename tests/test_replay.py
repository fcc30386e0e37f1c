"""A counterexample is replayed by the interpreter, and what breaks no rule is refused."""

from __future__ import annotations

import re

import pytest

from checkvalve.spec.engines.replay import trace_of
from checkvalve.spec.engines.search import RuleInstance, instances
from checkvalve.spec.notation import (
    MUST, Machine, action, always, bind, boolean, eventually_always, integer, leads_to, never_stuck,
    require,
)
from checkvalve.spec.notation.bound import BoundMachine
from checkvalve.spec.notation.errors import InternalError


class Mill(Machine):
    """A mill that grinds while there is wind; the miller may stop it, and must start it again."""

    wind = boolean(True)
    ground = integer(0, 1)
    closed = boolean()

    @action
    def grind(self) -> None:
        require(self.wind and not self.closed)
        self.ground = 1 - self.ground

    @action
    def fall(self) -> None:
        require(self.wind)
        self.wind = False

    @action(fair=True)
    def rise(self) -> None:
        require(not self.wind)
        self.wind = True

    @action(fair=True)
    def close(self) -> None:
        require(self.ground == 1 and self.wind and not self.closed)
        self.closed = True
        self.wind = False

    @leads_to("MILL-1", MUST, "What is ground is followed by calm.", source="a test")
    def calms(self) -> tuple[bool, bool]:
        return self.ground == 1, not self.wind

    @eventually_always("MILL-2", MUST, "It closes.", source="a test")
    def closes(self) -> bool:
        return self.closed

    @always("MILL-3", MUST, "It never closes.", source="a test")
    def stays_open(self) -> bool:
        return not self.closed

    @never_stuck("MILL-4", MUST, "There is always something to do.", source="a test")
    def goes_on(self) -> bool:
        return False


def rule_and_path(rule_id: str, *names: str) -> tuple[BoundMachine, RuleInstance, list[int]]:
    """The mill, one of its rules, and the indices of some steps."""
    bound = bind(Mill)
    item, = instances(bound, rule_id)
    order = [name for name, _ in bound.interpreter.steps()]
    return bound, item, [order.index(name) for name in names]


@pytest.mark.parametrize(("rule_id", "names", "loop", "why"), [
    ("MILL-1", ("grind",), 1, "not fair: close stays enabled and is never taken"),
    ("MILL-2", ("fall",), 1, "not fair: rise stays enabled and is never taken"),
    ("MILL-1", ("grind", "grind"), 0, None),
    ("MILL-1", (), 0, "the premise never holds after the last state with the conclusion"),
    ("MILL-1", ("grind", "fall", "rise", "grind"), 4, None),
    ("MILL-1", ("fall", "rise"), 2, "the premise never holds after"),
    ("MILL-1", ("grind", "fall", "rise"), 1, "the conclusion holds in its cycle"),
    ("MILL-1", ("grind", "grind"), 1, "its cycle does not close"),
    ("MILL-1", ("grind",), None, "it is finite"),
    ("MILL-2", ("fall", "rise"), 0, None),
    ("MILL-2", ("grind", "close", "rise"), 3, "the rule holds all along its cycle"),
    ("MILL-3", ("grind", "close"), None, None),
    ("MILL-3", ("grind", "close", "rise"), 3, "it continues forever"),
    ("MILL-3", ("grind",), None, "the rule holds at its end"),
    ("MILL-3", ("rise",), None, "rise is disabled"),
    ("MILL-4", ("grind",), None, "a step is enabled at its end"),
])
def test_only_a_fair_run_that_breaks_the_rule_replays(
    rule_id: str, names: tuple[str, ...], loop: int | None, why: str | None
) -> None:
    """Closed, fair, with its premise and without its conclusion; else it is an error of ours."""
    bound, item, path = rule_and_path(rule_id, *names)
    if why is None:
        trace = trace_of(bound.interpreter, path, item, loop)
        assert [step.action for step in trace.steps] == list(names)
        return
    with pytest.raises(InternalError, match=re.escape(why)):
        trace_of(bound.interpreter, path, item, loop)
