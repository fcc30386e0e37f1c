"""Equations prove designs of real size, and never what the explorer refutes."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import given, settings

from benchmarks.designs import loops
from benchmarks.random_designs.designs import designs, random_design
from checkvalve.conformance.designs.text import lines
from checkvalve.spec.design.check import Part, Settings, check, decide_deadlock, parts
from checkvalve.spec.design.equations import structure
from checkvalve.spec.design.equations.equations import Equations, sums
from checkvalve.spec.design.equations.lemmas import trap
from checkvalve.spec.design.equations.structure import AIM, Answer, decide
from checkvalve.spec.design.loader import load
from checkvalve.spec.design.net.counters import Counters
from checkvalve.spec.design.net.translate import translate
from checkvalve.spec.design.reading.language import Design
from checkvalve.spec.verdicts.verdict import Budget, Outcome

WINDOW = """
checkvalve: 2
name: a retry loop under a window
tasks:
  orders: {{kind: source}}
  admit: {{kind: zip}}
  entry: {{kind: merge}}
  work: {{kind: map, hand: 1}}
  decide: {{kind: route}}
  leave: {{kind: broadcast}}
  ship: {{kind: sink}}
links:
  - {{from: orders, to: admit, capacity: 1000}}
  - {{from: leave, to: admit, capacity: {window}, initial: {window}, name: window}}
  - {{from: admit, to: entry, capacity: 10}}
  - {{from: entry, to: work, capacity: 700}}
  - {{from: work, to: decide, capacity: 500}}
  - {{from: decide, to: entry, capacity: 300, name: retry}}
  - {{from: decide, to: leave, capacity: 20, name: done}}
  - {{from: leave, to: ship, capacity: 50}}
"""
FILLED = 700 + 1 + 500 + 1 + 300
"""Elements that fill the loop: its queues and both hands."""

PREFERRING = """
checkvalve: 2
name: a merge that prefers its feedback
tasks:
  source: {kind: source}
  entry: {kind: merge, policy: preferred, prefers: feedback}
  split: {kind: broadcast}
  sink: {kind: sink}
links:
  - {from: source, to: entry, capacity: 1000}
  - {from: entry, to: split, capacity: 1000}
  - {from: split, to: entry, capacity: 1000, name: feedback}
  - {from: split, to: sink, capacity: 1000}
"""

CALLS = """
checkvalve: 2
name: calls in the same order
tasks:
  a: {{kind: call, pool: [front, back], roots: 500, depth: 2}}
  b: {{kind: call, pool: [{order}], roots: 500, depth: 2}}
pools: {{front: {{threads: 200}}, back: {{threads: 100}}}}
"""


def proved(text: str) -> Answer:
    """The equations' answer for a design of one part."""
    part, = parts(load(text))
    return decide(part)


def test_what_the_equations_prove_the_explorer_confirms() -> None:
    """Of random designs, far odder than those that people draw; and nearly all that hold are
    proved."""
    found = [proof for seed in range(40) for proof in _compared(random_design(Random(seed)))]
    assert sum(found) >= 0.85 * len(found) > 8


@settings(max_examples=12)
@given(designs)
def test_what_the_equations_prove_holds_for_drawn_designs(design: Design) -> None:
    """Others in each run of the tests, which shrink if they fail."""
    assert all(proof in (True, False) for proof in _compared(design))


def _compared(design: Design) -> Iterator[bool]:
    """For each part that never deadlocks, True if the equations prove it."""
    for part in parts(design):
        proof = decide(part).deadlock_free
        searched = decide_deadlock(
            Part.of(part, cycles=False), Settings("explorer", Budget(max_states=4_000)))
        assert not (proof and searched.outcome is Outcome.VIOLATED)
        if searched.outcome is Outcome.HOLDS:
            yield proof


def test_no_lasting_move_changes_a_sum() -> None:
    """The sums are what every proof begins with."""
    for seed in range(25):
        for part in parts(random_design(Random(seed))):
            answer = decide(part)
            for weights, total in sums(answer.net):
                start = [counter.start for counter in answer.net.counters]
                assert sum(w * start[n] for n, w in weights.items()) == total
                for transition in answer.net.lasting:
                    assert sum(w * transition.change.get(n, 0) for n, w in weights.items()) == 0


def test_no_reachable_state_breaks_a_clause() -> None:
    """A clause that excludes a candidate is true in every state of a run of the design."""
    seen = 0
    for seed in range(25):
        draw = Random(seed)
        for part in parts(random_design(Random(seed))):
            answer = decide(part)
            state = [counter.start for counter in answer.net.counters]
            for _ in range(100):
                assert all(clause.holds(state) for clause in answer.clauses)
                seen += len(answer.clauses)
                able = [transition for transition in answer.net.lasting
                        if _possible(transition, state)]
                if not able:
                    break
                for n, by in draw.choice(able).change.items():
                    state[n] += by
    assert seen > 300


def _possible(transition: object, state: list[int]) -> bool:
    from checkvalve.spec.design.net.counters import Transition
    assert isinstance(transition, Transition)
    return all(state[n] >= low for n, low in transition.least.items()) and all(
        state[n] <= high for n, high in transition.most.items())


@pytest.mark.parametrize(("window", "proof"), [(FILLED - 1, True), (FILLED, False)])
def test_a_window_is_told_from_one_that_is_too_large_by_one(window: int, proof: bool) -> None:
    """The loop fills only if the window lets so many in; the numbers cost nothing."""
    assert proved(WINDOW.format(window=window)).deadlock_free == proof


def test_a_preferred_feedback_is_proved_by_a_trap() -> None:
    """The merge takes another element only while the feedback is empty, so one of the two links
    always has a free slot."""
    answer = proved(PREFERRING)
    assert answer.deadlock_free and "1 trap" in answer.used


@pytest.mark.parametrize(("order", "proof"), [("front, back", True), ("back, front", False)])
def test_calls_are_proved_where_pools_are_taken_in_one_order(order: str, proof: bool) -> None:
    """Two hundred threads and five hundred calls are no more than two of each."""
    assert proved(CALLS.format(order=order)).deadlock_free == proof


def test_the_check_of_a_large_design_that_holds_says_so() -> None:
    """By default, and with what was tried before."""
    found = check(load(PREFERRING)).finding("deadlock-free")
    assert found.outcome is Outcome.HOLDS and "rules out every deadlocked state" in found.method
    assert [each.engine for each in found.tried] == ["graph", "explorer", "structure"]


def test_what_the_equations_leave_open_is_run_into() -> None:
    """With the engine alone; the end of the run names the cycle."""
    report = check(load(WINDOW.format(window=FILLED)), Settings("structure"))
    found = report.finding("deadlock-free")
    assert found.outcome is Outcome.VIOLATED and not found.is_shortest
    assert any(wait.task == "decide" and wait.where == "retry" for wait in found.cycle)


def test_a_script_is_a_place_in_its_program() -> None:
    """Its position is one counter for each step, so that sums can use it."""
    answer = proved("""
checkvalve: 2
name: echo
tasks:
  client: {kind: script, steps: [{write: requests, count: 900}, {read: replies, count: 900}]}
  server: {kind: map, hand: 1}
links:
  - {name: requests, from: client, to: server, capacity: 500}
  - {name: replies, from: server, to: client, capacity: 399}
""")
    assert answer.deadlock_free
    assert {"client: steps left = 2", "client: steps left = 1"} <= {
        counter.name for counter in answer.net.counters}


def test_an_unbounded_link_has_no_most() -> None:
    """Nothing in the equations says that it is full."""
    net: Counters = proved("""
checkvalve: 2
name: unbounded
tasks: {a: {kind: source}, b: {kind: sink}}
links: [{from: a, to: b, flow: unbounded}]
""").net
    assert [counter.most for counter in net.counters] == [None]


def test_a_report_of_a_proof_is_told_in_one_line() -> None:
    """With the method of the proof."""
    told = list(lines(check(load(PREFERRING))))
    assert any("none, proved: " in line and "out every deadlocked state" in line for line in told)


def test_the_search_for_a_trap_looks_at_the_clock() -> None:
    """More than once: a large design took minutes of it when its time was over."""
    net = Counters.of(translate(loops(80, 10, 1, planted=True), AIM))
    state = Equations(net).deadlocked(None)
    assert state is not None
    looks = 0

    def watch() -> None:
        nonlocal looks
        looks += 1

    trap(net, state, watch)
    assert looks > 1


def test_where_amounts_lead_to_a_state_no_sum_that_nothing_raises_is_looked_for(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is none (Farkas), and to find that out takes longer than the run to the state."""
    monkeypatch.setattr(structure, "descent", None)
    answer = decide(load(WINDOW.format(window=FILLED)))
    assert answer.legs is not None
