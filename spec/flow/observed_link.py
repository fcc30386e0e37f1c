"""A credit-controlled link as the network between its ends sees it.

Theory. A network that carries every message between a sender A and a receiver B can count all
tokens of the link, although neither end can. What has been handed over and not yet delivered is in
flight: D elements one way, Q credits the other. A's credits P are those delivered to it, less what
it has sent. The elements delivered to B and not yet processed are N, and the processed and not yet
announced ones are F. So P + Q + D + N + F = C need not be proved of an implementation: the observer
keeps its books so, and each end can be held to its share:

- A spends one credit on each element, and is idle only when it has run out of either;
- B grants for slots that were freed, b at a time, and is idle only when fewer than b are left.

Both shares together make the link bounded and live, whatever the network does in between (here: it
loses nothing, and keeps the order of each direction). The two ends are judged apart: the first
step that is wrong says which of them is at fault.

Elements have numbers. Over such a network they arrive in the order of sending, so an observer need
not remember them: the next that A sends is the oldest that it was offered and has not sent, and the
next that B processes is the oldest that it has.

Source: ``credit``; 003#tokens, 003#scheduling.
"""

from __future__ import annotations

from ..expectations import expect
from ..notation import (
    MUST, Machine, action, always, assume, const, guard_rule, integer, require, upto,
)
from ..notation.rules import seen_from_outside
from .credit import Link

__all__ = ["EXPECTATIONS", "ObservedLink"]

TOKENS = "003#tokens"

NOT_STUCK = seen_from_outside(Link.rules_declared, "FLOW-3")
IN_BATCHES = seen_from_outside(Link.rules_declared, "FLOW-5")

AGAINST_PERMIT = guard_rule(
    "FLOW-6", MUST,
    "A sender sends an element only if it has a credit that was delivered to it and not yet "
    "spent on another element.",
    source=f"{TOKENS}: if A consumes a permit, it produces a message",
)
FOR_FREED = guard_rule(
    "FLOW-7", MUST,
    "Beyond the sender's first credits, one for each slot, a receiver grants a credit only for "
    "a slot that it has freed by processing an element, and once each time.",
    source=f"{TOKENS}: when B consumes a message, it produces a permit",
)
SENDS = guard_rule(
    "FLOW-8", MUST,
    "A sender becomes idle only when it has no unsent element left, or no credit or limit that "
    "allows the next one.",
    source=f"{TOKENS}; 003#E7: a credit that is taken and not spent is lost",
)
ANNOUNCES = guard_rule(
    "FLOW-9", MUST,
    "A receiver becomes idle only when fewer slots are freed and not yet announced, by credits "
    "or a limit, than a batch has.",
    source=f"{TOKENS}; 003#E8: a slot that is never announced is a token lost")
SENT_IN_ORDER = guard_rule(
    "FLOW-10", MUST,
    "A sender sends only elements that it was offered, in the order of the offers, and none "
    "twice.",
    source=f"{TOKENS}: no data is made, and none is lost",
)
PROCESSED_IN_ORDER = guard_rule(
    "FLOW-11", MUST,
    "A receiver processes the elements that it has accepted in their order, each once, and "
    "finds none to process only if all are processed.",
    source=f"{TOKENS}: no data is made, and none is lost",
)


class ObservedLink(Machine):
    """A link with C slots and batches of b; A has up to K elements that it has not sent."""

    C = const(2, at_least=1)
    b = const(1, at_least=1)
    K = const(2, at_least=1)

    offered = integer(0, K)             # elements at A, not yet sent
    P = integer(0, C, init=C)           # credits at A, unused
    Q = integer(0, C)                   # credits in flight to A
    D = integer(0, C)                   # elements in flight to B
    N = integer(0, C)                   # elements at B, not yet processed
    F = integer(0, C)                   # slots freed at B and not yet announced

    @assume
    def a_batch_fits(self) -> bool:
        """True if a batch fits; with larger batches every link deadlocks (FLOW-3)."""
        return self.b <= self.C

    # --- what the network and the applications do ------------------------------------------

    @action(count=upto(K + 1))
    def offer(self, count: int) -> None:
        """A's application has ``count`` elements more."""
        require(self.offered + count <= self.K)
        self.offered += count

    @action(count=upto(C + 1))
    def permit(self, count: int) -> None:
        """A message with ``count`` credits is delivered to A."""
        require(count <= self.Q)
        self.Q -= count
        self.P += count

    @action
    def data(self) -> None:
        """The oldest element in flight is delivered to B."""
        require(self.D > 0)
        self.D -= 1
        self.N += 1

    # --- what A does -----------------------------------------------------------------------

    @action
    def sends(self) -> None:
        """A sends the oldest element that it was offered and has not sent."""
        require(self.offered > 0)
        require(self.P > 0, AGAINST_PERMIT)
        self.offered -= 1
        self.P -= 1
        self.D += 1

    @action
    def sends_another(self) -> None:
        """A sends an element out of turn, a second time, or one that does not exist."""
        require(False, SENT_IN_ORDER)

    @action(rests=True)
    def sender_rests(self) -> None:
        """A sends no more for the time being."""
        require(self.P == 0 or self.offered == 0, SENDS)

    # --- what B does -----------------------------------------------------------------------

    @action
    def processes(self) -> None:
        """B processes the oldest element that has arrived: its slot is free."""
        require(self.N > 0)
        self.N -= 1
        self.F += 1

    @action
    def processes_another(self) -> None:
        """B processes an element out of turn or a second time, or none although there is one."""
        require(False, PROCESSED_IN_ORDER)

    @action(count=upto(2 * C + 1))
    def grants(self, count: int) -> None:
        """B sends a message with ``count`` credits."""
        require(count <= self.F, FOR_FREED)
        require(count == self.b, IN_BATCHES)
        self.F -= count
        self.Q += count

    @action(rests=True)
    def receiver_rests(self) -> None:
        """B sends no more for the time being. If all its slots are free and none is announced, A
        can never send its elements.
        """
        require(self.F < self.C or self.offered == 0, NOT_STUCK)
        require(self.F < self.b, ANNOUNCES)

    @always("FLOW-12", MUST,
            "A's credits, the elements and credits in flight, and B's slots that are full, or "
            "freed and not announced, sum to C.",
            source=f"{TOKENS}; 003#E1, 003#E2, 003#E3")
    def books_balance(self) -> bool:
        """The sum of the five places; the network loses nothing."""
        return self.P + self.Q + self.D + self.N + self.F == self.C


EXPECTATIONS = (
    expect(ObservedLink, "FLOW-12", "holds", "the books balance", C=(1, 2, 3),
           b=lambda C: range(1, C + 1), K=2),
)

BOOKKEEPING = {
    "FLOW-12":
        "It adds up the five places where the network itself puts what it carries; an "
        "implementation that breaks a link is refused by FLOW-6 to FLOW-11 before.",
}
