"""Tasks that pass elements of several kinds on, windows and aligned barriers: what the engines say
of the net against a plain simulation of the tasks by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import Any

import pytest
from test_design_copies import states

from checkvalve.spec.design.check import check
from checkvalve.spec.design.loader import load
from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.verdicts.verdict import Outcome

Queues = dict[str, tuple[str, ...]]
"""The kinds of the elements in each queue; sorted, as readers may take any of them."""
Moves = Iterator[tuple[Any, Queues]]
Actor = tuple[Any, Callable[[Any, Queues], Moves]]
"""State of a task at the start, and every step that it can take from a state."""


# --- the simulation -------------------------------------------------------------------------------

def read(queues: Queues, name: str, kind: str | None = None) -> Iterator[tuple[str, Queues]]:
    """Each kind that can be read from a queue, or this one."""
    for found in dict.fromkeys(queues[name]):
        if kind in (None, found):
            left = list(queues[name])
            left.remove(found)
            yield found, {**queues, name: tuple(left)}


def written(queues: Queues, rooms: Mapping[str, int], name: str, kind: str) -> Queues | None:
    """The queues with one element more, if there is a free slot."""
    if len(queues[name]) == rooms[name]:
        return None
    return {**queues, name: tuple(sorted((*queues[name], kind)))}


def script(steps: Sequence[tuple[str, str, str]], rooms: Mapping[str, int]) -> Actor:
    """Its steps in order, forever: ("read" or "write", queue, kind)."""
    def go(at: int, queues: Queues) -> Moves:
        verb, name, kind = steps[at]
        there = (at + 1) % len(steps)
        if verb == "read":
            yield from ((there, after) for _, after in read(queues, name, kind))
        elif (after := written(queues, rooms, name, kind)) is not None:
            yield there, after
    return 0, go


def route(inbox: str, to: Mapping[str, str], rooms: Mapping[str, int]) -> Actor:
    """Holds one element, and writes it where its kind goes."""
    def go(held: str, queues: Queues) -> Moves:
        if not held:
            yield from read(queues, inbox)
        elif (after := written(queues, rooms, to[held], held)) is not None:
            yield "", after
    return "", go


def align(inputs: Sequence[str], out: str, hand: int, rooms: Mapping[str, int]) -> Actor:
    """A task with its hand as state, and the inputs that have brought their barrier."""
    def go(own: tuple[tuple[str, ...], frozenset[str]], queues: Queues) -> Moves:
        held, have = own
        for name in set(inputs) - have:
            for kind, after in read(queues, name):
                if kind == "barrier":
                    yield (held, have | {name}), after
                elif len(held) < hand:
                    yield ((*held, kind), have), after
                elif not hand and (there := written(after, rooms, out, kind)) is not None:
                    yield own, there
        if held and (after := written(queues, rooms, out, held[0])) is not None:
            yield (held[1:], have), after
        if len(have) == len(inputs) and not held and (
                after := written(queues, rooms, out, "barrier")) is not None:
            yield ((), frozenset()), after
    return ((), frozenset()), go


def window(inbox: str, out: str, size: int, slide: int, early: bool,
           rooms: Mapping[str, int]) -> Actor:
    """A task with the number of gathered elements as state."""
    def go(kept: int, queues: Queues) -> Moves:
        if kept < size:
            yield from ((kept + 1, after) for _, after in read(queues, inbox))
        if (kept == size or (early and kept)) and (
                after := written(queues, rooms, out, "x")) is not None:
            yield (kept - slide if kept == size else 0), after
    return 0, go


def gets_stuck(actors: Sequence[Actor], names: Sequence[str]) -> bool:
    """True if some order of steps ends where no task can take a step."""
    first = (tuple(own for own, _ in actors), tuple((name, ()) for name in names))
    seen, todo = {first}, [first]
    while todo:
        owns, contents = todo.pop()
        after = [((*owns[:n], own, *owns[n + 1:]), tuple(queues.items()))
                 for n, (_, go) in enumerate(actors) for own, queues in go(owns[n], dict(contents))]
        if not after:
            return True
        for state in after:
            if state not in seen:
                seen.add(state)
                todo.append(state)
    return False


# --- the same, in both ways -----------------------------------------------------------------------

def steps_of(steps: Sequence[tuple[str, str, str]], kinds: bool) -> str:
    return "[" + ", ".join(f"{{{verb}: {name}{f', of: {kind}' if kinds else ''}}}"
                           for verb, name, kind in steps) + "]"


def routed(draw: Random) -> tuple[str, list[Actor], list[str]]:
    """Orders and bills through one queue, a route by kind, and a script that needs both."""
    rooms = {"inbox": draw.randint(1, 3), "left": draw.randint(1, 2), "right": draw.randint(1, 2)}
    writes = [("write", "inbox", draw.choice(["order", "bill"])) for _ in range(draw.randint(2, 5))]
    needs = [("read", *draw.choice([("left", "order"), ("right", "bill")])) for _ in range(3)]
    text = f"""
checkvalve: 2
name: routed
tasks:
  writer: {{kind: script, steps: {steps_of(writes, True)}}}
  router: {{kind: route}}
  reader: {{kind: script, steps: {steps_of(needs, False)}}}
links:
  - {{from: writer, to: router, capacity: {rooms['inbox']}, name: inbox, kinds: [order, bill]}}
  - {{from: router, to: reader, capacity: {rooms['left']}, name: left, kinds: [order]}}
  - {{from: router, to: reader, capacity: {rooms['right']}, name: right, kinds: [bill]}}
"""
    return text, [script(writes, rooms), route("inbox", {"order": "left", "bill": "right"}, rooms),
                  script(needs, rooms)], list(rooms)


def aligned(draw: Random) -> tuple[str, list[Actor], list[str]]:
    """A script that writes records and barriers to two links, which are aligned behind."""
    rooms = {"one": draw.randint(1, 2), "two": draw.randint(1, 2), "out": 1}
    writes = [("write", name, "barrier") for name in ("one", "two")]
    writes += [("write", draw.choice(["one", "two"]), "record") for _ in range(draw.randint(1, 4))]
    draw.shuffle(writes)
    hand = draw.randint(0, 2)
    text = f"""
checkvalve: 2
name: aligned
tasks:
  writer: {{kind: script, steps: {steps_of(writes, True)}}}
  join: {{kind: align, barrier: barrier, hand: {hand}}}
  reader: {{kind: script, steps: [{{read: out}}]}}
links:
  - {{from: writer, to: join, capacity: {rooms['one']}, name: one, kinds: [record, barrier]}}
  - {{from: writer, to: join, capacity: {rooms['two']}, name: two, kinds: [record, barrier]}}
  - {{from: join, to: reader, capacity: 1, name: out}}
"""
    # Two kinds that go the same way are not told apart, but a barrier is.
    reader: Actor = (0, lambda own, queues: ((0, after) for _, after in read(queues, "out")))
    join = align(["one", "two"], "out", hand, rooms)
    return text, [script(writes, rooms), join, reader], list(rooms)


def windowed(draw: Random) -> tuple[str, list[Actor], list[str]]:
    """One way through a window, and one beside it, to a script that needs both."""
    rooms = {"in": draw.randint(1, 2), "out": 1, "beside": draw.randint(1, 3)}
    writes = [("write", draw.choice(["in", "beside"]), "x") for _ in range(draw.randint(2, 5))]
    needs = [("read", name, "x") for name in ("out", "beside")]
    size = draw.randint(1, 3)
    slide, early = draw.randint(1, size), draw.random() < 0.3
    text = f"""
checkvalve: 2
name: windowed
tasks:
  writer: {{kind: script, steps: {steps_of([*writes, ('write', 'beside', 'x')], False)}}}
  sums: {{kind: window, size: {size}, slide: {slide}, early: {str(early).lower()}}}
  reader: {{kind: script, steps: {steps_of(needs, False)}}}
links:
  - {{from: writer, to: sums, capacity: {rooms['in']}, name: in}}
  - {{from: sums, to: reader, capacity: 1, name: out}}
  - {{from: writer, to: reader, capacity: {rooms['beside']}, name: beside}}
"""
    return text, [script([*writes, ("write", "beside", "x")], rooms),
                  window("in", "out", size, slide, early, rooms), script(needs, rooms)], list(rooms)


@pytest.mark.parametrize("make", [routed, aligned, windowed])
def test_what_gathers_is_what_a_plain_simulation_makes_of_it(make: Callable[..., Any]) -> None:
    """Random numbers of elements in random orders: four designs deadlock, and four do not."""
    left = {True: 4, False: 4}
    for seed in range(400):
        text, actors, names = make(Random(f"gathering {seed}"))
        stuck = gets_stuck(actors, names)
        if left[stuck]:
            left[stuck] -= 1
            found = states(text)
            assert any(outcome is Outcome.VIOLATED for outcome, _ in found) == stuck, text
    assert not any(left.values()), left


GATHERING = """
checkvalve: 2
name: gathering
tasks:
  source: {kind: source}
  router: {kind: route}
  sums: {kind: window, size: 3}
  join: {kind: align, barrier: b}
  sink: {kind: sink}
links:
  - {from: source, to: router, capacity: 2, name: inbox, kinds: [a, b]}
  - {from: router, to: sums, capacity: 2, name: left, kinds: [a]}
  - {from: router, to: join, capacity: 2, name: right, kinds: [a, b]}
  - {from: sums, to: join, capacity: 2, name: sum, kinds: [a, b]}
  - {from: join, to: sink, capacity: 2, name: out}
"""


@pytest.mark.parametrize(("change", "told"), [
    (("size: 3", "size: 3, slide: 4"), "d.yaml:7:3: the window 'sums' slides by 4"),
    (("size: 3", "size: 300, early: true"), "d.yaml:7:3: the window 'sums' of 300 elements may"),
    (("left, kinds: [a]", "left, kinds: [a, b]"), "d.yaml:7:3: the window 'sums' cannot choose"),
    (("name: sum, kinds: [a, b]", "name: sum, kinds: [a]"), "d.yaml:14:5: 'join' waits for a 'b'"),
    (("name: sum, kinds: [a, b]", "name: sum"), "d.yaml:14:5: 'join' waits for a 'b' from each"),
    (("barrier: b", "hand: 1"), "d.yaml:8:9: \"join\" has no `barrier`"),
    (("name: right, kinds: [a, b]", "name: right, kinds: [a]"),
     "d.yaml:6:3: the route 'router' reads elements of kind 'b', which 'left' and 'right' cannot"),
    (("{kind: route}", "{kind: broadcast}"),
     "d.yaml:6:3: the broadcast 'router' reads elements of kind 'b', which 'left' cannot carry"),
    (("{kind: align, barrier: b}", "{kind: transition}"),
     "d.yaml:8:3: the transition 'join' is tied to 'right', which has kinds"),
])
def test_what_cannot_gather_is_refused(change: tuple[str, str], told: str) -> None:
    """With its place, and what to do."""
    assert change[0] in GATHERING
    with pytest.raises(InputError, match=told.replace("[", r"\[")):
        load(GATHERING.replace(*change), "d.yaml")


def test_a_wait_at_a_queue_with_kinds_is_one_for_room() -> None:
    """Also that of a merge, a filter and a broadcast; the contents are those of the whole queue."""
    finding = check(load("""
checkvalve: 2
name: full
tasks:
  source: {kind: source}
  first: {kind: source, count: 3}
  merge: {kind: merge, policy: fair}
  filter: {kind: filter}
  copies: {kind: broadcast}
  reader: {kind: script, steps: [{read: out, of: a}]}
links:
  - {from: source, to: merge, capacity: 2, name: many, kinds: [a, b]}
  - {from: first, to: merge, capacity: 2, name: few, kinds: [a]}
  - {from: merge, to: filter, capacity: 1, name: kept, kinds: [a, b]}
  - {from: filter, to: copies, capacity: 1, name: copied, kinds: [b, a]}
  - {from: copies, to: reader, capacity: 1, name: out, kinds: [a, b, c]}
""")).finding("deadlock-free")
    assert finding.outcome is Outcome.VIOLATED
    waits = {wait.task: (wait.what, wait.where) for wait in finding.waits}
    assert waits["copies"] == ("room", "out") and waits["source"] == ("room", "many")
    assert waits["reader"] == ("data", "out (a)")
    assert dict(finding.contents)["out"] == dict(finding.contents)["out (b)"] == 1
