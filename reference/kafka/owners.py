"""Owners of requests in a purgatory: a consumer group, and a partition; and their lock order.

Theory of operation
-------------------
Each has a lock of its own for the conditions of its requests. A try of a request asks its owner, so
a thread that comes from the purgatory takes first the request's lock and then the owner's. A thread
that comes from the owner must not take them in the opposite order: it changes the owner under its
lock, releases that, and only then reports the event to the purgatory. That holds for a lock that is
shared with other readers too, since a reader may have to wait behind a waiting writer (KAFKA-5970,
KAFKA-7697).

A member may join, and so begin to wait, while the group's lock is held: the purgatory takes then
only the lock of a request that no other thread can have yet, and those of its lists, which are held
only briefly.

Source: GroupCoordinator and Partition of Kafka 2.x, as far as their locks go.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Protocol

from .locks import Mutex

__all__ = ["Group", "Partition", "ReadersAndWriters", "Tell"]

Tell = Callable[[Hashable], int]
"""Reports an event of a key to the purgatory: ``Purgatory.check_and_complete``."""


class ReadersAndWriters(Protocol):
    """A lock that many readers may share, or one writer may hold."""

    @property
    def read(self) -> Mutex:
        """To be entered by a reader."""
        ...

    @property
    def write(self) -> Mutex:
        """To be entered by a writer."""
        ...


class Group:
    """A consumer group with one lock. Requests go by name."""

    def __init__(self, lock: Mutex, tell: Tell) -> None:
        self.lock = lock
        self._tell = tell
        self._ready: set[str] = set()
        self._beats = 0

    def is_ready(self, request: str) -> bool:
        """True if the request's condition has become true."""
        with self.lock:
            return request in self._ready

    def change(self, request: str, key: Hashable) -> int:
        """The request becomes ready; returns the number of requests that this completed."""
        with self.lock:
            self._ready.add(request)
        return self._tell(key)

    def join(self, watch: Callable[[], bool]) -> bool:
        """A member begins to wait."""
        with self.lock:
            return watch()

    def heartbeat(self) -> None:
        """Another use of the lock."""
        with self.lock:
            self._beats += 1


class Partition:
    """A partition with a leader that may change; appends and fetches both read under its lock."""

    def __init__(self, lock: ReadersAndWriters, tell: Tell) -> None:
        self.lock = lock
        self._tell = tell
        self._ready: set[str] = set()
        self._epoch = 0

    def is_ready(self, request: str) -> bool:
        """True if there is enough for a fetch."""
        with self.lock.read:
            return request in self._ready

    def append(self, request: str, key: Hashable) -> int:
        """The records for a fetch have arrived; returns the number of requests that this completed.
        """
        with self.lock.read:
            self._ready.add(request)
        return self._tell(key)

    def elect(self) -> None:
        """Another leader is elected: a new epoch."""
        with self.lock.write:
            self._epoch += 1
