"""A stage between two links: one of one, several of one, one of several, other frames.

Theory of operation
-------------------
A stage gets elements by one link and makes others that go by the next. The two loops of credits are
apart: C1 slots and batches of b1 above, C2 and b2 below. The stage makes n outputs of m inputs.

    A --> [ C1 ] --> in hand: up to m inputs, or up to n outputs --> [ C2 ] --> the sink
      <-- credits                                                <-- credits

The mail's own three cases are "Hell", "o Worl" and "d!" with its end of line (m = 3, n = 1), two
lines in one message (m = 1, n = 2), and two messages cut anew into three lines (m = 2, n = 3). Each
link keeps its own tokens if the stage does two things: it takes an input only while no output waits
in its hand, and it frees a slot when the element is *taken*. Then the chain holds no more than
C1 + C2 elements and those in hand, m or n; and it is live exactly if both links are by
themselves, b1 <= C1 and b2 <= C2, whatever m and n. (If slots are freed only with the output it is
deadlocked if m > C1: ``frames``, FLOW-35.)

Source: the mail "back pressure"; 003#composing, 003#frames.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..expectations import expect, prove
from ..notation import (
    MUST, SHOULD, Machine, action, always, assume, const, integer, never_stuck, require,
)
from ..notation.views import Seen, see, shown
from ..refinements import refines, refused
from .link_seen import Carrying
from .observed_link import ObservedLink

__all__ = ["EXPECTATIONS", "AboveSeen", "BelowSeen", "Composed", "Flooding", "Hasty", "Greedy",
           "Sound"]

FRAMES = "003#composing, 003#frames"


class Composed(Machine):
    """Two links and a stage; the source always has data, and the sink is always ready."""

    C1 = const(1, at_least=1)           # slots at the stage
    b1 = const(1, at_least=1)           # freed slots that are announced together
    C2 = const(1, at_least=1)           # slots at the sink
    b2 = const(1, at_least=1)
    m = const(1, at_least=1)            # inputs of a frame
    n = const(1, at_least=1)            # outputs of a frame

    P1 = integer(0, C1, init=C1)        # credits at the source
    N1 = integer(0, C1)                 # elements at the stage, or on their way
    F1 = integer(0, C1)                 # slots freed and not announced
    inputs = integer(0, m - 1)          # in hand
    outputs = integer(0, n)             # in hand, and not sent
    P2 = integer(0, C2, init=C2)        # credits at the stage
    N2 = integer(0, C2)                 # elements at the sink, or on their way
    F2 = integer(0, C2)

    @action(fair=True)
    def send(self) -> None:
        """The source sends an element."""
        require(self.P1 > 0)
        self.P1 -= 1
        self.N1 += 1

    @action(fair=True)
    def take(self) -> None:
        """The stage takes an element in hand; its slot is free."""
        require(self.N1 > 0 and self.may_take())
        self.N1 -= 1
        self.F1 += 1
        self.into_hand()

    def may_take(self) -> bool:
        """True while no output waits in its hand."""
        return self.outputs == 0

    def into_hand(self) -> None:
        """The last input of a frame makes the outputs."""
        if self.inputs + 1 == self.m:
            self.inputs = 0
            self.outputs += self.n
        else:
            self.inputs += 1

    @action(fair=True)
    def announce(self) -> None:
        """A batch of slots is free above."""
        require(self.F1 >= self.b1)
        self.F1 -= self.b1
        self.P1 += self.b1

    @action(fair=True)
    def put(self) -> None:
        """The stage sends an output."""
        require(self.outputs > 0 and self.may_put())
        self.outputs -= 1
        self.P2 = max(0, self.P2 - 1)
        self.N2 += 1

    def may_put(self) -> bool:
        """True if the stage has a credit of the link below."""
        return self.P2 > 0

    @action(fair=True)
    def consume(self) -> None:
        """The sink has processed an element."""
        require(self.N2 > 0)
        self.N2 -= 1
        self.F2 += 1

    @action(fair=True)
    def announce_below(self) -> None:
        """A batch of slots is free below."""
        require(self.F2 >= self.b2)
        self.F2 -= self.b2
        self.P2 += self.b2

    @always("FLOW-64", MUST, "In each link of a chain, credits, elements and freed slots that are "
            "not announced always total the slots of that link.", source=FRAMES)
    def links_are_apart(self) -> bool:
        """The same whatever its stages make of elements."""
        return self.P1 + self.N1 + self.F1 == self.C1 and self.P2 + self.N2 + self.F2 == self.C2

    @always("FLOW-65", SHOULD,
            "Outside the buffers of its links, a stage holds inputs of at most one frame or "
            "outputs of at most one frame, and never both.",
            source=FRAMES)
    def hand_is_bounded(self) -> bool:
        """A chain holds the slots of its links, and a frame for each stage."""
        return self.outputs <= self.n and (self.inputs == 0 or self.outputs == 0)

    @never_stuck("FLOW-66", SHOULD,
                 "Two links with a stage between never deadlock while the source has data and "
                 "the sink is ready, whatever frames the stage reads and writes, if neither "
                 "link's batch of credits exceeds its slots.",
                 source=FRAMES)
    def goes_on(self) -> bool:
        """False: there is always more to send."""
        return False


class Sound(Composed):
    """Both links are live by themselves: exactly then the chain is."""

    @assume
    def batches_fit(self) -> bool:
        """True if a batch fits on each link, as for one link (FLOW-3)."""
        return self.b1 <= self.C1 and self.b2 <= self.C2


class Greedy(Composed):
    """A stage that takes the next input while outputs wait in its hand."""

    outputs = integer(0, 2 * Composed.n)

    def may_take(self) -> bool:
        """True as long as this model can count."""
        return self.outputs <= self.n


class Flooding(Composed):
    """A stage that sends its outputs without credits, as soon as they are made."""

    P2 = integer(0, 2 * Composed.C2, init=Composed.C2)
    N2 = integer(0, 2 * Composed.C2)
    F2 = integer(0, 2 * Composed.C2)

    def may_put(self) -> bool:
        """True as long as this model can count."""
        return self.P2 + self.N2 + self.F2 < 2 * self.C2


class Hasty(Composed):
    """A stage that announces a slot while its element is in it."""

    P1 = integer(0, 2 * Composed.C1, init=Composed.C1)
    N1 = integer(0, 2 * Composed.C1)
    F1 = integer(0, 2 * Composed.C1)

    @action(fair=True)
    def announce(self) -> None:
        """Announce a slot whenever there is an element, as if it were taken already."""
        require(self.N1 > 0 and self.P1 + self.N1 + self.F1 < 2 * self.C1)
        self.P1 += 1


class AboveSeen(Carrying[Composed]):
    """The link above; its messages arrive when they are sent."""

    def begins(self, machine: Composed) -> Iterable[Seen]:
        """The source has an element."""
        return [see("offer", count=1)]

    @shown
    def send(self, before: Composed, after: Composed) -> Iterable[Seen]:
        return see("sends"), see("offer", count=1), self.arrived()

    @shown
    def take(self, before: Composed, after: Composed) -> Seen:
        return self.processed()

    @shown
    def announce(self, before: Composed, after: Composed) -> Iterable[Seen]:
        count = after.P1 - before.P1
        return see("grants", count=count), see("permit", count=count)

    def asked(self, machine: Composed) -> Iterable[Seen]:
        """Report each end as idle that can do nothing more; a stage has what has arrived."""
        if "send" not in self.enabled:
            yield see("sender_rests")
        if "announce" not in self.enabled:
            yield see("receiver_rests")
        if machine.outputs == 0:
            yield from self.missing("take")


class BelowSeen(Carrying[Composed]):
    """The link below; its messages arrive when they are sent."""

    @shown
    def put(self, before: Composed, after: Composed) -> Iterable[Seen]:
        return see("offer", count=1), see("sends"), self.arrived()

    @shown
    def consume(self, before: Composed, after: Composed) -> Seen:
        return self.processed()

    @shown
    def announce_below(self, before: Composed, after: Composed) -> Iterable[Seen]:
        count = after.P2 - before.P2
        return see("grants", count=count), see("permit", count=count)

    def asked(self, machine: Composed) -> Iterable[Seen]:
        """Report the sink as idle if it has no batch to announce; it has what has arrived."""
        if "announce_below" not in self.enabled:
            yield see("receiver_rests")
        yield from self.missing("consume")


FRAMED: dict[str, Any] = {"m": (1, 2, 3), "n": (1, 2, 3)}
SIZES: dict[str, Any] = {"C1": (1, 2), "b1": (1, 2), "C2": (1, 2), "b2": (1, 2)}
SMALL: dict[str, Any] = {"C1": 2, "b1": (1, 2), "C2": (1, 2), "b2": 1, "m": (1, 3), "n": (1, 2)}
ALL = ("C1", "b1", "C2", "b2", "m", "n")

ABOVE = refines(Composed, ObservedLink, "the link above keeps its own rules", shows=AboveSeen,
                seen_by={"C": "C1", "b": "b1", "K": 1}, **SMALL)
BELOW = refines(Composed, ObservedLink, "the link below keeps its own rules", shows=BelowSeen,
                seen_by={"C": "C2", "b": "b2", "K": 1}, **SMALL)

EXPECTATIONS = (
    expect(Composed, "FLOW-66", "violated", "deadlocked exactly where one of its links is by "
           "itself",
           where="b1 > C1 or b2 > C2", **SIZES, **FRAMED),
    expect(Composed, "FLOW-65", "holds", "a stage has one frame in hand", **SIZES, **FRAMED),
    prove(Composed, "FLOW-64", "each link keeps its tokens, for all sizes and frames",
          for_all=ALL),
    prove(Composed, "FLOW-65", "one frame in hand, for all sizes and frames", for_all=ALL,
          lemmas=("FLOW-64",)),
    prove(Sound, "FLOW-66", "live where both links are, for all sizes and frames", for_all=ALL,
          lemmas=("FLOW-64", "FLOW-65")),
    expect(Greedy, "FLOW-65", "violated", "inputs are taken while outputs wait", m=1, n=(1, 2)),
    expect(Flooding, "FLOW-64", "violated", "outputs go without credits", m=1, n=2),
    expect(Hasty, "FLOW-64", "violated", "a slot is announced while it is taken", m=2, n=1),
    ABOVE,
    BELOW,
    refused(Flooding, "FLOW-6", "outputs go without credits", like=BELOW, C1=2, b1=1, C2=1, b2=1,
            m=1, n=2),
    refused(Hasty, "FLOW-7", "a slot is announced while it is taken", like=ABOVE, C1=1, b1=1,
            C2=1, b2=1, m=2, n=1),
)

UNSEEN = {
    "FLOW-65":
        "The elements that a stage has in hand are inside of it; its links show what it has taken "
        "and sent.",
    "FLOW-66":
        "A deadlocked chain shows nothing; that each of its links keeps its rules does.",
}
