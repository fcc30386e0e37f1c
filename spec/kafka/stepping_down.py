"""A leader that becomes a follower, and the producers that wait at it.

Theory of operation
-------------------
A producer with acks=all waits at the leader until its record is committed. The controller informs
the leader that it no longer leads, and from then on its high watermark is that of another leader:
it will never know that the record was committed. So it answers all waiting producers at once, with
an error, and fetches only then. The producer asks for the new leader, and sends again.

Otherwise the producer would wait for its own timeout (request.timeout.ms, half a minute) while
another replica leads. Nothing is lost by that; and if a harness has producers with short timeouts,
only the requests that the broker still holds show it.

One replica leads and follows in turn, T times at most; at most W producers wait at it at a time.

Source: kafka#stepping-down.
"""

from __future__ import annotations

from ..expectations import expect
from ..notation import SHOULD, Machine, action, always, boolean, const, integer, require

__all__ = [
    "AnsweringOne", "EXPECTATIONS", "HoldingAsFollower", "LeavingThemWaiting", "SteppingDown",
]


class SteppingDown(Machine):
    """One replica of a partition, on a broker that may crash."""

    W = const(2, at_least=1)            # producers that may wait at a time
    T = const(3)                        # requests of the controller, and crashes

    leads = boolean()
    waiting = integer(0, W)
    copied = boolean()                  # it has appended records of another leader
    turns = integer(0, T)

    @action
    def lead(self) -> None:
        """The controller makes it leader, in a new epoch."""
        require(not self.leads)
        self.turn()
        self.leads = True

    @action
    def follow(self) -> None:
        """The controller makes another replica leader."""
        require(self.leads)
        self.turn()
        self.leads = False
        self.let_go()

    @action
    def crash(self) -> None:
        """The process crashes, with all requests that waited in it; another process begins."""
        self.turn()
        self.leads = False
        self.waiting = 0

    def turn(self) -> None:
        """Count one more of T; nothing has been copied in it."""
        require(self.turns < self.T)
        self.turns += 1
        self.copied = False

    def let_go(self) -> None:
        """All waiting requests are answered: this replica no longer leads."""
        self.waiting = 0

    @action
    def hold(self) -> None:
        """A producer's record is appended, and its answer is delayed."""
        require(self.may_hold() and self.waiting < self.W)
        self.waiting += 1

    def may_hold(self) -> bool:
        """True if the replica takes writes; other producers get an error at once."""
        return self.leads

    @action
    def commit(self) -> None:
        """All in-sync replicas have a record: its producer is answered."""
        require(self.leads and self.waiting > 0)
        self.waiting -= 1

    @action
    def copy(self) -> None:
        """A record of another leader is appended."""
        require(not self.leads)
        self.copied = True

    @always("KAFKA-R23", SHOULD, "Once a replica has copied a record of another leader, no "
            "producer waits at it until it leads again.", source="kafka#stepping-down")
    def nobody_waits_at_a_follower(self) -> bool:
        """All of them were answered when it ceased to lead."""
        return self.leads or not self.copied or self.waiting == 0


class LeavingThemWaiting(SteppingDown):
    """A leader steps down without answering the producers that wait."""

    def let_go(self) -> None:
        """The producers wait for their timeouts."""


class AnsweringOne(SteppingDown):
    """A leader that steps down answers only one of the waiting producers."""

    def let_go(self) -> None:
        """The others are not answered."""
        self.waiting = max(self.waiting - 1, 0)


class HoldingAsFollower(SteppingDown):
    """A follower takes writes, and keeps their producers waiting."""

    def may_hold(self) -> bool:
        """It will never know that all replicas have the record."""
        return True


EXPECTATIONS = (
    expect(SteppingDown, "KAFKA-R23", "holds", "a leader that steps down answers at once",
           W=(1, 2), T=(1, 2, 3)),
    expect(LeavingThemWaiting, "KAFKA-R23", "violated", "producers wait until their timeouts",
           where="T > 1", W=(1, 2), T=(1, 2, 3)),
    expect(AnsweringOne, "KAFKA-R23", "violated", "the second producer waits until its timeout",
           where="W > 1 and T > 1", W=(1, 2), T=(1, 2, 3)),
    expect(HoldingAsFollower, "KAFKA-R23", "violated", "a request to a follower waits",
           W=(1, 2), T=(1, 2, 3)),
)
