"""A receiver with two marks: above the one it says stop, and at the other go.

Theory of operation
-------------------
A receiver holds what has come and was not taken yet. When it holds more than its *high mark* H it
tells its sender to stop, and when it holds no more than its *low mark* L, to go on. Between the two
it says nothing, so that a sender is not told to stop and to go at each element. What a sender has
sent before it hears of a stop still comes: R elements at most, which is for the network to say
(``squelch`` has the numbers for a delay and a rate). So the receiver needs room for H + 1 + R.

Both signals matter. If stop comes late, or never, the receiver is overrun; if go is lost, all is at
rest, with nothing to take and nobody who sends.

Nobody is overtaken here: what is under way counts as held, and a signal is heard at once or R
elements later.

Source: the mail "back pressure"; 003#dropping, 003#E14.
"""

from __future__ import annotations

from typing import Any

from ..expectations import expect, prove
from ..notation import (
    MUST, Machine, action, always, assume, boolean, const, integer, never_stuck, require,
)

__all__ = [
    "EXPECTATIONS", "CallingEarly", "CallingLate", "GoingOnEarly", "KeepingQuiet", "Marks",
    "Unheard",
]

DROPPING = "003#dropping"


class Marks(Machine):
    """The receiver, and the sender as far as it has heard."""

    H = const(2, at_least=1)            # the high mark
    L = const(1)                        # the low mark
    R = const(1)                        # elements that may come after a stop was said

    held = integer(0, H + R + 3)
    stopped = boolean(False)            # the receiver has said so, and not go since
    late = integer(0, R)                # elements that have come since

    @assume
    def low_is_low(self) -> bool:
        """The low mark is not above the high one."""
        return self.L <= self.H

    @action(fair=True)
    def arrive(self) -> None:
        """An element comes, and the receiver says stop if that is too much."""
        require(not self.stopped or self.late < self.R)
        require(self.held < self.H + self.R + 3)
        self.held += 1
        if self.stopped:
            self.late += 1
        elif self.is_too_much():
            self.stopped = True

    @action(fair=True)
    def take(self) -> None:
        """An element is taken, and the receiver says go if little enough is left."""
        require(self.held > 0)
        self.held -= 1
        if self.stopped and self.is_little_enough():
            self.stopped = False
            self.late = 0

    def is_too_much(self) -> bool:
        """When it says stop."""
        return self.held > self.H

    def is_little_enough(self) -> bool:
        """When it says go."""
        return self.held <= self.L

    @always("FLOW-110", MUST,
            "A receiver with marks holds no more than its high mark, one element, and what was "
            "under way when it said stop.", source=f"{DROPPING}; 003#E14")
    def it_fits(self) -> bool:
        """So much room it needs."""
        return self.held <= self.H + 1 + self.late

    @never_stuck("FLOW-111", MUST, "A sender that was told to stop is told to go on.",
                 source=DROPPING)
    def goes_on(self) -> bool:
        """There is always more to send."""
        return False


class CallingLate(Marks):
    """It says stop one element later."""

    def is_too_much(self) -> bool:
        """Two above the mark."""
        return self.held > self.H + 1


class Unheard(Marks):
    """It never says stop."""

    def is_too_much(self) -> bool:
        """Whatever it holds; the model ends somewhere."""
        return False


class CallingEarly(Marks):
    """It says stop at the mark, and not above it."""

    def is_too_much(self) -> bool:
        """Nothing is overrun by that."""
        return self.held >= self.H


class KeepingQuiet(Marks):
    """It never says go."""

    def is_little_enough(self) -> bool:
        """The signal to go on is lost, or was never sent."""
        return False


class GoingOnEarly(Marks):
    """It says go as soon as anything was taken."""

    def is_little_enough(self) -> bool:
        """Above the low mark."""
        return self.held <= self.H


GRID: dict[str, Any] = {"H": (1, 2, 3), "R": range(3), "L": lambda H: range(H + 1)}

EXPECTATIONS = (
    expect(Marks, "FLOW-110", "holds", "what comes has room", **GRID),
    expect(Marks, "FLOW-111", "holds", "whoever was stopped goes on", **GRID),
    prove(Marks, "FLOW-110", "what comes has room, for all marks and all delays",
          for_all=("H", "L", "R")),
    expect(CallingLate, "FLOW-110", "violated", "an element too many has come before stop is said",
           H=2, L=1, R=(0, 1)),
    expect(Unheard, "FLOW-110", "violated", "a receiver that never says stop is overrun", H=2, L=1,
           R=(0, 1)),
    expect(KeepingQuiet, "FLOW-111", "violated", "a sender that is never told to go on stops for "
           "ever", H=2, L=1, R=(0, 1)),
)
