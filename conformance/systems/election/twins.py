"""Elections with one seeded bug each: the reference with one decision changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ....reference.election import Contender, Entry, GuardedStore, LockService
from ...suites.twin import Twins
from .adapter import ReferenceElection

__all__ = ["TWINS"]


def _part_of(made: type[Any]) -> Mapping[str, Any]:
    """The part that a class with a bug replaces, by its base class."""
    part = next(name for name, base in (
        ("service", LockService), ("contender", Contender), ("store", GuardedStore))
        if issubclass(made, base))
    return {part: made}


TWINS: Final = Twins("election", ReferenceElection, ("reference.election",), _part_of)


# ---- the queue ------------------------------------------------------------------------------


@TWINS.twin(
    "election-deletes-the-leaders-entry", "ELECT-1",
    "a resigning contender deletes the leader's entry",
    "election#kafka-controller: a resignation that deletes /controller in any case")
class DeletingTheHead(Contender):
    """A resignation deletes the first entry, even if it is another contender's."""

    def resign(self, now: int) -> None:
        super().resign(now)
        head = self._service.head
        if head is not None:
            self._service.leave(head.number)


@TWINS.twin(
    "election-newest-leads", "ELECT-1", "the newest entry leads, and not the oldest",
    "election#recipe: the order of the queue reversed")
class NewestLeads(LockService):
    """A newcomer takes the lead over."""

    @property
    def head(self) -> Entry | None:
        return self._line[-1] if self._line else None


@TWINS.twin(
    "election-many-leaders", "ELECT-1", "every contender with an entry leads",
    "election#redis-lock: SET without NX")
class EverybodyLeads(Contender):
    """A contender ignores the entries in front of its own."""

    def told_head(self, head: Entry | None, now: int) -> None:
        self._is_head = head is not None


# ---- tokens and the store -------------------------------------------------------------------


@TWINS.twin(
    "election-unfenced-store", "ELECT-2", "the store does not compare tokens",
    "election#fencing; election#redlock")
class TakingAll(GuardedStore):
    """The store relies on the lock, and takes every write."""

    def write(self, token: int) -> bool:
        return True


@TWINS.twin(
    "election-store-forgets", "ELECT-2", "the store keeps the last token, and takes every write",
    "election#fencing: any token but the one of the last write is taken")
class ComparingWithTheLast(GuardedStore):
    """The store keeps the last token instead of the newest, and refuses nothing."""

    def write(self, token: int) -> bool:
        self._newest = token
        return True


@TWINS.twin(
    "election-numbers-begin-again", "ELECT-3", "when the queue is empty, numbers start over",
    "election#redlock: a counter in memory")
class CountingAgain(LockService):
    """The counter is lost with the last entry."""

    def enter(self, session: int) -> int:
        if not self._line:
            self._numbers = 0
        return super().enter(session)


@TWINS.twin(
    "election-restart-forgets-numbers", "ELECT-3", "a restart forgets the numbers given",
    "election#redis-lock: INCR on a server without persistence")
class ForgettingNumbers(LockService):
    """A restart loses the counter, and every session with it."""

    def restart(self, now: int) -> None:
        for session in list(self._heard):
            self.end(session)
        self._numbers = 0


@TWINS.twin(
    "election-token-of-the-candidate", "ELECT-3", "the token is the session's age, not the term's",
    "election#fencing: a random number, or one that counts in each client")
class OwnCounter(Contender):
    """Each contender counts its own terms."""

    def token(self, now: int) -> int | None:
        return None if super().token(now) is None else 1


@TWINS.twin(
    "election-strict-store", "ELECT-4", "a leader can write only once", "> instead of >=")
class StrictStore(GuardedStore):
    """The token has to be greater than any that was seen."""

    def write(self, token: int) -> bool:
        return token > self._newest and super().write(token)


@TWINS.twin(
    "election-forgets-its-lead", "ELECT-4",
    "a leader that learns of a newcomer believes that it lost the lead",
    "election#recipe: any change of the queue is taken for the end of the lead")
class Timid(Contender):
    """A second notification about the queue ends the lead that the first began."""

    def told_head(self, head: Entry | None, now: int) -> None:
        was = self._is_head
        super().told_head(head, now)
        if was and head is not None and head.number < self._service._numbers:
            self._is_head = False

    def contact(self, now: int) -> None:
        self._is_head = False
        super().contact(now)


# ---- the next leader ------------------------------------------------------------------------


@TWINS.twin(
    "election-sessions-never-end", "ELECT-5", "the entry of a dead session stays in the queue",
    "election#sessions: a node that is not ephemeral")
class Immortal(LockService):
    """No session is ever ended."""

    def tell_time(self, now: int) -> None:
        """Do nothing: time does not end a session."""


@TWINS.twin(
    "election-watches-the-leader-only-once", "ELECT-5", "one watch, which is not set again",
    "election#recipe: watches fire once")
class OneWatch(Contender):
    """After the first notification about the queue, a contender ignores all others."""

    _told = False

    def told_head(self, head: Entry | None, now: int) -> None:
        if not self._told:
            super().told_head(head, now)
        self._told = True


@TWINS.twin(
    "election-resigns-in-silence", "ELECT-6", "resigning leaves the entry where it is",
    "election#recipe: the node is not deleted, and a thread keeps its session alive")
class ResigningInSilence(Contender):
    """It no longer leads, and no other contender does: its session is kept alive."""

    def resign(self, now: int) -> None:
        self._is_head = False
        self._service._heard[self._session] = now + 10**6


@TWINS.twin(
    "election-not-again", "ELECT-7", "no new entry after a session's end",
    "election#curator: LeaderSelector without autoRequeue; election#kazoo")
class NotAgain(Contender):
    """It opens a new session, and makes no new entry."""

    def _begin_again(self, now: int) -> None:
        self._is_head = False
        self._session = self._service.begin(now)


@TWINS.twin(
    "election-deaf-to-its-end", "ELECT-8", "a leader does not hear that its session has ended",
    "election#kazoo: no listener for LOST")
class DeafToItsEnd(Contender):
    """Its client opens a new session by itself, and it still believes that it leads."""

    def contact(self, now: int) -> None:
        was, number = self._is_head, self._number
        super().contact(now)
        if was and self._number != number:
            self._is_head = True

    def told_head(self, head: Entry | None, now: int) -> None:
        self._is_head = self._is_head or (head is not None and head.number == self._number)


# ---- bugs that show late ------------------------------------------------------------------------

TWINS.late("election-many-leaders", 40, 300)
