"""A list in a real Redis, bounded by a script or by trimming it; a server for each session."""

from __future__ import annotations

import json
from typing import ClassVar, Final

from ...services.redis import Redis, RedisClient
from .adapter import QueueAdapter

__all__ = ["RedisList", "TrimmedRedisList"]

Item = str | int

_KEY: Final = "queue"
_PUSH_IF_ROOM: Final = (
    "if redis.call('llen', KEYS[1]) >= tonumber(ARGV[1]) then return 0 end "
    "redis.call('rpush', KEYS[1], ARGV[2]) return 1")
_PUSH_AND_TRIM: Final = (
    "redis.call('rpush', KEYS[1], ARGV[2]) "
    "redis.call('ltrim', KEYS[1], -tonumber(ARGV[1]), -1) return 1")


class RedisList(QueueAdapter):
    """A script pushes if there is a free slot, in one step; else it refuses."""

    name: ClassVar[str] = "a Redis list, bounded by a script"
    policy: ClassVar[str] = "reject"
    script: ClassVar[str] = _PUSH_IF_ROOM

    def start(self, capacity: int) -> None:
        """Begin with a fresh, empty queue of ``capacity`` items."""
        self._capacity = capacity
        self._server = Redis().start()
        self._client = RedisClient(self._server.port)

    def offer(self, item: Item) -> bool:
        text = json.dumps(item)     # Redis has texts only
        size = str(self._capacity)
        return bool(self._client.ask("EVAL", self.script, "1", _KEY, size, text) == 1)

    def poll(self) -> Item | None:
        text = self._client.ask("LPOP", _KEY)
        item: Item | None = None if text is None else json.loads(text)
        return item

    def size(self) -> int:
        size: int = self._client.ask("LLEN", _KEY)
        return size

    def close(self) -> None:
        """Close the connection, and end the server."""
        if hasattr(self, "_server"):
            self._client.close()
            self._server.close()


class TrimmedRedisList(RedisList):
    """An item that is pushed is always accepted; then the list is trimmed to its newest items."""

    name: ClassVar[str] = "a Redis list that is trimmed"
    policy: ClassVar[str] = "drop-oldest"
    script: ClassVar[str] = _PUSH_AND_TRIM
