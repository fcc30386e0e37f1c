"""The reference timers, and those of Python's standard library, behind the port."""

from __future__ import annotations

import asyncio
import platform
import sched
from asyncio.base_events import MAXIMUM_SELECT_TIMEOUT  # type: ignore[attr-defined]
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import Any, ClassVar

from ....reference.kafka.old_timer import OldTimer
from ....reference.kafka.timer import Timer, TimerMisuse, TimerTask
from ...adapters.base import Declined
from ...ports.base import Message
from .adapter import FailingTasks, PlannedError

__all__ = ["AsyncioTimer", "ReferenceOldTimer", "ReferenceTimer", "SchedTimer"]


class _Task(TimerTask):
    """A task that reports its run to its adapter."""

    __slots__ = ("number", "owner")

    def __init__(self, number: int, owner: _Reference) -> None:
        super().__init__(0)
        self.number = number
        self.owner = owner

    def run(self) -> None:
        self.owner.ran(self.number, self.owner.clock)


class _Reference(FailingTasks):
    """A driver that stops whenever a bucket or a task is due. Twins replace ``core``."""

    core: type[Any]

    def begin(self, settings: Mapping[str, Any]) -> None:
        """Create the core; declined for settings that do not fit."""
        try:
            self._timer = self.core(settings["capacity"], settings["wheel"], self.now)
        except TimerMisuse as misuse:
            raise Declined(str(misuse)) from None
        self._tasks: dict[int, _Task] = {}
        self.clock = self.now

    def schedule(self, task: int, delay: int) -> None:
        """Add the same task object each time: it is re-scheduled."""
        wanted = self._tasks.setdefault(task, _Task(task, self))
        wanted.delay = delay
        with suppress(PlannedError):
            self._timer.add(wanted, self.now)

    def unschedule(self, task: int) -> None:
        """Cancel the task if it is known."""
        if task in self._tasks:
            self._tasks[task].cancel()

    def move(self, until: int) -> None:
        """Drive the timer at each instant at which it is due, up to ``until``."""
        due = self._timer.next_expiration()
        while due is not None and due <= until:
            self.clock = max(self.clock, due)
            self._advance()
            due = self._timer.next_expiration()
        self.clock = until

    def _advance(self) -> bool:
        """Drive the timer once. A task that raises has run, so something was due."""
        try:
            return bool(self._timer.advance(self.clock))
        except* PlannedError:
            pass
        return True

    def drive(self) -> Message:
        """Drive the timer once, at ``now``; return its answer and the runs."""
        self.clock = self.now
        due = self._advance()
        runs, self._runs = self._runs, []
        return {"due": due, "runs": runs}


class ReferenceTimer(_Reference):
    """Kafka's hierarchical timing wheels."""

    name = "reference timer"
    policy: ClassVar[str] = "tick"
    core = Timer

    def size(self) -> int:
        """The number of pending tasks."""
        size: int = self._timer.size
        return size

    def queue(self) -> Message:
        """The number of queued buckets, and of wheels."""
        return {"buckets": self._timer.queued, "wheels": self._timer.levels}


class ReferenceOldTimer(_Reference):
    """One queue of all tasks, with lazy deletion."""

    name = "reference old timer"
    policy: ClassVar[str] = "deadline"
    core = OldTimer

    def entries(self) -> int:
        """The number of tasks in the queue, cancelled ones included."""
        entries: int = self._timer.size
        return entries


class SchedTimer(FailingTasks):
    """``sched.scheduler`` with a time function of ours; it never waits.

    An exception of an action leaves ``run``, which the driver then calls again.
    """

    name = "sched.scheduler"
    policy: ClassVar[str] = "in-order"
    version: ClassVar[str] = platform.python_version()

    def begin(self, settings: Mapping[str, Any]) -> None:
        """Create a scheduler with a virtual clock."""
        self._clock = self.now
        self._scheduler = sched.scheduler(lambda: self._clock, lambda duration: None)
        self._events: dict[int, sched.Event] = {}

    def schedule(self, task: int, delay: int) -> None:
        """Enter an event for the task, instead of an older one."""
        self.unschedule(task)
        self._events[task] = self._scheduler.enterabs(self.now + delay, 0, self._run, (task,))

    def _run(self, task: int) -> None:
        del self._events[task]
        self.ran(task, self._clock)

    def unschedule(self, task: int) -> None:
        """Cancel the task's event, if it has one."""
        if task in self._events:
            self._scheduler.cancel(self._events.pop(task))

    def move(self, until: int) -> None:
        """Run all events up to ``until``, each at its own instant."""
        wait = self._run_all()
        while wait is not None and self._clock + wait <= until:
            self._clock += int(wait)
            wait = self._run_all()
        self._clock = until

    def _run_all(self) -> float | None:
        while True:
            with suppress(PlannedError):
                return self._scheduler.run(blocking=False)

    def size(self) -> int:
        """The number of pending tasks."""
        return len(self._scheduler.queue)


class _Selector:
    """A replacement for a selector: no file is ever ready, and a wait lets time pass."""

    def __init__(self, loop: _VirtualLoop) -> None:
        self._loop = loop

    def select(self, timeout: float | None) -> list[Any]:
        """Advance the clock by ``timeout``, up to the instant at which the loop is to stop."""
        loop = self._loop
        if timeout == MAXIMUM_SELECT_TIMEOUT:
            timeout = loop.until_next       # asyncio would read the clock once a day
        loop.clock = loop.until if timeout is None else min(loop.clock + timeout, loop.until)
        if loop.clock == loop.until:
            loop.stop()
        return []


class _VirtualLoop(asyncio.base_events.BaseEventLoop):
    """asyncio's own loop, timers and all, with a clock that advances when the loop would sleep.

    Its unit is a millisecond. It opens no file descriptor.
    """

    def __init__(self, now: int) -> None:
        super().__init__()
        self.clock: float = now
        # A nanosecond is too small to be added to a number as large as 2^31.
        self._clock_resolution = 0.5
        self.until = now
        self._selector = _Selector(self)

    @property
    def until_next(self) -> float:
        """The time until the next timer is due."""
        when: float = self._scheduled[0].when()  # type: ignore[attr-defined]
        return when - self.clock

    def time(self) -> float:
        """The virtual time of the loop."""
        return self.clock

    def _process_events(self, event_list: list[Any]) -> None:
        """There are no files or sockets."""

    def _write_to_self(self) -> None:
        """There is only one thread."""


def _ignore_the_planned(
    loop: asyncio.AbstractEventLoop, context: dict[str, Any],
) -> None:
    """Ignore a planned exception of a callback; handle others as usual."""
    if not isinstance(context.get("exception"), PlannedError):
        loop.default_exception_handler(context)


class AsyncioTimer(FailingTasks):
    """``loop.call_at`` and ``TimerHandle.cancel`` of asyncio."""

    name = "asyncio call_at"
    policy: ClassVar[str] = "deadline"
    version: ClassVar[str] = platform.python_version()

    def begin(self, settings: Mapping[str, Any]) -> None:
        """Create a loop with a virtual clock."""
        self.close()
        self._loop = _VirtualLoop(self.now)
        self._loop.set_exception_handler(_ignore_the_planned)
        self._handles: dict[int, asyncio.TimerHandle] = {}

    def schedule(self, task: int, delay: int) -> None:
        """Call the loop's call_at for the task, instead of an older call."""
        self.unschedule(task)
        self._handles[task] = self._loop.call_at(self.now + delay, partial(self._run, task))

    def _run(self, task: int) -> None:
        self.ran(task, int(self._loop.clock))

    def unschedule(self, task: int) -> None:
        """Cancel the task's handle, if it has one."""
        if task in self._handles:
            self._handles.pop(task).cancel()

    def move(self, until: int) -> None:
        """Run the loop up to ``until``."""
        self._loop.until = until
        self._loop.run_forever()

    def close(self) -> None:
        """Close the loop, if there is one."""
        if hasattr(self, "_loop"):
            self._loop.close()
