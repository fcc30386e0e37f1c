"""One verdict on liveness: the engines' against weak fairness worked out on a graph, with the
transitions that the checker of certificates reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest
from opinions import opinion

from benchmarks.random_designs.designs import random_design
from benchmarks.random_designs.plain_live import graph_of, is_kept_waiting, is_told_of, wishes
from checkvalve.spec.certify.transitions import system_of
from checkvalve.spec.certify.system import NotCovered
from checkvalve.spec.design.check import check
from checkvalve.spec.design.loader import load
from checkvalve.spec.design.reading.language import Design
from checkvalve.spec.design.search.searching import Settings
from checkvalve.spec.design.verdicts.live import decide_live
from checkvalve.spec.design.why.parts import parts
from checkvalve.spec.verdicts.verdict import Outcome

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
    assert stops.reason == "source writes no more: no task takes a step any more"
    unbounded = check(load(text.replace("capacity: 1", "flow: unbounded"))).finding("live")
    assert unbounded.outcome is Outcome.UNKNOWN


def test_a_kind_that_nobody_reads_is_kept_waiting() -> None:
    """In a queue with other kinds that are read."""
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
