"""The reference executor behind its port."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, ClassVar

from ....reference.flow.executor import (
    Does, Event, Executor, ExecutorMisuse, Outcome, Rejection, Task,
)
from ...adapters.base import Declined
from ...adapters.port_adapter import PortAdapter
from ...ports.base import Message, Port
from .port import PORT

__all__ = ["CallerRuns", "DropNewest", "DropOldest", "ReferenceExecutor", "Unbounded"]

Events = list[list[Any]]

_WORDS = {
    Does.STARTS: "start", Does.CALLER: "caller", Does.REFUSED: "refuse", Does.DROPPED: "drop",
    Does.RETURNED: "return", Does.RAISED: "raise", Does.TERMINATED: "terminated",
}


class ReferenceExecutor(PortAdapter):
    """``core`` is what the twins replace."""

    port: ClassVar[Port] = PORT
    policy: ClassVar[str] = "refuse"
    name = "reference executor"
    core: type[Executor] = Executor

    def start(self, settings: Mapping[str, Any]) -> None:
        """Begin with a fresh instance."""
        self._executor = self.core(
            settings["workers"], settings["capacity"], Rejection(self.policy))
        self._items: dict[int, int | str] = {}      # of the tasks that run, by number

    def submit(self, task: int, item: int | str) -> Events:
        return self._does(self._executor.submit(Task(task, item)))

    def finish(self, task: int) -> Events:
        return self._ended(task, Outcome.RETURNED)

    def fail(self, task: int) -> Events:
        return self._ended(task, Outcome.RAISED)

    def die(self, task: int) -> Events:
        return self._ended(task, Outcome.DIED)

    def cancel(self, task: int) -> Message:
        return {"undone": self._executor.cancel(task), "does": []}

    def shutdown(self) -> Events:
        return self._does(self._executor.shutdown())

    def stop(self) -> Events:
        return self._does(self._executor.stop())

    def _ended(self, task: int, outcome: Outcome) -> Events:
        try:
            return self._does(self._executor.ended(task, outcome, self._items.get(task)))
        except ExecutorMisuse:
            raise Declined("does-not-run") from None

    def _does(self, events: list[Event]) -> Events:
        return [self._event(event) for event in events]

    def _event(self, event: Event) -> list[Any]:
        what, task, value = event
        if task is None:
            return [_WORDS[what]]
        assert isinstance(task.number, int)
        if what in (Does.STARTS, Does.CALLER):
            self._items[task.number] = task.item
            return [_WORDS[what], task.number, task.item]
        return [_WORDS[what], task.number, *([value] if what is Does.RETURNED else [])]


class CallerRuns(ReferenceExecutor):
    """A task without a place is run by its caller."""

    policy: ClassVar[str] = "caller-runs"
    name = "reference executor, caller runs"


class DropNewest(ReferenceExecutor):
    """A task without a place is dropped."""

    policy: ClassVar[str] = "drop-newest"
    name = "reference executor, drop newest"


class DropOldest(ReferenceExecutor):
    """For a task without a place, the one that has waited longest is dropped."""

    policy: ClassVar[str] = "drop-oldest"
    name = "reference executor, drop oldest"


class Unbounded(ReferenceExecutor):
    """The queue has no bound, and every task is accepted."""

    policy: ClassVar[str] = "unbounded"
    no_occasion: ClassVar[Collection[str]] = ("EXEC-4",)
    name = "reference executor, unbounded"
