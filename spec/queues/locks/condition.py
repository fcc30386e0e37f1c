"""A condition variable for coroutines: a lock, and sleepers that wait until they are notified.

Theory. The holder of the lock may go to sleep, which gives the lock back, or notify some of the
sleepers. A sleeper that is notified takes the lock again before it continues, and so does one whose
cancellation is requested: the caller of ``wait`` may rely on the lock, however the wait ends. Time
passes between a notification and the instant at which a sleeper continues. The cancellation of a
notified sleeper may be requested in that time; then the notification is owed to another call that
slept when it was given.

So an observer keeps books of the holder of the lock, as far as callers know, and of
notifications: how many may still wake a sleeper (``owed``), and how many must (``due``). Which of
several sleepers was meant stays open. So if a notification comes while another one is due, or while
the cancellation of a sleeper is under way, it is ``unclear`` which sleeper it is for, and one that
is cancelled then may have been the only one.

That is lenient. It lets a library give a notification to a sleeper that was asked to cancel
before and that has not run since, and forget it when that sleeper ends, as the condition variables
of anyio once did: another call that slept beside it then keeps sleeping. POSIX forbids that, and
most libraries comply, so there is a strict form. ``StrictCondition`` counts for each notification
the sleepers that slept when it was given (``given``): it is due until one of those continues, and
lapses only when all of them have ended.

Calls of wait are numbered in the order in which they went to sleep.

Source: asyncio's documentation of ``Condition``; POSIX, ``pthread_cond_signal``.
"""

from __future__ import annotations

from ...expectations import expect
from ...notation import (
    MUST, SHOULD, Machine, action, always, array, boolean, const, guard_rule, integer, require,
    subset, upto,
)

__all__ = [
    "EXPECTATIONS", "ConditionVariable", "FrugalCondition", "SpendingTheYoungest",
    "StrictCondition",
]

EXCLUSIVE = guard_rule(
    "COND-1", MUST,
    "While another task holds the lock, no task returns from a wait, begins one, or notifies.",
    source="libraries#conditions",
)
WITH_LOCK = guard_rule(
    "COND-2", MUST,
    "A wait ends with its caller holding the lock, cancelled or not.",
    source="libraries#conditions; python/asyncio #346: without it",
)
SLEEPER_WAKES = guard_rule(
    "COND-3", MUST,
    "When the system is quiescent and the lock is free, each notification that found a sleeper "
    "has woken one, unless a sleeper ended cancelled while a notification was due.",
    source="libraries#conditions",
)
NOT_KEPT = guard_rule(
    "COND-4", MUST,
    "While only one call's notifications are due, given when no sleeper's cancellation was "
    "requested, a sleeper that ends cancelled uses none up: others that slept then wake before "
    "the system is quiescent with a free lock.",
    source="cpython #112202: it was lost",
)
STOPS = guard_rule(
    "COND-5", MUST,
    "When the system is quiescent and the lock is free, no call sleeps after its cancellation "
    "was requested.",
    source="libraries#conditions",
)
NOT_MORE = guard_rule(
    "COND-6", SHOULD,
    "No more sleepers continue, not counting those that end cancelled, than sleepers were "
    "notified.",
    source="libraries#conditions: a spurious wake-up is allowed, and costs",
)
TAKES_TURN = guard_rule(
    "COND-10", MUST,
    "When the system is quiescent and the lock is free, no call of wait has still to go to "
    "sleep, and no call of notify has still to notify.",
    source="libraries#conditions",
)

GIVES_BACK = guard_rule(
    "COND-11", MUST,
    "A call that continued from its wait and is asked to give the lock back has done so when "
    "the system is next quiescent.",
    source="libraries#conditions",
)

NOT_CONSUMED = guard_rule(
    "COND-8", MUST,
    "When the system is quiescent and the lock is free, the notifications can be matched each "
    "with a call of its own that slept when it was given and continued uncancelled; a "
    "notification stays unmatched only if no call that slept when it was given still sleeps.",
    source="libraries#conditions: POSIX; libraries#anyio-conditions: it was lost")


class ConditionVariable(Machine):
    """One lock, its sleepers, and the notifications that they are owed."""

    K = const(3, at_least=1)      # calls of wait in a run
    N = const(2, at_least=1)      # notifications that one call gives at most

    slept = integer(0, K)         # calls so far: the next one has this number
    inside = integer(0, K, init=K)      # the call that continued and holds the lock; K: none
    asleep = subset(upto(K))      # sleep, or were notified and have not continued
    meant = subset(upto(K))       # slept when a notification was given that may still be owed
    stopping = subset(upto(K))    # were asked to cancel while they slept
    owed = integer(0, K)          # notifications that may still wake a sleeper
    due = integer(0, K)           # those of them that must
    unclear = boolean(False)      # which sleepers the due ones are for
    begun = integer(0, K)         # calls that have neither slept nor notified: they want the lock

    # A sleeper was cancelled while a notification was due, since all had last settled.
    withdrew = boolean(False)

    # --- while holding the lock ------------------------------------------------------------

    @action
    def begins(self) -> None:
        """A call of wait or notify begins, and takes the lock as soon as it is free."""
        require(self.begun < self.K)
        self.begun += 1

    @action
    def sleeps(self) -> None:
        """The next call goes to sleep; its caller held the lock."""
        require(self.slept < self.K)
        require(self.inside == self.K, EXCLUSIVE)
        self.begun = max(0, self.begun - 1)
        self.asleep.add(self.slept)
        self.slept += 1

    @action(count=upto(N))
    def notifies(self, count: int) -> None:
        """A caller takes the lock, notifies ``count`` + 1 sleepers, and gives it back."""
        require(self.inside == self.K, EXCLUSIVE)
        self.begun = max(0, self.begun - 1)
        told = any(call in self.stopping for call in range(self.K))
        self.unclear = self.unclear or self.due > 0 or told
        self.owed = min(self.owed + count + 1, len(self.asleep))
        self.due = min(self.due + count + 1, len(self.asleep) - len(self.stopping))
        for call in range(self.K):
            if call in self.asleep:
                self.meant.add(call)

    @action
    def notifies_none(self) -> None:
        """A caller takes the lock, notifies 0 sleepers, and gives it back."""
        require(self.inside == self.K, EXCLUSIVE)
        self.begun = max(0, self.begun - 1)

    @action(call=upto(K))
    def goes_on(self, call: int) -> None:
        """A sleeper wakes, and holds the lock."""
        require(call in self.asleep)
        require(self.inside == self.K, EXCLUSIVE)
        self.owed = max(0, self.owed - 1)
        self.due = max(0, self.due - 1)
        self.inside = call
        self.wakes(call)

    @action(call=upto(K))
    def is_cancelled(self, call: int) -> None:
        """A sleeper ends cancelled; it holds the lock, and gives it back."""
        require(call in self.asleep)
        require(self.inside == self.K, EXCLUSIVE)
        if self.unclear:
            self.due = max(0, self.due - 1)
        self.wakes(call)
        if self.due > 0:
            self.withdrew = True

    @action(call=upto(K))
    def has_no_lock(self, call: int) -> None:
        """A wait has ended, and its caller cannot give the lock back, for it does not hold it."""
        require(call not in self.asleep and call != self.inside, WITH_LOCK)

    @action(call=upto(K))
    def leaves(self, call: int) -> None:
        """The call that continued gives the lock back."""
        require(self.inside == call)
        self.inside = self.K

    @action(call=upto(K), rests=True)
    def was_asked_to_leave(self, call: int) -> None:
        """The call that continued was asked to give the lock back, and no more is heard of that."""
        require(self.inside != call, GIVES_BACK)

    # --- requests to cancel ----------------------------------------------------------------

    @action(call=upto(K))
    def stops(self, call: int) -> None:
        """Request the cancellation of a call; it sleeps, or has continued already."""
        require(call < self.slept)
        if call in self.asleep:
            self.stopping.add(call)

    # --- when everything has run that can run --------------------------------------------

    @action(rests=True)
    def settled(self) -> None:
        """If the lock is free, no call sleeps that could continue."""
        free = self.inside == self.K
        late = free and self.due > 0
        require(not late or self.withdrew, SLEEPER_WAKES)
        require(not late, NOT_KEPT)
        require(not free or not any(call in self.stopping for call in range(self.K)), STOPS)
        require(not free or self.begun == 0, TAKES_TURN)
        self.withdrew = self.withdrew and not free

    # --- the one place where a sleeper wakes -----------------------------------------------

    def wakes(self, call: int) -> None:
        """A call has woken, and is counted as a sleeper no more."""
        self.asleep.discard(call)
        self.meant.discard(call)
        self.stopping.discard(call)
        self.owed = min(self.owed, len(self.asleep))
        self.due = min(self.due, len(self.meant))
        self.unclear = self.unclear and self.due > 0

    # --- what is true of all of it -------------------------------------------------------

    @always("COND-7", MUST,
            "No more notifications must still wake a sleeper than may still do so, and no more "
            "may than there are sleepers.",
            source="libraries#conditions")
    def none_is_kept_for_later(self) -> bool:
        """A notification without a sleeper is dropped."""
        return self.due <= self.owed and self.owed <= len(self.asleep)


class FrugalCondition(ConditionVariable):
    """A condition variable without spurious wake-ups."""

    @action(call=upto(ConditionVariable.K))
    def goes_on(self, call: int) -> None:
        """A notified sleeper wakes, or another one in its place."""
        require(self.owed > 0, NOT_MORE)
        super().goes_on(call)


class StrictCondition(ConditionVariable):
    """A condition variable for which it is always clear what a cancelled sleeper leaves."""

    # given[n]: notifications that are due, and were given when calls 0 to n had gone to sleep.
    given = array(upto(ConditionVariable.K), integer(0, ConditionVariable.K))

    @action(count=upto(ConditionVariable.N))
    def notifies(self, count: int) -> None:
        """The notifications are due, as far as there are sleepers."""
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
        """A sleeper ends cancelled: the notification that it may have had is due to the others."""
        super().is_cancelled(call)
        self.lapse()

    @action
    def settled(self) -> None:
        """If the lock is free, no notification is due."""
        super().settled()
        due = any(self.given[last] > 0 for last in range(self.K))
        require(self.inside < self.K or not due, NOT_CONSUMED)

    def lapse(self) -> None:
        """Drop notifications for which too few calls still sleep that slept when they came."""
        asleep = 0
        due = 0
        for last in range(self.K):
            asleep += 1 if last in self.asleep else 0
            self.given[last] = min(self.given[last], asleep - due)
            due += self.given[last]

    @always("COND-9", MUST,
            "The notifications that must still wake a sleeper can be matched with different "
            "calls, each of which has slept since before its notification was given.",
            source="libraries#conditions: it wakes at least one of those who waited when it was "
                   "given")
    def each_has_a_sleeper(self) -> bool:
        """For each number, so many of the first calls sleep as notifications are for them alone."""
        return all(
            sum(self.given[last] if last <= until else 0 for last in range(self.K))
            <= sum(1 if call in self.asleep and call <= until else 0 for call in range(self.K))
            for until in range(self.K))


class SpendingTheYoungest(StrictCondition):
    """A sleeper that wakes uses up the youngest notification, even if another one needs it."""

    @action(call=upto(ConditionVariable.K))
    def goes_on(self, call: int) -> None:
        """One that slept before may be left with none that is for it."""
        ConditionVariable.goes_on(self, call)
        youngest = max(last + 1 if self.given[last] > 0 else 0 for last in range(self.K))
        for last in range(self.K):
            if last + 1 == youngest:
                self.given[last] -= 1


EXPECTATIONS = (
    expect(ConditionVariable, "COND-7", "holds", "a notification is not kept for later",
           K=3, N=(1, 2)),
    expect(StrictCondition, "COND-9", "holds", "a notification without a sleeper left lapses", K=3,
           N=(1, 2)),
    expect(SpendingTheYoungest, "COND-9", "violated", "the first of two sleepers uses up the "
           "notification that came for both, and the one for it alone is left", K=2, N=1),
)

BOOKKEEPING = {
    "COND-7":
        "What is due is a count that the observer makes out of its own list of sleepers.",
    "COND-9":
        "So is what is due by the strict form: a machine that counts it wrong shows the same as a "
        "right one (SpendingTheYoungest).",
}
