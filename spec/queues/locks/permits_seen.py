"""Permits with a wait queue as their observer sees them, and variants that it refuses.

Theory. All is seen but the instant at which a waiter is granted a permit. Permits that are granted
in turn are permits. Each variant here is what a real semaphore or lock has done wrong, and is
refused by the rule by which a suite finds it in an implementation.

Source: ``permits``.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...expectations import expect
from ...notation import action, require, upto
from ...notation.views import Seen, View, see
from ...refinements import refines, refused
from .permits import OrderlyPermits, Permits

__all__ = [
    "EXPECTATIONS", "Deaf", "EndsTwice", "Forgets", "GivesOneTooMany", "KeepsPermit", "KeepsWakeUp",
    "PermitsSeen",
]


class PermitsSeen(View[Permits]):
    """All calls, all answers, and the instants at which everything has run that can run."""

    same = ("begins", "answered", "acquire_done", "acquire_waits", "gives", "released",
            "seen_locked", "seen_free", "stops", "woken", "cancelled", "settled")

    def asked(self, machine: Permits) -> Iterable[Seen]:
        """Report ``settled`` if no step can happen by itself, whatever the machine says of that."""
        if not self.enabled & {"grant", "becomes_free", "woken"}:
            yield see("settled")


class GivesOneTooMany(Permits):
    """An acquire looks at the wait queue, and not at the permits (bpo-32734)."""

    @action
    def acquire_done(self) -> None:
        """No call waits, so the permit is taken for free."""
        require(len(self.line) == 0)
        self.free = max(0, self.free - 1)
        self.held.add(self.new_call())

    @action(call=upto(Permits.K))
    def released(self, call: int) -> None:
        """The permit is free then, even if another call holds it."""
        require(call in self.held)
        self.held.discard(call)
        self.free = min(self.C, self.free + 1)


class KeepsPermit(Permits):
    """A call that is cancelled after it was granted a permit takes it along."""

    @action(call=upto(Permits.K))
    def cancelled(self, call: int) -> None:
        """The call leaves the wait queue; its permit is not given back."""
        require(call in self.line or call in self.granted)
        self.leave_line(call)
        self.granted.discard(call)


class Deaf(Permits):
    """A free permit wakes no waiter."""

    @action(internal=True, fair=True, place=upto(Permits.W))
    def grant(self, place: int) -> None:
        """Never: a waiter would have to ask again."""
        require(place < 0)

    @action
    def settled(self) -> None:
        """All has run that runs of itself."""
        require(len(self.granted) == 0)


class KeepsWakeUp(Permits):
    """A waiter that is cancelled after it was woken wakes no other (bpo-27585)."""

    @action(internal=True, fair=True, place=upto(Permits.W))
    def grant(self, place: int) -> None:
        """Not after a cancellation that leaves a permit free."""
        require(not self.withdrew)
        super().grant(place)

    @action
    def settled(self) -> None:
        """After a woken waiter was cancelled, the next one keeps waiting."""
        require(len(self.granted) == 0)
        require(self.withdrew or len(self.line) == 0 or self.free == 0)
        self.withdrew = False


class Forgets(Permits):
    """A call of acquire is forgotten: it has no permit, and is in no wait queue."""

    @action
    def answered(self) -> None:
        """Not checked: the call may have been lost."""


class EndsTwice(Permits):
    """A cancelled call is notified of a permit all the same."""

    @action(call=upto(Permits.K))
    def woken(self, call: int) -> None:
        """A call that has left the wait queue without a permit is notified as well."""
        if call in self.granted:
            super().woken(call)
        else:
            require(call in self.stopping and call not in self.line and call not in self.held)


SIZE = {"C": "C", "K": "K", "W": "W"}

SEEN = refines(OrderlyPermits, Permits, "permits that are given in turn are permits",
               shows=PermitsSeen, seen_by=SIZE, C=(1, 2), K=2, W=2)

EXPECTATIONS = (
    SEEN,
    *(refused(variant, rule, about, like=SEEN, C=1, K=K) for variant, rule, about, K in (
        (GivesOneTooMany, "PERMIT-1", "a permit is given that there is not", 2),
        (KeepsPermit, "PERMIT-2", "a cancelled call takes its permit along", 2),
        (Deaf, "PERMIT-3", "a release wakes no waiter", 2),
        (KeepsWakeUp, "PERMIT-4", "a cancelled waiter keeps the wake-up", 3),
        (EndsTwice, "PERMIT-5", "a cancelled call gets a permit all the same", 2),
        (Forgets, "PERMIT-10", "a call neither has a permit nor waits", 2),
    )),
    expect(Deaf, "PERMIT-8", "violated", "a release wakes no waiter", C=1, K=2, W=2),
)
