"""The native search as a whole: known counts, budgets, growth, and states that are too wide."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import count

import pytest
from checkvalve.spec.engines.native import Layout, TooWide, engine, explore, graph, jit
from checkvalve.spec.engines.native.control import CHUNK, Shared
from checkvalve.spec.engines.native.jit import compile_model
from checkvalve.spec.notation.expr import (
    FALSE, TRUE, Bool, EmptyQueue, Int, Lit, Queue, Read, Record, add, lt, ne, not_,
)
from checkvalve.spec.notation.model import Value
from checkvalve.spec.notation.model import Fault, LoweredAction, LoweredRule, Model, Slot
from checkvalve.spec.verdicts.verdict import Budget

from native_support import chain, model_of, rule

LINKS, CAPACITY = 3, 3
STATES = 20**3  # binomial(6, 3) ways to spread three tokens over four counters, per link


def counter(most: int, *rules: LoweredRule, fault: bool = False) -> Model:
    """A counter from 0 to ``most``, going up one at a time."""
    kind = Int(Lit(0), Lit(most))
    value = Read("n", kind)
    guard = TRUE if fault else lt(value, Lit(most))
    faults = (Fault(lt(Lit(most), add(value, Lit(1))), "n leaves 0..", "file", 7),)
    up = LoweredAction("up", (), True, False, guard, {"n": add(value, Lit(1))},
                       faults if fault else ())
    return model_of([Slot("n", kind, Lit(0))], [up], rules)


@pytest.mark.parametrize("threads", [1, 2])
def test_chain_has_the_states_that_combinatorics_gives(threads: int) -> None:
    """The number of states of a chain of links is a product of binomials."""
    result = explore(chain(LINKS, CAPACITY), (), Budget(threads=threads))
    assert (result.states, result.complete, result.stopped_by) == (STATES, True, "")


@pytest.mark.parametrize("threads", [1, 2])
def test_growing_the_table_loses_and_doubles_nothing(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From a table of 64 lines, grown many times by a little, the counts are the same."""
    monkeypatch.setattr(engine, "FIRST_LINES", 64)
    monkeypatch.setattr(engine, "GROWTHS", ())
    monkeypatch.setattr(engine, "GROWTH", 1.15)
    monkeypatch.setattr(engine, "LEVEL_WIDE", 64)
    result = explore(chain(4, 3), (), Budget(threads=threads))
    assert (result.states, result.complete) == (20**4, True)


def test_growing_the_table_of_wide_states_loses_and_doubles_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The same with entries that point to states of several words."""
    monkeypatch.setattr(engine, "FIRST_LINES", 64)
    monkeypatch.setattr(engine, "GROWTHS", ())
    monkeypatch.setattr(engine, "GROWTH", 1.15)
    found = graph(chain(LINKS, CAPACITY), (), Budget())
    assert (found.states, len({tuple(words) for words in found.words.tolist()})) == (STATES, STATES)


def test_a_budget_of_states_ends_the_search() -> None:
    """The covered states are counted, and the search says that it was cut short."""
    result = explore(chain(LINKS, CAPACITY), (), Budget(max_states=1000, threads=1))
    assert (result.complete, result.stopped_by) == (False, "states")
    assert 1000 <= result.states < STATES


def test_a_budget_of_memory_ends_the_search() -> None:
    """The table does not grow beyond the budget, and no exception says so."""
    budget = 12 << 20
    result = explore(chain(4, 4), (), Budget(max_memory=budget, threads=1))
    assert (result.complete, result.stopped_by) == (False, "memory")
    assert result.peak_bytes <= budget


def test_a_budget_of_time_ends_the_search() -> None:
    """A spent budget of time is noticed between two parts of the search."""
    looks = count()
    small = Budget(max_seconds=1.0, threads=1, clock=lambda: 0.0 * next(looks))
    explore(chain(6, 1), (), small)
    needed = next(looks) - 2  # nearly all of them while the search is compiled
    looks = count()
    budget = replace(small, clock=lambda: 0.0 if next(looks) < needed else 1e9)
    result = explore(chain(6, 5), (), budget)
    assert (result.complete, result.stopped_by) == (False, "time")


def test_a_deep_and_narrow_space_is_searched_to_its_end() -> None:
    """Levels by the hundred thousand cost no call from Python each."""
    most = 150_000
    value = Read("n", Int(Lit(0), Lit(most)))
    model = counter(most, rule("never stuck", FALSE), rule("always", ne(value, Lit(70_000))))
    result = explore(model, model.rules, Budget(threads=1))
    assert (result.states, result.transitions, result.depth) == (most + 1, most, most)
    assert {number: len(path) for number, path in result.violations.items()} == {
        0: most, 1: 70_000}


def test_the_search_stops_when_every_rule_is_broken() -> None:
    """There is nothing left to find, so the rest of the space is not searched."""
    value = Read("n", Int(Lit(0), Lit(1000)))
    model = counter(1000, rule("always", lt(value, Lit(5))))
    result = explore(model, model.rules, Budget(threads=1))
    assert result.violations == {0: [0] * 5}
    assert not result.complete
    assert result.states < 20


@pytest.mark.parametrize("threads", [1, 2])
def test_code_that_is_made_again_to_run_fast_finds_the_same(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the midst of a search, which has found the same states and runs before and after it."""
    most = 2_000
    value = Read("n", Int(Lit(0), Lit(most)))
    rules = (rule("always", ne(value, Lit(most - 1))), rule("never stuck", FALSE))
    models = [counter(most, *rules), counter(most, fault=True), chain(LINKS, CAPACITY)]
    made: list[bool] = []
    really = jit.compiled

    def compiled(text: str, fast: bool) -> object:
        made.append(fast)
        return really(text, fast)

    monkeypatch.setattr(jit, "compiled", compiled)

    def found() -> list[object]:
        return [(one.states, one.transitions, one.depth, one.complete, one.violations, one.fault)
                for one in (explore(model, model.rules, Budget(threads=threads))
                            for model in models)]

    quickly = found()
    assert not any(made)
    monkeypatch.setattr(engine, "QUOTAS_QUICK", 0)
    monkeypatch.setattr(engine, "QUOTA", 64)
    assert found() == quickly
    assert any(made)


def test_a_fault_ends_the_search_with_the_run_to_it() -> None:
    """The action at fault is the last of the run."""
    result = explore(counter(9, fault=True), (), Budget(threads=1))
    assert result.fault is not None
    fault, path = result.fault
    assert (fault.line, path, result.complete) == (7, [0] * 10, False)


def test_a_state_that_is_too_wide_is_refused_with_a_reason() -> None:
    """The refusal is an error of the input, and says what to change."""
    kind = Queue(Int(Lit(0), Lit(255)), Lit(600))
    with pytest.raises(TooWide, match="the queue q of test needs 4800 bits"):
        explore(model_of([Slot("q", kind, EmptyQueue(kind))], []), (), Budget())
    number = Int(Lit(0), Lit((1 << 50) - 1))
    slots = [Slot(f"s{place}", number, Lit(0)) for place in range(2_700)]
    with pytest.raises(TooWide, match="a state of test needs 135000 bits"):
        explore(model_of(slots, []), (), Budget())


def test_a_model_without_actions_has_one_state() -> None:
    """The initial state alone, which is deadlocked."""
    slot = Slot("b", Bool(), FALSE)
    model = model_of([slot], [], [rule("never stuck", Read("b", Bool())),
                                  rule("always", not_(Read("b", Bool())))])
    result = explore(model, model.rules, Budget())
    assert (result.states, result.transitions, result.depth) == (1, 0, 0)
    assert (result.complete, result.violations) == (True, {0: []})


def layout_of_everything() -> Layout:
    """A layout with every type, with queues on both sides of a word's width."""
    pair = Record("Pair", (("a", Int(Lit(-5), Lit(9))), ("b", Bool())))
    kinds = [Int(Lit(7), Lit(7)), Bool(), pair, Queue(pair, Lit(30)), Int(Lit(-1), Lit(1 << 61)),
             Queue(Bool(), Lit(5)), Queue(Int(Lit(3), Lit(3)), Lit(4))]
    return Layout(model_of(
        [Slot(f"s{i}", kind, Lit(0)) for i, kind in enumerate(kinds)], []))


@pytest.mark.parametrize("seed", range(20))
def test_unpacking_a_packed_state_gives_it_back(seed: int) -> None:
    """Packing loses nothing, at the bounds of the ranges too."""
    draw = random.Random(seed)

    def pair() -> Value:
        return draw.choice([-5, 0, 9]), draw.randint(0, 1)

    values: dict[str, Value] = {
        "s0": 7, "s1": draw.randint(0, 1), "s2": pair(),
        "s3": tuple(pair() for _ in range(draw.randint(0, 30))),
        "s4": draw.choice([-1, 0, 1 << 61]),
        "s5": tuple(draw.randint(0, 1) for _ in range(draw.randint(0, 5))),
        "s6": (3,) * draw.randint(0, 4),
    }
    layout = layout_of_everything()
    words = layout.pack(values)
    assert len(words) == layout.words
    assert layout.unpack(words) == values


def test_a_graph_that_a_budget_of_states_cut_short_says_so() -> None:
    """Also where the memory that is left would not have held the edges."""
    cut = graph(chain(LINKS, CAPACITY), (), Budget(max_states=1000))
    assert (cut.complete, cut.stopped_by) == (False, "states")
    tight = graph(chain(LINKS, CAPACITY), (),
                  Budget(max_states=1000, max_memory=cut.peak_bytes - 1))
    assert (tight.complete, tight.stopped_by) == (False, "states")


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_each_thread_has_room_for_what_it_may_add_after_the_last_look(threads: int) -> None:
    """The more threads, the more is set aside; each may fill a chunk, and a block beyond it."""
    native = compile_model(chain(1, 1), (), threads)
    search = engine.Search(native, 0, Budget().start(), threads)
    room = search.order_room - search.shared[Shared.ORDER_LIMIT]
    assert room >= threads * (CHUNK + search.block_successors)
