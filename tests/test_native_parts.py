"""The parts of the explorer that a small machine does not reach: growth, budgets, threads."""

from __future__ import annotations

import os

import pytest

from checkvalve.spec.engines.native import memory
from checkvalve.spec.engines.native.engine import thread_count
from checkvalve.spec.engines.search import check_rules
from checkvalve.spec.engines.verdict import Budget, Outcome
from checkvalve.spec.notation import MUST, Machine, action, always, bind, integer, require


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
    for most in (160_001, 10**6):
        found, = check_rules(bind(Field), None, Budget(max_states=most), "native")
        assert (found.outcome, found.states) == (Outcome.HOLDS, 160_000)
    short, = check_rules(bind(Field), None, Budget(max_states=5_000), "native")
    assert short.outcome is Outcome.UNKNOWN and 5_000 <= short.states < 160_000


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


def test_the_budget_of_memory_is_a_share_of_what_is_free_and_allowed(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    """The smaller of the machine's and the container's; a fixed one where neither is known."""
    for machine, group, free in ((100, 40, 40), (40, 100, 40), (None, 60, 60), (80, None, 80)):
        monkeypatch.setattr(memory, "_free_memory", lambda free=machine: free)
        monkeypatch.setattr(memory, "_free_in_group", lambda free=group: free)
        assert memory.default_budget() == int(free * 0.7)
    monkeypatch.setattr(memory, "_free_memory", lambda: None)
    monkeypatch.setattr(memory, "_free_in_group", lambda: None)
    assert memory.default_budget() == int((2 << 30) * 0.7)


def test_advice_that_the_system_does_not_take_is_no_error() -> None:
    """Only speed depends on it."""
    arena = memory.Arena(memory.HUGE)
    arena._advise(1 << 20, 0, memory.HUGE)
    arena.words(0, 2)[1] = 7
    assert arena.words(1, 1)[0] == 7 and arena.address % memory.HUGE == 0
    arena.close()
