"""A map that forgets: N buckets, of which each tick drops the oldest.

An entry that is put after a tick is dropped with the N-th tick after it. If ticks are P apart, its
lifetime is more than (N - 1) P and at most N P. There is no clock in here: the driver calls
``rotate``.

A call that raises has changed nothing.
"""

from __future__ import annotations

from collections import deque
from typing import Final, Generic, TypeVar

__all__ = ["BUCKETS_MAX", "RotatingMap", "RotatingMisuse"]

K = TypeVar("K")
V = TypeVar("V")

BUCKETS_MAX: Final = 1024


class RotatingMisuse(ValueError):
    """A number of buckets that makes no sense; usual cause: seconds where buckets were meant."""


class RotatingMap(Generic[K, V]):
    """At most one value for a key, in one of ``buckets`` buckets (1 to ``BUCKETS_MAX``).

    Raises ``RotatingMisuse`` for another number. ``len`` is the number of keys.
    """

    def __init__(self, buckets: int) -> None:
        if type(buckets) is not int or not 1 <= buckets <= BUCKETS_MAX:
            raise RotatingMisuse(
                f"the number of buckets is an integer from 1 to {BUCKETS_MAX}, not {buckets!r}")
        self.buckets: Final = buckets
        # The front, to which everything is put, is the first.
        self._buckets: deque[dict[K, V]] = deque({} for _ in range(buckets))

    def put(self, key: K, value: V) -> None:
        """Hold the key from now on for ``buckets`` rotations."""
        for bucket in self._buckets:
            bucket.pop(key, None)
        self._buckets[0][key] = value

    def get(self, key: K) -> V | None:
        """The key's value, or None; its lifetime stays as it is."""
        for bucket in self._buckets:
            if key in bucket:
                return bucket[key]
        return None

    def replace(self, key: K, value: V) -> None:
        """Change a key's value in place: its lifetime stays as it is. ``KeyError`` if absent."""
        for bucket in self._buckets:
            if key in bucket:
                bucket[key] = value
                return
        raise KeyError(key)

    def remove(self, key: K) -> V:
        """Remove the key, and return its value. ``KeyError`` if absent."""
        for bucket in self._buckets:
            if key in bucket:
                return bucket.pop(key)
        raise KeyError(key)

    def rotate(self) -> dict[K, V]:
        """One tick: drop the oldest bucket, and return it in the order of its puts."""
        expired = self._buckets.pop()
        self._buckets.appendleft({})
        return expired

    def __contains__(self, key: K) -> bool:
        return any(key in bucket for bucket in self._buckets)

    def __len__(self) -> int:
        return sum(map(len, self._buckets))
