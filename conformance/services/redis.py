"""A Redis server that keeps everything in memory, as it is set up by default."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from typing import ClassVar, Final

from .programs import REDIS
from .server import HOST, Server

__all__ = ["Redis"]

_ANSWER_SECONDS: Final = 2.0


class Redis(Server):
    """One server without replicas. What it has is gone when it is killed."""

    what: ClassVar[str] = "the Redis server"

    def argv(self) -> Sequence[str]:
        return (
            REDIS.find(), "--port", str(self.port), "--bind", HOST,
            "--dir", str(self.folder), "--save", "", "--appendonly", "no", "--loglevel", "warning")

    def serves(self) -> bool:
        """True if it answers a PING."""
        with socket.create_connection((HOST, self.port), _ANSWER_SECONDS) as connection:
            connection.sendall(b"PING\r\n")
            return connection.recv(64).startswith(b"+PONG")
