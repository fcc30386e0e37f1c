"""A relay on loopback that can be cut: then nothing comes through, and neither side is notified.

That is how a broken network looks. Connections stay open on both sides, new ones are taken, and
what is sent waits; it arrives when the relay is restored, as from a TCP that has been sending
again.
"""

from __future__ import annotations

import contextlib
import selectors
import socket
import threading
from types import TracebackType
from typing import Final, Self

from .server import HOST

__all__ = ["Proxy"]

_CHUNK: Final = 1 << 16
_CONNECT_SECONDS: Final = 2.0


class Proxy:
    """Relays connections to ``port`` of loopback; its own port is ``port`` of this object."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._listener = socket.create_server((HOST, 0))
        self.port: int = self._listener.getsockname()[1]
        self._wake, self._woken = socket.socketpair()
        self._peers: dict[socket.socket, socket.socket] = {}
        self._open = threading.Event()
        self._open.set()
        self._over = False
        self._thread = threading.Thread(target=self._relay, daemon=True)
        self._thread.start()

    @property
    def address(self) -> str:
        """The address where it listens, as ``host:port``."""
        return f"{HOST}:{self.port}"

    def cut(self) -> None:
        """From now on nothing comes through."""
        self._open.clear()
        self._wake.sendall(b".")

    def mend(self) -> None:
        """Restore the relay: what was held up arrives, and all comes through."""
        self._open.set()

    def close(self) -> None:
        """Close it with all its connections; calling it again does nothing."""
        if not self._over:
            self._over = True
            self._open.set()
            self._wake.sendall(b".")
            self._thread.join()
            for each in (*self._peers, self._listener, self._wake, self._woken):
                each.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _relay(self) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self._listener, selectors.EVENT_READ)
            selector.register(self._woken, selectors.EVENT_READ)
            while not self._over:
                for key, _ in selector.select():
                    if not self._open.is_set() or self._over:
                        break
                    self._serve(selector, key.fileobj)
                self._woken_up()
                # While it is cut nobody reads: what is sent stays where it is.
                self._open.wait()

    def _woken_up(self) -> None:
        self._woken.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            self._woken.recv(_CHUNK)

    def _serve(self, selector: selectors.BaseSelector, ready: object) -> None:
        if ready is self._listener:
            self._join(selector)
        elif isinstance(ready, socket.socket) and ready in self._peers:
            self._pass(selector, ready)

    def _join(self, selector: selectors.BaseSelector) -> None:
        client, _ = self._listener.accept()
        try:
            server = socket.create_connection((HOST, self._target), _CONNECT_SECONDS)
        except OSError:
            client.close()
            return
        server.settimeout(None)
        self._peers |= {client: server, server: client}
        for each in (client, server):
            selector.register(each, selectors.EVENT_READ)

    def _pass(self, selector: selectors.BaseSelector, ready: socket.socket) -> None:
        try:
            received = ready.recv(_CHUNK)
            if received:
                self._peers[ready].sendall(received)
        except OSError:
            received = b""
        if not received:
            for each in (ready, self._peers[ready]):
                del self._peers[each]
                selector.unregister(each)
                each.close()
