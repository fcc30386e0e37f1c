"""Candidate sets and what is remembered of them: never another answer than the interpreter's."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from random import Random
from typing import Any
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkvalve.spec.engines import candidates
from checkvalve.spec.engines.candidates import CandidateSets
from checkvalve.spec.engines.effects import Asked, Effects, Refusal
from checkvalve.spec.engines.monitor import LostTrack, Monitor, why_refused
from checkvalve.spec.notation import (
    MUST, Machine, action, array, bind, const, guard_rule, integer, require, subset, upto,
)
from checkvalve.spec.notation.errors import ModelFault
from checkvalve.spec.notation.interpreter import Interpreter
from checkvalve.spec.notation.types import Overflow

from plain_monitor import PlainMonitor
from random_machines import observers

LENGTH = 12
FAULTS = (ModelFault, LostTrack, Overflow, IndexError, ZeroDivisionError, AssertionError)


def outcome(ask: Callable[..., Any], *given: Any) -> Any:
    """An answer, or the kind of error instead of it."""
    try:
        return ask(*given)
    except FAULTS as error:
        return type(error)


def follow(sets: CandidateSets, seed: int) -> None:
    """Draw observations, and compare the answers to each question before and after them."""
    interpreter = sets.bound.interpreter
    plain = outcome(PlainMonitor, sets.bound, sets.max_states)
    monitor = outcome(Monitor, sets.bound, sets.max_states, sets)
    if isinstance(plain, type):
        assert isinstance(monitor, type) or monitor.overflowed
        return
    seen = [step for step in interpreter.steps() if step not in plain.internal]
    random = Random(seed)
    groups = [random.sample(seen, min(len(seen), size)) for size in (1, 2, 3)] if seen else []
    asked = [Asked(group, [(step,) for step in group]) for group in groups]
    for _ in range(LENGTH):
        assert monitor.states == plain.states
        for each in asked:
            refusals = [outcome(plain.refused, step) for step in each.steps]
            if not any(isinstance(rules, type) for rules in refusals):
                assert sets.refused_any(monitor.here, [each]) == frozenset().union(
                    *[rules for rules in refusals if rules is not None])
        step, other = random.choice(seen), random.choice(seen)
        refused = outcome(plain.refused, step)
        if not isinstance(refused, type):
            assert sets.refused(monitor.here, step) == refused
        accepts = outcome(plain.accepts, [step, other])
        if not isinstance(accepts, type):
            assert monitor.accepts([step, other]) == accepts
        alternatives = [step] if random.random() < 3 / 4 else [step, other]
        taken = outcome(plain.observe, alternatives)
        found = outcome(monitor.observe, alternatives)
        if isinstance(taken, type):
            assert isinstance(found, type)
            return
        assert (found is None) == taken
        if found is not None:
            assert found == why_refused(
                interpreter, plain.states, alternatives, monitor.observed)


@settings(max_examples=60, deadline=None)
@given(machine=observers(), seed=st.integers(0, 2**32), kept=st.sampled_from([0, 60, 200_000]),
       max_states=st.sampled_from([3, 1000]))
def test_a_monitor_answers_as_the_interpreter_does(
    machine: type[Machine], seed: int, kept: int, max_states: int
) -> None:
    """Whatever is remembered, and from however many runs: the same states, verdicts and words."""
    sets = CandidateSets(bind(machine), max_states, kept)
    for run in range(3):
        follow(sets, seed + run)


HELD = guard_rule("HALL-1", MUST, "Nobody is in two places.", source="a test")


class Hall(Machine):
    """Doors through which somebody walks unseen; what is asked has very many parameters."""

    here = array(upto(3), integer(0, 1))
    been = subset(upto(3), init=(0,))

    @action(who=upto(3), when=upto(180), why=upto(180))
    def asked(self, who: int, when: int, why: int) -> None:
        """Somebody asks."""
        require(who in self.been and when != why, HELD)

    @action(internal=True, who=upto(3))
    def walks(self, who: int) -> None:
        """Somebody walks."""
        require(self.here[who] == 0)
        self.here[who] = 1
        self.been.add(who)


def test_only_the_parameters_of_hidden_actions_are_enumerated() -> None:
    """An observed action may have very many choices: each observation says which it is."""
    monitor = Monitor(bind(Hall))
    step = ("asked", (("who", 2), ("when", 4), ("why", 5)))
    assert monitor.observe([step]) is None
    assert len(monitor.states) == 4
    with mock.patch.object(Interpreter, "steps", side_effect=AssertionError):
        assert Monitor(bind(Hall)).accepts([step])
    failure = monitor.observe([("asked", (("who", 2), ("when", 7), ("why", 7)))])
    assert failure is not None and failure.rule is HELD and failure.conjunct == "when != why"


def test_a_set_is_one_object_while_everything_is_kept() -> None:
    """A search over sets can tell them apart by identity, whichever way led to them."""
    sets = CandidateSets(bind(Hall), kept=None)
    first = ("asked", (("who", 2), ("when", 1), ("why", 2)))
    second = ("asked", (("who", 2), ("when", 3), ("why", 4)))
    here = sets.after(sets.initial, first)
    assert here is not None and here is sets.after(sets.initial, second)
    assert here is sets.after(here, second) and here is sets.of(here.states)


class Blinker(Machine):
    """A light that turns on and off unseen."""

    lit = integer(0, 1)

    @action(internal=True)
    def blinks(self) -> None:
        """On, or off again."""
        self.lit = 1 - self.lit

    @action
    def seen(self) -> None:
        """Somebody sees it."""
        require(self.lit == 1, HELD)


def test_hidden_steps_that_undo_each_other_come_to_an_end() -> None:
    """A state that is among the candidates already leads to nothing new."""
    monitor = Monitor(bind(Blinker))
    assert monitor.observe([("seen", ())]) is None
    assert len(monitor.states) == 2


def test_nothing_is_remembered_before_anything_was_asked() -> None:
    """Then each value and each node on the way to what a step does counts one."""
    effects = Effects(bind(Blinker).interpreter)
    assert effects.size == 0
    state = effects.pack((0,))
    assert effects.size == 1
    assert effects.refusal(state, ("seen", ())) is not None
    assert effects.size == 3, "the light's value, the look at it, and the refusal"


class Desk(Machine):
    """Its variables have the names of what is noted of a run."""

    packed = integer(0, 3)
    reads = integer(0, 3)
    size = integer(0, 3)

    @action
    def read(self) -> None:
        """One more, if anything is there."""
        require(self.packed > 0, HELD)
        self.reads += 1
        self.packed -= self.size


def test_a_variable_may_have_any_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """The effect of a step on it is learnt as of any other, and the interpreter is not asked."""
    interpreter = bind(Desk).interpreter
    effects = Effects(interpreter)

    def ask(*_args: object) -> None:
        raise AssertionError("the interpreter is asked")

    monkeypatch.setattr(interpreter, "step", ask)
    after = effects.step(effects.pack((2, 0, 1)), ("read", ()))
    assert not isinstance(after, Refusal) and effects.unpack(after) == (1, 1, 1)
    assert isinstance(effects.step(effects.pack((0, 0, 1)), ("read", ())), Refusal)


def test_what_is_remembered_is_bounded() -> None:
    """A long run of many sets leaves no more behind than it may, and the verdicts stay."""
    sets = CandidateSets(bind(Hall), kept=200)
    monitor = Monitor(sets.bound, sets=sets)
    sizes = []
    for when in range(1000):
        step = ("asked", (("who", when % 3), ("when", when % 90), ("why", 90 + when % 89)))
        assert monitor.observe([step]) is None
        sizes.append(sets.remembered)
    assert max(sizes) < 250


class Guessed(Machine):
    """One of many numbers, which nobody sees."""

    N = const(20)
    number = integer(0, N)
    chosen = integer(0, 1)

    @action(internal=True, number=upto(N))
    def choose(self, number: int) -> None:
        """Once."""
        require(self.chosen == 0)
        self.chosen, self.number = 1, number

    @action
    def look(self) -> None:
        """Nothing is seen of it."""


def test_where_all_is_remembered_a_large_set_stays_one_object_too(
        monkeypatch: pytest.MonkeyPatch) -> None:
    """Refinements number the sets: one that came back as another would be searched again."""
    monkeypatch.setattr(candidates, "_LARGE", 3)
    sets = CandidateSets(bind(Guessed), 30, kept=None)
    again = sets.after(sets.initial, ("look", ()))
    assert again is sets.initial and len(sets.initial) == 21


def test_a_monitor_says_whether_it_could_be_in_too_many_states() -> None:
    """With room for all of them it could not."""
    assert Monitor(bind(Guessed), 10).overflowed
    assert not Monitor(bind(Guessed), 30).overflowed


class _Held:
    """Something large that a caller has at hand."""


class _Full(Machine):
    """Nothing can be done."""

    n = integer(0, 1)

    @action
    def adds(self) -> None:
        require(self.n > 0)


def test_a_refusal_keeps_nothing_that_its_callers_hold() -> None:
    """Their frames would be freed by a collector alone, which runs seldom; a log has many."""
    def refuses() -> weakref.ref[_Held]:
        held = _Held()
        interpreter = bind(_Full).interpreter
        why_refused(interpreter, [interpreter.layout.initial()], [("adds", ())], 0)
        return weakref.ref(held)

    gc.collect()
    gc.disable()
    try:
        assert refuses()() is None
    finally:
        gc.enable()
