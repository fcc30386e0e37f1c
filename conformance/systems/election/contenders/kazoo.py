"""Candidates by kazoo's recipes ``Election`` and ``Lock``.

They are used as kazoo's documentation says: the function that leads returns when the connection is
SUSPENDED or LOST, and campaigns again. The token, which kazoo does not hand out, is the sequence
number of the node that the recipe made.
"""

from __future__ import annotations

import threading
from typing import Any

from kazoo.client import KazooClient, KazooState
from kazoo.exceptions import KazooException
from kazoo.handlers.threading import KazooTimeoutError
from kazoo.recipe.election import Election
from kazoo.recipe.lock import Lock

from .campaign import Campaign, Lost, Where

__all__ = ["KazooElection", "KazooLock"]


class KazooLock(Campaign):
    """``Lock.acquire``, and ``Lock.release`` when it is over."""

    def __init__(self, where: Where) -> None:
        super().__init__(where)
        self._client = KazooClient(",".join(where.addresses), timeout=where.seconds)
        self._client.add_listener(self._changed)
        self._client.start(60)
        self._connected = threading.Event()
        self._connected.set()
        self._lock = self._new_lock()

    def acquire(self) -> int:
        self._connected.wait()
        self._lock = self._new_lock()
        try:
            self._lock.acquire()
        except (KazooException, KazooTimeoutError) as error:
            raise Lost from error
        return self._number()

    def release(self) -> None:
        try:
            self._lock.release()
        except (KazooException, KazooTimeoutError) as error:
            raise Lost from error

    def resign(self) -> None:
        self._lock.cancel()
        super().resign()

    def is_in_line(self) -> bool:
        return self.where.identity in self._lock.contenders()

    def has_lead(self) -> bool:
        return bool(self._connected.is_set())

    def session(self) -> Any:
        known = self._client.client_id
        return None if known is None else [known[0], known[1].hex()]

    def _new_lock(self) -> Lock:
        return self._client.Lock(f"/{self.where.name}", self.where.identity)

    def _number(self) -> int:
        """The sequence number of the lock's node, counted from 1."""
        return int(str(self._lock.node)[-10:]) + 1 if self.where.fenced else 0

    def _changed(self, state: str) -> None:
        if state == KazooState.CONNECTED:
            self._connected.set()
        else:
            self._connected.clear()
            self.over.set()


class KazooElection(KazooLock):
    """``Election.run``, with a function that leads until it is over."""

    def _new_lock(self) -> Lock:
        self._election = Election(self._client, f"/{self.where.name}", self.where.identity)
        return self._election.lock

    def resign(self) -> None:
        self._wanted.clear()
        self.over.set()
        self._election.cancel()
        if self._thread is not None:
            self._thread.join()

    def _lead_once(self) -> None:
        self._connected.wait()
        self._lock = self._new_lock()
        try:
            self._election.run(self._lead)
        except (KazooException, KazooTimeoutError) as error:
            raise Lost from error
        finally:
            self._token = None

    def _lead(self) -> None:
        if self.wanted:
            self._token = self._number()
            self.over.wait()
            self._token = None
