"""Schedules for coroutines: all with few deviations, or one from a seed; and shrinking.

Theory of operation
-------------------
A *scene* spawns coroutines on a ``VirtualLoop`` and names *events*: calls that the world makes, a
packet or a thread, at an instant that is its own. By default, callbacks run first in, first out,
and each event comes when no callback is ready. A *schedule* lists the deviations from that: an
event that comes earlier, a task that is cancelled, a callback that is overtaken. It counts instants
in callbacks, so it is data, and the same one gives the same run.

Few deviations are enough for most bugs, so ``explore`` takes all schedules with at most so many,
without storing states: a schedule is run, every instant of its run after its last deviation is one
at which there could be another, and each makes a schedule. With one cancellation that is: every
task, cancelled at each of its await points, among all that the others may have done by then.

A task is cancelled by ``task.cancel()``, as by ``asyncio.timeout`` or a ``TaskGroup``.

Source: iterative context bounding (Musuvathi and Qadeer, PLDI 2007), for one thread.
"""

from __future__ import annotations

import asyncio
import linecache
import random
from collections.abc import Callable, Collection, Coroutine, Iterator
from dataclasses import dataclass
from enum import Enum
from types import TracebackType
from typing import Any, Generic, NamedTuple, TypeVar

from .virtual_loop import VirtualLoop

__all__ = [
    "Deviation", "Kind", "Ran", "Scene", "Schedule", "Stage", "Stuck", "explore", "replay",
    "shrink", "wander",
]

R = TypeVar("R")


class Kind(Enum):
    """The kinds of deviations of a schedule."""

    CANCEL = "cancel"       # cancel a task
    EVENT = "event"         # let an event come
    OVERTAKE = "overtake"   # run a callback before those that were ready earlier


class Deviation(NamedTuple):
    """A deviation: the instant, in callbacks that have run, its kind, and what it is about.

    ``which`` is the number of a task or of an event, in the order in which the scene made them, or
    the place of a callback among those that are ready. An instant that the run does not reach
    is when no callback is ready any more.
    """

    at: int
    kind: Kind
    which: int


Schedule = tuple[Deviation, ...]


@dataclass(frozen=True, slots=True)
class Stuck:
    """A task that waits forever: its name, and the line (``file:line`` and its text)."""

    task: str
    at: str
    text: str

    def words(self) -> str:
        """The place of the wait, for a reader."""
        return f"{self.task} waits at {self.at}: {self.text}"


class Stage:
    """The setting of a scene: a loop, on which it spawns tasks; it also names events here."""

    def __init__(self) -> None:
        self.loop = VirtualLoop()
        self.tasks: list[asyncio.Task[Any]] = []
        self.events: list[tuple[str, Callable[[], object]]] = []

    def spawn(self, name: str, coroutine: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """A task of the scene; its first step is ready at once."""
        task = self.loop.create_task(coroutine, name=name)
        self.tasks.append(task)
        return task

    def event(self, name: str, call: Callable[[], object]) -> None:
        """Add a call that the world makes once, at any instant: the call itself, not a task."""
        self.events.append((name, call))

    def __enter__(self) -> Stage:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Cancel the tasks that still wait, until none does."""
        with self.loop.running():
            for _ in range(_CANCELS_MAX):
                left = asyncio.all_tasks(self.loop)
                if not left:
                    break
                for task in left:
                    task.cancel()
                self.loop.settle()
        for task in self.tasks:
            if task.done() and not task.cancelled():
                task.exception()    # it has been reported
        self.loop.close()


_CANCELS_MAX = 100
"""Number of times that a task may refuse to be cancelled at the end."""

Scene = Callable[[Stage], Callable[[], R]]
"""Sets a scene up, and returns a function that gives the result, called when all is over."""


@dataclass(frozen=True, slots=True)
class Ran(Generic[R]):
    """One schedule and its outcome. ``replay`` does the same with the schedule.

    It has the tasks that wait forever, the ``errors`` of tasks and events, by name, and the names
    of the ``cancelled`` tasks.
    """

    schedule: Schedule
    result: R
    stuck: tuple[Stuck, ...]
    errors: tuple[tuple[str, BaseException], ...]
    cancelled: tuple[str, ...]
    callbacks: int


class _Instant(NamedTuple):
    """The possible deviations at an instant: the tasks alive, and the events to come."""

    alive: tuple[int, ...]
    events: tuple[int, ...]
    ready: int


class _Course:
    """A run along a schedule."""

    def __init__(self, stage: Stage, schedule: Schedule) -> None:
        self.stage = stage
        self.instants: list[_Instant] = []
        self.errors: list[tuple[str, BaseException]] = []
        self._todo = sorted(schedule, key=lambda each: each.at)
        self._out = dict(enumerate(stage.events))

    def run(self) -> None:
        loop = self.stage.loop
        with loop.running():
            while True:
                place = self._apply(loop.ran)
                self._note()
                if loop.step(min(place, max(0, loop.ready() - 1))) or loop.advance():
                    continue
                if self._todo:
                    self._todo[0] = self._todo[0]._replace(at=loop.ran)
                elif self._out:
                    self._comes(next(iter(self._out)))
                else:
                    return

    def _apply(self, now: int) -> int:
        """Deviate as the schedule says; return the place of the callback that comes next."""
        while self._todo and self._todo[0].at <= now:
            _, kind, which = self._todo.pop(0)
            if kind is Kind.OVERTAKE:
                return which
            if kind is Kind.EVENT and which in self._out:
                self._comes(which)
            elif kind is Kind.CANCEL and which < len(self.stage.tasks):
                self.stage.tasks[which].cancel()
        return 0

    def _comes(self, which: int) -> None:
        name, call = self._out.pop(which)
        try:
            call()
        except Exception as error:      # noqa: BLE001  it is for the caller to judge
            self.errors.append((name, error))

    def _note(self) -> None:
        alive = tuple(n for n, task in enumerate(self.stage.tasks) if not task.done())
        self.instants.append(_Instant(alive, tuple(self._out), self.stage.loop.ready()))

    def outcome(self, schedule: Schedule, conclude: Callable[[], R]) -> Ran[R]:
        tasks = self.stage.tasks
        over = [task for task in tasks if task.done()]
        self.errors += [(task.get_name(), error) for task in over
                        if not task.cancelled() and (error := task.exception()) is not None]
        return Ran(
            schedule, conclude(), tuple(_where(task) for task in tasks if not task.done()),
            tuple(self.errors), tuple(task.get_name() for task in over if task.cancelled()),
            self.stage.loop.ran)


def _where(task: asyncio.Task[Any]) -> Stuck:
    frame = None
    waits: Any = task.get_coro()
    while waits is not None and getattr(waits, "cr_frame", None) is not None:
        frame, waits = waits.cr_frame, waits.cr_await
    if frame is None:
        return Stuck(task.get_name(), "", "")
    file, line = frame.f_code.co_filename, frame.f_lineno
    text = linecache.getline(file, line, frame.f_globals).strip()
    return Stuck(task.get_name(), f"{file.replace(chr(92), '/').rpartition('/')[2]}:{line}", text)


def _run(scene: Scene[R], schedule: Schedule) -> tuple[Ran[R], list[_Instant]]:
    with Stage() as stage:
        with stage.loop.running():
            conclude = scene(stage)
        course = _Course(stage, schedule)
        course.run()
        return course.outcome(schedule, conclude), course.instants


def replay(scene: Scene[R], schedule: Schedule) -> Ran[R]:
    """Run a scene along one schedule."""
    return _run(scene, schedule)[0]


def explore(
    scene: Scene[R], *, deviations: int = 1,
    kinds: Collection[Kind] = (Kind.CANCEL, Kind.EVENT),
) -> Iterator[Ran[R]]:
    """Every schedule of a scene with at most that many deviations of some kinds, each once.

    The scene must do the same each time it is set up. Raises ``Unrest`` if tasks run without end.
    """
    todo: list[Schedule] = [()]
    while todo:
        schedule = todo.pop()
        ran, instants = _run(scene, schedule)
        yield ran
        if len(schedule) < deviations:
            todo += [(*schedule, each) for each in _further(schedule, instants, kinds)]


def _further(
    schedule: Schedule, instants: list[_Instant], kinds: Collection[Kind]
) -> Iterator[Deviation]:
    """The other deviations that a run allows, from its last one on."""
    first = schedule[-1].at if schedule else 0
    for at, instant in enumerate(instants):
        if at < first:
            continue
        if Kind.CANCEL in kinds:
            yield from (Deviation(at, Kind.CANCEL, task) for task in instant.alive)
        if Kind.EVENT in kinds:
            yield from (Deviation(at, Kind.EVENT, event) for event in instant.events)
        if Kind.OVERTAKE in kinds:
            yield from (Deviation(at, Kind.OVERTAKE, place) for place in range(1, instant.ready))


def wander(
    scene: Scene[R], seed: int, *, deviations: int = 4,
    kinds: Collection[Kind] = (Kind.CANCEL, Kind.EVENT),
) -> Ran[R]:
    """Run one schedule drawn from a seed, with up to that many deviations of some kinds."""
    draw = random.Random(seed)
    schedule: Schedule = ()
    ran, instants = _run(scene, schedule)
    for _ in range(draw.randint(1, deviations)):
        choice = list(_further(schedule, instants, kinds))
        if not choice:
            break
        schedule = (*schedule, draw.choice(choice))
        ran, instants = _run(scene, schedule)
    return ran


def shrink(
    scene: Scene[R], schedule: Schedule, fails: Callable[[Ran[R]], bool]
) -> Ran[R]:
    """A schedule with as few deviations as possible that still ``fails``, and its run.

    Each of these is moved to the earliest instant, and the nearest place, at which it still fails.
    """
    best = replay(scene, schedule)
    at = 0
    while at < len(best.schedule):
        shorter = best.schedule[:at] + best.schedule[at + 1:]
        ran = replay(scene, shorter)
        if fails(ran):
            best, at = ran, 0
        else:
            at += 1
    for at in range(len(best.schedule)):
        best = _earliest(scene, best, at, fails)
    return best


def _earliest(
    scene: Scene[R], best: Ran[R], place: int, fails: Callable[[Ran[R]], bool]
) -> Ran[R]:
    given = best.schedule[place]
    first = best.schedule[place - 1].at if place else 0
    for at in range(first, given.at):
        moved = (*best.schedule[:place], given._replace(at=at), *best.schedule[place + 1:])
        ran = replay(scene, moved)
        if fails(ran):
            return ran
    return best
