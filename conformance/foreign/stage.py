"""The stage: threads that call a foreign class, one at a time, and stopped between its lines.

Theory of operation
-------------------
A class for threads waits in the objects that it gets from ``threading``. ``install`` puts locks of
the controlled scheduler (``reference/drivers/schedules/scheduling``) in their places, before the
class is imported; conditions, semaphores, events and barriers are written in Python on top of
locks, and come along by themselves. So the stage knows, without waiting a while, that a call waits;
and, as a line of the class is a step, a call can be stopped anywhere in it while others continue.

Locks that are made outside of the class's own code (while neither it nor its module's import runs)
are made by the real ``threading``, for the harness needs that. A wait with a time limit ends when
nothing else can run any more: once in each ``settle``, the limit that comes first, first. Threads
that the class starts are tasks as the calls are (``threads``); one that it starts in another way
than by ``threading.Thread`` is refused, as is a wait in C, where it cannot be seen.
"""

from __future__ import annotations

import threading
import time
from _thread import RLock, allocate_lock
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from itertools import count
from types import SimpleNamespace
from typing import Any, Final

from ...reference.drivers.schedules.scheduling import Lock, Pool, Scheduler, Task, Waitable
from ...spec.notation.errors import TargetError
from .clock import put_clocks
from .threads import replace_starts

__all__ = ["STAGE", "Stage", "StagedLock", "StagedRLock", "install"]

STEPS_MAX: Final = 5_000_000
"""Limit of the lines that the threads of one session run."""

_FOREVER: Final = -1

_READS_MAX: Final = 1000
_READING: Final = 1e-6
"""Seconds that each further reading of the clock takes, by a thread that has read it so often and
not waited: it polls until a time is over, or until a clock moves at all."""


class Stage:
    """The scheduler of the session, and the clock by which time limits pass."""

    def __init__(self) -> None:
        self.scheduler: Scheduler | None = None
        self._pool = Pool()
        """The threads of all sessions, one after the other: to start one takes longer than most
        calls."""
        self.opening = False
        """True while the module under test is being imported."""
        self.now = 0.0
        self.reads = 0
        """How often the clock was read since a thread was last given its turn."""
        self.limits: dict[Task, float] = {}
        """The ends of the waits that have a limit."""
        self.expired: set[Task] = set()

    @property
    def plays(self) -> bool:
        """True if code under test runs, which has to get the stage's locks."""
        return self.opening or (self.scheduler is not None and self.scheduler.running is not None)

    def read(self) -> float:
        """The time, for code under test. It moves on for a thread that does nothing but ask, and is
        back for the next one."""
        self.reads += 1
        return self.now + max(0, self.reads - _READS_MAX) * _READING

    @property
    def task(self) -> Task | None:
        """The task that runs."""
        return None if self.scheduler is None else self.scheduler.running

    def begin(self, modules: Collection[str]) -> Scheduler:
        """A new scheduler, for which the lines of these modules are steps."""
        self.end()
        self.scheduler = Scheduler(modules, steps_max=STEPS_MAX, pool=self._pool)
        self.limits.clear()
        self.expired.clear()
        return self.scheduler

    def end(self) -> None:
        """End the threads of the session before."""
        if self.scheduler is not None:
            self.scheduler.close()
            self.scheduler = None

    def leave(self) -> None:
        """Leave the session to itself: one of its threads waits where nothing can end it."""
        self.scheduler = None

    def expire(self, task: Task) -> None:
        """Let the time limit of a wait pass."""
        self.now = max(self.now, self.limits.pop(task))
        self.expired.add(task)

    @contextmanager
    def importing(self) -> Iterator[None]:
        """Within it, locks that a module makes as it is imported are the stage's."""
        self.opening = True
        try:
            yield
        finally:
            self.opening = False

    def wait(self, lock: Waitable, limit: float) -> bool:
        """Wait for a lock, at most so long; True if it is free."""
        task, scheduler = self.task, self.scheduler
        if task is None or scheduler is None:
            raise TargetError("its module waits while it is imported",
                              next_step="Let it make its locks where its objects are made.")
        if limit != _FOREVER:
            self.limits[task] = self.now + max(0.0, limit)
        try:
            scheduler.wait_for(lock, task)
        finally:
            self.limits.pop(task, None)
            late = task in self.expired
            self.expired.discard(task)
        return not late


STAGE: Final = Stage()
"""The stage of this process: ``threading`` is one for all of it."""


class _Staged(Waitable):
    """A lock of the scheduler that is current when it is used."""

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def _scheduler(self) -> Any:    # type: ignore[override]
        return STAGE.scheduler

    def acquire(self, blocking: bool = True, timeout: float = _FOREVER) -> bool:
        """Take the lock, as ``threading.Lock.acquire`` does."""
        if not self.free_for(STAGE.task):
            if not blocking or timeout == 0:
                return False
            if not STAGE.wait(self, timeout):
                return False
        self._take(STAGE.task)
        self._news()
        return True

    def release(self) -> None:
        """Give the lock back, as ``threading.Lock.release`` does."""
        self._give(STAGE.task)
        self._news()

    def _news(self) -> None:
        if STAGE.scheduler is not None:
            STAGE.scheduler.lock_changed()


class StagedLock(_Staged):
    """The lock that ``threading.Lock`` makes: any task may give it back."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._held = False
        self._by: Task | None = None

    def locked(self) -> bool:
        """True while the lock is held."""
        return self._held

    def _at_fork_reinit(self) -> None:
        """Nobody holds it in a new process; modules hand this on as they are imported."""
        self._held, self._by = False, None

    def free_for(self, task: Task | None) -> bool:
        """True if the task could have it now, or its time limit has passed."""
        return not self._held or task in STAGE.expired

    def holders(self) -> tuple[str, ...]:
        """The task that holds the lock, if a task does."""
        return (self._by.name,) if self._held and self._by is not None else ()

    def held_by(self) -> Task | None:
        """The task that took it last, while it is not given back."""
        return self._by if self._held else None

    def _take(self, task: Task | None) -> None:
        self._held, self._by = True, task

    def _give(self, task: Task | None) -> None:
        if not self._held and not (task is not None and task.unwinding):
            raise RuntimeError("release unlocked lock")
        self._held = False


class StagedRLock(_Staged, Lock):
    """The lock that ``threading.RLock`` makes: its holder may take it again."""

    def __init__(self, name: str) -> None:
        _Staged.__init__(self, name)
        self._owner: Task | None = None
        self._depth = 0

    def free_for(self, task: Task | None) -> bool:
        """True if the task could have it now, or its time limit has passed."""
        return Lock.free_for(self, task) or task in STAGE.expired

    def held_by(self) -> Task | None:
        """The task that took it last, while it is not given back."""
        return self._owner if self._depth else None

    def _give(self, task: Task | None) -> None:
        if task is not None and task.unwinding and not self._depth:
            return
        if not self._depth or self._owner is not task:
            raise RuntimeError("cannot release un-acquired lock")
        self._depth -= 1

    # The methods that ``threading.Condition`` needs of a lock that can be taken twice.

    def _is_owned(self) -> bool:
        return self._depth > 0 and self._owner is STAGE.task

    def _release_save(self) -> int:
        depth, self._depth = self._depth, 0
        self._news()
        return depth

    def _acquire_restore(self, depth: int) -> None:
        self.acquire()
        self._depth = depth


class _Never(_Staged):
    """A lock that is never free: to wait for it is to let time pass."""

    def free_for(self, task: Task | None) -> bool:
        """True if the time limit of the task has passed."""
        return task in STAGE.expired

    def holders(self) -> tuple[str, ...]:
        """No task holds it."""
        return ()


# ---- in the places of threading's and time's own -------------------------------------------------


def install() -> None:
    """Put the stage's locks and clock in their places, in this process, for good."""
    names = count(1)
    never = _Never("the time")

    def lock() -> Any:
        return StagedLock(f"lock {next(names)}") if STAGE.plays else allocate_lock()

    def rlock() -> Any:
        return StagedRLock(f"lock {next(names)}") if STAGE.plays else RLock()

    def sleep(seconds: float) -> None:
        if STAGE.plays:
            STAGE.wait(never, seconds)
        else:
            real_sleep(seconds)

    real_sleep = time.sleep
    vars(threading).update(Lock=lock, RLock=rlock, _allocate_lock=lock, _CRLock=rlock)
    replace_starts(STAGE, lambda task: task in STAGE.expired)
    for name in _STARTS:
        if hasattr(threading, name):
            setattr(threading, name, _starting(getattr(threading, name)))
    _stage_executors()
    vars(time).update(sleep=sleep)
    put_clocks(lambda: STAGE.read() if STAGE.plays else None)


def _stage_executors() -> None:
    """Let a ``ThreadPoolExecutor`` wait where it is seen: its queue is written in C by default."""
    import queue
    from concurrent.futures import thread

    def simple_queue() -> Any:
        return vars(queue)["_PySimpleQueue"]() if STAGE.plays else queue.SimpleQueue()

    vars(thread)["_global_shutdown_lock"] = StagedLock("the lock of all executors")
    vars(thread)["queue"] = SimpleNamespace(SimpleQueue=simple_queue, Empty=queue.Empty)


_STARTS: Final = ("_start_new_thread", "_start_joinable_thread")
"""The functions that ``threading.Thread.start`` calls, up to Python 3.12 and from 3.13 on."""


def _starting(real: Callable[..., Any]) -> Callable[..., Any]:
    def start(*arguments: Any, **more: Any) -> Any:
        if STAGE.plays:
            raise TargetError(
                "it starts a thread of its own below threading.Thread, and only threads of "
                "threading can be run one at a time",
                next_step="Write an adapter for it: docs/settling.md.")
        return real(*arguments, **more)
    return start
