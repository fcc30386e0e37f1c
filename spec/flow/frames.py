"""Stages that read and write several elements at once, and branches that split and join.

Theory of operation
-------------------
*An edge.* One stage writes p elements at once into a buffer of B, another reads c at once; d are in
it at first. With g the greatest common divisor of p and c, it is deadlock-free exactly if

    B >= p + c - g + d mod g        if d <= p + c - g
    B >= d                          otherwise

since what the buffer holds only ever differs from d by multiples of g.

*A stage that makes one of m.* It takes elements out of its buffer and keeps them. If a place is
given back when the element is *taken* out, any buffer of one or more is enough: the stage holds
its m by itself. If it is given back only when the output is *made*, the stage needs m elements
from a sender that has B credits: a deadlock exactly if m > B.

*Branches that split and join.* Each element takes both branches. On one of them a stage makes one
of n; the other has a buffer of B; where they join, an output takes the one and n of the others.
Until the first group is complete, the other branch has to hold its n elements: live exactly if
B >= n. If the one branch drops everything, the other is full after B elements: a deadlock, whatever
B is.

The mail has frames of several elements, and no branches: those are the book's.

Source: the mail "back pressure"; 003#composing, 003#frames, 003#parting.
"""

from __future__ import annotations

from math import gcd

from ..expectations import expect, prove
from ..notation import (
    MUST, Machine, action, always, assume, const, integer, never_stuck, require,
)

__all__ = ["EXPECTATIONS", "Diamond", "Edge", "FilteringDiamond", "FilteringWideDiamond",
           "Gathering", "KeepingAPlace", "PayingLate", "PayingTwice",
           "PayingLateForLittle", "WideDiamond"]

COMPOSING = "003#composing; 003#frames"
PARTING = "003#parting"


class Edge(Machine):
    """Two stages and the buffer between them."""

    p = const(2, at_least=1)            # written at once
    c = const(3, at_least=1)            # read at once
    g = const(1, at_least=1)            # their greatest common divisor
    d = const(0)                        # elements at first
    B = const(4)                        # the buffer

    held = integer(0, B, init=d)

    @assume
    def what_is_there_fits(self) -> bool:
        """True if the buffer holds the first elements, and g divides p and c."""
        return self.d <= self.B and self.p % self.g == 0 and self.c % self.g == 0

    @action(fair=True)
    def write(self) -> None:
        """The first stage writes p elements, if there is room for all."""
        require(self.held + self.p <= self.B)
        self.held += self.p

    @action(fair=True)
    def read(self) -> None:
        """The second stage reads c elements, if there are as many."""
        require(self.held >= self.c)
        self.held -= self.c

    @never_stuck("FLOW-34", MUST,
                 "A writer of p elements at once and a reader of c never both wait, if the "
                 "buffer between, with d elements at first, has at least max(d, p + c - g + d "
                 "mod g) slots, g being the greatest common divisor of p and c.",
                 source=COMPOSING)
    def goes_on(self) -> bool:
        """False: there is always more to write, and a stage to read it."""
        return False


class Gathering(Machine):
    """A stage that makes one output of m inputs, behind a buffer of B. A place is paid back when
    its element is taken out of the buffer.
    """

    m = const(2, at_least=1)            # inputs of an output
    B = const(1, at_least=1)            # the buffer, and the credits of the sender

    permits = integer(0, B, init=B)
    waiting = integer(0, B)
    kept = integer(0, m)                # inputs that the stage has taken

    @action(fair=True)
    def send(self) -> None:
        """A credit is used to send an element into the buffer."""
        require(self.permits > 0)
        self.permits -= 1
        self.waiting += 1

    @action(fair=True)
    def take(self) -> None:
        """The stage takes an element out of the buffer."""
        require(self.waiting > 0 and self.kept < self.m)
        self.waiting -= 1
        self.kept += 1
        self.taken()

    @action(fair=True)
    def make(self) -> None:
        """The stage makes an output of its m inputs."""
        require(self.kept == self.m)
        self.kept = 0
        self.finished()

    def taken(self) -> None:
        """Pay back the place in the buffer."""
        self.permits += 1

    def finished(self) -> None:
        """Nothing to do: every place has been paid back."""

    @never_stuck("FLOW-35", MUST,
                 "A stage that makes one output of several inputs never deadlocks with its "
                 "sender, if it returns each input's credit when it takes it, or if its buffer "
                 "has slots for all inputs of an output.",
                 source=COMPOSING)
    def goes_on(self) -> bool:
        """False: the sender has always more."""
        return False

    @always("FLOW-36", MUST, "The credits of the sender plus the elements in the buffer are at "
            "most the buffer's B slots.", source=COMPOSING)
    def it_fits(self) -> bool:
        """The inputs that the stage has taken do not count; they are at most m."""
        return self.permits + self.waiting <= self.B


class PayingTwice(Gathering):
    """A place is paid back twice."""

    permits = integer(0, 3 * Gathering.B, init=Gathering.B)
    waiting = integer(0, 3 * Gathering.B)

    def taken(self) -> None:
        """There are more credits than places."""
        self.permits = min(3 * self.B - self.waiting, self.permits + 2)


class PayingLate(Gathering):
    """Places are paid back when the output is made."""

    def taken(self) -> None:
        """The place is not paid back yet."""

    def finished(self) -> None:
        """Pay all of them back at once."""
        self.permits += self.m


class PayingLateForLittle(PayingLate):
    """A stage that needs no more inputs than the buffer holds: exactly then it is live."""

    @assume
    def the_buffer_suffices(self) -> bool:
        """True if the inputs of an output fit in the buffer."""
        return self.m <= self.B

    @always("FLOW-38", MUST,
            "If a stage returns credits only with its output, the sender's credits, the "
            "elements in the buffer and the inputs that the stage keeps always total the "
            "buffer's slots.",
            source=COMPOSING)
    def every_place_is_somewhere(self) -> bool:
        """The sum over the three is B."""
        return self.permits + self.waiting + self.kept == self.B


class KeepingAPlace(PayingLateForLittle):
    """One place fewer is paid back than was taken."""

    def finished(self) -> None:
        """One place stays taken forever."""
        self.permits += self.m - 1


class Diamond(Machine):
    """Every element takes both branches; one makes groups of n, the other has a buffer of B."""

    n = const(2, at_least=1)
    B = const(2, at_least=1)

    group = integer(0, n)               # elements of the group that is being made
    waiting = integer(0, B)             # on the other branch

    @action(fair=True)
    def part(self) -> None:
        """An element enters both branches, if both have a free slot."""
        require(self.waiting < self.B and self.group < self.n)
        self.waiting += 1
        self.gather()

    def gather(self) -> None:
        """Add the element to the group."""
        self.group += 1

    @action(fair=True)
    def meet(self) -> None:
        """A group and its n elements become one output."""
        require(self.group == self.n and self.waiting >= self.n)
        self.group = 0
        self.waiting -= self.n

    @never_stuck("FLOW-37", MUST,
                 "Two branches that every element takes never deadlock where they join, if "
                 "neither drops elements and the ungrouped one has a buffer for all elements of "
                 "a group that the other makes.",
                 source=PARTING)
    def goes_on(self) -> bool:
        """False: there is always another element."""
        return False


class WideDiamond(Diamond):
    """The buffer holds a group: exactly then the branches are live."""

    @assume
    def a_group_fits(self) -> bool:
        """While a group is made, its elements wait on the other branch."""
        return self.n <= self.B

    @always("FLOW-39", MUST,
            "Where every element takes both of two branches, as many elements always wait on "
            "the one as are in the group that the other is making.",
            source=PARTING)
    def both_ways_are_alike(self) -> bool:
        """Each element takes both branches."""
        return self.waiting == self.group


class FilteringWideDiamond(WideDiamond):
    """One branch drops every element."""

    def gather(self) -> None:
        """The element is dropped before it is in a group."""


class FilteringDiamond(Diamond):
    """The one branch drops every element before it is in a group."""

    def gather(self) -> None:
        """The element is dropped."""


def _divisor(p: int, c: int) -> range:
    return range(gcd(p, c), gcd(p, c) + 1)


def _buffers(d: int) -> range:
    return range(d, 14)


ONE_TO_SIX = range(1, 7)

EXPECTATIONS = (
    expect(Edge, "FLOW-34", "violated", "live exactly where B >= p + c - g + d mod g",
           where="B < p + c - g + d % g if d <= p + c - g else B < d",
           p=range(1, 6), c=range(1, 6), g=_divisor, d=range(5), B=_buffers),
    expect(Gathering, "FLOW-35", "holds", "paid when taken: any buffer is enough",
           m=ONE_TO_SIX, B=ONE_TO_SIX),
    prove(Gathering, "FLOW-35", "paid when taken: any buffer is enough, for all of these",
          for_all=("m", "B"), lemmas=("FLOW-36",)),
    prove(Gathering, "FLOW-36", "the buffer is not overrun", for_all=("m", "B")),
    expect(PayingTwice, "FLOW-36", "violated", "paid twice: the buffer is overrun", m=2, B=1),
    expect(KeepingAPlace, "FLOW-38", "violated", "a place that is never paid back", m=2, B=2),
    expect(PayingLate, "FLOW-35", "violated", "paid when made: deadlocked exactly where m > B",
           where="m > B", m=ONE_TO_SIX, B=ONE_TO_SIX),
    expect(PayingLateForLittle, "FLOW-38", "holds", "no place is lost",
           B=ONE_TO_SIX, m=lambda B: range(1, B + 1)),
    prove(PayingLateForLittle, "FLOW-38", "no place is lost, for all of these",
          for_all=("m", "B")),
    prove(PayingLateForLittle, "FLOW-35", "paid when made: deadlock-free where m <= B, for all",
          for_all=("m", "B"), lemmas=("FLOW-38",)),
    expect(Diamond, "FLOW-37", "violated", "live exactly where B >= n", where="B < n",
           n=ONE_TO_SIX, B=ONE_TO_SIX),
    prove(WideDiamond, "FLOW-39", "both branches are alike, for all of these", for_all=("n", "B")),
    prove(WideDiamond, "FLOW-37", "deadlock-free where n <= B, for all of these",
          for_all=("n", "B"), lemmas=("FLOW-39",)),
    expect(FilteringWideDiamond, "FLOW-39", "violated", "a branch that drops is ahead of the other",
           n=2, B=2),
    expect(FilteringDiamond, "FLOW-37", "violated",
           "a branch that drops everything ends in a deadlock, with any B", n=(2, 3), B=ONE_TO_SIX),
)

UNSEEN = {
    "FLOW-34":
        "Two stages with different frame sizes are a design with its numbers, which checkvalve "
        "check decides.",
    "FLOW-39":
        "The number of elements on each of two branches is inside the stages along them.",
    "FLOW-37":
        "Branches that split and join again are a design, which checkvalve check decides.",
}
