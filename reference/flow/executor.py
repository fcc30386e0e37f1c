"""Workers before a bounded queue of tasks: an executor, as its clients know thread pools.

A task that is submitted starts if a worker is idle; else it waits. If all places are taken as well,
the ``Rejection`` decides: the task is refused, its caller is to run it, it is dropped, or the
oldest that waits is dropped for it. Every task that was accepted ends with one event: it returned,
it raised, or it was dropped; a task that was cancelled never starts.

This is the decision alone. Its driver runs the tasks that an event says start, and reports when a
run has ended; a worker that died with its task is replaced by the driver, and counts as
idle from then on. So there is no clock, thread or event loop in here, and every method returns the
events that follow from it, in their order. A call that raises has changed nothing.
"""

from __future__ import annotations

import enum
from collections import deque
from collections.abc import Hashable
from typing import Any, NamedTuple

__all__ = ["Does", "Event", "Executor", "ExecutorMisuse", "Outcome", "Rejection", "Task"]


class ExecutorMisuse(ValueError):
    """The caller broke a rule of the executor, which is as it was before the call.

    Usual causes: fewer than one worker or place, a task that was submitted before, or the end of a
    run that was never started.
    """


class Rejection(enum.Enum):
    """The treatment of a task for which there is neither an idle worker nor a place."""

    REFUSE = "refuse"
    CALLER_RUNS = "caller-runs"
    DROP_NEWEST = "drop-newest"
    DROP_OLDEST = "drop-oldest"
    UNBOUNDED = "unbounded"


class Task(NamedTuple):
    """A task: ``number`` is its client's name for it, ``item`` what it is given to run with."""

    number: Hashable
    item: Any


class Outcome(enum.Enum):
    """The end of a run."""

    RETURNED = "returned"
    RAISED = "raised"
    DIED = "its worker died"


class Does(enum.Enum):
    """A kind of event: a start, the end of a future, the end of it all."""

    STARTS = "a worker starts to run it"
    CALLER = "its caller starts to run it"
    REFUSED = "it is refused"
    DROPPED = "it was dropped"
    RETURNED = "its future ends with its result"
    RAISED = "its future ends with an exception"
    TERMINATED = "the executor has terminated"


class Event(NamedTuple):
    """Something that the executor does, and to which task; ``value`` is a result or exception."""

    what: Does
    task: Task | None = None
    value: Any = None


class Executor:
    """``workers`` and ``places`` (1 or more each); a call that raises has changed nothing."""

    def __init__(self, workers: int, places: int, rejection: Rejection) -> None:
        if workers < 1 or places < 1:
            raise ExecutorMisuse(f"{workers} workers and {places} places: there must be one each")
        self.workers, self.places, self.rejection = workers, places, rejection
        self._waiting: deque[Task] = deque()
        self._running: dict[Hashable, Task] = {}
        self._at_callers: dict[Hashable, Task] = {}
        self._is_shut = self._is_stopped = self._has_terminated = False

    def __len__(self) -> int:
        return len(self._waiting)

    # -- what its clients ask for -----------------------------------------------------------

    def submit(self, task: Task) -> list[Event]:
        """A task is submitted; return what becomes of it, or of an older one in its stead.

        Raises ``ExecutorMisuse`` while another task of that number waits or runs.
        """
        if task.number in self._running or task.number in self._at_callers or any(
                task.number == other.number for other in self._waiting):
            raise ExecutorMisuse(f"task {task.number!r} is here already")
        if self._is_shut:
            return [Event(Does.REFUSED, task)]
        self._waiting.append(task)
        events = self._start()
        return events + self._reject() if self._has_too_many() else events

    def cancel(self, number: Hashable) -> bool:
        """Cancel a task; True if it waited, and so never starts. Nothing else follows from that: a
        task waits only while all workers are busy."""
        task = next((task for task in self._waiting if task.number == number), None)
        if task is None:
            return False
        self._waiting.remove(task)
        return True

    def shutdown(self) -> list[Event]:
        """Accept no more; what waits still runs."""
        self._is_shut = True
        return self._terminate()

    def stop(self) -> list[Event]:
        """Accept no more, and start nothing: what waits is dropped."""
        self._is_shut = self._is_stopped = True
        dropped = [Event(Does.DROPPED, task) for task in self._waiting]
        self._waiting.clear()
        return dropped + self._terminate()

    # -- what its driver reports ------------------------------------------------------------

    def ended(self, number: Hashable, outcome: Outcome, value: Any = None) -> list[Event]:
        """The run of a task ended; ``value`` is its result, or the exception.

        Raises ``ExecutorMisuse`` for a task that does not run.
        """
        task = self._running.pop(number, None) or self._at_callers.pop(number, None)
        if task is None:
            raise ExecutorMisuse(f"task {number!r} does not run")
        return [*self._settle(task, outcome, value), *self._start(), *self._terminate()]

    # -- the decisions ------------------------------------------------------------------------

    def _settle(self, task: Task, outcome: Outcome, value: Any) -> list[Event]:
        """The future of a task ends as its run did."""
        returned = outcome is Outcome.RETURNED
        return [Event(Does.RETURNED if returned else Does.RAISED, task, value)]

    def _start(self) -> list[Event]:
        """Idle workers take the tasks that have waited longest."""
        events = []
        while self._waiting and len(self._running) < self.workers and not self._is_stopped:
            task = self._next()
            self._running[task.number] = task
            events.append(Event(Does.STARTS, task))
        return events

    def _next(self) -> Task:
        return self._waiting.popleft()

    def _has_too_many(self) -> bool:
        return self.rejection is not Rejection.UNBOUNDED and len(self._waiting) > self.places

    def _reject(self) -> list[Event]:
        """More tasks wait than there are places; one leaves."""
        if self.rejection is Rejection.DROP_OLDEST:
            return [Event(Does.DROPPED, self._waiting.popleft())]
        task = self._waiting.pop()
        if self.rejection is Rejection.CALLER_RUNS:
            self._at_callers[task.number] = task
            return [Event(Does.CALLER, task)]
        return [Event(Does.REFUSED if self.rejection is Rejection.REFUSE else Does.DROPPED, task)]

    def _terminate(self) -> list[Event]:
        """It has terminated, once, when nothing is left to do; tasks at callers do not count."""
        if not self._is_shut or self._waiting or self._running or self._has_terminated:
            return []
        self._has_terminated = True
        return [Event(Does.TERMINATED)]
