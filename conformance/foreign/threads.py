"""Threads that a class under test starts: each is a task of the stage, as the calls are.

``threading.Thread`` stays the class that it is, for others derive from it. What it does to start a
thread, to wait for its end and to say whether it lives is replaced, for threads that are started
while code under test runs. They run when a call waits, when one is stopped, and at ``settle``. A
thread that raises ends the session with its error.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Protocol
from weakref import WeakKeyDictionary

from ...reference.drivers.schedules.scheduling import Scheduler, Task, Waitable

__all__ = ["replace_starts"]


class _Stage(Protocol):
    """The parts of a stage that its threads need."""

    scheduler: Scheduler | None

    @property
    def plays(self) -> bool:
        """True if code under test runs."""

    def wait(self, lock: Waitable, limit: float) -> bool:
        """Wait for a lock, at most so long; True if it is free."""


class _End(Waitable):
    """The end of a thread, which others wait for: free once its task is over."""

    def __init__(self, task: Task, is_late: Callable[[Task | None], bool]) -> None:
        self.name = f"the end of {task.name}"
        self.task = task
        self._is_late = is_late

    def free_for(self, task: Task | None) -> bool:
        """True if the thread has ended, or the time limit of the task has passed."""
        return self.task.done or self._is_late(task)

    def holders(self) -> tuple[str, ...]:
        """The thread that has not ended yet, if it has not."""
        return () if self.task.done else (self.task.name,)

    def held_by(self) -> Task | None:
        """The task of the thread, while it is not over."""
        return None if self.task.done else self.task


def replace_starts(stage: _Stage, is_late: Callable[[Task | None], bool]) -> None:
    """Let threads that are started while code under test runs be tasks of the stage, for good."""
    ends: WeakKeyDictionary[threading.Thread, _End] = WeakKeyDictionary()
    real: Any = threading.Thread
    real_start, real_join, real_is_alive = real.start, real.join, real.is_alive

    def start(thread: threading.Thread) -> None:
        if not stage.plays or stage.scheduler is None:
            real_start(thread)
            return
        if thread in ends:
            raise RuntimeError("threads can only be started once")
        ends[thread] = _End(stage.scheduler.spawn(thread.name, lambda: _body(thread)), is_late)

    def join(thread: threading.Thread, timeout: float | None = None) -> None:
        end = ends.get(thread)
        if end is None:
            real_join(thread, timeout)
        elif stage.plays and not end.free_for(None):
            stage.wait(end, -1 if timeout is None else timeout)

    def is_alive(thread: threading.Thread) -> bool:
        end = ends.get(thread)
        return real_is_alive(thread) if end is None else not end.task.done

    real.start, real.join, real.is_alive = start, join, is_alive


def _body(thread: Any) -> None:
    """Run a thread, as itself: ``current_thread`` has to find it."""
    number = threading.get_ident()
    active: dict[int, Any] = vars(threading)["_active"]
    before = active.get(number)
    thread._ident = number
    thread._started._flag = True
    active[number] = thread
    try:
        thread.run()
    except SystemExit:
        pass
    finally:
        active.pop(number, None)
        if before is not None:
            active[number] = before
