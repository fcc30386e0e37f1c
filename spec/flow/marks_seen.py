"""Receivers with marks, and those that squelch, as their senders see them.

Theory. In ``marks`` an element comes or is taken, and the receiver says what it has to say in the
same step; it is idle after each. In ``squelch`` a tick brings several elements at once, nothing is
taken, and the sender is never resumed: the low mark is 0, and never reached.

Source: ``marks``, ``squelch``, ``observed_marks``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..expectations import expect
from ..notation.views import Seen, View, see, shown
from ..refinements import refines, refused
from .marks import CallingEarly, CallingLate, GoingOnEarly, KeepingQuiet, Marks, Unheard
from .observed_marks import ObservedMarks
from .squelch import AtFullRate, Squelch

__all__ = ["EXPECTATIONS", "CallingTooLate", "MarksSeen", "SquelchSeen"]

REST = see("rests")


class MarksSeen(View[Marks]):
    """All that comes, is taken, and is said. The sender chooses what comes."""

    around = ("arrive", "late")

    @shown
    def arrive(self, before: Marks, after: Marks) -> Iterable[Seen]:
        return see("arrives", count=1), *said(before, after), REST

    @shown
    def take(self, before: Marks, after: Marks) -> Iterable[Seen]:
        return see("gives", count=1), *said(before, after), REST

    def asked(self, machine: Marks) -> Iterable[Sequence[Seen]]:
        """Report that a receiver gives nothing, if it cannot."""
        if "take" not in self.enabled:
            yield see("gives", count=0), REST


def said(before: Marks, after: Marks) -> list[Seen]:
    """The signal that a step sent; empty if none."""
    if before.stopped == after.stopped:
        return []
    return [see("says_stop" if after.stopped else "says_go")]


class SquelchSeen(View[Squelch]):
    """The elements that come in a tick, and the call."""

    @shown
    def tick(self, before: Squelch, after: Squelch, sent: int) -> Iterable[Seen]:
        called = before.stops_in > before.B >= after.stops_in
        return (see("arrives", count=after.held - before.held),
                *([see("says_stop")] if called else []), REST)

    def asked(self, machine: Squelch) -> Iterable[Seen | Sequence[Seen]]:
        """Nothing is taken as long as any element is held. Elements that do not fit are
        lost, which a consumer that takes all the others finds out.
        """
        if machine.held == 0:
            yield see("gives", count=0)
        if machine.held > machine.C:
            yield see("gives", count=machine.C), see("gives", count=0)


class CallingTooLate(Squelch):
    """A receiver that calls when it holds a whole tick's elements more than the mark."""

    def is_too_much(self) -> bool:
        """True only when the room of a tick is gone."""
        return self.held > self.H + self.R


SEEN = refines(Marks, ObservedMarks, "stop and go are said in time and alternately",
               shows=MarksSeen, seen_by={"H": "H", "L": "L", "M": 8}, H=(1, 2), L=(0, 1), R=(0, 2))
CALLED = refines(Squelch, ObservedMarks, "a squelch is a stop", shows=SquelchSeen,
                 seen_by={"H": "H", "L": 0, "M": 12}, R=(1, 2), F=(1, 2), B=(0, 1), H=2, C=10)

EXPECTATIONS = (
    SEEN,
    CALLED,
    refused(CallingLate, "FLOW-112", "stop is said an element late", like=SEEN, H=1, L=1, R=0),
    refused(Unheard, "FLOW-112", "stop is never said", like=SEEN, H=1, L=1, R=0),
    refused(CallingEarly, "FLOW-113", "stop is said at the mark", like=SEEN, H=2, L=1, R=0),
    refused(KeepingQuiet, "FLOW-114", "go is never said", like=SEEN, H=1, L=1, R=0),
    refused(GoingOnEarly, "FLOW-115", "go is said above the low mark", like=SEEN, H=2, L=0, R=0),
    *(refused(variant, "FLOW-118", "there is too little room, and the rest is lost", like=CALLED,
              R=(1, 2), F=1, B=0, H=1, C=0) for variant in (Squelch, AtFullRate)),
    expect(CallingTooLate, "FLOW-40", "violated", "a receiver that calls a tick late is overrun",
           R=(1, 2), F=1, B=0, H=1, C=lambda R, F, B, H: (H + R * (F + B),)),
    expect(CallingTooLate, "FLOW-127", "violated", "a receiver that calls a tick late holds more "
           "than is known",
           R=(1, 2), F=1, B=0, H=1, C=4),
    refused(CallingTooLate, "FLOW-112", "a squelch that comes a tick late", like=CALLED, R=(1, 2),
            F=1, B=0, H=1, C=4),
)
