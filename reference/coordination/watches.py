"""Watches: which session receives which event, once.

A read of the bytes and a question whether a znode exists set a watch of the first kind, a read
of the names below one of the second. If a client already has a watch, it does not set it again.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from .terms import Children, Data, Event, Exists, Found, Kind, Listed, NoNode, Read, Stat

__all__ = ["About", "Watch", "Watches", "missed", "watch_of", "watched_by"]


class About(Enum):
    """The subject of a watch."""

    DATA = "data"
    CHILDREN = "children"


class Watch(NamedTuple):
    """A watch of some client; which client stands elsewhere."""

    about: About
    path: str


_TOLD = {
    Kind.CREATED: (About.DATA,), Kind.CHANGED: (About.DATA,), Kind.CHILDREN: (About.CHILDREN,),
    Kind.DELETED: (About.DATA, About.CHILDREN),
}


def watched_by(event: Event) -> list[Watch]:
    """The watches that an event uses up."""
    return [Watch(about, event.path) for about in _TOLD[event.kind]]


def watch_of(request: Read | Children | Exists,
             result: Data | Listed | Found | NoNode) -> Watch | None:
    """The watch that a read sets; where there is no znode, only ``Exists`` sets one."""
    if not request.watch or isinstance(result, NoNode):
        return None
    about = About.CHILDREN if isinstance(request, Children) else About.DATA
    return Watch(about, request.path)


def missed(watch: Watch, stat: Stat | None, seen: int, existed: bool) -> Kind | None:
    """The event that a client has missed if it saw everything up to the zxid ``seen``.

    ``stat`` is of the znode as it is now, and ``existed`` whether it was there when the watch
    was set. None: no event, and the watch remains. Source: the server's handling of the request
    SetWatches, which a client sends when it has a connection again.
    """
    if stat is None:
        return Kind.DELETED if existed else None
    if not existed:
        return Kind.CREATED
    if watch.about is About.DATA:
        return Kind.CHANGED if stat.mzxid > seen else None
    return Kind.CHILDREN if stat.pzxid > seen else None


class Watches:
    """The watches of all sessions at the service."""

    def __init__(self) -> None:
        self._sessions: dict[Watch, dict[int, None]] = {}     # in the order in which they came

    def add(self, watch: Watch, session: int) -> None:
        """Remember it; a second time changes nothing."""
        self._sessions.setdefault(watch, {})[session] = None

    def fire(self, events: list[Event]) -> list[tuple[int, Event]]:
        """The sessions and the events that they receive, each once; these watches are used up."""
        told: list[tuple[int, Event]] = []
        for event in events:
            whom: dict[int, None] = {}
            for watch in watched_by(event):
                whom |= self._sessions.pop(watch, {})
            told += [(session, event) for session in whom]
        return told

    def forget(self, session: int) -> None:
        """Drop all watches of a session with no connection any more."""
        for sessions in self._sessions.values():
            sessions.pop(session, None)
