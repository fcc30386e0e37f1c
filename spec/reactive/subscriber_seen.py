"""The subscriber of a stream, as its publisher sees it, and its application.

Theory. In ``stream``, a thread of the application processes what waits, whether or not a signal has
returned; the observer, which sees one event at a time, sees each signal return before anything else
happens. The observer may ask whether the subscriber is quiescent whenever it can request nothing.

Source: ``stream``, ``observed_subscriber``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..notation.views import Seen, View, see, shown
from ..refinements import refines, refused
from .observed_subscriber import ObservedSubscriber
from .stream import HoardingSubscriber, Restless, Stream, UnboundedSubscriber

__all__ = ["EXPECTATIONS", "SubscriberSeen"]

RETURNS = see("signal_returns")


class SubscriberSeen(View[Stream]):
    """All signals, requests, and processed elements."""

    def begins(self, machine: Stream) -> Iterable[Seen]:
        """It receives its subscription, and requests what its buffer can hold."""
        return see("subscribe"), see("requests", n=machine.C), RETURNS

    @shown
    def signal(self, before: Stream, after: Stream) -> Iterable[Seen]:
        return see("next"), RETURNS

    @shown
    def end(self, before: Stream, after: Stream) -> Iterable[Seen]:
        told = [see("finishes")] if after.W == 0 else []
        return [see("complete"), *told, RETURNS]

    @shown
    def process(self, before: Stream, after: Stream) -> Iterable[Seen]:
        told = [see("finishes")] if after.W == 0 and after.ended else []
        return [see("process"), see("consumes"), *told]

    @shown
    def request(self, before: Stream, after: Stream) -> Seen:
        return see("requests", n=before.batch())

    @shown
    def cancel(self, before: Stream, after: Stream) -> Iterable[Seen]:
        return see("stop"), see("cancels")

    def asked(self, machine: Stream) -> Iterable[Seen | Sequence[Seen]]:
        """The quiescence, if it can request nothing; and that a blocked application processes
        nothing."""
        if not machine.may_request():
            yield see("comes_to_rest")
        if machine.W > 0 and not machine.cancelled and "process" not in self.enabled:
            yield see("process"), see("consumes_nothing")


SEEN = refines(Stream, ObservedSubscriber, "a subscriber keeps the rules of a subscriber",
               shows=SubscriberSeen, seen_by={"C": "C"}, C=(1, 2, 3), b=lambda C: range(1, C + 1),
               N=(2, 4), X=0)

EXPECTATIONS = (
    SEEN,
    refused(HoardingSubscriber, "RS-2.1", "the last batch is not requested", like=SEEN, C=(1, 2),
            b=lambda C: C, N=4),
    refused(UnboundedSubscriber, "RS-0.2", "a whole buffer requested for a freed batch", like=SEEN,
            C=(2, 3),
            b=1, N=4),
    refused(Restless, "RS-2.4", "it requests after the end", like=SEEN, C=2, b=1, N=2),
)
