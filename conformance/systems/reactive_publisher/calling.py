"""Publishers in Python that call their subscribers: async generators, and reactivex."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar

from ....reference.drivers.async_streams import AsyncPublisher
from ....reference.drivers.schedules.virtual_loop import VirtualLoop
from ....reference.reactive.outlet import Outlet
from ....reference.reactive.signals import COMPLETE, Complete, Failed, Next
from ...adapters.base import missing
from ...ports.base import Message, Port
from .adapter import Driven, elements_of
from .calls import Calls
from .port import PORT
from .subscribers import SourceFailed, Subscribers

__all__ = ["AsyncGenerator", "BareObservable", "BufferedObservable"]


class _Subscriber:
    """One subscriber as a publisher sees it: it only reports its signals."""

    def __init__(self, number: int, all_of_them: Subscribers, given: dict[int, Any]) -> None:
        self._number = number
        self._all = all_of_them
        self._given = given

    def on_subscribe(self, subscription: Any) -> None:
        self._given[self._number] = subscription
        self._all.on_subscribe(self._number)

    def on_next(self, element: int) -> None:
        self._all.on_next(self._number, element)

    def on_complete(self) -> None:
        self._all.on_complete(self._number)

    def on_error(self, error: Exception) -> None:
        self._all.on_error(self._number, error)


class CallingPublisher(Calls):
    """A publisher with signals that are calls of ours, all in this thread: so none can be held."""

    port: ClassVar[Port] = PORT

    def begin(self) -> None:
        """Begin with no subscribers, and nothing planned."""
        self._given: dict[int, Any] = {}
        self._known: dict[int, weakref.ref[_Subscriber]] = {}
        self._subscribers = Subscribers(
            lambda s, n: self._given[s].request(n), lambda s: self._given[s].cancel())

    def join(self, subscriber: _Subscriber | None) -> None:
        """Subscribe to the publisher under test."""
        raise NotImplementedError

    def subscription(self, subscriber: int) -> Any:
        return self._given[subscriber]

    # --- operations --------------------------------------------------------------------------

    def subscribe(self, subscriber: int, n: int) -> list[Message]:
        self._subscribers.begins(subscriber, n)
        made = _Subscriber(subscriber, self._subscribers, self._given)
        self._known[subscriber] = weakref.ref(made)
        return self.called("subscribe", subscriber, lambda: self.join(made))

    def subscribe_null(self) -> bool:
        try:
            self.running(lambda: self.join(None))
        except Exception:  # noqa: BLE001  any exception will do
            return True
        return False

    def references(self) -> list[int]:
        """See the port: the subscribers that are still referenced.

        No wait for a garbage collection.
        """
        return [number for number, known in self._known.items() if known() is not None]

    def settle_(self) -> list[Message]:
        return self._subscribers.told()


class AsyncGenerator(CallingPublisher):
    """The reference's driver for async generators, on a loop that runs at the harness's request."""

    policy: ClassVar[str] = "queued"
    name = "async generator"

    _loop: VirtualLoop | None = None

    def start(self, settings: Mapping[str, Any]) -> None:
        self.close()
        self.begin()
        self._loop = VirtualLoop()

        async def elements() -> AsyncIterator[int]:
            for element in self._subscribers.drawing(elements_of(settings)):
                yield element
        self._publisher = AsyncPublisher(elements)

    def join(self, subscriber: _Subscriber | None) -> None:
        null: Any = subscriber
        self._publisher.subscribe(null)

    def running(self, made: Callable[[], object]) -> None:
        with self._running():
            made()

    def run(self) -> list[Message]:
        with self._running() as loop:
            loop.step()
        return self._subscribers.told()

    def settle_(self) -> list[Message]:
        with self._running() as loop:
            loop.settle()
        return self._subscribers.told()

    def close(self) -> None:
        """Cancel the tasks that wait for demand, so that none is thrown away while pending."""
        if self._loop is None:
            return
        with self._running() as loop:
            for task in asyncio.all_tasks(loop):
                task.cancel()
            loop.settle()
        self._loop.close()
        self._loop = None

    @contextmanager
    def _running(self) -> Iterator[VirtualLoop]:
        assert self._loop is not None, "hello comes first"
        with self._loop.running():
            yield self._loop


class _Disposing:
    """A subscription of reactivex: it can be ended, and ignores requests."""

    def __init__(self) -> None:
        self.disposable: Any = None
        self.cancelled = False

    def request(self, count: int) -> None:
        """Do nothing: there is no demand, and all elements come."""

    def cancel(self) -> None:
        self.cancelled = True
        if self.disposable is not None:
            self.disposable.dispose()


def _observable(settings: Mapping[str, Any], subscribers: Subscribers) -> Any:
    try:
        import reactivex
    except ImportError:
        raise missing("reactivex") from None
    elements = reactivex.defer(lambda _: reactivex.from_iterable(
        subscribers.drawing(range(settings["first"], settings["first"] + settings["capacity"]))))
    if not settings["fails"]:
        return elements
    return reactivex.concat(elements, reactivex.throw(SourceFailed()))


class BareObservable(CallingPublisher):
    """An observable of reactivex as it is: its observers cannot ask for elements."""

    policy: ClassVar[str] = "inline"
    name = "reactivex"

    def start(self, settings: Mapping[str, Any]) -> None:
        self.begin()
        self._observable = _observable(settings, self._subscribers)

    def join(self, subscriber: _Subscriber | None) -> None:
        if subscriber is None:
            raise TypeError("None cannot subscribe")
        subscription = _Disposing()
        subscriber.on_subscribe(subscription)
        subscription.disposable = self._observable.subscribe(
            on_next=subscriber.on_next, on_error=subscriber.on_error,
            on_completed=subscriber.on_complete)


class _Buffer:
    """All elements that an observable has produced and that were not requested yet, without a
    bound."""

    def __init__(self) -> None:
        self._waiting: list[int] = []
        self._end: Complete | Failed | None = None

    def bring(self, element: int) -> None:
        self._waiting.append(element)

    def end(self, end: Complete | Failed) -> None:
        self._end = end

    def take(self, wanted: bool) -> Next[int] | Complete | Failed | None:
        if not self._waiting:
            return self._end
        return Next(self._waiting.pop(0)) if wanted else None


class BufferedObservable(Driven):
    """An observable of reactivex behind the reference's outlet: elements wait until requested."""

    port: ClassVar[Port] = PORT
    policy: ClassVar[str] = "inline"
    name = "reactivex, buffered"

    def start(self, settings: Mapping[str, Any]) -> None:
        self.begin()
        self._observable = _observable(settings, self._subscribers)

    def subscribe_to(self, subscriber: int) -> Outlet[int]:
        buffer = _Buffer()
        self._observable.subscribe(
            on_next=buffer.bring, on_error=lambda error: buffer.end(Failed(error)),
            on_completed=lambda: buffer.end(COMPLETE))
        return Outlet(buffer)

    def _method(self, do: str) -> Callable[..., Any] | None:
        return None if do == "run" else super()._method(do)
