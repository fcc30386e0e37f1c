"""An echo: a client that writes all it has before it reads.

Theory of operation
-------------------
The client writes W elements, one after the other, and each write waits for a free slot at the
server. The server answers each element by one, and each answer waits for a free slot on the way
back. The client reads when it has written all.

    client --W--> [ S: the server's buffer ] --> [ h: in its hand ] --+
      ^                                                               |
      +-- reads --- [ R: at the client ] <-- [ T: the server's output ] <-+

Every element under way is in one of four places. While the client writes, nothing leaves
them, so they fill up: the echo deadlocks exactly if W > S + h + T + R. Over TCP the places
are the send and receive buffers of both sides, which are easily overlooked, and the example of the
mail, 2048 elements and a buffer of 1024, says tacitly that there are no others (003#E20).

The cure is not a larger buffer but to read while writing: ``ReadingMeanwhile``.

Source: the mail "back pressure"; 003#composing, 003#E20.
"""

from __future__ import annotations

from typing import Any

from ..expectations import expect, prove
from ..notation import (
    MUST, Machine, action, always, array, assume, const, integer, never_stuck, require, upto,
)

__all__ = ["EXPECTATIONS", "Echo", "Overrun", "ReadingMeanwhile", "RoomyEcho"]

COMPOSING = "003#composing"


class Echo(Machine):
    """One client and one server. The places are numbered along the way, 0 .. 3."""

    W = const(3, at_least=1)            # elements that the client writes
    S = const(1, at_least=1)            # the server's input buffer
    h = const(1, at_most=1)             # elements in the server, not yet answered
    T = const(1)                        # its output buffer
    R = const(0)                        # elements that the client's side takes before it reads

    unwritten = integer(0, W, init=W)
    held = array(upto(4), integer(0, W))
    read = integer(0, W)

    @action(fair=True)
    def write(self) -> None:
        """The next element, if the server has room for it."""
        require(self.unwritten > 0 and self.held[0] < self.S)
        self.unwritten -= 1
        self.held[0] += 1

    @action(fair=True, place=upto(4))
    def move(self, place: int) -> None:
        """An element moves to the next place that exists, or is read."""
        require(self.held[place] > 0)
        target = self.after(place)
        if target == 4:
            require(self.reads())
            self.read += 1
        else:
            require(self.held[target] < self.room(target))
            self.held[target] += 1
        self.held[place] -= 1

    def after(self, place: int) -> int:
        """The next place with any room at all; 4: the client."""
        target = 4
        for other in range(3):
            if 3 - other > place and self.room(3 - other) > 0:
                target = 3 - other
        return target

    def room(self, place: int) -> int:
        """Number of elements that a place can hold."""
        return (self.S if place == 0 else self.h if place == 1
                else self.T if place == 2 else self.R)

    def reads(self) -> bool:
        """True when the client has written all."""
        return self.unwritten == 0

    @never_stuck("FLOW-30", MUST,
                 "An echo client that writes all before it reads never deadlocks before it has "
                 "all answers, if what it writes fits the server's input buffer, its hand, its "
                 "output buffer and the client's input buffer together.",
                 source=f"{COMPOSING}; 003#E20")
    def ends_well(self) -> bool:
        """True if the client has read as many elements as it wrote."""
        return self.read == self.W

    @always("FLOW-31", MUST, "Every element is unwritten, in one of the four buffers, or read, "
            "and no buffer holds more than its size.", source=COMPOSING)
    def none_is_lost(self) -> bool:
        """The sum over all places is W, and each place is within its size."""
        return self.unwritten + sum(self.held) + self.read == self.W and all(
            self.held[place] <= self.room(place) for place in range(4))


class RoomyEcho(Echo):
    """An echo with places for all that the client writes: exactly then it is live."""

    @assume
    def all_fits(self) -> bool:
        """True if all that is written fits in the places."""
        return self.W <= self.S + self.h + self.T + self.R


class Overrun(Echo):
    """The client does not wait for a free slot."""

    @action(fair=True)
    def write(self) -> None:
        """The next element is written, even if the server has no room for it."""
        require(self.unwritten > 0)
        self.unwritten -= 1
        self.held[0] += 1


class ReadingMeanwhile(Echo):
    """The client reads while it writes, as one with two threads, or with credits, does."""

    def reads(self) -> bool:
        """True: the client reads while it writes as well."""
        return True


GRID: dict[str, Any] = {
    "W": range(1, 9), "S": range(1, 4), "h": (0, 1), "T": range(3), "R": range(3)}
ALL = ("W", "S", "h", "T", "R")

EXPECTATIONS = (
    expect(Echo, "FLOW-30", "violated", "003#E20: a write of twice the buffer, and nothing else",
           W=2, S=1, h=0, T=0, R=0),
    expect(Echo, "FLOW-30", "violated", "deadlocked exactly where W > S + h + T + R",
           where="W > S + h + T + R", **GRID),
    prove(RoomyEcho, "FLOW-30", "deadlock-free where W <= S + h + T + R, for all of these",
          for_all=ALL, lemmas=("FLOW-31",)),
    prove(Echo, "FLOW-31", "no element is lost, and no place overrun", for_all=ALL),
    expect(Overrun, "FLOW-31", "violated", "a client that does not wait overruns the server", W=2),
    prove(ReadingMeanwhile, "FLOW-30", "deadlock-free if the client reads meanwhile", for_all=ALL,
          lemmas=("FLOW-31",)),
)

UNSEEN = {
    "FLOW-30":
        "It is about a client and a server together; checkvalve check decides it for the design, "
        "whose buffers no implementation reports.",
    "FLOW-31":
        "The places of an echo are buffers of two operating systems, which cannot be counted at "
        "one instant.",
}
