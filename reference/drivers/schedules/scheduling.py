"""A controlled scheduler: real threads, exactly one at a time, in an order that is given.

Theory of operation
-------------------
A race is a bug of some orders of steps and not of others; left to the operating system, the bad
order comes once in a million runs, and never again. Here the order is an input. Each task is a
real thread, and a *baton* decides which of them may run: a call of ``run(task, steps)`` hands
the baton over and waits until it comes back, because the task has taken that many steps, has to
wait for a lock, or is over. So at any time one thread runs, and the same calls of ``run`` on the
same program give the same run, step for step.

**A step** is one line of the modules under test, as ``sys.settrace`` reports it: the code needs no
instrumentation. A line on which a thread reads and writes nothing that others could see (only local
variables and constants) is no step of its own, for it makes no difference whether the baton
changes hands before or after it. Code outside of these modules that a line calls is part of the
step.

**Locks** have to be those that the scheduler makes, for a thread that waits in a lock of the
operating system would keep the baton. ``Lock`` is reentrant; ``SharedLock`` has a side for
readers and one for writers. Code that takes its locks from a factory needs no change.

**Deadlock** is when all tasks that are not over wait for a lock that is not free: ``settle`` comes
back, and ``deadlock()`` says which task waits for what, and its holder. No thread sleeps, no
clock is read, and ``close`` unwinds threads that are not over by an exception of its own, so none
is left behind.

What this does not see: what two processors may reorder, what happens in the middle of a line, and
what a library outside of the given modules does with threads of its own.

Source: CHESS (Musuvathi and others, OSDI 2008): one thread at a time, schedules as data.
"""

from __future__ import annotations

import linecache
import os
import sys
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import partial
from _thread import allocate_lock, get_ident, get_native_id, start_new_thread
from types import CodeType, FrameType, TracebackType
from typing import Any, Final

from .lines import shared_lines

__all__ = [
    "STEPS_MAX", "Lock", "Pool", "Scheduler", "SchedulingMisuse", "Segment", "SharedLock",
    "Standing", "Task", "Unwound", "Waitable",
]

STEPS_MAX: Final = 10_000
"""Steps of one run, after which a program is taken to run without end."""

_LOOK_SECONDS: Final = 0.25
"""The time between two looks at a task that keeps the baton."""

Trace = Callable[[FrameType, str, Any], Any]


class SchedulingMisuse(RuntimeError):
    """The request is impossible; the message says why, and what to do instead."""


class Unwound(BaseException):
    """Ends a task that is not over.

    It is no ``Exception``, so that no task catches it by mistake.
    """


@dataclass(frozen=True, slots=True)
class Standing:
    """The position of a task.

    ``at`` is the file and line that comes next, ``text`` that line; both empty if the task has not
    run yet, or is over. ``waits_for`` names the lock that it waits for, ``held_by`` the holders; it
    may have become free since.
    """

    task: str
    at: str
    text: str
    waits_for: str
    held_by: tuple[str, ...]
    done: bool

    def words(self) -> str:
        """The standing for a reader."""
        if self.done:
            return f"{self.task} is over"
        place = f"{self.at}: {self.text}" if self.at else "its beginning"
        if not self.waits_for:
            return f"{self.task} is at {place}"
        holders = " and ".join(self.held_by) or "nobody"
        return f"{self.task} waits at {place}, for {self.waits_for}, which {holders} has"


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of a schedule: a task by number, and how many steps it took (None: all it could)."""

    task: int
    steps: int | None = None


class Task:
    """A thread under control. ``error`` is what it raised, if it did; made by ``spawn``."""

    def __init__(self, number: int, name: str, body: Callable[[], object]) -> None:
        self.number = number
        self.name = name
        self.body = body
        self.done = False
        self.error: BaseException | None = None
        self.steps = 0
        self.waits_for: Waitable | None = None
        self.frame: FrameType | None = None
        self.unwinding = False
        self.thread: Thread | None = None

    def blocked(self) -> bool:
        """True if it waits for a lock that it could not get now."""
        return self.waits_for is not None and not self.waits_for.free_for(self)


class Thread:
    """A thread that runs one task after the other, each when it gets the baton.

    It is made by the interpreter's own functions, which stay as they are when ``threading`` is
    replaced for a foreign class under test.
    """

    def __init__(self) -> None:
        self.baton = allocate_lock()
        self.baton.acquire()
        self.task: Callable[[], None] | None = None
        self.number = self.native = 0
        """Its numbers, of the interpreter and of the system, once it runs."""
        self._ended = allocate_lock()
        self._ended.acquire()
        start_new_thread(self._main, ())

    def _main(self) -> None:
        self.number, self.native = get_ident(), get_native_id()
        while True:
            self.baton.acquire()
            if self.task is None:
                self._ended.release()
                return
            self.task()

    def end(self) -> None:
        """End the thread, which has no task any more."""
        self.task = None
        self.baton.release()
        self._ended.acquire()


class Pool:
    """Threads for one scheduler after the other: to start one takes longer than most tasks."""

    def __init__(self) -> None:
        self._idle: list[Thread] = []

    def take(self) -> Thread:
        """A thread without a task."""
        return self._idle.pop() if self._idle else Thread()

    def give(self, thread: Thread) -> None:
        """Take back a thread after its task."""
        self._idle.append(thread)

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        while self._idle:
            self._idle.pop().end()


class Scheduler:
    """Runs tasks one at a time.

    ``modules`` are the names of those with lines that are steps. Use it as a context manager, or
    call ``close``. Its methods are for the thread that made it, except for the locks'. Threads
    are its own, or come from a ``pool``.
    """

    def __init__(
        self, modules: Iterable[str], *, steps_max: int = STEPS_MAX, pool: Pool | None = None,
    ) -> None:
        self._own = pool is None
        self._pool = Pool() if pool is None else pool
        self.modules: Collection[str] = frozenset(modules)
        self.tasks: list[Task] = []
        self.running: Task | None = None
        self.changes: list[tuple[int, tuple[int, ...]]] = []
        """Within the last segment: the other tasks that could run, each time with the step."""
        self.taken = 0
        """Number of steps of the last segment."""
        self.look: Callable[[Task], None] | None = None
        """Called again and again while a task keeps the baton. It may raise, for a task that waits
        where this cannot see it; then the scheduler is of no more use, and must not be closed."""
        self._budget = 0
        self._tracers: dict[CodeType, Trace] = {}
        self._steps_left = steps_max
        self._steps_max = steps_max
        self._baton = allocate_lock()
        self._baton.acquire()

    # --- for the controller --------------------------------------------------------------

    def spawn(self, name: str, body: Callable[[], object]) -> Task:
        """A new task, which takes no step before it is run."""
        task = Task(len(self.tasks), name, body)
        self.tasks.append(task)
        return task

    def run(self, task: Task, steps: int | None = None) -> Standing:
        """Let a task take that many steps, or as many as it can; return its position then.

        It stops early when it has to wait for a lock or is over. Raises ``SchedulingMisuse``
        for a task that is over, for less than one step, or when all tasks together have taken
        too many.
        """
        self.advance(task, steps)
        return self.standing(task)

    def advance(self, task: Task, steps: int | None = None) -> None:
        """The same, for a caller that does not ask for the position: to look it up takes longer
        than most steps."""
        if self.running is not None:
            raise SchedulingMisuse("a task cannot run another; give the baton back first")
        if task.done:
            raise SchedulingMisuse(f"{task.name} is over; run another task")
        if steps is not None and steps < 1:
            raise SchedulingMisuse(f"{steps} steps; a task takes one or more")
        self._budget = self._steps_left if steps is None else min(steps, self._steps_left)
        self.taken = 0
        self.changes = [(0, self._others(task))]
        self._hand_to(task)
        self._steps_left -= self.taken
        if self._steps_left <= 0:
            standing = self.standing(task)
            if not standing.done and not standing.waits_for:
                raise SchedulingMisuse(
                    f"{self._steps_max} steps were not enough: {standing.words()}. "
                    "Look for a loop that waits for another task, or raise steps_max.")

    def runnable(self) -> list[Task]:
        """The tasks that are not over and need not wait, in the order of their numbers."""
        return [task for task in self.tasks if not task.done and not task.blocked()]

    def settle(self) -> None:
        """Run all tasks, the first one that can first, until each is over or waits forever."""
        while can := self.runnable():
            self.advance(can[0])

    def forget(self, task: Task) -> None:
        """A task that is over is no longer among ``tasks``, and another one may have its thread."""
        if not task.done:
            raise SchedulingMisuse(f"{task.name} is not over; it cannot be forgotten")
        self.tasks.remove(task)
        if task.thread is not None:
            self._pool.give(task.thread)

    def deadlock(self) -> tuple[Standing, ...]:
        """The positions of the tasks that wait forever; empty while any task can run."""
        left = [task for task in self.tasks if not task.done]
        return tuple(map(self.standing, left)) if all(each.blocked() for each in left) else ()

    def standing(self, task: Task) -> Standing:
        """The position of a task now."""
        lock, frame = task.waits_for, task.frame
        if task.done or frame is None:
            at = text = ""
        else:
            file, line = frame.f_code.co_filename, frame.f_lineno or 0
            at = f"{file.replace(os.sep, '/').rpartition('/')[2]}:{line}"
            text = linecache.getline(file, line, frame.f_globals).strip()
        return Standing(
            task.name, at, text, "" if lock is None else lock.name,
            () if lock is None else lock.holders(), task.done)

    def close(self) -> None:
        """End every task that is not over. Calling it again does nothing."""
        for task in self.tasks:
            task.unwinding = True
            if task.thread is None:
                task.done = True
            elif not task.done:
                self._hand_to(task)
            if task.thread is not None:
                self._pool.give(task.thread)
        self.tasks = []
        if self._own:
            self._pool.__exit__()

    def __enter__(self) -> Scheduler:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- locks ---------------------------------------------------------------------------

    def lock(self, name: str = "") -> Lock:
        """A reentrant lock. Without a name it is called after the class that makes it."""
        return Lock(self, name or _maker(sys._getframe(1)))

    def shared_lock(self, name: str = "") -> SharedLock:
        """A lock with a side for readers and one for writers. The name is as for ``lock``."""
        return SharedLock(self, name or _maker(sys._getframe(1)))

    def lock_changed(self) -> None:
        """Note that a lock was taken or given back: other tasks may be able to run now."""
        if self.running is not None and any(task.waits_for for task in self.tasks):
            self.changes.append((self.taken, self._others(self.running)))

    def wait_for(self, lock: Waitable, task: Task | None) -> None:
        """Give the baton back until the lock is free. Called by the task itself."""
        if task is None:
            raise SchedulingMisuse(
                f"{lock.name} is held by {' and '.join(lock.holders())}, and no task asks for it; "
                "settle first")
        task.waits_for = lock
        # The line that asks: the first frame that is under test.
        frame = _under_test(sys._getframe(1), self.modules)
        while not lock.free_for(task):
            self._pause(task, frame)
        task.waits_for = None

    # --- the baton -----------------------------------------------------------------------

    def _others(self, running: Task) -> tuple[int, ...]:
        return tuple(
            task.number for task in self.tasks
            if task is not running and not task.done and not task.blocked())

    def _hand_to(self, task: Task) -> None:
        self.running = task
        if task.thread is None:
            task.thread = self._pool.take()
            task.thread.task = partial(self._main, task)
        task.thread.baton.release()
        while not self._baton.acquire(timeout=-1 if self.look is None else _LOOK_SECONDS):
            assert self.look is not None
            self.look(task)
        self.running = None

    def _pause(self, task: Task, frame: FrameType | None) -> None:
        """Give the baton back; on return it is here again."""
        if task.unwinding:
            raise Unwound
        task.frame = frame
        assert task.thread is not None
        self._baton.release()
        task.thread.baton.acquire()
        if task.unwinding:
            raise Unwound

    def _main(self, task: Task) -> None:
        """The thread of a task."""
        sys.settrace(self._on_call)
        try:
            task.body()
        except Unwound:
            pass
        except BaseException as error:      # noqa: BLE001  it is for the controller to judge
            task.error = error
        finally:
            sys.settrace(None)
            task.done = True
            task.frame = None
            task.waits_for = None
            self._baton.release()

    def _on_call(self, frame: FrameType, event: str, _: object) -> Trace | None:
        if frame.f_globals.get("__name__") not in self.modules:
            return None
        code = frame.f_code
        return self._tracers.get(code) or self._tracers.setdefault(code, self._tracer(code))

    def _tracer(self, code: CodeType) -> Trace:
        """Return what follows the lines of a function: made once for it, and not at each line."""
        lines = shared_lines(code)

        def on_line(frame: FrameType, event: str, _: object) -> Trace:
            if event == "line" and frame.f_lineno in lines:
                assert self.running is not None
                if self._budget == 0:
                    self._pause(self.running, frame)
                self._budget -= 1
                self.taken += 1
                self.running.steps += 1
            return on_line

        return on_line


def _maker(frame: FrameType) -> str:
    """``the lock of a Queue`` for one that is made in ``Queue.__init__``."""
    name = frame.f_code.co_qualname.removesuffix(".__init__").rpartition(".")[2]
    return f"the lock of a {name}"


def _under_test(frame: FrameType | None, modules: Collection[str]) -> FrameType | None:
    """The innermost frame of the modules, or the first one."""
    outer = frame
    while frame is not None:
        if frame.f_globals.get("__name__") in modules:
            return frame
        frame = frame.f_back
    return outer


# --- locks ---------------------------------------------------------------------------------------

class Waitable:
    """Something that a task can wait for: a lock, or a side of one."""

    def __init__(self, scheduler: Scheduler, name: str) -> None:
        self._scheduler = scheduler
        self.name = name

    def free_for(self, task: Task | None) -> bool:
        """True if the task could have it now."""
        raise NotImplementedError

    def holders(self) -> tuple[str, ...]:
        """The tasks that hold what others wait for."""
        raise NotImplementedError

    def _take(self, task: Task | None) -> None:
        raise NotImplementedError

    def _give(self, task: Task | None) -> None:
        raise NotImplementedError

    def acquire(self, blocking: bool = True) -> bool:
        """Take it, after a wait if need be; or, if not ``blocking``, return False if it is not
        free.
        """
        task = self._scheduler.running
        if not self.free_for(task):
            if not blocking:
                return False
            self._scheduler.wait_for(self, task)
        self._take(task)
        self._scheduler.lock_changed()
        return True

    def release(self) -> None:
        """Give it back. Raises ``SchedulingMisuse`` if it was not taken by the caller."""
        task = self._scheduler.running
        self._give(task)
        self._scheduler.lock_changed()

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.release()

    def _not_held(self) -> SchedulingMisuse:
        return SchedulingMisuse(f"{self.name} is given back by a task that has not taken it")


def _name_of(task: Task | None) -> str:
    return "the controller" if task is None else task.name


class Lock(Waitable):
    """A reentrant lock, with the methods of ``threading.RLock``."""

    def __init__(self, scheduler: Scheduler, name: str) -> None:
        super().__init__(scheduler, name)
        self._owner: Task | None = None
        self._depth = 0

    def free_for(self, task: Task | None) -> bool:
        """True if the task could have it now."""
        return self._depth == 0 or self._owner is task

    def holders(self) -> tuple[str, ...]:
        """The tasks that hold what others wait for."""
        return (_name_of(self._owner),) if self._depth else ()

    def _take(self, task: Task | None) -> None:
        self._owner = task
        self._depth += 1

    def _give(self, task: Task | None) -> None:
        if not self._depth or self._owner is not task:
            raise self._not_held()
        self._depth -= 1

    def take_to_unwind(self, task: Task | None) -> None:
        """Give the lock to a task that ends, which gives it back while it is unwound."""
        self._owner, self._depth = task, self._depth + 1


class SharedLock:
    """A lock under which many may read, or one may write; both sides are reentrant.

    A reader waits also behind a waiting writer, or writers would starve; not if it reads already.
    """

    def __init__(self, scheduler: Scheduler, name: str) -> None:
        self.reads: dict[Task | None, int] = {}
        self.writer: Task | None = None
        self.writes = 0
        self.read = _Reading(scheduler, name, self)
        self.write = _Writing(scheduler, name, self)
        self._scheduler = scheduler

    def holders(self) -> tuple[str, ...]:
        """The tasks that write or read."""
        return tuple(_name_of(each) for each in ([self.writer] if self.writes else self.reads))

    def writers_wait(self) -> bool:
        """True if any task waits to write."""
        return any(task.waits_for is self.write for task in self._scheduler.tasks)


class _Reading(Waitable):
    """The side of a reader, which waits while a writer is inside."""

    def __init__(self, scheduler: Scheduler, name: str, whole: SharedLock) -> None:
        super().__init__(scheduler, f"{name} (to read)")
        self._whole = whole

    def free_for(self, task: Task | None) -> bool:
        """True if the task could have it now."""
        whole = self._whole
        if whole.writes:
            return whole.writer is task
        return task in whole.reads or not whole.writers_wait()

    def holders(self) -> tuple[str, ...]:
        """The tasks that hold what others wait for."""
        return self._whole.holders()

    def _take(self, task: Task | None) -> None:
        self._whole.reads[task] = self._whole.reads.get(task, 0) + 1

    def _give(self, task: Task | None) -> None:
        reads = self._whole.reads
        if task not in reads:
            raise self._not_held()
        reads[task] -= 1
        if not reads[task]:
            del reads[task]


class _Writing(Waitable):
    """The side of a writer, which waits while any task is inside."""

    def __init__(self, scheduler: Scheduler, name: str, whole: SharedLock) -> None:
        super().__init__(scheduler, f"{name} (to write)")
        self._whole = whole

    def free_for(self, task: Task | None) -> bool:
        """True if no other task is inside; a reader that wants to write waits for itself, as in
        Java.
        """
        whole = self._whole
        if whole.writes:
            return whole.writer is task
        return not whole.reads

    def holders(self) -> tuple[str, ...]:
        """The tasks that hold what others wait for."""
        return self._whole.holders()

    def _take(self, task: Task | None) -> None:
        self._whole.writer = task
        self._whole.writes += 1

    def _give(self, task: Task | None) -> None:
        if not self._whole.writes or self._whole.writer is not task:
            raise self._not_held()
        self._whole.writes -= 1
