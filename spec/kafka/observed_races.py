"""Observable behaviour of a timer and a purgatory that several threads use.

Theory of operation
-------------------
``purgatory_races``, ``purgatory_lists``, ``purgatory_locks`` and ``timer_races`` explain, at the
steps of the code, why each of their rules holds. An observer sees less: when a thread calls and
when its call returns, when a callback runs and in which thread, and, when all threads have
finished, the number of entries in the timer and the number of keys. The rules are the same; this is
what they mean for an observer.

- *At most once*, and *expiry for the winner, after completion*, show in the callbacks.
- *No trigger is lost* shows at the end: a request whose watch call has returned, and whose event
  was reported after it had become ready, is completed by then.
- *On the list that its key has* shows by an event that overlaps no other call: it completes every
  request that is ready and watched for its key.
- *A cancelled task does not run* cannot be promised while the task is about to run. Seen from
  outside: an advance that begins after the cancel has returned does not run it.
- *Out of the timer* shows in the size only if no calls overlapped. A thread that puts an entry into
  a bucket first tests whether its task was cancelled, and an entry that is cancelled between the
  test and the link stays as a dead entry until its bucket expires, at the latest until an advance
  beyond all deadlines. A dead entry is never run. So an advance that begins when a request is
  completed, and its watch call has returned, does not run it.
- *A task runs eventually* shows when all threads have finished, if the timer was driven beyond all
  deadlines: tasks that were added before were run by that, and later ones are due at once.
- *Deadlock* means that some threads have not finished, and none of them can continue.
- *Again and again.* When all have finished, and the timer was driven beyond all deadlines, other
  threads may begin with other requests and tasks. Those of before are over: none is completed,
  expires or runs any more. So the state is that of a few requests, however long a run is.

Source: kafka#purgatory, kafka#lists; TimerTaskList, DelayedOperation of Kafka 3.9.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

from ..notation import Machine, action, array, boolean, const, integer, require, subset, upto
from ..notation.rules import seen_from_outside
from .given_calls import GivenCalls
from .purgatory_lists import WatcherLists
from .purgatory_locks import Programs
from .purgatory_races import Race
from .timer import SingleUseTimer
from .timer_races import Cascade, OverflowWheel

__all__ = ["WHEELS", "Call", "ObservedRaces"]

ONCE = seen_from_outside(Race.rules_declared, "KAFKA-P1R")
EXPIRY = seen_from_outside(Race.rules_declared, "KAFKA-P1ER")
TRIGGER = seen_from_outside(Race.rules_declared, "KAFKA-P3")
OUT_OF_TIMER = seen_from_outside(Race.rules_declared, "KAFKA-P4R")
WATCHED = seen_from_outside(WatcherLists.rules_declared, "KAFKA-P3I")
EMPTY_LISTS = seen_from_outside(WatcherLists.rules_declared, "KAFKA-P7L")
DEADLOCK = seen_from_outside(Programs.rules_declared, "KAFKA-P9")
ALL_RUN = seen_from_outside(SingleUseTimer.rules_declared, "KAFKA-W1L")
CANCELLED = seen_from_outside(Cascade.rules_declared, "KAFKA-W1CR")
COUNTED = seen_from_outside(Cascade.rules_declared, "KAFKA-W2L")
ONE_WHEEL = seen_from_outside(OverflowWheel.rules_declared, "KAFKA-W10")
INITIALISED = seen_from_outside(OverflowWheel.rules_declared, "KAFKA-W11")
RETURNED = seen_from_outside(GivenCalls.rules_declared, "KAFKA-P40")


WHEELS: Final = 12
"""Overflow wheels that an observer tells apart: each has at least twice the tick of the one below.
"""


class Call(IntEnum):
    """Calls of a thread; each is about one request or task unless it says otherwise."""

    WATCH = 0       # a request is put into the purgatory
    ADD = 1         # a task is put into the timer
    READY = 2       # the condition of the request becomes true
    CHECK = 3       # an event for all requests; about no one request
    FORCE = 4
    CANCEL = 5      # a task
    ADVANCE = 6     # the timer is driven; about no one request
    DRAIN = 7       # the same, to beyond all deadlines
    OTHER = 8       # an owner of requests is busy otherwise


class ObservedRaces(Machine):
    """T threads and K requests or tasks."""

    T = const(4, at_least=1)
    K = const(4, at_least=1)

    busy = subset(upto(T))              # threads that are in a call
    there = subset(upto(K))             # in the timer or the purgatory, and that call has returned
    ready = subset(upto(K))
    told = subset(upto(K))              # its event was reported after it had become ready
    asking = subset(upto(K))            # concerned by an event that overlaps no other call
    done = subset(upto(K))              # completed
    winner = array(upto(K), integer(0, T, init=T))      # thread that completed it; T: none
    ran = subset(upto(K))
    cancelled = subset(upto(K))         # and the call has returned
    barred = subset(upto(T * K))        # thread t must not run task q: t * K + q
    levels = subset(upto(WHEELS))       # levels of the overflow wheels that were made
    expired = subset(upto(K))
    overlapped = boolean(False)         # two calls have overlapped
    drained = boolean(False)
    swept = boolean(False)              # events were reported since
    owed = integer(0, 4 * T)            # calls that were given to threads and have not returned

    # --- calls ---------------------------------------------------------------------------

    @action(count=upto(2 * T))
    def is_to_call(self, count: int) -> None:
        """A thread gets `count` calls to make; an owner of requests may make one call into two."""
        require(self.owed + count <= 4 * self.T)
        self.owed += count

    @action(thread=upto(T), call=Call, request=upto(K))
    def calls(self, thread: int, call: Call, request: int) -> None:
        """A thread begins a call of timer or purgatory."""
        if call == Call.CHECK:
            for each in range(self.K):
                if each in self.ready:
                    self.told.add(each)
                    if each in self.there:
                        self.asking.add(each)
        if len(self.busy) > 0:
            self.overlapped = True
            for each in range(self.K):
                self.asking.discard(each)
        self.busy.add(thread)
        if call == Call.ADVANCE or call == Call.DRAIN:
            for each in range(self.K):
                if each in self.there and (each in self.cancelled or each in self.done):
                    self.barred.add(thread * self.K + each)
        if call == Call.DRAIN:
            self.overlapped = len(self.busy) > 1

    @action(thread=upto(T), call=Call, request=upto(K), rests=True)
    def returns(self, thread: int, call: Call, request: int) -> None:
        """The call returns. An advance runs its tasks before it returns."""
        alone = len(self.busy) <= 1
        require(call != Call.DRAIN or not alone or self.pending() == 0, ALL_RUN)
        self.busy.discard(thread)
        self.owed = max(0, self.owed - 1)
        for each in range(self.K):
            self.barred.discard(thread * self.K + each)
        if call == Call.WATCH or call == Call.ADD:
            self.there.add(request)
        if call == Call.READY:
            self.ready.add(request)
        if call == Call.CANCEL:
            self.cancelled.add(request)
        if call == Call.DRAIN:
            self.drained = True
        if call == Call.CHECK:
            self.swept = self.drained
            for each in range(self.K):
                require(each not in self.asking or each in self.done, WATCHED)
                self.asking.discard(each)

    @action(thread=upto(T))
    def fails(self, thread: int) -> None:
        """A call ends in an error: it used something that was not initialised."""
        require(False, INITIALISED)
        self.busy.discard(thread)

    # --- callbacks -----------------------------------------------------------------------

    @action(thread=upto(T), request=upto(K))
    def completes(self, thread: int, request: int) -> None:
        """A thread runs a request's onComplete."""
        require(request not in self.done, ONCE)
        self.done.add(request)
        self.winner[request] = thread

    @action(thread=upto(T), request=upto(K))
    def expires(self, thread: int, request: int) -> None:
        """A thread runs a request's onExpiration."""
        require(request in self.done and self.winner[request] == thread, EXPIRY)
        require(request not in self.expired, EXPIRY)
        self.expired.add(request)

    @action(thread=upto(T), request=upto(K))
    def runs(self, thread: int, request: int) -> None:
        """The timer runs a task; a request is one."""
        barred = thread * self.K + request in self.barred
        require(not barred or request in self.done, CANCELLED)
        require(not barred, OUT_OF_TIMER)
        self.ran.add(request)

    @action(level=upto(WHEELS))
    def makes_wheel(self, level: int) -> None:
        """An overflow wheel is made at a level."""
        require(level not in self.levels, ONE_WHEEL)
        self.levels.add(level)

    # --- at the end ----------------------------------------------------------------------

    @action
    def stands(self) -> None:
        """A thread has taken some steps, and none of them is visible."""

    @action(rests=True)
    def stuck(self) -> None:
        """Some threads have not finished, and none of them can continue."""
        require(False, DEADLOCK)

    @action(size=upto(K + 3), keys=upto(4), rests=(TRIGGER, ALL_RUN, RETURNED))
    def rests(self, size: int, keys: int) -> None:
        """All threads have finished: the timer counts size - 1 entries, and `keys` keys have a
        list.
        """
        for each in range(self.K):
            pending = each in self.there and each not in self.done
            require(not pending or each not in self.told, TRIGGER)
        require(not self.drained or self.pending() == 0, ALL_RUN)
        require(size - 1 >= self.pending(), COUNTED)
        lazy = sum(each in self.cancelled and each not in self.ran for each in range(self.K))
        extra = 0 if self.drained else lazy
        require(self.overlapped or size - 1 <= self.pending() + extra, OUT_OF_TIMER)
        require(not self.swept or keys == 0, EMPTY_LISTS)
        require(self.owed == 0, RETURNED)

    @action
    def begins_anew(self) -> None:
        """After a drain that left nothing, the next threads begin, with other requests and tasks.
        """
        for each in range(self.K):
            self.there.discard(each)
            self.ready.discard(each)
            self.told.discard(each)
            self.asking.discard(each)
            self.done.discard(each)
            self.winner[each] = self.T
            self.ran.discard(each)
            self.cancelled.discard(each)
            self.expired.discard(each)
        self.drained = False
        self.swept = False

    @action(thread=upto(T))
    def completes_again(self, thread: int) -> None:
        """A thread runs the onComplete of a request of before."""
        require(False, ONCE)

    @action(thread=upto(T))
    def expires_again(self, thread: int) -> None:
        """A thread runs the onExpiration of a request of before."""
        require(False, EXPIRY)

    @action(thread=upto(T))
    def runs_again(self, thread: int) -> None:
        """The timer runs a request or a task of before."""
        require(False, OUT_OF_TIMER)

    def pending(self) -> int:
        """The number of requests and tasks that have yet to run or to be completed."""
        return sum(
            each in self.there and each not in self.done and each not in self.ran
            and each not in self.cancelled for each in range(self.K))


EXPECTATIONS = ()
"""By itself it promises nothing: what is tied to it is in the chapters ``…_seen``."""
