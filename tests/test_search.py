"""The search decides, and its counterexamples are runs of the machine."""

from __future__ import annotations

from itertools import count, product

import pytest

from checkvalve.spec.engines.graph import Graph, _effects_of, explore_with_interpreter
from checkvalve.spec.engines.liveness import Lasso, find_lasso
from checkvalve.spec.engines.monitor import Monitor
from checkvalve.spec.engines.search import check_rules, instances, judged
from checkvalve.spec.flow.credit import Link
from checkvalve.spec.notation import (
    MUST, Machine, action, always, bind, boolean, eventually_always, fifo, guard_rule, integer,
    leads_to, never_stuck, require, upto,
)
from checkvalve.spec.storm.inputs.queue import TaskInput
from checkvalve.spec.verdicts.deadline import Deadline
from checkvalve.spec.verdicts.verdict import Budget, Outcome


class Lamp(Machine):
    """A lamp that is switched on and off; only switching off is fair."""

    on = boolean(False)
    stuck = boolean(False)
    uses = integer(0, 2)

    @action
    def switch_on(self) -> None:
        require(not self.on and not self.stuck)
        self.on = True
        self.uses = min(self.uses + 1, 2)

    @action(fair=True)
    def switch_off(self) -> None:
        require(self.on)
        self.on = False

    @action
    def jam(self) -> None:
        require(self.uses == 2 and not self.on)
        self.stuck = True

    @never_stuck("LAMP-1", MUST, "It can always be switched.", source="a test")
    def rests(self) -> bool:
        return False

    @leads_to("LAMP-2", MUST, "What is on goes off.", source="a test")
    def goes_off(self) -> tuple[bool, bool]:
        return self.on, not self.on

    @leads_to("LAMP-3", MUST, "A light that is off turns on.", source="a test")
    def goes_on(self) -> tuple[bool, bool]:
        return not self.on, self.on

    @eventually_always("LAMP-4", MUST, "It ends up jammed.", source="a test")
    def ends_jammed(self) -> bool:
        return self.stuck


@pytest.mark.parametrize("engine", ["interpreter", "native"])
def test_each_kind_of_rule_is_decided(engine: str) -> None:
    """Fairness makes LAMP-2 hold; the unfair actions let all the others fail."""
    found = check_rules(bind(Lamp), engine=engine)  # type: ignore[arg-type]
    outcomes = [(v.outcome, v.trace and v.trace.loop) for v in found]
    assert [outcome for outcome, _ in outcomes] == [
        Outcome.HOLDS, Outcome.HOLDS, Outcome.VIOLATED, Outcome.VIOLATED]
    assert outcomes[2][1] == 0, "it may simply stay off, from the first state on"


def test_a_machine_that_is_changed_mechanically_is_judged_as_any_other() -> None:
    """With steps that are learnt, and by the interpreter alone."""
    bound = bind(Lamp)
    found = judged(bound, instances(bound, None), Budget())
    assert [each.outcome for each in found] == [
        each.outcome for each in check_rules(bound, engine="interpreter")]


class Dial(Machine):
    """More steps than are tried between two looks at the clock."""

    shown = integer(0, 49)

    @action(to=upto(50))
    def turn(self, to: int) -> None:
        """It shows the number to which it is turned."""
        require(self.shown == 0)
        self.shown = to


def test_a_search_goes_on_after_a_look_at_the_clock() -> None:
    """As long as there is time."""
    graph = explore_with_interpreter(bind(Dial).interpreter, Budget())
    assert (len(graph.states), graph.complete) == (50, True)


@pytest.mark.parametrize("engine", ["interpreter", "native"])
def test_the_shortest_way_into_a_deadlock_is_found(engine: str) -> None:
    """With b above C every token must first be freed: 3 C steps, none fewer."""
    verdict, = check_rules(
        bind(Link, C=3, b=4), instances(bind(Link), "FLOW-3"), engine=engine)  # type: ignore[arg-type]
    assert verdict.outcome is Outcome.VIOLATED
    assert verdict.trace is not None and len(verdict.trace.steps) == 9
    assert verdict.trace.steps[-1].state["F"] == 3


@pytest.mark.parametrize(("engine", "budget"), list(product(
    ["interpreter", "native"], [Budget(max_states=100), Budget(max_seconds=1e-9)])))
def test_a_spent_budget_ends_as_unknown_and_says_what_was_covered(
    engine: str, budget: Budget
) -> None:
    """Nothing is called holds that was not searched to the end."""
    bound = bind(TaskInput, C=3, M=3)
    verdict, = check_rules(bound, instances(bound, "STORM-Q1"), budget, engine)  # type: ignore[arg-type]
    assert verdict.outcome is Outcome.UNKNOWN
    assert "depth" in verdict.reason or "nothing was covered" in verdict.reason
    assert "budget" in verdict.reason


def test_the_same_search_twice_gives_the_same_trace() -> None:
    """Verdicts are reproducible, traces included."""
    bound = bind(TaskInput, C=2)
    assert bound.machine is TaskInput
    from checkvalve.spec.storm.inputs.queue import IntoRecvqInput
    traces = [
        check_rules(bind(IntoRecvqInput, C=2), instances(bound, "STORM-Q1"))[0].trace
        for _ in range(2)
    ]
    assert traces[0] == traces[1]


ORDER = guard_rule("Q-1", MUST, "First in, first out.", source="a test")


class Pipe(Machine):
    """A queue behind a hidden stage: what is put in moves on unseen."""

    stage = fifo(integer(0, 3), 2)
    queue = fifo(integer(0, 3), 2)

    @action(item=upto(4))
    def put(self, item: int) -> None:
        require(len(self.stage) < 2)
        self.stage.push(item)

    @action(internal=True)
    def move(self) -> None:
        require(len(self.queue) < 2)
        self.queue.push(self.stage.pop())

    @action(item=upto(4))
    def get(self, item: int) -> None:
        require(len(self.queue) > 0 and self.queue[0] == item, ORDER)
        self.queue.pop()

    @always("Q-2", MUST, "Bounded.", source="a test")
    def bounded(self) -> bool:
        return len(self.queue) <= 2


def test_the_monitor_follows_hidden_actions() -> None:
    """Three items fit although the queue holds two: one may have moved on unseen."""
    monitor = Monitor(bind(Pipe))
    for item in (1, 2, 3):
        assert monitor.observe([("put", (("item", item),))]) is None
    assert monitor.observe([("get", (("item", 1),))]) is None


def test_the_monitor_names_the_rule_and_the_conjunct_that_failed() -> None:
    """The failure comes after the shortest prefix, and quotes the false condition."""
    monitor = Monitor(bind(Pipe))
    for item in (1, 2):
        monitor.observe([("put", (("item", item),))])
    failure = monitor.observe([("get", (("item", 2),))])
    assert failure is not None and failure.rule is ORDER
    assert failure.conjunct == "self.queue[0] == item"
    assert failure.step == 2 and failure.observation == "get(item=2)"


@pytest.mark.parametrize(("engine", "budget"), list(product(
    ["interpreter", "native"],
    [Budget(max_states=100), Budget(max_seconds=1e-9), Budget(max_memory=1)])))
def test_what_was_not_searched_to_the_end_is_not_called_exhaustive(
    engine: str, budget: Budget
) -> None:
    """The method of an unknown verdict says that the search was incomplete."""
    bound = bind(TaskInput, C=3, M=3)
    for rule in ("STORM-Q1", "STORM-Q5"):
        verdict = check_rules(bound, instances(bound, rule), budget, engine)[0]  # type: ignore[arg-type]
        if verdict.outcome is Outcome.UNKNOWN:
            assert verdict.method == "search, incomplete"
        else:
            assert budget.max_memory and engine == "interpreter"  # it has no tables to limit


@pytest.mark.parametrize("most", [1, 2, 5, 17])
def test_no_more_states_are_visited_than_the_budget_allows(most: int) -> None:
    """Exactly as many, when there are more; each of those was reached by a real step."""
    bound = bind(TaskInput, C=2)
    verdict = check_rules(bound, instances(bound, "STORM-Q1"), Budget(max_states=most))[0]
    assert verdict.outcome is Outcome.UNKNOWN
    assert verdict.states == most


def test_a_budget_of_all_the_states_is_enough() -> None:
    """A machine with as many states as the budget allows is searched to the end."""
    bound = bind(Lamp)
    states = check_rules(bound)[0].states
    assert check_rules(bound, budget=Budget(max_states=states))[0].outcome is Outcome.HOLDS
    assert check_rules(bound, budget=Budget(max_states=states - 1))[0].outcome is Outcome.UNKNOWN


def test_a_violation_found_before_the_end_says_so() -> None:
    """The trace is the shortest, but the states beyond it were not looked at."""
    bound = bind(Link, C=3, b=4)
    rule = instances(bound, "FLOW-3")
    first = check_rules(bound, rule)[0]
    assert first.trace is not None and first.method == "exhaustive"
    found = check_rules(bound, rule, Budget(max_states=first.states - 1))[0]
    assert found.outcome is Outcome.UNKNOWN or found.method == "search, up to the violation"


def test_a_search_by_the_interpreter_ends_after_so_many_attempts() -> None:
    """So that what is larger is left to compiled code, and nothing is said of it before."""
    run = bind(Link).interpreter
    whole = explore_with_interpreter(run, Budget())
    some = explore_with_interpreter(run, Budget(), 10)
    assert whole.complete and not whole.stopped_by
    assert (some.complete, some.stopped_by) == (False, "attempts")
    assert len(some.states) < len(whole.states)


def test_states_that_are_made_when_they_are_looked_at_are_those_of_the_interpreter(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    """Comparing them gives an answer, whatever they are compared with."""
    monkeypatch.setattr("checkvalve.spec.engines.graph.SMALL", 1)
    run = bind(Link).interpreter
    states = explore_with_interpreter(run, Budget(), learning=True).states
    assert states == [*states] and states[0] == run.initial()
    assert states != 3 and states != [*states][1:]


def test_what_was_learnt_of_a_machine_is_used_with_the_same_constants_only() -> None:
    """Though each verdict binds it anew."""
    first, again, other = (bind(Link, C=c).interpreter for c in (2, 2, 3))
    assert _effects_of(first) is _effects_of(again) is not _effects_of(other)


def test_looking_for_a_lasso_looks_at_the_clock_for_each_place_that_it_could_end() -> None:
    """In a row of 50 states, each of which may last."""
    size, clock = 50, count()
    target = [there for here in range(size) for there in (here, min(here + 1, size - 1))]
    graph = Graph(range(size), [*range(0, 2 * size + 1, 2)], target, [0, 1] * size,
                  [here - 1 for here in range(size)], [1] * size, [*range(size)])
    every, none = [True] * size, [False] * size
    assert find_lasso(graph, [], every, none, Deadline(1e9, clock.__next__)) == Lasso((), 0)
    assert next(clock) > size
