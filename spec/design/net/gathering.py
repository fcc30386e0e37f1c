"""Tasks that gather elements before they write: windows, and barriers that are aligned.

A *window* keeps what it reads until it has so many elements, and then writes one for all of them;
what it has kept by the end of a job is no work that is left. An *align* passes on what it reads,
but once it has read a barrier from an input it reads nothing more there until it has read one from
each; then it writes one barrier, and reads on (Carbone et al. 2015; Flink's aligned checkpoints).
"""

from __future__ import annotations

from collections.abc import Iterator

from ...notation.labels import counted
from ..reading.language import Task
from .builder import Builder, Gate
from .rows import Effect, together

__all__ = ["align", "window"]


def window(to: Builder, task: Task) -> None:
    """Reads one at a time; closes when it is full, or, where it may, early."""
    (gate,) = to.gates(task)
    kept = to.place(task, "elements in the window", "hand", 0, task.size, task.size - 1)
    to.add(task, together(gate.read(), [Effect({}, {kept: task.size - 1}, {kept: 1})]))
    (way,) = to.ways(task, {"": []})
    to.add(task, together(_closings(task, kept), way.writes))


def _closings(task: Task, kept: str) -> Iterator[Effect]:
    words = f"closes its window of {counted(task.size, 'element')}"
    yield Effect({kept: task.size}, {}, {kept: -task.slide}, (words,))
    for held in range(1, task.size) if task.early else ():
        words = f"closes its window early, with {counted(held, 'element')}"
        yield Effect({kept: held}, {kept: held}, {kept: -held}, (words,))


def align(to: Builder, task: Task) -> None:
    """Passes elements on, and one barrier for one of each input."""
    before, reads = len(to.places), dict[str, list[Effect]]()
    has_barrier = {gate.name: to.place(task, f"barrier of {gate.name}", "barrier", 0, 1, 0)
                   for gate in to.gates(task)}
    for gate in to.gates(task):
        still = Effect({}, {has_barrier[gate.name]: 0})
        for kind, effects in gate.reads().items():
            if kind != task.barrier:
                reads.setdefault(kind, []).extend(map(still.then, effects))
        to.add(task, _barrier_read(task, gate, has_barrier[gate.name]))
    if reads:
        to.pass_on(task, reads)
    empty = {place.name: 0 for place in to.places[before:] if place.role == "hand"}
    whole = Effect(dict.fromkeys(has_barrier.values(), 1), empty,
                   dict.fromkeys(has_barrier.values(), -1), ("has a barrier of each input",))
    for way in to.ways(task, {task.barrier: []}):
        to.add(task, together([whole], way.writes))


def _barrier_read(task: Task, gate: Gate, place: str) -> Iterator[Effect]:
    waits = Effect({}, {place: 0}, {place: 1}, ("reads no more there until it has all",))
    return together(gate.reads()[task.barrier], [waits])
