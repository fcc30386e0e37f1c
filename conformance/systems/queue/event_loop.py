"""Queues for asyncio under test: the reference's driver, ``asyncio.Queue``, janus, anyio.

Each waiting put or take is a task. Nothing runs between requests except the task that was just
started or cancelled (and what is ready before it), so that wake-ups stay pending until
``settle`` and the harness can cancel, offer or poll in between.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from ....reference.drivers.asyncio_queue import AsyncQueue
from ....reference.drivers.schedules.virtual_loop import VirtualLoop
from ...adapters.base import Declined, missing
from ...ports.base import STEPPED
from .adapter import QueueAdapter, Waits

__all__ = [
    "AnyioQueue", "AsyncioQueue", "Carried", "JanusQueue", "LoopQueue", "ReferenceAsyncQueue",
]

Item = str | int


class Carried:
    """One put or take under way: its task, its value once it has one, its ticket if it waits."""

    __slots__ = ("done", "scope", "task", "ticket", "value")

    def __init__(self) -> None:
        self.task: asyncio.Task[Any] | None = None
        self.scope: Any = None
        self.ticket: str | None = None
        self.value: object = None
        self.done = False


@functools.cache
def _version(distribution: str) -> str:
    from importlib.metadata import version

    return version(distribution)


class LoopQueue(QueueAdapter):
    """The common part of every queue that runs on an asyncio loop.

    A subclass defines how to make the queue and how to call it, in the seven methods below.
    """

    wakes: ClassVar[str] = STEPPED

    def make(self, capacity: int) -> None:
        """Make the queue under test."""
        raise NotImplementedError

    def offer_now(self, item: Item) -> bool:
        """Put an item at once, or answer that there is no free slot."""
        raise NotImplementedError

    def poll_now(self) -> Item | None:
        """Take an item at once, or answer None."""
        raise NotImplementedError

    def put_later(self, item: Item) -> Coroutine[Any, Any, object]:
        """The coroutine of a put."""
        raise NotImplementedError

    def take_later(self) -> Coroutine[Any, Any, object]:
        """The coroutine of a take."""
        raise NotImplementedError

    def size_now(self) -> int:
        """Number of items in the queue."""
        raise NotImplementedError

    def cancel_wait(self, wait: Carried) -> None:
        """Request the cancellation of the task of ``wait``."""
        assert wait.task is not None
        wait.task.cancel()

    # -- the port -----------------------------------------------------------------------------

    def start(self, capacity: int) -> None:
        """Begin with a fresh, empty queue of ``capacity`` items."""
        self._loop = VirtualLoop()
        self._waits: dict[str, Carried] = {}
        try:
            with self._running():
                self.make(capacity)
        except BaseException:    # the harness closes no adapter that did not start
            self._loop.close()
            raise

    def offer(self, item: Item) -> bool:
        with self._running():
            return self.offer_now(item)

    def poll(self) -> Item | None:
        with self._running():
            return self.poll_now()

    def put(self, item: Item) -> object:
        answer = self._begin(self.put_later(item))
        return answer if isinstance(answer, Waits) else True

    def take(self) -> object:
        return self._begin(self.take_later())

    def cancel(self, ticket: str) -> bool:
        wait = self._waits.get(ticket)
        if wait is None or wait.task is None:
            raise Declined("unknown-ticket")
        task = wait.task
        with self._running():
            self.cancel_wait(wait)
            self._loop.run_while(lambda: not task.done())
        if not task.done():
            raise Declined("cancellation-ignored", definite=False)
        self._waits.pop(ticket, None)
        return not wait.done

    def size(self) -> int:
        return self.size_now()

    def settle(self) -> bool:
        """Let everything run that can run at this instant."""
        with self._running():
            self._loop.settle()
        return True

    def close(self) -> None:
        """Cancel what still waits, so that no task is thrown away while pending."""
        if not hasattr(self, "_loop"):
            return
        with self._running():
            for wait in list(self._waits.values()):
                self.cancel_wait(wait)
            self._loop.settle()
        self._waits.clear()
        self._loop.close()

    # -- within -------------------------------------------------------------------------------

    @contextmanager
    def _running(self) -> Iterator[None]:
        with self._loop.running():
            self._loop.jump(self.now_ms / 1000)
            yield

    def _begin(self, operation: Coroutine[Any, Any, object]) -> object:
        wait = Carried()
        with self._running():
            task = wait.task = self._loop.begin(self._carry(wait, operation))
            self._first_steps(task)
        if wait.done:
            return wait.value
        if wait.task.done():    # it raised; a queue that is not closed has no reason to
            wait.task.result()
        wait.ticket = self.new_ticket()
        self._waits[wait.ticket] = wait
        return Waits(wait.ticket)

    def _first_steps(self, task: asyncio.Task[Any]) -> None:
        # A call that merely yields takes its turn behind the others.
        self._loop.run_while(lambda: self._loop.is_ready(task))

    async def _carry(self, wait: Carried, operation: Coroutine[Any, Any, object]) -> None:
        wait.value = await operation
        wait.done = True
        if wait.ticket is not None:
            del self._waits[wait.ticket]
            self.completed(wait.ticket, True if wait.value is None else wait.value)


class ReferenceAsyncQueue(LoopQueue):
    """The reference queue through its asyncio driver."""

    name: ClassVar[str] = "reference for asyncio"

    def make(self, capacity: int) -> None:
        """Create the queue under test."""
        self.take_up(AsyncQueue(capacity))

    def take_up(self, queue: AsyncQueue[Item]) -> None:
        """Let this be the queue under test."""
        self._queue = queue
        self.offer_now = queue.offer    # type: ignore[method-assign]
        self.put_later = queue.put      # type: ignore[method-assign]
        self.take_later = queue.take    # type: ignore[method-assign]

    def poll_now(self) -> Item | None:
        """Take an item at once, or answer None."""
        from ....reference.queue import Empty

        answer = self._queue.poll()
        return None if isinstance(answer, Empty) else answer

    def size_now(self) -> int:
        """Number of items in the queue."""
        return len(self._queue)


class AsyncioQueue(LoopQueue):
    """``asyncio.Queue`` of the Python that runs us."""

    name: ClassVar[str] = "asyncio.Queue"

    def make(self, capacity: int) -> None:
        """Create the queue under test."""
        import platform

        self.version = platform.python_version()
        self._queue: Any = asyncio.Queue(capacity)

    def offer_now(self, item: Item) -> bool:
        """Put an item at once, or answer that there is no free slot."""
        try:
            self._queue.put_nowait(item)
        except asyncio.QueueFull:
            return False
        return True

    def poll_now(self) -> Item | None:
        """Take an item at once, or answer None."""
        try:
            item: Item = self._queue.get_nowait()
        except asyncio.QueueEmpty:
            return None
        return item

    def put_later(self, item: Item) -> Coroutine[Any, Any, object]:
        """The coroutine of a put."""
        operation: Coroutine[Any, Any, object] = self._queue.put(item)
        return operation

    def take_later(self) -> Coroutine[Any, Any, object]:
        """The coroutine of a take."""
        operation: Coroutine[Any, Any, object] = self._queue.get()
        return operation

    def size_now(self) -> int:
        """Number of items in the queue."""
        size: int = self._queue.qsize()
        return size


class JanusQueue(AsyncioQueue):
    """The asynchronous side of ``janus.Queue``, which raises the exceptions of asyncio."""

    name: ClassVar[str] = "janus"

    def make(self, capacity: int) -> None:
        """Create the queue under test."""
        try:
            import janus
        except ImportError as error:
            raise missing("janus") from error
        self.version = janus.__version__
        self._queue = janus.Queue(capacity).async_q


class AnyioQueue(LoopQueue):
    """anyio's memory object stream, on asyncio; cancelled by its own cancel scopes."""

    name: ClassVar[str] = "anyio memory object stream"

    def make(self, capacity: int) -> None:
        """Create the queue under test."""
        try:
            import anyio
        except ImportError as error:
            raise missing("anyio") from error
        self.version = _version("anyio")
        self._anyio = anyio
        self._send, self._receive = anyio.create_memory_object_stream[Item](capacity)

    def offer_now(self, item: Item) -> bool:
        """Put an item at once, or answer that there is no free slot."""
        try:
            self._send.send_nowait(item)
        except self._anyio.WouldBlock:
            return False
        return True

    def poll_now(self) -> Item | None:
        """Take an item at once, or answer None."""
        try:
            return self._receive.receive_nowait()
        except self._anyio.WouldBlock:
            return None

    def put_later(self, item: Item) -> Coroutine[Any, Any, object]:
        """The coroutine of a put."""
        return self._send.send(item)

    def take_later(self) -> Coroutine[Any, Any, object]:
        """The coroutine of a take."""
        return self._receive.receive()

    def size_now(self) -> int:
        """Number of items in the queue."""
        return self._send.statistics().current_buffer_used

    async def _carry(self, wait: Carried, operation: Coroutine[Any, Any, object]) -> None:
        with self._anyio.CancelScope() as wait.scope:
            await super()._carry(wait, operation)

    def cancel_wait(self, wait: Carried) -> None:
        """Request the cancellation; anyio does not cancel a task that has been handed its item."""
        wait.scope.cancel()

    def close(self) -> None:
        """Cancel the waiting calls, and close the streams: open ones would warn."""
        super().close()
        if hasattr(self, "_send"):
            self._send.close()
            self._receive.close()
