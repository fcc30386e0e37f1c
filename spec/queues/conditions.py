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

That is lenient. It lets a library give a notification to a sleeper that was told to stop before
and has not run since, and forget it when that one ends, as the condition variables of anyio once
did: another one that slept beside it then sleeps on. POSIX forbids that, and most keep to it, so
there is a strict form. ``StrictCondition`` counts for each notification the sleepers that slept
when it was given (``given``): it is due until one of those goes on, and lapses only when all of
them have ended.

Calls of wait are numbered in the order in which they went to sleep.

Source: asyncio's documentation of ``Condition``; POSIX, ``pthread_cond_signal``.
"""

from __future__ import annotations

from ..expectations import expect
from ..notation import (
    MUST, SHOULD, Machine, action, always, array, boolean, const, guard_rule, integer, require,
    subset, upto,
)

__all__ = ["EXPECTATIONS", "ConditionVariable", "FrugalCondition", "StrictCondition"]

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
    "A sleeper that is cancelled after it was notified leaves the notification to another one; "
    "COND-8 is the strict form.",
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
TAKES_TURN = guard_rule(
    "COND-10", MUST,
    "Who calls wait goes to sleep, and who calls notify notifies, as soon as it can have the lock.",
    source="libraries#conditions",
)

NOT_CONSUMED = guard_rule(
    "COND-8", MUST,
    "No notification is used up by a sleeper that ends cancelled, told to stop before or after it, "
    "while another one sleeps that slept when it was given.",
    source="libraries#conditions: POSIX; libraries#anyio-conditions: it was lost",
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
    begun = integer(0, K)         # calls that have neither slept nor notified: they want the lock

    # A sleeper was cancelled while a notification was due, since all had last settled.
    withdrew = boolean(False)

    # --- with the lock in hand -----------------------------------------------------------

    @action
    def begins(self) -> None:
        """Somebody calls wait or notify, and takes the lock as soon as it is free."""
        require(self.begun < self.K)
        self.begun += 1

    @action
    def sleeps(self) -> None:
        """The next call goes to sleep; its caller had the lock."""
        require(self.slept < self.K)
        require(self.inside == self.K, EXCLUSIVE)
        self.begun = max(0, self.begun - 1)
        self.asleep.add(self.slept)
        self.slept += 1

    @action(count=upto(N))
    def notifies(self, count: int) -> None:
        """Somebody takes the lock, notifies one sleeper more than ``count``, and gives it back."""
        require(self.inside == self.K, EXCLUSIVE)
        self.begun = max(0, self.begun - 1)
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

    @action(rests=True)
    def settled(self) -> None:
        """If nobody has the lock, nobody sleeps who could go on."""
        free = self.inside == self.K
        late = free and self.due > 0
        require(not late or self.withdrew, SLEEPER_WAKES)
        require(not late, NOT_KEPT)
        require(not free or not any(call in self.stopping for call in range(self.K)), STOPS)
        require(not free or self.begun == 0, TAKES_TURN)
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


class StrictCondition(ConditionVariable):
    """One where it is never unclear what a sleeper that is cancelled leaves to the others."""

    # given[n]: notifications that are due, and were given when calls 0 to n had gone to sleep.
    given = array(upto(ConditionVariable.K), integer(0, ConditionVariable.K))

    @action(count=upto(ConditionVariable.N))
    def notifies(self, count: int) -> None:
        """They are due, as far as there are sleepers."""
        super().notifies(count)
        for last in range(self.K):
            if last == self.slept - 1:
                self.given[last] = min(self.K, self.given[last] + count + 1)
        self.lapse()

    @action(call=upto(ConditionVariable.K))
    def goes_on(self, call: int) -> None:
        """A sleeper wakes, for the youngest notification of which all others can go without it."""
        super().goes_on(call)
        asleep = 0
        due = 0
        full = self.K
        for last in range(self.K):
            asleep += 1 if last in self.asleep else 0
            due += self.given[last]
            full = last if due > asleep and full == self.K else full
        used = max(last + 1 if self.given[last] > 0 and last <= full else 0
                   for last in range(self.K))
        for last in range(self.K):
            if last + 1 == used:
                self.given[last] -= 1

    @action(call=upto(ConditionVariable.K))
    def is_cancelled(self, call: int) -> None:
        """A sleeper ends cancelled: what it could have been told is due to those beside it."""
        super().is_cancelled(call)
        self.lapse()

    @action
    def settled(self) -> None:
        """If nobody has the lock, nothing is due."""
        super().settled()
        due = any(self.given[last] > 0 for last in range(self.K))
        require(self.inside < self.K or not due, NOT_CONSUMED)

    def lapse(self) -> None:
        """No more are due than sleep of those who slept when they were given."""
        asleep = 0
        due = 0
        for last in range(self.K):
            asleep += 1 if last in self.asleep else 0
            self.given[last] = min(self.given[last], asleep - due)
            due += self.given[last]

    @always("COND-9", MUST, "A notification is due only while one sleeps that slept when it was "
            "given.", source="libraries#conditions")
    def each_has_a_sleeper(self) -> bool:
        """And no more of them than sleep."""
        return sum(self.given[last] for last in range(self.K)) <= len(self.asleep)


EXPECTATIONS = (
    expect(ConditionVariable, "COND-7", "holds", "a notification is not kept for later",
           K=3, N=(1, 2)),
    expect(StrictCondition, "COND-9", "holds", "what nobody is left to hear lapses", K=3, N=(1, 2)),
)

BOOKKEEPING = {
    "COND-7":
        "What is due is a count that the observer makes out of its own list of sleepers.",
}
