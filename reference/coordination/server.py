"""The service itself, without a network: sessions, znodes, watches; one transaction at a time.

Source: ZooKeeper's DataTree, SessionTracker and PrepRequestProcessor, as one server runs them.
A read sees all that was written before, which an ensemble promises only after a sync.
"""

from __future__ import annotations

from collections.abc import Iterable

from .terms import (
    Delete, Event, Exists, Multi, Reading, Request, Result, SessionExpired, Stat,
)
from .tree import Tree
from .watches import Watch, Watches, missed, watch_of

__all__ = ["Server"]

_Told = list[tuple[int, Event]]


class Server:
    """The service itself. Sessions are named by their ids here, which count from 1."""

    def __init__(self) -> None:
        self.tree = Tree()
        self.zxid = 0
        self.sessions: set[int] = set()
        self._ids = 0
        self._watches = Watches()

    def open(self) -> int:
        """A new session; opening one is a transaction."""
        self.zxid += 1
        self._ids += 1
        self.sessions.add(self._ids)
        return self._ids

    def handle(self, session: int, request: Request) -> tuple[Result, _Told]:
        """Carry out a request: its result, and the events that sessions receive before that."""
        if session not in self.sessions:
            return SessionExpired(), []
        if isinstance(request, Reading):
            result = self.tree.read(request)
            watch = watch_of(request, result)
            if watch is not None:
                self._watches.add(watch, session)
            return result, []
        self.zxid += 1      # also where it fails, as in ZooKeeper
        changed, events = self.tree.change(request, self.zxid, session)
        return changed, self._watches.fire(events)

    def end(self, session: int) -> _Told:
        """End a session; its ephemeral znodes vanish in one transaction."""
        self.forget(session)
        self.sessions.discard(session)
        self.zxid += 1
        gone = Multi(tuple(Delete(path) for path in self.tree.owned_by(session)))
        _, events = self.tree.change(gone, self.zxid, session)
        return self._watches.fire(events)

    def forget(self, session: int) -> None:
        """The connection of a session is gone, and what it watched by."""
        self._watches.forget(session)

    def watch_again(self, session: int, watches: Iterable[tuple[Watch, bool]], seen: int) -> _Told:
        """A client is back: what it has missed since the zxid ``seen``; the rest is watched on.

        With each watch comes whether its znode existed when it was set.
        """
        told: dict[tuple[int, Event], None] = {}    # two watches may report one deletion
        for watch, existed in watches:
            kind = missed(watch, self.stat(watch.path), seen, existed)
            if kind is None:
                self._watches.add(watch, session)
            else:
                told[session, Event(kind, watch.path)] = None
        return list(told)

    def stat(self, path: str) -> Stat | None:
        """The status of a znode now; None if there is none."""
        found = self.tree.read(Exists(path))
        stat = getattr(found, "stat", None)
        assert stat is None or isinstance(stat, Stat)
        return stat
