"""Counts of a search: states, transitions, depth, and what was covered when it ended early."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings

from checkvalve.spec.engines.graph import Graph, explore_with_interpreter
from checkvalve.spec.engines.search import check_rules, instances
from checkvalve.spec.flow.credit import Link
from checkvalve.spec.notation import (
    MUST, Machine, action, always, bind, boolean, const, fifo, integer, leads_to, require, step,
    upto,
)
from checkvalve.spec.notation.bound import BoundMachine
from checkvalve.spec.notation.errors import InputError, ModelFault
from checkvalve.spec.notation.interpreter import Interpreter
from checkvalve.spec.verdicts.verdict import Budget, Outcome

from random_machines import machines


class Counter(Machine):
    """Counts up to 5, one or two at a time, and begins again."""

    x = integer(0, 5)

    @action
    def one(self) -> None:
        require(self.x < 5)
        self.x += 1

    @action
    def two(self) -> None:
        require(self.x < 4)
        self.x += 2

    @action
    def again(self) -> None:
        require(self.x == 5)
        self.x = 0

    @always("COUNT-1", MUST, "It stays in its range.", source="a test")
    def bounded(self) -> bool:
        return 0 <= self.x <= 5

    @leads_to("COUNT-2", MUST, "It comes to 5.", source="a test")
    def arrives(self) -> tuple[bool, bool]:
        return self.x == 0, self.x == 5

    @step("COUNT-3", MUST, "It never skips 3.", source="a test")
    def no_skip(self, after: Counter) -> bool:
        return not (self.x == 2 and after.x == 4)


ENGINES = ["interpreter", "native"]


def counted_plainly(bound: BoundMachine) -> tuple[int, int, int]:
    """States, transitions and depth, by the shortest program that finds them."""
    interpreter: Interpreter = bound.interpreter
    level, depth, edges = {interpreter.initial()}, -1, 0
    seen = set(level)
    while level:
        depth += 1
        found = [after for state in level for _, after in interpreter.successors(state)]
        edges += len(found)
        level = set(found) - seen
        seen |= level
    return len(seen), edges, depth


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("bound", [bind(Counter), bind(Link, C=2, b=2), bind(Link, C=3, b=1)])
def test_states_transitions_and_depth_are_those_of_a_plain_search(
    bound: BoundMachine, engine: str
) -> None:
    """Both engines, for rules of safety and of liveness."""
    for verdict in check_rules(bound, engine=engine):  # type: ignore[arg-type]
        assert (verdict.states, verdict.transitions, verdict.depth) == counted_plainly(bound)


def test_a_row_that_was_cut_short_is_not_counted() -> None:
    """With room for three states of six: 0 was expanded, 1 was not, for it leads to a fourth."""
    found, = check_rules(bind(Counter), instances(bind(Counter), "COUNT-1"),
                         Budget(max_states=3), "interpreter")
    assert (found.states, found.transitions) == (3, 2)


@pytest.mark.parametrize(("most", "covered"), [(1, 0), (3, 0), (5, 1)])
@pytest.mark.parametrize("rule", ["COUNT-1", "COUNT-2"])
@pytest.mark.parametrize("engine", ENGINES)
def test_an_unknown_verdict_says_to_which_depth_all_states_were_covered(
    engine: str, rule: str, most: int, covered: int
) -> None:
    """Depth 1 has 1 and 2, which lead to 3 and 4: with five states all of these are known.

    Native code looks at whole levels, so it may say less, and never more.
    """
    found, = check_rules(bind(Counter), instances(bind(Counter), rule), Budget(max_states=most),
                         engine)  # type: ignore[arg-type]
    assert found.outcome is Outcome.UNKNOWN and found.states == most
    told = re.search(r"all states up to depth (\d+) were covered", found.reason)
    assert told is not None
    assert int(told[1]) == covered if engine == "interpreter" else int(told[1]) <= covered


@pytest.mark.parametrize("engine", ENGINES)
def test_a_step_that_breaks_a_rule_is_the_last_of_its_trace(engine: str) -> None:
    """From 2 to 4 in one step; the shortest way to 2 is one step."""
    found, = check_rules(bind(Counter), instances(bind(Counter), "COUNT-3"), engine=engine)  # type: ignore[arg-type]
    assert found.trace is not None
    assert [each.state["x"] for each in found.trace.steps] == [2, 4]


class Faulty(Machine):
    """Its rule divides by what may be 0, and so does its second action."""

    x = integer(0, 2, init=2)

    @action
    def down(self) -> None:
        require(self.x > 0)
        self.x -= 1

    @action
    def halve(self) -> None:
        require(self.x < 2)
        self.x = 1 // self.x

    @always("FAULT-1", MUST, "It divides.", source="a test")
    def divides(self) -> bool:
        return 2 // self.x >= 1


@pytest.mark.parametrize("state", [0, 1, 2])
def test_a_rule_that_fails_is_its_authors_to_mend(state: int) -> None:
    """Where it can be decided it is; where it cannot, the error names the rule and the line."""
    bound = bind(Faulty)
    rule = bound.interpreter.rule("FAULT-1")
    here = bound.interpreter.from_slots({"x": state})
    if state:
        assert bound.interpreter.holds(rule, (), here) is True
        return
    with pytest.raises(ModelFault, match="the rule FAULT-1 fails in a state") as caught:
        bound.interpreter.holds(rule, (), here)
    assert "test_search_counts.py:" in caught.value.where


class Quiet(Machine):
    """Its action fails with an error that has no message."""

    x = integer(0, 1)

    @action
    def fail(self) -> None:
        raise AssertionError


def test_an_error_without_a_message_is_told_by_its_kind() -> None:
    """So the sentence does not end in nothing."""
    bound = bind(Quiet)
    with pytest.raises(ModelFault, match="fail fails: AssertionError"):
        bound.interpreter.step(bound.interpreter.initial(), "fail")


class Overfull(Machine):
    """It pushes without looking, and adds what cannot be added."""

    queue = fifo(integer(0, 1), 1)

    @action
    def push(self) -> None:
        self.queue.push(1)

    @action
    def add(self) -> None:
        self.queue[0] + "text"  # type: ignore[operator]


@pytest.mark.parametrize(("name", "why"), [
    ("push", "already holds"), ("add", "unsupported operand")])
def test_an_error_of_python_in_an_action_is_its_authors_too(name: str, why: str) -> None:
    """The error names the action, both if the notation raises it and if Python does."""
    bound = bind(Overfull)
    full = bound.interpreter.step(bound.interpreter.initial(), "push")
    assert full is not None
    with pytest.raises(ModelFault, match=f"{name} fails: .*{why}"):
        bound.interpreter.step(full, name)


def test_a_rule_that_speaks_of_nothing_is_told_from_one_that_is_not_there() -> None:
    """Each by its own name, whatever other rules there are."""

    class Sparse(Machine):
        """A rule about each of no places, and one about all."""

        N = const(0)
        x = boolean()

        @action
        def turn(self) -> None:
            self.x = not self.x

        @always("SPARSE-1", MUST, "Nothing.", source="a test", i=upto(N))
        def each(self, i: int) -> bool:
            return self.x or i >= 0

        @always("SPARSE-2", MUST, "All.", source="a test")
        def whole(self) -> bool:
            return True

    bound = bind(Sparse)
    assert [item.rule.id for item in instances(bound)] == ["SPARSE-2"]
    with pytest.raises(InputError, match="SPARSE-1 of Sparse speaks of nothing: .* value for i"):
        instances(bound, "SPARSE-1")
    with pytest.raises(InputError, match="Sparse has no rule SPARSE-3 .* It has SPARSE-1, SPARSE"):
        instances(bound, "SPARSE-3")


@settings(max_examples=40)
@given(machine=machines())
def test_what_is_learnt_of_steps_changes_nothing_in_the_graph(machine: type[Machine]) -> None:
    """The same states in the same order, steps, ways and ends; or the same fault."""
    def found(learning: bool) -> Graph | tuple[str, tuple[str, ...]]:
        try:
            return explore_with_interpreter(
                bind(machine).interpreter, Budget(), 5_000, learning=learning)
        except ModelFault as fault:
            return fault.what, fault.steps
    assert found(True) == found(False)
