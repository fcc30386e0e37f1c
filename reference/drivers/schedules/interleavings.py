"""Schedules for the controlled scheduler: all with few preemptions, or one from a seed.

Theory of operation
-------------------
A *preemption* is a switch away from a task that could have continued; a switch away from one that
waits or is over costs nothing. Most races need very few preemptions, so all schedules with at most
two are worth more than as many drawn at random. They are found without storing states: a *scene*
is set up anew for each schedule, its prefix is run again, and from its end on tasks run as long as
they can. The run shows where another task could have taken over; each such place, with each such
task, makes a new prefix. Nothing is run twice, for prefixes differ.

The number of runs grows as (steps x other tasks) to the power of the preemptions.

Source: iterative context bounding (Musuvathi and Qadeer, PLDI 2007).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from .scheduling import Pool, Scheduler, Segment, Standing

__all__ = ["Explored", "Scene", "explore", "replay", "wander"]

R = TypeVar("R")

Scene = Callable[[Scheduler], Callable[[], R]]
"""Sets a scene up: makes the objects under test with the scheduler's locks, spawns the tasks, and
returns a function that gives the result, which is called when all is over.
"""


@dataclass(frozen=True, slots=True)
class Explored(Generic[R]):
    """One schedule and its outcome.

    ``schedule`` is complete: ``replay`` does the same with it. ``deadlock`` is empty unless
    tasks wait forever; ``errors`` are the exceptions that tasks raised, by name.
    """

    schedule: tuple[Segment, ...]
    preemptions: int
    result: R
    deadlock: tuple[Standing, ...]
    errors: tuple[tuple[str, BaseException], ...]


class _Piece(NamedTuple):
    """A segment that was run, and the other tasks that could have run after some of its steps."""

    segment: Segment
    others: tuple[tuple[int, tuple[int, ...]], ...]
    free: tuple[int, ...]
    """The tasks that could have been chosen at its beginning instead, at no cost."""


class _Prefix(NamedTuple):
    """Segments to run as they are, then the task that continues."""

    segments: tuple[Segment, ...]
    next: int | None
    preemptions: int


def explore(
    scene: Scene[R], modules: Iterable[str], *, preemptions: int = 2
) -> Iterator[Explored[R]]:
    """Every schedule of a scene with at most that many preemptions, each once.

    The scene must do the same each time it is set up. Raises ``SchedulingMisuse`` if tasks run
    without end.
    """
    modules = tuple(modules)
    todo = [_Prefix((), None, 0)]
    with Pool() as pool:
        while todo:
            prefix = todo.pop()
            with Scheduler(modules, pool=pool) as scheduler:
                conclude = scene(scheduler)
                pieces = list(_run(scheduler, prefix))
                yield _explored(scheduler, pieces, prefix.preemptions, conclude)
            todo += _branches(prefix, pieces, preemptions)


def _run(scheduler: Scheduler, prefix: _Prefix) -> Iterator[_Piece]:
    for segment in prefix.segments:
        scheduler.run(scheduler.tasks[segment.task], segment.steps)
        yield _Piece(segment, (), ())
    chosen = prefix.next
    while can := [task.number for task in scheduler.runnable()]:
        free = () if chosen is not None else tuple(can[1:])
        task = scheduler.tasks[can[0] if chosen is None else chosen]
        chosen = None
        scheduler.run(task)
        yield _Piece(Segment(task.number, scheduler.taken), tuple(scheduler.changes), free)


def _branches(
    prefix: _Prefix, pieces: list[_Piece], preemptions: int
) -> Iterator[_Prefix]:
    """The other prefixes that continue from the end of this one."""
    segments = tuple(_whole(piece) for piece in pieces)
    for at in range(len(prefix.segments), len(pieces)):
        piece = pieces[at]
        for task in piece.free:
            yield _Prefix(segments[:at], task, prefix.preemptions)
        if prefix.preemptions < preemptions:
            for steps, task in _takeovers(piece):
                cut = (*segments[:at], Segment(piece.segment.task, steps))
                yield _Prefix(cut, task, prefix.preemptions + 1)


def _whole(piece: _Piece) -> Segment:
    """The segment as one that runs as far as it can, since its last step may end in a wait."""
    return piece.segment if not piece.others else Segment(piece.segment.task)


def _takeovers(piece: _Piece) -> Iterator[tuple[int, int]]:
    """The other tasks that could have taken over within a segment, each with the step."""
    changes = [*piece.others, (piece.segment.steps or 0, ())]
    can: tuple[int, ...] = ()
    at = 0
    for steps in range(1, piece.segment.steps or 0):
        while changes[at][0] <= steps:
            can = changes[at][1]
            at += 1
        for task in can:
            yield steps, task


def _explored(
    scheduler: Scheduler, pieces: list[_Piece], preemptions: int, conclude: Callable[[], R]
) -> Explored[R]:
    errors = tuple(
        (task.name, task.error) for task in scheduler.tasks if task.error is not None)
    schedule = tuple(_whole(piece) for piece in pieces)
    return Explored(schedule, preemptions, conclude(), scheduler.deadlock(), errors)


def replay(
    scene: Scene[R], modules: Iterable[str], schedule: Iterable[Segment]
) -> Explored[R]:
    """Run one schedule; tasks that it leaves unfinished are run as by ``Scheduler.settle``.

    Raises ``SchedulingMisuse`` for a schedule that the scene cannot follow.
    """
    wanted = tuple(schedule)
    with Scheduler(modules) as scheduler:
        conclude = scene(scheduler)
        pieces = list(_run(scheduler, _Prefix(wanted, None, 0)))
        return _explored(scheduler, pieces, 0, conclude)


def wander(
    scene: Scene[R], modules: Iterable[str], seed: int, *, steps_max: int = 32
) -> Explored[R]:
    """Run one schedule drawn from a seed: pieces of up to ``steps_max`` steps."""
    draw = random.Random(seed)
    with Scheduler(modules) as scheduler:
        conclude = scene(scheduler)
        pieces = []
        while can := scheduler.runnable():
            task = draw.choice(can)
            scheduler.run(task, draw.randint(1, steps_max))
            pieces.append(_Piece(Segment(task.number, scheduler.taken), (), ()))
        return _explored(scheduler, pieces, 0, conclude)
