"""A stage that makes one of many, as the network above it sees it.

Theory. In ``frames`` a sender has a credit for each place of the stage's buffer, and what it sends
arrives at once; so does a credit that is paid back. To an observer that carries the messages of
that link the stage processes an element when it takes it out of the buffer. A stage that pays then
announces each place by itself; one that pays when its output is made announces m at a time. If a
stage pays late although it should not, the network sees places that are free and not announced.

Source: ``frames``, ``observed_link``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..notation.views import Seen, see, shown
from ..refinements import refines, refused
from .frames import Gathering, KeepingAPlace, PayingLate, PayingLateForLittle, PayingTwice
from .link_seen import Carrying
from .observed_link import ObservedLink

__all__ = ["EXPECTATIONS", "StageSeen"]

OFFER = see("offer", count=1)


class StageSeen(Carrying[Gathering]):
    """The messages of the link above the stage; nothing is under way for long."""

    def begins(self, machine: Gathering) -> Iterable[Seen]:
        """There is always one element to send."""
        return [OFFER]

    @shown
    def send(self, before: Gathering, after: Gathering) -> Iterable[Seen]:
        return see("sends"), OFFER, self.arrived()

    @shown
    def take(self, before: Gathering, after: Gathering) -> Iterable[Seen]:
        return self.processed(), *paid(before, after)

    @shown
    def make(self, before: Gathering, after: Gathering) -> Iterable[Seen]:
        return paid(before, after)

    def asked(self, machine: Gathering) -> Iterable[Seen | Sequence[Seen]]:
        """A stage without all inputs of an output waits for more; a blocked sender is idle."""
        if machine.kept < machine.m:
            yield see("receiver_rests")
        if "send" not in self.enabled:
            yield see("sender_rests")
        if machine.kept < machine.m:
            yield from self.missing("take")


def paid(before: Gathering, after: Gathering) -> list[Seen]:
    """The message with the credits that a step paid back, and its arrival; empty if none."""
    count = after.permits - before.permits
    return [see("grants", count=count), see("permit", count=count)] if count > 0 else []


AT_ONCE = refines(Gathering, ObservedLink, "a stage that pays when it takes", shows=StageSeen,
                  seen_by={"C": "B", "b": 1, "K": 1}, m=(1, 2, 3), B=(1, 2, 3))
TOGETHER = refines(PayingLateForLittle, ObservedLink, "a stage that pays when it has made",
                   shows=StageSeen, seen_by={"C": "B", "b": "m", "K": 1}, B=(1, 2, 3),
                   m=lambda B: range(1, B + 1))

EXPECTATIONS = (
    AT_ONCE,
    TOGETHER,
    refused(PayingTwice, "FLOW-7", "a place that is paid back twice", like=AT_ONCE, m=2, B=(1, 2)),
    refused(PayingLate, "FLOW-9", "places that are free, and not announced until an output is made",
            like=AT_ONCE, m=2, B=2),
    refused(PayingLate, "FLOW-3", "all places are free, and the stage waits for more", like=AT_ONCE,
            m=2, B=1),
    refused(KeepingAPlace, "FLOW-5", "one place fewer than was taken", like=TOGETHER, m=2, B=2),
)
