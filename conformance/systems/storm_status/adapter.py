"""The reference of backpressure status behind the port ``storm.status``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeVar

from ....reference.storm.status import (
    RemoteFlags, Sent, Status, StatusMisuse, StatusTracker, Steps,
)
from ...adapters.base import Declined
from ...adapters.port_adapter import PortAdapter
from .port import PORT

__all__ = ["ReferenceStatus"]

A = TypeVar("A")

_WORKER, _SENDER = "w1", "u1"


class ReferenceStatus(PortAdapter):
    """Both sides and the connection between them; a twin replaces ``tracker`` or ``view``."""

    port: ClassVar = PORT
    policy: ClassVar[str] = "numbered"
    tracker: type[StatusTracker] = StatusTracker
    view: type[RemoteFlags] = RemoteFlags

    def start(self, settings: Mapping[str, Any]) -> None:
        self._settings = settings
        self._flags = self.view({_WORKER: range(settings["tasks"])})
        self._begin(incarnation=0)
        self._told(self._worker.connect(_SENDER))
        self._on_their_way.clear()

    def _begin(self, incarnation: int) -> None:
        self._worker = _or_declined(lambda: self.tracker(
            _WORKER, range(self._settings["tasks"]), reminder=self._settings["capacity"],
            repeat=self._settings["repeat"], incarnation=incarnation))
        self._overflow: Counter[int] = Counter()
        self._on_their_way: list[Status] = []
        self._thread: Steps = iter(())

    def spill(self, task: int, steps: int | None = None) -> list[int] | None:
        def put() -> None:
            self._overflow[task] += 1
        self._thread = _or_declined(lambda: self._worker.spill(task, self._overflow[task], put))
        return self._told(self._thread, steps)

    def finish(self) -> list[int] | None:
        return self._told(self._thread)

    def drain(self, task: int) -> bool:
        self._overflow[task] = 0
        return True

    def check(self) -> list[int] | None:
        return self._send(self._worker.check(self._overflow))

    def disconnect(self) -> bool:
        _or_declined(lambda: self._worker.disconnect(_SENDER))
        self._on_their_way.clear()
        self._flags.disconnected(_WORKER)
        return True

    def connect(self, steps: int | None = None) -> list[int] | None:
        self._thread = _or_declined(lambda: self._worker.connect(_SENDER))
        return self._told(self._thread, steps)

    def deliver(self, index: int) -> bool:
        return self._flags.hear(self._take(index))

    def lose(self, index: int) -> bool:
        self._take(index)
        return True

    def restart(self) -> bool:
        self._begin(self._worker.incarnation + 1)
        self._flags.disconnected(_WORKER)
        return True

    def flags(self) -> list[int]:
        return sorted(self._flags.blocked)

    def _told(self, thread: Steps, steps: int | None = None) -> list[int] | None:
        """Run a thread, and return the flags of the status that it sent, if it sent one."""
        told = None
        while steps is None or steps > 0:
            sent = next(thread, None)
            if sent is None:
                break
            told = self._send(sent) if sent else told
            steps = None if steps is None else steps - 1
        return told

    def _send(self, sent: tuple[Sent, ...]) -> list[int] | None:
        self._on_their_way += [status for _, status in sent]
        return sorted(sent[-1].status.blocked) if sent else None

    def _take(self, index: int) -> Status:
        if index >= len(self._on_their_way):
            raise Declined("nothing-on-its-way")
        return self._on_their_way.pop(index)


def _or_declined(call: Callable[[], A]) -> A:
    try:
        return call()
    except StatusMisuse as misuse:
        raise Declined(str(misuse)) from None
