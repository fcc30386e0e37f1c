"""The publisher of a stream, as its subscriber sees it.

Theory. In ``stream``, an element that is signalled while another one is open comes from another
thread: to the observer, the open one is held. The subscriber may ask whether the publisher is
quiescent whenever nothing is open and no thread is in the loop, or the thread in it has already
looked and is about to leave.

After a cancel the subscriber also requests and cancels again, to see whether that has an effect;
the observer does so when the publisher is quiescent.

Source: ``stream``, ``observed_publisher``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..notation.views import Seen, View, see, shown
from ..refinements import refines, refused
from .observed_publisher import Cause, ObservedPublisher
from .stream import (
    DeafAfterwards, EndingInSilence, GoingOn, HonouringLate, Loop, Overdrawing, Overlapping,
    Stream, TwoStepsOut, Wrapping,
)

__all__ = ["EXPECTATIONS", "PublisherSeen"]

REST = see("rests", s=0)


class PublisherSeen(View[Stream]):
    """All calls of the subscriber, and all its signals."""

    def begins(self, machine: Stream) -> Iterable[Seen]:
        """It is subscribed, and requests what its buffer can hold."""
        return see("subscriber", s=0), see("on_subscribe", s=0), see("asks", s=0, n=machine.C)

    @shown
    def signal(self, before: Stream, after: Stream) -> Iterable[Seen]:
        overlaps = [see("hold", s=0)] if before.open else []
        return [*overlaps, see("on_next", s=0, deep=0)]

    @shown
    def end(self, before: Stream, after: Stream) -> Seen:
        return see("on_error", s=0, cause=Cause.FAILURE) if before.X else see("on_complete", s=0)

    @shown
    def request(self, before: Stream, after: Stream) -> Iterable[Seen]:
        asks = see("asks", s=0, n=before.batch())
        # After a cancel, the observer first asks whether the publisher is quiescent.
        return [REST, asks] if before.cancelled and is_at_rest(before) else [asks]

    @shown
    def cancel(self, before: Stream, after: Stream) -> Seen:
        return see("cancel", s=0)

    def asked(self, machine: Stream) -> Iterable[Seen | Sequence[Seen]]:
        """The quiescence, if the publisher is quiescent."""
        if is_at_rest(machine):
            yield REST


def is_at_rest(machine: Stream) -> bool:
    """True if no signal is open, and no thread will look again what is owed."""
    return machine.open == 0 and machine.loop in (Loop.IDLE, Loop.LEAVING)


SEEN = refines(Stream, ObservedPublisher, "a publisher keeps the rules of a publisher",
               shows=PublisherSeen,
               seen_by={"S": 1, "N": "N", "X": "X", "D": 2}, C=(1, 2, 3),
               b=lambda C: range(1, C + 1), N=(2, 4), X=(0, 1))

EXPECTATIONS = (
    SEEN,
    refused(Overdrawing, "RS-1.1", "one element too many", like=SEEN, C=1, b=1, N=4),
    refused(Overlapping, "RS-1.3", "the requesting thread signals itself", like=SEEN, C=2, b=1,
            N=4),
    refused(TwoStepsOut, "RS-3.8", "a request between looking and leaving", like=SEEN, C=1, b=1,
            N=4),
    refused(Wrapping, "RS-3.8", "a sum that wraps", like=SEEN, C=1, b=1, N=4),
    refused(DeafAfterwards, "RS-3.8", "a request during a signal is lost", like=SEEN, C=1, b=1,
            N=4),
    refused(GoingOn, "RS-1.8", "it does not check for a cancel", like=SEEN, C=4, b=1,
            N=4),
    refused(HonouringLate, "RS-3.6", "a request undoes a cancel", like=SEEN, C=2, b=1, N=4),
    refused(EndingInSilence, "RS-1.5", "no end is signalled", like=SEEN, C=4, b=1, N=2, X=0),
    refused(EndingInSilence, "RS-1.4", "no failure is signalled", like=SEEN, C=4, b=1, N=2, X=1),
)
