"""Two more queues of the standard library: ``queue.SimpleQueue``, ``multiprocessing.Queue``."""

from __future__ import annotations

import multiprocessing
import platform
import queue
import threading
from typing import Any, ClassVar, Final

from ...computer.patience import Countdown
from .adapter import QueueAdapter
from .one_wait import OneWaitQueue

__all__ = ["MultiprocessingQueue", "SimpleQueue"]

Item = str | int

_SECONDS: Final = 5.0
"""Time of an idle machine in which the feeder thread, or a woken thread, makes progress."""
_LOOK_SECONDS: Final = 0.05


class SimpleQueue(QueueAdapter):
    """``queue.SimpleQueue``, which has no capacity: the one that it is asked for is ignored."""

    name: ClassVar[str] = "queue.SimpleQueue"
    policy: ClassVar[str] = "unbounded"
    version = platform.python_version()

    def start(self, capacity: int) -> None:
        """Begin with a fresh, empty queue of ``capacity`` items."""
        self._queue: queue.SimpleQueue[Item] = queue.SimpleQueue()

    def offer(self, item: Item) -> bool:
        self._queue.put_nowait(item)
        return True

    def put(self, item: Item) -> bool:
        """See the port. It never blocks."""
        self._queue.put(item)
        return True

    def poll(self) -> Item | None:
        try:
            return self._queue.get_nowait()
        except queue.Empty:
            return None

    def size(self) -> int:
        return self._queue.qsize()


class MultiprocessingQueue(OneWaitQueue):
    """``multiprocessing.Queue``, with both its ends in this process.

    An item that was put goes through a thread and a pipe before it can be had. The queue's
    semaphore knows of it at once: so long as ``qsize`` counts one, it is on its way, and a poll
    waits for it.
    """

    name: ClassVar[str] = "multiprocessing.Queue"
    version = platform.python_version()

    def start(self, capacity: int) -> None:
        """Begin with a fresh, empty queue of ``capacity`` items."""
        self._queue: Any = multiprocessing.get_context("spawn").Queue(capacity)
        self._thread: threading.Thread | None = None
        self._room_came = False

    def offer(self, item: Item) -> bool:
        try:
            self._queue.put_nowait(item)
        except queue.Full:
            return False
        return True

    def begin(self, item: Item) -> None:
        """A put waits: a thread blocks in the queue's semaphore."""
        self._thread = threading.Thread(target=self._queue.put, args=(item,), daemon=True)
        self._room_came = False
        self._thread.start()

    def over(self) -> bool:
        """True if the put has ended: never before an item was taken, and soon after that."""
        assert self._thread is not None
        left = Countdown(_SECONDS)
        while self._room_came and self._thread.is_alive() and not left.over:
            self._thread.join(_LOOK_SECONDS)
        return not self._thread.is_alive()

    def poll(self) -> Item | None:
        left = Countdown(_SECONDS)
        while self._queue.qsize() > 0:
            try:
                item: Item = self._queue.get(timeout=_LOOK_SECONDS)
            except queue.Empty:
                if left.over:
                    break
                continue
            self._room_came = True
            self.settle()
            return item
        return None

    def size(self) -> int:
        size: int = self._queue.qsize()
        return size

    def close(self) -> None:
        """Let the put that waits in, and end the feeder thread."""
        if not hasattr(self, "_queue"):
            return
        while self._thread is not None and self._thread.is_alive() and self.poll() is not None:
            pass
        self._queue.close()
        self._queue.cancel_join_thread()
