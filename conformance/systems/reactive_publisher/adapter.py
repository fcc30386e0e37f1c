"""The reference publisher behind its port."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

from ....reference.reactive.outlet import Outlet
from ....reference.reactive.publisher import IterablePublisher
from ....reference.reactive.signals import (
    Complete, Failed, Next, Signal, Subscribed,
)
from ...ports.base import Message, Port
from .calls import Calls
from .port import PORT
from .subscribers import SourceFailed, Subscribers

__all__ = ["Driven", "InlinePublisher", "ReferencePublisher", "deliver", "elements_of"]


class Driven(Calls):
    """Drives outlets by the harness's calls: the common part of a publisher and a processor.

    ``inline``: an outlet's signals are delivered within the calls that allow them, otherwise by
    ``run`` and ``settle``.
    """

    policy: ClassVar[str] = "queued"

    def begin(self) -> None:
        """Begin with no subscribers, and nothing planned."""
        self._outlets: dict[int, Outlet[int]] = {}
        self._held: set[int] = set()
        self._subscribers = Subscribers(self._request, self._cancel)

    def subscription(self, subscriber: int) -> Outlet[int]:
        return self._outlets[subscriber]

    def subscribe_to(self, subscriber: int) -> Outlet[int]:
        """The outlet for a new subscriber."""
        raise NotImplementedError

    # --- operations --------------------------------------------------------------------------

    def subscribe(self, subscriber: int, n: int) -> list[Message]:
        """Subscribe a new subscriber, which requests ``n`` elements within onSubscribe."""
        self._subscribers.begins(subscriber, n)

        def join() -> None:
            self._outlets[subscriber] = self.subscribe_to(subscriber)
        return self.called("subscribe", subscriber, join)

    def hold(self, subscriber: int) -> bool:
        """Keep the subscriber's next onNext from returning until ``release``."""
        self._subscribers.hold(subscriber)
        return True

    def release(self, subscriber: int) -> list[Message]:
        """Let the onNext that is held return."""
        if subscriber in self._held:
            self._held.discard(subscriber)
            self._subscribers.event("returned", subscriber)
            self._outlets[subscriber].done()
        return self.then()

    def run(self) -> list[Message]:
        """See the port: one signal of the first subscriber that has one."""
        any(self._deliver_one(each) for each in self._outlets)
        return self._subscribers.told()

    def settle_(self) -> list[Message]:
        """Run all that can run; return the events of it."""
        self.drive()
        return self.told()

    # --- the driver --------------------------------------------------------------------------

    def then(self) -> list[Message]:
        """See ``Calls``: what is inline is delivered before a call returns."""
        if self.policy == "inline":
            self.drive()
        return self.told()

    def drive(self) -> None:
        """Let everything happen that can happen now."""
        self.pump()

    def told(self) -> list[Message]:
        """The events since the last reply."""
        return self._subscribers.told()

    def pump(self) -> None:
        """Deliver signals until there are none."""
        delivered = True
        while delivered:
            # A list, because every subscriber must have its turn.
            delivered = True in [self._deliver_one(each) for each in [*self._outlets]]

    def _deliver_one(self, subscriber: int) -> bool:
        """Deliver the next signal to a subscriber, if there is one."""
        outlet = self._outlets[subscriber]
        signal = outlet.take()
        if signal is None:
            return False
        if deliver(self._subscribers, subscriber, signal):
            outlet.done()
        else:
            self._held.add(subscriber)
        return True

    def _request(self, subscriber: int, count: int) -> None:
        """Make a request from within a signal."""
        self._outlets[subscriber].request(count)
        if self.policy == "inline":
            while self._deliver_one(subscriber):
                pass

    def _cancel(self, subscriber: int) -> None:
        self._outlets[subscriber].cancel()


def deliver(subscribers: Subscribers, subscriber: int, signal: Signal[int]) -> bool:
    """Deliver a signal to a subscriber; true if it has returned, and is not held."""
    if isinstance(signal, Next):
        return subscribers.on_next(subscriber, signal.element)
    if isinstance(signal, Subscribed):
        subscribers.on_subscribe(subscriber)
    elif isinstance(signal, Complete):
        subscribers.on_complete(subscriber)
    elif isinstance(signal, Failed):
        subscribers.on_error(subscriber, signal.error)
    return True


def elements_of(settings: Mapping[str, Any]) -> Iterator[int]:
    """The elements of a program, and how they end."""
    yield from range(settings["first"], settings["first"] + settings["capacity"])
    if settings["fails"]:
        raise SourceFailed


class ReferencePublisher(Driven):
    """The reference publisher; a twin replaces ``outlet`` or ``publisher``."""

    port: ClassVar[Port] = PORT
    name = "reference publisher"
    outlet: type[Outlet[int]] = Outlet
    publisher: type[IterablePublisher[int]] = IterablePublisher

    def start(self, settings: Mapping[str, Any]) -> None:
        self.begin()
        self._publisher = self.publisher(
            lambda: self._subscribers.drawing(elements_of(settings)))
        self._publisher.outlet = self.outlet

    def subscribe_to(self, subscriber: int) -> Outlet[int]:
        return self._publisher.subscribe(subscriber)

    def subscribe_null(self) -> bool:
        try:
            self._publisher.subscribe(None)
        except Exception:  # noqa: BLE001 any exception will do
            return True
        return False

    def references(self) -> list[int]:
        return [each for each in self._publisher.subscribers if isinstance(each, int)]


class InlinePublisher(ReferencePublisher):
    """The same publisher; its signals are delivered within the calls that allow them."""

    policy: ClassVar[str] = "inline"
    name = "reference publisher, inline"

    def _method(self, do: str) -> Callable[..., Any] | None:
        return None if do == "run" else super()._method(do)
