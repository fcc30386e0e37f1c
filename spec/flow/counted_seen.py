"""The link with numbered messages, as the network that carries them sees it.

Theory. In ``counted`` all elements are there from the beginning, and A repeats only what the
network then delivers: a repetition that is lost again shows nothing new. B answers every element;
the delivery of the answer is another step. A timer that an end does not have can run out as well,
and then has no effect.

Source: ``counted``, ``observed_counted``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..notation.views import Seen, View, see, shown
from ..refinements import refines, refused
from .counted import (
    AcceptingAnything, CountedLink, IncrementalLink, KeepingByAcks, SilentReceiver, SilentSender,
    WrappingLink,
)
from .observed_counted import ObservedCountedLink

__all__ = ["EXPECTATIONS", "CountedSeen"]


class CountedSeen(View[CountedLink]):
    """All messages, when they are sent and when they are delivered."""

    same = ("ack", "permit")
    around = ("data", "ack", "permit")

    def begins(self, machine: CountedLink) -> Iterable[Seen]:
        """All elements are there at the start."""
        return [see("offer", count=machine.K)]

    @shown
    def send(self, before: CountedLink, after: CountedLink) -> Iterable[Seen]:
        return [see("sends")] * (after.sent - before.sent)

    @shown
    def data(self, before: CountedLink, after: CountedLink, id: int) -> Iterable[Seen]:
        return see("data", id=id), see("acks", number=after.accepted)

    @shown
    def retry(self, before: CountedLink, after: CountedLink) -> Iterable[Seen]:
        oldest = before.acked
        return (see("sender_timer"), see("sends_again", id=oldest), see("data", id=oldest),
                see("acks", number=after.accepted))

    @shown
    def answer(self, before: CountedLink, after: CountedLink) -> Seen:
        return see("ack", number=after.acked)

    @shown
    def free(self, before: CountedLink, after: CountedLink) -> Iterable[Seen]:
        raised = after.granted > before.granted
        return [see("processes"), *([limit(after)] if raised else [])]

    @shown
    def announce(self, before: CountedLink, after: CountedLink) -> Iterable[Seen]:
        return see("receiver_timer"), limit(after), see("permit", beyond=after.granted - after.C)

    def asked(self, machine: CountedLink) -> Iterable[Seen | Sequence[Seen]]:
        """Report each end as idle that can do nothing more; one without a timer is always idle."""
        yield see("receiver_rests")
        if "send" not in self.enabled:
            yield see("sender_rests")
            if not machine.sender_repeats():
                yield see("sender_timer"), see("sender_rests")
        if not machine.receiver_repeats():
            yield see("receiver_timer"), see("receiver_rests")


def limit(machine: CountedLink) -> Seen:
    """The message with B's limit."""
    return see("limits", beyond=machine.granted - machine.C)


SEEN = refines(CountedLink, ObservedCountedLink, "each end keeps to its share, on any network",
               shows=CountedSeen, seen_by={"C": "C", "b": "b", "K": "K"}, C=(1, 2, 3),
               b=lambda C: range(1, C + 1), K=4)

EXPECTATIONS = (
    SEEN,
    refused(IncrementalLink, "FLOW-18", "a credit that comes twice is counted twice", like=SEEN,
            C=(1, 2), b=1),
    refused(SilentSender, "FLOW-20", "003#E19: no retry", like=SEEN, C=1, b=1),
    refused(SilentReceiver, "FLOW-25", "003#E19: the limit is sent once", like=SEEN, C=1, b=1),
    refused(KeepingByAcks, "FLOW-21", "what a limit says about B is ignored", like=SEEN,
            C=(1, 2), b=1),
    refused(AcceptingAnything, "FLOW-23", "an element that comes twice is a new one", like=SEEN,
            C=1, b=1),
    refused(WrappingLink, "FLOW-23", "an old element is taken for a new one", like=SEEN, C=(1, 2),
            b=1, M=(1, 2)),
)
