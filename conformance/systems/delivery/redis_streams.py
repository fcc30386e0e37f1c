"""A consumer group of a stream in a real Redis; a server for each session.

A consumer that asks claims what has been idle for the timeout, the oldest first, and else reads
what is new: that is the loop that Redis' own documentation gives to consumers. Redis lets a client
say for how long an entry has been idle (XCLAIM with IDLE), and so time passes at once: a tick is an
hour by the server's clock, beside which the seconds of a test are nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar, Final

from ...adapters.port_adapter import PortAdapter
from ...ports.base import Port
from ...services.redis import Redis, RedisClient
from .port import PORT

__all__ = ["RedisStreams"]

Item = int | str

_STREAM: Final = "queue"
_GROUP: Final = "workers"
_TICK: Final = 3_600_000
"""Milliseconds of a tick."""
_ALL: Final = str(1 << 20)


class RedisStreams(PortAdapter):
    """Its stream has no limit of length, and the server writes each command to its file at once."""

    port: ClassVar[Port] = PORT
    policy: ClassVar[str] = "unbounded"
    name = "a consumer group of a Redis stream"

    def start(self, settings: Mapping[str, Any]) -> None:
        """Begin with a fresh server, a stream, and its group."""
        self._timeout: int = settings["timeout"]
        self._ids: dict[Item, str] = {}
        self._server = Redis(durable=True).start()
        self._client = RedisClient(self._server.port)
        self._client.ask("XGROUP", "CREATE", _STREAM, _GROUP, "0", "MKSTREAM")

    def publish(self, message: Item) -> bool:
        self._ids[message] = self._client.ask("XADD", _STREAM, "*", "message", json.dumps(message))
        return True

    def receive(self, consumer: int) -> Item | None:
        """A message that has timed out, if there is one; else a new one."""
        entries: list[Any] = []
        cursor = "0-0"
        while not entries:
            cursor, entries, _ = self._client.ask(
                "XAUTOCLAIM", _STREAM, _GROUP, str(consumer), str(self._timeout * _TICK), cursor,
                "COUNT", "1")
            if cursor == "0-0":
                break
        if not entries:
            read = self._client.ask("XREADGROUP", "GROUP", _GROUP, str(consumer), "COUNT", "1",
                                    "STREAMS", _STREAM, ">")
            entries = read[0][1] if read else []
        if not entries:
            return None
        message: Item = json.loads(entries[0][1][1])
        return message

    def ack(self, consumer: int, message: Item) -> bool:
        return bool(self._client.ask("XACK", _STREAM, _GROUP, self._ids[message]) == 1)

    def count(self, message: Item) -> int | None:
        entry = self._ids[message]
        pending = self._client.ask("XPENDING", _STREAM, _GROUP, entry, entry, "1")
        count: int | None = pending[0][3] if pending else None
        return count

    def advance(self, ticks: int) -> bool:
        passed = min(ticks, self._timeout) * _TICK
        for entry, consumer, idle, _ in self._client.ask(
                "XPENDING", _STREAM, _GROUP, "-", "+", _ALL):
            self._client.ask("XCLAIM", _STREAM, _GROUP, consumer, "0", entry,
                             "IDLE", str(idle + passed), "JUSTID")
        return True

    def restart(self) -> bool:
        self._client.close()
        self._server.restart()
        self._client = RedisClient(self._server.port)
        return True

    def close(self) -> None:
        """Close the connection, and end the server."""
        if hasattr(self, "_server"):
            self._server.close()
        if hasattr(self, "_client"):
            self._client.close()
