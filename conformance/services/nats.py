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
    """One server. At most ``pending_bytes`` may be pending for a client.

    A client that does not read is cut off for the pending bytes, and not for the time that it
    takes:
    the server waits for it without end. One that is ``durable`` has JetStream, with its files.
    """

    what: ClassVar[str] = "the NATS server"

    def __init__(self, *, pending_bytes: int = 64 << 20, payload_bytes: int = 1 << 20,
                 durable: bool = False, seconds: float = 30.0) -> None:
        super().__init__(seconds=seconds)
        self._settings: dict[str, object] = {
            "max_pending": pending_bytes, "max_payload": payload_bytes, "write_deadline": "24h"}
        if durable:
            self._settings["jetstream"] = {"store_dir": str(self.folder / "jetstream")}

    def prepare(self) -> None:
        """Write the server's configuration."""
        (self.folder / "nats.conf").write_text(json.dumps(self._settings), encoding="utf-8")

    def argv(self) -> Sequence[str]:
        """The command line that serves ``port`` of loopback from ``folder``."""
        return (NATS.find(), "--config", str(self.folder / "nats.conf"),
                "--addr", HOST, "--port", str(self.port))

    def serves(self) -> bool:
        """True if the server introduces itself."""
        with socket.create_connection((HOST, self.port), _ANSWER_SECONDS) as connection:
            return connection.recv(64).startswith(b"INFO ")
