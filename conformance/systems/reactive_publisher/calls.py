"""The calls of subscribers to a publisher, made from the port's operations by any adapter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....reference.reactive.signals import DEMAND_MAX
from ...adapters.port_adapter import PortAdapter
from ...ports.base import Message
from .subscribers import Subscribers

__all__ = ["Calls"]


class Calls(PortAdapter):
    """Requests, cancels, and plans of subscribers; ``_subscribers`` report the signals.

    An adapter says what a subscription is, and where and when the publisher is called.
    """

    _subscribers: Subscribers

    def subscription(self, subscriber: int) -> Any:
        """The object with ``request`` and ``cancel`` for a subscriber."""
        raise NotImplementedError

    def running(self, made: Callable[[], object]) -> None:
        """Make a call where the publisher wants to be called."""
        made()

    def then(self) -> list[Message]:
        """The events that a call has caused before it returns."""
        return self._subscribers.told()

    def called(self, name: str, subscriber: int, made: Callable[[], object]) -> list[Message]:
        """Make a call for a subscriber, and return the events that it causes."""
        self._subscribers.call(name, subscriber, lambda: self.running(made))
        return self.then()

    def request_(self, subscriber: int, n: int) -> list[Message]:
        """Request ``n`` elements, from outside of the subscriber's signals."""
        return self.called(
            "request", subscriber, lambda: self.subscription(subscriber).request(n))

    def request_all(self, subscriber: int) -> list[Message]:
        """Request 2^63 - 1 elements, which is as good as no bound."""
        return self.request_(subscriber, DEMAND_MAX)

    def cancel(self, subscriber: int) -> list[Message]:
        """Cancel the subscription, perhaps again."""
        return self.called("cancel", subscriber, lambda: self.subscription(subscriber).cancel())

    def plan(self, subscriber: int, n: int) -> bool:
        """Let the subscriber request ``n`` more in each onNext from now on."""
        self._subscribers.plan(subscriber, n)
        return True

    def quit(self, subscriber: int) -> bool:
        """Let the subscriber cancel in its next onNext."""
        self._subscribers.quit(subscriber)
        return True
