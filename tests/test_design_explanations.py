"""Explanations of a deadlock are true: the waits, the tasks that they are on, and the cycle."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from benchmarks.random_designs.designs import random_design, random_file
from benchmarks.random_designs.explanation_judge import complaints
from checkvalve.conformance.designs import check_design
from checkvalve.conformance.designs.text import lines
from checkvalve.spec.design.check import Part, Settings, decide_deadlock, parts
from checkvalve.spec.design.why.findings import DesignReport
from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.verdicts.verdict import Budget, Outcome

BUDGET = Budget(max_states=2_000)
BATCHES = 5
OF_A_BATCH = 35


def checked(text: str) -> DesignReport:
    """The report on a design that can deadlock, with a true explanation."""
    report = check_design("checkvalve: 2\nname: deadlocked\n" + text)
    assert complaints(report) == []
    return report


def rows(report: DesignReport) -> list[tuple[str, str, str, str]]:
    """The rows of waits: the task, what it waits for, in which queue or pool, and on which tasks.
    """
    return [(w.task, w.what, w.where, " ".join(w.on))
            for w in report.finding("deadlock-free").waits]


def cycle(report: DesignReport) -> set[str]:
    """The tasks of the cycle."""
    return {wait.task for wait in report.finding("deadlock-free").cycle}


def retrying(inputs: str, links: str, policy: str) -> str:
    """A merge with elements that may come back to it."""
    return f"""
tasks:
{inputs}  m: {{kind: merge, {policy}}}
  w: {{kind: route}}
  out: {{kind: sink}}
links:
{links}  - {{name: q, from: m, to: w, capacity: 1}}
  - {{name: retry, from: w, to: m, capacity: 1}}
  - {{name: done, from: w, to: out, capacity: 1}}
"""


@pytest.mark.parametrize("batch", range(BATCHES))
def test_explanations_of_random_deadlocks_are_true(batch: int) -> None:
    """Each row, each name in it, and the cycle, tried out in the state itself."""
    stuck = 0
    for seed in range(batch * OF_A_BATCH, (batch + 1) * OF_A_BATCH):
        try:
            report = check_design(random_design(Random(seed)), BUDGET)
        except InputError:  # more ways to move than can be listed
            continue
        if report.finding("deadlock-free").outcome is Outcome.VIOLATED:
            stuck += 1
            assert complaints(report) == [], seed
    assert stuck > OF_A_BATCH // 3


def test_explanations_with_kinds_windows_and_calls_are_true() -> None:
    """The front of a queue, a go that was lost, elements that no task reads any more."""
    told = set()
    for seed in range(16, 36):
        for part in parts(random_file(Random(seed))):
            found = decide_deadlock(Part.of(part), Settings("explorer", Budget(max_states=300)))
            if found.outcome is Outcome.VIOLATED:
                report = DesignReport(part, (replace(found, name="deadlock-free"),))
                assert complaints(report) == [], seed
                told |= {wait.what for wait in found.waits}
    assert {"its kind at the front", "a go", "room", "data"} <= told


@pytest.mark.parametrize("spoil", ["row", "on", "nobody", "cycle", "silence"])
def test_the_judge_sees_a_wrong_explanation(spoil: str) -> None:
    """A row that is no wait, a name that is wrong or missing, an open cycle, a missing row."""
    report = checked(retrying("  s: {kind: source}\n",
                              "  - {name: a, from: s, to: m, capacity: 1}\n", "policy: fair"))
    finding = report.finding("deadlock-free")
    first, *others = finding.waits
    wrong = {
        "row": replace(finding, waits=(*finding.waits, replace(
            next(w for w in others if w.task == "m"), where="retry", on=("m",)))),
        "on": replace(finding, waits=(replace(first, on=("w",)), *others)),
        "nobody": replace(finding, waits=(replace(first, on=()), *others)),
        "cycle": replace(finding, cycle=(*finding.cycle, first)),
        "silence": replace(finding, waits=tuple(others)),
    }[spoil]
    spoilt = replace(report, findings=(wrong, *report.findings[1:]))
    assert complaints(spoilt)


@pytest.mark.parametrize("policy", ["policy: fair", "policy: preferred, prefers: s0"])
@pytest.mark.parametrize("sources", [1, 2])
def test_whose_turn_it_is_and_what_is_preferred_is_no_wait(policy: str, sources: int) -> None:
    """A merge never waits for a free slot in a link that it reads."""
    names = [f"s{number}" for number in range(sources)]
    report = checked(retrying(
        "".join(f"  {name}: {{kind: source}}\n" for name in names),
        "".join(f"  - {{name: {n}, from: {n}, to: m, capacity: 1}}\n" for n in names), policy))
    assert [row for row in rows(report) if row[0] == "m"] == [("m", "room", "q", "w")]
    assert cycle(report) == {"m", "w"}


def test_who_writes_to_a_link_that_drops_does_not_wait_for_it_to_be_full() -> None:
    """It waits for what it reads."""
    report = checked("""
tasks: {t0: {kind: map}, t1: {kind: filter}}
links:
  - {name: l0, from: t1, to: t0, capacity: 1}
  - {name: l1, from: t0, to: t1, capacity: 1, initial: 1, flow: drop-newest}
""")
    assert rows(report) == [("t0", "data", "l0", "t1"), ("t1", "data", "l1", "t0")]


def test_a_call_waits_on_who_holds_the_threads() -> None:
    """Two services, one worker each, that call each other: not on itself."""
    report = checked("""
tasks:
  at A: {kind: call, pool: [A, B], depth: 2}
  at B: {kind: call, pool: [B, A], depth: 2}
pools: {A: {threads: 1}, B: {threads: 1}}
""")
    assert rows(report) == [("at A", "a thread", "B", "at B"), ("at B", "a thread", "A", "at A")]
    assert cycle(report) == {"at A", "at B"}


def test_a_script_that_has_ended_is_named_and_waited_on_by_nobody() -> None:
    """Then there is no cycle, and the text does not say that all is impossible."""
    report = checked("""
tasks:
  a: {kind: source}
  b: {kind: sink}
  c: {kind: script, count: 1, steps: [{read: l}]}
links:
  - {name: l, from: a, to: c, capacity: 2}
  - {name: m, from: a, to: b, capacity: 2}
""")
    assert rows(report) == [("a", "room", "l", ""), ("b", "data", "m", "a")]
    assert report.finding("deadlock-free").waits[0].gone == ("c",)
    assert not cycle(report)
    told = "\n".join(lines(report))
    assert "No task can free a slot in l any more: c is done." in told
    assert "the tasks that wait here form no cycle" in told


def test_a_stream_whose_reader_has_stopped_is_named_beside_the_cycle() -> None:
    """HTTP/2: one stream holds the whole window, and the other one starves."""
    report = checked("""
tasks:
  send1: {kind: map}
  send2: {kind: map}
  app1: {kind: map}
  app2: {kind: script, count: 1, steps: [{read: stream2}, {write: window}]}
links:
  - {name: window, from: [app1, app2], to: [send1, send2], capacity: 4, initial: 4}
  - {name: stream1, from: send1, to: app1, capacity: 3}
  - {name: stream2, from: send2, to: app2, capacity: 4}
""")
    assert ("send2", "room", "stream2", "") in rows(report)
    assert ("send1", "data", "window", "app1") in rows(report)
    assert "No task can free a slot in stream2 any more: app2 is done." in "\n".join(lines(report))


def test_who_gives_back_first_waits_for_somebody_else_to_take() -> None:
    """And not on itself: its own acquire comes after."""
    report = checked("""
tasks:
  t0: {kind: script, steps: [{release: p}, {write: l0}, {acquire: p}]}
  t1: {kind: sink}
links: [{name: l0, from: t0, to: t1, capacity: 2}]
pools: {p: {threads: 3}}
""")
    assert rows(report) == [("t0", "an acquire", "p", ""), ("t1", "data", "l0", "t0")]
    assert not cycle(report)


def test_a_thread_that_is_kept_for_ever_is_kept_by_somebody() -> None:
    """A script that ends without giving back what it took."""
    report = checked("""
tasks:
  keeper: {kind: script, count: 1, steps: [{acquire: p}]}
  user: {kind: script, steps: [{acquire: p}, {release: p}]}
pools: {p: {threads: 1}}
""")
    assert rows(report) == [("user", "a permit", "p", "")]
    assert report.finding("deadlock-free").waits[0].gone == ("keeper",)


def test_more_than_fits_is_never_there() -> None:
    """Nobody is to blame where a reader takes more at once than there is room for."""
    report = checked("""
tasks: {a: {kind: source}, b: {kind: sink}}
links: [{name: l, from: a, to: b, capacity: 1, takes: 2}]
""")
    (first, second) = report.finding("deadlock-free").waits
    assert (first.on, first.never) == ((), False)
    assert (second.on, second.never) == ((), True)


def test_a_partner_who_is_ready_but_for_its_own_partner_is_waited_on() -> None:
    """Links of capacity 0, in a row, to a reader that has stopped."""
    report = checked("""
tasks:
  a: {kind: source}
  b: {kind: map}
  c: {kind: script, count: 1, steps: [{read: m}]}
links:
  - {name: l, from: a, to: b, capacity: 0}
  - {name: m, from: b, to: c, capacity: 0}
""")
    assert ("a", "room", "l", "b") in rows(report)
    assert ("b", "room", "m", "") in rows(report)
