"""More values than can be sent on: roll them up, or batch them.

Theory of operation
-------------------
A stage gets values and sends on what it has made of them, one output for each credit from
downstream. A value has weight 1, an output the weight of all that it stands for.

*Rolling up* (the mail's conflate): the stage always takes the next value, and holds one summary of
all that have come since the last output. What it holds has a size of one, whatever its weight: a
count, a sum, a maximum. So it never makes its source wait and never grows; and nothing is missing,
only with less detail. A stage that keeps the values in a list instead does not make its source wait
either, and grows without end.

*Batching*: the same, up to a weight of m. A full batch that cannot go makes the source wait.

    received = sum of the weights sent + weight held

*Prefetching*: a buffer of B outputs behind the stage asks for the next one before it is needed.
What is taken from it was rolled up when it went into the buffer, and says nothing of what has come
since: so an output that a clock takes each second stands for that second exactly if B = 0
(FLOW-145). Streams with stages that run apart have such buffers without being asked
(libraries#prefetch).

Source: the mail "back pressure"; 003#dropping, 003#frames.
"""

from __future__ import annotations

from typing import Any

from ..expectations import expect, prove
from ..notation import (
    CLAIM, MUST, Machine, action, always, boolean, const, fifo, integer, never_stuck, require,
)

__all__ = [
    "EXPECTATIONS", "Appending", "Batching", "Forgetting", "HoldingUp", "KeepingAList", "Losing",
    "Overfilling", "Prefetched", "Summaries", "Unheard", "UnheardBatching",
]

ROLLED = "003#rolling"


class Summaries(Machine):
    """A stage that rolls up; K values come in all."""

    K = const(4, at_least=1)

    received = integer(0, K)
    sent = integer(0, K)                # the weights of all outputs
    held = integer(0, K)                # the weight of the summary that is held
    size = integer(0, K)                # its size

    @action(fair=True)
    def take(self) -> None:
        """One more value comes from upstream."""
        require(self.received < self.K and self.may_take())
        self.received += 1
        self.held += 1
        self.keep()

    def keep(self) -> None:
        """Put the value into the summary."""
        self.size = 1

    def may_take(self) -> bool:
        """True: however much the stage holds already."""
        return True

    @action(fair=True)
    def emit(self) -> None:
        """A credit comes from downstream, and an output goes."""
        require(self.may_emit())
        self.sent += self.outgoing()
        self.held = 0
        self.size = 0

    def may_emit(self) -> bool:
        """True as soon as the stage holds a value."""
        return self.held > 0

    def outgoing(self) -> int:
        """The weight that the output claims to stand for."""
        return self.held

    @always("FLOW-57", MUST,
            "Every value that a stage has taken is part of an output that it has sent, or of "
            "what it holds.",
            source=ROLLED)
    def nothing_is_missing(self) -> bool:
        """Counted by weight, at every instant."""
        return self.received == self.sent + self.held

    @always("FLOW-58", MUST, "A stage that rolls up holds at most one summary.", source=ROLLED)
    def it_does_not_grow(self) -> bool:
        """The size does not depend on what the summary stands for."""
        return self.size <= 1


class Unheard(Summaries):
    """The same stage while nothing goes downstream: no credit comes."""

    @action
    def emit(self) -> None:
        """Never: there is no credit for an output."""
        require(False)

    @never_stuck("FLOW-59", MUST,
                 "A stage that rolls up never makes its source wait, even while no credit for "
                 "an output comes.",
                 source=ROLLED)
    def it_takes_all(self) -> bool:
        """True if no value is left to come."""
        return self.received == self.K


class HoldingUp(Unheard):
    """A stage that rolls one value up, and then waits for its credit."""

    def may_take(self) -> bool:
        """True while the stage holds nothing."""
        return self.held == 0


class KeepingAList(Unheard):
    """A stage that lists values in two places in the place of rolling them up."""

    def keep(self) -> None:
        """Each value takes one place."""
        self.size += 1

    def may_take(self) -> bool:
        """True while there is a place."""
        return self.size < 2


class UnheardBatching(Unheard):
    """A stage that batches m values at most, while nothing goes downstream."""

    m = const(2, at_least=1)

    def may_take(self) -> bool:
        """True while its batch is not full."""
        return self.held < self.m


class Appending(Summaries):
    """A list of all values in the place of a summary."""

    def keep(self) -> None:
        """Each value takes one place."""
        self.size += 1


class Forgetting(Summaries):
    """An output stands for one value, however many have come."""

    def outgoing(self) -> int:
        """The weight of the last value; those before it are missing."""
        return 1


class Losing(Summaries):
    """A value that comes while a summary is held takes its place."""

    @action(fair=True)
    def take(self) -> None:
        """The value replaces the summary."""
        require(self.received < self.K)
        self.received += 1
        self.held = 1
        self.size = 1


class Batching(Summaries):
    """A batch of m values at most; a full one makes its source wait."""

    m = const(2, at_least=1)

    def keep(self) -> None:
        """Each value takes its own place."""
        self.size = self.held

    def may_take(self) -> bool:
        """True while the batch is not full."""
        return self.held < self.m

    @always("FLOW-60", MUST,
            "A stage that batches never holds more values than a full batch has.",
            source=ROLLED)
    def a_batch_is_bounded(self) -> bool:
        """Counted by number; a full batch takes nothing until it goes."""
        return self.held <= self.m


class Overfilling(Batching):
    """A stage that compares with > instead of >=: a full batch takes one more."""

    def may_take(self) -> bool:
        """True also when the batch is full already."""
        return self.held <= self.m


class Prefetched(Summaries):
    """A stage that rolls up, a buffer of B outputs behind it, and a clock that takes them."""

    B = const(0)                        # places of the buffer

    buffer = fifo(integer(0, Summaries.K), B + 1)
    since = integer(0, Summaries.K)     # values that have come since the last output was taken
    stale = boolean()                   # an output that was taken stood for something else

    @action(fair=True)
    def take(self) -> None:
        """One more value comes from upstream, and counts since the last output that was taken."""
        super().take()
        self.since += 1

    @action(fair=True)
    def emit(self) -> None:
        """An output goes into the buffer as soon as there is a place."""
        require(len(self.buffer) < self.B and self.may_emit())
        self.buffer.push(self.held)
        super().emit()

    @action
    def tick(self) -> None:
        """The clock takes the oldest output, or what the stage holds if there is no buffer."""
        if self.B == 0:
            require(self.held > 0)
            self.stale = self.stale or self.held != self.since
            super().emit()
        else:
            require(len(self.buffer) > 0)
            output = self.buffer.pop()
            self.stale = self.stale or output != self.since
        self.since = 0

    @always("FLOW-145", CLAIM,
            "An output stands, when it is taken, for exactly the values that came since the "
            "previous output was taken.",
            source="003#rolling; libraries#prefetch")
    def outputs_are_fresh(self) -> bool:
        """True if no output that was taken had been made earlier."""
        return not self.stale


FEW: dict[str, Any] = {"K": (1, 2, 3, 4)}
BATCHES: dict[str, Any] = {"K": (1, 2, 3, 4), "m": (1, 2, 3)}

EXPECTATIONS = (
    expect(Summaries, "FLOW-57", "holds", "nothing is missing in what is rolled up", **FEW),
    expect(Summaries, "FLOW-58", "holds", "a summary does not grow", **FEW),
    expect(Unheard, "FLOW-59", "holds", "rolling up makes no source wait", **FEW),
    prove(Summaries, "FLOW-57", "nothing is missing, for any number of values", for_all=("K",)),
    prove(Summaries, "FLOW-58", "a summary does not grow, for any number", for_all=("K",),
          lemmas=("FLOW-57",)),
    expect(Losing, "FLOW-57", "violated", "a value that takes the place of another", K=2),
    expect(Appending, "FLOW-58", "violated", "a list grows with each value that cannot go", K=2),
    expect(Prefetched, "FLOW-57", "holds", "nothing is missing in what was fetched early", K=4,
           B=(0, 1, 2)),
    expect(Prefetched, "FLOW-145", "violated", "what was fetched early is old, exactly where there "
           "is a buffer and more than one value", where="B > 0 and K > 1", K=(1, 2, 3, 4),
           B=(0, 1, 2)),
    expect(Batching, "FLOW-57", "holds", "nothing is missing in batches", **BATCHES),
    expect(Batching, "FLOW-60", "holds", "a batch is bounded", **BATCHES),
    prove(Batching, "FLOW-57", "nothing is missing in batches, for any number",
          for_all=("K", "m")),
    prove(Batching, "FLOW-60", "a batch is bounded, for all of these", for_all=("K", "m"),
          lemmas=("FLOW-57",)),
    expect(UnheardBatching, "FLOW-59", "violated",
           "a full batch that cannot go makes its source wait", where="m < K", **BATCHES),
    expect(HoldingUp, "FLOW-59", "violated", "a stage that waits where it could roll up", K=2),
    expect(KeepingAList, "FLOW-59", "violated", "a list that is full", K=3),
    expect(Overfilling, "FLOW-60", "violated", "a full batch takes one more", K=2, m=1),
)

UNSEEN = {
    "FLOW-145":
        "It is false of stages with a buffer behind them, which streams have, so no implementation "
        "is to keep it.",
}
