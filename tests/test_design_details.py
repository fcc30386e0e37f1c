"""Small parts of what reads and decides designs, each asked by itself."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from checkvalve.spec.design.check import Settings, check
from checkvalve.spec.design.equations.equations import strides
from checkvalve.spec.design.equations.legs import Guarded, Leg, Path
from checkvalve.spec.design.equations.pursuit import amounts
from checkvalve.spec.design.equations.trials import MAX_NEAR
from checkvalve.spec.design.equations.trials import clearer
from checkvalve.spec.design.formats.draft import BEGIN, Draft
from checkvalve.spec.design.formats.files import format_of, read_any
from checkvalve.spec.design.formats.stages import put_stage
from checkvalve.spec.design.formats.values import Values
from checkvalve.spec.design.laws.asking import Unanswered, answered
from checkvalve.spec.design.laws.law import find_law
from checkvalve.spec.design.laws.over import opened
from checkvalve.spec.design.laws.value import find_value
from checkvalve.spec.design.loader import load
from checkvalve.spec.design.net.counters import AIM, Counters
from checkvalve.spec.design.net.known import expectations
from checkvalve.spec.design.net.net import Net
from checkvalve.spec.design.net.builder import Aim
from checkvalve.spec.design.net.translate import translate
from checkvalve.spec.design.reading.alike import Eyes
from checkvalve.spec.design.reading.language import Link
from checkvalve.spec.design.reading.source import Node, parse
from checkvalve.spec.design.repairs.change import Change, Family, Scope, number
from checkvalve.spec.design.repairs.judge import Answer
from checkvalve.spec.design.repairs.policies import dropping
from checkvalve.spec.design.repairs.search import Candidate, Search
from checkvalve.spec.design.repairs.table import KINDS
from checkvalve.spec.design.search.runs import Runs
from checkvalve.spec.design.search.ways import way_into
from checkvalve.spec.design.verdicts.local import finish
from checkvalve.spec.design.why import ahead
from checkvalve.spec.design.why.findings import Finding
from checkvalve.spec.design.why.blocked import waits_in
from checkvalve.spec.notation.errors import InputError, InternalError
from checkvalve.spec.verdicts.deadline import Deadline
from checkvalve.spec.verdicts.verdict import Outcome

ROW = """
checkvalve: 2
name: row
tasks: {a: {kind: source}, b: {kind: sink}}
links: [{name: l, from: a, to: b, capacity: 9}]
"""
PAIRS = ROW.replace("capacity: 9", "capacity: 4, gives: 2, takes: 2")
FILLED = """
checkvalve: 2
name: filled
tasks:
  a: {kind: script, steps: [{write: l}]}
  b: {kind: script, steps: [{read: m}, {read: l}]}
  c: {kind: script, steps: [{read: n}, {write: m}]}
links:
  - {name: l, from: a, to: b, capacity: 9}
  - {name: m, from: c, to: b, capacity: 1}
  - {name: n, from: b, to: c, capacity: 1}
"""

TWO_KINDS = """
checkvalve: 2
name: two kinds
tasks:
  a: {kind: script, steps: [{write: q, of: x}, {write: q, of: y}]}
  b: {kind: script, steps: [{read: q, of: y}]}
  c: {kind: script, steps: [{read: q, of: x}, {read: go}]}
  d: {kind: script, steps: [{write: go}, {read: never}]}
  e: {kind: script, steps: [{read: go}, {write: never}]}
links:
  - {name: q, from: a, to: [b, c], capacity: 2, kinds: [x, y], take: head}
  - {name: go, from: d, to: [c, e], capacity: 1}
  - {name: never, from: e, to: d, capacity: 1}
"""
HELD_UP = """
checkvalve: 2
name: held up
tasks:
  a: {kind: script, steps: [{write: q, of: x}, {write: q, of: y}]}
  b: {kind: script, steps: [{read: q, of: y}]}
  c: {kind: script, steps: [{read: go}, {read: q, of: x}]}
  d: {kind: script, steps: [{read: done}, {write: go}]}
links:
  - {name: q, from: a, to: [b, c], capacity: 1, kinds: [x, y], take: head}
  - {name: go, from: d, to: c, capacity: 1}
  - {name: done, from: c, to: d, capacity: 1}
"""
SCRIPTS = """
checkvalve: 2
name: scripts
tasks:
  a: {kind: script, steps: [{write: l, of: x}]}
  b: {kind: script, steps: [{read: l, of: x}]}
links: [{name: l, from: a, to: b, capacity: 2, flow: blocking}]
"""
RINGS = """
checkvalve: 2
name: rings
tasks:
  a: {kind: source, count: 1}
  b: {kind: sink}
  c: {kind: filter}
  d: {kind: map}
links:
  - {from: a, to: b, capacity: 1}
  - {from: c, to: d, capacity: 1, initial: 1}
  - {from: d, to: c, capacity: 1}
"""


def net_of(text: str) -> Counters:
    """A design as counters and moves."""
    return Counters.of(translate(load(text), AIM))


# --- equations ----------------------------------------------------------------------------------

def test_what_comes_and_goes_by_twos_keeps_its_parity() -> None:
    """Each change of such a queue is a multiple of two, and no more is said."""
    net = net_of(PAIRS)
    (queue,) = (n for n, each in enumerate(net.counters) if "l" in each.name.split())
    assert strides(net)[queue] == 2


def test_a_place_where_a_path_fails_is_looked_at_again() -> None:
    """Also where the path changes nothing there, and nothing was added to it since."""
    path = Path({"p": 0})
    path.push(Guarded({"p": 1}, {}, {}))
    assert [path.blocked(), path.blocked()] == [0, 0]


def test_the_amounts_on_the_way_to_a_state_are_told() -> None:
    """Three elements in a queue are three writes, where nobody reads."""
    net = net_of(ROW)
    state = [each.start for each in net.counters]
    state[next(n for n, each in enumerate(net.counters) if "l" in each.name.split())] += 3
    found = amounts(net, state)
    assert found is not None and sum(found) == 3


@pytest.mark.parametrize(("size", "joined"), [(MAX_NEAR, 1), (MAX_NEAR + 1, 0)])
def test_sums_of_so_many_counters_are_put_together(size: int, joined: int) -> None:
    """And of no more, for there are many pairs of such."""
    long, short = dict.fromkeys(range(size), 1), {0: 1, 1: 1}
    found = list(clearer([(long, 5, 5), (short, 2, 2)]))
    assert found == [(dict.fromkeys(range(2, size), 1), 3, 3)] * joined


# --- other formats ------------------------------------------------------------------------------

def test_an_operator_whose_contents_are_blank_goes_by_its_description() -> None:
    """A text of spaces says nothing."""
    plan = {"nodes": [{"id": "1", "contents": "  ", "description": "orders"},
                      {"id": "2", "contents": "sums", "predecessors": [{"id": "1"}]}]}
    assert set(read_any(json.dumps(plan), "plan.json").root.value["tasks"].value) == {
        "orders", "sums"}


def test_a_suffix_of_one_format_decides() -> None:
    """Whatever the text begins with."""
    found = format_of("rubbish", "drawn.gv")
    assert found is not None and found.name == "DOT"


def test_a_node_that_writes_to_two_is_asked_whether_to_all() -> None:
    """The message names the kinds that fit its edges."""
    with pytest.raises(InputError) as refused:
        read_any("digraph { a -> b; b -> c; b -> d }", "drawn.dot")
    assert "broadcast (to all) or route (to one)" in str(refused.value)


def test_of_a_value_that_is_no_number_forty_characters_are_shown() -> None:
    """Neither fewer, nor all of it."""
    with pytest.raises(InputError) as refused:
        Values("file").whole(Node("x" * 50, BEGIN), "it", 1)
    assert f"is {'x' * 40!r}, which" in str(refused.value)


def test_a_stage_with_several_inputs_and_outputs_holds_one_element() -> None:
    """Between its two tasks is room for one."""
    draft = Draft("file", "drawn")
    put_stage(draft, "stage", BEGIN, 2, 2)
    assert [link.value["capacity"].value for link in draft.links] == [1]


# --- laws ---------------------------------------------------------------------------------------

def test_a_question_ends_with_its_effort() -> None:
    """The solver gives up, and says nothing that it does not know."""
    told = [f"(declare-const {name} Int)(assert (< 1 {name} 99))" for name in "xy"]
    told.append("(assert (= (* x y) 91))")
    assert answered(told, "xy") in ({"x": 7, "y": 13}, {"x": 13, "y": 7})
    with pytest.raises(Unanswered):
        answered(told, "xyz", 1)


def test_a_law_may_be_true_for_either_of_two_reasons() -> None:
    """An *or* is found where no single inequality says it."""
    points = [{"x": x, "y": y} for x in range(4) for y in range(4)]
    law = find_law([(at, at["x"] >= 2 or at["y"] >= 2) for at in points], ["x", "y"])
    assert law is not None and law.joint == "or" and len(law.atoms) == 2


@pytest.mark.parametrize(("now", "most"), [(10, 12), (11, 44)])
def test_the_values_around_a_small_number_are_the_least_ones(now: int, most: int) -> None:
    """As long as two above it are among them; else the file's own, and multiples of it, are."""
    root = parse(ROW.replace("9", str(now)), "file")
    assert max(opened(root, ["l"], "file").values["l"]) == most


# --- reading ------------------------------------------------------------------------------------

def test_a_transition_of_several_elements_needs_links_with_room() -> None:
    """A link of capacity 0 hands over single elements."""
    with pytest.raises(InputError) as refused:
        load(ROW.replace("b: {kind: sink}", "b: {kind: transition, takes: {l: 2}}")
             .replace("9", "0"))
    assert "has capacity 0" in str(refused.value)


def test_a_schema_tells_numbers_apart_deep_in_its_parts() -> None:
    """A limit that stands within `items` or `anyOf` is one."""
    limited: dict[str, Any] = {"anyOf": [{"type": "string"}, {"maximum": 5}]}
    eyes = Eyes({"properties": {"links": {"items": {"properties": {"n": limited}}}}}, ("links",))
    entries = [{"n": 1}, {"n": 9}, {"n": 2}]
    assert {each["n"] for each in eyes.fewer({"links": entries})["links"]} == {1, 9}


# --- the net ------------------------------------------------------------------------------------

@pytest.mark.parametrize("held", range(6))
def test_a_known_ring_holds_as_many_elements_as_it_is_named_for(held: int) -> None:
    """Its expectations are those of that number."""
    (ring,) = (each.machine for each in expectations(Net)
               if each.machine.__name__ == f"RingOf5Slots{held}Held")
    assert sum(vars(ring)["start"].default) == held


def test_a_queue_of_two_slots_that_is_read_at_its_head_has_no_gap() -> None:
    """Some sum that no step changes excludes an element in the second slot and none in the first,
    with front and end at the first."""
    table = translate(load(TWO_KINDS), AIM)
    here = {place.name: place.start for place in table.places}
    here |= {"slot 2 of q (x)": 1}
    left = {law.total - sum(k * here[name] for name, k in law.weights.items())
            for law in table.invariants if any("front" in name for name in law.weights)}
    assert left != {0}


# --- runs ---------------------------------------------------------------------------------------

def test_runs_go_on_until_they_are_stuck() -> None:
    """A queue is filled by one task that goes first for long enough."""
    stuck = Runs(translate(load(FILLED), Aim())).try_all(2_000).deadlocked
    assert stuck is not None and len(stuck) == 9


def test_a_way_that_does_not_end_stuck_is_an_error_of_ours() -> None:
    """It is replayed before anybody hears of it."""
    design = load(ROW)
    table = translate(design, AIM)
    with pytest.raises(InternalError):
        way_into(design, table, Counters.of(table), [Leg(0, (0,), 9)], Deadline(), brief=True)


@pytest.mark.parametrize(("source", "done"), [("source, count: 1", True), ("source", False)])
def test_a_ring_that_is_empty_has_finished_where_all_work_ends(source: str, done: bool) -> None:
    """No task brings elements to it; but where a source runs forever, the design never ends."""
    design = load(RINGS.replace("source, count: 1", source))
    table = translate(design, Aim())
    assert finish(design, table)({place.name: 0 for place in table.places}, "c") is done


def test_of_a_task_with_too_many_states_all_steps_are_ahead(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also those that it has behind it: they are not looked for any longer."""
    table = translate(load(FILLED.replace("a: {kind: script,", "a: {kind: script, count: 1,")), AIM)
    marking = {place.name: place.start for place in table.places}
    marking |= {name: 0 for name in marking if name.startswith("a: ")}  # it has ended
    assert not ahead.Ahead(table, marking).rows("a")
    monkeypatch.setattr(ahead, "MAX_OWN_STATES", 0)
    assert ahead.Ahead(table, marking).rows("a")


def test_who_waits_for_a_kind_waits_for_who_takes_what_stands_before_it() -> None:
    """The reader of the first element is the one that could help."""
    design = load(HELD_UP)
    table = translate(design, Aim())
    stuck = Runs(table).try_all(2_000).deadlocked
    assert stuck is not None
    last = dict(zip((place.name for place in table.places), Runs(table).after(stuck), strict=True))
    assert {wait.task: wait.on for wait in waits_in(design, table, last)}["b"] == ("c",)


# --- repairs ------------------------------------------------------------------------------------

def test_a_change_of_several_numbers_says_which_way_the_others_go() -> None:
    """By one more, or by one fewer."""
    told = Family(Link("l[1]", ("a",), ("b",)), ("l[1]", "l[2]"), "l")
    change = number(told, "capacity", (3, 5), (2, 4), str, lambda design, _: design)
    assert [change.says(4), change.says(2)] == [
        "4; the others 1 more too", "2; the others 1 fewer too"]


@pytest.mark.parametrize("link", ["flow: drop-newest", "flow: blocking, kinds: [x, y]"])
def test_what_drops_already_or_has_kinds_is_not_made_to_drop_its_oldest(link: str) -> None:
    """Only a plain link with a writer that waits is."""
    scripts = SCRIPTS if "kinds" in link else SCRIPTS.replace(", of: x", "")
    assert len(list(dropping(Scope(load(SCRIPTS.replace(", of: x", "")), (), ())))) == 1
    design = load(scripts.replace("flow: blocking", link))
    assert not list(dropping(Scope(design, (), ())))


def test_amounts_are_made_small_together_by_steps_that_double() -> None:
    """Of the values above the least: the first, the second, the fourth and the eighth."""
    change = Change("slot", "place", range(20), str, lambda design, _: design, lambda _: ())
    asked: list[list[int]] = []

    class Asking(Search):
        """An engine that is allowed five steps."""

        def __init__(self) -> None:
            """Nothing of a design is needed."""

        def _ask(self, each: Sequence[Candidate], rung: Sequence[int]) -> Answer:
            asked.append([*rung])
            helps = Outcome.HOLDS if min(rung) >= 5 else Outcome.VIOLATED
            return Answer(helps, Finding("deadlock-free", helps, ""))

    two = (Candidate(KINDS[0], change, 0), Candidate(KINDS[0], change, 1))
    assert Asking()._together(two, [19, 19]) == [7, 7]
    assert asked == [[0, 0], [1, 1], [3, 3], [7, 7]]


def test_a_sum_tells_of_a_link_that_it_never_holds_what_it_has_room_for() -> None:
    """Two go round a ring with more room, and no state needs to be visited to see it."""
    ring = load("""
checkvalve: 2
name: ring
tasks: {a: {kind: map}, b: {kind: map}}
links:
  - {name: there, from: a, to: b, capacity: 9, initial: 2}
  - {name: back, from: b, to: a, capacity: 9}
""")
    found = next(each for each in check(ring, Settings("structure")).findings
                 if each.name == "bounded")
    assert dict(found.bounds) == {"there": 2, "back": 2}


def test_what_a_pool_has_in_all_is_a_sum_that_was_meant() -> None:
    """Its free threads, and those in use."""
    net = Counters.of(translate(load("""
checkvalve: 2
name: pooled
pools: {threads: {threads: 3}}
tasks:
  a: {kind: source}
  b: {kind: map, pool: threads, hand: 1}
  c: {kind: sink}
links: [{from: a, to: b, capacity: 2}, {from: b, to: c, capacity: 2}]
"""), AIM))
    totals = {sum(weight * net.counters[n].start for n, weight in law.items())
              for law in net.meant}
    assert net.meant and 3 in totals


def test_a_formula_may_have_factors_of_six_in_all() -> None:
    """No shorter one gives the number at each of these points."""
    points = [({"a": a, "b": b}, 3 * a + 3 * b) for a in range(1, 4) for b in range(1, 4)]
    assert str(find_value(points, ("a", "b"))) == "3*a + 3*b"
