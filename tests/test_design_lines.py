"""Queues of several kinds that are read at their head: the engines against a plain interpreter of
lists, and the reported waits.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from opinions import opinion
from test_design_certificates import _same
from test_design_copies import states
from test_design_kinds import KINDS, as_text, connected, random_scripts

from checkvalve.conformance.designs import check_design
from checkvalve.conformance.designs.text import lines
from checkvalve.spec.design.check import Settings, check, decide_deadlock, parts
from checkvalve.spec.design.drawing.svg import draw
from checkvalve.spec.design.loader import load
from checkvalve.spec.design.repairs.change import Scope
from checkvalve.spec.design.repairs.policies import overtaking
from checkvalve.spec.design.why.findings import DesignReport
from checkvalve.spec.design.why.parts import Part
from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.verdicts.verdict import Outcome

Script = list[dict[str, Any]]
State = tuple[tuple[tuple[int, str], ...], tuple[tuple[str, ...], ...]]
"""Position of each script, with the kind that it has named; and the contents of each queue."""


def after(
    scripts: list[Script], rooms: dict[str, int], state: State
) -> Iterator[State]:
    """Every state one step later: a queue is a list, of which only the first element is read."""
    places, queues = state
    for number, steps in enumerate(scripts):
        at, who = places[number]
        step = steps[at]
        name = step.get("read", step.get("write"))
        here = list(rooms).index(name)
        queue, wanted = queues[here], step.get("of")
        wanted = who if wanted == "who" else wanted
        for kind in KINDS:
            if wanted not in (None, kind) or (queue[:1] != (kind,) if "read" in step
                                              else len(queue) == rooms[name]):
                continue
            left = queue[1:] if "read" in step else (*queue, kind)
            there = (at + 1) % len(steps)
            named = (kind if "as" in step else who) if there else ""
            yield ((*places[:number], (there, named), *places[number + 1:]),
                   (*queues[:here], left, *queues[here + 1:]))


def is_stuck(scripts: list[Script], rooms: dict[str, int]) -> bool:
    """True if some order of steps ends where no script can take a step."""
    first: State = (tuple((0, "") for _ in scripts), tuple(() for _ in rooms))
    seen, todo = {first}, [first]
    while todo:
        later = list(after(scripts, rooms, todo.pop()))
        if not later:
            return True
        for state in later:
            if state not in seen:
                seen.add(state)
                todo.append(state)
    return False


def test_a_queue_read_at_its_head_is_a_list() -> None:
    """Random scripts of two kinds: five that can deadlock, and five that cannot.

    Both readings of each design have the same transitions.
    """
    left = {True: 5, False: 5}
    for seed in range(2_000):
        scripts, rooms = random_scripts(Random(f"lines {seed}"))
        stuck = is_stuck(list(scripts.values()), rooms)
        if connected(scripts) and left[stuck]:
            left[stuck] -= 1
            text = as_text(scripts, rooms).replace("kinds:", "take: head, kinds:")
            (outcome, _), = states(text)
            assert (outcome is Outcome.VIOLATED) == stuck, seed
            _same(load(text))
    assert not any(left.values())


STREAMS = """
checkvalve: 2
name: streams
tasks:
  server: {kind: script, steps: [{write: wire, of: a, count: 2}, {write: wire, of: b}]}
  client: {kind: script, steps: [{read: wire, of: b}, {read: wire, of: a, count: 2}]}
links:
  - {from: server, to: client, capacity: 3, name: wire, kinds: [a, b], take: head}
expect: {ordered: holds}
"""


def checked(text: str) -> DesignReport:
    """The report, without a repair."""
    return check_design(text)


def test_who_waits_for_what_is_not_at_the_front_is_told_so() -> None:
    """The wait is on the tasks that would take the front element; a front element that no task
    takes is reported as well.
    """
    report = checked(STREAMS)
    finding = report.finding("deadlock-free")
    waits = {wait.task: (wait.what, wait.where, wait.on) for wait in finding.waits}
    assert waits["client"] == ("its kind at the front", "wire", ("client",))
    assert dict(finding.contents)["wire"] == 3
    assert "client  its kind at the front  wire (holds 3)  client" in "\n".join(lines(report))
    assert "read at its head" in draw(report)
    other = STREAMS.replace("of: b}, {read: wire, of: a, count: 2", "of: b, count: 3")
    gone = other.replace("client: {kind: script,", "client: {kind: script, count: 1,")
    told = "\n".join(lines(checked(gone)))
    assert "No task can take the element at the front of wire." in told


def test_readers_that_take_any_kind_are_a_way_out() -> None:
    """In the file that is `take: any` of the one link that is written out as several."""
    (change,) = overtaking(Scope(load(STREAMS), (), ()))
    assert [(edit.key, edit.old, edit.new) for edit in change.edits(0)] == [("take", "head", "any")]
    after_it = load(STREAMS.replace("take: head", "take: any"))
    assert change.done(load(STREAMS), 0).links == after_it.links
    assert check(after_it).finding("deadlock-free").outcome is Outcome.HOLDS


@pytest.mark.parametrize(("change", "verdict", "why"), [
    (("", ""), Outcome.HOLDS, "by construction"),
    (("take: head", "take: any"), Outcome.VIOLATED, "exhaustive"),
    (("of: b}, {read: wire, of: a, count: 2", "count: 3"), Outcome.HOLDS, "by construction"),
])
def test_kinds_keep_their_order_at_the_head_and_not_elsewhere(
    change: tuple[str, str], verdict: Outcome, why: str
) -> None:
    """The checker of certificates follows the elements in lists of its own."""
    report = checked(STREAMS.replace(*change))
    finding = report.finding("ordered")
    assert finding.outcome is verdict and why in finding.method
    assert opinion(report, "ordered").confirmed


@pytest.mark.parametrize(("hand", "verdict"), [(1, Outcome.HOLDS), (2, Outcome.VIOLATED)])
def test_two_in_a_hand_that_decides_about_each_lose_their_order(
    hand: int, verdict: Outcome
) -> None:
    """On the way from one queue to another; where there is one way, slots are followed as lists
    are."""
    text = f"""
checkvalve: 2
name: two queues
tasks:
  sender: {{kind: source}}
  middle: {{kind: map, hand: {hand}}}
  reader: {{kind: sink}}
links:
  - {{from: sender, to: middle, capacity: 2, name: first, kinds: [a, b], take: head}}
  - {{from: middle, to: reader, capacity: 2, name: then, kinds: [a, b], take: head}}
expect: {{ordered: holds}}
"""
    report = checked(text)
    assert report.finding("ordered").outcome is verdict
    assert opinion(report, "ordered").confirmed


def test_a_barrier_is_read_behind_what_was_written_before_it() -> None:
    """One input brings a record and then its barrier, with no room behind: it waits its turn."""
    text = """
checkvalve: 2
name: barriers
tasks:
  source:
    kind: script
    count: 1
    steps: [{write: left, of: record}, {write: left, of: barrier}, {write: right, of: barrier}]
  join: {kind: align, barrier: barrier, hand: 1}
  reader: {kind: script, count: 1, steps: [{read: out, of: barrier}, {read: out, of: record}]}
links:
  - {from: source, to: join, capacity: 2, name: left, kinds: [record, barrier], take: head}
  - {from: source, to: join, capacity: 1, name: right, kinds: [barrier]}
  - {from: join, to: reader, capacity: 2, name: out, kinds: [record, barrier], take: head}
"""
    assert check(load(text)).finding("deadlock-free").outcome is Outcome.VIOLATED
    swapped = text.replace("{read: out, of: barrier}, {read: out, of: record}",
                           "{read: out, of: record}, {read: out, of: barrier}")
    assert check(load(swapped)).finding("deadlock-free").outcome is Outcome.HOLDS


def test_equations_know_that_the_front_is_empty_only_where_all_is() -> None:
    """A queue of fifty slots is decided without a search."""
    text = """
checkvalve: 2
name: long
tasks: {s: {kind: source}, r: {kind: route}, a: {kind: sink}, b: {kind: sink}}
links:
  - {from: s, to: r, capacity: 50, name: q, kinds: [a, b], take: head}
  - {from: r, to: a, capacity: 2, name: x, kinds: [a]}
  - {from: r, to: b, capacity: 2, name: y, kinds: [b]}
"""
    design = load(text)
    (part,) = parts(design)
    finding = decide_deadlock(Part.of(part), Settings("structure"))
    assert finding.outcome is Outcome.HOLDS


def test_what_is_refused_where_it_does_not_stand_at_the_front_has_an_else() -> None:
    """A script with an else continues where another kind is in front of its own."""
    text = STREAMS.replace("{read: wire, of: b}, {read: wire, of: a, count: 2}",
                           "{either: [[{read: wire, of: b}]], else: [{read: wire}]}")
    assert check(load(text)).finding("deadlock-free").outcome is Outcome.HOLDS


@pytest.mark.parametrize(("change", "told"), [
    (("kinds: [a, b], ", ""), "has no `kinds`"),
    (("take: head", "take: first"), "must be one of: any, head"),
    (("capacity: 3", "flow: unbounded"), "link 'wire' has no bound, so"),
    (("[a, b]", "[a, a]"), "link 'wire' names the kind 'a' twice"),
    (("of: b}, {read", "of: bb}, {read"), "Did you mean 'b'"),
])
def test_what_cannot_be_read_at_its_head_is_refused(change: tuple[str, str], told: str) -> None:
    """The message says what to do."""
    assert change[0] in STREAMS
    with pytest.raises(InputError) as refused:
        load(STREAMS.replace(*change))
    assert told in f"{refused.value.what}. {refused.value.next_step}"
