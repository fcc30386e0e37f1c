"""Designs without choice are decided by one run, and the checker agrees."""

from __future__ import annotations

import json
from dataclasses import replace
from random import Random

import pytest

from benchmarks.designs import loops, mesh
from benchmarks.random_designs.designs import random_design
from benchmarks.random_designs.plain_local import PlainGraph, plain_local
from checkvalve.spec.certify.checker import check_certificate
from checkvalve.spec.design.check import Part, Settings, decide_deadlock, parts
from checkvalve.spec.design.equations.confluence import goes_round, has_choice, only_run
from checkvalve.spec.design.equations.structure import decide
from checkvalve.spec.design.loader import load
from checkvalve.spec.design.net.counters import AIM, Counters
from checkvalve.spec.design.net.translate import translate
from checkvalve.spec.design.reading.language import Design
from checkvalve.spec.design.verdicts.certificates import certificate
from checkvalve.spec.design.why.findings import DesignReport
from checkvalve.spec.verdicts.verdict import Outcome

RATES = """
checkvalve: 2
name: rates
tasks:
  source: {{kind: source}}
  join: {{kind: zip}}
  sink: {{kind: sink}}
links:
  - {{from: source, to: join, gives: 6, takes: 4, capacity: 800, name: a}}
  - {{from: source, to: join, gives: 9, takes: {takes}, capacity: 900, name: b}}
  - {{from: join, to: sink, flow: credit, capacity: 1000, batch: 250}}
"""
ENDING = """
checkvalve: 2
name: ending
tasks:
  client:
    kind: script
    count: 3
    steps: [{write: requests, count: 700}, {read: replies, count: 600}]
  server:
    kind: script
    count: 3
    steps: [{read: requests, count: 700}, {write: replies, count: 600}]
links:
  - {name: requests, from: client, to: server, capacity: 500}
  - {name: replies, from: server, to: client, capacity: 20}
"""


def structured(design: Design) -> DesignReport:
    """The engine's report on deadlock."""
    found = decide_deadlock(Part.of(design, cycles=False), Settings("structure"))
    return DesignReport(design, (replace(found, name="deadlock-free"),))


def net_of(design: Design) -> Counters:
    """The counters and moves of a design."""
    return Counters.of(translate(design, AIM))


@pytest.mark.parametrize("planted", [False, True])
def test_a_mesh_of_two_thousand_queues_is_decided_by_one_run(planted: bool) -> None:
    """With an element in each row and column the run comes back; where one is missing it deadlocks.

    Both certificates are confirmed without a solver.
    """
    report = structured(mesh(2_000, 10_000, seed=1, planted=planted))
    found = report.finding("deadlock-free")
    assert found.outcome is (Outcome.VIOLATED if planted else Outcome.HOLDS)
    document = json.loads(json.dumps(certificate(report, found)))
    opinion = check_certificate(document, report.design)
    assert opinion.confirmed, opinion.why


@pytest.mark.parametrize(("takes", "outcome"), [(6, Outcome.HOLDS), (7, Outcome.VIOLATED)])
def test_rates_that_balance_come_back_and_others_get_stuck(takes: int, outcome: Outcome) -> None:
    """Six and nine elements written, four and six read: twice and three times."""
    answer = decide(load(RATES.format(takes=takes)))
    assert answer.only is not None
    assert answer.deadlock_free is (outcome is Outcome.HOLDS)


def test_a_run_that_ends_with_all_work_done_is_no_deadlock() -> None:
    """And it is the only possible end, in whatever order tasks run."""
    report = structured(load(ENDING))
    found = report.finding("deadlock-free")
    assert found.outcome is Outcome.HOLDS and "ends with all work done" in found.method
    document = certificate(report, found)
    assert document is not None and check_certificate(document, report.design).confirmed


def test_a_design_with_choice_is_not_decided_by_one_run() -> None:
    """A merge takes one of two, a route gives to one of two."""
    net = net_of(loops(16, 5, seed=1))
    assert has_choice(net) and only_run(net) is None


def test_a_run_that_does_not_come_back_proves_nothing() -> None:
    """One leg less, and the run of a design that has choice."""
    report = structured(mesh(200, 7, seed=1))
    document = certificate(report, report.finding("deadlock-free"))
    assert document is not None
    proof = document["evidence"]["parts"][0]
    assert check_certificate(document, report.design).confirmed
    proof["legs"][-1]["then"] = proof["legs"][-1]["then"][:-1]
    assert check_certificate(document, report.design).confirmed is False
    other = loops(16, 5, seed=1)
    proof.update(task=next(iter(other.tasks)), legs=[])
    opinion = check_certificate({**document, "design": other.name}, other)
    assert opinion.confirmed is False and "may take what another needs" in opinion.why


def test_where_a_run_makes_every_move_and_comes_back_nobody_stops_alone() -> None:
    """A mesh; and no random design of which the plain algorithm says otherwise."""
    assert goes_round(mesh(200, 7, seed=1)) and not goes_round(mesh(200, 7, seed=1, planted=True))
    seen = 0
    for seed in range(300):
        for part in parts(random_design(Random(seed))):
            if goes_round(part) and (graph := PlainGraph(part)).whole:
                seen += 1
                assert not plain_local(graph), seed
    assert seen > 5
