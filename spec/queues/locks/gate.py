"""A gate, as seen from outside: any number of calls wait until it is opened, or until it breaks.

Theory. An event that is set and cleared is a gate, and so is a transport that says "pause writing"
and "resume": every task that drains it waits at one gate. Opening lets all waiting calls pass, also
those that have not run yet when it is shut again. A connection that is lost breaks the gate: the
calls that wait, and the later ones, are notified. A gate differs from a lock in that no call holds
it: a waiter takes nothing from the others, and none of them needs to know that there are others.

Calls are numbered in the order in which they begin. A call that has begun need not have looked at
the gate yet: the observer judges which calls must have ended when everything has run that can. One
whose thread was stopped on its way may look only once the gate is shut again, and then waits.

Source: Python's documentation of ``asyncio.Event`` and of ``asyncio.StreamWriter.drain``.
"""

from __future__ import annotations

from ...expectations import expect
from ...notation import (
    MUST, Machine, action, always, boolean, const, guard_rule, integer, require, subset, upto,
)

__all__ = ["EXPECTATIONS", "Gate"]

SHUT_HOLDS = guard_rule(
    "GATE-1", MUST,
    "A call passes only if the gate was open at some time between the start and the end of the "
    "call.",
    source="libraries#gates",
)
ALL_PASS = guard_rule(
    "GATE-2", MUST,
    "When the system is quiescent, no call waits at a gate that was open at some time during "
    "its wait, even if the gate was shut again since; a call whose thread was stopped on its way "
    "may wait if the gate is shut.",
    source="libraries#gates",
)
SEVERAL_WAIT = guard_rule(
    "GATE-3", MUST,
    "No waiting call ends with an error, other than its own cancellation or the report of a "
    "broken gate, however many calls wait at the same time.",
    source="cpython #74116: the second one did; libraries#gates",
)
BREAK_TELLS = guard_rule(
    "GATE-4", MUST,
    "When the system is quiescent, no call waits at a broken gate, whether the call came before "
    "the gate broke or later.",
    source="libraries#gates",
)
WHOLE = guard_rule(
    "GATE-5", MUST,
    "No call is notified that a gate is broken while it is whole.",
    source="libraries#gates",
)
STOPS = guard_rule(
    "GATE-6", MUST,
    "When the system is quiescent, no call waits after its cancellation was requested.",
    source="libraries#gates",
)


class Gate(Machine):
    """The calls that wait, those that may pass, and whether the gate is open."""

    K = const(3, at_least=1)      # calls in a run

    came = integer(0, K)          # calls so far: the next one has this number
    waiting = subset(upto(K))     # calls that have begun and not ended
    may_pass = subset(upto(K))    # the gate was open while they waited
    stopping = subset(upto(K))    # were asked to cancel
    away = subset(upto(K))        # may not have looked at it: a thread was stopped on its way
    open = boolean(False)
    broken = boolean(False)

    # --- the gate ------------------------------------------------------------------------

    @action
    def opens(self) -> None:
        """All waiting calls may pass."""
        self.open = True
        self.all_may_pass()

    @action
    def shuts(self) -> None:
        """Calls that come from now on wait."""
        self.open = False

    @action
    def breaks(self) -> None:
        """From now on every call is notified."""
        self.broken = True

    # --- calls ---------------------------------------------------------------------------

    @action
    def comes(self) -> None:
        """The next call begins."""
        require(self.came < self.K)
        self.waiting.add(self.came)
        if len(self.away) > 0:      # one that was stopped may have a lock that this one needs
            self.away.add(self.came)
        self.came += 1
        if self.open:
            self.all_may_pass()

    @action
    def stopped_on_its_way(self) -> None:
        """The call that came last was stopped, and need not have looked at the gate yet."""
        require(self.came > 0)
        if self.came - 1 in self.waiting:
            self.away.add(self.came - 1)

    @action(call=upto(K))
    def passes(self, call: int) -> None:
        """A call ends: the gate was open."""
        require(call in self.waiting)
        require(call in self.may_pass, SHUT_HOLDS)
        self.ends(call)

    @action(call=upto(K))
    def is_told(self, call: int) -> None:
        """A call ends: the gate is broken."""
        require(call in self.waiting)
        require(self.broken, WHOLE)
        self.ends(call)

    @action(call=upto(K))
    def fails(self, call: int) -> None:
        """A call ends with an error that is not its own."""
        require(call not in self.waiting, SEVERAL_WAIT)

    @action(call=upto(K))
    def stops(self, call: int) -> None:
        """Request the cancellation of a call; it waits, or is over already."""
        require(call < self.came)
        if call in self.waiting:
            self.stopping.add(call)

    @action(call=upto(K))
    def is_cancelled(self, call: int) -> None:
        """A call ends cancelled, as requested."""
        require(call in self.stopping)
        self.ends(call)

    # --- when everything has run that can run --------------------------------------------

    @action(rests=True)
    def settled(self) -> None:
        """No call still waits after its wait is over."""
        require(not any(call in self.stopping for call in range(self.K)), STOPS)
        require(not self.broken or len(self.waiting) == 0, BREAK_TELLS)
        require(not any(call in self.may_pass and (self.open or call not in self.away)
                        for call in range(self.K)), ALL_PASS)
        for call in range(self.K):
            if call in self.away:       # it has looked by now, and found the gate shut
                self.away.discard(call)
                self.may_pass.discard(call)

    # --- helpers -------------------------------------------------------------------------

    def all_may_pass(self) -> None:
        """The gate is open: every waiting call may pass, whatever happens before it runs."""
        for call in range(self.K):
            if call in self.waiting:
                self.may_pass.add(call)

    def ends(self, call: int) -> None:
        """A call is over."""
        self.waiting.discard(call)
        self.may_pass.discard(call)
        self.stopping.discard(call)
        self.away.discard(call)

    # --- what is true of all of it -------------------------------------------------------

    @always("GATE-7", MUST, "At an open gate every waiting call may pass.",
            source="libraries#gates")
    def open_is_open(self) -> bool:
        """A call that waits there only has not run yet."""
        return not self.open or len(self.may_pass) == len(self.waiting)


EXPECTATIONS = (
    expect(Gate, "GATE-7", "holds", "a call that waits at an open gate may pass", K=(1, 2, 3)),
)

BOOKKEEPING = {
    "GATE-7":
        "The observer itself records which calls may pass when a gate is opened; that they do pass "
        "is GATE-2.",
}
