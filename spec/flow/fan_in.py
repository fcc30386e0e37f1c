"""Several senders and one buffer: how many credits each may begin with.

Theory of operation
-------------------
n senders push to one receiver with C slots, each with credits of its own. The one of which an
element was processed gets the credit back, so each sender's link keeps its tokens as ever. All of
them together fit exactly if

    n c <= C            for c credits each at first

so a receiver has to know how many senders there are, or let no more in than that, or begin with no
credits and have its senders ask (003#E11). The mail says that pushing spares the receiver from
knowing them.

The same condition settles what the mail's example leaves open (003#E18): its clients use TCP, "so
backpressure is granted", and its master drops from the front of a full queue. A master that always
reads grants no backpressure, and one that stops reading at a full queue drops nothing. Let each of
n clients have s jobs in the queue, its *share*, and stop reading from it there. If n s <= C
nothing is ever dropped: TCP stops each client in time. If n s > C both happen, for two different
reasons: a client that is too fast alone is stopped by TCP, and the jobs that too many bring
together are dropped.

What is proved here for up to three senders is proved in `sums` for all numbers of them.

Source: the mail "back pressure"; 003#workers, 003#example, 003#E11, 003#E18.
"""

from __future__ import annotations

from typing import Any

from ..expectations import expect, prove
from ..notation import (
    MUST, SHOULD, Machine, action, always, array, assume, const, integer, require, upto,
)

__all__ = ["EXPECTATIONS", "AlwaysReading", "FanIn", "Joining", "Keeping", "Knowing"]

WORKERS, EXAMPLE = "003#workers", "003#example"


class FanIn(Machine):
    """n senders; elements under way count as waiting, for they were sent."""

    n = const(2, at_least=1)            # senders
    c = const(1, at_least=1)            # credits that each begins with, or its share
    C = const(2, at_least=1)            # slots

    P = array(upto(n), integer(0, 2 * c, init=c))   # credits at each sender, unused
    N = array(upto(n), integer(0, 2 * c))           # its elements that wait

    @action(fair=True, sender=upto(n))
    def send(self, sender: int) -> None:
        """A credit is used to send an element."""
        require(self.P[sender] > 0 and self.N[sender] < 2 * self.c)
        self.P[sender] -= 1
        self.N[sender] += 1

    @action(fair=True, sender=upto(n))
    def free(self, sender: int) -> None:
        """An element has been processed, and its sender gets the credit back."""
        require(self.N[sender] > 0)
        self.N[sender] -= 1
        self.give_back(sender)

    def give_back(self, sender: int) -> None:
        """Give the credit to the sender of the element."""
        self.P[sender] += 1

    @always("FLOW-61", MUST, "For each of several senders, unused credits plus elements sent and "
            "not processed always total the credits that it began with.",
            source=f"{WORKERS}; 003#E11")
    def each_link_keeps_its_tokens(self) -> bool:
        """Credits, and elements that are sent and not processed; whatever the others do."""
        return all(self.P[sender] + self.N[sender] == self.c for sender in upto(self.n))

    @always("FLOW-62", SHOULD,
            "The elements that several senders have sent and their receiver has not processed "
            "fit its slots, if the credits with which all senders began are together at most "
            "these slots.",
            source=f"{WORKERS}, {EXAMPLE}; 003#E11, 003#E18")
    def all_of_it_fits(self) -> bool:
        """No sender with a credit finds all slots taken: else one is dropped, or overrun."""
        return sum(self.N) <= self.C


class Knowing(FanIn):
    """A receiver that lets in as many senders as there is room for: exactly then it is bounded."""

    @assume
    def all_fit(self) -> bool:
        """True if there are slots for all credits together."""
        return self.n * self.c <= self.C


class Keeping(FanIn):
    """The credit goes to the first sender, whichever has sent."""

    def give_back(self, sender: int) -> None:
        """Give it to the first sender, as far as this model counts."""
        self.P[0] = min(2 * self.c, self.P[0] + 1)


class Joining(FanIn):
    """A sender may come again, with new credits, and the receiver does not know it."""

    @action(sender=upto(FanIn.n))
    def join(self, sender: int) -> None:
        """The sender gets new credits, as if it were another one."""
        require(self.P[sender] + self.N[sender] <= self.c)
        self.P[sender] += self.c


class AlwaysReading(FanIn):
    """A master that reads every element: a credit goes back when the element arrives."""

    @action(fair=True, sender=upto(FanIn.n))
    def send(self, sender: int) -> None:
        """No sender has to wait; the model ends somewhere."""
        require(self.N[sender] < 2 * self.c)
        self.N[sender] += 1

    @action(fair=True, sender=upto(FanIn.n))
    def free(self, sender: int) -> None:
        """An element is processed; there is no credit to give back."""
        require(self.N[sender] > 0)
        self.N[sender] -= 1


SMALL: dict[str, Any] = {"n": (1, 2, 3), "c": (1, 2, 3), "C": range(1, 10)}

EXPECTATIONS = (
    expect(FanIn, "FLOW-62", "violated",
           "003#E11: senders that begin with c credits each fit exactly where n c <= C",
           where="n * c > C", **SMALL),
    expect(FanIn, "FLOW-61", "holds", "each link keeps its tokens", n=(1, 2, 3), c=(1, 2), C=2),
    *(prove(Knowing, rule, about, for_all=("c", "C"), lemmas=lemmas, n=(1, 2, 3))
      for rule, about, lemmas in (
        ("FLOW-61", "each link keeps its tokens, for all c and C", ()),
        ("FLOW-62", "all fit where n c <= C, for all c and C", ("FLOW-61",)),
      )),
    expect(Keeping, "FLOW-61", "violated", "a credit that goes to another sender", n=2, c=1, C=2),
    expect(Joining, "FLOW-62", "violated",
           "003#E11: a sender that joins unknown to the receiver overruns it", n=(1, 2), c=(1, 2),
           C=lambda n, c: (n * c,)),
    expect(AlwaysReading, "FLOW-62", "violated",
           "003#E18: a master that always reads grants no backpressure, and has to drop",
           n=(1, 2), c=(1, 2), C=lambda n, c: range(1, n * c + 1)),
)
