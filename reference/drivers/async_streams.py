"""Streams with demand for asyncio: a publisher of an async generator, and an async iterator again.

``AsyncPublisher`` draws an element from the generator when a subscriber wants one, so a generator
that does much work does none for nobody. ``elements_of`` is the other way round: an async iterator
over any publisher, which asks for a batch ahead while it has a free slot.

The cores (``reactive``) decide everything; this module only sleeps and wakes. A subscription has
one task, in which all its signals are made, so they never overlap, and none is made by a call.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Callable
from contextlib import suppress
from typing import Generic, Protocol, TypeVar

from ..reactive.outlet import Outlet
from ..reactive.signals import (
    COMPLETE, Complete, Failed, Next, Request, Signal, StreamMisuse, Subscribed,
)
from ..reactive.subscriber import BatchSubscriber

__all__ = ["AsyncPublisher", "Publisher", "Subscriber", "Subscription", "elements_of"]

E = TypeVar("E")
E_contra = TypeVar("E_contra", contravariant=True)
E_co = TypeVar("E_co", covariant=True)


class Subscription(Protocol):
    """The calls of a subscriber."""

    def request(self, count: int) -> None:
        """Request ``count`` elements more."""
        ...

    def cancel(self) -> None:
        """Whatever else was requested is not wanted."""
        ...


class Subscriber(Protocol[E_contra]):
    """The calls of a publisher."""

    def on_subscribe(self, subscription: Subscription) -> None:
        """The subscription, before anything else."""
        ...

    def on_next(self, element: E_contra) -> None:
        """An element that was requested."""
        ...

    def on_complete(self) -> None:
        """There are no more elements."""
        ...

    def on_error(self, error: Exception) -> None:
        """There are no more elements, for this reason."""
        ...


class Publisher(Protocol[E_co]):
    """A source of signals for subscribers."""

    def subscribe(self, subscriber: Subscriber[E_co]) -> None:
        """Signal to a subscriber from now on."""
        ...


class _Drawn(Generic[E]):
    """The element, or end, that was drawn from an async iterator and is not signalled yet."""

    def __init__(self) -> None:
        self.one: Next[E] | Complete | Failed | None = None

    def take(self, wanted: bool) -> Next[E] | Complete | Failed | None:
        """The next element if one is wanted, or the end; None if there is nothing to signal."""
        drawn = self.one
        if not wanted and isinstance(drawn, Next):
            return None
        self.one = None
        return drawn


class _Running(Generic[E]):
    """One subscription, with its task."""

    def __init__(self, elements: AsyncIterable[E], subscriber: Subscriber[E]) -> None:
        self._elements = elements
        self._subscriber: Subscriber[E] | None = subscriber
        self._drawn: _Drawn[E] = _Drawn()
        self._outlet: Outlet[E] = Outlet(self._drawn)
        self._turn = asyncio.Event()
        self._drawing: asyncio.Future[None] | None = None
        self.task = asyncio.get_running_loop().create_task(self._run())

    def request(self, count: int) -> None:
        """Request ``count`` elements more; a count below 1 is answered by on_error."""
        self._outlet.request(count)
        self._turn.set()

    def cancel(self) -> None:
        """End the subscription; an element that is being drawn is given up."""
        self._outlet.cancel()
        self._subscriber = None
        self._turn.set()
        if self._drawing is not None:
            self._drawing.cancel()

    async def _run(self) -> None:
        iterator = aiter(self._elements)
        while True:
            while (signal := self._outlet.take()) is not None:
                self._deliver(signal)
                self._outlet.done()
            if self._outlet.is_over:
                break
            if self._outlet.demand:
                await self._draw(iterator)
            else:
                self._turn.clear()
                await self._turn.wait()
        self._subscriber = None
        close = getattr(iterator, "aclose", None)
        if close is not None:
            await close()

    async def _draw(self, iterator: AsyncIterator[E]) -> None:
        self._drawing = asyncio.ensure_future(self._next(iterator))
        # Only a cancel of the subscription ends it so; one of this task comes through.
        with suppress(asyncio.CancelledError):
            await asyncio.shield(self._drawing)
        current = asyncio.current_task()
        if current is not None and current.cancelling():
            self._drawing.cancel()
            raise asyncio.CancelledError
        self._drawing = None

    async def _next(self, iterator: AsyncIterator[E]) -> None:
        try:
            self._drawn.one = Next(await anext(iterator))
        except StopAsyncIteration:
            self._drawn.one = COMPLETE
        except Exception as error:  # noqa: BLE001  whatever it is, it is the subscriber's to know
            self._drawn.one = Failed(error)

    def _deliver(self, signal: Signal[E]) -> None:
        subscriber = self._subscriber
        if subscriber is None:
            return
        if isinstance(signal, Subscribed):
            subscriber.on_subscribe(self)
        elif isinstance(signal, Next):
            subscriber.on_next(signal.element)
        elif isinstance(signal, Complete):
            subscriber.on_complete()
        else:
            subscriber.on_error(signal.error)


class AsyncPublisher(Generic[E]):
    """A publisher; each subscriber gets what an async iterable of its own makes.

    To be used on one running event loop. An exception of the iterable is signalled by on_error.
    """

    def __init__(self, make: Callable[[], AsyncIterable[E]]) -> None:
        self._make = make
        self._tasks: set[asyncio.Task[None]] = set()

    def subscribe(self, subscriber: Subscriber[E]) -> None:
        """Signal to a subscriber from now on. Raises ``StreamMisuse`` for None."""
        if subscriber is None:
            raise StreamMisuse("None cannot subscribe")
        task = _Running(self._make(), subscriber).task
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


class _Reader(Generic[E]):
    """The subscriber behind an async iterator."""

    def __init__(self, capacity: int, batch: int) -> None:
        self._core: BatchSubscriber[E] = BatchSubscriber(capacity, batch)
        self._subscription: Subscription | None = None
        self._news = asyncio.Event()

    def on_subscribe(self, subscription: Subscription) -> None:
        """Take the subscription, before anything else."""
        if self._core.on_subscribe(subscription):
            self._subscription = subscription
            self._call()
        else:
            subscription.cancel()

    def on_next(self, element: E) -> None:
        """Take an element that was requested."""
        self._core.on_next(element)
        self._news.set()

    def on_complete(self) -> None:
        """Note that there are no more elements."""
        self._core.on_complete()
        self._news.set()

    def on_error(self, error: Exception) -> None:
        """Note that there are no more elements, for this reason."""
        self._core.on_error(error)
        self._news.set()

    async def read(self) -> AsyncIterator[E]:
        """The elements, in their order; what has failed is raised."""
        try:
            while True:
                while len(self._core):
                    element = self._core.process()
                    # Its place is free once the application has it, and not before.
                    asyncio.get_running_loop().call_soon(self._call)
                    assert element is not None, "a stream has no None"
                    yield element
                end = self._core.end
                if isinstance(end, Failed):
                    raise end.error
                if end is not None:
                    return
                self._news.clear()
                await self._news.wait()
        finally:
            self._core.stop()
            self._call()

    def _call(self) -> None:
        while self._subscription is not None and (call := self._core.take()) is not None:
            if isinstance(call, Request):
                self._subscription.request(call.count)
            else:
                self._subscription.cancel()
            self._core.done()


async def elements_of(
    publisher: Publisher[E], capacity: int = 16, batch: int = 8
) -> AsyncIterator[E]:
    """The signals of a publisher, as an async iterator that holds at most ``capacity`` elements.

    It asks for ``batch`` or more at a time. Closing it cancels the subscription.
    """
    reader: _Reader[E] = _Reader(capacity, batch)
    publisher.subscribe(reader)
    async for element in reader.read():
        yield element
