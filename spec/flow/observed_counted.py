"""A link with numbered messages, as seen by a network that loses, duplicates and reorders them.

Theory. As in ``observed_link`` the observer carries every message, and now it may deliver any that
it was ever given, at any time and any number of times, or never. It keeps the counters of
``counted`` from what passes: the elements that A has sent, and the limits and acknowledgements that
reached A; the elements that reached B and those that it has processed; and the greatest limit that
B has granted.

Both ends have timers, and the observer decides when they run out. It holds each end to its
share: A sends what it may, and repeats the oldest element that B is not known to have, and nothing
that B is known to have. B answers every element, new or not, raises its limit for the elements
that it has processed, and repeats it.

Source: ``counted``; 003#drops, 003#E10, 003#E19.
"""

from __future__ import annotations

from ..expectations import expect
from ..notation import (
    MUST, Machine, action, always, assume, boolean, const, guard_rule, integer, require, upto,
)
from .observed_link import ANNOUNCES, PROCESSED_IN_ORDER, SENDS

__all__ = ["EXPECTATIONS", "ObservedCountedLink"]

DROPS = "003#drops"

WITHIN_LIMIT = guard_rule(
    "FLOW-18", MUST,
    "A sender sends a new element only if its number, counted from 0, is below the greatest "
    "limit that has reached it, which at first is the number of the receiver's slots.",
    source=f"{DROPS}; 003#tokens",
)
ANSWERS = guard_rule(
    "FLOW-19", MUST,
    "Before a receiver becomes idle it has answered the elements that reached it, new or not, "
    "with the number that it has accepted; one answer may serve several.",
    source=f"{DROPS}; 003#E10: a duplicate triggers the ACK again",
)
REPEATS = guard_rule(
    "FLOW-20", MUST,
    "After its timer has run out, a sender repeats the oldest element that it does not know to "
    "be accepted, if there is one, before it becomes idle.",
    source=f"{DROPS}: timeout and retry",
)
LETS_GO = guard_rule(
    "FLOW-21", MUST,
    "A sender repeats no element with a number below an acknowledgement that has reached it, or "
    "below a limit that has reached it less the receiver's slots.",
    source=f"{DROPS}; 003#E10")
NUMBERED = guard_rule(
    "FLOW-22", MUST,
    "A sender numbers its elements from 0 in the order in which it was offered them, and sends "
    "new ones in that order, and no others.",
    source=f"{DROPS}: ids of messages",
)
TRUE_ACK = guard_rule(
    "FLOW-23", MUST,
    "B acknowledges an element only after it has accepted it as a new one; a later copy may be "
    "acknowledged again.",
    source=f"{DROPS}; 003#E10: a duplicate is not a new element",
)
LIMIT_FITS = guard_rule(
    "FLOW-24", MUST,
    "A limit that a receiver sends is at most the number of elements that it has processed plus "
    "its slots.",
    source=f"{DROPS}; 003#tokens: a retry creates no token")
REPEATS_LIMIT = guard_rule(
    "FLOW-25", MUST,
    "After its timer has run out, a receiver sends its greatest limit again before it becomes "
    "idle.",
    source="003#E19",
)


class ObservedCountedLink(Machine):
    """C slots, batches of b, and up to K elements."""

    C = const(2, at_least=1)
    b = const(1, at_least=1)
    K = const(3, at_least=1)

    offered = integer(0, K)             # elements that A's application had so far
    sent = integer(0, K)                # of these, those that A has sent
    told = integer(0, K + C, init=C)    # the greatest limit that reached A
    acked = integer(0, K)               # what A can know that B has
    accepted = integer(0, K)            # elements that reached B in their turn
    freed = integer(0, K)               # of these, those that B has processed
    granted = integer(0, K + C, init=C)     # B's greatest limit
    repeating = boolean(False)          # A's timer has run out, and something is to repeat
    answering = boolean(False)          # an element has come to B
    announcing = boolean(False)         # B's timer has run out

    @assume
    def a_batch_fits(self) -> bool:
        """True if a batch fits; with larger batches every link deadlocks (FLOW-3)."""
        return self.b <= self.C

    # --- what reaches A --------------------------------------------------------------------

    @action(count=upto(K + 1))
    def offer(self, count: int) -> None:
        """A's application has ``count`` elements more."""
        require(self.offered + count <= self.K)
        self.offered += count

    @action(beyond=upto(K + 1))
    def permit(self, beyond: int) -> None:
        """A limit is delivered to A: ``beyond`` above the first one, which is C."""
        require(self.C + beyond <= self.granted)
        self.told = max(self.told, self.C + beyond)
        self.hears(beyond)

    @action(number=upto(K + 1))
    def ack(self, number: int) -> None:
        """An acknowledgement is delivered to A."""
        require(number <= self.accepted)
        self.hears(number)

    def hears(self, number: int) -> None:
        """So many elements were accepted; A has nothing to repeat if it has sent no more."""
        self.acked = max(self.acked, number)
        self.repeating = self.repeating and self.acked < self.sent

    @action
    def sender_timer(self) -> None:
        """A's timer runs out."""
        self.repeating = self.acked < self.sent

    # --- what A does -----------------------------------------------------------------------

    @action
    def sends(self) -> None:
        """A sends the next element that it has not sent before."""
        require(self.sent < self.offered)
        require(self.sent < self.told, WITHIN_LIMIT)
        self.sent += 1

    @action(id=upto(K))
    def sends_again(self, id: int) -> None:
        """A sends an element that it has sent before."""
        require(id < self.sent)
        require(id >= self.acked, LETS_GO)
        if id == self.acked:
            self.repeating = False

    @action
    def sends_another(self) -> None:
        """A sends an element before its turn, or one that does not exist."""
        require(False, NUMBERED)

    @action(rests=True)
    def sender_rests(self) -> None:
        """A sends no more for the time being."""
        require(not self.repeating, REPEATS)
        require(self.sent >= self.told or self.sent == self.offered, SENDS)

    # --- what reaches B, and what B does -----------------------------------------------------

    @action(id=upto(K))
    def data(self, id: int) -> None:
        """An element that was sent is delivered to B; it is new if it is the next one."""
        require(id < self.sent)
        if id == self.accepted:
            self.accepted += 1
        self.answering = True

    @action
    def receiver_timer(self) -> None:
        """B's timer runs out."""
        self.announcing = True

    @action
    def processes(self) -> None:
        """B processes the oldest element that it has accepted and not processed."""
        require(self.freed < self.accepted, PROCESSED_IN_ORDER)
        self.freed += 1

    @action
    def processes_another(self) -> None:
        """B processes an element out of turn, a second time, or one that does not exist."""
        require(False, PROCESSED_IN_ORDER)

    @action(rests=True)
    def processes_nothing(self) -> None:
        """B has nothing to process."""
        require(self.freed == self.accepted, PROCESSED_IN_ORDER)

    @action(number=upto(K + 2))
    def acks(self, number: int) -> None:
        """B answers with the number of elements that it has accepted."""
        require(number <= self.accepted, TRUE_ACK)
        if number == self.accepted:
            self.answering = False

    @action(beyond=upto(K + 2))
    def limits(self, beyond: int) -> None:
        """B sends its limit: ``beyond`` above the first one. An old one does no harm."""
        require(beyond <= self.freed, LIMIT_FITS)
        self.granted = max(self.granted, self.C + beyond)
        if self.granted == self.C + beyond:
            self.announcing = False

    @action(rests=True)
    def receiver_rests(self) -> None:
        """B sends no more for the time being."""
        require(not self.answering, ANSWERS)
        require(not self.announcing, REPEATS_LIMIT)
        require(self.freed + self.C - self.granted < self.b, ANNOUNCES)

    @always("FLOW-26", MUST,
            "As the network counts them, the counters of a link stay in order: elements freed "
            "<= accepted <= sent <= limit known to the sender <= limit granted <= freed + slots "
            "of the receiver.",
            source=f"{DROPS}; 003#tokens")
    def counters_are_in_order(self) -> bool:
        """Freed, accepted, sent, known limit, granted limit, and the room that there is."""
        return (self.freed <= self.accepted <= self.sent <= self.told <= self.granted
                <= self.freed + self.C)


EXPECTATIONS = (
    expect(ObservedCountedLink, "FLOW-26", "holds", "the counters stay in order", C=(1, 2),
           b=lambda C: range(1, C + 1), K=3),
)

BOOKKEEPING = {
    "FLOW-26":
        "It orders counters that the network keeps of itself; each step that would disorder them "
        "is refused by FLOW-11, FLOW-18 or FLOW-24, which are tested by themselves.",
}
