"""A real ZooKeeper in the place of one in virtual time: an instant takes some real milliseconds.

Code that runs in virtual time over a ``TimedCoordination`` runs over this one as well, only slower,
and not twice the same: the machine decides how long things take. An instant may take longer, never
less.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from kazoo import exceptions
from kazoo.client import KazooClient

from ..coordination.changes import ChangesInOrder
from ..coordination.port import Loss, Transaction
from ..coordination.terms import Delivery, Request, Result, Stat
from .zookeeper import SILENT, Restartable, ZooKeeperCoordination, stat_of

__all__ = ["PacedZooKeeper"]


class PacedZooKeeper:
    """A ``TimedCoordination`` over real servers. ``hosts`` is ``host:port``, and may have a path
    behind it, below which everything is then, so that many runs can share a server. An instant is
    at least ``pace`` real ms long, and a timeout of so many instants is so many times that. Use it
    as a context.
    """

    def __init__(self, server: Restartable, hosts: str, pace: int = 5) -> None:
        self.now, self.is_running = 0, True
        self._pace = pace
        self._changes = ChangesInOrder(lambda _: None)
        self._real = ZooKeeperCoordination(hosts, server, self._done)
        self._observer = _observer_of(hosts)
        self._inbox: list[tuple[int, Delivery]] = []

    def told_to(self, _delay: Callable[[], int], record: Callable[[Transaction], object]) -> Self:
        """Report all changes to ``record``, as they are collected; see ``ChangesInOrder``.

        The machine decides how long messages take: the first argument is for ``InMemory``.
        """
        self._changes = ChangesInOrder(record)
        return self

    def _done(self, handle: int, request: Request, result: Result) -> None:
        self._changes.answered(Transaction(self.now, handle, request, result))

    # -- the port -----------------------------------------------------------------------------

    def open(self, timeout: int) -> int:
        """Begin a session that expires after ``timeout`` ms of silence; return its handle."""
        return self._real.open(timeout * self._pace)

    def close(self, handle: int) -> None:
        """End a session, as its own client does in an orderly way."""
        self._real.close(handle)

    def submit(self, handle: int, request: Request) -> int:
        """Ask something of the service; return the number under which the reply will come."""
        return self._real.submit(handle, request)

    def collect(self, within: int = 0) -> list[tuple[int, Delivery]]:
        """Everything that came since the last call, each with the handle of its session."""
        until = self.now + within
        while not self._inbox and self.now < until:
            self.advance(self.now + 1)
        collected, self._inbox = self._inbox + self._real.collect(), []
        return collected

    @property
    def may_deliver(self) -> bool:
        """True: a message may come at any time."""
        return True

    # -- time ---------------------------------------------------------------------------------

    def advance(self, now: int) -> None:
        """Wait until the instant ``now``, since any message may come before it."""
        # From now, and not from the beginning: if the machine is slow the service is, too.
        until = time.monotonic() + (now - self.now) * self._pace / 1000
        self.now = now
        while (left := until - time.monotonic()) > 0:
            self._inbox += self._real.collect(max(1, int(left * 1000)))

    def next_instant(self) -> int | None:
        """The next instant: a message may come at any time."""
        return self.now + 1

    # -- faults -------------------------------------------------------------------------------

    def expire(self, handle: int) -> None:
        """End a session at the service, unless the server is down."""
        if self.is_running:
            self._real.expire(handle)

    def pause(self, handle: int) -> None:
        """Pause the client of a session: it hears nothing, and is not heard."""
        self._real.pause(handle)

    def resume(self, handle: int) -> None:
        """Let a paused client continue; it does not know how long it was paused."""
        self._real.resume(handle)

    def partition(self, handle: int) -> None:
        """Let nothing through from now on, either way."""
        self._real.partition(handle)

    def heal(self, handle: int) -> None:
        """Connect the network again."""
        self._real.heal(handle)

    def lose(self, handle: int, loss: Loss) -> None:
        """Let the connection break at the next request (or the next but one, if called twice)."""
        self._real.lose(handle, loss)

    def stop(self) -> None:
        """Kill the process of the service."""
        self.is_running = False
        self._real.stop()

    def restart(self) -> None:
        """Start the service again."""
        self._real.restart()
        self.is_running = True

    # -- looking in ---------------------------------------------------------------------------

    def peek(self, path: str) -> tuple[bytes, Stat] | None:
        """The content of a znode now, for judges; None while the server is down."""
        if not self.is_running:
            return None
        try:
            data, stat = self._observer.retry(self._observer.get, path)
        except exceptions.NoNodeError:
            return None
        return data, stat_of(stat)

    # -- its end ------------------------------------------------------------------------------

    def shut(self) -> None:
        """Close all sessions; nothing can be done with it after that."""
        self._real.shut()
        self._observer.stop()
        self._observer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.shut()


def _observer_of(hosts: str) -> KazooClient:
    """A client below the path that follows the hosts, if there is one; that path is created."""
    servers, _, below = hosts.partition("/")
    client = KazooClient(servers, timeout=60.0, logger=SILENT)
    client.start()
    client.ensure_path(f"/{below}")
    client.chroot = f"/{below}" if below else ""
    return client
