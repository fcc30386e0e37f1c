"""A Redis server, which keeps everything in memory if it is not asked for more, and its client."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from typing import Any, ClassVar, Final

from .programs import REDIS
from .server import HOST, Server

__all__ = ["Redis", "RedisClient"]

_ANSWER_SECONDS: Final = 2.0


class Redis(Server):
    """One server without replicas. Its data are gone when it is killed, unless it is ``durable``:
    then each command is on the disk before it is answered."""

    what: ClassVar[str] = "the Redis server"

    def __init__(self, *, durable: bool = False, seconds: float = 30.0) -> None:
        super().__init__(seconds=seconds)
        self._durable = durable

    def argv(self) -> Sequence[str]:
        """The command line that serves ``port`` of loopback from ``folder``."""
        return (
            REDIS.find(), "--port", str(self.port), "--bind", HOST,
            "--dir", str(self.folder), "--save", "", "--loglevel", "warning",
            "--appendonly", "yes" if self._durable else "no", "--appendfsync", "always")

    def serves(self) -> bool:
        """True if the server answers a PING."""
        with socket.create_connection((HOST, self.port), _ANSWER_SECONDS) as connection:
            connection.sendall(b"PING\r\n")
            return connection.recv(64).startswith(b"+PONG")


class RedisClient:
    """A connection that speaks the protocol of Redis, version 2."""

    def __init__(self, port: int, seconds: float = 4.0) -> None:
        self._socket = socket.create_connection((HOST, port), seconds)
        self._replies = self._socket.makefile("rb")

    def ask(self, *words: str) -> Any:
        """The reply to a command: a number, a text, a list of replies, or None.

        Raises ``RuntimeError`` for an error that the server answers, and ``OSError`` if it does
        not.
        """
        parts = [f"*{len(words)}\r\n", *(f"${len(each.encode())}\r\n{each}\r\n" for each in words)]
        self._socket.sendall("".join(parts).encode())
        return self._reply()

    def _reply(self) -> Any:
        line = self._replies.readline()
        kind, rest = line[:1], line[1:].strip()
        if kind == b"+":
            return rest.decode()
        if kind == b":":
            return int(rest)
        if kind not in (b"$", b"*"):
            raise RuntimeError(f"Redis answered {line[:200]!r}")
        if int(rest) < 0:
            return None
        if kind == b"*":
            return [self._reply() for _ in range(int(rest))]
        return self._replies.read(int(rest) + 2)[:-2].decode()

    def close(self) -> None:
        """Close the connection at this end; what was asked before has been answered."""
        self._replies.close()
        self._socket.close()
