"""The parts of the prover: division and queues as terms, ranges, and what it says of a failure."""

from __future__ import annotations

import re

import pytest
import z3

from checkvalve.spec.engines.prove import prove
from checkvalve.spec.engines.prove.explain import slot_out_of_range
from checkvalve.spec.engines.prove.terms import QueueTerm, Remainders, _element, _floordiv, _mod
from checkvalve.spec.engines.prove.unroll import OutOfBudget, Unrolling
from checkvalve.spec.notation import (
    MUST, Machine, action, always, bind, boolean, const, fifo, integer, require,
)
from checkvalve.spec.notation.errors import InternalError
from checkvalve.spec.notation.lower import lower
from checkvalve.spec.notation.model import Value
from checkvalve.spec.notation.model import LoweredRule, Model
from checkvalve.spec.verdicts.verdict import Budget, Outcome

NUMBERS = range(-7, 8)


@pytest.mark.parametrize("b", [-3, -2, -1, 1, 2, 3])
@pytest.mark.parametrize("known", [True, False])
def test_division_rounds_down_and_the_remainder_has_the_sign_of_the_divisor(
    b: int, known: bool
) -> None:
    """As in Python, whether the divisor is a literal or not."""
    divisor = z3.IntVal(b) if known else z3.Int("b")
    for a in NUMBERS:
        for term, value in ((_floordiv(z3.IntVal(a), divisor), a // b),
                            (_mod(z3.IntVal(a), divisor), a % b)):
            found = z3.simplify(z3.substitute(term, (z3.Int("b"), z3.IntVal(b))))
            assert found.as_long() == value, (a, b)


@pytest.mark.parametrize("sign", [1, -1])
def test_what_is_assumed_of_a_remainder_bounds_it(sign: int) -> None:
    """Strictly below the divisor in size, and of its sign, without its definition."""
    remainders, (a, b) = Remainders(z3.main_ctx()), z3.Ints("a b")
    rest = remainders(a, b)
    solver = z3.Solver()
    solver.add(*remainders.facts, b * sign > 0)
    assert solver.check(rest == b) == z3.unsat
    assert solver.check(rest * sign < 0) == z3.unsat
    assert solver.check(rest == 0) == z3.sat == solver.check(rest == sign, b == 2 * sign)


@pytest.mark.parametrize("fixed", [True, False])
def test_an_element_of_a_queue_is_that_of_its_place(fixed: bool) -> None:
    """Also if the place is not known."""
    queue = QueueTerm(z3.IntVal(3), tuple(map(z3.IntVal, (10, 20, 30))))
    place = z3.Int("place")
    for at, value in enumerate((10, 20, 30)):
        term = _element(queue, place, at if fixed else None)
        found = z3.simplify(z3.substitute(term, (place, z3.IntVal(at))))
        assert found.as_long() == value


class Store(Machine):
    """Queues and numbers with ranges that depend on a constant."""

    C = const(2, at_least=1)
    lit = boolean()
    queue = fifo(integer(0, C), C)
    count = integer(1, C)

    @action
    def light(self) -> None:
        self.lit = not self.lit

    @always("STORE-1", MUST, "It counts.", source="here")
    def counts(self) -> bool:
        return self.count > 0


@pytest.mark.parametrize(("queue", "count", "name"), [
    ((), 3, "count"), ((), 0, "count"), ((0, 1, 2), 1, "queue"), ((3,), 1, "queue"),
    ((0, -1), 1, "queue"), ((3,), 3, "queue"), ((0, 2), 1, ""), ((), 2, ""),
])
def test_the_first_slot_out_of_its_range_is_named(
    queue: tuple[int, ...], count: int, name: str
) -> None:
    """At the bounds it is inside; where none is outside the prover contradicts itself."""
    model = lower(Store, {"C": 2}, frozenset({"C"}))
    state: dict[str, Value] = {"lit": 1, "queue": queue, "count": count}
    if name:
        assert slot_out_of_range(model, state, {"C": 2}) == name
        return
    with pytest.raises(InternalError, match="ill-formed where it is not"):
        slot_out_of_range(model, state, {"C": 2})


class Stairs(Machine):
    """Climbs from 0; it cannot be known by induction that 20 is not reached from 17."""

    x = integer(0, 30)
    top = integer(0, 30, init=6)

    @action
    def climb(self) -> None:
        require(self.x < self.top)
        self.x += 1

    @action
    def slip(self) -> None:
        require(self.x == 18)
        self.x = 19

    @action
    def fall(self) -> None:
        require(self.x == 19)
        self.x = 20

    @always("STAIRS-1", MUST, "It never stands on 20.", source="here")
    def below(self) -> bool:
        return self.x != 20

    @always("STAIRS-2", MUST, "It never stands on 5.", source="here")
    def low(self) -> bool:
        return self.x != 5


def rule_of(model: Model, id: str) -> LoweredRule:
    """A rule of a model."""
    return next(rule for rule in model.rules if rule.rule.id == id)


def test_a_violation_deeper_than_the_induction_is_found() -> None:
    """Five steps up, with k of at most 2; one step short of it nothing is said."""
    model = bind(Stairs).model
    rule = rule_of(model, "STAIRS-2")
    found = prove(model, rule, max_k=2, depth=8, lemmas=[])
    assert found.outcome is Outcome.VIOLATED
    assert found.trace is not None and len(found.trace.steps) == 5
    assert prove(model, rule, max_k=2, depth=4, lemmas=[]).outcome is Outcome.UNKNOWN


def test_the_step_that_breaks_an_induction_is_a_step_of_the_machine() -> None:
    """From the state before it to the one after it, also where k is more than 1."""
    bound = bind(Stairs)
    for k in (1, 2):
        found = prove(bound.model, rule_of(bound.model, "STAIRS-1"), max_k=k, depth=3, lemmas=[])
        assert found.outcome is Outcome.UNKNOWN
        told = re.search(r"from x=(\d+), top=(\d+) the step (\w+) leads to x=(\d+)", found.reason)
        assert told is not None
        before = bound.interpreter.from_slots({"x": int(told[1]), "top": int(told[2])})
        after = bound.interpreter.step(before, told[3])
        assert after is not None and bound.interpreter.slots(after)["x"] == int(told[4])


class Ladder(Machine):
    """Left and right hand in turn, from above the rung that is asked for."""

    x = integer(0, 30, init=21)

    @action
    def left(self) -> None:
        require(self.x % 2 == 0 and self.x < 30)
        self.x += 1

    @action
    def right(self) -> None:
        require(self.x % 2 == 1)
        self.x += 1

    @always("LADDER-1", MUST, "It never holds rung 20.", source="here")
    def not_there(self) -> bool:
        return self.x != 20


def test_the_step_that_breaks_a_longer_induction_is_the_last_one() -> None:
    """Whatever steps come before it."""
    model = bind(Ladder).model
    for k in (1, 2, 3):
        found = prove(model, rule_of(model, "LADDER-1"), max_k=k, depth=3, lemmas=[])
        assert "from x=19 the step right leads to x=20" in found.reason


def test_nothing_is_asked_of_the_solver_when_the_time_is_over() -> None:
    """Though it may know at once: an answer that comes late is none."""
    now = [0.0]
    budget = Budget(max_seconds=1.0, clock=lambda: now[0]).start()
    run = Unrolling(bind(Stairs).model, (), budget, z3.Context(), anywhere=False)
    assert run.check() is not None
    now[0] = 1.0
    with pytest.raises(OutOfBudget, match="time budget of 1.0 s is spent"):
        run.check()
