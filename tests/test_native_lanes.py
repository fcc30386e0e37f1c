"""Guards that are decided side by side: each test says what the comparison says."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkvalve.spec.engines.native.commuting import Commuting, constant_change
from checkvalve.spec.engines.native.lanes import _test
from checkvalve.spec.engines.native.layout import Layout
from checkvalve.spec.engines.search import check_rules, instances
from checkvalve.spec.notation import (
    MUST, Machine, action, array, bind, boolean, const, integer, require, step, upto,
)
from checkvalve.spec.notation import expr as e
from checkvalve.spec.notation.evaluate import evaluate
from checkvalve.spec.verdicts.verdict import Budget, Outcome

WORD = 1 << 64


class Gauge(Machine):
    """A number with a range that begins anywhere, behind another one in the same word."""

    low = const(0, at_least=-9)
    span = const(1)
    other = integer(0, 5)
    x = integer(low, low + span)

    @action
    def stay(self) -> None:
        """Nothing happens."""


@given(low=st.integers(-9, 9), span=st.integers(1, 20), bound=st.integers(-12, 30),
       compared=st.sampled_from([e.lt, e.le, e.eq]), swapped=st.booleans())
def test_a_guard_in_a_lane_says_what_the_comparison_says(
    low: int, span: int, bound: int, compared: object, swapped: bool
) -> None:
    """Of every value in the range, also where that begins below or above 0."""
    model = bind(Gauge, low=low, span=span).model
    layout = Layout(model)
    read = e.Read("x", next(slot.type for slot in model.slots if slot.name == "x"))
    parts = (e.Lit(bound), read) if swapped else (read, e.Lit(bound))
    condition = compared(*parts)  # type: ignore[operator]
    test = _test(layout, condition)
    assert test is not None
    for value in range(low, low + span + 1):
        word = layout.pack({"other": 3, "x": value})[test.word]
        held = ((word & test.mask) - test.low) % WORD <= test.span
        assert held == bool(value_of(condition, value)), value


def value_of(expr: e.Expr, x: int) -> int:
    """The value of an expression over one slot."""
    return int(evaluate(expr, {"x": x, "other": 0}))  # type: ignore[arg-type]


@given(change=st.integers(-3, 3), turned=st.integers(0, 3))
def test_a_change_by_a_number_is_one_whatever_the_slot_holds(change: int, turned: int) -> None:
    """``x + c``, ``c + x`` and ``x - c``; ``c - x`` is none."""
    kind = next(slot.type for slot in bind(Gauge).model.slots if slot.name == "x")
    x, c = e.Read("x", kind), e.Lit(change)
    expr = (e.Op("add", (x, c), kind), e.Op("add", (c, x), kind), e.Op("sub", (x, c), kind),
            e.Op("sub", (c, x), kind))[turned]
    found = constant_change("x", expr)
    assert (found is None) == (turned == 3)
    for value in (-2, 0, 5) if found is not None else ():
        assert value_of(expr, value) == value + found


@settings(max_examples=20)
@given(st.lists(st.integers(0, (1 << 130) - 1), min_size=1, max_size=4))
def test_the_table_of_what_is_left_out_has_every_bit(after: list[int]) -> None:
    """In words of 64, lowest first, as many for each action."""
    count = 130
    sets = tuple(after) + (0,) * (count - len(after))
    commuting = Commuting(sets, 0)
    table, words = commuting.table(), commuting.words
    assert len(table) == count * words and all(0 <= word < WORD for word in table)
    for number, bits in enumerate(sets):
        row = table[number * words:(number + 1) * words]
        assert sum(word << 64 * place for place, word in enumerate(row)) == bits


class Switches(Machine):
    """Switches that are turned on, of which one may never be the second."""

    n = const(8)
    on = array(upto(n), boolean())
    count = integer(0, n)

    @action(which=upto(n))
    def turn(self, which: int) -> None:
        """One is turned on."""
        require(not self.on[which])
        self.on[which] = True
        self.count += 1

    @step("SWITCH-1", MUST, "Switch 7 is not the second.", source="a test")
    def not_second(self, after: Switches) -> bool:
        """A rule about the steps of one action among many."""
        return self.on[7] == after.on[7] or self.count != 1

    @step("SWITCH-2", MUST, "The count goes up by one.", source="a test")
    def by_one(self, after: Switches) -> bool:
        """A rule about all of them."""
        return after.count == self.count + 1

    @step("SWITCH-3", MUST, "No step is the second.", source="a test")
    def nor_any(self, after: Switches) -> bool:
        """A rule that steps of all of them break."""
        return after.count != 2


@pytest.mark.parametrize(("rule", "outcome"), [
    ("SWITCH-1", Outcome.VIOLATED), ("SWITCH-2", Outcome.HOLDS), ("SWITCH-3", Outcome.VIOLATED)])
def test_a_rule_about_steps_is_asked_of_actions_that_could_go_side_by_side(
    rule: str, outcome: Outcome
) -> None:
    """By itself, so that no other rule keeps its actions out of the lanes; both engines give the
    same verdict, with as long a trace."""
    bound = bind(Switches)
    for engine in ("native", "interpreter"):
        found, = check_rules(bound, instances(bound, rule), Budget(threads=1), engine)  # type: ignore[arg-type]
        assert found.outcome is outcome
        assert found.trace is None or len(found.trace.steps) == 2
