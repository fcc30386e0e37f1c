"""A condition variable for coroutines: a lock, and those who sleep until they are notified.

Theory. Who holds the lock may go to sleep, which gives the lock back, or notify some of those who
sleep. A sleeper that is notified takes the lock again before it goes on, and so does one that is
told to stop: whoever called ``wait`` may rely on the lock, however it ends. Between a notification
and the instant at which somebody goes on there is time. A sleeper that was notified may be told to
stop in it; then the notification is owed to another one who slept when it was given.

So an observer keeps books of who has the lock, as far as callers can tell, and of notifications:
how many may still wake somebody (``owed``), and how many must (``due``). Who of several was meant
stays open. So where a notification comes while another one is due, or while a sleeper was told to
stop, it is ``unclear`` for whom it was, and one who is cancelled then may have been the only one.

Calls of wait are numbered in the order in which they went to sleep.

Source: asyncio's documentation of ``Condition``; POSIX, ``pthread_cond_signal``.
"""

from __future__ import annotations

from ..expectations import expect
from ..notation import (
    MUST, SHOULD, Machine, action, always, boolean, const, guard_rule, integer, require, subset,
    upto,
)

__all__ = ["EXPECTATIONS", "ConditionVariable", "FrugalCondition"]

EXCLUSIVE = guard_rule(
    "COND-1", MUST,
    "Nobody goes on, goes to sleep or notifies while another one has the lock.",
    source="libraries#conditions",
)
WITH_LOCK = guard_rule(
    "COND-2", MUST,
    "A wait ends with the lock in its caller's hand, cancelled or not.",
    source="libraries#conditions; python/asyncio #346: without it",
)
SLEEPER_WAKES = guard_rule(
    "COND-3", MUST,
    "A notification wakes one who sleeps, as soon as he can have the lock.",
    source="libraries#conditions",
)
NOT_KEPT = guard_rule(
    "COND-4", MUST,
    "A sleeper that is cancelled after it was notified leaves the notification to another one.",
    source="cpython #112202: it was lost",
)
STOPS = guard_rule(
    "COND-5", MUST,
    "A sleeper that is told to stop wakes as soon as it can have the lock.",
    source="libraries#conditions",
)
NOT_MORE = guard_rule(
    "COND-6", SHOULD,
    "No more wake than were notified.",
    source="libraries#conditions: a spurious wake-up is allowed, and costs",
)


class ConditionVariable(Machine):
    """One lock, those who sleep, and what they are owed."""

    K = const(3, at_least=1)      # calls of wait in a run
    N = const(2, at_least=1)      # notifications that one call gives at most

    slept = integer(0, K)         # calls so far: the next one has this number
    inside = integer(0, K, init=K)      # which call went on and has the lock; K: none
    asleep = subset(upto(K))      # who sleeps, or was notified and has not gone on
    meant = subset(upto(K))       # slept when a notification was given that may still be owed
    stopping = subset(upto(K))    # were told to stop while they slept
    owed = integer(0, K)          # notifications that may wake somebody yet
    due = integer(0, K)           # and those of them that must
    unclear = boolean(False)      # for whom those are that are due

    # A sleeper was cancelled while a notification was due, since all had last settled.
    withdrew = boolean(False)

    # --- with the lock in hand -----------------------------------------------------------

    @action
    def sleeps(self) -> None:
        """The next call goes to sleep; its caller had the lock."""
        require(self.slept < self.K)
        require(self.inside == self.K, EXCLUSIVE)
        self.asleep.add(self.slept)
        self.slept += 1

    @action(count=upto(N))
    def notifies(self, count: int) -> None:
        """Somebody takes the lock, notifies one sleeper more than ``count``, and gives it back."""
        require(self.inside == self.K, EXCLUSIVE)
        told = any(call in self.stopping for call in range(self.K))
        self.unclear = self.unclear or self.due > 0 or told
        self.owed = min(self.owed + count + 1, len(self.asleep))
        self.due = min(self.due + count + 1, len(self.asleep) - len(self.stopping))
        for call in range(self.K):
            if call in self.asleep:
                self.meant.add(call)

    @action(call=upto(K))
    def goes_on(self, call: int) -> None:
        """A sleeper wakes, and has the lock."""
        require(call in self.asleep)
        require(self.inside == self.K, EXCLUSIVE)
        self.owed = max(0, self.owed - 1)
        self.due = max(0, self.due - 1)
        self.inside = call
        self.wakes(call)

    @action(call=upto(K))
    def is_cancelled(self, call: int) -> None:
        """A sleeper ends cancelled; it has the lock, and gives it back."""
        require(call in self.asleep)
        require(self.inside == self.K, EXCLUSIVE)
        if self.unclear:
            self.due = max(0, self.due - 1)
        self.wakes(call)
        if self.due > 0:
            self.withdrew = True

    @action(call=upto(K))
    def has_no_lock(self, call: int) -> None:
        """A wait has ended, and its caller cannot give the lock back, for it has none."""
        require(call not in self.asleep, WITH_LOCK)

    @action(call=upto(K))
    def leaves(self, call: int) -> None:
        """Who went on gives the lock back."""
        require(self.inside == call)
        self.inside = self.K

    # --- what a sleeper is told ----------------------------------------------------------

    @action(call=upto(K))
    def stops(self, call: int) -> None:
        """A sleeper is told to stop; or it has gone on already."""
        require(call < self.slept)
        if call in self.asleep:
            self.stopping.add(call)

    # --- when everything has run that can run --------------------------------------------

    @action
    def settled(self) -> None:
        """If nobody has the lock, nobody sleeps who could go on."""
        free = self.inside == self.K
        late = free and self.due > 0
        require(not late or self.withdrew, SLEEPER_WAKES)
        require(not late, NOT_KEPT)
        require(not free or not any(call in self.stopping for call in range(self.K)), STOPS)
        self.withdrew = self.withdrew and not free

    # --- the one place where somebody wakes ----------------------------------------------

    def wakes(self, call: int) -> None:
        """A call sleeps no more."""
        self.asleep.discard(call)
        self.meant.discard(call)
        self.stopping.discard(call)
        self.owed = min(self.owed, len(self.asleep))
        self.due = min(self.due, len(self.meant))
        self.unclear = self.unclear and self.due > 0

    # --- what is true of all of it -------------------------------------------------------

    @always("COND-7", MUST, "No more notifications are due than there are sleepers.",
            source="libraries#conditions")
    def none_is_kept_for_later(self) -> bool:
        """A notification that finds nobody asleep is gone."""
        return self.due <= self.owed and self.owed <= len(self.asleep)


class FrugalCondition(ConditionVariable):
    """One where nobody wakes for nothing."""

    @action(call=upto(ConditionVariable.K))
    def goes_on(self, call: int) -> None:
        """A sleeper wakes that was notified, or another one in its place."""
        require(self.owed > 0, NOT_MORE)
        super().goes_on(call)


EXPECTATIONS = (
    expect(ConditionVariable, "COND-7", "holds", "a notification is not kept for later",
           K=3, N=(1, 2)),
)
