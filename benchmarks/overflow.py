"""Storm's overflow: two senders, a bounded recvQ, what does not fit, and a status that is late.

Each sender has S numbered messages and a link of two places. What arrives goes to the recvQ, of two
places; where that is full, or something is in the overflow already, to the overflow. While there is
anything in the overflow, the status says stop; it is copied to each sender some time later. The
task takes from the recvQ first, and from the overflow when that is empty: so each sender's messages
are processed in their order. A task that takes from either breaks it in eight steps.
"""

from __future__ import annotations

from checkvalve.spec.notation import (
    MUST, BoundMachine, Machine, action, always, array, bind, boolean, const, fifo, integer,
    require, upto,
)

__all__ = ["Alternating", "Overflow", "overflow"]

SENDERS = 2
PLACES = 2
"""Of a link, and of the recvQ."""


class Overflow(Machine):
    """The recvQ is drained first."""

    S = const(3, at_least=1)            # messages of each sender

    sent = array(upto(SENDERS), integer(0, S))
    link = array(upto(SENDERS), fifo(integer(0, S - 1), PLACES))
    stop = array(upto(SENDERS), boolean())          # the status that each sender has heard
    recv = fifo(integer(0, SENDERS * S - 1), PLACES)        # sender * S + number
    over = fifo(integer(0, SENDERS * S - 1), SENDERS * S)
    newest = array(upto(SENDERS), integer(0, S))    # one more than the newest that was processed
    is_late = boolean()                             # an older one was processed after a newer one

    @action(sender=upto(SENDERS))
    def send(self, sender: int) -> None:
        """The next message, unless the sender has heard that it is to stop."""
        require(self.sent[sender] < self.S and not self.stop[sender])
        require(len(self.link[sender]) < PLACES)
        self.link[sender].push(self.sent[sender])
        self.sent[sender] += 1

    @action(sender=upto(SENDERS))
    def arrive(self, sender: int) -> None:
        """The oldest message on a link comes to the task."""
        number = self.link[sender].pop()
        if len(self.over) == 0 and len(self.recv) < PLACES:
            self.recv.push(sender * self.S + number)
        else:
            self.over.push(sender * self.S + number)

    @action(sender=upto(SENDERS))
    def hear(self, sender: int) -> None:
        """The status is copied to a sender."""
        require(self.stop[sender] != (len(self.over) > 0))
        self.stop[sender] = len(self.over) > 0

    @action
    def take(self) -> None:
        """The task processes the oldest message in the recvQ."""
        self.process(self.recv.pop())

    @action
    def take_from_overflow(self) -> None:
        """It processes the oldest one of the overflow."""
        require(self.may_turn())
        self.process(self.over.pop())

    def may_turn(self) -> bool:
        """Whether the overflow's turn has come."""
        return len(self.recv) == 0

    def process(self, message: int) -> None:
        """In turn, or too late."""
        sender, number = message // self.S, message % self.S
        if number < self.newest[sender]:
            self.is_late = True
        else:
            self.newest[sender] = number + 1

    @always("BENCH-5", MUST, "The messages of a sender are processed in their order.",
            source="the benchmark")
    def in_order(self) -> bool:
        return not self.is_late


class Alternating(Overflow):
    """The task takes from either."""

    def may_turn(self) -> bool:
        """Whatever is in the recvQ still."""
        return True


def overflow(messages: int, alternating: bool = False) -> BoundMachine:
    """Two senders with so many messages each."""
    return bind(Alternating if alternating else Overflow, S=messages)
