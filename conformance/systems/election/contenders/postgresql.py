"""A candidate by a PostgreSQL advisory lock, held by the connection of one ``psql``.

It believes that it leads until its connection, which it queries again and again, shows otherwise.
The token is the next value of a sequence, drawn while the lock is held.
"""

from __future__ import annotations

import contextlib
import subprocess
import threading
import zlib
from typing import Any, Final

from ....services.postgresql import psql
from .campaign import Campaign, Lost, Where

__all__ = ["AdvisoryLock"]

_LOOK_SECONDS: Final = 0.1


class AdvisoryLock(Campaign):
    """``pg_advisory_lock``, which waits in the server's queue."""

    def __init__(self, where: Where) -> None:
        super().__init__(where)
        self._key = zlib.crc32(where.name.encode())
        self._psql: subprocess.Popen[str] | None = None
        self._backend = 0
        self._turn = threading.Lock()

    def acquire(self) -> int:
        self._connect()
        self._ask(f"select 1 from pg_advisory_lock({self._key})")
        return int(self._ask("select nextval('tokens')")) if self.where.fenced else 0

    def hold(self) -> None:
        with contextlib.suppress(Lost):
            while not self.over.wait(_LOOK_SECONDS):
                self._ask("select 1")

    def release(self) -> None:
        """See ``Campaign.release``: the lock goes with the connection."""
        self._disconnect()

    def resign(self) -> None:
        """See ``Campaign.resign``; a contender that waits for the lock gives up its connection."""
        self._wanted.clear()
        self.over.set()
        if self._token is None:
            self._disconnect()
        if self._thread is not None:
            self._thread.join()

    def is_in_line(self) -> bool:
        return self._backend > 0

    def session(self) -> Any:
        return self._backend

    def _connect(self) -> None:
        self._disconnect()
        port = int(self.where.addresses[0].rpartition(":")[2])
        self._psql = subprocess.Popen(
            psql(port), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True)
        backend = int(self._ask("select pg_backend_pid()"))
        self._ask("create sequence if not exists tokens; select 1")
        self._backend = backend

    def _disconnect(self) -> None:
        self._backend = 0
        client, self._psql = self._psql, None
        if client is not None:
            client.kill()
            client.wait()

    def _ask(self, query: str) -> str:
        """The answer to a query that has one value."""
        client = self._psql
        if client is None or client.stdin is None or client.stdout is None:
            raise Lost
        with self._turn:
            try:
                client.stdin.write(f"{query};\n")
                client.stdin.flush()
                answer = client.stdout.readline()
            except (OSError, ValueError) as error:
                raise Lost from error
        if not answer:
            raise Lost
        return answer.strip()
