"""Queues for asyncio, callback by callback: the adapters of the suite ``queue``, driven otherwise.

A put or a take is a task. It takes one step when it is requested, and from then on only at ``run``
and ``settle``; a harness can offer, poll and interrupt between any two callbacks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, ClassVar

from ....reference.drivers.asyncio_queue import AsyncQueue
from ....reference.queue import BoundedQueue
from ...adapters.base import Declined
from ...ports.base import Message, Port
from ..queue.adapter import Waits
from ..queue.event_loop import (
    AnyioQueue, AsyncioQueue, Carried, JanusQueue, LoopQueue, ReferenceAsyncQueue,
)
from .port import PORT

__all__ = [
    "AnyioAwaits", "AnyioNativeAwaits", "AsyncioAwaits", "Awaits", "JanusAwaits", "ReferenceAwaits",
]


class Awaits(LoopQueue):
    """A queue on an asyncio loop, of which one callback runs at a time."""

    port: ClassVar[Port] = PORT

    def start(self, capacity: int) -> None:
        """Begin with a fresh, empty queue of ``capacity`` items."""
        self._interrupts: dict[str, list[str]] = {}
        self._broken: BaseException | None = None
        super().start(capacity)

    def request(self, message: Message) -> Message:
        """Answer one request. An error that a task raised on its way is raised here."""
        reply = super().request(message)
        if self._broken is not None:
            raise self._broken
        return reply

    def interrupt(self, ticket: str) -> Waits:
        wait = self._waits.get(ticket)
        if wait is None:
            raise Declined("unknown-ticket")
        own = self.new_ticket()
        self._interrupts.setdefault(ticket, []).append(own)
        with self._running():
            self.cancel_wait(wait)
        return Waits(own)

    def run(self, steps: int) -> bool:
        with self._running():
            for _ in range(steps):
                if not self._loop.step():
                    break
        return True

    # -- within -------------------------------------------------------------------------------

    def _first_steps(self, task: asyncio.Task[Any]) -> None:
        """One step is enough: a call that merely yields waits for ``run``."""

    async def _carry(self, wait: Carried, operation: Coroutine[Any, Any, object]) -> None:
        try:
            await super()._carry(wait, operation)
        except asyncio.CancelledError:
            self._ends(wait, undone=True)
            raise
        except Exception as error:      # noqa: BLE001  it was not closed, so any error is reported
            self._broken = error
        else:
            self._ends(wait, undone=False)

    def _ends(self, wait: Carried, undone: bool) -> None:
        self._waits.pop(wait.ticket or "", None)
        for own in self._interrupts.pop(wait.ticket or "", ()):
            self.completed(own, undone)


class ReferenceAwaits(Awaits, ReferenceAsyncQueue):
    """The reference queue through its asyncio driver."""

    core: ClassVar[type[BoundedQueue[Any]]] = BoundedQueue
    queue: ClassVar[type[Any] | None] = None
    """Another queue than the driver, with its methods."""

    def make(self, capacity: int) -> None:
        """Create the queue under test."""
        own = self.queue
        self.take_up(AsyncQueue(capacity, core=self.core) if own is None else own(capacity))


class AsyncioAwaits(Awaits, AsyncioQueue):
    """``asyncio.Queue``, or one that is derived from it."""

    queue: ClassVar[type[Any]] = asyncio.Queue

    def make(self, capacity: int) -> None:
        """Create the queue under test."""
        super().make(capacity)
        self._queue = self.queue(capacity)


class JanusAwaits(Awaits, JanusQueue):
    """The asynchronous side of ``janus.Queue``."""


# A task of anyio runs in a cancel scope of its own.

class AnyioAwaits(AnyioQueue, Awaits):
    """anyio's memory object stream, on asyncio; cancelled by its own cancel scopes."""


class AnyioNativeAwaits(AnyioAwaits):
    """The same, cancelled by ``task.cancel()``, as ``asyncio.timeout`` and ``TaskGroup`` do."""

    name: ClassVar[str] = "anyio memory object stream, cancelled by asyncio"

    def cancel_wait(self, wait: Carried) -> None:
        """Request the cancellation of the task of ``wait``."""
        LoopQueue.cancel_wait(self, wait)
