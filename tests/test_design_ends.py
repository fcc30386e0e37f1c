"""Ends in a design: loops, queues that are closed, tasks that are joined or cancelled; and
reads of up to so many elements at once."""

from __future__ import annotations

from random import Random

import pytest
from test_design_certificates import _same as both_readings_are_the_same
from test_design_copies import states
from test_design_promela import agrees

from benchmarks.random_designs.designs import ending, random_design
from benchmarks.random_designs.explanation_judge import complaints
from benchmarks.random_designs.plain_local import PlainGraph
from checkvalve.conformance.designs import check_design
from checkvalve.spec.certify.checker import check_certificate
from checkvalve.spec.design.check import parts
from checkvalve.spec.design.loader import load
from checkvalve.spec.design.net.builder import Aim
from checkvalve.spec.design.net.translate import translate
from checkvalve.spec.design.reading.language import Flow
from checkvalve.spec.design.verdicts.certificates import certificate
from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.verdicts.verdict import Budget, Outcome

PAIR = """
checkvalve: 2
name: a pair
tasks:
  a: {{kind: script, {more}, steps: [{writer}]}}
  b: {{kind: script, count: 1, steps: [{reader}]}}
links: [{{from: a, to: b, capacity: {room}, name: q}}]
pools: {{m: {{threads: 1}}}}
"""


def pair(writer: str, reader: str, room: int = 1, more: str = "count: 1") -> str:
    """A design of two scripts and a queue from the first to the second."""
    return PAIR.format(writer=writer, reader=reader, room=room, more=more)


def outcome(text: str, name: str = "deadlock-free") -> Outcome:
    """The verdict on a property of a design."""
    return check_design(text).finding(name).outcome


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_loop_moves_as_many_elements_as_its_steps_written_out(n: int) -> None:
    """It deadlocks exactly where the same steps, one after the other, do."""
    for m in (1, 2, 3):
        loop = pair(f"{{repeat: {n}, steps: [{{write: q}}]}}",
                    f"{{repeat: {m}, steps: [{{read: q}}]}}")
        plain = pair(", ".join(["{write: q}"] * n), ", ".join(["{read: q}"] * m))
        assert outcome(loop) is outcome(plain)


def test_loops_within_loops_multiply() -> None:
    """Two rounds of three writes are six."""
    text = pair("{repeat: 2, steps: [{repeat: 3, steps: [{write: q}]}]}", "{read: q, count: 6}")
    assert outcome(text) is Outcome.HOLDS
    assert outcome(text.replace("count: 6", "count: 5")) is Outcome.VIOLATED


@pytest.mark.parametrize(("n", "room"), [(1, 3), (2, 3), (3, 3), (3, 1)])
def test_a_poll_brings_from_one_element_to_as_many_as_there_are(n: int, room: int) -> None:
    """A poll of up to n of a full queue of ``room`` leads to as many different states as there are
    numbers of elements that it can bring."""
    text = pair("{write: q}", f"{{read: q, up-to: {n}}}, {{acquire: m}}", room, "hand: 0").replace(
        "hand: 0, ", "")
    report = check_design(text)
    most = dict(report.finding("bounded").bounds)["q"]
    assert most == room
    runs = {step for step in _steps_of(text) if "reads" in step}
    assert len(runs) == min(n, room)


def _steps_of(text: str) -> set[str]:
    """The words of the rows that can ever be taken, of a design."""
    graph = PlainGraph(load(text), 1_000)
    labels: set[str] = set()
    for state in graph.next:
        for row in graph.table.rows:
            marking = {place.name: graph.value(state, place.name) for place in graph.table.places}
            if all(marking[p] >= k for p, k in row.effect.at_least.items()) and all(
                    marking[p] <= k for p, k in row.effect.at_most.items()):
                labels.add(row.label)
    return labels


def test_each_is_done_for_every_element_of_a_poll() -> None:
    """Three elements in, three out, however many each poll brings."""
    text = """
    checkvalve: 2
    name: each
    tasks:
      a: {kind: script, count: 1, steps: [{write: q, count: 3}, {read: r, count: READ}]}
      b: {kind: script, steps: [{read: q, up-to: 3, each: [{write: r}], final: true}]}
    links: [{from: a, to: b, capacity: 3, name: q}, {from: b, to: a, capacity: 1, name: r}]
    """
    assert outcome(text.replace("READ", "3")) is Outcome.HOLDS
    assert outcome(text.replace("READ", "4")) is Outcome.VIOLATED


def test_reading_until_closed_ends_when_the_queue_is_closed_and_empty() -> None:
    """It ends if the writer closes the queue, and waits forever if it does not."""
    text = pair("{write: q, count: 2}, {close: q}", "{read: q, until: closed, each: []}")
    assert outcome(text) is Outcome.HOLDS
    report = check_design(text.replace(", {close: q}", ""))
    assert {wait.what for wait in report.finding("deadlock-free").waits} == {"data", "a close"}


def test_a_read_with_closed_takes_what_is_left_first() -> None:
    """The steps of `closed` are done only where the queue is closed and empty."""
    text = pair("{write: q}, {close: q}", "{read: q, closed: [{acquire: m, count: 1}]}, "
                "{acquire: m}, {release: m}")
    assert outcome(text) is Outcome.HOLDS


def test_a_write_to_a_closed_queue_fails() -> None:
    """The failure is found, and there is none where the queue is closed after the last write."""
    late = pair("{write: q}, {write: q}", "{read: q}, {close: q}")
    assert outcome(late, "no-failure") is Outcome.VIOLATED
    right = pair("{write: q}, {write: q}, {close: q}", "{read: q, until: closed, each: []}")
    assert outcome(right, "no-failure") is Outcome.HOLDS


@pytest.mark.parametrize(("written", "room"), [(1, 1), (2, 1), (2, 2), (3, 2)])
def test_a_join_before_the_queue_is_read_deadlocks_where_it_fills(written: int, room: int) -> None:
    """A process that is joined before its queue is read never ends if the queue gets full."""
    text = pair(f"{{write: q, count: {written}}}",
                f"{{join: a}}, {{read: q, count: {written}}}", room)
    report = check_design(text)
    expected = Outcome.VIOLATED if written > room else Outcome.HOLDS
    assert report.finding("deadlock-free").outcome is expected
    if written > room:
        waits = report.finding("deadlock-free").cycle
        assert {(wait.task, wait.what, wait.on) for wait in waits} == {
            ("b", "an end", ("a",)), ("a", "room", ("b",))}


def test_a_join_of_all_copies_waits_for_each() -> None:
    """The queue is closed only when both workers have ended."""
    text = """
    checkvalve: 2
    name: workers
    tasks:
      w: {kind: script, copies: 2, count: 1, steps: [{write: q}]}
      c: {kind: script, count: 1, steps: [{join: w}, {close: q}]}
      s: {kind: script, count: 1, steps: [{read: q, until: closed, each: []}]}
    links: [{from: w, to: s, capacity: 1, connect: shared, name: q}]
    expect: {no-failure: holds}
    """
    report = check_design(text)
    assert all(finding.outcome is Outcome.HOLDS for finding in report.findings)
    assert outcome(text.replace("{join: w}", '{join: "w[1]"}'), "no-failure") is Outcome.VIOLATED


def test_a_cancelled_task_ends_wherever_it_is_and_gives_back_what_it_holds() -> None:
    """A reader that holds the lock while it waits is cancelled, and the lock is free."""
    text = pair("{acquire: m}, {read: r}, {release: m}", "{cancel: a}, {join: a}, {acquire: m}",
                more="count: 1").replace("name: q}]", "name: q}, {from: b, to: a, capacity: 1, "
                                         "name: r}]")
    assert outcome(text) is Outcome.HOLDS
    assert outcome(text.replace("{cancel: a}, {join: a}, ", "")) is Outcome.VIOLATED


@pytest.mark.parametrize(("writer", "reader", "said"), [
    ("{write: q}", "{join: c}", "no task called 'c'"),
    ("{write: q}", "{join: b}", "b would join itself"),
    ("{write: q}, {close: p}", "{read: q}", "no link called 'p'"),
    ("{write: q}", "{read: q, each: []}, {read: q, each: [{read: q}]}", "`each` says"),
    ("{write: q}", "{either: [[{join: a}]]}", "begins with a step"),
    ("{branch: [[{acquire: m}], []]}, {write: q}", "{cancel: a}", "depends on the way"),
])
def test_a_mistake_is_said_with_its_line(writer: str, reader: str, said: str) -> None:
    """One message, with file and line."""
    with pytest.raises(InputError, match=said) as caught:
        load(pair(writer, reader), "pair.yaml")
    assert caught.value.where.startswith("pair.yaml:")


def test_a_task_that_never_ends_cannot_be_joined() -> None:
    """The message says to give it a count."""
    with pytest.raises(InputError, match="never ends"):
        load(pair("{write: q}", "{join: a}", more="hand: 0").replace("hand: 0, ", ""))


@pytest.mark.parametrize("seed", range(12))
def test_ends_are_the_same_to_every_engine(seed: int) -> None:
    """The printed model, played, has the explorer's states; explanations and certificates of
    random designs are true."""
    design = ending(random_design(Random(f"ends {seed}")), Random(seed))
    if all(link.flow is not Flow.UNBOUNDED for link in design.links.values()):
        assert all(agrees(part) for part in parts(design))
    report = check_design(design, Budget(max_states=1_000))
    finding = report.finding("deadlock-free")
    if finding.outcome is Outcome.VIOLATED:
        assert complaints(report) == []
    document = certificate(report, finding)
    if document is not None:
        assert check_certificate(document, design).confirmed is not False


def test_both_readings_of_ends_are_the_same() -> None:
    """The engines' reading of random designs equals the checker's, transition by transition."""
    compared = 0
    for seed in range(80):
        plain = random_design(Random(seed))
        design = ending(plain, Random(f"e{seed}"))
        if design != plain and all(link.capacity != 0 for link in design.links.values()):
            both_readings_are_the_same(design)
            names = [place.name for place in translate(design, Aim()).places]
            assert len(names) == len({*names})
            compared += 1
    assert compared > 15


def test_a_poll_has_a_state_for_each_element_that_is_left_to_do() -> None:
    """The states are those of the loop that reads one element at a time and polls no more."""
    one = pair("{write: q}", "{read: q, up-to: 1, each: [{acquire: m}, {release: m}]}")
    plain = pair("{write: q}", "{read: q}, {acquire: m}, {release: m}")
    assert states(one)[0][0] is states(plain)[0][0]
