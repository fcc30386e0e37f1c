"""A receiver reads an element again or not: the engines' verdict against a simulation in which each
element has a number.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from checkvalve.spec.design.check import check
from checkvalve.spec.design.loader import load
from checkvalve.spec.verdicts.verdict import Outcome

Queues = tuple[tuple[int, ...], ...]
"""The numbers of the elements in each queue, the oldest first."""

DESIGNS = {
    "copies merged": (["source", "broadcast a b", "merge", "sink"], [
        ("source", "broadcast"), ("broadcast", "merge"), ("broadcast", "merge"),
        ("merge", "sink")]),
    "copies joined": (["source", "broadcast", "zip", "sink"], [
        ("source", "broadcast"), ("broadcast", "zip"), ("broadcast", "zip"), ("zip", "sink")]),
    "one way or another": (["source", "route", "merge", "sink"], [
        ("source", "route"), ("route", "merge"), ("route", "merge"), ("merge", "sink")]),
    "a copy comes back": (["source", "merge", "broadcast", "sink"], [
        ("source", "merge"), ("merge", "broadcast"), ("broadcast", "merge"),
        ("broadcast", "sink")]),
    "two receivers": (["source", "broadcast", "sink", "sink2"], [
        ("source", "broadcast"), ("broadcast", "sink"), ("broadcast", "sink2")]),
    "two links of a source": (["source", "sink"], [("source", "sink"), ("source", "sink")]),
}
"""The tasks, which are of the kind of their name, and the links between them."""


def reads(kind: str, ends: list[int], queues: Queues) -> Iterator[tuple[list[int], int, Queues]]:
    """The possible reads of a task: the queues that it reads, the element, and the queues after it.
    """
    some = [[n] for n in ends] if kind != "zip" else [ends]
    for chosen in some:
        if all(queues[n] for n in chosen):
            numbers = {queues[n][0] for n in chosen}
            left = tuple(held[1:] if n in chosen else held for n, held in enumerate(queues))
            yield chosen, numbers.pop() if len(numbers) == 1 else 0, left


def put(queues: Queues, ends: list[int], number: int, room: int) -> Queues | None:
    """The queues with an element in each of these; None where one is full."""
    if any(len(queues[n]) == room for n in ends):
        return None
    return tuple((*held, number) if n in ends else held for n, held in enumerate(queues))


def is_read_again(tasks: list[str], links: list[tuple[str, str]], room: int) -> bool:
    """True if, with four numbered elements at most, a sink can read one twice.

    A route writes as soon as it reads: that is one of its orders of steps.
    """
    kinds = {task.split()[0]: task.split()[0].rstrip("2") for task in tasks}
    inputs = {name: [n for n, (_, to) in enumerate(links) if to == name] for name in kinds}
    outputs = {name: [n for n, (at, _) in enumerate(links) if at == name] for name in kinds}
    first: Any = (1, ((),) * len(links), frozenset())
    seen, todo = {first}, [first]
    while todo:
        number, queues, had = todo.pop()
        after: list[Any] = []
        for name, kind in kinds.items():
            if kind == "source" and number <= 4:
                made = put(queues, outputs[name], number, room)
                after += [(number + 1, made, had)] if made is not None else []
            for _, element, left in reads(kind, inputs[name], queues) if inputs[name] else ():
                if kind == "sink":
                    if (name, element) in had:
                        return True
                    after.append((number, left, had | {(name, element)}))
                ways = [[n] for n in outputs[name]] if kind == "route" else [outputs[name]]
                for way in ways if kind != "sink" else ():
                    there = put(left, way, element, room)
                    after += [(number, there, had)] if there is not None else []
        todo += [state for state in dict.fromkeys(after) if state not in seen]
        seen.update(after)
    return False


@pytest.mark.parametrize("room", [1, 2])
@pytest.mark.parametrize("name", DESIGNS)
def test_what_is_read_again_is_what_a_simulation_with_numbers_reads_again(
    name: str, room: int
) -> None:
    """Copies that are merged, joined, sent round or apart, with one slot and with two."""
    tasks, links = DESIGNS[name]
    lines = [f"  {task.split()[0]}: {{kind: {task.split()[0].rstrip('2')}}}" for task in tasks]
    lines += ["links:", *(f"  - {{from: {at}, to: {to}, capacity: {room}, name: l{number}}}"
                          for number, (at, to) in enumerate(links))]
    found = check(load("\n".join([
        "checkvalve: 2", "name: copies", "tasks:", *lines, "expect: {no-duplicates: holds}"
    ]))).finding("no-duplicates")
    again = is_read_again(tasks, links, room)
    assert found.outcome is (Outcome.VIOLATED if again else Outcome.HOLDS), found.reason
    if again:
        assert found.steps[-1].endswith("(the element, again)")
        assert "reads an element of source again, which" in found.reason
