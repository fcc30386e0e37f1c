"""A receiver that calls "stop" when it is nearly full.

Theory of operation
-------------------
Time goes in ticks. A sender sends up to R elements a tick, without credits. They are F ticks under
way. When the receiver holds more than H it sends a signal, and B ticks later the sender has
stopped. At worst the receiver takes nothing meanwhile.

    sender --R a tick-->  F ticks  --> [ H ........ C ]
       ^                                     |
       +------------- B ticks: stop! --------+

When the mark is passed, the receiver holds up to H + R. The elements sent in the F - 1 ticks before
are still to come, and so are those sent in the B ticks until the signal works. So it needs room for

    H + R * (F + B)         if it calls when it holds more than H
    H + R * (F + B) - 1     if it calls when it holds H

and exactly that is needed. The mail says D * R places above the mark, D being the delay of the
signal: it leaves out the elements under way to the receiver (003#E14). And if the signal is lost,
no room is enough: this works only if signals do not get lost.

Source: the mail "back pressure"; 003#dropping, 003#E14.
"""

from __future__ import annotations

from typing import Any

from ..expectations import expect, prove
from ..notation import (
    CLAIM, MUST, Machine, action, always, array, assume, boolean, const, integer, require, upto,
)

__all__ = ["EXPECTATIONS", "AtFullRate", "AtTheMark", "Roomy", "Squelch"]

DROPPING = "003#dropping"


class Squelch(Machine):
    """A sender, the elements under way, and a receiver that takes nothing any more."""

    R = const(2, at_least=1)            # elements a tick, at most
    F = const(2, at_least=1)            # ticks to the receiver
    B = const(1)                        # ticks until a signal works
    H = const(2, at_least=1)            # the mark
    C = const(8)                        # room at the receiver

    under_way = array(upto(F), integer(0, R))       # by the ticks since they were sent
    held = integer(0, H + R * (F + B + 1))
    stops_in = integer(0, B + 1, init=B + 1)        # ticks; B + 1: no call yet

    @action(sent=upto(R + 1))
    def tick(self, sent: int) -> None:
        """Elements arrive; the receiver may call; the sender sends, unless it has heard."""
        self.held += self.under_way[self.F - 1]
        for age in range(self.F - 1):
            self.under_way[self.F - 1 - age] = self.under_way[self.F - 2 - age]
        if self.stops_in <= self.B:
            self.stops_in = max(0, self.stops_in - 1)
        elif self.is_too_much():
            self.stops_in = self.B
        require(sent == 0 or self.stops_in > 0)
        require(self.may_send(sent))
        self.under_way[0] = sent

    def is_too_much(self) -> bool:
        """True if the receiver has to call."""
        return self.held > self.H

    def may_send(self, sent: int) -> bool:
        """True: any number, up to the rate."""
        return True

    @always("FLOW-40", MUST,
            "A receiver that says stop above its mark H is never overrun, if it has H + R (F + "
            "B) places: R elements a tick, F ticks to the receiver, B ticks until a stop works.",
            source=f"{DROPPING}; 003#E14")
    def there_is_room(self) -> bool:
        """The receiver holds no more than it has room for."""
        return self.held <= self.C

    @always("FLOW-127", MUST,
            "Until a receiver says stop it holds at most its mark H; then it holds, with "
            "elements in flight, at most H + R (F + t): R elements a tick, F ticks in flight, t "
            "ticks of unheard stop.",
            source=f"{DROPPING}; 003#E14")
    def what_comes_is_known(self) -> bool:
        """Counts the B ticks in which the sender has not heard, as far as they are over."""
        heard_in = self.B + 1 - max(1, self.stops_in)
        most = self.H + self.R * (self.F + heard_in)
        coming = sum(self.under_way[age] for age in range(self.F))
        return self.held <= self.H if self.stops_in > self.B else self.held + coming <= most

    @always("FLOW-41", CLAIM,
            "A receiver that says stop above its mark never holds more than the mark plus the "
            "elements that its sender can send during the delay of the stop signal.",
            source=f"{DROPPING}; 003#E14")
    def the_signals_delay_is_enough(self) -> bool:
        """Counted above the mark, as the mail does."""
        return self.held <= self.H + self.R * self.B


class Roomy(Squelch):
    """A receiver with as much room as it needs."""

    @assume
    def there_is_enough(self) -> bool:
        """True if there is room for all that comes after the mark was passed."""
        return self.C >= self.H + self.R * (self.F + self.B)


class AtTheMark(Squelch):
    """A receiver that calls when it holds H, and not more than that."""

    def is_too_much(self) -> bool:
        """True one element before the mark is passed."""
        return self.held >= self.H


class AtFullRate(Squelch):
    """From its second tick on the sender sends R a tick: all phases occur, in few states."""

    begun = boolean(False)

    def may_send(self, sent: int) -> bool:
        """True if the sender sends all it can, once it has begun."""
        first = not self.begun
        self.begun = True
        return sent == self.R or first or self.stops_in == 0


class AtFullRateAtTheMark(AtFullRate):
    """Full rate, and a call at the mark itself."""

    def is_too_much(self) -> bool:
        """True one element before the mark is passed."""
        return self.held >= self.H


def _around(R: int, F: int, B: int, H: int) -> range:
    """Amounts of room, from two too small to one too large."""
    need = H + R * (F + B)
    return range(max(0, need - 2), need + 2)


def _one_too_little(R: int, F: int, B: int, H: int) -> range:
    """The room that is one less than needed."""
    return range(H + R * (F + B) - 1, H + R * (F + B))


def _two_too_little(R: int, F: int, B: int, H: int) -> range:
    """The room that is one less than needed if the receiver calls at the mark."""
    return range(H + R * (F + B) - 2, H + R * (F + B) - 1)


SMALL: dict[str, Any] = {"R": (1, 2), "F": (1, 2), "B": range(3), "H": (1, 2, 3)}
WIDE: dict[str, Any] = {"R": range(1, 5), "F": range(1, 6), "B": range(6), "H": (1, 7)}
MARKS: dict[str, Any] = {**WIDE, "H": range(1, 40)}
MORE, AT = "C < H + R * (F + B)", "C < H + R * (F + B) - 1"

EXPECTATIONS = (
    expect(Squelch, "FLOW-40", "violated", "overrun exactly where C < H + R (F + B)",
           where=MORE, **SMALL, C=_around),
    expect(AtTheMark, "FLOW-40", "violated", "called at the mark, it needs one place less",
           where=AT, **SMALL, C=_around),
    expect(AtFullRate, "FLOW-40", "violated", "exactly so at full rate, from every phase",
           where=MORE, **WIDE, C=_around),
    expect(AtFullRateAtTheMark, "FLOW-40", "violated",
           "one place less at full rate too, if it is called at the mark",
           where=AT, **WIDE, C=_around),
    expect(AtFullRate, "FLOW-40", "violated", "overrun with one place less, wherever the mark is",
           **MARKS, C=_one_too_little),
    expect(AtFullRateAtTheMark, "FLOW-40", "violated",
           "overrun with one place less, called at any mark", **MARKS, C=_two_too_little),
    expect(Squelch, "FLOW-127", "holds", "what comes after the call is known", **SMALL, C=8),
    *(prove(Roomy, rule, about, for_all=("H", "C", "B"), lemmas=lemmas, R=range(1, 5),
            F=range(1, 6)) for rule, about, lemmas in (
        ("FLOW-127", "what comes after the call is known, for all marks and delays", ()),
        ("FLOW-40", "never overrun where C >= H + R (F + B), for all marks and delays",
         ("FLOW-127",)))),
    expect(Squelch, "FLOW-41", "violated",
           "003#E14: what is under way to the receiver needs room as well", **SMALL, C=8),
)

UNSEEN = {
    "FLOW-41":
        "It leaves out the elements under way to the receiver, so no implementation is to keep "
        "it.",
}
