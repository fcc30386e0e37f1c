"""Repairs and circles of waits: what is proposed is true, and what is told is worth telling."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from checkvalve.conformance.cli import root
from checkvalve.conformance.cli.outcome import run
from checkvalve.conformance.designs import check_design, check_file
from checkvalve.conformance.designs.text import lines
from checkvalve.spec.design import repair
from checkvalve.spec.design.check import Part, Settings, decide_deadlock
from checkvalve.spec.design.findings import Finding
from checkvalve.spec.design.repair import with_repair

EXAMPLES = Path(__file__).resolve().parent.parent / "examples" / "designs"
STUCK = sorted(path.stem for path in EXAMPLES.glob("*-deadlocked.yaml"))

LOCKS = """
checkvalve: 1
name: locks
tasks:
  p: {kind: script, steps: [{acquire: A}, {acquire: B}, {release: B}, {release: A}]}
  q: {kind: script, steps: [{acquire: B}, {acquire: A}, {release: A}, {release: B}]}
pools: {A: {threads: 1}, B: {threads: 1}}
"""
POOLED = """
checkvalve: 1
name: pooled
tasks:
  s: {kind: source, pool: w}
  a: {kind: map, pool: w}
  b: {kind: map, pool: w}
  t: {kind: sink, pool: w}
links:
  - {from: s, to: a, capacity: 2}
  - {from: a, to: b, capacity: 2}
  - {from: b, to: t, capacity: 2}
pools: {w: {threads: 2}}
"""


def repaired(name: str) -> str:
    """The repair that is proposed for a deadlocked example."""
    return with_repair(check_file(EXAMPLES / f"{name}.yaml")).finding("deadlock").repair


@pytest.mark.parametrize(("name", "proposed", "old", "new"), [
    ("echo-2048-deadlocked", "give requests a capacity of 2047", "capacity: 1024",
     "capacity: 2047"),
    ("storm-blocking-spout-deadlocked", "give the pool spout thread 2 threads", "threads: 1",
     "threads: 2"),
    ("credit-batch-deadlocked", "a capacity of 5", "capacity: 4", "capacity: 5"),
    ("nested-pool-deadlocked", "give the pool workers 5 threads", "threads: 4", "threads: 5"),
])
def test_a_proposed_repair_makes_the_design_live(
    name: str, proposed: str, old: str, new: str
) -> None:
    """Done by hand in the file, it is confirmed by the explorer alone."""
    assert proposed in repaired(name)
    text = (EXAMPLES / f"{name}.yaml").read_text()
    assert old in text
    report = check_design(text.replace(old, new), settings=Settings("explorer"))
    assert report.finding("deadlock").outcome.value == "holds"


@pytest.mark.parametrize("name", STUCK)
def test_the_search_for_a_repair_is_small(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It visits a bounded number of states, so that a verdict with its repair stays quick."""
    visited = []

    def counting(part: Part, settings: Settings) -> Finding:
        finding = decide_deadlock(part, settings)
        visited.append(finding.states)
        return finding

    monkeypatch.setattr(repair, "decide_deadlock", counting)
    repaired(name)
    assert sum(visited) <= 3 * repair.MAX_STATES


def test_a_lock_is_not_given_a_second_permit() -> None:
    """It would then exclude nobody: two locks taken in two orders have no such repair."""
    report = with_repair(check_design(LOCKS))
    assert report.finding("deadlock").outcome.value == "violated"
    assert report.finding("deadlock").repair == ""
    assert repaired("event-loop-semaphore-deadlocked") == ""


def test_only_who_holds_a_lock_is_waited_for() -> None:
    """Two locks in two orders have one circle, and no task waits for itself."""
    cycles = check_design(LOCKS).cycles
    told = [[(wait.task, wait.where) for wait in cycle.waits] for cycle in cycles]
    assert told == [[("p", "B"), ("q", "A")]]


def test_no_single_task_waits_for_its_own_thread() -> None:
    """Tasks that share a pool and hold nothing while they wait close no circle alone."""
    possible = [cycle for cycle in check_design(POOLED).cycles if not cycle.excluded]
    assert possible
    assert all(len(cycle.waits) > 1 for cycle in possible)


def test_a_call_waits_for_the_threads_of_its_own_calls() -> None:
    """Nested calls on one pool are a circle of one task, and truly a deadlock."""
    report = check_file(EXAMPLES / "nested-pool-deadlocked.yaml")
    assert [[w.task for w in cycle.waits] for cycle in report.cycles] == [["requests"]]


def test_few_circles_are_told_and_the_rest_is_counted() -> None:
    """The shortest ones, those of the same tasks on one line."""
    told = "\n".join(lines(check_design(POOLED)))
    graph = told[told.index("Wait-for graph"):].splitlines()
    assert len(graph) <= 5
    assert graph[1].startswith("    a -> s -> a: ")
    assert graph[-1].strip().startswith("and 3 more circles")


def test_the_verdict_is_told_before_a_repair_is_looked_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is printed when the search begins already has the verdict."""
    before = []

    def looked(report: object) -> object:
        before.append(capsys.readouterr().out)
        return report

    monkeypatch.setattr(repair, "with_repair", looked)
    run(root, ["check", str(EXAMPLES / "ring-full-deadlocked.yaml")])
    assert "deadlock" in before[0]
    assert "The circle:" in before[0]


def test_the_document_has_the_repair(capsys: pytest.CaptureFixture[str]) -> None:
    """One document, although the repair is found last."""
    run(root, ["check", "--json", str(EXAMPLES / "ring-full-deadlocked.yaml")])
    results = json.loads(capsys.readouterr().out)["results"]
    assert results[0]["repair"] == "give a->b a capacity of 2 (it has 1)"
