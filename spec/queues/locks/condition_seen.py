"""A condition variable as its observer sees it, and variants that it refuses.

Theory. Everything is seen: which call goes to sleep, notifies, continues, or ends cancelled. Each
variant is what a real condition variable has done wrong, refused by the rule by which a suite finds
it in an implementation.

Source: ``condition``.
"""

from __future__ import annotations

from ...notation import action, require, subset, upto
from ...notation.views import View
from ...refinements import refines, refused
from .condition import ConditionVariable, FrugalCondition, StrictCondition

__all__ = [
    "EXPECTATIONS", "ConditionSeen", "Deaf", "IgnoringStop", "KeepingNotification",
    "KeepsLock", "LosesCalls",
    "NotTakingTheLock", "TellingTheDead", "WithoutLock",
]


class ConditionSeen(View[ConditionVariable]):
    """All that happens to calls, and the instants at which everything has run that can run."""

    same = ("begins", "sleeps", "notifies", "notifies_none", "goes_on", "is_cancelled",
            "has_no_lock", "leaves", "was_asked_to_leave", "stops", "settled")


class NotTakingTheLock(ConditionVariable):
    """A notified sleeper continues at once, even if another call holds the lock."""

    @action(call=upto(ConditionVariable.K))
    def goes_on(self, call: int) -> None:
        """Two calls hold the lock then."""
        require(call in self.asleep and self.owed > 0)
        self.owed -= 1
        self.due = max(0, self.due - 1)
        self.inside = call
        self.wakes(call)


class WithoutLock(ConditionVariable):
    """A sleeper cancelled while it retakes the lock ends without it (python/asyncio #346)."""

    @action(call=upto(ConditionVariable.K))
    def has_no_lock(self, call: int) -> None:
        """Its cancellation was requested, and it ends at once."""
        require(call in self.stopping)
        self.wakes(call)


class Deaf(ConditionVariable):
    """A notification wakes no sleeper."""

    @action
    def settled(self) -> None:
        """All has run that runs of itself."""
        require(not any(call in self.stopping for call in range(self.K)))


class KeepingNotification(ConditionVariable):
    """A sleeper that is cancelled after it was notified keeps it (cpython #112202)."""

    @action
    def settled(self) -> None:
        """After a sleeper was cancelled, the others keep sleeping."""
        require(self.withdrew or self.due == 0 or self.inside < self.K)
        require(not any(call in self.stopping for call in range(self.K)))


class TellingTheDead(FrugalCondition):
    """A notification goes to a sleeper that is already cancelled, and ends with it (anyio)."""

    took = subset(upto(FrugalCondition.K))      # were asked to cancel, and have a notification

    @action(count=upto(FrugalCondition.N))
    def notifies(self, count: int) -> None:
        """Each sleeper that was asked to cancel uses one up; those left wake others."""
        late, left = self.due, count + 1
        super().notifies(count)
        for call in range(self.K):
            if call in self.stopping and call not in self.took and left > 0:
                self.took.add(call)
                left -= 1
        self.due = min(self.due, late + left)
        self.unclear = False

    @action(call=upto(FrugalCondition.K))
    def goes_on(self, call: int) -> None:
        """A sleeper that was asked to cancel may continue with its notification, and uses up no
        other.
        """
        others = self.due
        had = call in self.took
        super().goes_on(call)
        self.due = min(others, len(self.meant)) if had else self.due

    def wakes(self, call: int) -> None:
        """The notification that it has is lost with it."""
        super().wakes(call)
        self.took.discard(call)


class IgnoringStop(ConditionVariable):
    """A sleeper that is asked to cancel keeps sleeping."""

    @action
    def settled(self) -> None:
        """A request to cancel wakes no sleeper; only a notification does."""
        require(self.due == 0)


class LosesCalls(ConditionVariable):
    """A call that has to wait for the lock is forgotten."""

    @action
    def settled(self) -> None:
        """Only sleepers are checked."""
        require(self.due == 0)
        require(not any(call in self.stopping for call in range(self.K)))


class KeepsLock(ConditionVariable):
    """A call that continued keeps the lock, though it was asked to give it back."""

    @action(call=upto(ConditionVariable.K))
    def was_asked_to_leave(self, call: int) -> None:
        """It may hold the lock still."""


SIZE = {"K": "K", "N": "N"}

SEEN = refines(FrugalCondition, ConditionVariable,
               "without spurious wake-ups it is a condition variable", shows=ConditionSeen,
               seen_by=SIZE, K=2, N=(1, 2))

STRICT = refines(StrictCondition, ConditionVariable, "the strict form is a form of it",
                 shows=ConditionSeen, seen_by=SIZE, K=2, N=(1, 2))

LENIENT = refines(TellingTheDead, ConditionVariable, "the lenient form accepts it",
                  shows=ConditionSeen, seen_by=SIZE, K=(2, 3), N=(1, 2))

KEPT = refines(StrictCondition, StrictCondition, "what is strictly kept is accepted",
               shows=ConditionSeen, seen_by=SIZE, K=2, N=(1, 2))

EXPECTATIONS = (
    SEEN,
    STRICT,
    LENIENT,
    KEPT,
    refused(TellingTheDead, "COND-8", "a sleeper that was asked to cancel uses up a notification",
            like=KEPT, K=2, N=1),
    *(refused(variant, rule, about, like=SEEN, K=K, N=1) for variant, rule, about, K in (
        (NotTakingTheLock, "COND-1", "a sleeper continues beside the holder of the lock", 2),
        (WithoutLock, "COND-2", "a cancelled wait ends without the lock", 2),
        (Deaf, "COND-3", "a notification wakes no sleeper", 2),
        (KeepingNotification, "COND-4", "a cancelled sleeper keeps the notification", 2),
        (IgnoringStop, "COND-5", "a cancelled sleeper keeps sleeping", 2),
        (LosesCalls, "COND-10", "a call never has its turn", 2),
        (KeepsLock, "COND-11", "the lock is never given back", 2),
    )),
)
