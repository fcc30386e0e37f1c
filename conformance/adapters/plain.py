"""Queues of the standard library that are called and answer: ``queue.Queue`` and ``deque``."""

from __future__ import annotations

import platform
import queue
from collections import deque
from typing import ClassVar

from .base import QueueAdapter

__all__ = ["DroppingDeque", "ThreadQueue"]

Item = str | int


class ThreadQueue(QueueAdapter):
    """``queue.Queue`` by its calls that do not block.

    Its blocking ``put`` and ``get`` are left out: a thread that blocks cannot be cancelled, and
    when it has blocked can only be guessed from outside, by waiting a while.
    """

    name: ClassVar[str] = "queue.Queue"
    policy: ClassVar[str] = "reject"
    version = platform.python_version()

    def start(self, capacity: int) -> None:
        """See ``QueueAdapter.start``."""
        self._queue: queue.Queue[Item] = queue.Queue(capacity)

    def offer(self, item: Item) -> bool:
        """See the port."""
        try:
            self._queue.put_nowait(item)
        except queue.Full:
            return False
        return True

    def poll(self) -> Item | None:
        """See the port."""
        try:
            return self._queue.get_nowait()
        except queue.Empty:
            return None

    def size(self) -> int:
        """See the port."""
        return self._queue.qsize()


class DroppingDeque(QueueAdapter):
    """``collections.deque(maxlen=capacity)``: a full one silently forgets its oldest item."""

    name: ClassVar[str] = "collections.deque"
    policy: ClassVar[str] = "drop-oldest"
    version = platform.python_version()

    def start(self, capacity: int) -> None:
        """See ``QueueAdapter.start``."""
        self._items: deque[Item] = deque(maxlen=capacity)

    def offer(self, item: Item) -> bool:
        """See the port."""
        self._items.append(item)
        return True

    def poll(self) -> Item | None:
        """See the port."""
        return self._items.popleft() if self._items else None

    def size(self) -> int:
        """See the port."""
        return len(self._items)
