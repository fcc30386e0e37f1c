"""An async iterator over a publisher; its application reads one element at a time, on request.

The iterator subscribes when the first element is requested, so its application waits for that one
from the beginning. Once the stream is over and nothing waits, the application asks once more: that
is how it learns of the end.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar

from ....reference.drivers.async_streams import Subscriber, elements_of
from ....reference.drivers.schedules.virtual_loop import VirtualLoop
from ...adapters.port_adapter import PortAdapter
from ...ports.base import Message, Port
from ..reactive_publisher.subscribers import SourceFailed
from .port import PORT

__all__ = ["AsyncIteratorOfElements"]


class _Subscription:
    """A subscription of the harness; ``suffix`` is that of its events."""

    def __init__(self, events: list[Message], suffix: str = "") -> None:
        self._events = events
        self._suffix = suffix

    def request(self, count: int) -> None:
        self._events.append({"event": f"requests{self._suffix}", "n": count})

    def cancel(self) -> None:
        self._events.append({"event": f"cancels{self._suffix}"})


class AsyncIteratorOfElements(PortAdapter):
    """``elements_of`` on a loop that runs at the harness's request.

    Its publisher is this adapter.
    """

    port: ClassVar[Port] = PORT
    policy: ClassVar[str] = "inline"
    name = "async iterator"
    _loop: VirtualLoop | None = None

    def start(self, settings: Mapping[str, Any]) -> None:
        self.close()
        self._loop = VirtualLoop()
        self._events: list[Message] = []
        self._subscriber: Subscriber[int] | None = None
        self._waiting = 0                   # elements that were received and not read
        self._over = self._stopped = False
        self._elements: AsyncIterator[int] = elements_of(
            self, settings["capacity"], settings["batch"])
        with self._running() as loop:
            self._reading: asyncio.Task[None] | None = loop.begin(self._read())
            loop.settle()

    def subscribe(self, subscriber: Subscriber[int]) -> None:
        self._subscriber = subscriber

    # --- signals -----------------------------------------------------------------------------

    def on_subscribe(self) -> list[Message]:
        return self._signal("on_subscribe", _Subscription(self._events))

    def on_subscribe_again(self) -> list[Message]:
        return self._signal("on_subscribe", _Subscription(self._events, "_other"))

    def on_next(self, element: int) -> list[Message]:
        self._waiting += 1
        return self._signal("on_next", element)

    def on_complete(self) -> list[Message]:
        self._over = True
        return self._signal("on_complete")

    def on_error(self) -> list[Message]:
        self._over, self._waiting = True, 0
        return self._signal("on_error", SourceFailed())

    def on_null(self, signal: str) -> bool:
        try:
            getattr(self._subscriber, f"on_{signal}")(None)
        except Exception:  # noqa: BLE001  any exception will do
            return True
        return False

    # --- the application ---------------------------------------------------------------------

    def process(self) -> list[Message]:
        if self._waiting and self._reading is None:
            return self._then(self._read)
        self._events.append({"event": "consumes", "element": None})
        return self._then()

    def stop(self) -> list[Message]:
        self._stopped = True
        return self._then(self._leave)

    def settle_(self) -> list[Message]:
        return self._then()

    def close(self) -> None:
        """Cancel waiting tasks, so that none is thrown away while pending."""
        if self._loop is None:
            return
        with self._running() as loop:
            for task in asyncio.all_tasks(loop):
                task.cancel()
            loop.settle()
            loop.begin(self._leave())
            loop.settle()
        self._loop.close()
        self._loop = None

    # --- the loop ----------------------------------------------------------------------------

    async def _read(self) -> None:
        try:
            element = await anext(self._elements)
            self._waiting -= 1
            self._events.append({"event": "consumes", "element": element})
        except StopAsyncIteration:
            self._tell("finishes")
        except SourceFailed:
            self._tell("breaks_off")
        finally:
            self._reading = None

    def _tell(self, end: str) -> None:
        if not self._stopped:
            self._events.append({"event": end})
        self._stopped = True

    async def _leave(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait([self._reading])
        await self._elements.aclose()  # type: ignore[attr-defined]

    def _signal(self, name: str, *brought: object) -> list[Message]:
        with self._running():
            try:
                getattr(self._subscriber, name)(*brought)
                self._events.append({"event": "returned"})
            except Exception:  # noqa: BLE001 any exception is reported as an event
                self._events.append({"event": "raised"})
        return self._then()

    def _then(self, begun: Callable[[], Coroutine[Any, Any, None]] | None = None) -> list[Message]:
        """Begin an action, let everything run, and return the events."""
        with self._running() as loop:
            if begun is not None:
                self._begin(begun)
            loop.settle()
            if self._over and not (self._waiting or self._reading or self._stopped):
                self._begin(self._read)
                loop.settle()
        told = [*self._events]
        self._events.clear()
        return told

    def _begin(self, begun: Callable[[], Coroutine[Any, Any, None]]) -> None:
        assert self._loop is not None
        task = self._loop.begin(begun())
        if begun == self._read and not task.done():
            self._reading = task

    @contextmanager
    def _running(self) -> Iterator[VirtualLoop]:
        assert self._loop is not None, "hello comes first"
        with self._loop.running():
            yield self._loop
