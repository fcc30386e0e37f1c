"""Links with a reader that calls stop and go: what the engines say of the net against a plain
simulation, and against the ticks of the chapter."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

import pytest
from test_design_copies import states

from checkvalve.conformance.designs import check_design
from checkvalve.conformance.designs.text import lines
from checkvalve.spec.design.check import Settings, check
from checkvalve.spec.design.loader import load
from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.verdicts.verdict import Outcome


class Marks(NamedTuple):
    """Those of a link, and its room (0: as much as there can be)."""

    stop: int
    go: int
    lag: int
    room: int = 0


class Queue(NamedTuple):
    """Contents of the link, whether stop was called, and how many elements may still come in spite
    of it.
    """

    held: int = 0
    stopped: bool = False
    late: int = 0


def written(queue: Queue, marks: Marks) -> Iterator[Queue]:
    """The queue with one more; nothing where its writer has stopped."""
    if queue.stopped and not queue.late:
        return
    held, late = queue.held + 1, queue.late
    if queue.stopped:
        late -= 1
    elif held > marks.stop:
        late = marks.lag
    yield Queue(held, queue.stopped or held > marks.stop, late)


def by_itself(queue: Queue, marks: Marks) -> Iterator[Queue]:
    """The writer hears a stop before it has written all that it might; the reader calls go."""
    if queue.late:
        yield queue._replace(late=queue.late - 1)
    elif queue.stopped and queue.held <= marks.go:
        yield Queue(queue.held)


def reached(writes: str, reads: str, marks: Marks) -> tuple[bool, int]:
    """True if two scripts, over the link and another one of one slot, deadlock; and the most that
    is ever in the link. ``S`` is a write or read of it, ``b`` one of the other.
    """
    seen, most, stuck = {(0, 0, Queue(), 0)}, 0, False
    todo = [*seen]
    while todo:
        at, to, queue, beside = todo.pop()
        most = max(most, queue.held)
        then, next_read = (at + 1) % len(writes), (to + 1) % len(reads)
        after = [(at, to, each, beside) for each in by_itself(queue, marks)]
        if writes[at] == "S":
            after += [(then, to, each, beside) for each in written(queue, marks)]
        elif beside == 0:
            after.append((then, to, queue, 1))
        if reads[to] == "S" and queue.held:
            after.append((at, next_read, queue._replace(held=queue.held - 1), beside))
        elif reads[to] == "b" and beside:
            after.append((at, next_read, queue, 0))
        stuck = stuck or not after
        todo += [state for state in dict.fromkeys(after) if state not in seen]
        seen.update(after)
    return stuck, most


def design(writes: str, reads: str, marks: Marks, rest: str = "") -> str:
    """The same as a file."""
    def steps(letters: str, verb: str) -> str:
        return ", ".join(f"{{{verb}: {'main' if each == 'S' else 'beside'}}}" for each in letters)

    return f"""
checkvalve: 2
name: two ways
tasks:
  writer: {{kind: script, steps: [{steps(writes, 'write')}]}}
  reader: {{kind: script, steps: [{steps(reads, 'read')}]}}
links:
  - {{from: writer, to: reader, name: main, flow: stop-go, stop: {marks.stop}, go: {marks.go},
     lag: {marks.lag}{rest}}}
  - {{from: writer, to: reader, name: beside, capacity: 1}}
"""


def test_stop_and_go_are_what_a_plain_simulation_makes_of_them() -> None:
    """Four designs that deadlock, and four that do not; and with less room than is ever needed the
    link fails.
    """
    left = {True: 4, False: 4}
    for seed in range(400):
        draw = Random(f"signals {seed}")
        numbers = draw.randint(1, 4), draw.randint(1, 3)
        writes = "".join(draw.sample("S" * numbers[0] + "b" * numbers[1], sum(numbers)))
        reads = "".join(draw.sample(writes, len(writes)))
        stop = draw.randint(1, 3)
        marks = Marks(stop, draw.randint(0, stop), draw.randint(0, 2))
        stuck, most = reached(writes, reads, marks)
        if not left[stuck]:
            continue
        left[stuck] -= 1
        assert (states(design(writes, reads, marks))[0][0] is Outcome.VIOLATED) == stuck, seed
        if most > stop + 1:
            found = check(load(design(writes, reads, marks, f", capacity: {most - 1}")))
            assert found.finding("no-failure").outcome is Outcome.VIOLATED, seed
        found = check(load(design(writes, reads, marks, f", capacity: {max(most, stop + 1)}")))
        assert found.finding("no-failure").outcome is Outcome.HOLDS, seed
    assert not any(left.values())


def most_held(rate: int, there: int, back: int, mark: int) -> int:
    """In ticks: the most that a receiver holds which takes nothing, of a sender at full rate."""
    worst = 0
    for first in range(1, rate + 1):
        held, under_way, stops_in, sent = 0, [0] * there, None, first
        for _ in range(mark + there + back + 3):
            held += under_way.pop()
            if stops_in is None and held > mark:
                stops_in = back
            elif stops_in:
                stops_in -= 1
            under_way.insert(0, 0 if stops_in == 0 else sent)
            sent = rate
        worst = max(worst, held)
    return worst


@pytest.mark.parametrize(("rate", "there", "back", "mark"), [
    (1, 1, 0, 1), (1, 2, 1, 2), (2, 1, 1, 1), (2, 2, 1, 3), (3, 1, 2, 2),
])
def test_the_headroom_is_that_of_the_chapter(rate: int, there: int, back: int, mark: int) -> None:
    """The headroom needed in ticks is that of the link with the lag of as many ticks."""
    need = most_held(rate, there, back, mark)
    assert need == mark + rate * (there + back)
    for room, verdict in ((need - 1, Outcome.VIOLATED), (need, Outcome.HOLDS)):
        if room > mark:
            found = check(load(f"""
checkvalve: 2
name: squelch
tasks: {{sender: {{kind: source}}, receiver: {{kind: sink, may: stop}}}}
links:
  - {{from: sender, to: receiver, flow: stop-go, capacity: {room}, stop: {mark}, go: 0,
     lag: {rate * (there + back) - 1}}}
"""), Settings("explorer")).finding("no-failure")
            assert found.outcome is verdict


def test_a_lost_go_is_a_wait_that_nobody_ends() -> None:
    """The writer waits for it, and the reader on the writer; a lost stop is made good."""
    text = design("S", "S", Marks(1, 1, 0), ", capacity: 4, lossy: 1, full: drop-newest").replace(
        "  - {from: writer, to: reader, name: beside, capacity: 1}\n", "")
    finding = check(load(text)).finding("deadlock-free")
    assert {(wait.task, wait.what, wait.on) for wait in finding.waits} == {
        ("writer", "a go", ()), ("reader", "data", ("writer",))}
    assert finding.waits[0].sentence() == (
        "writer waits for a go for main, and no task can end this wait")
    lossless = check(load(text.replace("lossy: 1, ", "")))
    assert lossless.finding("deadlock-free").outcome is Outcome.HOLDS


@pytest.mark.parametrize(("change", "told"), [
    (("stop: 2", "stop: 4"), "d.yaml:8:59: link 'main' calls stop when there are more than 4"),
    (("go: 1", "go: 3"), "d.yaml:8:68: link 'main' calls go at 3 elements, above its mark"),
    (("capacity: 4", "capacity: 4, gives: 2"), "d.yaml:8:5: link 'main' has flow stop-go, so"),
    (("stop: 2,", ""), "has no `stop`"),
    (("flow: stop-go", "flow: credit"), "has a `stop`, which means nothing with its other keys"),
    (("capacity: 4", "full: unbounded"), "must be one of: fail, drop-newest, drop-oldest"),
])
def test_marks_that_are_none_are_refused(change: tuple[str, str], told: str) -> None:
    """With the place, and what to do."""
    text = design("Sb", "Sb", Marks(2, 1, 1), ", capacity: 4")
    assert change[0] in text
    with pytest.raises(InputError, match=told):
        load(text.replace(*change), "d.yaml")


def test_who_was_stopped_is_told_when_it_may_go_on() -> None:
    """A link with two free places of three is no room for its writer before the go."""
    report = check_design("""checkvalve: 2
name: stopped
tasks:
  client: {kind: script, steps: [{write: asks, count: 5}, {read: answers, count: 5}]}
  echo: {kind: map}
links:
  - {from: client, to: echo, flow: stop-go, stop: 2, go: 0, lag: 0, name: asks}
  - {from: echo, to: client, flow: stop-go, stop: 2, go: 0, lag: 0, name: answers}
""")
    told = "\n".join(lines(report))
    assert "room       asks (holds 1, and resumes at 0)" in told
