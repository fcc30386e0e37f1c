"""A queue; its items can be taken from their time on, the earliest first.

java.util.concurrent.DelayQueue as Kafka uses it, with the time as an argument. Items with the same
time leave in the order in which they came; Java's queue promises no order for them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from heapq import heapify, heappop, heappush
from typing import Generic, TypeVar

from .locks import LockFactory

__all__ = ["DelayQueue", "LockedDelayQueue"]

T = TypeVar("T")


class DelayQueue(Generic[T]):
    """A binary heap: O(log k) to offer and to take. For one thread."""

    __slots__ = ("_heap", "_turn")

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, T]] = []
        self._turn = itertools.count()

    def offer(self, item: T, time: int) -> None:
        """``item`` can be taken from ``time`` (ms) on."""
        heappush(self._heap, (time, next(self._turn), item))

    def poll(self, now: int) -> T | None:
        """Take the earliest item that is due at ``now``; None if there is none."""
        heap = self._heap
        if heap and heap[0][0] <= now:
            return heappop(heap)[2]
        return None

    def first_time(self) -> int | None:
        """The time from which the earliest item can be taken; None if the queue is empty."""
        heap = self._heap
        return heap[0][0] if heap else None

    def discard(self, unwanted: Callable[[T], bool]) -> int:
        """Drop every unwanted item, and return their number. Costs O(k)."""
        heap = self._heap
        before = len(heap)
        heap[:] = [row for row in heap if not unwanted(row[2])]
        heapify(heap)
        return before - len(heap)

    def items(self) -> list[T]:
        """All items, in no order."""
        return [item for _, _, item in self._heap]

    def __len__(self) -> int:
        return len(self._heap)


class LockedDelayQueue(DelayQueue[T]):
    """The same for several threads: each call is one step."""

    __slots__ = ("_lock",)

    def __init__(self, lock: LockFactory) -> None:
        super().__init__()
        self._lock = lock()

    def offer(self, item: T, time: int) -> None:
        """Offer an item, under the lock."""
        with self._lock:
            super().offer(item, time)

    def poll(self, now: int) -> T | None:
        """Take the earliest due item, under the lock."""
        with self._lock:
            return super().poll(now)

    def first_time(self) -> int | None:
        """The time of the earliest item, read under the lock."""
        with self._lock:
            return super().first_time()

    def discard(self, unwanted: Callable[[T], bool]) -> int:
        """Drop unwanted items, under the lock."""
        with self._lock:
            return super().discard(unwanted)
