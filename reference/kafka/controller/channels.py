"""For each broker a queue of requests, of which one is under way.

A request that is not answered is sent again until it is, or until the broker is removed: the same
request, so it arrives at least once, and in order. Queues of different brokers are independent.

A broker may be registered and answer nothing for any time. So that its queue stays bounded, a
request about a partition *replaces* the waiting requests of its kind about it; one that becomes
empty is removed. The order of the latest requests about a partition is kept. The request under way
is not changed: its answer must belong to the request that was sent. So at most ``waiting_max``
requests wait. Kafka's queue keeps all, and has no bound.

Source: Kafka's ControllerChannelManager and RequestSendThread.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Set
from dataclasses import replace
from typing import Any, Final, TypeVar

from .terms import (
    BrokerAnswer, ControllerRequest, Effect, Later, LeaderAndIsr, Noted, Send, StopReplica,
    TopicPartition, UpdateMetadata,
)

__all__ = ["KINDS", "RETRY_MS", "Channels", "waiting_max"]

_Request = TypeVar("_Request", LeaderAndIsr, UpdateMetadata, StopReplica)

KINDS: Final = 4
"""Kinds of waiting requests that a partition may be in, once each: LeaderAndIsr, UpdateMetadata,
and StopReplica with or without deletion.
"""

RETRY_MS: Final = 100
"""The pause of a channel before it sends a request again, in ms."""


def waiting_max(partitions: int) -> int:
    """The maximal number of waiting requests, besides the one under way: one more than the pairs of
    a partition and a kind, for an UpdateMetadata about no partition, which lists the live brokers.
    """
    return KINDS * partitions + 1


class _Channel:
    """``under_way`` is the number under which the first of the queue was sent; None if it is not
    under way. ``waiting`` is the number of the pause before it is sent again.
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
        """A broker is gone; its queue is dropped."""
        self._channels.pop(broker, None)

    def clear(self) -> None:
        """Drop all channels: nothing more is sent."""
        self._channels.clear()

    def queue_of(self, broker: int) -> tuple[ControllerRequest, ...]:
        """The unanswered requests, the one under way first."""
        channel = self._channels.get(broker)
        return tuple(channel.queue) if channel else ()

    def send(self, broker: int, request: ControllerRequest) -> None:
        """Put a request into the queue of a broker; for an unknown broker it is dropped."""
        channel = self._channels.get(broker)
        if channel is None:
            self._emit(Noted("dropped", (broker, type(request).__name__)))
            return
        self.put(channel, request)
        self._send_first(broker, channel)

    def put(self, channel: _Channel, request: ControllerRequest) -> None:
        """Append a request to a queue; it replaces waiting requests of its kind about the same
        partitions.
        """
        first = 0 if channel.under_way is None and channel.waiting is None else 1
        sent = [channel.queue.popleft() for _ in range(min(first, len(channel.queue)))]
        channel.queue = deque([*sent, *_joined(channel.queue, request)])

    def lengths(self) -> dict[int, int]:
        """The number of unanswered requests, by broker."""
        return {broker: len(channel.queue) for broker, channel in self._channels.items()}

    def answered(self, broker: int, number: int, answer: BrokerAnswer) -> ControllerRequest | None:
        """An answer came: return its request, or None if that is not under way."""
        channel = self._channels.get(broker)
        if channel is None or channel.under_way != number:
            return None
        channel.under_way = None
        request = channel.queue.popleft()
        self._send_first(broker, channel)
        return request

    def failed(self, broker: int, number: int) -> None:
        """No answer came: send the request again after a pause."""
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


def _joined(
    waiting: Iterable[ControllerRequest], request: ControllerRequest,
) -> list[ControllerRequest]:
    """The waiting requests after another one is added."""
    left: list[ControllerRequest] = []
    for each in waiting:
        if isinstance(each, UpdateMetadata) and isinstance(request, UpdateMetadata):
            left += _metadata_left(each, request)
        elif isinstance(each, LeaderAndIsr) and isinstance(request, LeaderAndIsr):
            request = _still_new(each, request)
            left += _left(each, each.partitions.keys() & request.partitions.keys())
        elif isinstance(each, StopReplica) and isinstance(request, StopReplica):
            left += _left(each, {which for which, told in request.partitions.items()
                                 if which in each.partitions
                                 and each.partitions[which].delete == told.delete})
        else:
            left.append(each)
    says_it_all = isinstance(request, UpdateMetadata) and not request.partitions and any(
        isinstance(each, UpdateMetadata) for each in left)
    return left if says_it_all else [*left, request]


def _left(each: _Request, again: Set[TopicPartition]) -> list[_Request]:
    """A waiting request without some partitions; an empty list if those were all."""
    rest: Any = {which: told for which, told in each.partitions.items() if which not in again}
    return [replace(each, partitions=rest)] if rest else []


def _metadata_left(each: UpdateMetadata, request: UpdateMetadata) -> list[UpdateMetadata]:
    """The waiting UpdateMetadata lists the live brokers of now; brokers must know these before they
    follow a leader, so one without partitions stays in its place (KAFKA-4443).
    """
    now = replace(each, live=request.live)
    return _left(now, each.partitions.keys() & request.partitions.keys()) if each.partitions else [
        now]


def _still_new(each: LeaderAndIsr, request: LeaderAndIsr) -> LeaderAndIsr:
    """A replica that was new in a replaced request is still new."""
    new = [which for which, told in each.partitions.items()
           if told.is_new and which in request.partitions]
    return request if not new else replace(request, partitions=request.partitions | {
        which: request.partitions[which]._replace(is_new=True) for which in new})
