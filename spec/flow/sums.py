"""Rings, shares and buckets by their totals: proofs for all sizes.

Theory of operation
-------------------
A search decides a machine for some numbers of slots, senders and tokens, and Z3 for all values of a
constant, but of no machine with a *shape* that depends on it: how many variables an array has, or
how many instances an action. Each machine here says the same as one of another chapter with a few
sums in the place of members. That a run of the other is a run of this one is a refinement, decided
by search for small shapes; that each step changes one member, and so the sum by as much, holds for
all by the argument that is given here, and no engine checks it. What is said of the sums is proved.

**A ring** (`cycles`). Look at one free slot of a ring, and at the nearest element behind it, which
is g slots away. Nothing but that element can change g, since none overtakes another. It can come
nearer while g > 1, and fill the slot when g = 1. Then its own slot is free, and has a nearest
element behind it in turn. So a ring with a free slot and an element is never blocked, however many
elements it has.

**Shares** (`fan_in`). The credits of n senders are n c in all at first, and each step moves one.

**A bucket** (`bucket`) in small steps: tokens come, one element is sent, a tick ends. So no action
has as many instances as the bucket is deep.

Source: the mail "back pressure"; 003#composing, 003#workers, 003#dropping; 003#E11, 003#E13,
003#E17.
"""

from __future__ import annotations

from ..expectations import expect, prove
from ..notation import (
    MUST, Machine, action, always, assume, boolean, const, integer, never_stuck, require,
)
from ..notation.views import Seen, View, see, shown
from ..refinements import refines
from .bucket import Bucket, FastEnough
from .cycles import Ring
from .fan_in import FanIn, Knowing

__all__ = [
    "EXPECTATIONS", "Cautious", "Dozing", "Forgetting", "FreeSlot", "Overtaken", "Saving", "Shares",
    "SharesSeen", "SlotSeen", "Spending", "SpendingSeen", "Unknown",
]

COMPOSING, WORKERS, DROPPING = "003#composing", "003#workers", "003#dropping"


# --- a ring ------------------------------------------------------------------------------


class FreeSlot(Machine):
    """A free slot of a ring, and the nearest element behind it."""

    K = const(4, at_least=2)            # slots

    g = integer(0, K, init=1)           # distance between them, in slots
    looking = boolean(False)            # searching the element behind another free slot

    @action(fair=True)
    def comes_nearer(self) -> None:
        """The element moves one slot nearer."""
        require(not self.looking and self.g > 1)
        self.g -= 1

    @action(fair=True)
    def fills(self) -> None:
        """The element takes the slot; its own is free now, and the next one is searched."""
        require(not self.looking and self.g == 1)
        self.looking = True

    @action
    def looks_further(self) -> None:
        """The slot behind is free as well."""
        require(self.looking and self.g < self.last())
        self.g += 1

    def last(self) -> int:
        """Greatest distance: all others are free, and the element has just moved."""
        return self.K - 1

    @action(fair=True)
    def finds(self) -> None:
        """The nearest element behind is there."""
        require(self.looking)
        self.looking = False

    @never_stuck("FLOW-90", MUST,
                 "A ring of one-slot queues with an element and a free slot never deadlocks if "
                 "its stages make one output of each input: the nearest element behind a free "
                 "slot can move.",
                 source=f"{COMPOSING}; 003#E13")
    def goes_on(self) -> bool:
        """False: no state without a next step is acceptable."""
        return False

    @always("FLOW-91", MUST,
            "In a ring of K slots with at least one element, the nearest element behind each "
            "free slot is at least one slot and fewer than K slots away.",
            source=f"{COMPOSING}; 003#E13")
    def it_is_there(self) -> bool:
        """The distance is at least one slot, and less than a whole round."""
        return 1 <= self.g and self.g < self.K


class Overtaken(FreeSlot):
    """The nearest element may vanish, and none is left."""

    def last(self) -> int:
        """A whole round: the search finds the slot itself."""
        return self.K


class Cautious(FreeSlot):
    """An element moves only if two slots ahead of it are free, or the last one."""

    @action(fair=True)
    def comes_nearer(self) -> None:
        """The element keeps its distance."""
        require(not self.looking and self.g > 2)
        self.g -= 1


class SlotSeen(View[Ring]):
    """The first slot that is free when all are put in; then the one from which it was filled."""

    history: tuple[int, ...] = ()

    @shown
    def move(self, before: Ring, after: Ring, slot: int) -> Seen | list[Seen] | None:
        """Only the nearest element behind the free slot counts."""
        free = self.history[0] if self.history else before.k
        away = _behind(before, free)
        self.history = (free,)
        if (free - slot) % before.K != away:
            return None
        if away > 1:
            return see("comes_nearer")
        self.history = (slot,)
        return [see("fills"), *[see("looks_further")] * (_behind(after, slot) - 1), see("finds")]


def _behind(ring: Ring, free: int) -> int:
    """Distance in slots from a free slot back to the nearest element."""
    return next(back for back in range(1, ring.K) if ring.full[(free - back) % ring.K])


# --- shares ------------------------------------------------------------------------------


class Shares(Machine):
    """Any number of senders: their credits, and their elements, taken together."""

    n = const(2, at_least=1)            # senders
    c = const(1, at_least=1)            # credits that each begins with, or its share
    C = const(2, at_least=1)            # slots

    P = integer(0, n * c, init=n * c)   # credits at all senders, unused
    N = integer(0, 2 * n * c)           # elements of all that wait

    @assume
    def all_fit(self) -> bool:
        """True if there are slots for all credits together."""
        return self.n * self.c <= self.C

    @action(fair=True)
    def send(self) -> None:
        """One sender uses a credit and sends an element."""
        require(self.P > 0)
        self.P -= 1
        self.N += 1

    @action(fair=True)
    def free(self) -> None:
        """An element has been processed, and its sender gets the credit back."""
        require(self.N > 0)
        self.N -= 1
        self.P += 1

    @always("FLOW-92", MUST,
            "The unused credits of all senders plus the elements that they have sent and that "
            "were not processed always total the credits with which all began.",
            source=f"{WORKERS}; 003#E11")
    def tokens_are_kept(self) -> bool:
        """The same for any number of senders."""
        return self.P + self.N == self.n * self.c

    @always("FLOW-93", MUST,
            "If the credits with which all senders began are together at most the receiver's "
            "slots, so are the elements that they have sent and that were not processed.",
            source=f"{WORKERS}; 003#E11, 003#E18")
    def all_of_it_fits(self) -> bool:
        """No sender with a credit finds all slots taken."""
        return self.N <= self.C


class Forgetting(Shares):
    """The processor loses the element's origin and returns no credit."""

    @action(fair=True)
    def free(self) -> None:
        """The slot is free, and no sender has a credit for it."""
        require(self.N > 0)
        self.N -= 1


class Unknown(Shares):
    """Twice as many senders as the receiver knows."""

    P = integer(0, 2 * Shares.n * Shares.c, init=2 * Shares.n * Shares.c)


class SharesSeen(View[FanIn]):
    """All senders look alike."""

    @shown
    def send(self, before: FanIn, after: FanIn, sender: int) -> Seen:
        """One of them sends."""
        return see("send")

    @shown
    def free(self, before: FanIn, after: FanIn, sender: int) -> Seen:
        """One of them gets its credit back."""
        return see("free")


# --- a bucket ----------------------------------------------------------------------------


class Spending(Machine):
    """A source with a bucket and its receiver; a tick in steps."""

    r = const(1, at_least=1)            # tokens a tick
    b = const(2, at_least=1)            # tokens that are kept
    u = const(1, at_least=1)            # elements that are served a tick
    th = const(1)                       # ticks until the receiver begins

    tokens = integer(0, b, init=b)
    waiting = integer(0, 2 * b + r * th)
    burst = integer(0, 2 * b)           # sent, less r a tick, in the worst window that ends now
    idle = integer(0, th, init=th)      # ticks until the receiver serves
    within = boolean(False)             # a tick

    @assume
    def a_tick_fits(self) -> bool:
        """True if the bucket can keep the tokens of a tick."""
        return self.r <= self.b

    @assume
    def it_keeps_up(self) -> bool:
        """True if the rate that the bucket enforces is at most the receiver's."""
        return self.r <= self.u

    @action(fair=True)
    def come(self) -> None:
        """A tick begins, and tokens come."""
        require(not self.within)
        self.tokens = self.kept(self.tokens + self.r)
        self.burst = max(0, self.burst - self.r)
        self.within = True

    @action
    def send(self) -> None:
        """A token is spent, and an element sent."""
        require(self.within and self.tokens > 0)
        self.tokens -= 1
        self.burst += 1
        self.waiting += 1

    @action(fair=True)
    def serve(self) -> None:
        """A tick ends; once the receiver serves, some elements are gone."""
        require(self.within)
        left = self.waiting if self.idle > 0 else self.served()
        self.idle = self.th if left == 0 else max(0, self.idle - 1)
        self.waiting = left
        self.within = False

    @action
    def has_none(self) -> None:
        """An observation between two ticks: nothing waits."""
        require(not self.within and self.waiting == 0)

    @action
    def has_some(self) -> None:
        """An observation between two ticks: something waits."""
        require(not self.within and self.waiting > 0)

    def kept(self, tokens: int) -> int:
        """Tokens that the bucket keeps; those beyond the depth are lost."""
        return min(self.b, tokens)

    def served(self) -> int:
        """Elements left after a tick's work."""
        return max(0, self.waiting - self.u)

    @always("FLOW-94", MUST,
            "At any instant, the tokens in a bucket (depth b, r tokens a tick) plus the "
            "elements sent beyond r per tick, in any ticks up to then, are at most b.",
            source=f"{DROPPING}; 003#E17")
    def tokens_are_spent_once(self) -> bool:
        """No window of t ticks has more than b + r t elements."""
        return self.burst + self.tokens <= self.b

    @always("FLOW-95", MUST,
            "If a receiver is as fast as the bucket, waiting elements plus tokens are at most "
            "the depth plus the rate for the current tick and for each tick, up to the "
            "receiver's latency, since elements began to wait.",
            source=f"{DROPPING}; 003#E17")
    def idleness_costs_the_rate(self) -> bool:
        """During a tick, its own tokens count as well."""
        own = self.r if self.within else 0
        return self.waiting + self.tokens <= self.b + self.r * (self.th - self.idle) + own

    @always("FLOW-96", MUST,
            "Between ticks at most b + r th elements of a source with a bucket (depth b, rate "
            "r) wait, if the receiver serves at least r a tick from th ticks after elements "
            "come.",
            source=f"{DROPPING}; 003#E17")
    def few_wait(self) -> bool:
        """For a receiver of any rate that is not below the bucket's, and of any latency."""
        return self.within or self.waiting <= self.b + self.r * self.th


class Saving(Spending):
    """A bucket that keeps all its tokens."""

    tokens = integer(0, 3 * Spending.b, init=Spending.b)
    burst = integer(0, 4 * Spending.b)
    waiting = integer(0, 6 * Spending.b + Spending.r * Spending.th)

    def kept(self, tokens: int) -> int:
        """No token is lost; the model ends at three times the depth."""
        return min(3 * self.b, tokens)


class Dozing(Spending):
    """The receiver never serves."""

    waiting = integer(0, 3 * Spending.b + Spending.r * Spending.th)

    def served(self) -> int:
        """Nothing leaves; the model stops counting above the bound."""
        return min(self.waiting, self.b + self.r * self.th + 1)


class SpendingSeen(View[Bucket]):
    """A tick is its tokens, its elements, and what is served at its end."""

    @shown
    def tick(self, before: Bucket, after: Bucket, sent: int) -> list[Seen]:
        """First tokens, then what is sent."""
        return [see("come"), *[see("send")] * sent, see("serve")]

    def asked(self, machine: Bucket) -> list[Seen]:
        """Report whether elements wait behind the source."""
        return [see("has_some" if machine.waiting else "has_none")]


EXPECTATIONS = (
    refines(Ring, FreeSlot, "an element of a ring that can move is behind a free slot",
            shows=SlotSeen, seen_by={"K": "K"}, K=range(2, 7), k=lambda K: range(1, K)),
    prove(FreeSlot, "FLOW-91", "an element is behind each free slot, for rings of all sizes",
          for_all=("K",)),
    prove(FreeSlot, "FLOW-90", "a ring with a free slot and an element is never blocked, for all "
                               "sizes",
          for_all=("K",), lemmas=("FLOW-91",)),
    expect(Cautious, "FLOW-90", "violated", "elements that keep their distance wait for each other",
           K=(3, 4)),
    expect(Overtaken, "FLOW-91", "violated", "a ring without an element has none behind a slot",
           K=(2, 3)),
    refines(Knowing, Shares, "each step of one of several senders changes the totals of all",
            shows=SharesSeen, seen_by={"n": "n", "c": "c", "C": "C"}, n=(1, 2, 3), c=(1, 2),
            C=lambda n, c: (n * c,)),
    prove(Shares, "FLOW-92", "tokens are kept, for all numbers of senders and all shares",
          for_all=("n", "c", "C")),
    prove(Shares, "FLOW-93", "all fit where n c <= C, for all numbers of senders and all shares",
          for_all=("n", "c", "C"), lemmas=("FLOW-92",)),
    expect(Forgetting, "FLOW-92", "violated", "credits that are not given back are lost",
           n=2, c=1, C=2),
    expect(Unknown, "FLOW-93", "violated", "senders that the receiver does not know overrun it",
           n=(1, 2), c=(1, 2), C=lambda n, c: (n * c,)),
    *(expect(Dozing, rule, "violated", "more wait than a latency explains", r=1, b=2, u=1,
             th=(0, 1)) for rule in ("FLOW-95", "FLOW-96")),
    refines(FastEnough, Spending, "a tick is its steps", shows=SpendingSeen,
            seen_by={"r": "r", "b": "b", "u": "u", "th": "th"}, r=(1, 2), b=(2, 3), u=2,
            th=(0, 1)),
    prove(Spending, "FLOW-94", "tokens are spent once, for all depths, rates and latencies",
          for_all=("r", "b", "u", "th"), lemmas=("FLOW-95",)),
    prove(Spending, "FLOW-95", "idleness costs the rate, for all depths, rates and latencies",
          for_all=("r", "b", "u", "th"), lemmas=("FLOW-94",)),
    prove(Spending, "FLOW-96", "few wait where r <= u, for all depths, rates and latencies",
          for_all=("r", "b", "u", "th"), lemmas=("FLOW-94", "FLOW-95")),
    expect(Saving, "FLOW-94", "violated", "without a depth, more is saved than b",
           r=(1, 2), b=2, u=2, th=(0, 1)),
)

UNSEEN = {
    "FLOW-90":
        "As FLOW-32, it is about a design: checkvalve check says of a ring of any numbers whether "
        "it can deadlock.",
    "FLOW-91":
        "The positions of the elements of a ring at one instant are known to none of its stages.",
}
