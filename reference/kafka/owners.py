"""Who has requests in a purgatory: a consumer group, and a partition; and in which order they lock.

Theory of operation
-------------------
Each has a lock of its own for what its requests wait for. To try a request is to ask its owner, so
a thread that comes from the purgatory takes first the request's lock and then the owner's. A
thread that comes from the owner must not do it the other way round: it changes the owner under its
lock, gives that back, and only then tells the purgatory of the event. That holds for a lock that
is shared with other readers too, for a reader may have to wait behind a writer who waits
(KAFKA-5970, KAFKA-7697).

A member may join, and so begin to wait, while the group's lock is held: the purgatory takes
nothing then but the lock of a request that nobody else can have yet, and those of its lists, which
nobody holds for longer than a look.

Source: GroupCoordinator and Partition of Kafka 2.x, as far as their locks go.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Protocol

from .locks import Mutex

__all__ = ["Group", "Partition", "ReadersAndWriters", "Tell"]

Tell = Callable[[Hashable], int]
"""Tells the purgatory of an event of a key: ``Purgatory.check_and_complete``."""


class ReadersAndWriters(Protocol):
    """A lock that many may read under, or one may write under."""

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
        """Whether what the request waits for has come true."""
        with self.lock:
            return request in self._ready

    def change(self, request: str, key: Hashable) -> int:
        """What the request waits for comes true; how many requests that completed."""
        with self.lock:
            self._ready.add(request)
        return self._tell(key)

    def join(self, watch: Callable[[], bool]) -> bool:
        """A member begins to wait."""
        with self.lock:
            return watch()

    def heartbeat(self) -> None:
        """What else the lock is used for."""
        with self.lock:
            self._beats += 1


class Partition:
    """A partition, whose leader may change: to append is to read under its lock, as to fetch is."""

    def __init__(self, lock: ReadersAndWriters, tell: Tell) -> None:
        self.lock = lock
        self._tell = tell
        self._ready: set[str] = set()
        self._epoch = 0

    def is_ready(self, request: str) -> bool:
        """Whether there is enough for a fetch."""
        with self.lock.read:
            return request in self._ready

    def append(self, request: str, key: Hashable) -> int:
        """What a fetch waits for is there; how many requests that completed."""
        with self.lock.read:
            self._ready.add(request)
        return self._tell(key)

    def elect(self) -> None:
        """Another leader is elected: a new epoch."""
        with self.lock.write:
            self._epoch += 1
