"""The watcher lists: for each key, the operations that its events may complete.

A list is a dict with values that mean nothing: it keeps the order of insertion, an operation enters
and leaves it in one step each, and ``tuple(watchers)`` is a snapshot in one step. So iterating over
a list needs no lock, and other threads may change it meanwhile.

The map from keys to lists needs one: finding or making a list and entering it must be one step, or
the list may be removed in between. And a thread removes a list that it found empty some time ago.
So there are two tests under the lock: is this *still this key's* list, not one that was made since;
and is it *still empty*.

With several threads the keys are spread over shards with a lock each (KAFKA-6431).

Source: DelayedOperationPurgatory of Kafka 0.9 to 3.9.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator
from typing import Final, TypeAlias

from .delayed_operation import DelayedOperation, Keys
from .locks import LockFactory, Mutex

__all__ = ["SHARDS", "LockedWatcherLists", "WatcherLists", "Watchers"]

Watchers: TypeAlias = dict[DelayedOperation, None]
SHARDS: Final = 512


class WatcherLists:
    """For one thread. Lists are made when they are needed."""

    __slots__ = ("_lists",)

    def __init__(self) -> None:
        self._lists: defaultdict[Hashable, Watchers] = defaultdict(dict)

    def watch(self, operation: DelayedOperation, keys: Keys) -> None:
        """Put the operation on the list of each key."""
        lists = self._lists
        for key in keys:
            lists[key][operation] = None

    def of(self, key: Hashable) -> Watchers | None:
        """The key's list; None if it has none."""
        return self._lists.get(key)

    def remove_if_empty(self, key: Hashable, watchers: Watchers) -> None:
        """Forget the key if ``watchers`` is still its list, and still empty."""
        if self._lists.get(key) is watchers and not watchers:
            del self._lists[key]

    def take(self, key: Hashable) -> Watchers:
        """Forget the key, and return its list."""
        return self._lists.pop(key, {})

    def completed_of(self, watchers: Watchers) -> list[DelayedOperation]:
        """The completed operations of a list. Costs a scan."""
        return [operation for operation in watchers if operation.completed]

    def items(self) -> list[tuple[Hashable, Watchers]]:
        """All keys with their lists."""
        return list(self._lists.items())

    @property
    def watched(self) -> int:
        """The total length of all lists: an operation counts once for each of its keys."""
        return sum(len(watchers) for _, watchers in self.items())

    @property
    def keys(self) -> list[Hashable]:
        """The keys that have a list."""
        return [key for key, _ in self.items()]


class LockedWatcherLists(WatcherLists):
    """For several threads: ``shards`` maps, with a mutex each."""

    __slots__ = ("_shards",)

    def __init__(self, lock: LockFactory, shards: int = SHARDS) -> None:
        super().__init__()
        self._shards = tuple((lock(), WatcherLists()) for _ in range(shards))

    def _shard(self, key: Hashable) -> tuple[Mutex, WatcherLists]:
        return self._shards[hash(key) % len(self._shards)]

    def watch(self, operation: DelayedOperation, keys: Keys) -> None:
        """Put the operation on the list of each key, one step for each."""
        for key in keys:
            lock, shard = self._shard(key)
            with lock:
                shard.watch(operation, (key,))

    def of(self, key: Hashable) -> Watchers | None:
        """The key's list, which is then used without the lock."""
        lock, shard = self._shard(key)
        with lock:
            return shard.of(key)

    def remove_if_empty(self, key: Hashable, watchers: Watchers) -> None:
        """Forget the key under the lock, if ``watchers`` is still its list, and still empty."""
        lock, shard = self._shard(key)
        with lock:
            shard.remove_if_empty(key, watchers)

    def take(self, key: Hashable) -> Watchers:
        """Forget the key under the lock, and return its list."""
        lock, shard = self._shard(key)
        with lock:
            return shard.take(key)

    def completed_of(self, watchers: Watchers) -> list[DelayedOperation]:
        """The completed operations in a snapshot of a list."""
        return [operation for operation in tuple(watchers) if operation.completed]

    def items(self) -> list[tuple[Hashable, Watchers]]:
        """All keys with their lists, one shard after the other."""
        return list(self._every())

    def _every(self) -> Iterator[tuple[Hashable, Watchers]]:
        for lock, shard in self._shards:
            with lock:
                found = shard.items()
            yield from found
