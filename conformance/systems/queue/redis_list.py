"""A list in a real Redis, bounded by a script or by trimming it; a server for each session."""

from __future__ import annotations

import json
import socket
from typing import Any, ClassVar, Final

from ...services.redis import Redis
from ...services.server import HOST
from .adapter import QueueAdapter

__all__ = ["RedisList", "TrimmedRedisList"]

Item = str | int

_KEY: Final = "queue"
_ANSWER_SECONDS: Final = 4.0
_PUSH_IF_ROOM: Final = (
    "if redis.call('llen', KEYS[1]) >= tonumber(ARGV[1]) then return 0 end "
    "redis.call('rpush', KEYS[1], ARGV[2]) return 1")
_PUSH_AND_TRIM: Final = (
    "redis.call('rpush', KEYS[1], ARGV[2]) "
    "redis.call('ltrim', KEYS[1], -tonumber(ARGV[1]), -1) return 1")


class RedisList(QueueAdapter):
    """A script pushes if there is room, in one step; else it refuses."""

    name: ClassVar[str] = "a Redis list, bounded by a script"
    policy: ClassVar[str] = "reject"
    script: ClassVar[str] = _PUSH_IF_ROOM

    def start(self, capacity: int) -> None:
        """Begin with a fresh, empty queue of ``capacity`` items."""
        self._capacity = capacity
        self._server = Redis().start()
        self._socket = socket.create_connection((HOST, self._server.port), _ANSWER_SECONDS)
        self._replies = self._socket.makefile("rb")

    def offer(self, item: Item) -> bool:
        text = json.dumps(item)     # Redis has texts only
        return bool(self._ask("EVAL", self.script, "1", _KEY, str(self._capacity), text) == 1)

    def poll(self) -> Item | None:
        text = self._ask("LPOP", _KEY)
        item: Item | None = None if text is None else json.loads(text)
        return item

    def size(self) -> int:
        size: int = self._ask("LLEN", _KEY)
        return size

    def close(self) -> None:
        """Close the connection, and end the server."""
        if hasattr(self, "_server"):
            self._replies.close()
            self._socket.close()
            self._server.close()

    def _ask(self, *words: str) -> Any:
        """The reply to a command: a number, a text, or None."""
        parts = [f"*{len(words)}\r\n", *(f"${len(each.encode())}\r\n{each}\r\n" for each in words)]
        self._socket.sendall("".join(parts).encode())
        line = self._replies.readline()
        kind, rest = line[:1], line[1:].strip()
        if kind == b":":
            return int(rest)
        if kind != b"$":
            raise RuntimeError(f"Redis answered {line[:200]!r}")
        if int(rest) < 0:
            return None
        return self._replies.read(int(rest) + 2)[:-2].decode()


class TrimmedRedisList(RedisList):
    """An item that is pushed is always accepted; then the list is trimmed to its newest items."""

    name: ClassVar[str] = "a Redis list that is trimmed"
    policy: ClassVar[str] = "drop-oldest"
    script: ClassVar[str] = _PUSH_AND_TRIM
