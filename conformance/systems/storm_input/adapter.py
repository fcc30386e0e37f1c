"""The reference of a task's input behind the port ``storm.input``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeVar

from ....reference.storm.task_input import InputMisuse, Nothing, TaskInput
from ...adapters.base import Declined
from ...adapters.port_adapter import PortAdapter
from .port import PORT

__all__ = ["ReferenceInput"]

Item = str | int
A = TypeVar("A")


class ReferenceInput(PortAdapter):
    """The core; ``core`` is the class, which a twin replaces."""

    port: ClassVar = PORT
    policy: ClassVar[str] = "drop-at-limit"
    core: type[TaskInput[Any]] = TaskInput

    def start(self, settings: Mapping[str, Any]) -> None:
        self._input: TaskInput[Item] = _or_declined(lambda: self.core(
            settings["capacity"], overflow_limit=settings["overflow_limit"],
            batch=settings["batch"],
            remote=[f"r{number + 1}" for number in range(settings["remote"])],
            local=[f"l{number + 1}" for number in range(settings["local"])]))

    def arrive(self, sender: str, tuples: list[Item]) -> list[bool]:
        return list(_or_declined(lambda: self._input.transfer(sender, tuples)).kept)

    def publish(self, sender: str, tuple: Item) -> bool:
        return _or_declined(lambda: self._input.publish(sender, tuple))

    def consume(self, max: int) -> list[Item]:
        return self._input.consume(max)

    def step(self) -> list[Item]:
        processed = self._input.step()
        return [] if isinstance(processed, Nothing) else [processed]

    def flush(self) -> bool:
        self._input.flush()
        return True

    def sizes(self) -> dict[str, int]:
        now = self._input.statistics()
        return {"recvq": now.recvq, "overflowq": now.overflowq, "dropped": now.dropped}


def _or_declined(call: Callable[[], A]) -> A:
    try:
        return call()
    except InputMisuse as misuse:
        raise Declined(str(misuse)) from None
