"""To each broker a queue of requests, of which one is under way.

A request that is not answered is sent again until it is, or until the broker is removed: the
same request, so it arrives at least once, and in order. Queues of different brokers know nothing
of each other. Source: Kafka's ControllerChannelManager and RequestSendThread.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final

from .terms import BrokerAnswer, ControllerRequest, Effect, Later, Noted, Send

__all__ = ["RETRY_MS", "Channels"]

RETRY_MS: Final = 100
"""How long a channel waits before it sends a request again."""


class _Channel:
    """``under_way`` is the number under which the first of the queue was sent; None: it is not.

    ``waiting`` is the number of the pause before it is sent again.
    """

    def __init__(self) -> None:
        self.queue: deque[ControllerRequest] = deque()
        self.under_way: int | None = None
        self.waiting: int | None = None


class Channels:
    """The channels of one controller. ``emit`` takes effects, ``number`` gives fresh numbers."""

    def __init__(self, emit: Callable[[Effect], None], number: Callable[[], int]) -> None:
        self._emit, self._number = emit, number
        self._channels: dict[int, _Channel] = {}

    def add(self, broker: int) -> None:
        """A broker has come; its queue is empty."""
        self._channels.setdefault(broker, _Channel())

    def remove(self, broker: int) -> None:
        """A broker is gone; what was in its queue is dropped."""
        self._channels.pop(broker, None)

    def clear(self) -> None:
        """Nothing more is sent to anybody."""
        self._channels.clear()

    def queue_of(self, broker: int) -> tuple[ControllerRequest, ...]:
        """What was not answered yet, the request under way first."""
        channel = self._channels.get(broker)
        return tuple(channel.queue) if channel else ()

    def send(self, broker: int, request: ControllerRequest) -> None:
        """Put a request into the queue of a broker; one that is not there is not told."""
        channel = self._channels.get(broker)
        if channel is None:
            self._emit(Noted("dropped", (broker, type(request).__name__)))
            return
        channel.queue.append(request)
        self._send_first(broker, channel)

    def answered(self, broker: int, number: int, answer: BrokerAnswer) -> ControllerRequest | None:
        """An answer came: the request that it is for, or None if that is not under way."""
        channel = self._channels.get(broker)
        if channel is None or channel.under_way != number:
            return None
        channel.under_way = None
        request = channel.queue.popleft()
        self._send_first(broker, channel)
        return request

    def failed(self, broker: int, number: int) -> None:
        """No answer came: send it again after a while."""
        channel = self._channels.get(broker)
        if channel is not None and channel.under_way == number:
            channel.under_way, channel.waiting = None, self._number()
            self._emit(Later(channel.waiting, RETRY_MS))

    def elapsed(self, number: int) -> None:
        """The pause with that number is over."""
        for broker, channel in self._channels.items():
            if channel.waiting == number:
                channel.waiting = None
                self._send_first(broker, channel)

    def _send_first(self, broker: int, channel: _Channel) -> None:
        if channel.queue and channel.under_way is None and channel.waiting is None:
            channel.under_way = self._number()
            self._emit(Send(broker, channel.under_way, channel.queue[0]))
