"""Learnt effects of the steps of a machine with one array as all its state."""

from __future__ import annotations

import math
from collections import Counter

import pytest

from checkvalve.spec.engines import graph as engine
from checkvalve.spec.engines.effects import Refusal
from checkvalve.spec.engines.elements import ElementEffects, effects_of
from checkvalve.spec.engines.graph import explore_with_interpreter
from checkvalve.spec.notation import (
    Machine, ModelFault, action, array, bind, const, integer, require, subset, upto,
)
from checkvalve.spec.verdicts.verdict import Budget

RUNS: Counter[int] = Counter()
"""Number of runs of the method of each step, by its lane."""


@pytest.fixture(autouse=True)
def small_machines_are_learnt(monkeypatch: pytest.MonkeyPatch) -> None:
    """As large ones are."""
    monkeypatch.setattr(engine, "SMALL", 1)


class Lanes(Machine):
    """Counters side by side, looked at one by one, backwards, and all together."""

    N = const(4)
    TOP = const(3)
    lanes = array(upto(N), integer(0, TOP))

    @action(lane=upto(N))
    def go(self, lane: int) -> None:
        """A lane proceeds unless the one before it is as far."""
        RUNS[lane] += 1
        require(self.lanes[lane] < 3 and self.lanes[lane - 1] <= self.lanes[lane])
        self.lanes[lane] += 1

    @action
    def clear(self) -> None:
        """All end together, and the last one is emptied unseen."""
        require(0 not in self.lanes and sum(self.lanes) % 2 == 0)
        self.lanes[-1] = 0


def test_the_graph_is_that_of_the_interpreter() -> None:
    """Elements may be read by index, from the end, or by iteration."""
    learnt, plain = (explore_with_interpreter(bind(Lanes).interpreter, Budget(), learning=each)
                     for each in (True, False))
    assert learnt == plain
    assert len(plain.states) > 50


def test_a_step_is_run_only_where_an_element_that_it_reads_is_news() -> None:
    """Of two elements of four values each there are sixteen pairs, whatever the others hold."""
    class New(Lanes):
        """One of which nothing is known yet."""

    RUNS.clear()
    graph = explore_with_interpreter(bind(New).interpreter, Budget(), learning=True)
    assert 0 < max(RUNS.values()) <= 16 < len(graph.states)


def test_an_element_out_of_its_range_is_a_fault() -> None:
    """The interpreter says so, with the way there."""
    class Loose(Lanes):
        """A lane that nobody stops."""

        @action(lane=upto(1))
        def leap(self, lane: int) -> None:
            """Beyond the top."""
            self.lanes[lane] += 4

    assert isinstance(effects_of(bind(Loose).interpreter), ElementEffects)
    with pytest.raises(ModelFault, match="lanes becomes 4, outside"):
        explore_with_interpreter(bind(Loose).interpreter, Budget(), learning=True)


def test_of_a_machine_with_few_states_nothing_is_learnt(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each step is run, and the graph is the same; one state more, and it is learnt."""
    class Few(Lanes):
        """One of which nothing is known yet."""

    size = len(explore_with_interpreter(bind(Lanes).interpreter, Budget()).states)
    for small, limit in ((size, size), (size - 1, 16)):
        monkeypatch.setattr(engine, "SMALL", small)
        RUNS.clear()
        graph = explore_with_interpreter(bind(Few).interpreter, Budget(), learning=True)
        assert (len(graph.states), max(RUNS.values()) > limit) == (size, small < size)


class Mixed(Machine):
    """Two arrays side by side, and variables that are none."""

    N = const(3)
    here = array(upto(N), integer(0, 3))
    there = array(upto(N), integer(0, 3))
    wide = array(upto(20), integer(0, 3))
    turn = integer(0, 2)
    seen = subset(upto(N))

    @action(at=upto(N))
    def add(self, at: int) -> None:
        """One more here, while the other has none, and all that is wide counts."""
        RUNS["add"] += 1
        require(self.there[at] == 0 and self.here[at] < 3)
        self.here[at] += 1
        self.wide[19] = self.here[at]
        self.seen.add(at)

    @action
    def swap(self) -> None:
        """One array in the place of the other, which is changed through it."""
        require(self.here[0] > 0)
        self.there = self.here
        self.there[1] = 2

    @action(at=upto(N))
    def level(self, at: int) -> None:
        """All elements are looked at, and one is changed by the name that the array had before."""
        here = self.here
        require(here[at] > min(here[each] for each in range(3)) and self.turn == 1)
        self.here = self.there
        here[at] -= 1
        self.there = here

    @action
    def join(self) -> None:
        """An operation of lists alone."""
        RUNS["join"] += 1
        require(sum(self.here + self.there) > 2)
        self.turn = (self.turn + 1) % 3

    @action
    def clear(self) -> None:
        """All of them, unseen."""
        require(self.turn == 1)
        for at in range(3):
            self.here[at] = self.there[at] = 0
        self.seen.clear()


@pytest.mark.parametrize("few", [1, 2, math.inf])
def test_beside_other_variables_arrays_do_what_the_interpreter_does(few: float) -> None:
    """Also where one is put in the place of another, does what only a list can do, or is read as a
    whole after a few elements, and then changed under another name."""
    interpreter = bind(Mixed).interpreter
    effects, states = ElementEffects(interpreter, most=8, few=few), {interpreter.initial()}
    RUNS.clear()
    todo = list(states)
    while todo and len(states) < 300:
        state = todo.pop(0)
        packed = effects.pack(state)
        assert effects.unpack(packed) == state
        for step in interpreter.steps():
            found, after = effects.step(packed, step), interpreter.step(state, *step)
            assert (None if isinstance(found, Refusal) else effects.unpack(found)) == after
            if after is not None and after not in states:
                states.add(after)
                todo.append(after)
    assert len(states) >= 300


def test_of_several_arrays_an_action_reads_single_elements() -> None:
    """Its effect depends on these alone; all of an array is read only by what needs a list."""
    interpreter = bind(Mixed).interpreter
    effects = ElementEffects(interpreter, most=8)
    first, *rest = interpreter.initial()
    RUNS.clear()
    for other in range(4):
        for step in (("add", (("at", 0),)), ("join", ())):
            effects.step(effects.pack(((0, other, other), *rest)), step)
            effects.step(effects.pack(((0, other, other), *rest)), step)
    assert (RUNS["add"], len(first)) == (1, 3)
    assert RUNS["join"] == 5      # once as elements, and then once for each array


def test_steps_taken_alone_lead_where_the_interpreter_leads() -> None:
    """Those that are not enabled are left out, also where all is known already."""
    interpreter = bind(Lanes).interpreter
    effects = effects_of(interpreter)
    steps = (*[("go", (("lane", lane),)) for lane in range(4)], ("clear", ()))
    graph = explore_with_interpreter(interpreter, Budget(), learning=False)
    for state in [*graph.states, *graph.states]:
        led = [after for step in steps if (after := interpreter.step(state, *step)) is not None]
        assert list(map(effects.unpack, effects.after_each(effects.pack(state), steps))) == led
