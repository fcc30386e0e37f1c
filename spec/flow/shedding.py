"""A sender that drops elements for which it has neither a credit nor a place.

Theory of operation
-------------------
A source that cannot be stopped offers elements to a sender A. The channel to the receiver B drops
nothing, and B has C slots. One might think that dropping needs no back-channel. But if nothing
is dropped on the way, A has to decide itself what to drop, and for that it must know when: it needs
B's credits as any sender does. It has a few places of its own (S), sends elements for which it has
credits, and drops the elements that come when all its places are taken.

    source --offers--> A [ S places ] --credit--> channel --> B [ C slots ]
                        |                 ^                      |
                        +-> dropped       +------- credits ------+

    offered = sent + dropped + waiting at A
    P + Q + D + N = C               as without dropping, whatever A drops

Dropped elements take no part in the second balance, nor do A's places: they are only where elements
are taken from. A sender that takes a credit first and then drops the element loses the credit, and
is blocked in the end (003#E7). One that drops by guessing, without credits, overruns B; unless
the channel drops what finds no slot (X = 1), and then B decides, and no credits are needed.

The source never has to wait: that is what dropping is for (FLOW-137). A sender that keeps an
element until it gets a credit makes the source wait as soon as B stops.

With one slot behind it such a sender is a master with a queue and one worker (``observed_jobs``): a
credit is the ask of the worker, and a dropped element is one without a place. For an observer that
carries its messages such a sender is like any other: it has the elements that it was offered
and has not reported as dropped. One that drops in silence seems to have an element and a credit,
and is idle.

Source: the mail "back pressure"; 003#dropping, 003#E7, 003#E23.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..expectations import expect, prove
from ..notation import (
    CLAIM, MUST, Machine, action, always, const, integer, never_stuck, require, step,
)
from ..notation.views import Seen, View, see, shown
from ..refinements import refines, refused
from .link_seen import OFFER, Carrying
from .observed_jobs import ObservedMaster
from .observed_link import ObservedLink

__all__ = [
    "DroppingEarly", "DroppingInSilence", "DroppingWithPermit", "EXPECTATIONS", "Guessing",
    "PlacesSeen", "Shedding", "SheddingSeen", "Waiting",
]

DROPPING = "003#dropping"
TOKENS = "003#tokens"


class Shedding(Machine):
    """A source, a sender that drops, a channel that does not, and a receiver that may stop."""

    C = const(2, at_least=1)            # slots at the receiver
    S = const(1)                        # places at the sender
    K = const(4, at_least=1)            # elements that the source offers in all
    G = const(1, at_most=1)             # 1: the receiver continues; 0: it processes nothing
    X = const(0, at_most=1)             # 1: the channel drops what finds no slot

    offered = integer(0, K)
    sent = integer(0, K)
    dropped = integer(0, K)
    waiting = integer(0, S)             # at the sender
    permits = integer(0, C, init=C)     # at the sender, unused
    announced = integer(0, C)           # credits under way to the sender
    data = integer(0, C + K)            # elements under way to the receiver
    pending = integer(0, C + K)         # elements at the receiver
    passed_over = integer(0, K)         # elements that the channel has dropped

    @action(fair=True)
    def offer(self) -> None:
        """The source has another element: it goes, waits, or is dropped. If one waits already,
        that one goes first, and leaves its place.
        """
        require(self.offered < self.K and self.takes())
        self.offered += 1
        if self.may_send():
            self.go()
        elif self.waiting < self.places():
            self.waiting += 1
        else:
            self.drop()

    def takes(self) -> bool:
        """True: every element is taken, and dropped if need be."""
        return True

    def places(self) -> int:
        """Number of places at the sender in which an element may wait."""
        return self.S

    def may_send(self) -> bool:
        """True if the sender has a credit."""
        return self.permits > 0

    def go(self) -> None:
        """Send an element, with a credit."""
        self.permits = max(0, self.permits - 1)
        self.sent += 1
        self.data += 1

    def drop(self) -> None:
        """Count the element as dropped."""
        self.dropped += 1

    @action(fair=True)
    def send(self) -> None:
        """An element that waited goes."""
        require(self.waiting > 0 and self.may_send())
        self.waiting -= 1
        self.go()

    @action(fair=True)
    def arrive(self) -> None:
        """An element is at the receiver; a channel that drops asks whether there is a slot."""
        require(self.data > 0)
        self.data -= 1
        if self.X == 1 and self.pending >= self.C:
            self.passed_over += 1
        else:
            self.pending += 1

    @action(fair=True)
    def free(self) -> None:
        """The receiver has processed an element, and announces its slot."""
        require(self.G == 1 and self.pending > 0 and self.announced < self.C)
        self.pending -= 1
        self.announced += 1

    @action(fair=True)
    def hear(self) -> None:
        """A credit is at the sender."""
        require(self.announced > 0)
        self.announced -= 1
        self.permits = min(self.C, self.permits + 1)

    @always("FLOW-134", MUST, "Every element that is offered to a sender that drops has been "
            "sent, has been dropped, or waits there.", source=f"{DROPPING}; 003#E23")
    def nothing_is_missing(self) -> bool:
        """Each element is one of them."""
        return self.offered == self.sent + self.dropped + self.waiting

    @step("FLOW-135", MUST, "A sender drops an element only while it has neither a credit nor a "
          "free place.",
          source=f"{DROPPING} ('it needs to know when dropping is needed'); 003#E23")
    def it_drops_late(self, after: Shedding) -> bool:
        """Only then is dropping needed."""
        return after.dropped == self.dropped or (
            self.permits == 0 and self.waiting == self.S)

    @always("FLOW-136", MUST, "A receiver holds no more elements than its slots, whatever its "
            "sender drops.",
            source=f"{DROPPING}; 003#defining")
    def it_fits(self) -> bool:
        """The sender's places do not count."""
        return self.pending <= self.C

    @always("FLOW-138", MUST,
            "If the channel drops nothing, the credits at the sender and in flight plus the "
            "elements in flight and at the receiver always total the receiver's slots.",
            source=f"{TOKENS}; 003#E7")
    def tokens_are_conserved(self) -> bool:
        """True of a channel that drops elements itself (X = 1), where no credits are needed."""
        return self.X == 1 or (
            self.permits + self.announced + self.data + self.pending == self.C)

    @never_stuck("FLOW-137", MUST,
                 "A sender that drops never deadlocks while its source has elements to offer, "
                 "even if its receiver has stopped for good.",
                 source=DROPPING)
    def all_is_offered(self) -> bool:
        """It does not wait even for a receiver that has stopped for good."""
        return self.offered == self.K


class DroppingInSilence(Shedding):
    """A dropped element is not counted."""

    def drop(self) -> None:
        """The element is gone unnoticed."""


class DroppingEarly(Shedding):
    """A sender that drops while it has a free place."""

    def places(self) -> int:
        """One place is kept free."""
        return max(0, self.S - 1)


class DroppingWithPermit(Shedding):
    """A sender that takes a credit for an element, and then drops the element (003#E7)."""

    @action
    def filter_out(self) -> None:
        """The credit is gone with the element."""
        require(self.permits > 0 and self.offered < self.K)
        self.offered += 1
        self.dropped += 1
        self.permits -= 1


class Guessing(Shedding):
    """A sender that drops now and then, at its own discretion, and asks for no credits."""

    def may_send(self) -> bool:
        """True: the sender sends what it does not drop."""
        return True

    @action
    def drop_one(self) -> None:
        """Drop an element at any time."""
        require(self.offered < self.K)
        self.offered += 1
        self.dropped += 1

    @always("FLOW-139", CLAIM,
            "The receiver of a sender that drops elements at its own discretion, and sends the "
            "others without credits, is never overrun.",
            source=f"{DROPPING} ('One naive assumption'); 003#E23")
    def guessing_is_enough(self) -> bool:
        """The receiver is not overrun."""
        return self.pending <= self.C


class Waiting(Shedding):
    """A sender that drops nothing, and makes its source wait."""

    def takes(self) -> bool:
        """True while there is a credit, or a place."""
        return self.permits > 0 or self.waiting < self.S


class SheddingSeen(Carrying[Shedding]):
    """The messages of the link, over a channel that drops nothing. Elements that the sender reports
    as dropped were not offered to the link.
    """

    around = ("arrive", "data", "passed_over")

    @shown
    def offer(self, before: Shedding, after: Shedding) -> Iterable[Seen]:
        if after.dropped > before.dropped:
            return []
        return [OFFER, *[see("sends")] * (after.data - before.data)]

    @shown
    def send(self, before: Shedding, after: Shedding) -> Iterable[Seen]:
        return [see("sends")] * (after.data - before.data)

    @shown
    def arrive(self, before: Shedding, after: Shedding) -> Seen:
        return self.arrived()

    @shown
    def free(self, before: Shedding, after: Shedding) -> Iterable[Seen]:
        count = after.announced - before.announced
        return [self.processed(), *([see("grants", count=count)] if count else [])]

    @shown
    def hear(self, before: Shedding, after: Shedding) -> Seen:
        return see("permit", count=1)

    def asked(self, machine: Shedding) -> Iterable[Seen | Sequence[Seen]]:
        """Report each end as idle that can do nothing more."""
        if "send" not in self.enabled:
            yield see("sender_rests")
        if "free" not in self.enabled:
            yield see("receiver_rests")
        yield from self.missing("free")


SEEN = refines(
    Shedding, ObservedLink, "a sender that drops keeps to its credits", shows=SheddingSeen,
    seen_by={"C": "C", "b": 1, "K": "S + 1"}, C=(1, 2), S=(1, 2, 0), K=4, X=0)

class PlacesSeen(View[Shedding]):
    """The sender's places, and the one credit with which it sends: a receiver with one slot is a
    worker, which asks when that is free. Elements are alike, so the oldest is dropped.
    """

    around = ("arrive", "data", "passed_over")

    def begins(self, machine: Shedding) -> Iterable[Seen]:
        """The slot is free."""
        return [see("ask", worker=0)]

    @shown
    def offer(self, before: Shedding, after: Shedding) -> Iterable[Seen]:
        return [see("submit"), *[see("gives", worker=0)] * (after.data - before.data),
                *[see("drops")] * (after.dropped - before.dropped)]

    @shown
    def send(self, before: Shedding, after: Shedding) -> Iterable[Seen]:
        return [see("gives", worker=0)] * (after.data - before.data)

    @shown
    def free(self, before: Shedding, after: Shedding) -> Seen:
        return see("done", worker=0)

    @shown
    def hear(self, before: Shedding, after: Shedding) -> Seen:
        return see("ask", worker=0)

    def asked(self, machine: Shedding) -> Iterable[Seen | Sequence[Seen]]:
        """Report a sender as idle that has nothing to send, or no credit."""
        if "send" not in self.enabled:
            yield see("rests")


PLACES = refines(Shedding, ObservedMaster, "a sender drops only elements for which it has no place",
                 shows=PlacesSeen, seen_by={"K": "S", "W": 1}, C=1, S=(1, 2), K=4, X=0)

GRID: dict[str, Any] = {"C": (1, 2), "S": (0, 1, 2), "K": 4, "G": (0, 1)}

EXPECTATIONS = (
    *(expect(Shedding, rule, "holds", says, **GRID) for rule, says in (
        ("FLOW-134", "each element was sent, was dropped, or waits"),
        ("FLOW-135", "nothing is dropped that could go or wait"),
        ("FLOW-136", "the receiver is not overrun"),
        ("FLOW-137", "the source never waits, not even for a receiver that has stopped"),
        ("FLOW-138", "tokens are conserved, whatever is dropped"))),
    *(prove(Shedding, rule, f"{says}, for all sizes", for_all=("C", "S", "K"), lemmas=lemmas,
            G=(0, 1), X=0) for rule, says, lemmas in (
        ("FLOW-134", "each element was sent, was dropped, or waits", ("FLOW-138",)),
        ("FLOW-138", "tokens are conserved", ("FLOW-134",)),
        ("FLOW-136", "the receiver is not overrun, and the sender's places do not matter",
         ("FLOW-134", "FLOW-138")))),
    expect(DroppingInSilence, "FLOW-134", "violated", "what is dropped is nowhere", C=1, S=1, K=3),
    expect(DroppingEarly, "FLOW-135", "violated", "an element is dropped that could wait", C=1,
           S=(1, 2), K=4),
    expect(DroppingWithPermit, "FLOW-135", "violated", "003#E7: an element is dropped with its "
           "credit", C=1, S=1, K=3),
    expect(DroppingWithPermit, "FLOW-138", "violated", "003#E7: the credit of the dropped element "
           "is lost", C=1, S=1, K=3),
    expect(Waiting, "FLOW-137", "violated", "a receiver that stops makes the source wait, and one "
           "that continues does not", where="G == 0", C=(1, 2), S=(0, 1), K=4, G=(0, 1)),
    expect(Guessing, "FLOW-139", "violated", "003#E23: without credits the receiver is overrun, "
           "unless the channel drops", where="X == 0", C=(1, 2), S=1, K=4, X=(0, 1)),
    expect(Guessing, "FLOW-136", "violated", "003#E23: so the back-channel is needed exactly where "
           "the channel drops nothing", where="X == 0", C=(1, 2), S=1, K=4, X=(0, 1)),
    SEEN,
    refused(DroppingInSilence, "FLOW-8", "an element that is dropped in silence is owed", like=SEEN,
            C=1, S=1, K=3),
    refused(Guessing, "FLOW-6", "003#E23: without credits too much is sent", like=SEEN, C=1, S=1),
    refused(DroppingWithPermit, "FLOW-8", "003#E7: the credit of what was dropped is lost",
            like=SEEN, C=1, S=1, K=3),
    PLACES,
    refused(DroppingEarly, "FLOW-52", "an element is dropped that could wait", like=PLACES, C=1,
            S=1),
)

UNSEEN = {
    "FLOW-137":
        "That a source never has to wait is about a sender that drops, and no port has one.",
    "FLOW-139":
        "It is false of a channel that drops nothing, so no implementation is to keep it.",
}
