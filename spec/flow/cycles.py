"""Stages in a cycle; their elements come round again.

Theory of operation
-------------------
K queues of one slot each form a ring, and k elements are in them at first. A stage moves an
element to the next slot if that is free.

    gain 1      every stage makes one of one. The number of elements stays k. With k = 0 nothing
                moves, and with k = K no slot is free: live exactly if 1 <= k <= K - 1.
    gain > 1    one stage makes m of one. Each time that an element comes round there are m - 1
                more, until all slots are full: a deadlock, whatever K is. Or some stage has a
                buffer that grows without end, or drops.
    gain < 1    one stage makes one of d. The ring runs empty, but for fewer than d.

So a deadlock takes a gain above 1 and an element that circulates, and not the one-to-many stage
alone (003#E13). `sums` proves for all K that a ring with an element and a free slot is never
blocked.

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
    """A ring of one-slot queues; the initial filler is irrelevant."""

    K = const(4, at_least=1)            # slots
    k = const(2)                        # elements at first
    d = const(1, at_least=1)            # inputs that the stage before slot 0 gathers
    m = const(1, at_least=1)            # outputs that it makes from them

    full = array(upto(K), boolean())
    filled = integer(0, k)              # elements put in so far, before anything moves
    gathered = integer(0, d)            # inputs that it has
    made = integer(0, m)                # outputs not yet sent

    @assume
    def they_fit(self) -> bool:
        """True if there is a slot for each element."""
        return self.k <= self.K

    @action(fair=True)
    def fill(self) -> None:
        """One of the first slots is filled."""
        require(self.filled < self.k)
        self.full[self.filled] = True
        self.filled += 1

    def begins(self) -> bool:
        """True if all elements are put in."""
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

    @never_stuck("FLOW-32", MUST,
                 "Without a stage that makes more outputs than it takes inputs, a ring of "
                 "one-slot queues with an element and a free slot at first deadlocks only when "
                 "too few elements for another output are left.",
                 source=f"{COMPOSING}; 003#E13")
    def goes_on(self) -> bool:
        """True only if too few elements are left for the stage's next output, all gathered."""
        return self.begins() and self.is_drained()

    def is_drained(self) -> bool:
        """True if fewer than d elements are left in a gathering ring, all of them at the stage."""
        return self.d > 1 and self.made == 0 and self.gathered < self.d and not any(
            self.full[slot] for slot in range(self.K))

    @always("FLOW-33", MUST,
            "If each stage of a ring makes as many outputs as it takes inputs, the elements in "
            "the ring, with those at its stages, stay as many as were put in.",
            source=f"{COMPOSING}; 003#E13")
    def their_number_stays(self) -> bool:
        """The number is that of the elements put in."""
        return self.d != self.m or sum(self.full) + self.gathered + self.made == self.filled


class GrowingRing(Ring):
    """A stage makes several of one."""

    m = const(2, at_least=2)


class DroppingRing(GrowingRing):
    """A stage that makes several outputs of one, and drops those that find no free slot."""

    @action(fair=True)
    def emit(self) -> None:
        """An output goes to the first slot, or is dropped if that is full."""
        require(self.made > 0)
        self.made -= 1
        self.full[0] = True


class LosingRing(Ring):
    """An element may vanish from its slot."""

    @action(slot=upto(Ring.K))
    def lose(self, slot: int) -> None:
        """The element in a slot is lost."""
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
           "a growing ring that drops keeps moving, but not without an element",
           where="k == 0", K=range(2, 6), k=_fillings, m=(2, 3)),
    expect(DrainingRing, "FLOW-32", "holds", "a gain below 1 runs empty, without a deadlock",
           K=range(1, 7), k=_fillings, d=(2, 3)),
    expect(LosingRing, "FLOW-33", "violated", "a ring that loses elements has fewer", K=2, k=1),
    expect(Ring, "FLOW-33", "holds", "the number of elements stays", K=range(1, 7), k=_fillings),
)

UNSEEN = {
    "FLOW-32":
        "Stages in a cycle are a design: checkvalve check decides whether it can deadlock, before "
        "there is anything to run.",
    "FLOW-33":
        "The number of elements in a ring at one instant is the sum of the queues of all its "
        "stages.",
}
