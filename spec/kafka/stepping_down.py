"""A leader that becomes a follower, and the producers that wait at it.

Theory of operation
-------------------
A producer that asks for all acknowledgements waits at the leader until its record is committed.
Who tells the leader that it leads no more is the controller, and from then on its high watermark
is another one's: it will never know that the record was committed. So it answers everybody who
waits at once, with an error, and fetches only then. The producer asks who leads, and sends again.

If it did not, the producer would wait until its own time is over (request.timeout.ms, half a
minute) while another one leads. Nothing is lost by that; and where a harness has producers with
little patience, nothing of it is seen but in what the broker still keeps.

One replica leads and follows in turn, T times at most; W producers may wait at it at a time.

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
    copied = boolean()                  # it has appended what another leader had
    turns = integer(0, T)

    @action
    def lead(self) -> None:
        """The controller says that it leads, in a new epoch."""
        require(not self.leads)
        self.turn()
        self.leads = True

    @action
    def follow(self) -> None:
        """The controller says that another one leads."""
        require(self.leads)
        self.turn()
        self.leads = False
        self.let_go()

    @action
    def crash(self) -> None:
        """The process is gone, with all that waited in it; another one begins."""
        self.turn()
        self.leads = False
        self.waiting = 0

    def turn(self) -> None:
        """One more of T; nothing was copied in it."""
        require(self.turns < self.T)
        self.turns += 1
        self.copied = False

    def let_go(self) -> None:
        """All that wait are answered: this one leads no more."""
        self.waiting = 0

    @action
    def hold(self) -> None:
        """A producer's record is appended, and its answer kept back."""
        require(self.may_hold() and self.waiting < self.W)
        self.waiting += 1

    def may_hold(self) -> bool:
        """Whether it takes what producers write; others are told at once that it does not lead."""
        return self.leads

    @action
    def commit(self) -> None:
        """All that are in sync have a record: its producer is answered."""
        require(self.leads and self.waiting > 0)
        self.waiting -= 1

    @action
    def copy(self) -> None:
        """What another leader has is appended."""
        require(not self.leads)
        self.copied = True

    @always("KAFKA-R23", SHOULD, "When a replica copies what another leader has, no producer waits "
            "at it.", source="kafka#stepping-down")
    def nobody_waits_at_a_follower(self) -> bool:
        """They were answered when it ceased to lead."""
        return self.leads or not self.copied or self.waiting == 0


class LeavingThemWaiting(SteppingDown):
    """Who steps down forgets that anybody waits."""

    def let_go(self) -> None:
        """They will find out by themselves."""


class AnsweringOne(SteppingDown):
    """Who steps down answers one of those that wait."""

    def let_go(self) -> None:
        """Nobody calls a second time."""
        self.waiting = max(self.waiting - 1, 0)


class HoldingAsFollower(SteppingDown):
    """Who does not lead takes what producers write, and keeps them waiting."""

    def may_hold(self) -> bool:
        """It will never know that all have it."""
        return True


EXPECTATIONS = (
    expect(SteppingDown, "KAFKA-R23", "holds", "who steps down answers at once",
           W=(1, 2), T=(1, 2, 3)),
    expect(LeavingThemWaiting, "KAFKA-R23", "violated", "they wait until their time is over",
           where="T > 1", W=(1, 2), T=(1, 2, 3)),
    expect(AnsweringOne, "KAFKA-R23", "violated", "the second one waits until its time is over",
           where="W > 1 and T > 1", W=(1, 2), T=(1, 2, 3)),
    expect(HoldingAsFollower, "KAFKA-R23", "violated", "who asks a follower waits",
           W=(1, 2), T=(1, 2, 3)),
)
