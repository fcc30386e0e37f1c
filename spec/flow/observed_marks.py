"""A receiver with two marks, as its sender and its consumer see it.

Theory. Elements come, several at a time, some are taken, and after each the receiver may say stop
or go, and then is idle. So an observer counts what it holds, and knows at any time which of the two
it has to have said: stop if it holds more than its high mark, go if it holds no more than its low
one; in between, its last signal still counts.

Source: ``marks``, ``squelch``; 003#dropping, 003#E14.
"""

from __future__ import annotations

from ..notation import (
    MUST, Machine, action, assume, boolean, const, guard_rule, integer, require, upto,
)

__all__ = ["EXPECTATIONS", "ObservedMarks"]

DROPPING = "003#dropping"

IN_TIME = guard_rule(
    "FLOW-112", MUST, "When a receiver has finished reacting to an event and holds more than its "
    "high mark, it has said stop, and not go since.", source=f"{DROPPING}; 003#E14")
NOT_EARLY = guard_rule(
    "FLOW-113", MUST, "A receiver says stop only if it holds more than its high mark.",
    source=DROPPING)
GOES_ON = guard_rule(
    "FLOW-114", MUST,
    "When a receiver has finished reacting to an event and holds no more than its low mark, its "
    "last signal, if there was any, is go.",
    source=DROPPING)
NOT_BETWEEN = guard_rule(
    "FLOW-115", MUST, "A receiver says go only if it holds no more than its low mark.",
    source=DROPPING)
IN_TURN = guard_rule(
    "FLOW-116", MUST, "A receiver says stop and go alternately, and stop first.", source=DROPPING)
GIVEN = guard_rule(
    "FLOW-117", MUST,
    "A receiver hands out no more elements in all than have come to it.",
    source="003#tokens: no data is made, and none is lost")
NOT_KEPT = guard_rule(
    "FLOW-118", MUST,
    "A receiver that holds elements hands out at least one of them when its consumer asks.",
    source="003#tokens: no data is made, and none is lost")


class ObservedMarks(Machine):
    """A receiver with a high mark H and a low mark L, which never holds more than M."""

    H = const(2, at_least=1)
    L = const(1)
    M = const(6, at_least=1)            # the most that is sent to it

    held = integer(0, M)
    stopped = boolean(False)            # its last signal was stop

    @assume
    def low_is_low(self) -> bool:
        """The low mark is not above the high one."""
        return self.L <= self.H

    @action(count=upto(M + 1))
    def arrives(self, count: int) -> None:
        """``count`` elements come at once."""
        require(self.held + count <= self.M)
        self.held += count

    @action(count=upto(M + 1), rests=(NOT_KEPT,))
    def gives(self, count: int) -> None:
        """``count`` elements are taken."""
        require(count <= self.held, GIVEN)
        require(count > 0 or self.held == 0, NOT_KEPT)
        self.held -= count

    @action
    def says_stop(self) -> None:
        """The receiver asks its sender to stop."""
        require(not self.stopped, IN_TURN)
        require(self.held > self.H, NOT_EARLY)
        self.stopped = True

    @action
    def says_go(self) -> None:
        """The receiver asks its sender to resume."""
        require(self.stopped, IN_TURN)
        require(self.held <= self.L, NOT_BETWEEN)
        self.stopped = False

    @action(rests=True)
    def rests(self) -> None:
        """The receiver has no more to say for the time being."""
        require(self.stopped or self.held <= self.H, IN_TIME)
        require(not self.stopped or self.held > self.L, GOES_ON)


EXPECTATIONS = ()
