"""What our adapters of timers share: the time that is told, and the list of what ran.

An adapter is a class with ``begin``, ``schedule``, ``unschedule`` and ``move``; the timer under
test calls ``ran``. What it can say of itself (``size``, ``entries``, ``queue``) is a method.
``FailingTasks`` is for timers whose tasks are callbacks that may raise.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ...adapters.port_adapter import PortAdapter
from ...ports.base import Message, Port
from .port import PORT

__all__ = ["FailingTasks", "PlannedError", "TimerAdapter"]


class PlannedError(Exception):
    """What a callback raises because the harness wants it to."""


class TimerAdapter(PortAdapter):
    """Tells a timer what time it is, and the harness what ran."""

    port: ClassVar[Port] = PORT
    now = 0

    # -- for subclasses -----------------------------------------------------------------------

    def begin(self, settings: Mapping[str, Any]) -> None:
        """A fresh timer at ``now``. Raises ``Declined`` for settings that do not fit."""
        raise NotImplementedError

    def schedule(self, task: int, delay: int) -> None:
        """``ran`` is to be called once, ``delay`` ms after ``now``, and for no earlier add."""
        raise NotImplementedError

    def unschedule(self, task: int) -> None:
        """``ran`` is not to be called for it; it may be pending or not."""
        raise NotImplementedError

    def move(self, until: int) -> None:
        """Let everything run that is due up to ``until``, each at its own instant."""
        raise NotImplementedError

    def ran(self, task: int, at: int) -> None:
        """A task has run."""
        self._runs.append({"task": task, "at": at})

    # -- for the harness ----------------------------------------------------------------------

    def start(self, settings: Mapping[str, Any]) -> None:
        """See ``PortAdapter.start``."""
        self._runs: list[Message] = []
        self.begin(settings)

    def request(self, message: Message) -> Message:
        """See ``PortAdapter.request``."""
        self.now = message["now"]
        return super().request(message)

    def add(self, task: int, delay: int) -> list[Message]:
        """See the port."""
        self.schedule(task, delay)
        return self.elapse()

    def cancel(self, task: int) -> list[Message]:
        """See the port."""
        self.unschedule(task)
        return self.elapse()

    def elapse(self) -> list[Message]:
        """See the port."""
        self.move(self.now)
        runs, self._runs = self._runs, []
        return runs


class FailingTasks(TimerAdapter):
    """A task's callback raises if the harness has asked for that; ``move`` has to survive it."""

    def start(self, settings: Mapping[str, Any]) -> None:
        """See ``PortAdapter.start``."""
        self._faulty: set[int] = set()
        super().start(settings)

    def fail(self, task: int) -> bool:
        """See the port."""
        self._faulty.add(task)
        return True

    def ran(self, task: int, at: int) -> None:
        """A task has run, and may raise then."""
        super().ran(task, at)
        if task in self._faulty:
            self._faulty.discard(task)
            raise PlannedError
