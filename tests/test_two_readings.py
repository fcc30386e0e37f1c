"""CPython and the lowered form are two readings of one text, and they agree."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, given, note, settings
from random_machines import define, machines, source_text

from checkvalve.spec.engines.graph import explore_with_interpreter
from checkvalve.spec.engines.search import Engine, check_rules, instances
from checkvalve.spec.notation import (
    MUST, BoundMachine, Machine, ModelFault, action, always, array, bind, const, integer, require,
    upto,
)
from checkvalve.spec.notation.evaluate import apply, evaluate
from checkvalve.spec.verdicts.verdict import Budget, Verdict

SMALL = Budget(max_states=60)
# Shrinking a machine means compiling hundreds of them: minutes, for little more insight
# than the source that a failure prints.
RELAXED = settings(
    max_examples=40, deadline=None, derandomize=True, phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@RELAXED
@given(machines())
def test_every_step_of_every_action_is_read_alike(machine: type[Machine]) -> None:
    """Guard, successor and faults agree in the states that a short search reaches."""
    bound = bind(machine)
    note(source_text(machine))
    run = bound.interpreter
    states = [run.initial()]
    for state in states:
        slots = run.slots(state)
        for (name, args), lowered in zip(run.steps(), bound.model.actions, strict=True):
            faulty = any(evaluate(fault.condition, slots) for fault in lowered.faults)
            try:
                after = run.step(state, name, args)
            except ModelFault:
                assert faulty, f"{name}{args} fails in CPython only"
                continue
            assert not faulty, f"{name}{args} fails in the lowered form only"
            found = apply(lowered, slots)
            assert (None if after is None else run.slots(after)) == found, f"{name}{args}"
            if after is not None and after not in states and len(states) < 12:
                states.append(after)


@RELAXED
@given(machines())
def test_rules_are_read_alike(machine: type[Machine]) -> None:
    """A predicate has one value in a state, whichever way it is read."""
    bound = bind(machine)
    note(source_text(machine))
    run = bound.interpreter
    try:
        graph = explore_with_interpreter(run, SMALL)
    except ModelFault:
        return
    for rule in bound.model.rules:
        if rule.rule.kind in ("always", "never stuck"):
            for state in graph.states:
                expected = run.holds(rule.rule, rule.args, state)
                assert bool(evaluate(rule.exprs[0], run.slots(state))) == expected


@settings(RELAXED, max_examples=20)
@given(machines())
def test_native_code_decides_as_the_interpreter_does(machine: type[Machine]) -> None:
    """Verdict, states, transitions, and the length of the shortest trace are equal."""
    bound = bind(machine)
    note(source_text(machine))
    rules = instances(bound)
    expected = verdicts_or_fault(bound, "interpreter")
    if isinstance(expected, int):
        if expected < 4:
            assert verdicts_or_fault(bound, "native") == expected
        return
    if any(verdict.outcome.value == "unknown" for verdict in expected):
        return
    for item, oracle, native in zip(
        rules, expected, check_rules(bound, rules, Budget(), "native"), strict=True
    ):
        assert native.outcome == oracle.outcome, item.rule.id
        if item.rule.kind in ("always", "step", "never stuck") and oracle.trace is not None:
            assert native.trace is not None
            assert len(native.trace.steps) == len(oracle.trace.steps), item.rule.id
        if all(verdict.outcome.value == "holds" for verdict in expected):
            assert (native.states, native.transitions) == (oracle.states, oracle.transitions)


def verdicts_or_fault(bound: BoundMachine, engine: Engine) -> list[Verdict] | int:
    """The verdicts on all rules, or the length of the way to the machine's fault."""
    try:
        budget = Budget(max_states=3000) if engine == "interpreter" else Budget(max_seconds=20)
        return check_rules(bound, None, budget, engine)
    except ModelFault as fault:
        return len(fault.steps)


def test_a_machine_that_leaves_its_range_is_refused_by_both_readings() -> None:
    """The fault names the variable, and the way there is the shortest."""
    machine = define(
        "from checkvalve.spec.notation import *\n"
        "class Random(Machine):\n"
        "    a = integer(0, 2)\n"
        "    @action\n"
        "    def grow(self):\n"
        "        self.a += 1\n"
        "    @always('R-1', MUST, 'random', source='none')\n"
        "    def fine(self):\n"
        "        return True\n"
    )
    for engine in ("interpreter", "native"):
        with pytest.raises(ModelFault, match="a ") as found:
            check_rules(bind(machine), engine=engine)  # type: ignore[arg-type]
        assert len(found.value.steps) == 3


@pytest.mark.parametrize(("step", "at"), [("+= 1", 0), ("+= 1", 1), ("-= 1", 0), ("-= 1", 1)])
def test_each_element_of_an_array_keeps_its_own_range(step: str, at: int) -> None:
    """A table may give each its range: a value in one element's range may be out of another's."""
    lows, highs, first = (0, 2), (1, 5), (1, 3)
    machine = define(
        "from checkvalve.spec.notation import *\n"
        "class Random(Machine):\n"
        f"    lows, highs, first = table({lows}), table({highs}), table({first})\n"
        "    a = array(one_of(lows), integer(each(lows), each(highs), init=each(first)))\n"
        "    @action\n"
        "    def go(self):\n"
        f"        self.a[{at}] {step}\n"
        "    @always('R-1', MUST, 'random', source='none')\n"
        "    def fine(self):\n"
        "        return True\n"
    )
    steps = (highs[at] - first[at] if step == "+= 1" else first[at] - lows[at]) + 1
    for engine in ("interpreter", "native"):
        with pytest.raises(ModelFault) as found:
            check_rules(bind(machine), None, Budget(max_states=99), engine)  # type: ignore[arg-type]
        assert len(found.value.steps) == steps and found.value.what.startswith("a")


def test_what_fails_before_a_guard_is_a_fault_though_the_guard_says_the_same() -> None:
    """An assertion comes first: where it fails, nobody asks whether the action is enabled."""
    machine = define(
        "from checkvalve.spec.notation import *\n"
        "class Random(Machine):\n"
        "    a = integer(0, 3)\n"
        "    b = boolean()\n"
        "    @action\n"
        "    def grow(self):\n"
        "        require(self.a < 3)\n"
        "        self.a += 1\n"
        "    @action\n"
        "    def late(self):\n"
        "        assert not self.a >= 2\n"
        "        require(self.a >= 2 and self.b)\n"
        "        self.a = 0\n"
        "    @always('R-1', MUST, 'random', source='none')\n"
        "    def fine(self):\n"
        "        return True\n"
    )
    for engine in ("interpreter", "native"):
        with pytest.raises(ModelFault) as found:
            check_rules(bind(machine), engine=engine)  # type: ignore[arg-type]
        assert found.value.steps == ("grow", "grow", "late")


class Tally(Machine):
    """Loops over a domain, in an action and in a rule."""

    N = const(3, at_least=1)
    counts = array(upto(N), integer(0, 2))
    rounds = integer(0, 2)

    @action
    def count(self) -> None:
        require(self.rounds < 2)
        for place in upto(self.N):
            self.counts[place] += 1
        self.rounds += 1

    @always("T-1", MUST, "All are counted alike.", source="here")
    def alike(self) -> bool:
        return all(self.counts[place] == self.rounds for place in upto(self.N))


@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize("engine", ["interpreter", "native"])
def test_loop_over_a_domain_visits_each_of_its_values(engine: Engine, size: int) -> None:
    """``upto(n)`` is what parameters range over, and loops may as well."""
    verdict, = check_rules(bind(Tally, N=size), engine=engine)
    assert (verdict.outcome.value, verdict.states) == ("holds", 3)
