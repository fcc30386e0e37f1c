"""A sender that drops what it has neither a permit nor a place for.

Theory of operation
-------------------
A source that cannot be stopped offers elements to a sender A. The channel to the receiver B drops
nothing, and B has C slots. One might think that dropping needs no back-channel. But where nothing
is dropped on the way, A has to decide itself what to drop, and for that it must know when: it needs
B's permits as any sender does. It has a few places of its own (S), sends what it has a permit for,
and drops what comes when all its places are taken.

    source --offers--> A [ S places ] --permit--> channel --> B [ C slots ]
                        |                 ^                      |
                        +-> dropped       +------- permits ------+

    offered = sent + dropped + waiting at A
    P + Q + D + N = C               as without dropping, whatever A drops

What A drops takes no part in the second balance, nor do A's places: they are only where elements
are taken from. A sender that takes a permit first and then drops the element loses the permit, and
gets stuck in the end (003#E7). One that drops by guessing, without permits, overruns B; unless
the channel drops what finds no slot (X = 1), and then B decides, and nobody needs permits.

The source is never held up: that is what dropping is for (FLOW-137). A sender that waits for a
permit with the element in its hands holds it up as soon as B stops.

With one slot behind it such a sender is a master with a queue and one worker (``observed_jobs``): a
permit is what the worker asks by, and what is dropped had no place. To whoever carries its messages
such a sender is any other: it has the elements that it was offered
and has not said to be dropped. One that drops in silence has an element and a permit, and rests.

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
    G = const(1, at_most=1)             # 1: the receiver goes on; 0: it processes nothing
    X = const(0, at_most=1)             # 1: the channel drops what finds no slot

    offered = integer(0, K)
    sent = integer(0, K)
    dropped = integer(0, K)
    waiting = integer(0, S)             # at the sender
    permits = integer(0, C, init=C)     # at the sender, unused
    announced = integer(0, C)           # permits under way to the sender
    data = integer(0, C + K)            # elements under way to the receiver
    pending = integer(0, C + K)         # elements at the receiver
    passed_over = integer(0, K)         # elements that the channel has dropped

    @action(fair=True)
    def offer(self) -> None:
        """The source has another element: it goes, waits, or is dropped. Where one waits already,
        that one goes first, and leaves its place."""
        require(self.offered < self.K and self.takes())
        self.offered += 1
        if self.may_send():
            self.go()
        elif self.waiting < self.places():
            self.waiting += 1
        else:
            self.drop()

    def takes(self) -> bool:
        """Whatever comes: if need be it is dropped."""
        return True

    def places(self) -> int:
        """Where an element may wait."""
        return self.S

    def may_send(self) -> bool:
        """It has a permit."""
        return self.permits > 0

    def go(self) -> None:
        """An element is sent, for a permit."""
        self.permits = max(0, self.permits - 1)
        self.sent += 1
        self.data += 1

    def drop(self) -> None:
        """The element is gone, and counted."""
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
        """A permit is at the sender."""
        require(self.announced > 0)
        self.announced -= 1
        self.permits = min(self.C, self.permits + 1)

    @always("FLOW-134", MUST, "What a source offers to a sender that drops was sent, was dropped, "
            "or waits there.", source=f"{DROPPING}; 003#E23")
    def nothing_is_missing(self) -> bool:
        """Each element is one of them."""
        return self.offered == self.sent + self.dropped + self.waiting

    @step("FLOW-135", MUST, "A sender drops an element only while it has no permit, and no place.",
          source=f"{DROPPING} ('it needs to know when dropping is needed'); 003#E23")
    def it_drops_late(self, after: Shedding) -> bool:
        """That is when dropping is needed."""
        return after.dropped == self.dropped or (
            self.permits == 0 and self.waiting == self.S)

    @always("FLOW-136", MUST, "A receiver holds no more than its slots, whatever its sender drops.",
            source=f"{DROPPING}; 003#defining")
    def it_fits(self) -> bool:
        """The sender's places are no part of it."""
        return self.pending <= self.C

    @always("FLOW-138", MUST, "What a sender drops, and where its elements wait, takes no part in "
            "the balance of its tokens.", source=f"{TOKENS}; 003#E7")
    def tokens_are_conserved(self) -> bool:
        """Of a channel that drops nothing."""
        return self.X == 1 or (
            self.permits + self.announced + self.data + self.pending == self.C)

    @never_stuck("FLOW-137", MUST, "The source of a sender that drops is never held up.",
                 source=DROPPING)
    def all_is_offered(self) -> bool:
        """Not even by a receiver that has stopped for good."""
        return self.offered == self.K


class DroppingInSilence(Shedding):
    """What is dropped is not counted."""

    def drop(self) -> None:
        """Nobody learns of it."""


class DroppingEarly(Shedding):
    """It drops while it has a place left."""

    def places(self) -> int:
        """One is kept free."""
        return max(0, self.S - 1)


class DroppingWithPermit(Shedding):
    """It takes a permit for each element, and then finds that this one is not wanted (003#E7)."""

    @action
    def filter_out(self) -> None:
        """The permit is gone with the element."""
        require(self.permits > 0 and self.offered < self.K)
        self.offered += 1
        self.dropped += 1
        self.permits -= 1


class Guessing(Shedding):
    """A sender that drops now and then, as it thinks fit, and asks for no permits."""

    def may_send(self) -> bool:
        """It sends what it does not drop."""
        return True

    @action
    def drop_one(self) -> None:
        """Perhaps this is the time for it."""
        require(self.offered < self.K)
        self.offered += 1
        self.dropped += 1

    @always("FLOW-139", CLAIM, "Where a sender drops, it needs no permits.",
            source=f"{DROPPING} ('One naive assumption'); 003#E23")
    def guessing_is_enough(self) -> bool:
        """The receiver is not overrun."""
        return self.pending <= self.C


class Waiting(Shedding):
    """A sender that drops nothing, and lets its source wait."""

    def takes(self) -> bool:
        """While there is a permit, or a place."""
        return self.permits > 0 or self.waiting < self.S


class SheddingSeen(Carrying[Shedding]):
    """The messages of the link, over a channel that drops nothing. What the sender says to be
    dropped was not offered to the link."""

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
        """An end that can do nothing more rests."""
        if "send" not in self.enabled:
            yield see("sender_rests")
        if "free" not in self.enabled:
            yield see("receiver_rests")
        yield from self.missing("free")


SEEN = refines(
    Shedding, ObservedLink, "a sender that drops keeps to its permits", shows=SheddingSeen,
    seen_by={"C": "C", "b": 1, "K": "S + 1"}, C=(1, 2), S=(1, 2, 0), K=4, X=0)

class PlacesSeen(View[Shedding]):
    """The sender's places, and the one permit that it sends by: a receiver with one slot is a
    worker, which asks when that is free. Elements are alike, so the oldest is dropped."""

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
        """A sender rests that has nothing to send, or no permit."""
        if "send" not in self.enabled:
            yield see("rests")


PLACES = refines(
    Shedding, ObservedMaster, "a sender drops only what it has no place for", shows=PlacesSeen,
    seen_by={"K": "S", "W": 1}, C=1, S=(1, 2), K=4, X=0)

GRID: dict[str, Any] = {"C": (1, 2), "S": (0, 1, 2), "K": 4, "G": (0, 1)}

EXPECTATIONS = (
    *(expect(Shedding, rule, "holds", says, **GRID) for rule, says in (
        ("FLOW-134", "each element was sent, was dropped, or waits"),
        ("FLOW-135", "nothing is dropped that could go or wait"),
        ("FLOW-136", "the receiver is not overrun"),
        ("FLOW-137", "the source goes on, also where the receiver has stopped"),
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
           "permit", C=1, S=1, K=3),
    expect(DroppingWithPermit, "FLOW-138", "violated", "003#E7: the permit of what was dropped is "
           "lost", C=1, S=1, K=3),
    expect(Waiting, "FLOW-137", "violated", "a receiver that stops holds the source up, and one "
           "that goes on does not", where="G == 0", C=(1, 2), S=(0, 1), K=4, G=(0, 1)),
    expect(Guessing, "FLOW-139", "violated", "003#E23: without permits the receiver is overrun, "
           "unless the channel drops", where="X == 0", C=(1, 2), S=1, K=4, X=(0, 1)),
    expect(Guessing, "FLOW-136", "violated", "003#E23: so the back-channel is needed exactly where "
           "the channel drops nothing", where="X == 0", C=(1, 2), S=1, K=4, X=(0, 1)),
    SEEN,
    refused(DroppingInSilence, "FLOW-8", "an element that is dropped in silence is owed", like=SEEN,
            C=1, S=1, K=3),
    refused(Guessing, "FLOW-6", "003#E23: without permits too much is sent", like=SEEN, C=1, S=1),
    refused(DroppingWithPermit, "FLOW-8", "003#E7: the permit of what was dropped is lost",
            like=SEEN, C=1, S=1, K=3),
    PLACES,
    refused(DroppingEarly, "FLOW-52", "an element is dropped that could wait", like=PLACES, C=1,
            S=1),
)

UNSEEN = {
    "FLOW-137":
        "That a source is never held up is about a sender that drops, and no port has one.",
    "FLOW-139":
        "It is false of a channel that drops nothing, so no implementation is to keep it.",
}
