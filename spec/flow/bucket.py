"""A token bucket: credits that no receiver sends.

Theory of operation
-------------------
Time goes in ticks. A source gets r tokens a tick, up to b that it keeps, and spends one for each
element. The tokens simulate the credits of a receiver which the source does not hear. In t ticks
that follow one another it sends at most b + r t.

The receiver begins to serve at most th ticks after something comes, and then serves at least u
elements a tick until nothing is left. If r <= u, no more than b + r th elements ever wait. If
r > u, more and more do: the bucket is right only as long as the rate that it simulates is not above
the receiver's (003#E17).

The mail's bucket has no depth. A source that was idle for a while then has as many tokens as ticks
have passed, and sends them all at once.

A tick here is one step, in which a number of elements is sent; so what is proved below is proved of
two depths. `sums` has a tick in smaller steps, and proves it for all depths and latencies.

Source: the mail "back pressure"; 003#dropping, 003#E17.
"""

from __future__ import annotations

from typing import Any

from ..expectations import expect, prove
from ..notation import MUST, Machine, action, always, assume, const, integer, require, upto

__all__ = ["EXPECTATIONS", "Bottomless", "Bucket", "Dozing", "FastEnough"]

DROPPING = "003#dropping"


class Bucket(Machine):
    """A source with its bucket, and a receiver that serves at a rate and after a latency."""

    r = const(1, at_least=1)            # tokens a tick
    b = const(2, at_least=1)            # tokens that are kept
    u = const(1, at_least=1)            # elements that are served a tick
    th = const(1)                       # ticks until the receiver begins

    tokens = integer(0, b, init=b)
    waiting = integer(0, 2 * b + r * th)
    idle = integer(0, th, init=th)      # ticks until the receiver serves
    burst = integer(0, 3 * b)           # sent, less r a tick, in the worst window that ends now

    @assume
    def a_tick_fits(self) -> bool:
        """True if the bucket can keep the tokens of a tick."""
        return self.r <= self.b

    @action(sent=upto(b + 1))
    def tick(self, sent: int) -> None:
        """Tokens come, elements are sent, and some are served."""
        held = self.kept(self.tokens + self.r)
        require(sent <= held and self.waiting <= self.b + self.r * self.th)
        require(self.burst <= self.b)
        self.tokens = held - sent
        self.burst = max(0, self.burst - self.r) + sent
        left = self.served(self.waiting + sent)
        self.idle = self.th if left == 0 else max(0, self.idle - 1)
        self.waiting = left

    def kept(self, tokens: int) -> int:
        """Tokens that the bucket keeps; those beyond the depth are lost."""
        return min(self.b, tokens)

    def served(self, waiting: int) -> int:
        """Elements left after a tick's work."""
        return waiting if self.idle > 0 else max(0, waiting - self.u)

    @always("FLOW-42", MUST,
            "At the end of each tick at most b + r th elements of a source with a bucket (depth "
            "b, rate r) wait, if the receiver serves at least r a tick from th ticks after "
            "elements come.",
            source=f"{DROPPING}; 003#E17")
    def few_wait(self) -> bool:
        """At the end of a tick: the elements served in it are gone."""
        return self.waiting <= self.b + self.r * self.th

    @always("FLOW-43", MUST,
            "In any t ticks in a row a source with a token bucket (depth b, r tokens a tick) "
            "sends at most b + r t elements.",
            source=f"{DROPPING}; 003#E17")
    def no_window_has_more(self) -> bool:
        """In each window that ends now: at most b more than r a tick."""
        return self.burst <= self.b


    @always("FLOW-44", MUST,
            "At the end of each tick, the tokens in a bucket (depth b, r tokens a tick) plus "
            "the elements sent beyond r per tick, in any ticks up to then, are at most b.",
            source=DROPPING)
    def tokens_are_spent_once(self) -> bool:
        """A token is in the bucket, was spent, or was lost because the bucket was full."""
        return self.burst + self.tokens <= self.b


class FastEnough(Bucket):
    """The receiver serves at the rate of the tokens, or faster."""

    @assume
    def it_keeps_up(self) -> bool:
        """True if the rate that the bucket simulates is at most the receiver's."""
        return self.r <= self.u

    @always("FLOW-45", MUST,
            "If a receiver serves at least the bucket's rate, waiting elements plus tokens in "
            "the bucket are at most its depth plus its rate for each tick, up to the receiver's "
            "latency, since elements began to wait.",
            source="003#E17 (what the book adds)")
    def idleness_costs_the_rate(self) -> bool:
        """The receiver begins to serve after th of them."""
        return self.waiting + self.tokens <= self.b + self.r * (self.th - self.idle)


class Bottomless(Bucket):
    """A bucket that keeps all its tokens."""

    tokens = integer(0, 3 * Bucket.b, init=Bucket.b)

    def kept(self, tokens: int) -> int:
        """No token is lost; the model ends somewhere."""
        return min(3 * self.b, tokens)


class Dozing(FastEnough):
    """The receiver never serves."""

    def served(self, waiting: int) -> int:
        """Nothing leaves, however long it waits."""
        return waiting


GRID: dict[str, Any] = {"r": range(1, 4), "b": range(3, 6), "u": range(1, 4), "th": range(3)}

EXPECTATIONS = (
    expect(Bucket, "FLOW-42", "violated", "more and more wait exactly where r > u",
           where="r > u", **GRID),
    expect(Bucket, "FLOW-43", "holds", "no window has more than b + r t", **GRID),
    prove(Bucket, "FLOW-43", "no window has more than b + r t, for all of these",
          for_all=("r", "u", "th"), lemmas=("FLOW-44",), b=(3, 4)),
    prove(Bucket, "FLOW-44", "tokens are spent once, for all of these",
          for_all=("r", "u", "th"), b=(3, 4)),
    prove(FastEnough, "FLOW-45", "idleness costs the rate, for all of these",
          for_all=("r", "u"), b=(3, 4), th=range(3)),
    prove(FastEnough, "FLOW-42", "few wait where r <= u, for all of these",
          for_all=("r", "u"), lemmas=("FLOW-45",), b=(3, 4), th=range(3)),
    expect(Bottomless, "FLOW-44", "violated",
           "003#E17: without a depth, more is saved than b", r=(1, 2), b=3, u=3, th=0),
    expect(Dozing, "FLOW-45", "violated", "more wait than a latency explains", r=1, b=2, u=1, th=1),
    expect(Bottomless, "FLOW-43", "violated",
           "003#E17: without a depth, what was saved is sent at once", r=(1, 2), b=3, u=3, th=0),
)

UNSEEN = {
    "FLOW-42":
        "The number of waiting elements depends on the receiver's rate, which is a promise about "
        "time, and on no call.",
    "FLOW-45":
        "The start of the receiver's service, and the tokens that its source has saved, are in two "
        "processes.",
}
