"""Queues for asyncio that end, callback by callback: the port ``awaits.closing``."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar

from ....reference.drivers.asyncio_closing import ClosableQueue, Closed
from ....reference.drivers.schedules.giving_way import NeverGaveWay, calls_counted
from ...adapters.base import Declined, missing
from ...adapters.loop_adapter import Held, LoopAdapter
from ...ports.base import Message, Port
from .port import LOOP, PORT

__all__ = [
    "AnyioClosing", "AsyncioClosing", "AsyncioPriorityClosing", "JanusClosing",
    "JanusPriorityClosing", "ReferenceClosing",
]

CALLBACKS_MAX = 500
"""Callbacks after which a loop does not become idle any more: a dozen calls need a tenth."""

CALLS_MAX = 20_000
"""Calls of functions within one request, after which a join has not yielded: that many callbacks
make fewer.
"""


class Ranked:
    """An item for queues that compare their items: it compares as text, whatever its type."""

    def __init__(self, value: object) -> None:
        self.value = value

    def compares(self) -> None:
        """Raise ``TypeError`` if the item cannot be compared."""

    def __lt__(self, other: Ranked) -> bool:
        self.compares()
        other.compares()
        return str(self.value) < str(other.value)


class Spoilt(Ranked):
    """An item that cannot be compared until its put is over, and then is like others.

    A queue that does not know that a put has failed then shows the item, and not an error.
    """

    def __init__(self, value: object) -> None:
        super().__init__(value)
        self.armed = True

    def compares(self) -> None:
        """Raise ``TypeError`` until the put is over."""
        if self.armed:
            raise TypeError(f"{self.value} compares with nothing")


def _refuses(item: object) -> None:
    if isinstance(item, Spoilt):
        item.compares()


def _value_of(item: Any) -> object:
    return item.value if isinstance(item, Ranked) else item


class ReferenceClosing(LoopAdapter):
    """The reference's queue, and the common part of all adapters of closable queues.

    A queue that lacks an operation has ``None`` in the place of its method. A subclass
    lists the errors that report that the queue is closed.
    """

    port: ClassVar[Port] = PORT
    name = "reference"
    policy: ClassVar[str] = "wait"
    kind: ClassVar[type[Any]] = ClosableQueue
    told: tuple[type[Exception], ...] = (Closed,)
    _joins = False

    # -- for subclasses -----------------------------------------------------------------------

    def make(self, capacity: int) -> Any:
        """Create the queue under test."""
        return self.kind(capacity, _refuses)

    async def enter(self, item: Any) -> None:
        """Put an item; raise the error for a closed queue if it is closed."""
        await self.queue.put(item)

    def item_of(self, value: object) -> object:
        """The value that is put for an item."""
        return value

    async def get(self) -> Any:
        """Take an item; raise the error for a closed queue if it is closed."""
        return await self.queue.take()

    def end(self, cut: bool) -> None:
        """Close the queue, or cut it off."""
        if cut:
            self.queue.cut()
        else:
            self.queue.close()

    # -- the port -----------------------------------------------------------------------------

    def start(self, settings: Mapping[str, Any]) -> None:
        """Begin with a fresh instance."""
        self.begin_anew()
        self._joins = False
        with self._loop.running():
            self.queue = self.make(settings["capacity"])

    def put(self, by: str, item: object) -> list[Message]:
        return self._puts(by, self.item_of(item))

    def _spoil(self, by: str, item: object) -> list[Message]:
        return self._puts(by, Spoilt(item))

    spoil_: Callable[..., Any] | None = _spoil

    def take(self, by: str) -> list[Message]:
        async def takes(call: Held) -> None:
            try:
                self.note(call, "has", item=_value_of(await self.get()))
            except self.told:
                self.note(call, "told")

        self.call(by, takes)
        return self._seen()

    def _join(self, by: str) -> list[Message]:
        async def joins(call: Held) -> None:
            try:
                await self.queue.join()
            except NeverGaveWay:
                self._count_anew()
                self._events.append({"by": LOOP, "does": "spins"})
            else:
                self.note(call, "over")

        self._joins = True
        with self._watched():
            self.call(by, joins)
        return self._seen()

    def _done(self) -> list[Message]:
        with self._loop.running():
            try:
                self.queue.task_done()
            except ValueError as error:
                raise Declined("nothing-to-be-done") from error
        return self._seen()

    join_: Callable[..., Any] | None = _join
    done_: Callable[..., Any] | None = _done

    def _close(self) -> list[Message]:
        with self._loop.running():
            self.end(cut=False)
        return self._seen()

    def _cut(self) -> list[Message]:
        with self._loop.running():
            self.end(cut=True)
        return self._seen()

    close_: Callable[..., Any] | None = _close
    cut_: Callable[..., Any] | None = _cut

    def settle(self) -> list[Message]:    # type: ignore[override]
        """Let everything run; report a loop that does not become idle."""
        with self._watched(), self._loop.running():
            ran = self._loop.ran
            self._loop.run_while(lambda: self._loop.ran - ran < CALLBACKS_MAX)
            if self._loop.ready():
                self._events.append({"by": LOOP, "does": "spins"})
        return self._seen()

    def run(self, steps: int) -> list[Message]:
        with self._watched():
            return super().run(steps)

    def close(self) -> None:
        """Cancel the calls that still wait or hold something."""
        with self._watched():
            super().close()

    # -- within -------------------------------------------------------------------------------

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """If a join is under way, end it and report it should it run without end."""
        if not self._joins:
            yield
            return
        with calls_counted(CALLS_MAX) as self._count_anew:
            yield

    def _puts(self, by: str, item: Any) -> list[Message]:
        """Begin a put and note its end; an item that may fail does so only during it."""
        async def puts(call: Held) -> None:
            try:
                await self.enter(item)
            except self.told:
                self.note(call, "told")
            except TypeError:
                self.note(call, "fails")
            else:
                self.note(call, "in")
            finally:
                if isinstance(item, Spoilt):
                    item.armed = False

        self.call(by, puts)
        return self._seen()


class AsyncioClosing(ReferenceClosing):
    """``asyncio.Queue``, which can be shut down from Python 3.13 on."""

    name = "asyncio.Queue"
    kind: ClassVar[type[Any]] = asyncio.Queue
    told = (getattr(asyncio, "QueueShutDown", Closed),)
    spoil_: Callable[..., Any] | None = None

    def __init__(self) -> None:
        if not hasattr(self.kind, "shutdown"):
            self.close_ = self.cut_ = None

    def make(self, capacity: int) -> Any:
        """Create the queue under test."""
        return self.kind(capacity)

    async def get(self) -> Any:
        """Take an item; raise the error for a closed queue if it is closed."""
        return await self.queue.get()

    def end(self, cut: bool) -> None:
        """Close the queue, or cut it off."""
        self.queue.shutdown(immediate=cut)


class AsyncioPriorityClosing(AsyncioClosing):
    """``asyncio.PriorityQueue``, which compares its items."""

    name = "asyncio.PriorityQueue"
    policy: ClassVar[str] = "ranked"
    kind: ClassVar[type[Any]] = asyncio.PriorityQueue
    spoil_ = ReferenceClosing.spoil_

    def item_of(self, value: object) -> object:
        """The value that is put for an item."""
        return Ranked(value)


class JanusClosing(AsyncioClosing):
    """The asynchronous side of ``janus.Queue``; shutting down is the queue's."""

    name = "janus"
    of_janus: ClassVar[str] = "Queue"

    def __init__(self) -> None:
        """Offer all operations: janus can be shut down with any Python."""

    def make(self, capacity: int) -> Any:
        """Create the queue under test."""
        try:
            import janus
        except ImportError as error:
            raise missing("janus") from error
        if not hasattr(janus.Queue, "shutdown"):
            raise missing("janus>=2.0")
        self.told = (janus.AsyncQueueShutDown,)
        return getattr(janus, self.of_janus)(capacity).async_q


class JanusPriorityClosing(JanusClosing):
    """``janus.PriorityQueue``, which compares its items."""

    name = "janus.PriorityQueue"
    policy: ClassVar[str] = "ranked"
    of_janus = "PriorityQueue"
    spoil_ = ReferenceClosing.spoil_

    def item_of(self, value: object) -> object:
        """The value that is put for an item."""
        return Ranked(value)


class AnyioClosing(ReferenceClosing):
    """anyio's memory object stream, on asyncio. Its sender closes it; both ends cut it off."""

    name = "anyio memory object stream"
    spoil_ = join_ = done_ = None

    def make(self, capacity: int) -> Any:
        """Create the queue under test."""
        try:
            import anyio
        except ImportError as error:
            raise missing("anyio") from error
        self.told = (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError)
        self._send, self._receive = anyio.create_memory_object_stream[Any](capacity)

    async def enter(self, item: Any) -> None:
        """Put an item; raise the error for a closed queue if it is closed."""
        await self._send.send(item)

    async def get(self) -> Any:
        """Take an item; raise the error for a closed queue if it is closed."""
        return await self._receive.receive()

    def end(self, cut: bool) -> None:
        """Close the queue, or cut it off."""
        self._send.close()
        if cut:
            self._receive.close()

    def close(self) -> None:
        """Cancel the calls that still wait, and close the streams: open ones would warn."""
        super().close()
        if hasattr(self, "_send"):
            self._send.close()
            self._receive.close()
