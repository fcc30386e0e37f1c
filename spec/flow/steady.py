"""A link at a steady rate: how much room keeps its sender from waiting.

Theory of operation
-------------------
Time goes in ticks. The sender has R elements in each tick, and may send as many as it has credits.
They are F ticks under way; the receiver takes what comes at once, and announces the slots that it
frees in batches of b. A credit is B ticks under way.

    sender --R a tick-->  F ticks  --> receiver, C slots
       ^                                     |
       +------ B ticks: credits, b at once --+

Nothing gets lost, whatever C is: a link with too little room is slow, and no more. It never keeps
its sender waiting exactly if the credits that it begins with last until the first come back,
and from then on one tick's come in each:

    C >= R * (F + B) + b - g        g being the greatest common divisor of R and b

R elements a tick for the whole round, and what the receiver has freed and not yet announced: at
most b - g, for it changes by R, and by b, and so by whole g. As if elements were a fluid, one would
ask for R * (F + B) + b, which is g too much; if b = R that is a whole tick's worth.

How slow, is one number: a credit comes back F + B ticks after its element went, so no more than C
elements go in F + B ticks (FLOW-147). With one credit, stop-and-wait, it is one for each round
trip; that is enough if the receiver takes long for each, as a worker for a job.

A network that carries the messages of the link has no clock, and sees what each tick brings:
credits that arrive, then elements that are sent, then those that arrive and are processed, and then
what is announced.

Source: the mail "back pressure", 003#scheduling.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import gcd
from typing import Any

from ..expectations import expect
from ..notation import (
    MUST, SHOULD, Machine, action, always, array, assume, boolean, const, integer, upto,
)
from ..notation.views import Seen, see, shown
from ..refinements import refines, refused
from .link_seen import OFFER, Carrying
from .observed_link import ObservedLink

__all__ = ["AnnouncingUnseen", "EXPECTATIONS", "Rounds", "RoundsSeen", "Steady"]

SCHEDULING = "003#scheduling"


class Steady(Machine):
    """A sender that always has an element, a receiver that is never behind, and their network."""

    R = const(2, at_least=1)            # elements a tick
    F = const(2, at_least=1)            # ticks to the receiver
    B = const(1, at_least=1)            # ticks until a credit is there
    b = const(2, at_least=1)            # freed slots that are announced together
    g = const(2, at_least=1)            # greatest common divisor of R and b
    C = const(6, at_least=1)            # slots at the receiver

    permits = integer(0, C, init=C)
    under_way = array(upto(F), integer(0, R))       # elements, by the ticks since they were sent
    freed = integer(0, b + R)                       # and not yet announced
    announced = array(upto(B), integer(0, b + R))   # credits, by the ticks since they were sent
    held_up = boolean(False)                        # the last tick had fewer credits than elements

    @assume
    def it_divides_both(self) -> bool:
        """True for any divisor; the rows give the greatest."""
        return self.R % self.g == 0 and self.b % self.g == 0

    @action
    def tick(self) -> None:
        """Credits arrive and are used; elements arrive, and their slots are announced."""
        self.go_on()

    def go_on(self) -> None:
        """Make the changes of one tick."""
        self.permits += self.announced[self.B - 1]
        for age in range(self.B - 1):
            self.announced[self.B - 1 - age] = self.announced[self.B - 2 - age]
        sent = min(self.R, self.permits)
        self.permits -= sent
        self.held_up = sent < self.R
        self.freed += self.comes(sent)
        for age in range(self.F - 1):
            self.under_way[self.F - 1 - age] = self.under_way[self.F - 2 - age]
        self.under_way[0] = sent
        left = self.freed % self.b
        self.announced[0] = self.freed - left
        self.freed = left

    def comes(self, sent: int) -> int:
        """The elements that the receiver takes in this tick: those sent F ticks ago."""
        return self.under_way[self.F - 1]

    @always("FLOW-128", SHOULD,
            "A sender of R elements a tick never lacks a credit, if the receiver has at least R "
            "(F + B) + b - g slots: delays F and B, batches of b credits, g the greatest common "
            "divisor of R and b.",
            source=SCHEDULING)
    def the_sender_goes_on(self) -> bool:
        """In no tick does it have to wait."""
        return not self.held_up


class Rounds(Steady):
    """The same link, with the elements of the last round trip."""

    lately = array(upto(Steady.F + Steady.B), integer(0, Steady.R))     # by the ticks since then

    @action
    def tick(self) -> None:
        """Elements that are a round trip old are forgotten."""
        self.go_on()
        for age in range(self.F + self.B - 1):
            self.lately[self.F + self.B - 1 - age] = self.lately[self.F + self.B - 2 - age]
        self.lately[0] = self.under_way[0]

    @always("FLOW-147", MUST, "Within F + B ticks, a round trip, at most as many elements are "
            "sent as the receiver has slots.",
            source=f"{SCHEDULING} ('the sender needs to wait the propagation delay')")
    def a_round_has_few(self) -> bool:
        """The credit of the first one does not come back earlier."""
        return sum(self.lately) <= self.C


class AnnouncingUnseen(Rounds):
    """A receiver that announces slots of elements that are still on their way."""

    permits = integer(0, 3 * Steady.C, init=Steady.C)

    def comes(self, sent: int) -> int:
        """The elements that were sent in this tick."""
        return min(sent, 2 * self.C - self.permits - self.freed)


class RoundsSeen(Carrying[Rounds]):
    """The messages of each tick, in their order. There is always one element more to send."""

    around = ("under_way", "announced")

    def begins(self, machine: Rounds) -> Iterable[Seen]:
        """A first element is there to be sent."""
        return [OFFER]

    @shown
    def tick(self, before: Rounds, after: Rounds) -> list[Seen]:
        permits = before.announced[before.B - 1]
        heard = [see("permit", count=permits)] if permits else []
        came = before.under_way[before.F - 1]
        return [*heard, *(see("sends"), OFFER) * after.under_way[0],
                *[self.arrived() for _ in range(came)], *[self.processed() for _ in range(came)],
                *[see("grants", count=before.b)] * (after.announced[0] // before.b)]

    def asked(self, machine: Rounds) -> Iterable[Seen | Sequence[Seen]]:
        """Between ticks a receiver is idle, and so is a sender that had to wait."""
        yield see("receiver_rests")
        if machine.held_up:
            yield see("sender_rests")


SEEN = refines(
    Rounds, ObservedLink, "a link at a steady rate keeps to its credits", shows=RoundsSeen,
    seen_by={"C": "C", "b": "b", "K": 1}, R=(1, 2), F=(1, 2), B=1, b=(1, 2), g=1, C=(2, 3))


def _divisor(R: int, b: int) -> range:
    return range(gcd(R, b), gcd(R, b) + 1)


def _around(R: int, F: int, B: int, b: int, g: int) -> range:
    """Amounts of room, from two too small to one too large; and at least a batch."""
    need = R * (F + B) + b - g
    return range(max(b, need - 2), need + 2)


GRID: dict[str, Any] = {"R": range(1, 5), "F": range(1, 4), "B": range(1, 4), "b": range(1, 6),
                        "g": _divisor, "C": _around}

EXPECTATIONS = (
    expect(Steady, "FLOW-128", "violated", "the sender has to wait exactly where C < R (F + B) + b "
           "- g",
           where="C < R * (F + B) + b - g", **GRID),
    expect(Rounds, "FLOW-147", "holds", "no more than C elements go in a round trip", R=(1, 2, 3),
           F=(1, 2), B=(1, 2), b=(1, 2), g=1, C=range(2, 8)),
    expect(AnnouncingUnseen, "FLOW-147", "violated", "slots announced too early let more go",
           R=2, F=2, B=1, b=1, g=1, C=2),
    SEEN,
    refused(AnnouncingUnseen, "FLOW-7", "a slot is announced before its element has come",
            like=SEEN, R=2, F=2, B=1, b=1, g=1, C=2),
)

UNSEEN = {
    "FLOW-128":
        "How fast elements, credits and ticks follow each other is no part of the port of links.",
}
