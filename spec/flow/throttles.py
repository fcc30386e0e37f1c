"""Several sources, each with a throttle of its own, in front of one receiver.

Theory of operation
-------------------
The mail's workers send to one monitor that says nothing. Its rate is known, and so is the greatest
number of workers; so each of them has a token bucket (``bucket``), and the *sum* of their rates is
to stay below what the monitor can handle.

    n sources    r1 r r ... tokens a tick, b kept by each    \\\\
                                                              --> th ticks, then u a tick
    in a window of t ticks: n b + (r1 + (n - 1) r) t at most /

One source has a rate of its own here (r1), the others have r. No source knows of the others, and
only the sums matter: what n buckets admit, one bucket admits with the sum of their rates as its
rate and the sum of their depths as its depth. So no more than n b + th (r1 + (n - 1) r) elements
ever wait, exactly if the sum of the rates is at most u. The monitor's rate itself is enough, it
need not be more. That each rate is below u is not enough.

A token that one bucket loses because it is full is not lost by the sum of them, so the one bucket
may admit what they do not; the other way round is the refinement below. It is decided by search for
up to three sources; that the one bucket keeps its bound is proved for all rates and depths (FLOW-96
of ``sums``).

A source that joins without being counted breaks it, as in ``fan_in``: the greatest number of
workers is a part of the throttle.

Source: the mail "back pressure"; 003#example, 003#E22.
"""

from __future__ import annotations

from typing import Any

from ..expectations import expect
from ..notation import (
    CLAIM, MUST, Machine, action, always, array, assume, boolean, const, integer, require, upto,
)
from ..notation.views import Seen, View, see, shown
from ..refinements import refines, refused
from .observed_rate import ObservedRate
from .sums import Spending

__all__ = [
    "Bursting", "Counted", "EXPECTATIONS", "EachAlone", "RatesSeen", "Throttles", "ThrottlesSeen",
]

EXAMPLE = "003#example"


class Throttles(Machine):
    """n sources with a bucket each, and a receiver that serves at a rate and after a latency."""

    n = const(2, at_least=1)            # sources
    r1 = const(1, at_least=1)           # tokens a tick of the first
    r = const(1, at_least=1)            # and of each of the others
    b = const(2, at_least=1)            # tokens that each keeps
    u = const(2, at_least=1)            # elements that are served a tick
    th = const(1)                       # ticks until the receiver begins

    tokens = array(upto(n), integer(0, b, init=b))
    waiting = integer(0, 2 * n * b + (r1 + (n - 1) * r) * th)
    idle = integer(0, th, init=th)      # ticks until the receiver serves
    within = boolean(False)             # a tick

    @assume
    def a_tick_fits(self) -> bool:
        """True if each bucket can keep the tokens of a tick."""
        return self.r1 <= self.b and self.r <= self.b

    @action(fair=True)
    def come(self) -> None:
        """A tick begins, and tokens come to each source; those beyond b are lost."""
        require(not self.within)
        require(self.waiting <= self.most())
        for source in range(self.n):
            rate = self.r1 if source == 0 else self.r
            self.tokens[source] = min(self.b, self.tokens[source] + rate)
        self.within = True

    @action(source=upto(n))
    def send(self, source: int) -> None:
        """A source spends one of its own tokens."""
        require(self.within and self.tokens[source] > 0)
        self.tokens[source] -= 1
        self.waiting += 1

    @action(fair=True)
    def serve(self) -> None:
        """A tick ends; once the receiver serves, some elements are gone."""
        require(self.within)
        left = self.waiting if self.idle > 0 else max(0, self.waiting - self.u)
        self.idle = self.th if left == 0 else max(0, self.idle - 1)
        self.waiting = left
        self.within = False

    def most(self) -> int:
        """Elements that all sources may send before the receiver begins."""
        return self.n * self.b + (self.r1 + (self.n - 1) * self.r) * self.th

    @always("FLOW-132", MUST,
            "If the rates of several token buckets sum to at most the receiver's rate, no more "
            "elements wait between ticks than the sum of their depths plus the tokens that they "
            "get during the receiver's latency.",
            source=f"{EXAMPLE} ('so that the aggregate load is always below'); 003#E22")
    def few_wait(self) -> bool:
        """Provided that the sum of the rates is at most the receiver's rate."""
        return self.within or self.waiting <= self.most()


class Counted(Throttles):
    """The sum of the rates is at most the receiver's rate: exactly then few elements wait."""

    @assume
    def it_keeps_up(self) -> bool:
        """True for the sum over all sources that there may be."""
        return self.r1 + (self.n - 1) * self.r <= self.u


class EachAlone(Throttles):
    """Each source's own rate is at most the receiver's rate."""

    @assume
    def each_is_slower(self) -> bool:
        """True of each source by itself, whatever the others send."""
        return self.r1 <= self.u and self.r <= self.u

    @always("FLOW-133", CLAIM,
            "If each of several token buckets has at most the receiver's rate, no more elements "
            "wait between ticks than the sum of their depths plus the tokens that they get "
            "during the receiver's latency.",
            source=f"{EXAMPLE}; 003#E22: what the text does not say")
    def few_wait_of_each(self) -> bool:
        """The bound is that of FLOW-132."""
        return self.within or self.waiting <= self.most()


class Bursting(Counted):
    """A source sends without having saved tokens for it."""

    @action(source=upto(Throttles.n))
    def send(self, source: int) -> None:
        """The source does not check its tokens; the model ends somewhere."""
        require(self.within and self.waiting <= self.most())
        self.tokens[source] = max(0, self.tokens[source] - 1)
        self.waiting += 1


class RatesSeen(View[Throttles]):
    """All sources as one limit: each tick, and each element that it admits. When the receiver
    serves them is not the sources' matter.
    """

    around = ("serve", "waiting", "idle", "most", "within")

    @shown
    def come(self, before: Throttles, after: Throttles) -> Seen:
        return see("tick")

    @shown
    def send(self, before: Throttles, after: Throttles, source: int) -> Seen:
        return see("passes", permits=1)


class ThrottlesSeen(View[Throttles]):
    """All sources look alike."""

    same = ("come", "serve")

    @shown
    def send(self, before: Throttles, after: Throttles, source: int) -> Seen:
        """One of them sends."""
        return see("send")

    def asked(self, machine: Throttles) -> list[Seen]:
        """Report whether elements wait behind the sources, between ticks."""
        if machine.within:
            return []
        return [see("has_some" if machine.waiting else "has_none")]


GRID: dict[str, Any] = {"n": (1, 2, 3), "r1": (1, 2), "r": (1, 2), "b": 2, "u": (1, 2, 3, 4),
                        "th": (0, 1)}


def _enough(n: int, r1: int, r: int) -> tuple[int]:
    return (r1 + (n - 1) * r,)


RATES = refines(
    Counted, ObservedRate, "n sources keep to the sum of their rates and of their depths",
    shows=RatesSeen, seen_by={"r": "r1 + (n - 1) * r", "b": "n * b"},
    n=(1, 2, 3), r1=(1, 2), r=1, b=2, u=_enough, th=(0, 1))

EXPECTATIONS = (
    expect(Throttles, "FLOW-132", "violated", "003#E22: more and more elements wait exactly where "
           "the sum of the rates exceeds the receiver's rate", where="r1 + (n - 1) * r > u",
           **GRID),
    expect(EachAlone, "FLOW-133", "violated",
           "each throttle is slower than the receiver, and all of them together are not",
           where="r1 + (n - 1) * r > u", n=(1, 2, 3), r1=1, r=1, b=2, u=(1, 2), th=(0, 1)),
    refines(Counted, Spending, "n buckets admit nothing that one with their sums does not",
            shows=ThrottlesSeen,
            seen_by={"r": "r1 + (n - 1) * r", "b": "n * b", "u": "u", "th": "th"},
            n=(1, 2, 3), r1=(1, 2), r=1, b=2, u=_enough, th=(0, 1)),
    expect(Bursting, "FLOW-132", "violated", "a source sends what it has not saved", n=1, r1=1,
           r=1, b=2, u=1, th=1),
    RATES,
    refused(Bursting, "FLOW-80", "a source sends what it has not saved", like=RATES, n=1, r1=1, u=1,
            th=1),
)

UNSEEN = {
    "FLOW-133":
        "It is false of several sources that are right by themselves, so no implementation is to "
        "keep it.",
}
