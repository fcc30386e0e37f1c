"""Stages in a circle, whose elements come round again.

Theory of operation
-------------------
K queues of one slot each stand in a ring, and k elements are in them at first. A stage moves an
element on if the next slot is free.

    gain 1      every stage makes one of one. The number of elements stays k. With k = 0 nothing
                moves, and with k = K no slot is free: live exactly where 1 <= k <= K - 1.
    gain > 1    one stage makes m of one. Each time that an element comes round there are m - 1
                more, until all slots are full: stuck, whatever K is. Or somebody has a buffer that
                grows without end, or drops.
    gain < 1    one stage makes one of d. The ring runs empty, but for fewer than d.

So it takes a gain above 1 and an element that circulates to be stuck, and not the one-to-many stage
alone (003#E13). `sums` proves for all K that a ring with an element and a free slot goes on.

Source: the mail "back pressure"; 003#composing, 003#E13.
"""

from __future__ import annotations

from ..expectations import expect
from ..notation import (
    MUST, Machine, action, always, array, assume, boolean, const, integer, never_stuck, require,
    upto,
)

__all__ = ["EXPECTATIONS", "DrainingRing", "DroppingRing", "GrowingRing", "LosingRing",
           "Ring"]

COMPOSING = "003#composing"


class Ring(Machine):
    """One-slot queues in a circle. Who fills them at first is no matter."""

    K = const(4, at_least=1)            # slots
    k = const(2)                        # elements at first
    d = const(1, at_least=1)            # inputs that the stage before slot 0 gathers
    m = const(1, at_least=1)            # outputs that it makes of them

    full = array(upto(K), boolean())
    filled = integer(0, k)              # elements put in so far, before anything moves
    gathered = integer(0, d)            # inputs at hand
    made = integer(0, m)                # outputs at hand

    @assume
    def they_fit(self) -> bool:
        """There is a slot for each element."""
        return self.k <= self.K

    @action(fair=True)
    def fill(self) -> None:
        """The elements stand in the first slots."""
        require(self.filled < self.k)
        self.full[self.filled] = True
        self.filled += 1

    def begins(self) -> bool:
        """All are put in."""
        return self.filled == self.k

    @action(fair=True, slot=upto(K))
    def move(self, slot: int) -> None:
        """An element goes to the next slot; from the last one, to the stage."""
        require(self.begins() and self.full[slot])
        if slot + 1 < self.K:
            require(not self.full[slot + 1])
            self.full[slot + 1] = True
            self.full[slot] = False
        elif self.d == 1 and self.m == 1:
            require(not self.full[0])
            self.full[slot] = False
            self.full[0] = True
        else:
            require(self.made == 0 and self.gathered < self.d)
            self.full[slot] = False
            self.gathered += 1

    @action(fair=True)
    def work(self) -> None:
        """The stage has its inputs, and makes its outputs of them."""
        require(self.gathered == self.d and self.made == 0)
        self.gathered = 0
        self.made = self.m

    @action(fair=True)
    def emit(self) -> None:
        """An output goes to the first slot."""
        require(self.made > 0 and not self.full[0])
        self.made -= 1
        self.full[0] = True

    @never_stuck("FLOW-32", MUST, "The elements of a ring go on.", source=f"{COMPOSING}; 003#E13")
    def goes_on(self) -> bool:
        """It may rest only where too few are left for the stage's next output, having come in."""
        return self.begins() and self.is_drained()

    def is_drained(self) -> bool:
        """Of a ring that gathers, fewer than d are left, all of them in its hand."""
        return self.d > 1 and self.made == 0 and self.gathered < self.d and not any(
            self.full[slot] for slot in range(self.K))

    @always("FLOW-33", MUST, "Where each stage makes one of one, the number of elements stays.",
            source=f"{COMPOSING}; 003#E13")
    def their_number_stays(self) -> bool:
        """As many as were put in."""
        return self.d != self.m or sum(self.full) + self.gathered + self.made == self.filled


class GrowingRing(Ring):
    """A stage makes several of one."""

    m = const(2, at_least=2)


class DroppingRing(GrowingRing):
    """… and drops what finds no room."""

    @action(fair=True)
    def emit(self) -> None:
        """An output goes to the first slot, or nowhere."""
        require(self.made > 0)
        self.made -= 1
        self.full[0] = True


class LosingRing(Ring):
    """What is in a slot may vanish."""

    @action(slot=upto(Ring.K))
    def lose(self, slot: int) -> None:
        """What was in a slot is gone."""
        require(self.full[slot])
        self.full[slot] = False


class DrainingRing(Ring):
    """A stage makes one of several."""

    d = const(2, at_least=2)


def _fillings(K: int) -> range:
    return range(K + 1)


EXPECTATIONS = (
    expect(Ring, "FLOW-32", "violated", "live exactly where 1 <= k <= K - 1",
           where="k == 0 or k == K", K=range(1, 7), k=_fillings),
    expect(GrowingRing, "FLOW-32", "violated",
           "003#E13: a gain above 1 ends in a deadlock, with any K",
           K=range(1, 7), k=_fillings, m=(2, 3)),
    expect(DroppingRing, "FLOW-32", "violated",
           "a growing ring that drops goes on, but not without an element",
           where="k == 0", K=range(2, 6), k=_fillings, m=(2, 3)),
    expect(DrainingRing, "FLOW-32", "holds", "a gain below 1 runs empty, and is never stuck",
           K=range(1, 7), k=_fillings, d=(2, 3)),
    expect(LosingRing, "FLOW-33", "violated", "a ring that loses elements has fewer", K=2, k=1),
    expect(Ring, "FLOW-33", "holds", "the number of elements stays", K=range(1, 7), k=_fillings),
)

UNSEEN = {
    "FLOW-32":
        "Stages in a circle are a design: checkvalve check decides whether it gets stuck, before "
        "there is anything to run.",
    "FLOW-33":
        "How many elements are in a circle at one instant is the sum of the queues of all its "
        "stages.",
}
