"""Two trees with roots that were given the same id: what the spout and the acker make of that.

Theory of operation
-------------------
``acker`` follows one root, because roots do not touch each other's entries. That is so as long as
their ids differ. They are drawn at random: 64 bits, or the 48 bits of the generator's state,
so among some millions of pending roots two equal ones are to be expected sooner or later.
Then the second message takes the place of the first in the spout's map, and the acker, which
knows a root by its id alone, xors both trees into one entry. The first message is neither
acked nor failed, and the completion of either may be taken for the other's.

The acker cannot distinguish them, so the spout must not give an id twice. Not to use an id that
is pending is cheap, and enough as long as no root times out; after a timeout messages about
the old tree may still be on their way to the acker, and count for the new one. That leaves a
chance as small as the one before, but only for ids that are used again at once.

Source: STORM-17; storm#collision.
"""

from __future__ import annotations

from ...expectations import expect
from ...notation import (
    MUST, Machine, action, always, array, const, integer, leads_to, require, subset, upto,
)

__all__ = ["EXPECTATIONS", "DrawingAgain", "TwoRoots"]

COLLISION = "storm#collision; STORM-17"


class TwoRoots(Machine):
    """A spout emits two messages, of one tuple each, and draws one root id for both (STORM-17).

    The spout knows a root by its id, and so does the acker. The second message takes the
    place of the first in the spout's map, and in the acker the two trees share an entry.
    """

    same = const(1, at_most=1)          # 1: the ids drawn are the same
    T = const(0, at_most=1)             # whether the spout may time out

    out = subset(upto(2))               # messages that were emitted
    root = array(upto(2), integer(0, 1))        # the root id that a message was given
    carries = array(upto(2), integer(0, 2, init=2))     # message pending under an id; 2: none
    processed = subset(upto(2))
    acked = subset(upto(2))             # messages for which ack() was called
    over = subset(upto(2))              # … ack() or fail()

    inits = subset(upto(2))             # INITs in flight, by their message
    acks = subset(upto(2))              # ACKs in flight
    answers = subset(upto(2))           # root ids of which ack is on its way to the spout

    value = subset(upto(2))             # edges xored in; a message has one edge
    known = subset(upto(2))             # root ids of which INIT has come

    @action(fair=True, message=upto(2))
    def emit(self, message: int) -> None:
        """Emit a message: the first one, then the second."""
        require(message not in self.out and (message == 0 or 0 in self.out))
        root = self.draw(message)
        self.root[message] = root
        self.carries[root] = message
        self.out.add(message)
        self.inits.add(message)

    def draw(self, message: int) -> int:
        """A random root id; with ``same`` the same for both messages."""
        return 0 if self.same == 1 else message

    @action(fair=True, message=upto(2))
    def process(self, message: int) -> None:
        """A bolt processes the message's tuple, and acks it."""
        require(message in self.out and message not in self.processed)
        self.processed.add(message)
        self.acks.add(message)

    @action(fair=True, message=upto(2))
    def receive_init(self, message: int) -> None:
        """INIT reaches the acker."""
        require(message in self.inits)
        self.inits.discard(message)
        self.known.add(self.root[message])
        self.toggle(message)

    @action(fair=True, message=upto(2))
    def receive_ack(self, message: int) -> None:
        """ACK reaches the acker."""
        require(message in self.acks)
        self.acks.discard(message)
        self.toggle(message)

    def toggle(self, message: int) -> None:
        """Xor the message's edge into its root's value, and see whether that is zero."""
        if message in self.value:
            self.value.discard(message)
        else:
            self.value.add(message)
        root = self.root[message]
        if root in self.known and not any(self.root[edge] == root for edge in self.value):
            self.known.discard(root)
            self.answers.add(root)

    @action(fair=True, root=upto(2))
    def hear(self, root: int) -> None:
        """Call ack() for the message that is pending under the id."""
        require(root in self.answers)
        self.answers.discard(root)
        if self.carries[root] < 2:
            self.acked.add(self.carries[root])
            self.over.add(self.carries[root])
            self.carries[root] = 2

    @action(fair=True, root=upto(2))
    def time_out(self, root: int) -> None:
        """Call fail() for the message that is pending under an id."""
        require(self.T == 1 and self.carries[root] < 2)
        self.over.add(self.carries[root])
        self.carries[root] = 2

    @leads_to("STORM-A9", MUST, "For every emitted message ack() or fail() is called eventually.",
              source=COLLISION, message=upto(2))
    def nobody_is_forgotten(self, message: int) -> tuple[bool, bool]:
        """A message that another one replaces in the spout's map is forgotten."""
        return message in self.out, message in self.over

    @always("STORM-A10", MUST, "ack() is called only for a message that was processed.",
            source=COLLISION)
    def nobody_is_acked_for_another(self) -> bool:
        """If two messages have one id, the ack of either may be taken for the other's."""
        return all(message in self.processed for message in self.acked)


class DrawingAgain(TwoRoots):
    """The spout does not use an id that is pending: it draws another one."""

    def draw(self, message: int) -> int:
        """A different id, while the first message is pending."""
        return message if self.carries[0] < 2 else super().draw(message)


EXPECTATIONS = (
    *(expect(TwoRoots, rule, "violated", "root ids collide (STORM-17): " + about,
             where="same == 1", same=(0, 1), T=(0, 1)) for rule, about in (
        ("STORM-A9", "a message is forgotten"), ("STORM-A10", "acked for another"))),
    expect(DrawingAgain, "STORM-A9", "holds", "no id that is pending is used", T=(0, 1)),
    expect(DrawingAgain, "STORM-A10", "violated",
           "an id that timed out may be used while the acker still has it",
           where="T == 1", T=(0, 1)),
)
