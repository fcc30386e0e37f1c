"""The wait-for graph against the explorer, on random designs."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings

from benchmarks.random_designs.designs import designs
from checkvalve.conformance.designs import check_design, check_file
from checkvalve.spec.design.check import Settings
from checkvalve.spec.design.net.invariants import conserved
from checkvalve.spec.design.loader import load
from checkvalve.spec.design.net.builder import Aim
from checkvalve.spec.design.net.translate import translate
from checkvalve.spec.design.reading.language import Design
from checkvalve.spec.design.repairs.repair import repair
from checkvalve.spec.design.why.parts import parts
from checkvalve.spec.verdicts.verdict import Budget, Outcome

EXAMPLES = Path(__file__).parent.parent / "examples" / "designs"
BUDGET = Budget(max_states=4_000)
CREDITS = """
checkvalve: 2
name: credits
tasks: {a: {kind: source}, b: {kind: sink}}
links: [{from: a, to: b, capacity: 3, flow: credit, batch: 2}]
"""


@given(designs)
@settings(max_examples=60)
def test_what_the_graph_proves_the_explorer_confirms(design: Design) -> None:
    """A design that the wait-for graph calls live has no reachable deadlock."""
    graph = check_design(design, BUDGET, Settings("graph")).finding("deadlock-free").outcome
    searched = check_design(design, BUDGET, Settings("explorer")).finding("deadlock-free").outcome
    assert graph is not Outcome.VIOLATED
    if graph is Outcome.HOLDS:
        assert searched is not Outcome.VIOLATED


def test_a_fair_merge_that_writes_to_its_own_input_can_be_stuck() -> None:
    """If it insists on the other input, taking its own would have freed a slot.

    If it does not, it may go round with its own forever, and the source alone is blocked.
    """
    text = """
checkvalve: 2
name: insists
tasks: {a: {kind: source}, m: {kind: merge, policy: POLICY}}
links: [{from: a, to: m, capacity: 1}, {from: m, to: m, capacity: 1, name: own}]
expect: {deadlock-free: VERDICT}
"""
    for policy, verdict in (("fair", "violated"),
                            ("any", "holds, no-local-deadlock: violated")):
        changed = text.replace("POLICY", policy).replace("VERDICT", verdict)
        assert check_design(changed).as_expected


@given(designs)
@settings(max_examples=150)
def test_no_row_changes_what_is_said_to_be_conserved(design: Design) -> None:
    """The sums that the graph reasons with: of tokens, of threads."""
    table = translate(design, Aim())
    for law in (*table.invariants, *conserved(table)):
        start = {place.name: place.start for place in table.places}
        assert sum(w * start[p] for p, w in law.weights.items()) == law.total
        for row in table.rows:
            assert sum(w * row.effect.change.get(p, 0) for p, w in law.weights.items()) == 0


def test_permits_elements_and_freed_slots_of_a_link_by_credits_add_up() -> None:
    """To its capacity, whatever row changes them."""
    table = translate(load(CREDITS), Aim())
    law, = table.invariants
    assert sorted(law.weights.values()) == [1, 1, 1] and law.total == 3
    changed = {name for row in table.rows for name in row.effect.change}
    assert law.weights.keys() <= changed


@pytest.mark.parametrize("length", [1, 5, 98])
def test_a_pipeline_of_any_length_is_proved_without_a_search(length: int) -> None:
    """No state is visited, though there are more cycles than can be listed."""
    names = ["first", *(f"stage{number}" for number in range(length)), "last"]
    kinds = ["source", *["map"] * length, "sink"]
    tasks = ", ".join(f"{n}: {{kind: {k}}}" for n, k in zip(names, kinds, strict=True))
    links = "".join(
        f"  - {{from: {a}, to: {b}, capacity: 1000000}}\n"
        for a, b in zip(names, names[1:], strict=False)
    )
    report = check_design(f"checkvalve: 2\nname: p\ntasks: {{{tasks}}}\nlinks:\n{links}")
    assert report.as_expected
    assert report.finding("deadlock-free").states == 0
    assert all(cycle.excluded for cycle in report.cycles)
    assert report.all_cycles == (length < 40)


def test_the_cycles_are_told_in_the_words_of_the_design() -> None:
    """Tasks, links and what each waits for; those that are excluded say why."""
    stuck = (("ping", "room", "ping->pong"), ("pong", "room", "pong->ping"))
    both = (("ping", "room", "ping->pong"), ("pong", "data", "ping->pong"))
    for held, why in ((0, "always add up to 1, not to 2"), (1, "")):
        report = check_design(f"""
checkvalve: 2
name: ring
tasks: {{ping: {{kind: map}}, pong: {{kind: map}}}}
links:
  - {{from: ping, to: pong, capacity: 1, initial: 1}}
  - {{from: pong, to: ping, capacity: 1, initial: {held}}}
""")
        told = {
            tuple((wait.task, wait.what, wait.where) for wait in cycle.waits): cycle.excluded
            for cycle in report.cycles
        }
        assert told[stuck].endswith(why)
        assert bool(told[stuck]) == bool(why)
        if not held:
            assert "at least 1 and at most 0" in told[both]


@pytest.mark.parametrize("name", [
    "akka-a6-zipping-live", "diamond-live", "echo-1024-live", "nested-pool-live", "ring-live",
    "storm-spout-bolt-acker", "credit-chain-live", "sdf-edge-live", "pipeline-of-ten",
])
def test_sums_that_never_change_prove_what_counting_would(name: str) -> None:
    """Designs that are live because of a number: of elements, of threads, of slots."""
    finding = check_file(EXAMPLES / f"{name}.yaml").finding("deadlock-free")
    assert finding.outcome is Outcome.HOLDS
    assert finding.states == 0


@pytest.mark.parametrize(("text", "proposed"), [
    ("links: [{from: a, to: b, capacity: 3, gives: 3, takes: 2}]", "a capacity of 4"),
    ("links: [{from: a, to: b, capacity: 4, flow: credit, batch: 6}]", "a capacity of 6"),
])
def test_a_repair_is_the_least_room_that_helps(text: str, proposed: str) -> None:
    """Where the capacity of one link is too small."""
    report = check_design(
        "checkvalve: 2\nname: r\ntasks: {a: {kind: source}, b: {kind: sink}}\n" + text
    )
    (step,) = repair(report).steps
    assert proposed in step.change


def test_a_channel_that_can_lose_no_more_keeps_nobody_going() -> None:
    """The broadcast can only drop when l1 is full, and a loss would be the one step that moves
    something: it may have happened already, so the graph must not count on it."""
    report = check_design("""
checkvalve: 2
name: accident
tasks: {a: {kind: merge, policy: preferred, prefers: l0}, b: {kind: source}, c: {kind: broadcast}}
links:
  - {name: l0, from: b, to: a, capacity: 1, flow: drop-oldest}
  - {name: l1, from: c, to: a, capacity: 1, flow: drop-oldest}
  - {name: l2, from: [c, a], to: [a, c], capacity: 2, lossy: 1}
""")
    assert report.finding("deadlock-free").outcome is Outcome.VIOLATED


@given(designs)
@settings(max_examples=40)
def test_each_task_link_and_used_pool_is_in_exactly_one_part(design: Design) -> None:
    """And what two parts have is used by none."""
    found = parts(design)
    assert sorted(task for part in found for task in part.tasks) == sorted(design.tasks)
    for part in found:
        uses = {name for task in part.tasks.values()
                for name in (*task.pool, *(step.target for step in task.actions))}
        assert uses & design.pools.keys() <= part.pools.keys()
        assert all({*link.writers, *link.readers} <= part.tasks.keys()
                   for link in part.links.values())
        for other in found:
            assert other is part or not uses & other.pools.keys()
    assert {name for part in found for name in part.links} == (
        design.links.keys() if found else set())
