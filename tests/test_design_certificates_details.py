"""Small parts of the checker of certificates, each asked by itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from checkvalve.spec.certify import meetings, states
from checkvalve.spec.certify.emptying import never_waits
from checkvalve.spec.certify.halted import never_again
from checkvalve.spec.certify.kept import Kept, check_bounds
from checkvalve.spec.certify.law import check_law
from checkvalve.spec.certify.meetings import meeting_at
from checkvalve.spec.certify.transitions import system_of
from checkvalve.spec.certify.order import _Marking
from benchmarks.pages.roles import _lines_of_code
from checkvalve.spec.certify.run import Refuted
from checkvalve.spec.certify.states import states_of
from checkvalve.spec.certify.system import Counter, Transition, NotCovered, System
from checkvalve.spec.certify.wanted import wanted_of
from checkvalve.spec.design.loader import load
from checkvalve.spec.design.reading.language import Design
from checkvalve.spec.design.verdicts.certificates import MAX_STATES, _visited
from checkvalve.spec.design.why.findings import Finding
from checkvalve.spec.verdicts.verdict import Outcome

QUEUE = "elements in l"
UNREAD = """
checkvalve: 2
name: unread
tasks:
  a: {kind: script, steps: [{write: l, of: x}]}
  b: {kind: script, steps: [{read: l, of: x}]}
links: [{name: l, from: a, to: b, capacity: 2, kinds: [x, y]}]
"""
FILLED = """
checkvalve: 2
name: filled
tasks:
  a: {kind: script, steps: [{write: l}]}
  b: {kind: script, steps: [{read: m}, {read: l}, {write: n}]}
  c: {kind: script, steps: [{read: n}, {write: m}]}
links:
  - {name: l, from: a, to: b, capacity: 9}
  - {name: m, from: c, to: b, capacity: 1}
  - {name: n, from: b, to: c, capacity: 1}
"""


def test_a_move_that_needs_nothing_is_always_possible() -> None:
    """So no part with such a transition ever deadlocks, whatever the order says."""
    always = System({QUEUE: Counter(0, None)}, [Transition(add={QUEUE: 1}, tasks=("a",))])
    never_waits(always, {"order": [], "sums": []})
    with pytest.raises(Refuted):
        never_waits(System({QUEUE: Counter(0, 1)}, [
            Transition(room={QUEUE: 0}, add={QUEUE: 1}, tasks=("a",))]), {"order": [], "sums": []})


def test_there_are_as_many_meetings_as_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """With more than are listed, nothing is said."""
    writers = [Transition(tasks=(f"w{n}",), meets=frozenset({("l", True)})) for n in range(3)]
    readers = [Transition(tasks=(f"r{n}",), meets=frozenset({("l", False)})) for n in range(3)]
    monkeypatch.setattr(meetings, "MAX_TRANSITIONS", 9)
    assert len(meeting_at("l", [*writers, *readers])) == 9
    monkeypatch.setattr(meetings, "MAX_TRANSITIONS", 8)
    with pytest.raises(NotCovered):
        meeting_at("l", [*writers, *readers])


def test_a_sum_of_some_counters_bounds_a_link() -> None:
    """The bound is their sum at the start, and nothing less."""
    system = System({QUEUE: Counter(1, None), "free": Counter(2, 2), "else": Counter(7, 9)},
                    [Transition(add={QUEUE: 1, "free": -1})])
    bound = {"link": "l", "weights": {QUEUE: 1, "free": 1}, "most": 3}
    check_bounds([bound], system)
    with pytest.raises(Refuted):
        check_bounds([{**bound, "most": 2}], system)


def test_what_may_be_left_at_the_end_is_known_of_some_counters() -> None:
    """Of the others any number may."""
    system = System({QUEUE: Counter(0, 9, rest=0), "else": Counter(0, 9)}, ends=True)
    assert system.rests == {QUEUE: 0}
    assert system.is_rest({QUEUE: 0, "else": 9}) and not system.is_rest({QUEUE: 1, "else": 0})


def test_states_are_looked_for_as_often_as_they_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three states in a row take three looks."""
    system = System({QUEUE: Counter(0, 2)}, [Transition(room={QUEUE: 1}, add={QUEUE: 1})])
    monkeypatch.setattr(states, "LOOKS", 3)
    assert len(states_of(system)) == 3
    monkeypatch.setattr(states, "LOOKS", 2)
    with pytest.raises(NotCovered):
        states_of(system)


def test_nobody_is_asked_for_elements_of_a_kind_that_is_never_written() -> None:
    """A kind that nobody reads is asked for once an element of it exists."""
    design = load(UNREAD)
    system = system_of(design)
    start = {name: counter.start for name, counter in system.counters.items()}
    asked = [str(each) for each in wanted_of(design, system) if each.is_asked(start)]
    assert asked == ["a step of a"]


def test_a_run_whose_legs_are_as_long_as_a_form_says_fills_a_queue_of_any_size() -> None:
    """One element at a time, as often as there is a free slot; once is too seldom."""
    design = load(FILLED)

    def made(values: Mapping[str, Any]) -> Design:
        link = replace(design.links["l"], capacity=values["n"])
        return replace(design, links={**design.links, "l": link})

    def law(times: Mapping[str, int]) -> Mapping[str, Any]:
        run = [{"steps": [{QUEUE: 1}], "times": times}]
        return {"law": {"joint": "or", "atoms": []},
                "violated": {"values": {"n": [1, 1_000]}, "fixing": False, "runs": [run]}}

    assert "each design can" in check_law(law({"n": 1}), made)
    with pytest.raises(Refuted):
        check_law(law({"": 1}), made)


def test_a_queue_is_no_hand_whoever_has_its_name() -> None:
    """Elements in a queue keep their order, also where a task with several threads has the same
    name.
    """
    design = load(f"""
checkvalve: 2
name: named
tasks: {{a: {{kind: source}}, {QUEUE}: {{kind: map, pool: p, hand: 2}}, b: {{kind: sink}}}}
pools: {{p: {{threads: 2}}}}
links:
  - {{name: l, from: a, to: {QUEUE}, capacity: 2}}
  - {{from: {QUEUE}, to: b, capacity: 2}}
""")
    stores = _Marking(design, system_of(design), "a", "b", True).mixed
    assert stores and QUEUE not in stores


def clause_about(most: int) -> dict[str, Any]:
    """A clause that a queue holds so much at most, which no sum implies."""
    return {"sums": [], "clauses": [[{"weights": {QUEUE: 1}, "at_most": most}]]}


def test_a_clause_is_kept_only_if_no_move_can_end_it() -> None:
    """A writer that looks for room of two leaves three there, and no less."""
    system = System({QUEUE: Counter(0, None)}, [
        Transition(room={QUEUE: 2}, add={QUEUE: 1}, tasks=("a",))])
    Kept(system, clause_about(3))
    with pytest.raises(Refuted, match="may end a clause"):
        Kept(system, clause_about(2))


def test_a_move_is_never_possible_again_if_only_such_moves_give_what_it_lacks() -> None:
    """A transition that lacks what a possible one supplies may become possible after that."""
    lacking = Transition(need={"x": 1}, add={"x": -1, "y": 1}, tasks=("a",))
    another = Transition(need={"y": 1}, add={"y": -1, "x": 1}, tasks=("b",))
    giver = Transition(add={"x": 1}, tasks=("c",))
    state = {"x": 0, "y": 0}
    assert never_again([lacking, another], state) == {id(lacking), id(another)}
    assert never_again([lacking, another, giver], state) == set()


def test_lines_that_only_tell_are_no_lines_of_the_checker() -> None:
    """Comments, docstrings, and what is between them."""
    assert _lines_of_code('"""It says\n\nso."""\n\n# why\nx = 1  # one\ny = 2\n') == 2


def test_a_certificate_has_as_many_states_as_were_found_where_no_link_grows() -> None:
    """A link without a bound is counted so far only, so there may be more."""
    finding = Finding("deadlock-free", Outcome.HOLDS, "exhaustive", states=12)
    bounded = load(FILLED)
    grows = load(FILLED.replace("{name: l, from: a, to: b, capacity: 9}",
                                "{name: l, from: a, to: b, flow: unbounded}"))
    assert _visited(finding, bounded) == {"states": 12}
    assert _visited(finding, grows) == {"states": MAX_STATES}
