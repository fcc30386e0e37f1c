"""A reader of a real NATS server that stalls: how the server reacts when too much is pending.

The server counts bytes. So an item is made so long that the buffers of the kernel, at both ends of
the connection, do not hold a single one: unread items are pending, and the places of the queue
are the bytes that may be. A poll reads one message. The publisher's pings are answered after all
that it sent was handled, so that nothing has to be waited for.
"""

from __future__ import annotations

import json
import re
import socket
from typing import ClassVar, Final

from ...adapters.base import Declined
from ...services.nats import Nats
from ...services.server import HOST
from .adapter import QueueAdapter
from .questions import CUT_OFF

__all__ = ["NatsReader"]

Item = str | int

_ITEM_BYTES: Final = 8 << 20
"""More than Linux gives to a connection's buffers by itself (tcp_wmem, 4 MiB, and what we ask)."""
_READ_BUFFER: Final = 1 << 14
_HEADER_BYTES: Final = 1 << 8
_ANSWER_SECONDS: Final = 20.0


class _Client:
    """A connection that speaks the text protocol of NATS."""

    def __init__(self, port: int, *, buffer: int = 0) -> None:
        self._socket = socket.socket()
        if buffer:    # before it is connected: the window of a connection only grows
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        self._socket.settimeout(_ANSWER_SECONDS)
        self._socket.connect((HOST, port))
        self._lines = self._socket.makefile("rb")
        self._lines.readline()    # INFO
        self.tell(b'CONNECT {"verbose":false}')

    def tell(self, line: bytes, *more: bytes) -> None:
        """Send a line, or several, and wait until the server has handled them."""
        self._socket.sendall(b"\r\n".join((line, *more, b"PING\r\n")))
        while self._lines.readline().strip() not in (b"PONG", b""):
            pass

    def message(self) -> bytes:
        """The payload of the next message. Raises ``EOFError`` if the connection ends."""
        while line := self._lines.readline():
            head = re.fullmatch(rb"MSG \S+ \S+ (\d+)\r\n", line)
            if head is None:
                continue
            length = int(head[1]) + 2
            if len(payload := self._lines.read(length)) == length:
                return payload
        raise EOFError

    def close(self) -> None:
        """Leave the server, which then forgets this client."""
        self._lines.close()
        self._socket.close()


class NatsReader(QueueAdapter):
    """One publisher, and one subscriber that reads when it is polled."""

    name: ClassVar[str] = "a reader of NATS"
    policy: ClassVar[str] = "disconnect"
    capacity_max: ClassVar[int] = 8

    def start(self, capacity: int) -> None:
        """Begin with a fresh, empty queue of ``capacity`` items."""
        self._server = Nats(pending_bytes=capacity * (_ITEM_BYTES + _HEADER_BYTES),
                            payload_bytes=_ITEM_BYTES).start()
        self._clients: list[_Client] = []
        self._reader = self._connect(buffer=_READ_BUFFER)
        self._reader.tell(b"SUB queue 1")
        self._writer = self._connect()
        self._unread = 0
        self._cut_off = False

    def offer(self, item: Item) -> bool:
        """Publish an item, which is always accepted: publishers get no answer."""
        payload = json.dumps(item).encode().ljust(_ITEM_BYTES)
        self._writer.tell(b"PUB queue %d" % len(payload), payload)
        self._unread += 1
        return True

    def poll(self) -> Item | None:
        if self._unread == 0:
            return None
        if not self._cut_off:
            try:
                item: Item = json.loads(self._reader.message())
            except (EOFError, ConnectionError):
                self._cut_off = True
            else:
                self._unread -= 1
                return item
        raise Declined(CUT_OFF)

    def close(self) -> None:
        """Close both connections, and end the server."""
        for client in getattr(self, "_clients", ()):
            client.close()
        if hasattr(self, "_server"):
            self._server.close()

    def _connect(self, *, buffer: int = 0) -> _Client:
        client = _Client(self._server.port, buffer=buffer)
        self._clients.append(client)
        return client
