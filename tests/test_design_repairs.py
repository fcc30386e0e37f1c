"""Repairs and cycles of waits: what is proposed is true, and what is reported is worth a line."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import count, islice
from pathlib import Path
from random import Random

import pytest

from benchmarks.designs import loops, mesh
from benchmarks.random_designs.designs import random_design
from benchmarks.random_designs.repairs import explored, made, repaired_by
from checkvalve.conformance.cli import root
from checkvalve.conformance.cli.outcome import run
from checkvalve.conformance.designs import check_design, check_file
from checkvalve.conformance.designs.places import with_places
from checkvalve.conformance.designs.text import lines, repair_lines
from checkvalve.spec.design.check import Part, Settings, check, decide_deadlock, decide_one, parts
from checkvalve.spec.design.loader import load
from checkvalve.spec.design.reading.language import Design
from checkvalve.spec.design.repairs import judge, repair as search
from checkvalve.spec.design.repairs.change import Scope
from checkvalve.spec.design.repairs.numbered import named, numbered
from checkvalve.spec.design.repairs.repair import repair, with_repair
from checkvalve.spec.design.repairs.table import KINDS
from checkvalve.spec.design.why.findings import DesignReport, Finding, Repair
from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.verdicts.verdict import Budget, Outcome

EXAMPLES = Path(__file__).resolve().parent.parent / "examples" / "designs"
STUCK = sorted(path.stem for path in EXAMPLES.glob("*-deadlocked.yaml"))
ORDER = [kind.name for kind in KINDS]
FEW_STATES = Budget(max_states=150)

LOCKS = """
checkvalve: 2
name: locks
tasks:
  p: {kind: script, steps: [{acquire: A}, {acquire: B}, {release: B}, {release: A}]}
  q: {kind: script, steps: [{acquire: B}, {acquire: A}, {release: A}, {release: B}]}
pools: {A: {threads: 1}, B: {threads: 1}}
"""
POOLED = """
checkvalve: 2
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
LOOP = "event-loop-semaphore-deadlocked"

RETRY = """
tasks: {s: {kind: source}, m: {kind: merge, policy: POLICY}, w: {kind: route}, t: {kind: sink}}
links:
  - {name: a, from: s, to: m, capacity: 1}
  - {name: q, from: m, to: w, capacity: 1}
  - {name: retry, from: w, to: m, capacity: 1}
  - {name: done, from: w, to: t, capacity: 1}
"""
KNOWN = {
    "capacity": """
tasks: {p: {kind: source}, c: {kind: sink}}
links: [{name: l, from: p, to: c, capacity: 3, gives: 3, takes: 2}]
""",
    "threads": """
tasks: {requests: {kind: call, pool: workers, roots: 2, depth: 3}}
pools: {workers: {threads: 4}}
""",
    "preference": RETRY.replace("POLICY", "any"),
    "window": """
tasks:
  send1: {kind: map}
  send2: {kind: map}
  app1: {kind: map}
  app2: {kind: script, count: 1, steps: [{read: stream2}, {write: window}]}
links:
  - {name: window, from: [app1, app2], to: [send1, send2], capacity: 4, initial: 4}
  - {name: stream1, from: send1, to: app1, capacity: 3}
  - {name: stream2, from: send2, to: app2, capacity: 4}
expect: {deadlock-free: violated, no-starvation: {app1: violated}}
""",
    "order of locks": LOCKS,
    "order of steps": """
tasks:
  p: {kind: script, steps: [{read: x}, {write: y}]}
  q: {kind: script, steps: [{read: y}, {write: x}]}
links: [{name: x, from: q, to: p, capacity: 1}, {name: y, from: p, to: q, capacity: 1}]
""",
    "losses": """
tasks: {p: {kind: source}, c: {kind: sink}}
links: [{name: l, from: p, to: c, capacity: 2, flow: credit, lossy: 1000000}]
""",
    "more at the start": """
tasks: {a: {kind: map}, b: {kind: map}}
links: [{from: a, to: b, capacity: 1}, {from: b, to: a, capacity: 1}]
""",
    "dropping": """
tasks:
  a: {kind: source}
  b: {kind: sink}
  c: {kind: script, count: 1, steps: [{read: l}]}
links: [{name: l, from: a, to: c, capacity: 2}, {from: a, to: b, capacity: 2}]
""",
}


def report_on(text: str) -> DesignReport:
    """The report on a design that has no head."""
    return check_design(text if "checkvalve:" in text else f"checkvalve: 2\nname: d\n{text}")


def repair_of(report: DesignReport) -> Repair:
    """The repair that was found for the deadlock of a report, with the changes that were tried."""
    found = with_repair(report).finding("deadlock-free").repair
    assert found is not None
    return found


def repaired(name: str) -> str:
    """The repair that is proposed for a deadlocked example."""
    found = repair_of(check_file(EXAMPLES / f"{name}.yaml"))
    return "; ".join(step.change for step in found.steps)


def random_deadlocks() -> Iterator[DesignReport]:
    """Small deadlocks of one part, small enough to try all changes by force."""
    for seed in range(60):
        try:
            report = check_design(random_design(Random(seed)), FEW_STATES)
        except InputError:
            continue
        finding = report.finding("deadlock-free")
        small = finding.method == "exhaustive" and finding.states * len(report.design.tasks) < 60
        if finding.outcome is Outcome.VIOLATED and small and len(parts(report.design)) == 1:
            yield report


@cache
def locks_taken_apart() -> DesignReport:
    """The example of an event loop and a semaphore, which several tests repair."""
    return check_file(EXAMPLES / f"{LOOP}.yaml")


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
    assert report.finding("deadlock-free").outcome.value == "holds"


@pytest.mark.parametrize("kind", KNOWN)
def test_the_repair_is_of_the_kind_that_an_engineer_would_choose(kind: str) -> None:
    """Each of these designs has one mistake, and the least of its natural repairs is offered."""
    report = report_on(KNOWN[kind])
    found = repair_of(report)
    assert [step.kind for step in found.steps] == [kind]
    if kind != "losses":  # its states are too many for an explorer
        assert explored(repaired_by(report, found.ways[0])) is Outcome.HOLDS


def test_a_merge_may_come_to_prefer_a_queue_with_kinds() -> None:
    """The edit names the queue, as the file does, and not one of its kinds."""
    kinds = "{name: retry, from: w, to: m, capacity: 1, kinds: [x, y]}"
    found = repair_of(report_on(RETRY.replace("POLICY", "any").replace(
        "{name: retry, from: w, to: m, capacity: 1}", kinds)))
    edits = {edit.key: edit.new for edit in found.ways[0].steps[0].edits}
    assert edits == {"policy": "preferred", "prefers": "retry"}


def test_elements_at_the_start_and_what_loses_come_last() -> None:
    """Nothing is invented or lost where anything else helps."""
    assert ORDER[-3:] == ["more at the start", "fewer runs", "dropping"]


def test_a_limit_on_what_is_under_way_is_a_pool_of_permits() -> None:
    """A retry loop with a merge that is to stay fair: as many elements as the loop has room for."""
    report = report_on(RETRY.replace("POLICY", "any"))
    (part,) = parts(report.design)
    kind = KINDS[ORDER.index("limit on what is under way")]
    (change,) = kind.find(Scope(part, (), ()))
    live = [explored(change.done(part, n)) is Outcome.HOLDS for n in sorted(change.values)]
    assert live == sorted(live, reverse=True)
    assert live[0] and not live[-1]


@pytest.mark.parametrize("seed", [8, 37, 52])
def test_a_random_repair_makes_the_design_live_and_nothing_less_does(seed: int) -> None:
    """The explorer alone confirms each way that is offered, and that less of it does not help."""
    report = check_design(random_design(Random(seed)))
    found = repair(report)
    assert found.ways
    for way in found.ways:
        assert explored(repaired_by(report, way)) is Outcome.HOLDS, way
        for place, step in enumerate(way.steps):
            assert step.least
            if made(report, step)[1]:
                assert explored(repaired_by(report, way, fewer=place)) is Outcome.VIOLATED


def test_a_repair_is_of_the_first_kind_that_has_one() -> None:
    """All values of all changes of the kinds before it are tried by force, and none helps."""
    for report in islice(random_deadlocks(), 2):
        offered = repair(report)
        before = ORDER.index(offered.steps[0].kind) if offered.steps else len(ORDER)
        for kind, design in earlier(report, before):
            if explored_or_refused(design) is Outcome.HOLDS:
                local = check_design(design).finding("no-local-deadlock")
                assert local.outcome is Outcome.VIOLATED, (kind, offered)


def earlier(report: DesignReport, before: int) -> Iterator[tuple[str, Design]]:
    """The designs that kinds before one would make: with a small value and with the utmost."""
    (part,) = parts(report.design)
    scope = Scope(part, (), ())
    for kind in KINDS[:before]:
        for change in kind.find(scope):
            for value in dict.fromkeys((*change.values[:1], *change.values[-1:])):
                yield kind.name, change.done(part, value)


def explored_or_refused(design: Design) -> Outcome:
    """Unknown for a design with more ways to move than can be listed."""
    try:
        return explored(design, FEW_STATES)
    except InputError:
        return Outcome.UNKNOWN


def test_the_answer_does_not_depend_on_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same twice, and where a year passes each time somebody looks at the clock."""
    reports = [next(random_deadlocks()), locks_taken_apart()]
    first = [repair_of(report) for report in reports]
    years = count(0.0, 3e7)
    monkeypatch.setattr(time, "monotonic", lambda: next(years))
    assert [repair_of(report) for report in reports] == first


def test_a_search_that_the_budget_ends_says_so() -> None:
    """Nothing is offered that was not checked, and what is missing is not passed over."""
    ticks = count(0.0, 1.0)
    report = report_on(KNOWN["dropping"])
    budget = Budget(max_seconds=20, clock=lambda: next(ticks))
    found = repair(report, budget)
    assert found.steps == ()
    assert found.cut_short.startswith("the time allowed has ended")
    assert any("No fix found within the time limit." in line for line in repair_lines(found))


def test_what_was_tried_in_vain_is_told() -> None:
    """A filter may empty this ring: nothing helps, and the report says what does not."""
    report = report_on("""
tasks: {a: {kind: map}, b: {kind: filter}}
links:
  - {name: there, from: a, to: b, initial: 1, capacity: 1}
  - {name: back, from: b, to: a, capacity: 2}
""")
    told = " ".join(map(str.strip, repair_lines(repair_of(report))))
    waits = "more capacity or hand: no blocked task waits for it"
    assert told.startswith(f"No fix found. Larger queues do not help. Tried: {waits}; window: "
                           "back down to 1; ")
    assert "back up to 2" in told
    assert "dropping: " in told


def test_each_part_that_is_stuck_is_repaired() -> None:
    """Two rings, one full and one empty: one change would not do."""
    report = report_on("""
tasks: {a: {kind: map}, b: {kind: map}, c: {kind: map}, d: {kind: map}}
links:
  - {from: a, to: b, initial: 1, capacity: 1}
  - {from: b, to: a, initial: 1, capacity: 1}
  - {from: c, to: d, capacity: 1}
  - {from: d, to: c, capacity: 1}
""")
    found = repair_of(report)
    assert [step.kind for step in found.steps] == ["capacity", "more at the start"]
    assert sum(line.startswith("    - ") for line in repair_lines(found)) == 2


def test_a_long_ring_is_repaired_as_a_short_one() -> None:
    """Ninety places to try do not use up what the first of them needs."""
    tasks = "".join(f"  t{i}: {{kind: map}}\n" for i in range(90))
    links = "".join(f"  - {{from: t{i}, to: t{(i + 1) % 90}, capacity: 1, initial: 1}}\n"
                    for i in range(90))
    report = report_on(f"tasks:\n{tasks}links:\n{links}")
    assert [step.kind for step in repair_of(report).steps] == ["capacity"]


@pytest.mark.parametrize("name", STUCK[::5])
def test_the_search_for_a_repair_is_small(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It tries a bounded number of steps, so that a verdict with its repair stays quick."""
    tried = []

    def counting(part: Part, settings: Settings) -> Finding:
        finding = decide_deadlock(part, settings)
        tried.append(finding.states * len(part.table.rows))
        return finding

    monkeypatch.setattr(judge, "decide_deadlock", counting)
    repaired(name)
    assert sum(tried) <= search.MAX_STEPS + judge.PATIENCE[-1]


def test_a_lock_is_not_given_a_second_permit() -> None:
    """It would then exclude nobody: two locks taken in two orders are taken in one."""
    for design in (check_design(LOCKS), locks_taken_apart()):
        assert [step.kind for step in repair_of(design).steps] == ["order of locks"]


def test_no_engine_is_asked_where_no_steps_are_left() -> None:
    """A question that is not decided by then stays unknown."""
    asked = judge.Judge(search.MAX_STEPS, Budget().start().deadline)
    report = report_on(KNOWN["capacity"])
    live = replace(report.design, links={
        name: replace(link, capacity=4) for name, link in report.design.links.items()})
    assert asked.deadlock(live).outcome is Outcome.HOLDS
    asked.left = 0
    assert asked.deadlock(report.design).outcome is Outcome.UNKNOWN


def test_only_who_holds_a_lock_is_waited_for() -> None:
    """Two locks in two orders have one cycle, and no task waits for itself."""
    cycles = check_design(LOCKS).cycles
    told = [[(wait.task, wait.where) for wait in cycle.waits] for cycle in cycles]
    assert told == [[("p", "B"), ("q", "A")]]


def test_no_single_task_waits_for_its_own_thread() -> None:
    """Tasks that share a pool and hold nothing while they wait close no cycle alone."""
    possible = [cycle for cycle in check_design(POOLED).cycles if not cycle.excluded]
    assert possible
    assert all(len(cycle.waits) > 1 for cycle in possible)


def test_a_call_waits_for_the_threads_of_its_own_calls() -> None:
    """Nested calls on one pool are a cycle of one task, and truly a deadlock."""
    report = check_file(EXAMPLES / "nested-pool-deadlocked.yaml")
    assert [[w.task for w in cycle.waits] for cycle in report.cycles] == [["requests"]]


def test_few_cycles_are_told_and_the_rest_is_counted() -> None:
    """The shortest ones, those of the same tasks on one line; what was found is not listed again.
    """
    told = "\n".join(lines(check_design(POOLED, settings=Settings("graph"))))
    graph = told[told.index("  Of "):].splitlines()
    assert len(graph) <= 6
    assert any(line.startswith("    a -> s -> a: ") for line in graph)
    assert graph[-1].strip().startswith("and 3 more cycles")
    told = "\n".join(lines(check_design(POOLED)))
    assert "beside the cycle above" in told and "a -> s -> a: " not in told


def test_the_verdict_is_told_before_a_repair_is_looked_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The output before the search begins already has the verdict."""
    before = []

    def looked(report: object, budget: object) -> object:
        before.append(capsys.readouterr().out)
        return report

    monkeypatch.setattr(search, "with_repair", looked)
    run(root, ["check", str(EXAMPLES / "ring-full-deadlocked.yaml")])
    assert "deadlock        found" in before[0]
    assert "Cycle of waits:" in before[0]


def test_the_document_has_the_repair(capsys: pytest.CaptureFixture[str]) -> None:
    """One document, although the repair is found last, and what to write where."""
    file = str(EXAMPLES / "ring-full-deadlocked.yaml")
    run(root, ["check", "--json", file])
    found = json.loads(capsys.readouterr().out)["results"][0]["repair"]
    step = {
        "kind": "capacity", "change": "give a->b a capacity of 2 (it has 1)",
        "tier": "resources",
        "gives_up": "it costs nothing but memory", "least": True, "edits": [{
            "where": f"{file}:12:32", "of": "link a->b", "key": "capacity", "old": "1",
            "new": "2"}],
    }
    assert found["found"] and not found["cut_short"]
    assert found["changes"] == found["ways"][0]["changes"] == [step]
    assert set(found["ways"][0]["checked"]) == {"deadlock-free", "no-local-deadlock", "bounded"}


TWO_CAPACITIES = """
checkvalve: 2
name: two
tasks:
  send: {kind: script, steps: [{write: x, count: 3}, {write: y, count: 3}]}
  take: {kind: script, steps: [{read: y, count: 3}, {read: x, count: 3}, {write: z, count: 3}]}
  last: {kind: script, steps: [{write: w, count: 2}, {read: z, count: 3}, {read: v, count: 2}]}
  echo: {kind: script, steps: [{write: v, count: 2}, {read: w, count: 2}]}
links:
  - {name: x, from: send, to: take, capacity: 1}
  - {name: y, from: send, to: take, capacity: 2}
  - {name: z, from: take, to: last, capacity: 2}
  - name: w
    from: last
    to: echo
    capacity: 1
  - {name: v, from: echo, to: last, capacity: 1}
"""


def test_two_capacities_are_raised_where_one_does_not_do(tmp_path: Path) -> None:
    """Each by the least that suffices, in the lines where they stand."""
    path = tmp_path / "two.yaml"
    path.write_text(TWO_CAPACITIES)
    report = with_places(with_repair(check_file(path)))
    found = report.finding("deadlock-free").repair
    assert found is not None
    edits = [edit for step in found.steps for edit in step.edits]
    assert sorted((edit.of, edit.old, edit.new) for edit in edits) == [
        ("link w", "1", "2"), ("link x", "1", "3")]
    text = TWO_CAPACITIES.splitlines()
    for edit in edits:
        assert text[edit.spot.line - 1][edit.spot.column - 1:].startswith("1")
        line, column = text[edit.spot.line - 1], edit.spot.column
        text[edit.spot.line - 1] = f"{line[:column - 1]}{edit.new}{line[column:]}"
    assert check_design("\n".join(text)).finding("deadlock-free").outcome is Outcome.HOLDS
    assert all(step.least for step in found.steps)


def test_what_would_break_another_verdict_is_not_offered() -> None:
    """With a smaller window there is no global deadlock, but one sender is blocked forever."""
    report = report_on(KNOWN["window"].partition("expect:")[0])
    found = repair_of(report)
    assert all(step.kind != "window" for way in found.ways for step in way.steps)
    assert any("stream2" in told and "local" in told and "violates" in told
               for told in found.tried)


def test_a_number_that_stands_for_copies_is_changed_once() -> None:
    """Three rings of one sub-design, each too full: one edit, in the sub-design's line."""
    report = report_on("""
designs:
  ring:
    tasks: {a: {kind: map}, b: {kind: map}}
    links:
      - {name: there, from: a, to: b, capacity: 1, initial: 1}
      - {name: back, from: b, to: a, capacity: 1, initial: 1}
tasks: {r: {kind: design, design: ring, copies: 3}}
""")
    (step,) = repair_of(report).steps
    assert "r.there (all 3 copies)" in step.change or "r.back (all 3 copies)" in step.change
    (edit,) = step.edits
    assert edit.spot.line in (7, 8)
    assert (edit.key, edit.old, edit.new) == ("capacity", "1", "2")


def test_the_slots_of_a_queue_with_kinds_are_one_capacity() -> None:
    """All its elements share them, and the file has one number for them."""
    report = report_on("""
tasks:
  p: {kind: script, steps: [{write: q, of: a}, {write: q, of: b}, {write: r}]}
  c: {kind: script, steps: [{read: r}, {read: q, of: a}, {read: q, of: b}]}
links:
  - {name: q, from: p, to: c, capacity: 1, kinds: [a, b]}
  - {name: r, from: p, to: c, capacity: 1}
""")
    (step,) = repair_of(report).steps
    assert step.change == "give q a capacity of 2 (it has 1)"
    assert step.least


def test_a_large_design_is_repaired_where_it_is_stuck() -> None:
    """Of a thousand queues one is given one slot more, and all of the design is proved."""
    design = loops(1_000, 10_000, 1, planted=True)
    report = check_design(design, settings=Settings("structure"))
    (step,) = repair(replace_findings(report)).steps
    (edit,) = step.edits
    assert int(edit.new) == int(edit.old) + 1
    assert edit.of.endswith(report.finding("deadlock-free").cycle[0].task.rpartition(" ")[2])


def replace_findings(report: DesignReport) -> DesignReport:
    """The report with nothing but its deadlock."""
    return replace(report, findings=(report.finding("deadlock-free"),))


def test_a_link_that_grows_is_given_a_bound() -> None:
    """Where boundedness is violated, the writer is made to wait."""
    report = report_on("""
tasks: {p: {kind: source}, c: {kind: sink}}
links: [{name: l, from: p, to: c, flow: unbounded}]
""")
    found = with_repair(report).finding("bounded").repair
    assert found is not None
    assert [step.kind for step in found.steps] == ["a bound"]
    assert found.steps[0].edits[1].new == "1"


def test_a_link_is_named_in_the_sentence_that_tells_its_bound() -> None:
    """The engines are asked about designs with numbers for names."""
    design = report_on("""
tasks: {a: {kind: map}, b: {kind: map}}
links: [{name: l, from: a, to: b, initial: 1, capacity: 1}, {from: b, to: a, flow: unbounded}]
""").design
    plain, names = numbered(design)
    told = check(plain).finding("bounded")
    assert "at most 1 in :3" in told.method
    assert "at most 1 in b->a" in named(told, names).method


def test_windows_and_marks_can_be_repaired() -> None:
    """Smaller windows, or ones that close early, and a reader that calls stop in time."""
    design = load("""
checkvalve: 2
name: window
tasks: {s: {kind: source}, w: {kind: window, size: 4, slide: 1}, k: {kind: sink}}
links:
  - {from: s, to: w, flow: stop-go, stop: 3, lag: 2, capacity: 4, name: q}
  - {from: w, to: k, capacity: 1}
""")
    scope = Scope(design, (), ())
    made = {row.name: list(row.find(scope)) for row in KINDS}
    (smaller,), (early,), (mark,) = (
        made["smaller windows"], made["early windows"], made["an earlier stop"])
    assert smaller.done(design, 2).tasks["w"].size == 2
    assert smaller.says(2) == "let w gather 2 elements (`size: 2`; it is 4)"
    assert early.done(design, 0).tasks["w"].early
    failing = decide_one(design, "no-failure")
    assert failing.outcome is Outcome.VIOLATED
    assert decide_one(mark.done(design, 1), "no-failure").outcome is Outcome.HOLDS


def test_a_row_without_an_element_is_given_one() -> None:
    """No task there waits for a free slot, so no queue is made larger or smaller: the question is
    which task waits.
    """
    design = mesh(130, 10, 1, planted=True)
    report = replace_findings(check_design(design, settings=Settings("structure")))
    (step,) = repair(report).steps
    assert step.kind == "more at the start" and step.least
    tasks = {wait.task for wait in report.finding("deadlock-free").cycle}
    name = step.edits[0].of.removeprefix("link ")
    assert {*design.links[name].writers, *design.links[name].readers} <= tasks


def test_parts_that_differ_by_names_alone_are_asked_about_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of three alike loops, each gets the same change of its own links."""
    asked: list[Design] = []
    ask = judge.Judge._asked
    monkeypatch.setattr(judge.Judge, "_asked", lambda self, part: (
        asked.append(part), ask(self, part))[1])
    loop = RETRY.replace("POLICY", "any")
    text = "\n".join(["tasks:", *(
        f"  {name}{n}: {kind}" for n in range(3) for name, kind in (
            ("s", "{kind: source}"), ("m", "{kind: merge}"), ("w", "{kind: route}"),
            ("t", "{kind: sink}"))), "links:", *(
        f"  - {{name: {name}{n}, from: {a}{n}, to: {b}{n}, capacity: 1}}" for n in range(3)
        for name, a, b in (("a", "s", "m"), ("q", "m", "w"), ("retry", "w", "m"),
                           ("done", "w", "t")))])
    (one,) = repair_of(report_on(loop)).steps
    often = len(asked)
    steps = repair_of(report_on(text)).steps
    assert [step.kind for step in steps] == 3 * [one.kind]
    assert {step.edits[0].of for step in steps} == {f"task m{n}" for n in range(3)}
    assert len(asked) <= 2 * often + 1
