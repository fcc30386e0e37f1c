"""How backpressure gets from the last bolt to the spout, and to whom it does not get.

Theory of operation
-------------------
Nobody tells a spout to stop because a bolt far downstream is backlogged. Each task is refused by
the next one, and only by that: its recvQ is full (or, across workers, its flag is set, which
comes to the same here). A bolt that is refused keeps its output and stops consuming; so its own
recvQ fills up, and it refuses in its turn. Backpressure *bubbles up*, one task at a time.

    spout 0 --> bolt 0 --> … --> bolt n - 1       the last bolt may stop for ever
    spout 1 --> other                             nothing to do with it

Two things follow. However long the last bolt is stuck, what stands between it and its spout is
bounded: n recvQs of C, and one output for each bolt that is refused. And nobody stops before it
has to: a spout emits as long as the first bolt has room, and a spout whose tuples never come near
the stuck bolt emits for ever.

The alternative, which the text decides against, is one flag for the whole topology: *on* while any
task is backlogged. The bound holds all the same. But everybody stops at once, and as long as one
bolt is stuck all others run dry.

Source: "Backpressure model for Storm 2.0" (STORM-2306); 000#aims ("Bubble Up"),
000#throttling; the flag is that of Storm 1.x (STORM-886).
"""

from __future__ import annotations

from ...expectations import expect
from ...notation import (
    MUST, Machine, action, always, array, boolean, const, integer, leads_to, require, upto,
)

__all__ = ["AbsorbingBolts", "Cascade", "EXPECTATIONS", "GlobalThrottle"]

BUBBLE_UP = "000#aims ('Bubble Up')"
CASCADE = "000#throttling ('is cascaded between tasks')"


class Cascade(Machine):
    """A chain of n bolts behind a spout, and another spout with a bolt of its own."""

    C = const(1, at_least=1)            # capacity of each recvQ
    n = const(2, at_least=2)            # bolts of the chain

    recvq = array(upto(n), integer(0, C))
    held = array(upto(n), integer(0, 2))        # outputs of a bolt that the next one refused
    other = integer(0, C)               # in the recvQ of the other spout's bolt

    @action(fair=True)
    def emit(self) -> None:
        """The spout of the chain, which always has data, finds room."""
        require(self.recvq[0] < self.C and not self.is_braked())
        self.recvq[0] += 1

    @action(fair=True)
    def emit_other(self) -> None:
        """The other spout finds room."""
        require(self.other < self.C and not self.is_braked())
        self.other += 1

    def is_braked(self) -> bool:
        """Nothing stops a spout but a full recvQ."""
        return False

    @action(fair=True, bolt=upto(n - 1))
    def process(self, bolt: int) -> None:
        """A bolt takes a tuple and sends one on, or keeps it if the next bolt refuses it."""
        require(self.recvq[bolt] > 0 and self.may_consume(bolt))
        self.recvq[bolt] -= 1
        if self.held[bolt] == 0 and self.recvq[bolt + 1] < self.C:
            self.recvq[bolt + 1] += 1
        else:
            self.held[bolt] += 1

    def may_consume(self, bolt: int) -> bool:
        """Only with nothing held."""
        return self.held[bolt] == 0

    @action(fair=True, bolt=upto(n - 1))
    def retry(self, bolt: int) -> None:
        """What a bolt holds gets through."""
        require(self.held[bolt] > 0 and self.recvq[bolt + 1] < self.C)
        self.held[bolt] -= 1
        self.recvq[bolt + 1] += 1

    @action
    def finish(self) -> None:
        """The last bolt takes a tuple; it may be stuck for ever, so this is not fair."""
        require(self.recvq[self.n - 1] > 0)
        self.recvq[self.n - 1] -= 1

    @action(fair=True)
    def finish_other(self) -> None:
        """The other bolt takes a tuple."""
        require(self.other > 0)
        self.other -= 1

    @always("STORM-H1", MUST, "However long the last bolt is stuck, between it and its spout stand "
            "no more than n C + n - 1 tuples.", source=CASCADE)
    def backpressure_bubbles_up(self) -> bool:
        """Full recvQs, and one output held by each bolt but the last."""
        return sum(self.recvq) + sum(self.held) <= self.n * self.C + self.n - 1

    @leads_to("STORM-H2", MUST, "The first bolt, where its recvQ is empty, gets a tuple from its "
              "spout, whoever is stuck further down.", source=BUBBLE_UP)
    def brakes_are_not_applied_at_once(self) -> tuple[bool, bool]:
        """The spout is not stopped before it has to be."""
        return self.recvq[0] == 0, self.recvq[0] > 0

    @leads_to("STORM-H3", MUST, "The other bolt, where its recvQ is empty, gets a tuple from its "
              "own spout, whoever is stuck elsewhere.", source=BUBBLE_UP)
    def others_go_on(self) -> tuple[bool, bool]:
        """It is never stuck itself, so this happens again and again."""
        return self.other == 0, self.other > 0


class GlobalThrottle(Cascade):
    """One flag stops every spout while any recvQ is full."""

    brake = boolean(False)

    @action(fair=True)
    def apply(self) -> None:
        """A recvQ is full."""
        require(not self.brake and self.is_backlogged())
        self.brake = True

    @action(fair=True)
    def release(self) -> None:
        """None is full any more."""
        require(self.brake and not self.is_backlogged())
        self.brake = False

    def is_backlogged(self) -> bool:
        """Some recvQ of the topology is full."""
        return self.other == self.C or any(held == self.C for held in self.recvq)

    def is_braked(self) -> bool:
        """Nobody emits while anybody is backlogged."""
        return self.brake


class AbsorbingBolts(Cascade):
    """A bolt goes on consuming whatever it holds: backpressure ends with it."""

    def may_consume(self, bolt: int) -> bool:
        """As long as the type lasts."""
        return self.held[bolt] < 2


BOUNDED, NOT_AT_ONCE, OTHERS = "STORM-H1", "STORM-H2", "STORM-H3"

EXPECTATIONS = (
    expect(Cascade, BOUNDED, "holds", "backpressure gets to the spout", C=(1, 2), n=(2, 3)),
    expect(Cascade, NOT_AT_ONCE, "holds",
           "backpressure gets from one task to the next, and skips none", C=(1, 2), n=(2, 3)),
    expect(Cascade, OTHERS, "holds",
           "backpressure holds back nobody who is not upstream", C=(1, 2), n=(2, 3)),
    expect(GlobalThrottle, BOUNDED, "holds", "one flag for all bounds the topology", C=(1, 2), n=2),
    expect(GlobalThrottle, NOT_AT_ONCE, "violated",
           "one flag for all stops spouts although no task in between is full", C=(1, 2),
           n=2),
    expect(GlobalThrottle, OTHERS, "violated",
           "one flag for all stops spouts that have nothing to do with it", C=(1, 2), n=2),
    expect(AbsorbingBolts, BOUNDED, "violated", "a bolt that goes on consuming", C=(1, 2), n=2),
)
