"""A NATS server, which cuts off a client that leaves too much unread."""

from __future__ import annotations

import json
import socket
from collections.abc import Sequence
from typing import ClassVar, Final

from .programs import NATS
from .server import HOST, Server

__all__ = ["Nats"]

_ANSWER_SECONDS: Final = 2.0


class Nats(Server):
    """One server. What may be pending for a client is at most ``pending_bytes``.

    A client that does not read is cut off for what is pending, and not for the time that it takes:
    the server waits for it without end.
    """

    what: ClassVar[str] = "the NATS server"

    def __init__(self, *, pending_bytes: int = 64 << 20, payload_bytes: int = 1 << 20,
                 seconds: float = 30.0) -> None:
        super().__init__(seconds=seconds)
        self._settings = {
            "max_pending": pending_bytes, "max_payload": payload_bytes, "write_deadline": "24h"}

    def prepare(self) -> None:
        (self.folder / "nats.conf").write_text(json.dumps(self._settings), encoding="utf-8")

    def argv(self) -> Sequence[str]:
        return (NATS.find(), "--config", str(self.folder / "nats.conf"),
                "--addr", HOST, "--port", str(self.port))

    def serves(self) -> bool:
        """True if it introduces itself with an INFO line."""
        with socket.create_connection((HOST, self.port), _ANSWER_SECONDS) as connection:
            return connection.recv(64).startswith(b"INFO ")
