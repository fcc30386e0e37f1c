"""A gate with sleeping calls as its observer sees it, and variants that it refuses.

Theory. A call that comes to a shut gate goes to sleep. Opening and breaking wake all sleepers,
each with its result, so a woken call need not look at the gate again when it runs. A call whose
cancellation is requested wakes as well, and no other call with it.

Each variant has one line wrong, and is refused by the rule by which a suite finds it.

Source: ``gate``; CPython, ``asyncio/streams.py`` (``FlowControlMixin``).
"""

from __future__ import annotations

from enum import IntEnum

from ...notation import Machine, action, array, boolean, choice, const, integer, require, upto
from ...notation.views import Seen, View, see, shown
from ...refinements import refines, refused
from .gate import Gate

__all__ = [
    "EXPECTATIONS", "BreaksInSilence", "Call", "GateSeen", "LooksAgain", "OneSlot", "Sleepers",
    "SleepsOn", "TellsForNothing", "TurnsNobodyAway",
]


class Call(IntEnum):
    """The position of a call."""

    NONE = 0
    BEGUN = 1
    ASLEEP = 2
    WOKEN = 3       # to pass
    TOLD = 4        # will be notified that it is broken
    STOPPED = 5
    OVER = 6


class Sleepers(Machine):
    """Calls that run when they are awake."""

    K = const(3, at_least=1)      # calls in a run

    came = integer(0, K)
    calls = array(upto(K), choice(Call))
    open = boolean(False)
    broken = boolean(False)

    @action
    def opens(self) -> None:
        """Every call that sleeps wakes."""
        self.open = True
        for call in range(self.K):
            if self.calls[call] == Call.ASLEEP and self.hears(call):
                self.calls[call] = Call.WOKEN

    @action
    def shuts(self) -> None:
        """Calls that come from now on go to sleep."""
        self.open = False

    @action
    def breaks(self) -> None:
        """All sleepers wake, and are notified."""
        self.broken = True
        for call in range(self.K):
            if self.calls[call] == Call.ASLEEP and self.hears_of_the_end(call):
                self.calls[call] = Call.TOLD

    @action
    def comes(self) -> None:
        """The next call begins, and looks at the gate."""
        require(self.came < self.K)
        self.calls[self.came] = self.finds(self.came)
        self.came += 1

    @action(call=upto(K))
    def runs(self, call: int) -> None:
        """A call that is awake ends."""
        now = self.calls[call]
        require(now == Call.WOKEN or now == Call.TOLD or now == Call.STOPPED or now == Call.BEGUN)
        self.calls[call] = self.after(call)

    @action(call=upto(K))
    def stops(self, call: int) -> None:
        """The cancellation of a sleeping call is requested."""
        require(self.calls[call] == Call.ASLEEP)
        if self.obeys():
            self.calls[call] = Call.STOPPED

    @action
    def settled(self) -> None:
        """Every call that has not ended sleeps."""
        require(all(self.calls[call] == Call.NONE or self.calls[call] == Call.ASLEEP
                    or self.calls[call] == Call.OVER for call in range(self.K)))

    # --- one line each: what the variants have wrong -------------------------------------

    def finds(self, call: int) -> Call:
        """The position of a call after its first look at the gate."""
        if self.broken:
            return Call.TOLD
        return Call.WOKEN if self.open else Call.ASLEEP

    def after(self, call: int) -> Call:
        """The position of a call after it ran."""
        return Call.OVER

    def hears(self, call: int) -> bool:
        """True if opening the gate wakes this sleeper."""
        return True

    def hears_of_the_end(self, call: int) -> bool:
        """True if the break of the gate wakes this sleeper."""
        return True

    def obeys(self) -> bool:
        """True if a request to cancel wakes a sleeper."""
        return True


class GateSeen(View[Sleepers]):
    """All that is done to the gate, when calls come, and how they end."""

    same = ("opens", "shuts", "breaks", "comes", "stops", "settled")

    @shown
    def runs(self, before: Sleepers, after: Sleepers, call: int) -> Seen | None:
        """The end of a call, if it ends."""
        if after.calls[call] != Call.OVER:
            return None
        ends = {Call.WOKEN: "passes", Call.TOLD: "is_told", Call.STOPPED: "is_cancelled",
                Call.BEGUN: "fails"}
        return see(ends[Call(before.calls[call])], call=call)


class TurnsNobodyAway(Sleepers):
    """A call that comes does not look whether the gate is open."""

    def finds(self, call: int) -> Call:
        return Call.WOKEN


class LooksAgain(Sleepers):
    """A call that was woken looks again, and sleeps on if the gate was shut meanwhile."""

    def after(self, call: int) -> Call:
        if self.calls[call] == Call.WOKEN and not self.open:
            return Call.ASLEEP
        return Call.OVER


class OneSlot(Sleepers):
    """There is one place to wait, and a second waiter fails (cpython #74116)."""

    def finds(self, call: int) -> Call:
        if any(self.calls[each] == Call.ASLEEP for each in range(self.K)):
            return Call.BEGUN
        return super().finds(call)


class BreaksInSilence(Sleepers):
    """A call that waits when the gate breaks keeps waiting."""

    def hears_of_the_end(self, call: int) -> bool:
        return False


class TellsForNothing(Sleepers):
    """A call that finds the gate shut is notified that it is broken."""

    def finds(self, call: int) -> Call:
        return Call.WOKEN if self.open else Call.TOLD


class SleepsOn(Sleepers):
    """A call that is asked to cancel keeps sleeping."""

    def obeys(self) -> bool:
        return False


SEEN = refines(Sleepers, Gate, "a gate that wakes all sleepers", shows=GateSeen,
               seen_by={"K": "K"}, K=(1, 2))

EXPECTATIONS = (
    SEEN,
    *(refused(variant, rule, about, like=SEEN, K=2) for variant, rule, about in (
        (TurnsNobodyAway, "GATE-1", "a call passes a shut gate"),
        (LooksAgain, "GATE-2", "a call that was woken sleeps on"),
        (OneSlot, "GATE-3", "a second waiter fails"),
        (BreaksInSilence, "GATE-4", "a call waits at a broken gate"),
        (TellsForNothing, "GATE-5", "a call is notified of a break while the gate is whole"),
        (SleepsOn, "GATE-6", "a cancelled waiter keeps sleeping"),
    )),
)
