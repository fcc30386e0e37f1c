"""A processor, as its publisher and its subscriber see it, each by its own observer.

Theory. Both observers see both sides, in one order: what goes in, what comes out, and the calls of
both subscriptions. To an observer, a signal from above has returned before anything else happens; a
signal below that begins while another one is open comes from another thread, so the open one is
held. Each observer may ask whether the processor is quiescent. It is if it can do nothing by
itself: no thread is in its loop, or the thread in it has already looked and is about to leave; and
it has no request to make and no cancel to pass on.

Source: ``processor``, ``observed_processor``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..notation.views import Seen, View, see, shown
from ..refinements import refines, refused
from .observed_processor import ObservedInlet, ObservedOutlet, Source
from .observed_publisher import Cause
from .processor import (
    AskingAfterTheEnd, AskingAtArrival, AskingForAll, AskingOnce, DroppingFailures, DroppingTheEnd,
    EndingWithElementsLeft, FailingInTurn, GoingOn, KeepingCancels, Overdrawing, Overlapping,
    Processor, TwoStepsOut,
)
from .stream import Loop

__all__ = ["EXPECTATIONS", "InletSeen", "OutletSeen"]

RETURNS = see("signal_returns")


class OutletSeen(View[Processor]):
    """The view of its subscriber: its own calls, its signals, and what is brought meanwhile."""

    # The publisher above; and the signals that the subscriber has not returned from.
    around = ("may_bring", "all_is_brought", "is_to_fail", "open")

    def begins(self, machine: Processor) -> Iterable[Seen]:
        """Its subscriber has a subscription, and has requested nothing."""
        return see("subscriber", s=0), see("on_subscribe", s=0)

    @shown
    def bring(self, before: Processor, after: Processor) -> Seen:
        return see("next")

    @shown
    def complete(self, before: Processor, after: Processor) -> Seen:
        return see("complete")

    @shown
    def fail(self, before: Processor, after: Processor) -> Seen:
        return see("error")

    @shown
    def signal(self, before: Processor, after: Processor) -> Iterable[Seen]:
        overlaps = [see("hold", s=0)] if before.open else []
        return [*overlaps, see("on_next", s=0, deep=0)]

    @shown
    def end(self, before: Processor, after: Processor) -> Seen:
        return ended(before)

    @shown
    def want(self, before: Processor, after: Processor) -> Seen:
        return see("asks", s=0, n=1)

    @shown
    def cancel(self, before: Processor, after: Processor) -> Seen:
        return see("cancel", s=0)

    def asked(self, machine: Processor) -> Iterable[Seen | Sequence[Seen]]:
        """The quiescence, if the processor is quiescent."""
        if is_at_rest(machine):
            yield see("rests", s=0)


class InletSeen(View[Processor]):
    """The view of its publisher: its signals, the calls it receives, and what is passed on
    meanwhile."""

    around = OutletSeen.around

    def begins(self, machine: Processor) -> Iterable[Seen]:
        """The processor has a subscriber, and requests what its buffer can hold."""
        return (see("on_subscribe", s=0), see("subscribe"), see("requests", n=machine.C), RETURNS)

    @shown
    def bring(self, before: Processor, after: Processor) -> Iterable[Seen]:
        return see("next"), RETURNS

    @shown
    def complete(self, before: Processor, after: Processor) -> Iterable[Seen]:
        return see("complete"), RETURNS

    @shown
    def fail(self, before: Processor, after: Processor) -> Iterable[Seen]:
        return see("error"), RETURNS

    @shown
    def signal(self, before: Processor, after: Processor) -> Seen:
        return see("on_next", s=0, deep=0)

    @shown
    def end(self, before: Processor, after: Processor) -> Seen:
        return ended(before)

    @shown
    def ask(self, before: Processor, after: Processor) -> Seen:
        return see("requests", n=before.batch())

    @shown
    def cancel(self, before: Processor, after: Processor) -> Seen:
        return see("cancel", s=0)

    @shown
    def pass_cancel_on(self, before: Processor, after: Processor) -> Seen:
        return see("cancels")

    def asked(self, machine: Processor) -> Iterable[Seen | Sequence[Seen]]:
        """The quiescence, if the processor is quiescent."""
        if is_at_rest(machine):
            yield see("comes_to_rest")


def ended(machine: Processor) -> Seen:
    """The signal that passes the end on."""
    failed = machine.source == Source.FAILED
    return see("on_error", s=0, cause=Cause.FAILURE) if failed else see("on_complete", s=0)


def is_at_rest(machine: Processor) -> bool:
    """True if none of its threads can do anything by itself."""
    outside = machine.open == 0 and machine.loop in (Loop.IDLE, Loop.LEAVING)
    return outside and not machine.may_ask() and not machine.may_leave()


OUTLET = refines(Processor, ObservedOutlet, "a processor keeps the rules of a publisher",
                 shows=OutletSeen,
                 seen_by={"S": 1, "N": "N", "X": 0, "D": 2}, C=(1, 2, 3),
                 b=lambda C: range(1, C + 1), N=3, X=(0, 1))
INLET = refines(Processor, ObservedInlet, "a processor keeps the rules of a subscriber",
                shows=InletSeen,
                seen_by={"C": "C", "S": 1, "D": 2}, C=(1, 2, 3), b=lambda C: range(1, C + 1),
                N=3, X=(0, 1))

EXPECTATIONS = (
    OUTLET,
    INLET,
    refused(AskingForAll, "RS-0.2", "a whole buffer requested above for a freed batch", like=INLET,
            C=2, b=1,
            N=4, X=0),
    refused(AskingAtArrival, "RS-0.2", "a slot requested while it is occupied", like=INLET, C=1,
            b=1,
            N=4, X=0),
    refused(AskingOnce, "RS-2.1", "a buffer is requested once only", like=INLET, C=1, b=1, N=4,
            X=0),
    refused(AskingAfterTheEnd, "RS-2.4", "it requests after the end", like=INLET, C=1, b=1, N=2,
            X=0),
    refused(KeepingCancels, "RS-2.6", "a cancel stays in the processor", like=INLET, C=1, b=1, N=2,
            X=0),
    refused(Overdrawing, "RS-1.1", "one element too many below", like=OUTLET, C=1, b=1, N=2, X=0),
    refused(Overlapping, "RS-1.3", "the thread that brings an element signals it", like=OUTLET, C=2,
            b=1, N=2,
            X=0),
    refused(TwoStepsOut, "RS-3.8", "an element between looking and leaving", like=OUTLET, C=1, b=1,
            N=2, X=0),
    refused(GoingOn, "RS-1.8", "waiting elements are signalled after a cancel", like=OUTLET, C=2,
            b=1, N=4, X=0),
    refused(EndingWithElementsLeft, "RS-0.1", "the end overtakes waiting elements", like=OUTLET,
            C=1,
            b=1, N=2, X=0),
    refused(FailingInTurn, "RS-4.2", "a failure waits behind elements", like=OUTLET, C=1, b=1, N=2,
            X=1),
    refused(DroppingFailures, "RS-4.2", "the failure is not passed on", like=OUTLET, C=1, b=1, N=2,
            X=1),
    refused(DroppingTheEnd, "RS-1.5", "the end is forgotten while elements wait", like=OUTLET, C=1,
            b=1, N=2, X=0),
)
