"""The reference executor for coroutines, on an event loop in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

from ....reference.drivers.asyncio_executor import AsyncExecutor, Refused, WorkerDied
from ....reference.drivers.schedules.virtual_loop import VirtualLoop
from ....reference.flow.executor import Rejection
from ...adapters.base import Declined
from ...adapters.port_adapter import PortAdapter
from ...ports.base import Message, Port
from .port import PORT

__all__ = ["ReferenceAsyncExecutor"]

Events = list[list[Any]]


class ReferenceAsyncExecutor(PortAdapter):
    """Each client is a task of the loop, and each run waits for its gate."""

    port: ClassVar[Port] = PORT
    policy: ClassVar[str] = "caller-runs"
    name = "reference executor, asyncio"

    def start(self, settings: Mapping[str, Any]) -> None:
        """Begin with a fresh instance."""
        self._loop = VirtualLoop()
        self._events: Events = []
        self._gates: dict[int, asyncio.Future[None]] = {}
        self._futures: dict[int, asyncio.Future[Any]] = {}
        with self._loop.running():
            self._pool = AsyncExecutor(
                settings["workers"], settings["capacity"], Rejection(self.policy))
            self._loop.begin(self._waits())
            self._loop.settle()

    def submit(self, task: int, item: int | str) -> Events:
        with self._loop.running():
            self._loop.begin(self._client(task, item))
        return self._settled()

    def finish(self, task: int) -> Events:
        return self._ends(task, None)

    def fail(self, task: int) -> Events:
        return self._ends(task, ValueError("this task fails"))

    def die(self, task: int) -> Events:
        return self._ends(task, WorkerDied())

    def cancel(self, task: int) -> Message:
        # A caller that runs its task has no future yet: it is too late for that one.
        future = self._futures.get(task)
        with self._loop.running():
            undone = future is not None and self._pool.cancel(future)
        if undone:
            del self._futures[task]
        return {"undone": undone, "does": self._settled()}

    def shutdown(self) -> Events:
        with self._loop.running():
            self._pool.shutdown()
        return self._settled()

    def stop(self) -> Events:
        with self._loop.running():
            self._pool.stop()
        return self._settled()

    def _settled(self) -> Events:
        """Let everything run that can run; the events until then."""
        with self._loop.running():
            self._loop.settle()
        events, self._events = self._events, []
        return events

    def _ends(self, task: int, error: Exception | None) -> Events:
        gate = self._gates.pop(task, None)
        if gate is None:
            raise Declined("does-not-run")
        with self._loop.running():
            if error is None:
                gate.set_result(None)
            else:
                gate.set_exception(error)
        return self._settled()

    # -- within the loop ----------------------------------------------------------------------

    async def _client(self, task: int, item: int | str) -> None:
        client = asyncio.current_task()
        try:
            future = await self._pool.submit(partial(self._body, task, client), item)
        except Refused:
            self._events.append(["refuse", task])
            return
        self._futures[task] = future
        future.add_done_callback(partial(self._ended, task))

    async def _body(
        self, task: int, client: asyncio.Task[None] | None, item: int | str
    ) -> int | str:
        here = asyncio.current_task() is client
        self._events.append(["caller" if here else "start", task, item])
        gate = self._gates[task] = self._loop.create_future()
        await gate
        return item

    def _ended(self, task: int, future: asyncio.Future[Any]) -> None:
        if future.cancelled():
            if task in self._futures:       # else its client has cancelled it
                self._events.append(["drop", task])
        elif future.exception() is not None:
            self._events.append(["raise", task])
        else:
            self._events.append(["return", task, future.result()])

    async def _waits(self) -> None:
        await self._pool.wait()
        self._events.append(["terminated"])
