"""Runs that try to reach a deadlock find some that no search reaches, and nothing else."""

from __future__ import annotations

from itertools import count

import pytest
from hypothesis import given, settings

from benchmarks.random_designs.designs import designs
from checkvalve.conformance.designs.text import lines
from checkvalve.spec.design.check import Part, Settings, check, decide_deadlock, parts
from checkvalve.spec.design.loader import load
from checkvalve.spec.design.net.builder import Aim
from checkvalve.spec.design.net.translate import translate
from checkvalve.spec.design.reading.language import Design
from checkvalve.spec.design.search.runs import Runs
from checkvalve.spec.design.why.findings import DesignReport, Finding
from checkvalve.spec.verdicts.verdict import Budget, Outcome

LOOP = """
checkvalve: 2
name: loop
tasks:
  orders: {{kind: source}}
  check: {{kind: merge}}
  pack: {{kind: broadcast}}
  ship: {{kind: sink}}
links:
  - {{from: orders, to: check, capacity: {n}}}
  - {{from: check, to: pack, capacity: {n}}}
  - {{from: pack, to: ship, capacity: {n}}}
  - {{from: pack, to: check, capacity: {n}, name: second look}}
"""

TWO_LOOPS = """
checkvalve: 2
name: two loops
tasks:
  a: {kind: source}
  b: {kind: merge}
  c: {kind: route}
  d: {kind: sink}
  e: {kind: merge, policy: fair}
  f: {kind: route, pool: hands}
  g: {kind: map, hand: 1}
links:
  - {from: a, to: b, capacity: 300}
  - {from: b, to: c, capacity: 200}
  - {from: c, to: b, capacity: 100}
  - {from: c, to: e, capacity: 150}
  - {from: e, to: f, capacity: 250}
  - {from: f, to: e, capacity: 40, name: retry}
  - {from: f, to: g, capacity: 90}
  - {from: g, to: d, flow: credit, capacity: 5}
pools: {hands: {threads: 3}}
"""


TURNING = """
checkvalve: 2
name: turning
tasks: {a: {kind: source}, b: {kind: sink}}
links: [{from: a, to: b, capacity: 1}]
"""


@pytest.mark.parametrize("text", [LOOP.format(n=1000), TWO_LOOPS], ids=["loop", "two loops"])
def test_a_deadlock_among_large_capacities_is_found(text: str) -> None:
    """The product of the capacities is no number to search; their sum is one to run. Twice the
    same is found, and the way says that it may not be the shortest."""
    found = [check(load(text)).finding("deadlock-free") for _ in range(2)]
    assert found[0].steps == found[1].steps and found[0].waits == found[1].waits
    assert found[0].outcome is Outcome.VIOLATED and not found[0].is_shortest
    assert found[0].cycle and "found by" in found[0].method


@settings(max_examples=60)
@given(designs)
def test_runs_get_stuck_only_where_the_explorer_does(design: Design) -> None:
    """In a part by itself; and no shorter way there is than what a search finds."""
    for part in parts(design):
        tried = Runs(translate(part, Aim())).try_all(steps=1_500)
        searched = decide_deadlock(Part.of(part, cycles=False), Settings("explorer"))
        if tried.deadlocked is not None and searched.outcome is not Outcome.UNKNOWN:
            assert searched.outcome is Outcome.VIOLATED
            assert len(tried.deadlocked) >= len(searched.steps)


def test_runs_never_say_that_a_design_holds() -> None:
    """This one never deadlocks, and trying is no proof of it."""
    found = check(load(TURNING), Settings("runs")).finding("deadlock-free")
    assert found.outcome is Outcome.UNKNOWN and "did not deadlock" in found.reason


PARTS = "checkvalve: 2\nname: parts\ntasks:\n" + "".join(
    f"  s{n}: {{kind: source}}\n  m{n}: {{kind: merge}}\n  w{n}: {{kind: route}}\n"
    f"  k{n}: {{kind: sink}}\n" for n in range(6)) + "links:\n" + "".join(
    f"  - {{from: {a}{n}, to: {b}{n}, capacity: 1000}}\n"
    for n in range(6) for a, b in ("sm", "mw", "wm", "wk"))


def test_the_time_of_one_part_ends_neither_the_runs_nor_the_other_parts() -> None:
    """Here each of six parts has a sixth of a clock that moves on at each look; the runs, which
    end by themselves, may use what is left of all of it."""
    def found(looks: int) -> Finding:
        budget = Budget(max_seconds=looks, clock=count().__next__)
        return check(load(PARTS), Settings(budget=budget)).finding("deadlock-free")

    assert found(16_000).outcome is Outcome.VIOLATED
    short = found(2_000)
    assert short.outcome is Outcome.UNKNOWN and short.reason


def test_a_small_deadlock_is_told_by_a_shortest_way() -> None:
    """A question that a short search decides is not left to trying."""
    found = check(load(LOOP.format(n=2))).finding("deadlock-free")
    assert found.outcome is Outcome.VIOLATED and found.is_shortest


def test_a_run_that_repeats_itself_ends_there() -> None:
    """A source and a sink turn round forever: each phase of a run ends when it sees that."""
    table = translate(load(TURNING), Aim())
    tried = Runs(table).try_all(steps=20_000)
    assert tried.deadlocked is None and tried.runs > 8


def test_of_a_long_way_the_report_shows_both_ends() -> None:
    """A thousand lines are of no use; JSON has every step."""
    steps = tuple(f"a does {number}" for number in range(1_000))
    way = Finding("deadlock-free", Outcome.VIOLATED, "found by trying", steps=steps,
                  is_shortest=False)
    told = list(lines(DesignReport(load(TURNING), (way,))))
    assert "  deadlock: a counterexample, perhaps not the shortest (1,000 steps):" in told
    assert sum("a does" in line for line in told) == 60
    assert any("940 lines are left out here; --json has every step" in line for line in told)
    assert way.to_json("turning")["trace"] == list(steps)
