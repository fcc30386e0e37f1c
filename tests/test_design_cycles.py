"""The cycle of waits: all holders of a pool are in it, and none is reported beside a proof."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.random_designs.explanation_judge import complaints
from checkvalve.conformance.designs import check_design
from checkvalve.conformance.designs.text import lines
from checkvalve.spec.design.drawing.svg import draw
from checkvalve.spec.design.reading.language import Design
from checkvalve.spec.design.why import cycles
from checkvalve.spec.design.why.cycles import closed_cycle, ranged, round_of
from checkvalve.spec.design.why.findings import DesignReport, Finding
from checkvalve.spec.design.why.blocked import Blocked
from checkvalve.spec.verdicts.verdict import Outcome

EXAMPLES = Path(__file__).resolve().parent.parent / "examples" / "designs"

WORKERS = """
checkvalve: 2
name: two connections each
tasks:
  worker:
    kind: script
    copies: 4
    steps: [{acquire: pg}, {acquire: pg}, {release: pg}, {release: pg}]
pools: {pg: {threads: 4}}
"""
CALL_PAIR = """
checkvalve: 2
name: call pair
tasks:
  at A: {kind: call, pool: [workers A, workers B], roots: 1, depth: 2}
  at B: {kind: call, pool: [workers B, workers A], roots: 1, depth: 2}
pools: {workers A: {threads: 1}, workers B: {threads: 1}}
"""
TWO_WRITERS = """
checkvalve: 2
name: two writers hold the pool
tasks:
  w1: {kind: script, steps: [{acquire: p}, {write: q}, {release: p}]}
  w2: {kind: script, steps: [{acquire: p}, {write: q}, {release: p}]}
  reader: {kind: script, steps: [{acquire: p}, {read: q}, {release: p}]}
links: [{name: q, from: [w1, w2], to: reader, capacity: 1}]
pools: {p: {threads: 2}}
"""


def checked(text: str) -> tuple[DesignReport, Finding, str]:
    """The report on a design that deadlocks, with a true explanation; and the printed text."""
    report = check_design(text)
    assert complaints(report) == []
    return report, report.finding("deadlock-free"), "\n".join(lines(report))


def test_all_who_hold_a_pool_are_in_the_cycle() -> None:
    """Each of four workers holds one connection and waits for another: text, JSON and drawing."""
    report, finding, told = checked(WORKERS)
    workers = [f"worker[{n}]" for n in range(1, 5)]
    assert [wait.task for wait in finding.cycle] == workers
    assert "Cycle of waits: worker[1] -> worker[2] -> worker[3] -> worker[4] -> worker[1]" in told
    held = "All 4 permits of pg are held by worker[1] to worker[4], each of which waits for one"
    assert held in told
    drawn = draw(report)
    assert held in drawn and drawn.count('class="box blocked"') == 4
    (found, *_) = report.results
    assert [wait["task"] for wait in found["cycle"]] == workers and found["free"] == {"pg": 0}


def test_a_holder_outside_the_round_is_told_beside_it() -> None:
    """Both writers hold a permit and wait for the reader: no round passes all three."""
    report, finding, told = checked(TWO_WRITERS)
    assert {wait.task for wait in finding.cycle} == {"w1", "w2", "reader"}
    assert len(round_of(finding.cycle)) == 2 and "; with it w" in told
    assert "Both permits of p are held by w1 and w2, none of which gives any back" in told
    assert draw(report).count('class="box blocked"') == 3


def test_calls_wait_only_for_who_holds_threads_where_it_waits() -> None:
    """The static cycles are those that can be: no call waits for threads that it has yet to get."""
    report, finding, _ = checked(CALL_PAIR)
    assert [[wait.task for wait in cycle.waits] for cycle in report.cycles] == [
        [wait.task for wait in finding.cycle]] == [["at A", "at B"]]


def test_nested_calls_are_told_with_the_threads_that_they_hold() -> None:
    """A cycle of one task says how it can wait for itself."""
    _, finding, told = checked((EXAMPLES / "nested-pool-deadlocked.yaml").read_text())
    assert [wait.task for wait in finding.cycle] == ["requests"]
    assert ("Cycle of waits: all 4 threads of workers are held by requests, which waits for one "
            "more.") in told


def test_permits_that_are_left_but_too_few_are_told() -> None:
    """Two tasks that take three permits, two at a time."""
    _, _, told = checked("""
checkvalve: 2
name: too few left
tasks:
  a: {kind: script, count: 9, steps: [{acquire: p}, {acquire: p, count: 2}, {release: p, count: 3}]}
  b: {kind: script, count: 9, steps: [{acquire: p}, {acquire: p, count: 2}, {release: p, count: 3}]}
pools: {p: {threads: 3}}
""")
    assert "Too few are left: 2 of the 3 permits of p are held by a and b" in told


@pytest.mark.parametrize("spoil", ["a holder is missing", "a task that holds nothing", "no round"])
def test_the_judge_sees_a_cycle_with_the_wrong_holders(spoil: str) -> None:
    """So what holds of random designs is worth something."""
    report, finding, _ = checked(TWO_WRITERS)
    reader, first, second = sorted(finding.cycle, key=lambda wait: wait.task)
    wrong = {
        "a holder is missing": (reader, first),
        "a task that holds nothing": (
            reader, first, second, Blocked("z", "room", "q", ("reader",))),
        "no round": (first, second),
    }[spoil]
    spoilt = replace(report, findings=(replace(finding, cycle=wrong), *report.findings[1:]))
    assert complaints(spoilt)


@pytest.mark.parametrize("name", ["ring-live", "philosophers-live", "nested-pool-live",
                                  "partitions-in-order-live"])
def test_no_cycle_is_told_beside_a_proof_that_there_is_none(name: str) -> None:
    """Neither in the text nor, as one that is possible, in JSON or in the drawing."""
    report = check_design(EXAMPLES / f"{name}.yaml")
    assert report.finding("deadlock-free").outcome is Outcome.HOLDS
    assert "Wait-for graph" not in "\n".join(lines(report))
    assert all(cycle["excluded"] for cycle in report.to_json()["cycles"])
    assert "stuck" not in draw(report).split("</style>")[1]


def test_a_part_that_is_proved_has_no_possible_cycle_though_another_is_stuck() -> None:
    """The other engines excluded the cycles that the graph could not exclude there."""
    live = (EXAMPLES / "philosophers-live.yaml").read_text()
    tasks, pools = live.split("tasks:\n")[1].split("pools:\n")
    report = check_design(f"checkvalve: 2\nname: both\ntasks:\n"
                          f"  x: {{kind: script, steps: [{{acquire: l}}, {{acquire: l}}]}}\n{tasks}"
                          f"pools:\n  l: {{threads: 1}}\n{pools.split('expect:')[0]}")
    assert report.finding("deadlock-free").outcome is Outcome.VIOLATED
    possible = {wait.task for cycle in report.cycles if not cycle.excluded for wait in cycle.waits}
    assert possible <= {"x"}


def test_a_pool_on_which_tasks_run_has_threads_and_others_have_permits() -> None:
    """A connection is no thread."""
    design: Design = check_design(WORKERS).design
    assert design.unit("pg") == "permit"
    assert check_design(CALL_PAIR).design.unit("workers A") == "thread"


def test_a_holder_that_waits_for_nobody_is_told_too() -> None:
    """There is a cycle, and a task that holds a permit waits for something that no task brings."""
    cycle = closed_cycle([Blocked("a", "a permit", "p", ("a", "h")),
                          Blocked("h", "data", "l", ("k",)), Blocked("k", "data", "m", ())])
    assert [wait.task for wait in cycle] == ["a", "h", "k"]


def test_a_long_cycle_is_found_without_looking_for_one_through_each_task(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A round of thousands is its own shortest cycle; of one with ways across a few are tried."""
    looked: list[str] = []
    through = cycles._shortest_through
    monkeypatch.setattr(cycles, "_shortest_through", lambda part, successors, start: (
        looked.append(start), through(part, successors, start))[1])
    number = 3_000
    names = [f"t{n:04}" for n in range(number)]
    waits = [Blocked(name, "data", f"l{name}", (names[(n + 1) % number],))
             for n, name in enumerate(names)]
    assert [wait.task for wait in closed_cycle(waits)] == names and looked == []
    across = [Blocked("t0000", "data", "m", ("t0002",)), *waits]
    assert [wait.task for wait in closed_cycle(across)] == [names[0], *names[2:]]
    assert len(looked) < number / 2


def test_names_with_numbers_are_told_as_ranges() -> None:
    """Three or more in a row."""
    assert ranged(["w[1]", "w[2]", "w[3]", "x"]) == "w[1] to w[3] and x"
    assert ranged(["w 1", "w 2"]) == "w 1 and w 2" and ranged([]) == ""
