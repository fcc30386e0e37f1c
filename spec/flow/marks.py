"""A receiver with two marks: it says stop above the high one, and go at the low one.

Theory of operation
-------------------
A receiver holds what has come and was not taken yet. When it holds more than its *high mark* H it
asks its sender to stop, and when it holds no more than its *low mark* L, to resume. Between the two
it says nothing, so that a sender is not stopped and resumed at each element. What a sender has
sent before it hears of a stop still comes: R elements at most, which depends on the network
(``squelch`` has the numbers for a delay and a rate). So the receiver needs room for H + 1 + R.

Both signals matter. If stop comes late, or never, the receiver is overrun; if go is lost, the
system is deadlocked, with nothing to take and a sender that does not send.

No message overtakes another here: elements under way count as held, and a signal is heard at once
or R elements later.

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
        """True if the low mark is not above the high one."""
        return self.L <= self.H

    @action(fair=True)
    def arrive(self) -> None:
        """An element comes, and the receiver says stop if it then holds too much."""
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
        """True if the receiver has to say stop."""
        return self.held > self.H

    def is_little_enough(self) -> bool:
        """True if the receiver has to say go."""
        return self.held <= self.L

    @always("FLOW-110", MUST, "A receiver holds at most its high mark H, one element more, and "
            "those that came after it had said stop.", source=f"{DROPPING}; 003#E14")
    def it_fits(self) -> bool:
        """The receiver needs so much room."""
        return self.held <= self.H + 1 + self.late

    @never_stuck("FLOW-111", MUST,
                 "Sender and receiver are never both blocked, the sender by a stop and the "
                 "receiver because it holds nothing.",
                 source=DROPPING)
    def goes_on(self) -> bool:
        """False: there is always more to send."""
        return False


class CallingLate(Marks):
    """A receiver that says stop one element too late."""

    def is_too_much(self) -> bool:
        """True only two above the mark."""
        return self.held > self.H + 1


class Unheard(Marks):
    """A receiver that never says stop."""

    def is_too_much(self) -> bool:
        """False, whatever it holds; the model ends somewhere."""
        return False


class CallingEarly(Marks):
    """A receiver that says stop at the mark, and not above it."""

    def is_too_much(self) -> bool:
        """True one element early; no element is overrun by that."""
        return self.held >= self.H


class KeepingQuiet(Marks):
    """A receiver that never says go."""

    def is_little_enough(self) -> bool:
        """False: the signal to resume is lost, or was never sent."""
        return False


class GoingOnEarly(Marks):
    """A receiver that says go as soon as an element was taken."""

    def is_little_enough(self) -> bool:
        """True above the low mark already."""
        return self.held <= self.H


GRID: dict[str, Any] = {"H": (1, 2, 3), "R": range(3), "L": lambda H: range(H + 1)}

EXPECTATIONS = (
    expect(Marks, "FLOW-110", "holds", "what comes finds a free slot", **GRID),
    expect(Marks, "FLOW-111", "holds", "a stopped sender is resumed", **GRID),
    prove(Marks, "FLOW-110", "what comes finds a free slot, for all marks and all delays",
          for_all=("H", "L", "R")),
    expect(CallingLate, "FLOW-110", "violated", "an element too many has come before stop is said",
           H=2, L=1, R=(0, 1)),
    expect(Unheard, "FLOW-110", "violated", "a receiver that never says stop is overrun", H=2, L=1,
           R=(0, 1)),
    expect(KeepingQuiet, "FLOW-111", "violated", "a sender that is never resumed stops forever",
           H=2, L=1, R=(0, 1)),
)
