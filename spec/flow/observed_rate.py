"""A limit on a rate, as the callers see it that it admits or refuses.

Theory. Time goes in ticks. A caller asks for a number of permits at once, and is admitted with
all of them or refused with none. Of a limit of r a tick with a depth of b, the *burst* is what
was admitted in some ticks in a row, less r for each tick that ended in between; of all windows
that end now, the fullest counts. It grows by what is admitted, falls by r a tick, and is never
below 0, the window that has not begun. In t ticks in a row no more than b + r t are admitted
exactly if the burst is never above b. A bucket of that depth then keeps what is left to b, so it
refuses only callers for which that is too little; and a refusal costs nothing. These
are two promises, and one may be kept without the other, so there are two machines.

A count that begins anew at each full minute keeps neither: it admits twice its number
around the minute, and refuses at the end of a minute in which nothing has come for long.

A caller may also wait until there is enough. Waiting calls are numbered in the order in which they
came. A limit may serve them in any order, but it must not let all of them wait while it has enough
for each (``rest``), and with a wait queue the first of them is served first. What is admitted while
a tick passes may come at any time within it: if a burst falls to 0 before the tick is over, the
rest of the tick counts for those (``spare``). So there are two bounds of the burst: the least that
it may be, by which an admission is judged, and the most (``late``), as if they had all come
at the end of the tick, by which is judged which call keeps waiting.

A *sliding log* keeps what it admitted for the b / r ticks that bring a whole depth, and admits
what fits beside it. That is within the rate as well, but it gives back a permit a whole
period after it was taken, and so refuses some callers for which a bucket would have enough: it does
not promise FLOW-81. It has its own promises, ``ObservedLog`` and ``ObservedLogRefusals``.

Source: ``bucket``; 003#dropping, 003#E17.
"""

from __future__ import annotations

from ..notation import (
    MUST, SHOULD, Machine, action, array, assume, const, guard_rule, integer, require, upto,
)

__all__ = [
    "EXPECTATIONS", "ObservedLine", "ObservedLog", "ObservedLogRefusals", "ObservedRate",
    "ObservedRefusals",
]

DROPPING = "003#dropping"

WITHIN_THE_RATE = guard_rule(
    "FLOW-80", MUST, "A limit of r a tick with a depth of b admits at most b + r t permits in t "
    "ticks in a row.", source=f"{DROPPING}; 003#E17")
NOT_HELD_BACK = guard_rule(
    "FLOW-81", MUST,
    "While no call waits, a limiter refuses a request only if a token bucket of its rate and "
    "depth, charged with all admissions so far, has fewer tokens than requested.",
    source=DROPPING)
WAITERS_GO_ON = guard_rule(
    "FLOW-82", MUST,
    "When a limiter has finished reacting at an instant, a token bucket of its rate and depth, "
    "charged as if admissions came at the ends of their ticks, has too few tokens for the "
    "largest waiting request.",
    source=DROPPING)
IN_TURN = guard_rule(
    "FLOW-83", SHOULD,
    "Calls that wait are admitted in the order in which they began to wait, before all that "
    "come later, and the first of them as soon as a token bucket of the limiter's rate and "
    "depth would hold the permits that it asks for.",
    source="libraries#rate-limits")
WITHIN_THE_PERIOD = guard_rule(
    "FLOW-84", MUST,
    "A sliding log admits, in as many ticks in a row as its period has, at most as many permits "
    "as its limit allows.",
    source="libraries#rate-limits")
NOT_BESIDE_THE_LOG = guard_rule(
    "FLOW-85", MUST,
    "A sliding log refuses a request only if it and the permits admitted in the last period are "
    "together more than the limit.",
    source="libraries#rate-limits")


class ObservedRate(Machine):
    """A limit of r permits a tick with a depth of b."""

    r = const(1, at_least=1)            # permits a tick
    b = const(2, at_least=1)            # permits that are kept
    K = const(2, at_least=1)            # calls that ask and wait, in a run

    burst = integer(0, b)               # in the fullest window that ends now
    late = integer(0, b)                # the same, if all came at the end of its tick
    spare = integer(0, r)               # of this tick, after its burst had fallen to 0
    wants = array(upto(K), integer(0, b))   # by call, permits it waits for; 0: it does not wait
    came = integer(0, K)                # calls so far: the next one has this number

    @assume
    def a_tick_fits(self) -> bool:
        """True if the bucket can keep the permits of a tick."""
        return self.r <= self.b

    @action
    def tick(self) -> None:
        """Time advances by one tick."""
        self.spare = max(0, self.r - self.burst)
        self.burst = max(0, self.burst - self.r)
        self.late = max(0, self.late - self.r)

    @action(permits=upto(b + 1))
    def passes(self, permits: int) -> None:
        """A caller asks for ``permits`` permits, and is admitted."""
        self.spare = 0
        self.lets_through(permits)

    @action(permits=upto(b + 1), rests=True)
    def is_turned_away(self, permits: int) -> None:
        """A caller asks for ``permits`` and gets none: that keeps within every rate."""

    # --- with a log in the place of a bucket ---------------------------------------------

    @action(permits=upto(b + 1))
    def is_logged(self, permits: int) -> None:
        """A caller asks a sliding log for ``permits``, and is admitted."""
        self.spare = 0
        self.lets_through(permits)

    @action(permits=upto(b + 1))
    def has_no_room(self, permits: int) -> None:
        """A caller asks a sliding log for ``permits``, and gets none."""

    # --- waiting calls -------------------------------------------------------------------

    @action(call=upto(K), permits=upto(b + 1))
    def waits(self, call: int, permits: int) -> None:
        """A call asks for so many permits, and waits for them, if only for a moment."""
        require(call == self.came and permits > 0)
        self.spare = 0
        self.wants[call] = permits
        self.came += 1

    @action(call=upto(K))
    def granted(self, call: int) -> None:
        """A call that waited is admitted."""
        require(self.wants[call] > 0)
        self.lets_through(self.wants[call])
        self.wants[call] = 0

    @action(call=upto(K))
    def gives_up(self, call: int) -> None:
        """A call waits no more, and was not admitted."""
        require(self.wants[call] > 0)
        self.spare = 0
        self.wants[call] = 0

    @action(rests=True)
    def rest(self) -> None:
        """No further call is admitted at this instant."""
        self.spare = 0
        most = max(self.wants[call] for call in range(self.K))
        require(most == 0 or self.late + most > self.b, WAITERS_GO_ON)

    def lets_through(self, permits: int) -> None:
        """Count ``permits`` permits as given, within the rate."""
        require(self.burst + permits <= self.b + self.spare, WITHIN_THE_RATE)
        early = min(self.spare, permits)
        self.burst += permits - early
        self.spare -= early
        self.late = min(self.b, self.late + permits)


class ObservedRefusals(ObservedRate):
    """The same limit, judged by its refusals. This machine does not judge admissions beyond the
    rate:
    they fill its window.
    """

    def lets_through(self, permits: int) -> None:
        """Give ``permits`` permits, whether that is within the rate or not."""
        self.burst = min(self.b, self.burst + permits)

    @action(permits=upto(ObservedRate.b + 1), rests=True)
    def is_turned_away(self, permits: int) -> None:
        """A caller asks for ``permits``, and gets none; waiting calls come first."""
        waiting = any(self.wants[call] > 0 for call in range(self.K))
        require(waiting or self.burst + permits > self.b, NOT_HELD_BACK)

    @action
    def rest(self) -> None:
        """Not judged: this machine does not check waiting calls."""


class ObservedLine(ObservedRate):
    """The same limit, with a wait queue."""

    @action(permits=upto(ObservedRate.b + 1))
    def passes(self, permits: int) -> None:
        """A caller is admitted at once only if no call waits."""
        require(all(self.wants[call] == 0 for call in range(self.K)), IN_TURN)
        super().passes(permits)

    @action(call=upto(ObservedRate.K))
    def granted(self, call: int) -> None:
        """The call that is admitted is the first of the waiting ones."""
        require(all(self.wants[other] == 0 or other >= call for other in range(self.K)), IN_TURN)
        super().granted(call)

    @action(rests=True)
    def rest(self) -> None:
        """The first waiting call has to wait: there is not enough for it."""
        super().rest()
        first = 0
        for call in range(self.K):
            first = self.wants[call] if first == 0 else first
        require(first == 0 or self.late + first > self.b, IN_TURN)


class ObservedLog(ObservedRate):
    """A sliding log: what it admitted in each of the last ``P`` ticks."""

    P = const(1, at_least=1)            # ticks of a period

    log = array(upto(P), integer(0, ObservedRate.b))    # since the last tick, before that, …

    @action
    def tick(self) -> None:
        """Entries that are a period old are forgotten."""
        super().tick()
        for older in range(self.P - 1):
            age = self.P - 1 - older
            self.log[age] = self.log[age - 1]
        self.log[0] = 0

    @action(permits=upto(ObservedRate.b + 1))
    def is_logged(self, permits: int) -> None:
        """The request fits beside the entries of the log."""
        super().is_logged(permits)
        require(self.logged() + permits <= self.b, WITHIN_THE_PERIOD)
        self.log[0] += permits

    def logged(self) -> int:
        """Permits that were given in the last period."""
        return sum(self.log[age] for age in range(self.P))


class ObservedLogRefusals(ObservedLog):
    """The same log, judged by its refusals."""

    @action(permits=upto(ObservedRate.b + 1))
    def is_logged(self, permits: int) -> None:
        """A caller is admitted, whether its request fits or not."""
        self.log[0] = min(self.b, self.log[0] + permits)

    @action(permits=upto(ObservedRate.b + 1), rests=True)
    def has_no_room(self, permits: int) -> None:
        """The request does not fit beside the entries of the log."""
        require(self.logged() + permits > self.b, NOT_BESIDE_THE_LOG)

    def lets_through(self, permits: int) -> None:
        """Not judged: the log replaces the bucket here."""

    @action
    def rest(self) -> None:
        """Not judged: this machine does not check waiting calls."""


EXPECTATIONS = ()
