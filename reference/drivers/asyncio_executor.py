"""An executor for the coroutine functions of one event loop, with a bounded queue.

``Executor`` decides which call starts, waits, is refused or dropped; each worker is a task, and so
is each call while it runs. A submit is a coroutine: where its caller is to run the call, it returns
when that has ended, so that the caller submits nothing meanwhile.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from typing import Any, Final

from ..flow.executor import Does, Event, Executor, Outcome, Rejection, Task

__all__ = ["AsyncExecutor", "Refused", "WorkerDied"]

Function = Callable[[Any], Awaitable[Any]]


class Refused(RuntimeError):
    """The call was refused: there was no place for it, or the executor is shut down."""


class WorkerDied(Exception):
    """The worker that ran a call has died, or raises this to say so."""


class AsyncExecutor:
    """``workers`` calls run at a time, and ``places`` wait. Not for several threads."""

    def __init__(self, workers: int, places: int, rejection: Rejection,
                 core: type[Executor] = Executor) -> None:
        self._core: Final = core(workers, places, rejection)
        self._calls: dict[int, tuple[Function, asyncio.Future[Any]]] = {}
        self._numbers = itertools.count()
        self._running: set[asyncio.Task[None]] = set()
        self._terminated = asyncio.Event()

    async def submit(self, function: Function, item: Any) -> asyncio.Future[Any]:
        """Run ``function(item)``, now or later; the future of its result.

        Raises ``Refused``. A call that is dropped has a future that is cancelled.
        """
        number = next(self._numbers)
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._calls[number] = function, future
        events = self._core.submit(Task(number, item))
        await self._does(events)
        if any(event.what is Does.REFUSED for event in events):
            raise Refused(f"call {number} was refused")
        return future

    def cancel(self, future: asyncio.Future[Any]) -> bool:
        """Cancel a call; False if it runs, or has ended: nothing comes of that."""
        number = next((each for each, (_, other) in self._calls.items() if other is future), None)
        if number is None or not self._core.cancel(number):
            return False
        del self._calls[number]
        future.cancel()
        return True

    def shutdown(self) -> None:
        """Accept no more; what waits still runs."""
        self._note(self._core.shutdown())

    def stop(self) -> None:
        """Accept no more, and start nothing: the futures of what waits are cancelled."""
        self._note(self._core.stop())

    async def wait(self) -> None:
        """Wait until it has terminated, after a shutdown or a stop."""
        await self._terminated.wait()

    async def _does(self, events: list[Event]) -> None:
        """Do what the executor decided; a call that its caller runs is awaited."""
        self._note(events)
        for what, task, _ in events:
            if what is Does.CALLER and task is not None:
                await self._run(task)

    def _note(self, events: list[Event]) -> None:
        for what, task, value in events:
            if what is Does.TERMINATED:
                self._terminated.set()
                continue
            assert task is not None and isinstance(task.number, int)
            if what is Does.STARTS:
                worker = asyncio.get_running_loop().create_task(self._run(task))
                self._running.add(worker)
                worker.add_done_callback(self._running.discard)
            elif what is not Does.CALLER:
                _, future = self._calls.pop(task.number)
                self._end(future, what, value)

    def _end(self, future: asyncio.Future[Any], what: Does, value: Any) -> None:
        if future.done():
            return      # its client has cancelled the future itself
        if what is Does.RETURNED:
            future.set_result(value)
        elif what is Does.RAISED:
            future.set_exception(value)
        else:
            future.cancel()

    async def _run(self, task: Task) -> None:
        assert isinstance(task.number, int)
        function, _ = self._calls[task.number]
        try:
            value = await function(task.item)
        except Exception as error:  # noqa: BLE001  it is the result, whatever it is
            died = isinstance(error, WorkerDied)
            events = self._core.ended(
                task.number, Outcome.DIED if died else Outcome.RAISED, error)
        else:
            events = self._core.ended(task.number, Outcome.RETURNED, value)
        self._note(events)
