"""Common parts of our timer adapters: the present time, and the list of runs.

An adapter is a class with ``begin``, ``schedule``, ``unschedule`` and ``move``; the timer under
test calls ``ran``. Its reports (``size``, ``entries``, ``queue``) are methods. ``FailingTasks`` is
for timers with callbacks that may raise as tasks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ...adapters.port_adapter import PortAdapter
from ...ports.base import Message, Port
from .port import PORT

__all__ = ["FailingTasks", "PlannedError", "TimerAdapter"]


class PlannedError(Exception):
    """The exception that a callback raises when the harness wants it to."""


class TimerAdapter(PortAdapter):
    """An adapter that gives a timer the time, and the harness the runs."""

    port: ClassVar[Port] = PORT
    now = 0

    # -- for subclasses -----------------------------------------------------------------------

    def begin(self, settings: Mapping[str, Any]) -> None:
        """Start a fresh timer at ``now``. Raises ``Declined`` for settings that do not fit."""
        raise NotImplementedError

    def schedule(self, task: int, delay: int) -> None:
        """Call ``ran`` once, ``delay`` ms after ``now``, and not for an earlier add."""
        raise NotImplementedError

    def unschedule(self, task: int) -> None:
        """Do not call ``ran`` for the task, whether it is pending or not."""
        raise NotImplementedError

    def move(self, until: int) -> None:
        """Let everything run that is due up to ``until``, each at its own instant."""
        raise NotImplementedError

    def ran(self, task: int, at: int) -> None:
        """Record that a task has run."""
        self._runs.append({"task": task, "at": at})

    # -- for the harness ----------------------------------------------------------------------

    def start(self, settings: Mapping[str, Any]) -> None:
        """Start a fresh timer without runs."""
        self._runs: list[Message] = []
        self.begin(settings)

    def request(self, message: Message) -> Message:
        """Set the time, then handle the request."""
        self.now = message["now"]
        return super().request(message)

    def add(self, task: int, delay: int) -> list[Message]:
        """Add a task, and return the runs that follow."""
        self.schedule(task, delay)
        return self.elapse()

    def cancel(self, task: int) -> list[Message]:
        """Cancel a task, and return the runs that follow."""
        self.unschedule(task)
        return self.elapse()

    def elapse(self) -> list[Message]:
        """Let time pass up to ``now``, and return the runs."""
        self.move(self.now)
        runs, self._runs = self._runs, []
        return runs


class FailingTasks(TimerAdapter):
    """A timer with tasks that may raise on request; ``move`` has to survive that."""

    def start(self, settings: Mapping[str, Any]) -> None:
        """Start a fresh timer without failing tasks."""
        self._faulty: set[int] = set()
        super().start(settings)

    def fail(self, task: int) -> bool:
        """The task will raise when it runs next."""
        self._faulty.add(task)
        return True

    def ran(self, task: int, at: int) -> None:
        """Record the run of a task, and raise if requested."""
        super().ran(task, at)
        if task in self._faulty:
            self._faulty.discard(task)
            raise PlannedError
