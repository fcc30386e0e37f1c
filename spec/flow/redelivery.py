"""A limit on unacknowledged messages, when lost ones are sent again.

Theory of operation
-------------------
A server delivers messages to a consumer, and each has to be acknowledged. No more than C may be
unacknowledged at a time: JetStream calls that MaxAckPending. So it is a link with C credits, of
which an acknowledgement gives one back (``credit`` with b = 1), but for what happens when a message
or its acknowledgement is lost: after a while the server sends the message *again*.

    server, C credits --message--> consumer
       ^  |                          |
       |  +--- again, after a while  |
       +--------- acknowledgement ---+

A message that is sent again has its credit already. A server that needs another one for it is
blocked exactly if as many may be lost as it has credits (L >= C): then all of them are with
messages that were lost, and of which none may be sent. And a message that was sent twice is
acknowledged twice, if the server was only too impatient; a server that counts both has a credit too
many, and exceeds the limit.

For an observer that counts the credits of the link, a message is on its way until an
acknowledgement of it arrives at the server, however often it is sent; and a second acknowledgement
belongs to no message.

Source: libraries#ack-pending; 003#drops, 003#E10.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..expectations import expect, prove
from ..notation import MUST, Machine, action, always, const, integer, never_stuck, require
from ..notation.views import Seen, View, see, shown
from ..refinements import refines, refused
from .link_seen import OFFER
from .observed_link import ObservedLink

__all__ = [
    "CountingEveryAck", "EXPECTATIONS", "RedeliveringWithPermit", "Unacknowledged",
    "UnacknowledgedSeen",
]

PENDING = "libraries#ack-pending"


class Unacknowledged(Machine):
    """A server with always more to deliver, and a consumer that acknowledges all that it gets."""

    C = const(2, at_least=1)            # messages that are not acknowledged, at most
    L = const(1)                        # messages and acknowledgements that may be lost, in all
    I = const(0)                        # noqa: E741  messages that are sent again too early, in all

    permits = integer(0, C + I, init=C)
    under_way = integer(0, C + I)       # messages to the consumer
    acks = integer(0, C + I)            # acknowledgements to the server
    silent = integer(0, C + I)          # unacknowledged, and nothing of it is under way
    lost = integer(0, L)
    copies = integer(0, I)              # under way, of messages that are not lost
    doubled = integer(0, I)             # messages that were sent again too early

    @action(fair=True)
    def deliver(self) -> None:
        """The next message is sent, with a credit."""
        require(self.permits > 0 and self.under_way < self.C + self.I)
        self.permits -= 1
        self.under_way += 1

    @action(fair=True)
    def acknowledge(self) -> None:
        """The consumer has a message, and acknowledges it."""
        require(self.under_way > 0 and self.acks < self.C + self.I)
        self.under_way -= 1
        self.acks += 1

    @action(fair=True)
    def hear(self) -> None:
        """An acknowledgement arrives, and its credit is back."""
        require(self.acks > 0 and self.permits < self.C + self.I)
        self.acks -= 1
        self.permits += 1

    @action
    def lose_message(self) -> None:
        """A message is lost."""
        require(self.under_way > 0 and self.lost < self.L and self.silent < self.C + self.I)
        self.under_way -= 1
        self.silent += 1
        self.lost += 1

    @action
    def lose_ack(self) -> None:
        """An acknowledgement is lost: to the server it looks like a lost message."""
        require(self.acks > 0 and self.lost < self.L and self.silent < self.C + self.I)
        self.acks -= 1
        self.silent += 1
        self.lost += 1

    @action(fair=True)
    def redeliver(self) -> None:
        """A message for which no acknowledgement has come is sent again."""
        require(self.silent > 0 and self.under_way < self.C + self.I and self.may_redeliver())
        self.silent -= 1
        self.under_way += 1

    def may_redeliver(self) -> bool:
        """True: the message still has its credit."""
        return True

    @action
    def redeliver_early(self) -> None:
        """The server was impatient: a message is sent again that is not lost."""
        require(self.under_way > 0 and self.doubled < self.I and self.copies < self.I)
        self.doubled += 1
        self.copies += 1

    @action(fair=True)
    def acknowledge_copy(self) -> None:
        """A message is acknowledged a second time."""
        require(self.copies > 0)
        self.copies -= 1
        self.hear_again()

    def hear_again(self) -> None:
        """Ignored: the server has had the first acknowledgement."""

    @always("FLOW-143", MUST,
            "The messages that were sent and not acknowledged, as far as the server has heard, "
            "each counted once, are at most as many as its limit allows.",
            source=f"{PENDING}; 003#E10")
    def few_are_pending(self) -> bool:
        """Lost messages, and those sent again, make no difference."""
        return self.under_way + self.acks + self.silent <= self.C

    @always("FLOW-146", MUST,
            "The server's unused credits plus the messages that were sent and not acknowledged, "
            "as far as it has heard, always equal its limit.",
            source=f"{PENDING}; 003#E10")
    def permits_are_conserved(self) -> bool:
        """A message has one credit, however often it is sent."""
        return self.permits + self.under_way + self.acks + self.silent == self.C

    @never_stuck("FLOW-144", MUST,
                 "A server that sends lost messages again, without another credit, never "
                 "deadlocks with its consumer, whichever messages or acknowledgements are lost.",
                 source=f"{PENDING}; 003#drops")
    def messages_go_on(self) -> bool:
        """False: there is always another message to deliver."""
        return False


class RedeliveringWithPermit(Unacknowledged):
    """A message that is sent again needs a credit like any other."""

    def may_redeliver(self) -> bool:
        """True while the limit is not reached."""
        return self.permits > 0


class CountingEveryAck(Unacknowledged):
    """Each acknowledgement gives a credit back."""

    def hear_again(self) -> None:
        """The second acknowledgement of a message counts, too; the model ends somewhere."""
        self.permits = min(self.C + self.I, self.permits + 1)


class UnacknowledgedSeen(View[Unacknowledged]):
    """Messages that are sent with a credit, and those that are acknowledged. A lost message is sent
    again, so that the network loses nothing in the end. The history is the number of unacknowledged
    messages.
    """

    history: int = 0

    around = ("lose_message", "lose_ack", "lost", "redeliver_early", "doubled")

    def begins(self, machine: Unacknowledged) -> Iterable[Seen]:
        """There is always one more to deliver."""
        return [OFFER]

    @shown
    def deliver(self, before: Unacknowledged, after: Unacknowledged) -> Iterable[Seen]:
        if after.under_way == before.under_way:
            return []
        self.history += 1
        return [see("sends"), OFFER]

    @shown
    def hear(self, before: Unacknowledged, after: Unacknowledged) -> Iterable[Seen]:
        return self.acknowledged()

    @shown
    def acknowledge_copy(self, before: Unacknowledged, after: Unacknowledged) -> Iterable[Seen]:
        return self.acknowledged() if after.permits > before.permits else []

    def acknowledged(self) -> list[Seen]:
        """The oldest message has come, was processed, and its slot is free again; or there is
        none.
        """
        frees = [see("data"), see("processes")] if self.history else []
        self.history = max(0, self.history - 1)
        return [*frees, see("grants", count=1), see("permit", count=1)]

    def asked(self, machine: Unacknowledged) -> Iterable[Seen]:
        """Report that the sender is idle if it can send nothing more."""
        if "deliver" not in self.enabled:
            yield see("sender_rests")

    def at_rest(self, machine: Unacknowledged) -> Iterable[Sequence[Seen]]:
        """If nothing can happen and nothing is lost, the consumer has all that was sent."""
        if self.history and machine.silent == 0:
            yield see("data"), see("processes"), see("receiver_rests")


SEEN = refines(
    Unacknowledged, ObservedLink, "what is sent again keeps to its credit",
    shows=UnacknowledgedSeen, seen_by={"C": "C", "b": 1, "K": 1}, C=(1, 2), L=(0, 1), I=(0, 1))

GRID: dict[str, Any] = {"C": (1, 2, 3), "L": (0, 1, 2, 3), "I": (0, 1)}

EXPECTATIONS = (
    expect(Unacknowledged, "FLOW-143", "holds", "the limit is kept", **GRID),
    expect(Unacknowledged, "FLOW-144", "holds", "messages keep flowing, whatever is lost", **GRID),
    prove(Unacknowledged, "FLOW-146", "credits are conserved, for all limits and losses",
          for_all=("C", "L", "I")),
    prove(Unacknowledged, "FLOW-143", "the limit is kept, for all limits and losses",
          for_all=("C", "L", "I"), lemmas=("FLOW-146",)),
    prove(Unacknowledged, "FLOW-144", "messages keep flowing, for all limits and losses",
          for_all=("C", "L", "I"), lemmas=("FLOW-146",)),
    expect(RedeliveringWithPermit, "FLOW-144", "violated",
           "blocked exactly where as many may be lost as there are credits", where="L >= C",
           C=(1, 2, 3), L=(0, 1, 2, 3, 4)),
    expect(CountingEveryAck, "FLOW-143", "violated", "a second acknowledgement of one message lets "
           "one more be sent than the limit", where="I > 0", **GRID),
    expect(CountingEveryAck, "FLOW-146", "violated", "a credit for nothing", C=1, L=0, I=1),
    SEEN,
    refused(CountingEveryAck, "FLOW-7", "a second acknowledgement of one message belongs to none",
            like=SEEN, C=1, L=0, I=1),
)

UNSEEN = {
    "FLOW-144":
        "A blocked server with all its credits in use shows nothing; no port has a limit on "
        "acknowledgements.",
}
