"""Tasks that may stop or crash, and steps at which a script may wait forever."""

from __future__ import annotations

from random import Random

import pytest
from opinions import opinion
from test_design_copies import states
from test_design_promela import agrees

from benchmarks.random_designs.designs import random_design, richer
from benchmarks.random_designs.explanation_judge import complaints
from checkvalve.conformance.designs import check_design
from checkvalve.conformance.designs.text import lines
from checkvalve.spec.design.check import parts
from checkvalve.spec.design.loader import load
from checkvalve.spec.design.reading.language import Flow
from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.verdicts.verdict import Budget, Outcome

LINE = """
checkvalve: 2
name: line
tasks:
  source: {{kind: source{source}}}
  worker: {{kind: map{worker}}}
  sink: {{kind: sink{sink}}}
links:
  - {{from: source, to: worker, capacity: 2{flow}}}
  - {{from: worker, to: sink, capacity: 1}}
expect: {{no-starvation: {{source: {starves}}}}}
"""


def line(
    source: str = "", worker: str = "", sink: str = "", flow: str = "", starves: str = "holds"
) -> str:
    """A line of three tasks, with further keys of each."""
    return LINE.format(source=source, worker=worker, sink=sink, flow=flow, starves=starves)


def is_stuck(text: str) -> bool:
    """True if some part can reach a deadlock."""
    return any(outcome is Outcome.VIOLATED for outcome, _ in states(text))


@pytest.mark.parametrize(("text", "stuck"), [
    (line(), False),
    (line(sink=", may: stop"), True),
    (line(worker=", may: crash, hand: 1"), True),
    (line(source=", may: stop"), False),
    (line(source=", may: crash", sink=", may: stop"), True),
    (line(source=", count: 1", sink=", may: stop"), False),
    (line(source=", count: 3", sink=", may: stop"), True),
    (line(source=", count: 4", sink=", may: stop"), True),
    (line(source=", count: 4", worker=", hand: 1", sink=", may: stop"), True),
    (line(source=", count: 2", worker=", may: crash, hand: 1"), False),
    (line(source=", count: 2, may: stop", worker=", may: stop, hand: 2"), False),
    (line(sink=", may: stop", flow=", flow: drop-oldest"), True),
    (line(sink=", may: stop").replace("capacity: 1", "capacity: 1, flow: drop-newest"), False),
])
def test_who_waits_for_one_that_has_ceased_is_stuck(text: str, stuck: bool) -> None:
    """A source that has work left behind a full link; not one that is done, or has stopped too,
    and not what nobody is there to take any more."""
    assert is_stuck(text) is stuck


def test_the_way_names_the_stop_and_the_wait_names_nobody() -> None:
    """A stopped task can no longer end a wait."""
    finding = check_design(line(sink=", may: stop", starves="violated")).finding("deadlock-free")
    assert finding.steps[-1] == "sink stops forever"
    assert next(wait.gone for wait in finding.waits if wait.task == "worker") == ("sink",)


def test_nobody_goes_on_for_ever_who_may_stop() -> None:
    """Nor does a task that needs its elements; a task that drops them continues."""
    wanted = {"sink": ("violated", ""), "source": ("holds", "capacity: 1, flow: drop-newest")}
    for task, (starves, dropping) in wanted.items():
        text = line(sink=", may: stop", starves=starves).replace("{source: ", f"{{{task}: ")
        text = text.replace("capacity: 1", dropping or "capacity: 1")
        report = check_design(text)
        assert report.finding(f"no-starvation: {task}").outcome.value == starves


LOCKED = """
checkvalve: 2
name: locked
tasks:
  worker: {{kind: script, copies: 2, {may}steps: [{{acquire: lock}}, {{release: lock}}]}}
pools: {{lock: {{threads: 1}}}}
"""


@pytest.mark.parametrize(("may", "stuck"), [("", False), ("may: stop, ", False),
                                            ("may: crash, ", False), ("count: 2, ", False)])
def test_all_who_use_a_lock_may_cease(may: str, stuck: bool) -> None:
    """A job has ended if all its tasks are done, or have stopped, or crashed."""
    assert is_stuck(LOCKED.format(may=may)) is stuck


def test_a_lock_is_lost_with_who_crashes_and_not_with_who_stops() -> None:
    """A stop comes between two rounds, and a crash anywhere."""
    text = LOCKED.format(may="").replace("tasks:\n", "tasks:\n  other: {kind: script, MAY, steps: "
                                         "[{acquire: lock}, {release: lock}]}\n")
    assert is_stuck(text.replace("MAY", "may: crash"))
    assert not is_stuck(text.replace("MAY", "may: stop"))


SERVING = """
checkvalve: 2
name: serving
tasks:
  client: {{kind: script, copies: 2, count: 2, steps: [{{write: requests}}, {{read: replies}}]}}
  server: {{kind: script, steps: [{steps}]}}
links:
  - {{from: client, to: server, capacity: 1, connect: shared, name: requests}}
  - {{from: server, to: client, capacity: 1, connect: shared, name: replies}}
pools: {{log: {{threads: 1}}}}
"""


@pytest.mark.parametrize(("steps", "stuck"), [
    ("{read: requests}, {write: replies}", True),
    ("{read: requests, final: true}, {write: replies}", False),
    ("{either: [[{read: requests}, {write: replies}]], final: true}", False),
    ("{read: requests, final: true}, {write: replies}, {acquire: log}", True),
    ("{read: requests}, {write: replies}, {read: requests, final: true}, {write: replies}", True),
    ("{read: requests, final: true}, {write: replies}, {read: requests}, {write: replies}", False),
    ("{read: requests}, {write: replies, final: true}", True),
    ("{either: [[{read: requests}, {write: replies}], [{acquire: log, count: 2}]], final: true}",
     False),
])
def test_a_server_may_wait_for_ever_for_the_next_request(steps: str, stuck: bool) -> None:
    """Once its clients are done, and only where it says so."""
    assert is_stuck(SERVING.format(steps=steps)) is stuck


def test_what_is_left_in_a_link_is_left_of_a_job() -> None:
    """A server that waits for more, and has given what nobody reads."""
    text = SERVING.format(steps="{read: requests, final: true}, {write: replies}")
    assert is_stuck(text.replace("copies: 2, count: 2, steps: [{write: requests}, {read: replies}]",
                                 "copies: 2, count: 1, steps: [{write: requests}]"))


@pytest.mark.parametrize(("text", "told"), [
    (line(sink=", may: pause"),
     "7:27: `may` of .sink. is .pause., but must be one of: stop, crash"),
    (SERVING.format(steps="{read: requests, final: 1}"), "6:58: .*must be `true` or `false`"),
    (SERVING.format(steps="{branch: [[]], final: true}"), "final"),
])
def test_an_ending_that_is_none_is_refused(text: str, told: str) -> None:
    """With its place."""
    with pytest.raises(InputError, match=f"d.yaml:.*{told}"):
        load(text, "d.yaml")


@pytest.mark.parametrize("seed", range(20, 26))
def test_endings_are_the_same_to_every_engine(seed: int) -> None:
    """The printed model, played, has the explorer's states; an explanation is true."""
    design = richer(random_design(Random(f"endings {seed}")), Random(seed))
    if all(link.flow is not Flow.UNBOUNDED for link in design.links.values()):
        assert all(agrees(part) for part in parts(design))
    report = check_design(design, Budget(max_states=1_000))
    if report.finding("deadlock-free").outcome is Outcome.VIOLATED:
        assert complaints(report) == []


def told_of(text: str) -> str:
    """The report for people."""
    return "\n".join(lines(check_design(text)))


def test_who_has_stopped_or_crashed_is_not_said_to_be_done() -> None:
    """The line below the waits says which task has stopped or crashed."""
    assert "a slot in source->worker any more: worker has crashed." in told_of(
        line(worker=", may: crash", starves="violated"))
    assert "a slot in worker->sink any more: sink has stopped forever." in told_of(
        line(sink=", may: stop", starves="violated"))
    script = ", kind: script, steps: [{read: worker->sink}], may: stop"
    assert "sink has stopped forever" in told_of(
        line(sink=script, starves="violated").replace("kind: sink, ", ""))


LEFT = """
checkvalve: 2
name: left
tasks:
  s: {kind: script, count: 1, steps: [{write: q, count: 2}]}
  r: {kind: script, count: 1, steps: [{read: q}]}
links: [{from: s, to: r, capacity: 2, name: q}]
"""


def test_what_is_left_where_everybody_is_done_is_named() -> None:
    """Nobody waits then, and an empty table would say nothing."""
    report = check_design(LEFT)
    finding = report.finding("deadlock-free")
    assert finding.outcome is Outcome.VIOLATED and not finding.waits
    assert finding.to_json("left")["left"] == [{"in": "q", "elements": 1, "gone": ["r"]}]
    told = "\n".join(lines(report))
    assert "1 element is left in q, and no task reads so many any more: r is done." in told
    report = check_design(LEFT.replace("read: q", "read: q, count: 2"))
    assert not report.finding("deadlock-free").left


@pytest.mark.parametrize("others", ["", "  c: {kind: script, steps: [{acquire: L}, {release: L}]}"])
def test_what_stands_before_a_crash_is_not_live_with_others_and_without(others: str) -> None:
    """A part that is idle is the same question as one with others that continue."""
    text = f"""
checkvalve: 2
name: crash
tasks:
  a: {{kind: script, count: 1, steps: [{{acquire: L}}, {{write: q}}, {{release: L}}]}}
  b: {{kind: sink, may: crash}}
{others}
links: [{{from: a, to: b, capacity: 2, name: q}}]
pools: {{L: {{threads: 2}}}}
expect: {{live: violated}}
"""
    report = check_design(text)
    finding = report.finding("live")
    assert finding.outcome is Outcome.VIOLATED
    assert finding.reason.startswith("what is in q is never read")
    assert opinion(report, "live").confirmed
