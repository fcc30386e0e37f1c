"""ZeroMQ's sockets under test, by pyzmq: pairs of one process, and their high-water marks.

Both ends belong to one thread and one context (``inproc``), so that a message that was sent can be
received at once; a socket learns what the other end did when it is asked for its events.
"""

from __future__ import annotations

import json
from typing import Any, ClassVar

from ...adapters.base import missing
from .adapter import QueueAdapter
from .one_wait import OneWaitQueue

__all__ = ["Conflating", "PubSub", "PushPull"]

Item = str | int


class _Pair(QueueAdapter):
    """Two sockets that are connected. Both have the capacity as their high-water mark."""

    ends: ClassVar[tuple[str, str]]
    conflates: ClassVar[bool] = False

    def start(self, capacity: int) -> None:
        """Begin with a fresh, empty queue of ``capacity`` items."""
        try:
            import zmq
        except ImportError as error:
            raise missing("pyzmq") from error
        self._zmq = zmq
        self.version = zmq.zmq_version()
        self._context = zmq.Context()
        self._sender, self._receiver = (
            self._context.socket(getattr(zmq, end)) for end in self.ends)
        for socket in (self._sender, self._receiver):
            socket.setsockopt(zmq.LINGER, 0)
            socket.set_hwm(capacity)
            if self.conflates:
                socket.setsockopt(zmq.CONFLATE, 1)
        self._sender.bind("inproc://queue")
        self._receiver.connect("inproc://queue")

    def offer(self, item: Item) -> bool:
        self._sender.getsockopt(self._zmq.EVENTS)
        try:
            self._sender.send(json.dumps(item).encode(), self._zmq.NOBLOCK)
        except self._zmq.Again:
            return False
        return True

    def poll(self) -> Item | None:
        self._receiver.getsockopt(self._zmq.EVENTS)
        try:
            item: Item = json.loads(self._receiver.recv(self._zmq.NOBLOCK))
        except self._zmq.Again:
            return None
        return item

    def close(self) -> None:
        """Close both ends and their context."""
        if hasattr(self, "_context"):
            self._context.destroy(linger=0)


class PushPull(_Pair, OneWaitQueue):
    """PUSH, which waits for a free slot, and PULL.

    A blocking send waits until its socket reports that it may send, and then sends.
    """

    name: ClassVar[str] = "zmq PUSH and PULL"
    ends = ("PUSH", "PULL")
    _waiting: Any = None

    def begin(self, item: Item) -> None:
        """Remember the item of the put that waits."""
        self._waiting = item

    def over(self) -> bool:
        """True if the waiting item could be sent now."""
        return self.offer(self._waiting)


class PubSub(_Pair):
    """XPUB, which drops messages for which a subscriber has no free slot, and SUB.

    XPUB is PUB, but for the subscription, which it hands out: so it is known to have come.
    """

    name: ClassVar[str] = "zmq PUB and SUB"
    policy: ClassVar[str] = "drop-newest"
    ends = ("XPUB", "SUB")

    def start(self, capacity: int) -> None:
        """Begin with a fresh, empty queue of ``capacity`` items."""
        super().start(capacity)
        self._receiver.setsockopt(self._zmq.SUBSCRIBE, b"")
        self._sender.recv()


class Conflating(_Pair):
    """PUSH and PULL with the option CONFLATE, which keeps the newest message."""

    name: ClassVar[str] = "zmq with CONFLATE"
    policy: ClassVar[str] = "conflate"
    ends = ("PUSH", "PULL")
    conflates = True
