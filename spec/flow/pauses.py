"""A receiver that calls stop, and a sender that backs off for a while.

Theory of operation
-------------------
In ``squelch`` a sender that has heard a call stops for good. The mail's sender *backs off for a
while*: it pauses for P ticks, and then sends again unless it has heard another call. So one call is
not enough, whatever room there is: a receiver that still takes nothing is overrun some ticks after
the pause. It has to call again, and it does so every A ticks while it holds more than H.

    call   call   call   call            every A ticks
      \\\\      x      \\\\      \\\\             x: lost; no more than L in a row
    |--P ticks--|
           gap? |--P ticks--|

A call may be lost. If no more than L are lost one after the other, then of L + 1 calls one arrives.
The first may come L A ticks late; from then on one comes in each (L + 1) A ticks. So the receiver
is not overrun exactly if

    C >= H + R (F + B + L A)        room for what comes until the first call is heard
    P >= (L + 1) A                  each pause lasts until the next call that arrives

If the second is false no room is enough, and so it is if nothing bounds L: that is what the
mail means when it says that the delay varies, and not to rely on it.

The benefit of a pause is its end. A sender that stops for good needs a message to resume, and
hangs if that message is lost (``marks``). A pause ends by itself: B + P ticks after the receiver
has last held too much the sender may send, whatever was lost (FLOW-131).

R, F, B, H and C are those of ``squelch``. With T = 1 the receiver may take an element a tick; at
worst it takes nothing.

Source: the mail "back pressure"; 003#dropping, 003#E14, 003#E21.
"""

from __future__ import annotations

from typing import Any

from ..expectations import expect
from ..notation import MUST, Machine, action, always, array, boolean, const, integer, require, upto

__all__ = ["EXPECTATIONS", "AtFullRate", "CallingOnce", "LosingAny", "Pausing", "StoppingForGood"]

DROPPING = "003#dropping"


class Pausing(Machine):
    """A sender, the messages under way both ways, and a receiver that need not take anything."""

    R = const(1, at_least=1)            # elements a tick, at most
    F = const(1, at_least=1)            # ticks to the receiver
    B = const(1)                        # ticks until a call is heard
    H = const(1, at_least=1)            # the mark
    P = const(2, at_least=1)            # ticks of a pause
    A = const(1, at_least=1)            # ticks from one call to the next
    L = const(0)                        # calls that are lost in a row, at most
    T = const(0)                        # elements that the receiver may take in a tick
    C = const(4)                        # room at the receiver

    under_way = array(upto(F), integer(0, R))       # elements, by the ticks since they were sent
    held = integer(0, H + C + 1)                    # the last number stands for all above it
    calls = array(upto(B + 1), boolean())           # under way, by the ticks since they were sent
    paused = integer(0, P)                          # ticks until the sender may send
    until = integer(0, A - 1)                       # ticks until the receiver may call again
    lost = integer(0, L)                            # calls, since one was not
    calm = integer(0, B + P)                        # ticks since it held more than its mark

    @action(sent=upto(R + 1), taken=upto(T + 1), loses=upto(2))
    def tick(self, sent: int, taken: int, loses: int) -> None:
        """Elements arrive, the receiver may call, and the sender sends unless it pauses."""
        self.arrive(taken)
        for age in range(self.B):
            self.calls[self.B - age] = self.calls[self.B - age - 1]
        self.calls[0] = False
        if self.held > self.H and self.until == 0 and self.may_call():
            self.call(loses)
        else:
            require(loses == 0)
            self.until = max(0, self.until - 1) if self.held > self.H else 0
        self.paused = self.P if self.calls[self.B] else self.rested()
        require(sent == 0 or self.paused == 0)
        require(self.may_send(sent))
        self.under_way[0] = sent

    def arrive(self, taken: int) -> None:
        """The elements sent F ticks ago arrive, and some of those held are taken."""
        require(taken <= self.held)
        came = self.under_way[self.F - 1]
        self.held = min(self.H + self.C + 1, self.held + came - taken)
        for age in range(self.F - 1):
            self.under_way[self.F - 1 - age] = self.under_way[self.F - 2 - age]
        self.calm = min(self.B + self.P, self.calm + 1) if self.held <= self.H else 0

    def call(self, loses: int) -> None:
        """The receiver says stop; the network may lose it."""
        self.until = self.A - 1
        if loses == 1:
            require(self.may_lose())
            self.lost = min(self.L, self.lost + 1)
        else:
            self.calls[0] = True
            self.lost = 0

    def may_call(self) -> bool:
        """True: whenever it is time for a call."""
        return True

    def may_lose(self) -> bool:
        """True while no more than L calls are lost in a row."""
        return self.lost < self.L

    def rested(self) -> int:
        """Ticks that the pause still lasts, a tick later."""
        return max(0, self.paused - 1)

    def may_send(self, sent: int) -> bool:
        """True: any number, up to the rate."""
        return True

    @always("FLOW-130", MUST,
            "A receiver that says stop every A ticks above its mark H is not overrun, if C >= H "
            "+ R (F + B + L A) and P >= (L + 1) A: C places, R elements a tick, delays F and B, "
            "P ticks of pause, L stops lost in a row.",
            source=f"{DROPPING} ('notifies the sender to back-off for a while'); 003#E21")
    def there_is_room(self) -> bool:
        """The receiver holds no more than it has room for."""
        return self.held <= self.C

    @always("FLOW-131", MUST, "A sender that pauses may send again at the latest B + P ticks, the "
            "delay of a call and a pause, after its receiver last held more than its mark.",
            source=f"{DROPPING}; 003#E21")
    def a_pause_ends(self) -> bool:
        """No message is needed to resume, so no loss can keep the sender paused."""
        return self.calm < self.B + self.P or self.paused == 0


class CallingOnce(Pausing):
    """A receiver that calls when it has passed the mark, and not again."""

    called = boolean(False)

    def may_call(self) -> bool:
        """True only for the first call."""
        first = not self.called
        self.called = True
        return first


class LosingAny(Pausing):
    """Any number of calls may be lost in a row."""

    def may_lose(self) -> bool:
        """True: the network gives no guarantee."""
        return True


class StoppingForGood(Pausing):
    """A sender that was called stops until it is asked to resume, and no such message exists."""

    def rested(self) -> int:
        """The pause does not count down, as in ``squelch``."""
        return self.paused


class AtFullRate(Pausing):
    """From its second tick on the sender sends R a tick: all phases occur, in few states."""

    begun = boolean(False)

    def may_send(self, sent: int) -> bool:
        """True if the sender sends all it can, once it has begun."""
        first = not self.begun
        self.begun = True
        return sent == self.R or first or self.paused > 0


def _around(R: int, F: int, B: int, H: int, A: int, L: int) -> range:
    """Amounts of room, from one too small to one too large."""
    need = H + R * (F + B + L * A)
    return range(need - 1, need + 2)


def _pauses(A: int, L: int) -> range:
    """Pauses in ticks, from one too short to one too long."""
    return range(max(1, (L + 1) * A - 1), (L + 1) * A + 2)


SMALL: dict[str, Any] = {"R": (1, 2), "F": (1, 2), "B": (0, 1), "H": 1, "A": (1, 2), "L": (0, 1),
                         "T": (0, 1), "P": _pauses, "C": _around}
WIDE: dict[str, Any] = {"R": (1, 3), "F": (1, 3), "B": (0, 2), "H": 3, "A": (1, 2, 3),
                        "L": (0, 1, 2), "P": _pauses, "C": _around}
SHORT = "P < (L + 1) * A or C < H + R * (F + B + L * A)"

EXPECTATIONS = (
    expect(Pausing, "FLOW-130", "violated", "003#E21: overrun exactly where a pause is shorter "
           "than (L + 1) A, or C < H + R (F + B + L A)", where=SHORT, **SMALL),
    expect(AtFullRate, "FLOW-130", "violated", "exactly so at full rate, from every phase",
           where=SHORT, **WIDE),
    expect(CallingOnce, "FLOW-130", "violated", "003#E21: one call and a pause that ends: no room "
           "is enough", R=1, F=1, B=1, H=1, P=(1, 2, 5), C=(3, 6, 12)),
    expect(LosingAny, "FLOW-130", "violated", "any number of calls may be lost: no room is enough",
           R=1, F=1, B=1, H=1, P=(2, 5), A=(1, 2), C=(3, 6, 12)),
    expect(Pausing, "FLOW-131", "holds", "a pause ends, whatever was lost", R=(1, 2), F=1,
           B=(0, 1, 2), H=1, A=(1, 2), L=(0, 1), T=(1, 2), P=(1, 2, 3), C=4),
    expect(StoppingForGood, "FLOW-131", "violated", "a sender that is never asked to resume",
           B=(0, 1), T=1, P=(1, 2)),
)

UNSEEN = {
    "FLOW-130":
        "How long a sender pauses, and which calls are lost, is between it and the network; the "
        "port of marks has a receiver that says stop once.",
    "FLOW-131":
        "A sender alone knows when it may send again, and no port has a sender that pauses by "
        "itself.",
}
