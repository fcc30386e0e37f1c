"""A proof of the clocks' alignment: an overflow wheel never considers a live task expired.

Theory of operation
-------------------
``timer`` finds by search that a wheel's clock is its child's clock rounded down to its own tick
(KAFKA-W4), for some u, n and horizons. Here it is proved for all of them and for all times. Two
wheels are enough, since a wheel affects only the next one; u is the tick of the lower one, which
may itself be an overflow wheel, and t is the tick of the upper one, its interval u n.

    lower   if time >= cur  + u     cur  := time - time mod u
    upper   if cur  >= cur' + t     cur' := cur  - cur  mod t

The argument for the upper clock only needs that t is positive: cur' is a multiple of t within t
below cur before the step, and afterwards it still is, or is set so. Hence t may stand for u n
whatever n is, so that the prover needs no product (Z3 is weak at products of unknowns, and found no
proof with u * n in 15 seconds). KAFKA-W4A is the alignment, cur' = cur - cur mod t, written without
the division. KAFKA-W4B follows: a task that the lower wheel cannot hold is not yet expired in the
upper one, so an overflow is never refused, and no task runs early because of it.

The distance by which the clocks advance at a time does not matter; here they advance to the present
time.

Source: kafka#W4; TimingWheel.add and TimingWheel.advanceClock of Kafka 3.9.
"""

from __future__ import annotations

from ..expectations import expect, prove
from ..notation import MUST, Machine, action, always, const, integer, require

__all__ = ["EXPECTATIONS", "Clocks", "ClocksNotRounded", "ClocksNotTold", "UpperToldTheTime"]

SOURCE = "kafka#W4, kafka#wheel (advanceClock)"


class Clocks(Machine):
    """Two wheels' clocks, and the deadline of a task that is being added."""

    u = const(1, at_least=1)            # the lower wheel's tick
    t = const(2, at_least=1)            # the upper wheel's tick, the lower one's interval
    H = const(8)                        # the last instant, and the last deadline

    now = integer(0, H)
    lower = integer(0, H)
    upper = integer(0, H)
    deadline = integer(0, H)

    @action
    def elapse(self) -> None:
        """A unit of time passes."""
        require(self.now < self.H)
        self.now += 1

    @action
    def expire(self) -> None:
        """A bucket expires: both wheels advance to the time."""
        if self.now >= self.lower + self.u:
            self.lower = self.rounded(self.now, self.u)
            self.tell_upper()

    def tell_upper(self) -> None:
        """The upper wheel advances to the lower one's clock."""
        if self.lower >= self.upper + self.t:
            self.upper = self.rounded(self.lower, self.t)

    def rounded(self, time: int, tick: int) -> int:
        """The beginning of the tick."""
        return time - time % tick

    @action
    def ask(self) -> None:
        """The task gets a later deadline."""
        require(self.deadline < self.H)
        self.deadline += 1

    @always("KAFKA-W4L", MUST, "A wheel's clock is a multiple of its tick, and not ahead of the "
            "time.",
            source=SOURCE)
    def lower_is_rounded(self) -> bool:
        """It may be behind as long as no bucket expires."""
        return self.lower % self.u == 0 and self.lower <= self.now

    @always("KAFKA-W4A", MUST,
            "An overflow wheel's clock is the clock of the wheel below it, rounded down to a "
            "multiple of the overflow wheel's tick.",
            source=SOURCE)
    def clocks_are_aligned(self) -> bool:
        """The last multiple of its tick that the child's clock has reached."""
        return self.upper % self.t == 0 and self.upper <= self.lower < self.upper + self.t

    @always("KAFKA-W4B", MUST,
            "A deadline beyond a wheel's interval is not considered expired by the wheel above: "
            "it lies after that wheel's present tick.",
            source="kafka#W4, kafka#wheel (add)")
    def overflow_is_not_refused(self) -> bool:
        """Beyond the lower wheel's interval, hence beyond the upper one's present tick."""
        return (self.deadline < self.lower + self.t
                or self.deadline >= self.upper + self.t)


class ClocksNotRounded(Clocks):
    """The clock is set to the time without rounding."""

    def rounded(self, time: int, tick: int) -> int:
        """The clock is the time as it is."""
        return time


class ClocksNotTold(Clocks):
    """The upper wheel's clock never advances."""

    def tell_upper(self) -> None:
        """The upper wheel does not learn the time."""


class UpperToldTheTime(Clocks):
    """The upper wheel advances to the time instead of the lower one's clock, without rounding."""

    def tell_upper(self) -> None:
        """It may be ahead of the lower one's clock."""
        if self.now >= self.upper + self.t:
            self.upper = self.now


EXPECTATIONS = (
    prove(Clocks, "KAFKA-W4A", "aligned, for all u, u n and times", for_all=("u", "t", "H"),
          lemmas=("KAFKA-W4L",)),
    prove(Clocks, "KAFKA-W4B", "no overflow is refused, for all u, u n and times",
          for_all=("u", "t", "H"), lemmas=("KAFKA-W4A", "KAFKA-W4L")),
    prove(Clocks, "KAFKA-W4L", "rounded, for all u, u n and times", for_all=("u", "t", "H"),
          lemmas=("KAFKA-W4A",)),
    expect(Clocks, "KAFKA-W4B", "holds", "no overflow is refused, for small constants",
           u=2, t=4, H=8),
    expect(Clocks, "KAFKA-W4L", "holds", "rounded, for small constants", u=2, t=4, H=8),
    expect(ClocksNotRounded, "KAFKA-W4A", "violated", "clock not rounded", u=2, t=4, H=8),
    expect(ClocksNotRounded, "KAFKA-W4L", "violated", "a clock that is not rounded is not a "
           "multiple of its tick", u=2, t=4, H=8),
    expect(UpperToldTheTime, "KAFKA-W4B", "violated",
           "an upper clock ahead of the lower one refuses an overflow", u=2, t=4, H=12),
    expect(ClocksNotTold, "KAFKA-W4A", "violated", "the overflow's clock does not advance",
           u=1, t=2, H=8),
)
