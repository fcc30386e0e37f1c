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

Somebody may also wait until there is enough. Those who wait are numbered in the order in which they
came. A limit may serve them in any order, but it must not let all of them wait while it has enough
for each (``rest``), and with a line the first of them is served first. What is let through while a
tick passes may come at any time within it: of a burst that falls to 0 before the tick is over the
rest of the tick counts for those (``spare``). So there are two bounds of the burst: the least that
it may be, by which is judged who was let through, and the most (``late``), as if they had all come
at the end of the tick, by which is judged who waits on.

A *sliding log* keeps what it let through for the b / r ticks that bring a whole depth, and lets
through what fits beside it. That is within the rate as well, but it gives back a permit a whole
period after it was taken, and so turns away some for whom a bucket would have enough: it does not
promise FLOW-81. It has its own promises, ``ObservedLog`` and ``ObservedLogRefusals``.

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
    "FLOW-80", MUST, "A limit of r a tick with a depth of b lets no more than b + r t through in t "
    "ticks in a row.", source=f"{DROPPING}; 003#E17")
NOT_HELD_BACK = guard_rule(
    "FLOW-81", MUST, "Nobody is turned away for whom a bucket of that rate and depth keeps enough.",
    source=DROPPING)
WAITERS_GO_ON = guard_rule(
    "FLOW-82", MUST, "Those who wait do not all wait on while a bucket of that rate and depth "
    "keeps enough for each of them.", source=DROPPING)
IN_TURN = guard_rule(
    "FLOW-83", SHOULD, "Who waits is let through as soon as a bucket has enough, in the order in "
    "which they came; nobody overtakes.", source="libraries#rate-limits")
WITHIN_THE_PERIOD = guard_rule(
    "FLOW-84", MUST, "A sliding log lets no more than its number through in a period.",
    source="libraries#rate-limits")
NOT_BESIDE_THE_LOG = guard_rule(
    "FLOW-85", MUST, "A sliding log turns nobody away who fits beside what it let through in the "
    "last period.", source="libraries#rate-limits")


class ObservedRate(Machine):
    """A limit of r permits a tick with a depth of b."""

    r = const(1, at_least=1)            # permits a tick
    b = const(2, at_least=1)            # permits that are kept
    K = const(2, at_least=1)            # calls that ask and wait, in a run

    burst = integer(0, b)               # in the fullest window that ends now
    late = integer(0, b)                # the same, if all came at the end of its tick
    spare = integer(0, r)               # of this tick, after its burst had fallen to 0
    wants = array(upto(K), integer(0, b))   # by call, what it waits for; 0: it does not wait
    came = integer(0, K)                # calls so far: the next one has this number

    @assume
    def a_tick_fits(self) -> bool:
        """The bucket keeps the permits of a tick."""
        return self.r <= self.b

    @action
    def tick(self) -> None:
        """Time goes on by one tick."""
        self.spare = max(0, self.r - self.burst)
        self.burst = max(0, self.burst - self.r)
        self.late = max(0, self.late - self.r)

    @action(permits=upto(b + 1))
    def passes(self, permits: int) -> None:
        """Somebody asks for so many permits, and is let through."""
        self.spare = 0
        self.lets_through(permits)

    @action(permits=upto(b + 1), rests=True)
    def is_turned_away(self, permits: int) -> None:
        """Somebody asks for so many, and gets none: that keeps within every rate."""

    # --- with a log in the place of a bucket ---------------------------------------------

    @action(permits=upto(b + 1))
    def is_logged(self, permits: int) -> None:
        """Somebody asks a sliding log for so many, and is let through."""
        self.spare = 0
        self.lets_through(permits)

    @action(permits=upto(b + 1))
    def has_no_room(self, permits: int) -> None:
        """Somebody asks a sliding log for so many, and gets none."""

    # --- those who wait ------------------------------------------------------------------

    @action(call=upto(K), permits=upto(b + 1))
    def waits(self, call: int, permits: int) -> None:
        """A call asks for so many permits, and waits for them, if only for a moment."""
        require(call == self.came and permits > 0)
        self.spare = 0
        self.wants[call] = permits
        self.came += 1

    @action(call=upto(K))
    def granted(self, call: int) -> None:
        """A call that waited is let through."""
        require(self.wants[call] > 0)
        self.lets_through(self.wants[call])
        self.wants[call] = 0

    @action(call=upto(K))
    def gives_up(self, call: int) -> None:
        """A call waits no more, and was not let through."""
        require(self.wants[call] > 0)
        self.spare = 0
        self.wants[call] = 0

    @action(rests=True)
    def rest(self) -> None:
        """Nobody else is let through at this instant."""
        self.spare = 0
        most = max(self.wants[call] for call in range(self.K))
        require(most == 0 or self.late + most > self.b, WAITERS_GO_ON)

    def lets_through(self, permits: int) -> None:
        """So many permits are given."""
        require(self.burst + permits <= self.b + self.spare, WITHIN_THE_RATE)
        early = min(self.spare, permits)
        self.burst += permits - early
        self.spare -= early
        self.late = min(self.b, self.late + permits)


class ObservedRefusals(ObservedRate):
    """The same limit, judged by whom it turns away: what it lets through beyond its rate is no
    affair of this machine, for which its window is full then."""

    def lets_through(self, permits: int) -> None:
        """So many permits are given."""
        self.burst = min(self.b, self.burst + permits)

    @action(permits=upto(ObservedRate.b + 1), rests=True)
    def is_turned_away(self, permits: int) -> None:
        """Somebody asks for so many, and gets none; who waits comes first."""
        waiting = any(self.wants[call] > 0 for call in range(self.K))
        require(waiting or self.burst + permits > self.b, NOT_HELD_BACK)

    @action
    def rest(self) -> None:
        """Who waits on is no affair of this machine."""


class ObservedLine(ObservedRate):
    """The same limit, with a line of those who wait."""

    @action(permits=upto(ObservedRate.b + 1))
    def passes(self, permits: int) -> None:
        """Nobody waits who came before."""
        require(all(self.wants[call] == 0 for call in range(self.K)), IN_TURN)
        super().passes(permits)

    @action(call=upto(ObservedRate.K))
    def granted(self, call: int) -> None:
        """It is the first of those who wait."""
        require(all(self.wants[other] == 0 or other >= call for other in range(self.K)), IN_TURN)
        super().granted(call)

    @action(rests=True)
    def rest(self) -> None:
        """The first of them has to wait."""
        super().rest()
        first = 0
        for call in range(self.K):
            first = self.wants[call] if first == 0 else first
        require(first == 0 or self.late + first > self.b, IN_TURN)


class ObservedLog(ObservedRate):
    """A sliding log: what it let through in each of the last ``P`` ticks."""

    P = const(1, at_least=1)            # ticks of a period

    log = array(upto(P), integer(0, ObservedRate.b))    # since the last tick, before that, …

    @action
    def tick(self) -> None:
        """What is a period old is forgotten."""
        super().tick()
        for older in range(self.P - 1):
            age = self.P - 1 - older
            self.log[age] = self.log[age - 1]
        self.log[0] = 0

    @action(permits=upto(ObservedRate.b + 1))
    def is_logged(self, permits: int) -> None:
        """It fits beside what is in the log."""
        super().is_logged(permits)
        require(self.logged() + permits <= self.b, WITHIN_THE_PERIOD)
        self.log[0] += permits

    def logged(self) -> int:
        """What was let through in the last period."""
        return sum(self.log[age] for age in range(self.P))


class ObservedLogRefusals(ObservedLog):
    """The same log, judged by whom it turns away."""

    @action(permits=upto(ObservedRate.b + 1))
    def is_logged(self, permits: int) -> None:
        """Somebody is let through, whether that fits or not."""
        self.log[0] = min(self.b, self.log[0] + permits)

    @action(permits=upto(ObservedRate.b + 1), rests=True)
    def has_no_room(self, permits: int) -> None:
        """It does not fit beside what is in the log."""
        require(self.logged() + permits > self.b, NOT_BESIDE_THE_LOG)

    def lets_through(self, permits: int) -> None:
        """What a limit with a bucket does is no affair of this machine."""

    @action
    def rest(self) -> None:
        """Nor who waits on."""


EXPECTATIONS = ()
