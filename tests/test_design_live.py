"""One verdict on liveness: the engines' against weak fairness worked out on a graph, with the
transitions that the checker of certificates reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

import networkx
import pytest
from opinions import opinion
from random_designs import random_design

from checkvalve.spec.certify.moves import system_of
from checkvalve.spec.certify.system import Move, NotCovered, System, can_move
from checkvalve.spec.design.check import check
from checkvalve.spec.design.loader import load
from checkvalve.spec.design.reading.language import Design, Flow, Kind
from checkvalve.spec.design.search.searching import Settings
from checkvalve.spec.design.verdicts.live import decide_live
from checkvalve.spec.design.why.parts import parts
from checkvalve.spec.verdicts.verdict import Outcome

MOST_STATES = 150

State = tuple[int, ...]
Wish = tuple[str, int, Callable[[Move], bool]]
"""A counter that holds at least so many calls for one of these moves; "" does so always."""


def graph_of(system: System) -> networkx.MultiDiGraph | None:
    """All states, with the moves between them; None if there are too many."""
    names = list(system.counters)
    first = tuple(counter.start for counter in system.counters.values())
    graph = networkx.MultiDiGraph()
    graph.add_node(first)
    todo = [first]
    while todo:
        here = todo.pop()
        state = dict(zip(names, here, strict=True))
        for number, move in enumerate((*system.moves, *system.idle)):
            if not can_move(move, state):
                continue
            there = "failed" if move.fails else tuple(
                state[name] + move.change.get(name, 0) for name in names)
            if there not in graph and there != "failed":
                todo.append(there)
            graph.add_edge(here, there, number)
        if len(graph) > MOST_STATES:
            return None
    return graph


def wishes(part: Design) -> Iterator[Wish]:
    """Sources and scripts that only write; what is in links, and in hands."""
    for name, task in part.tasks.items():
        only_writes = part.outputs(name) and not part.inputs(name)
        if task.kind is Kind.SOURCE or (task.kind is Kind.SCRIPT and only_writes):
            left = f"{name}: elements left" if task.kind is Kind.SOURCE and task.count else ""
            yield left, 1, lambda move, name=name: name in move.tasks
    for link in (link for link in part.links.values() if link.capacity != 0):
        queue = f"elements in {link.name}"
        least = min(part.taken(link), default=1)
        yield queue, least, lambda move, q=queue: move.change.get(q, 0) < 0
    for name in system_of(part).counters:
        if name.endswith("in the hand"):
            yield name, 1, lambda move, held=name: move.change.get(held, 0) < 0


def is_kept_waiting(system: System, graph: networkx.MultiDiGraph, wish: Wish) -> bool:
    """Whether a fair run keeps a wish for ever: it ends, or goes round in a set of states in which
    each move that is always possible is made."""
    counter, least, fulfils = wish
    names, moves = list(system.counters), [*system.moves, *system.idle]
    rests = [counter.most if counter.rest is None else counter.rest
             for counter in system.counters.values()]

    def waits(state: State | str) -> bool:
        done = state == "failed" or (system.ends and all(
            most is None or held <= most for held, most in zip(state, rests, strict=True)))
        return not done and (not counter or state[names.index(counter)] >= least)

    fair = {n for n, move in enumerate(moves) if not move.chance}
    able = {state: {n for _, _, n in graph.out_edges(state, keys=True)} for state in graph}
    here = graph.subgraph([state for state in graph if waits(state)]).copy()
    here.remove_edges_from([edge for edge in here.edges(keys=True) if fulfils(moves[edge[2]])])
    for states in networkx.strongly_connected_components(here):
        made = {n for *_, n in here.subgraph(states).edges(keys=True)}
        always = set.intersection(*(able[state] for state in states)) & fair
        if always <= made:
            return True
    return False


def is_told_of(part: Design) -> bool:
    """Whether the wishes and moves here are those of a part: nobody in it reads what it writes, has
    no bound, or stops."""
    tied = [set(link.writers) & set(link.readers) for link in part.links.values()]
    return not (any(tied) or any(
        link.flow is Flow.UNBOUNDED for link in part.links.values()) or any(
            task.may.value or task.may_end and task.kind is Kind.SCRIPT
            for task in part.tasks.values()))


def examples() -> Iterator[tuple[Design, bool]]:
    """Parts of random designs, and whether something is kept waiting in them."""
    for seed in range(1_000):
        for part in parts(random_design(Random(f"live {seed}"))):
            if not is_told_of(part):
                continue
            try:
                system = system_of(part)
            except NotCovered:
                continue
            graph = graph_of(system)
            if graph is not None and 5 <= len(graph):
                yield part, any(is_kept_waiting(system, graph, wish) for wish in wishes(part))


def test_what_is_kept_waiting_is_what_a_fair_run_can_keep_waiting() -> None:
    """Ten live parts of random designs, and ten in which something is kept waiting."""
    left = {True: 10, False: 10}
    for part, waits in examples():
        if left[waits]:
            left[waits] -= 1
            found = decide_live([part], Settings("explorer"))
            assert found.outcome is (Outcome.VIOLATED if waits else Outcome.HOLDS), part
        if not any(left.values()):
            return
    pytest.fail(f"too few designs: {left}")


def test_who_starves_is_told_with_those_who_go_round() -> None:
    """A merge that prefers its feedback starves the source; a fair one serves both."""
    text = """
checkvalve: 2
name: feedback
tasks:
  source: {kind: source}
  merge: {kind: merge, policy: preferred, prefers: back}
  copies: {kind: broadcast}
  sink: {kind: sink}
links:
  - {from: source, to: merge, capacity: 1, name: new}
  - {from: merge, to: copies, capacity: 1, name: on}
  - {from: copies, to: merge, capacity: 1, name: back, flow: drop-oldest}
  - {from: copies, to: sink, capacity: 1, name: out}
expect: {live: violated}
"""
    found = check(load(text)).finding("live")
    assert found.outcome is Outcome.VIOLATED and found.loop is not None
    assert found.reason == ("source writes no more while these continue forever: merge, copies, "
                            "sink")
    fair = text.replace("policy: preferred, prefers: back", "policy: fair")
    assert check(load(fair)).finding("live").outcome is Outcome.HOLDS


def test_a_source_that_is_done_or_has_stopped_has_gone_on() -> None:
    """It is what others keep waiting that counts; an unbounded link leaves it open."""
    text = """
checkvalve: 2
name: ends
tasks:
  source: {kind: source, count: 2}
  other: {kind: source, may: stop}
  sink: {kind: sink}
links: [{from: source, to: sink, capacity: 1}, {from: other, to: sink, capacity: 1}]
expect: {live: holds}
"""
    assert check(load(text)).finding("live").outcome is Outcome.HOLDS
    stops = check(load(text.replace("{kind: sink}", "{kind: sink, may: stop}"))).finding("live")
    assert stops.reason == "source writes no more: nothing moves any more"
    unbounded = check(load(text.replace("capacity: 1", "flow: unbounded"))).finding("live")
    assert unbounded.outcome is Outcome.UNKNOWN


def test_a_kind_that_nobody_reads_is_kept_waiting() -> None:
    """In a queue whose other kinds are read."""
    text = """
checkvalve: 2
name: unread
tasks:
  writer: {kind: script, count: 1, steps: [{write: q, of: a}, {write: q, of: b}]}
  other: {kind: script, steps: [{write: q, of: a}, {read: q, of: a}]}
links:
  - {from: [writer, other], to: other, capacity: 3, name: q, kinds: [a, b]}
expect: {live: violated}
"""
    report = check(load(text))
    assert report.finding("live").reason.startswith("what is in q (b) is never read")
    assert opinion(report, "live").confirmed
