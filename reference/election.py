"""Leader election with fencing, sans-I/O: a lock service, its contenders, and a guarded store.

The service keeps sessions and a line of entries. An entry belongs to a session and goes with it;
its number is greater than all numbers before, over restarts too. The entry with the lowest number
leads, and its number is the *token* that goes with every write. The store refuses a token that is
older than one that it has seen, which is what keeps a leader out that was halted at the wrong time.

A contender goes by its own clock in one thing only: it does not say that it leads when it has not
heard from the service for as long as a session lasts. That makes a stale belief short; that it does
no harm is up to the store. When it hears that its session has ended it begins a new one, and
enters again at the end of the line.

Time is in milliseconds and comes as an argument; nothing here waits, and nobody is called.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Contender", "ElectionMisuse", "Entry", "GuardedStore", "LockService"]


class ElectionMisuse(Exception):
    """The caller asked for what there cannot be now; nothing has changed."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of the wait queue: its number, and the session that it goes with."""

    number: int
    session: int


class LockService:
    """Sessions that last ``timeout`` ms without a sign of life, and the line of their entries."""

    def __init__(self, timeout: int) -> None:
        if timeout < 1:
            raise ElectionMisuse("a session lasts a millisecond at least")
        self.timeout = timeout
        self._heard: dict[int, int] = {}        # by session, when it was heard of last
        self._line: list[Entry] = []
        self._sessions = 0
        self._numbers = 0

    @property
    def head(self) -> Entry | None:
        """The entry that leads."""
        return self._line[0] if self._line else None

    def begin(self, now: int) -> int:
        """A new session; its id."""
        self._sessions += 1
        self._heard[self._sessions] = now
        return self._sessions

    def hear(self, session: int, now: int) -> bool:
        """A sign of life; whether the session is still there."""
        if session not in self._heard:
            return False
        self._heard[session] = now
        return True

    def enter(self, session: int) -> int:
        """A place at the end of the line; its number. Raises ``ElectionMisuse`` for a session that
        has ended."""
        if session not in self._heard:
            raise ElectionMisuse("session-ended")
        self._numbers += 1
        self._line.append(Entry(self._numbers, session))
        return self._numbers

    def leave(self, number: int) -> None:
        """The entry of this number goes, if it is there."""
        self._line = [entry for entry in self._line if entry.number != number]

    def end(self, session: int) -> None:
        """End a session, with its entries."""
        self._heard.pop(session, None)
        self._line = [entry for entry in self._line if entry.session != session]

    def tell_time(self, now: int) -> None:
        """End the sessions that were not heard of for their timeout."""
        for session, heard in list(self._heard.items()):
            if now - heard >= self.timeout:
                self.end(session)

    def restart(self, now: int) -> None:
        """It was killed and is back: it has kept all, and gives each session its time again."""
        self._heard = dict.fromkeys(self._heard, now)


class Contender:
    """One candidate of an election, and its knowledge of it.

    ``contact`` is its heartbeat: to be called several times in a session's timeout while the
    service can be reached. Between them ``told_head`` reports changes to it, as a watch does.
    """

    def __init__(self, service: LockService, now: int) -> None:
        self._service = service
        self._session = service.begin(now)
        self._number = service.enter(self._session)
        self._heard = now
        self._is_head = False
        self.told_head(service.head, now)

    @property
    def session(self) -> int:
        """The session that its entry goes with."""
        return self._session

    @property
    def number(self) -> int:
        """The number of its entry, which is its token."""
        return self._number

    def token(self, now: int) -> int | None:
        """The token with which it leads, as far as it knows; None if it does not."""
        return self._number if self._is_head and not self._is_out_of_touch(now) else None

    def told_head(self, head: Entry | None, now: int) -> None:
        """The service says which entry leads now."""
        self._is_head = head is not None and head.number == self._number

    def contact(self, now: int) -> None:
        """A sign of life, the service's answer to it, and what it says of the line."""
        if not self._service.hear(self._session, now):
            self._begin_again(now)
        self._heard = now
        self.told_head(self._service.head, now)

    def resign(self, now: int) -> None:
        """It no longer wants to lead; the entry goes, with its session."""
        self._is_head = False
        self._service.end(self._session)

    def _begin_again(self, now: int) -> None:
        """The session has ended: begin a new one, with a new entry at the end of the wait queue."""
        self._is_head = False
        self._session = self._service.begin(now)
        self._number = self._service.enter(self._session)

    def _is_out_of_touch(self, now: int) -> bool:
        return now - self._heard >= self._service.timeout


class GuardedStore:
    """A register that remembers the newest token it has seen."""

    def __init__(self) -> None:
        self._newest = 0

    def write(self, token: int) -> bool:
        """A write with a token; whether it is accepted."""
        if token < self._newest:
            return False
        self._newest = token
        return True
