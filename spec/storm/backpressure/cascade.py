"""The path of backpressure from the last bolt to the spout, and the tasks that it does not reach.

Theory of operation
-------------------
No message stops a spout because a bolt far downstream is backlogged. Each task is refused by the
next one, and only by that: its recvQ is full (or, across workers, its flag is set, which has the
same effect here). A bolt that is refused keeps its output and stops consuming; so its own recvQ
fills up, and it refuses in its turn. Backpressure *bubbles up*, one task at a time.

    spout 0 --> bolt 0 --> … --> bolt n - 1       the last bolt may stop forever
    spout 1 --> other                             independent of that chain

Two things follow. However long the last bolt is blocked, the tuples between it and its spout are
bounded: n recvQs of C, and one output for each bolt that is refused. And no task stops before it
has to: a spout emits as long as the first bolt has a free slot, and a spout with tuples that never
come near the blocked bolt emits forever.

The alternative, which the text decides against, is one flag for the whole topology: *on* while any
task is backlogged. The bound holds all the same. But all spouts stop at once, and as long as one
bolt is blocked, all others run dry.

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
        """The spout of the chain, which always has data, emits a tuple."""
        require(self.recvq[0] < self.C and not self.is_braked())
        self.recvq[0] += 1

    @action(fair=True)
    def emit_other(self) -> None:
        """The other spout emits a tuple."""
        require(self.other < self.C and not self.is_braked())
        self.other += 1

    def is_braked(self) -> bool:
        """Never: only a full recvQ stops a spout."""
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
        """True if the bolt holds no output."""
        return self.held[bolt] == 0

    @action(fair=True, bolt=upto(n - 1))
    def retry(self, bolt: int) -> None:
        """The next bolt accepts an output that it refused before."""
        require(self.held[bolt] > 0 and self.recvq[bolt + 1] < self.C)
        self.held[bolt] -= 1
        self.recvq[bolt + 1] += 1

    @action
    def finish(self) -> None:
        """The last bolt takes a tuple; it may be blocked forever, so this is not fair."""
        require(self.recvq[self.n - 1] > 0)
        self.recvq[self.n - 1] -= 1

    @action(fair=True)
    def finish_other(self) -> None:
        """The other bolt takes a tuple."""
        require(self.other > 0)
        self.other -= 1

    @always("STORM-H1", MUST,
            "In a chain of n bolts behind a spout, the bolts' recvQs and unsent outputs hold at "
            "most n C + n - 1 tuples in all, C being the capacity of a recvQ.",
            source=CASCADE)
    def backpressure_bubbles_up(self) -> bool:
        """n full recvQs, and one output held by each bolt but the last."""
        return sum(self.recvq) + sum(self.held) <= self.n * self.C + self.n - 1

    @leads_to("STORM-H2", MUST,
              "If the recvQ of a chain's first bolt is empty, the bolt receives a tuple from "
              "its spout, which always has data, eventually, even if a later bolt is blocked.",
              source=BUBBLE_UP)
    def brakes_are_not_applied_at_once(self) -> tuple[bool, bool]:
        """The spout is not stopped before it has to be."""
        return self.recvq[0] == 0, self.recvq[0] > 0

    @leads_to("STORM-H3", MUST,
              "If the recvQ of a bolt outside the chain is empty, the bolt receives a tuple "
              "from its own spout, which always has data, eventually, even if the chain is "
              "blocked.",
              source=BUBBLE_UP)
    def others_go_on(self) -> tuple[bool, bool]:
        """The other bolt is never blocked itself, so this happens again and again."""
        return self.other == 0, self.other > 0


class GlobalThrottle(Cascade):
    """One flag stops every spout while any recvQ is full."""

    brake = boolean(False)

    @action(fair=True)
    def apply(self) -> None:
        """Set the flag when a recvQ is full."""
        require(not self.brake and self.is_backlogged())
        self.brake = True

    @action(fair=True)
    def release(self) -> None:
        """Clear the flag when no recvQ is full any more."""
        require(self.brake and not self.is_backlogged())
        self.brake = False

    def is_backlogged(self) -> bool:
        """True if some recvQ of the topology is full."""
        return self.other == self.C or any(held == self.C for held in self.recvq)

    def is_braked(self) -> bool:
        """True while the flag is set: then no spout emits."""
        return self.brake


class AbsorbingBolts(Cascade):
    """A bolt continues to consume while it holds outputs: backpressure ends with it."""

    def may_consume(self, bolt: int) -> bool:
        """True until the bolt holds 2 outputs, which bounds the model."""
        return self.held[bolt] < 2


BOUNDED, NOT_AT_ONCE, OTHERS = "STORM-H1", "STORM-H2", "STORM-H3"

EXPECTATIONS = (
    expect(Cascade, BOUNDED, "holds", "backpressure reaches the spout", C=(1, 2), n=(2, 3)),
    expect(Cascade, NOT_AT_ONCE, "holds",
           "backpressure goes from one task to the next, and skips none", C=(1, 2), n=(2, 3)),
    expect(Cascade, OTHERS, "holds",
           "backpressure stops only tasks that are upstream", C=(1, 2), n=(2, 3)),
    expect(GlobalThrottle, BOUNDED, "holds", "one flag for all bounds the topology", C=(1, 2), n=2),
    expect(GlobalThrottle, NOT_AT_ONCE, "violated",
           "one flag for all stops a spout although its bolt has a free slot", C=(1, 2),
           n=2),
    expect(GlobalThrottle, OTHERS, "violated",
           "one flag for all stops spouts of independent chains", C=(1, 2), n=2),
    expect(AbsorbingBolts, BOUNDED, "violated", "a bolt that continues to consume", C=(1, 2), n=2),
)
