"""The wait-for graph against the explorer, on random designs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkvalve.conformance.designs import check_design, check_file
from checkvalve.spec.design.check import Settings
from checkvalve.spec.design.invariants import conserved
from checkvalve.spec.design.language import (
    Design, Flow, Kind, Link, Merging, Pool, Step, StepKind, Task,
)
from checkvalve.spec.design.repair import repair
from checkvalve.spec.design.translate import Aim, translate
from checkvalve.spec.engines.verdict import Budget, Outcome

EXAMPLES = Path(__file__).parent.parent / "examples" / "designs"
FLOWS = [
    Flow.BLOCKING, Flow.BLOCKING, Flow.BLOCKING, Flow.CREDIT, Flow.STOP_AND_WAIT,
    Flow.DROP_OLDEST, Flow.DROP_NEWEST, Flow.FAIL, Flow.UNBOUNDED,
]
BUDGET = Budget(max_states=4_000)


def kind_of(draw: Any, incoming: int, outgoing: int) -> Kind:
    """A kind that fits a task's links."""
    if not incoming:
        return Kind.SOURCE
    if not outgoing:
        return Kind.SINK
    if incoming == 1:
        return draw(st.sampled_from([Kind.MAP, Kind.FILTER] if outgoing == 1
                                    else [Kind.BROADCAST, Kind.ROUTE]))
    return draw(st.sampled_from([Kind.MERGE, Kind.ZIP])) if outgoing == 1 else Kind.ZIP


@st.composite
def designs(draw: Any) -> Design:
    """A small design of any shape, every task of which has a link."""
    names = ["a", "b", "c", "d"][:draw(st.integers(2, 4))]
    pairs = draw(st.lists(
        st.tuples(st.sampled_from(names), st.sampled_from(names)), min_size=1, max_size=5,
    ))
    links = {}
    for number, (writer, reader) in enumerate(pairs):
        flow = draw(st.sampled_from(FLOWS))
        room = {Flow.STOP_AND_WAIT: 1, Flow.UNBOUNDED: None}.get(flow, draw(st.integers(1, 3)))
        also = draw(st.sampled_from([(), (), tuple(n for n in names[:1] if n != writer)]))
        links[f"l{number}"] = Link(
            f"l{number}", (writer, *also), (reader,), capacity=room, flow=flow,
            batch=draw(st.integers(1, 2)) if flow is Flow.CREDIT else 1,
            initial=draw(st.integers(0, 1)), gives=draw(st.sampled_from([1, 1, 1, 2])),
            takes=draw(st.sampled_from([1, 1, 1, 2])),
            lossy=draw(st.sampled_from([0, 0, 0, 1])) if flow is Flow.CREDIT else 0,
        )
    pools = {"p": Pool("p", draw(st.integers(1, 2)))} if draw(st.booleans()) else {}
    tasks = {}
    for name in names:
        incoming = [link.name for link in links.values() if name in link.readers]
        outgoing = [link.name for link in links.values() if name in link.writers]
        if (incoming or outgoing) and draw(st.integers(0, 3)) == 0:
            tasks[name] = script_of(draw, name, incoming, outgoing, bool(pools))
        elif incoming or outgoing:
            tasks[name] = task_of(draw, name, incoming, outgoing, bool(pools))
    if pools and draw(st.booleans()):
        depth = draw(st.integers(1, 3))
        tasks["calls"] = Task("calls", Kind.CALL, pool=("p",) * depth, depth=depth,
                              roots=draw(st.integers(1, 2)))
    return Design("random", "", tasks, links, pools)


def script_of(draw: Any, name: str, incoming: list[str], outgoing: list[str],
              pooled: bool) -> Task:
    """A script of a few steps on these links, which may also take and give back threads."""
    possible = [(StepKind.READ, link) for link in incoming]
    possible += [(StepKind.WRITE, link) for link in outgoing]
    if pooled:
        possible += [(StepKind.ACQUIRE, "p"), (StepKind.RELEASE, "p")]
    chosen = draw(st.lists(st.sampled_from(possible), min_size=1, max_size=4))
    steps = tuple(
        Step(kind, target, draw(st.sampled_from([1, 1, 2, 3])) if target != "p" else 1)
        for kind, target in chosen
    )
    return Task(name, Kind.SCRIPT, steps=steps, count=draw(st.sampled_from([None, None, 2])),
                pool=("p",) if pooled and draw(st.booleans()) else ())


def task_of(draw: Any, name: str, incoming: list[str], outgoing: list[str], pooled: bool) -> Task:
    """A task with these links."""
    kind = kind_of(draw, len(incoming), len(outgoing))
    merging = draw(st.sampled_from(list(Merging))) if kind is Kind.MERGE else Merging.ANY
    decides = kind in (Kind.FILTER, Kind.ROUTE)
    return Task(
        name, kind, hand=draw(st.integers(1, 2) if decides else st.integers(0, 1)),
        merging=merging, prefers=incoming[0] if merging is Merging.PREFERRED else "",
        pool=("p",) if pooled and draw(st.booleans()) else (),
        count=draw(st.sampled_from([None, None, 2])) if kind is Kind.SOURCE else None,
    )


@given(designs())
@settings(max_examples=250)
def test_what_the_graph_proves_the_explorer_confirms(design: Design) -> None:
    """A design that the wait-for graph calls live has no reachable stuck state."""
    graph = check_design(design, BUDGET, Settings("graph")).finding("deadlock").outcome
    searched = check_design(design, BUDGET, Settings("explorer")).finding("deadlock").outcome
    assert graph is not Outcome.VIOLATED
    if graph is Outcome.HOLDS:
        assert searched is not Outcome.VIOLATED


def test_a_fair_merge_that_writes_to_its_own_input_can_be_stuck() -> None:
    """Where it insists on the other input, taking its own would have made room."""
    text = """
checkvalve: 1
name: insists
tasks: {a: {kind: source}, m: {kind: merge, policy: POLICY}}
links: [{from: a, to: m, capacity: 1}, {from: m, to: m, capacity: 1, name: own}]
expect: {deadlock: VERDICT}
"""
    for policy, verdict in (("fair", "violated"), ("any", "holds")):
        changed = text.replace("POLICY", policy).replace("VERDICT", verdict)
        assert check_design(changed).as_expected


@given(designs())
@settings(max_examples=150)
def test_no_row_changes_what_is_said_to_be_conserved(design: Design) -> None:
    """The sums that the graph reasons with: of tokens, of threads."""
    table = translate(design, Aim())
    for law in (*table.invariants, *conserved(table)):
        start = {place.name: place.start for place in table.places}
        assert sum(w * start[p] for p, w in law.weights.items()) == law.total
        for row in table.rows:
            assert sum(w * row.effect.change.get(p, 0) for p, w in law.weights.items()) == 0


@given(designs())
@settings(max_examples=100)
def test_in_a_stuck_state_every_wait_is_told_and_names_real_tasks(design: Design) -> None:
    """Somebody waits, and for a link or pool of the design."""
    finding = check_design(design, BUDGET).finding("deadlock")
    if finding.outcome is Outcome.VIOLATED:
        assert finding.waits or any(task.count for task in design.tasks.values())
        for wait in (*finding.waits, *finding.cycle):
            assert wait.task in design.tasks
            assert wait.where in {*design.links, *design.pools}
            assert set(wait.on) <= set(design.tasks)


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
    report = check_design(f"checkvalve: 1\nname: p\ntasks: {{{tasks}}}\nlinks:\n{links}")
    assert report.as_expected
    assert report.finding("deadlock").states == 0
    assert all(cycle.excluded for cycle in report.cycles)
    assert report.all_cycles == (length < 40)


def test_the_cycles_are_told_in_the_words_of_the_design() -> None:
    """Tasks, links and what each waits for; those that are excluded say why."""
    stuck = (("ping", "room", "ping->pong"), ("pong", "room", "pong->ping"))
    both = (("ping", "room", "ping->pong"), ("pong", "data", "ping->pong"))
    for held, why in ((0, "always add up to 1, not to 2"), (1, "")):
        report = check_design(f"""
checkvalve: 1
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
    """Live designs whose liveness rests on a number: of elements, of threads, of slots."""
    finding = check_file(EXAMPLES / f"{name}.yaml").finding("deadlock")
    assert finding.outcome is Outcome.HOLDS
    assert finding.states == 0


@pytest.mark.parametrize(("text", "proposed"), [
    ("links: [{from: a, to: b, capacity: 3, gives: 3, takes: 2}]", "a capacity of 4"),
    ("links: [{from: a, to: b, capacity: 4, flow: credit, batch: 6}]", "a capacity of 6"),
])
def test_a_repair_is_the_least_room_that_helps(text: str, proposed: str) -> None:
    """Where one link's capacity is what is missing."""
    report = check_design(
        "checkvalve: 1\nname: r\ntasks: {a: {kind: source}, b: {kind: sink}}\n" + text
    )
    assert proposed in repair(report.design, report.finding("deadlock"))
