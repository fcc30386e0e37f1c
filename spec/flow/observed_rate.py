"""What can be seen of a limit on a rate, by those whom it lets through and turns away.

Theory. Time goes in ticks. Somebody asks for a number of permits at once, and is let through with
all of them or turned away with none. Of a limit of r a tick with a depth of b, the *burst* is what
was let through in some ticks in a row, less r for each tick that ended in between; of all windows
that end now, the fullest counts. It grows by what is let through, falls by r a tick, and is never
below 0, the window that has not begun. In t ticks in a row no more than b + r t are let through
exactly if the burst is never above b. A bucket of that depth then keeps what is left to b, so it
turns away only those for whom that is too little; and turning somebody away costs nothing. These
are two promises, and one may be kept without the other, so there are two machines.

A count that begins anew at each full minute keeps neither: it lets through twice its number
around the minute, and turns away at the end of a minute in which nothing has come for long.

Source: ``bucket``; 003#dropping, 003#E17.
"""

from __future__ import annotations

from ..notation import MUST, Machine, action, assume, const, guard_rule, integer, require, upto

__all__ = ["EXPECTATIONS", "ObservedRate", "ObservedRefusals"]

DROPPING = "003#dropping"

WITHIN_THE_RATE = guard_rule(
    "FLOW-80", MUST, "A limit of r a tick with a depth of b lets no more than b + r t through in t "
    "ticks in a row.", source=f"{DROPPING}; 003#E17")
NOT_HELD_BACK = guard_rule(
    "FLOW-81", MUST, "Nobody is turned away for whom a bucket of that rate and depth keeps enough.",
    source=DROPPING)


class ObservedRate(Machine):
    """A limit of r permits a tick with a depth of b."""

    r = const(1, at_least=1)            # permits a tick
    b = const(2, at_least=1)            # permits that are kept

    burst = integer(0, b)               # in the fullest window that ends now

    @assume
    def a_tick_fits(self) -> bool:
        """The bucket keeps the permits of a tick."""
        return self.r <= self.b

    @action
    def tick(self) -> None:
        """Time goes on by one tick."""
        self.burst = max(0, self.burst - self.r)

    @action(permits=upto(b + 1))
    def passes(self, permits: int) -> None:
        """Somebody asks for so many permits, and is let through."""
        require(self.burst + permits <= self.b, WITHIN_THE_RATE)
        self.burst += permits

    @action(permits=upto(b + 1))
    def is_turned_away(self, permits: int) -> None:
        """Somebody asks for so many, and gets none: that keeps within every rate."""


class ObservedRefusals(ObservedRate):
    """The same limit, judged by whom it turns away: what it lets through beyond its rate is no
    affair of this machine, for which its window is full then."""

    @action(permits=upto(ObservedRate.b + 1))
    def passes(self, permits: int) -> None:
        """Somebody asks for so many permits, and is let through."""
        self.burst = min(self.b, self.burst + permits)

    @action(permits=upto(ObservedRate.b + 1))
    def is_turned_away(self, permits: int) -> None:
        """Somebody asks for so many, and gets none."""
        require(self.burst + permits > self.b, NOT_HELD_BACK)


EXPECTATIONS = ()
