"""A link at a steady rate: how much room keeps its sender going.

Theory of operation
-------------------
Time goes in ticks. The sender has R elements in each tick, and may send as many as it has permits.
They are F ticks under way; the receiver takes what comes at once, and announces the slots that it
frees in batches of b. A permit is B ticks under way.

    sender --R a tick-->  F ticks  --> receiver, C slots
       ^                                     |
       +------ B ticks: permits, b at once --+

Nothing gets lost, whatever C is: a link with too little room is slow, and no more. It never keeps
its sender waiting exactly where the permits that it begins with last until the first come back,
and from then on one tick's come in each:

    C >= R * (F + B) + b - g        g being the greatest common divisor of R and b

R elements a tick for the whole round, and what the receiver has freed and not yet announced: at
most b - g, for it changes by R, and by b, and so by whole g. As if elements were a fluid, one would
ask for R * (F + B) + b, which is g too much; where b = R that is a whole tick's worth.

Source: the mail "back pressure", 003#scheduling.
"""

from __future__ import annotations

from math import gcd
from typing import Any

from ..expectations import expect
from ..notation import (
    SHOULD, Machine, action, always, array, assume, boolean, const, integer, upto,
)

__all__ = ["EXPECTATIONS", "Steady"]

SCHEDULING = "003#scheduling"


class Steady(Machine):
    """A sender that always has something, a receiver that is never behind, and the way between."""

    R = const(2, at_least=1)            # elements a tick
    F = const(2, at_least=1)            # ticks to the receiver
    B = const(1, at_least=1)            # ticks until a permit is there
    b = const(2, at_least=1)            # freed slots that are announced together
    g = const(2, at_least=1)            # greatest common divisor of R and b
    C = const(6, at_least=1)            # slots at the receiver

    permits = integer(0, C, init=C)
    under_way = array(upto(F), integer(0, R))       # elements, by the ticks since they were sent
    freed = integer(0, b + R)                       # and not yet announced
    announced = array(upto(B), integer(0, b + R))   # permits, by the ticks since they were sent
    held_up = boolean(False)                        # the last tick had fewer permits than elements

    @assume
    def it_divides_both(self) -> bool:
        """Any divisor will do here: the rows give the greatest."""
        return self.R % self.g == 0 and self.b % self.g == 0

    @action
    def tick(self) -> None:
        """Permits arrive and are used; elements arrive, and their slots are announced."""
        self.permits += self.announced[self.B - 1]
        for age in range(self.B - 1):
            self.announced[self.B - 1 - age] = self.announced[self.B - 2 - age]
        sent = min(self.R, self.permits)
        self.permits -= sent
        self.held_up = sent < self.R
        self.freed += self.under_way[self.F - 1]
        for age in range(self.F - 1):
            self.under_way[self.F - 1 - age] = self.under_way[self.F - 2 - age]
        self.under_way[0] = sent
        left = self.freed % self.b
        self.announced[0] = self.freed - left
        self.freed = left

    @always("FLOW-128", SHOULD, "A sender at a steady rate has permits for all its elements.",
            source=SCHEDULING)
    def the_sender_goes_on(self) -> bool:
        """In no tick is it held up."""
        return not self.held_up


def _divisor(R: int, b: int) -> range:
    return range(gcd(R, b), gcd(R, b) + 1)


def _around(R: int, F: int, B: int, b: int, g: int) -> range:
    """Room, from two too little to one too much; and for a batch at least."""
    need = R * (F + B) + b - g
    return range(max(b, need - 2), need + 2)


GRID: dict[str, Any] = {"R": range(1, 5), "F": range(1, 4), "B": range(1, 4), "b": range(1, 6),
                        "g": _divisor, "C": _around}

EXPECTATIONS = (
    expect(Steady, "FLOW-128", "violated", "held up exactly where C < R (F + B) + b - g",
           where="C < R * (F + B) + b - g", **GRID),
)

UNSEEN = {
    "FLOW-128":
        "How fast elements, permits and ticks follow each other is no part of the port of links.",
}
