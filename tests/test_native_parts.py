"""The parts of the explorer that a small machine does not reach: growth, budgets, threads."""

from __future__ import annotations

import operator
import os
from itertools import product

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from checkvalve.spec.engines.native import memory
from checkvalve.spec.engines.native.control import (
    BLOCK, INSERT_LAG, LOOK_LAG, RECENT_WORDS, SUCCESSOR_WORDS, block_states, pending_states,
    recent_states,
)
from checkvalve.spec.engines.native.engine import thread_count
from checkvalve.spec.engines.native.jit import compile_model
from checkvalve.spec.engines.native.layout import MAX_WORDS
from checkvalve.spec.engines.native.values import _RANGES
from checkvalve.spec.engines.search import check_rules
from checkvalve.spec.notation import MUST, Machine, action, always, bind, integer, require
from checkvalve.spec.verdicts.verdict import Budget, Outcome

from native_support import chain


class Field(Machine):
    """A field to walk on, of some hundred thousand places."""

    x = integer(0, 399)
    y = integer(0, 399)

    @action
    def right(self) -> None:
        require(self.x < 399)
        self.x += 1

    @action
    def up(self) -> None:
        require(self.y < 399)
        self.y += 1

    @always("FIELD-1", MUST, "It stays on the field.", source="a test")
    def inside(self) -> bool:
        return self.x + self.y < 999


def test_a_budget_that_is_not_spent_changes_nothing() -> None:
    """Although the table grows several times meanwhile; one that is too small ends it."""
    whole, = check_rules(bind(Field), engine="native")
    assert (whole.outcome, whole.states, whole.transitions, whole.depth) == (
        Outcome.HOLDS, 160_000, 319_200, 798)
    for most in (160_000, 160_001, 10**6):
        found, = check_rules(bind(Field), None, Budget(max_states=most), "native")
        assert (found.outcome, found.states) == (Outcome.HOLDS, 160_000)
    for most in (5_000, 159_999):
        short, = check_rules(bind(Field), None, Budget(max_states=most), "native")
        assert short.outcome is Outcome.UNKNOWN and most <= short.states <= 160_000


def test_threads_are_those_asked_for_or_one_for_each_core_that_may_be_used(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    """At least one; where the system does not say which cores, all there are."""
    assert [thread_count(Budget(threads=each)) for each in (0, 1, 3)] == [1, 1, 3]
    monkeypatch.setattr(os, "sched_getaffinity", lambda _process: {0, 2, 5}, raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 7)
    assert thread_count(Budget()) == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    assert thread_count(Budget()) == 7


def test_advice_that_the_system_does_not_take_is_no_error() -> None:
    """Only speed depends on it."""
    arena = memory.Arena(memory.HUGE)
    arena._advise(1 << 20, 0, memory.HUGE)
    arena.words(0, 2)[1] = 7
    assert arena.words(1, 1)[0] == 7 and arena.address % memory.HUGE == 0
    arena.close()


@given(st.integers(0, 100_000), st.integers(1, MAX_WORDS))
def test_a_block_has_as_many_states_as_have_room_for_their_successors(
    actions: int, words: int
) -> None:
    """At least one, at most so many as are worth it, and one more would not fit."""
    count = block_states(actions, words)
    assert 1 <= count <= BLOCK
    assert count == 1 or count * actions * words <= SUCCESSOR_WORDS
    assert count == BLOCK or (count + 1) * actions * words > SUCCESSOR_WORDS


@given(st.integers(0, 100_000), st.integers(1, MAX_WORDS))
@example(2, 1)
def test_what_waits_to_be_inserted_has_room(actions: int, words: int) -> None:
    """All that may be under way when a block of states is expanded, in a ring with a size that is a
    power of two."""
    room = pending_states(actions, words)
    under_way = LOOK_LAG + INSERT_LAG + block_states(actions, words) * actions + 1
    assert room.bit_count() == 1 and room // 2 < under_way <= room


@given(st.integers(1, 4 * RECENT_WORDS))
@example(RECENT_WORDS + 1)
def test_the_cache_of_states_met_lately_is_as_large_as_it_may_be(words: int) -> None:
    """A power of two; twice as many would not fit, and there is room for one at least."""
    count = recent_states(words)
    assert count.bit_count() == 1 and 2 * count * words > RECENT_WORDS
    assert count == 1 or count * words <= RECENT_WORDS


def test_a_function_that_was_not_compiled_is_missing_like_any_attribute() -> None:
    """The functions for the graph of states are there only where that was asked for."""
    native = compile_model(chain(1, 1), (), 1)
    assert callable(native.levels)
    with pytest.raises(AttributeError, match="edges"):
        _ = native.edges


# Where a rule's or an update's value lies, whatever the values of the slots -----------------------

RANGE = st.tuples(st.integers(-6, 6), st.integers(0, 5)).map(lambda it: (it[0], it[0] + it[1]))
MEANING = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "neg": operator.neg,
    "min": min, "max": max, "floordiv": operator.floordiv, "mod": operator.mod,
    "ite": lambda condition, a, b: a if condition else b,
}


@pytest.mark.parametrize("op", sorted(MEANING))
@given(a=RANGE, b=RANGE)
def test_a_range_has_every_result_and_no_negative_one_without_need(
    op: str, a: tuple[int, int], b: tuple[int, int]
) -> None:
    """So no result is too wide for the cell that it gets, and none of naturals counts as
    negative. What divides by 0 is refused elsewhere."""
    ranges = {"neg": (a,), "ite": ((0, 1), a, b)}.get(op, (a, b))
    values = [MEANING[op](*each) for each in product(*(range(lo, hi + 1) for lo, hi in ranges))
              if not (op in ("floordiv", "mod") and each[1] == 0)]
    low, high = _RANGES[op](*ranges)
    if values:
        assert low <= min(values) and max(values) <= high
    if a[0] >= 0 and b[0] >= 0 and op not in ("sub", "neg"):
        assert low >= 0
