"""The purgatory's races: one request, and the three threads that may complete it.

Theory of operation
-------------------
The *requester* tries the request, puts it on the lists of its keys, tries again, and puts it into
the timer if it is still not completed. A *trigger* makes it ready and then looks at the list of
one key; if it finds the request there, it tries it. The *timer* runs it when its time has come.
All interleavings of these are possible, at the steps in which the code touches shared state:

    requester   try . watch, watch, … . try . completed? . timer.add . completed? -> cancel
    trigger     make ready . look at the list . try
    timer       take out . force
    winner      CAS . cancel the timer entry . onComplete (. onExpiration)

Four of these steps look superfluous, and each is there because of a race:

- CAS: two threads may find the request not completed at the same time (KAFKA-385).
- The second try: a trigger that read the list before the request was on it did not find it, but it
  made the request ready before; so the second try finds it ready.
- The second look at ``completed``: a winner between the first look and timer.add found nothing to
  cancel.
- onExpiration for the winner only.

``Race`` models timer.add as one step. With threads it is two, and then even the second look does
not keep a completed request out of the timer in a quiescent state: see ``LinkingLater``.

Tries are made under the request's lock. That is a convenience for callers, and no rule needs it;
but code that replaces it by a tryLock has to make up for the skipped try. A thread that finds the
lock taken and gives up relies on the holder, which may have tried already (KAFKA-6653). With a flag
that asks the holder to try again it is sound, if all holders read the flag (KAFKA-5970); if the
lock is shared with code that does not, triggers are lost again (KAFKA-8334: commits time out).

Source: DelayedOperation.scala of Kafka 0.9 to 3.9; kafka#purgatory, kafka#mutants.
"""

from __future__ import annotations

from enum import IntEnum

from ..expectations import expect
from ..notation import (
    CLAIM, MUST, Machine, action, always, array, boolean, choice, const, integer, leads_to, require,
    subset, upto,
)

__all__ = [
    "EXPECTATIONS", "AskingTryLock", "ExpiringAnyway", "KeepingDeadEntries",
    "LinkingLater",
    "NotCancelling", "Race", "TryLock", "TryPerKey", "WithoutCas", "WithoutRecheck",
    "WithoutSecondTry", "WithoutTimeout",
]

CODE = "kafka#purgatory (DelayedOperation)"


class Thread(IntEnum):
    """Threads that take steps."""

    REQUESTER = 0
    TRIGGER = 1
    TIMER = 2
    OTHER = 3       # code that uses the request's lock for something else


class Asking(IntEnum):
    """Next steps of the requester."""

    TRY = 0
    WATCH = 1
    RETRY = 2
    FREE = 3        # its lock
    LOOK = 4        # read whether it is completed
    ADD = 5         # to the timer
    LOOK_AGAIN = 6
    DONE = 7
    FLAG = 8        # only AskingTryLock: read whether it was asked to try again


class Telling(IntEnum):
    """Next steps of the trigger."""

    START = 0
    FIND = 1
    TRY = 2
    DONE = 3


class Ending(IntEnum):
    """Progress of a thread that completes the request."""

    NO = 0
    CAS = 1
    SET = 2         # only without CAS: has read, will write
    CANCEL = 3
    COMPLETE = 4    # about to call onComplete
    EXPIRE = 5      # about to call onExpiration


class Race(Machine):
    """One request with J keys; the trigger is an event of the last one."""

    J = const(2, at_least=1)            # keys
    O = const(0, at_most=1)             # noqa: E741 1: other code uses the request's lock too

    ready = boolean(False)
    completed = boolean(False)
    lists = subset(upto(J))             # keys with the request in their list
    in_timer = boolean(False)
    lock = integer(0, 4, init=4)        # a thread, or 4: free
    asked = boolean(False)              # the flag of AskingTryLock

    requester = choice(Asking)
    trigger = choice(Telling)
    ending = array(Thread, choice(Ending))
    tries = integer(0, J + 3)           # by the requester
    completions = integer(0, 3)
    expirations = integer(0, 3)
    winner = integer(0, 4, init=4)      # thread that completed it; 4: none

    # --- the requester ---------------------------------------------------------------

    @action(fair=True)
    def try_first(self) -> None:
        """The first try, under the lock that the requester holds until the second."""
        require(self.requester == Asking.TRY and self.lock == 4)
        self.lock = Thread.REQUESTER
        self.attempt(Asking.WATCH)

    @action(fair=True)
    def watch(self) -> None:
        """Put the request on the next key's list."""
        require(self.requester == Asking.WATCH and self.ending[Thread.REQUESTER] == Ending.NO)
        self.lists.add(len(self.lists))
        if len(self.lists) == self.J:
            self.requester = Asking.RETRY

    @action(fair=True)
    def try_again(self) -> None:
        """The requester tries again, now that it is on all lists."""
        require(self.requester == Asking.RETRY)
        self.attempt(Asking.FREE)

    @action(fair=True)
    def free(self) -> None:
        """The requester releases its lock."""
        require(self.requester == Asking.FREE)
        self.lock = 4
        self.requester = Asking.LOOK

    def attempt(self, otherwise: Asking) -> None:
        """tryComplete: the requester completes a ready request, and otherwise continues."""
        self.tries = min(self.tries + 1, self.J + 3)
        if self.ready:
            self.requester = Asking.DONE
            self.ending[Thread.REQUESTER] = Ending.CAS
        else:
            self.requester = otherwise

    @action(fair=True)
    def look(self) -> None:
        """A completed request does not go into the timer."""
        require(self.requester == Asking.LOOK)
        self.requester = Asking.DONE if self.completed else Asking.ADD

    @action(fair=True)
    def add_to_timer(self) -> None:
        """The requester puts the request into the timer."""
        require(self.requester == Asking.ADD)
        self.in_timer = True
        self.requester = Asking.LOOK_AGAIN

    @action(fair=True)
    def look_again(self) -> None:
        """If the request was completed meanwhile, the winner may have been too early to cancel it.
        """
        require(self.requester == Asking.LOOK_AGAIN)
        if self.completed:
            self.in_timer = False
        self.requester = Asking.DONE

    # --- the trigger -----------------------------------------------------------------

    @action
    def make_ready(self) -> None:
        """The request's condition becomes true."""
        require(self.trigger == Telling.START)
        self.ready = True
        self.trigger = Telling.FIND

    @action(fair=True)
    def find(self) -> None:
        """check_and_complete looks at the list of the last key."""
        require(self.trigger == Telling.FIND)
        self.trigger = Telling.TRY if self.J - 1 in self.lists else Telling.DONE

    @action(fair=True)
    def try_found(self) -> None:
        """safeTryComplete: the trigger tries under the lock, for which it waits."""
        require(self.trigger == Telling.TRY and self.lock == 4)
        self.lock = Thread.TRIGGER
        self.trigger = Telling.DONE
        self.ending[Thread.TRIGGER] = Ending.CAS

    # --- the timer, and others -------------------------------------------------------

    @action(fair=True)
    def time_out(self) -> None:
        """The timer takes the request out, and runs it, without the lock."""
        require(self.in_timer and self.ending[Thread.TIMER] == Ending.NO)
        self.in_timer = False
        self.ending[Thread.TIMER] = Ending.CAS

    @action
    def use_lock(self) -> None:
        """Other code takes the lock."""
        require(self.O == 1 and self.lock == 4)
        self.lock = Thread.OTHER

    @action(fair=True)
    def free_lock(self) -> None:
        """Other code releases the lock."""
        require(self.lock == Thread.OTHER)
        self.lock = 4

    # --- forceComplete ---------------------------------------------------------------

    @action(fair=True, thread=Thread)
    def compare_and_set(self, thread: Thread) -> None:
        """Only one thread wins the compare-and-set."""
        require(self.ending[thread] == Ending.CAS)
        if self.completed:
            self.lose(thread)
        else:
            self.completed = True
            self.winner = thread
            self.ending[thread] = Ending.CANCEL

    def lose(self, thread: Thread) -> None:
        """The request is completed already, and the thread leaves."""
        self.leave(thread)

    def leave(self, thread: Thread) -> None:
        """The thread has finished, and releases its lock."""
        self.ending[thread] = Ending.NO
        if self.lock == thread:
            self.lock = 4

    @action(fair=True, thread=Thread)
    def cancel(self, thread: Thread) -> None:
        """The winner takes the request out of the timer."""
        require(self.ending[thread] == Ending.CANCEL)
        self.in_timer = False
        self.ending[thread] = Ending.COMPLETE

    @action(fair=True, thread=Thread)
    def complete(self, thread: Thread) -> None:
        """The winner calls onComplete; the timer continues with onExpiration."""
        require(self.ending[thread] == Ending.COMPLETE)
        self.completions += 1
        if thread == Thread.TIMER:
            self.ending[thread] = Ending.EXPIRE
        else:
            self.leave(thread)

    @action(fair=True)
    def expire(self) -> None:
        """onExpiration, by the timer."""
        require(self.ending[Thread.TIMER] == Ending.EXPIRE)
        self.expirations += 1
        self.leave(Thread.TIMER)

    def is_quiet(self) -> bool:
        """True if no thread is at work, except for a trigger that never came."""
        return (self.requester == Asking.DONE
                and (self.trigger == Telling.START or self.trigger == Telling.DONE)
                and all(step == Ending.NO for step in self.ending))

    # --- rules -----------------------------------------------------------------------

    @always("KAFKA-P1R", MUST,
            "A request's completion callback is called at most once, however many threads try "
            "to complete the request.",
            source=f"{CODE}; kafka#P1; KAFKA-385")
    def completed_once(self) -> bool:
        """One call of onComplete."""
        return self.completions <= 1

    @always("KAFKA-P1ER", MUST,
            "A request's expiry callback is called at most once, only if its timeout completed "
            "the request, and only after its completion callback.",
            source=f"{CODE}; kafka#P1; KAFKA-1989")
    def expiry_is_the_winners(self) -> bool:
        """The winner calls it, after onComplete."""
        return self.expirations == 0 or (
            self.expirations == 1 and self.completions == 1 and self.winner == Thread.TIMER)

    @leads_to("KAFKA-P2LR", MUST,
              "Once the call that creates a request has finished, the request is eventually "
              "completed, by its timeout if by nothing else.",
              source="002#requests ('some timeout occurs')")
    def requests_end(self) -> tuple[bool, bool]:
        """Counted from the end of the requester."""
        return self.requester == Asking.DONE, self.completions > 0

    @always("KAFKA-P3", MUST,
            "No event is lost: when both the call that creates a request and an event of its "
            "key after it became ready have finished, it is completed or a thread is completing "
            "it.",
            source=f"{CODE}; kafka#P3; KAFKA-6653, KAFKA-8334")
    def no_trigger_is_lost(self) -> bool:
        """A thread that is completing it counts."""
        return (self.requester != Asking.DONE or self.trigger != Telling.DONE
                or self.completed or any(step != Ending.NO for step in self.ending))

    @always("KAFKA-P4R", MUST, "When no thread is at work, a completed request is not in the "
            "timer.",
            source=f"{CODE}; kafka#P4 (after quiescence)")
    def completed_is_not_timed(self) -> bool:
        """Checked in quiescent states."""
        return not (self.is_quiet() and self.completed and self.in_timer)

    @always("KAFKA-P10", MUST,
            "The call that creates a request tries to complete it at most twice, whatever its "
            "number of keys.",
            source=f"{CODE}; KAFKA-1952")
    def two_tries(self) -> bool:
        """Once before and once after watching."""
        return self.tries <= 2

    @always("KAFKA-PE6", CLAIM,
            "At any time, also during calls, a request that is on a watcher list and not "
            "completed is in the timer.",
            source="002#purging; kafka#purgatory: not while one is watched and "
                   "not in the timer yet")
    def timer_counts_the_pending(self) -> bool:
        """A watched request that is not completed is in the timer."""
        return self.completed or not self.lists or self.in_timer


class WithoutCas(Race):
    """``completed`` is read, then written: two threads may both read false (KAFKA-385)."""

    @action(fair=True, thread=Thread)
    def compare_and_set(self, thread: Thread) -> None:
        """The flag is read; writing it is a separate step."""
        require(self.ending[thread] == Ending.CAS)
        if self.completed:
            self.lose(thread)
        else:
            self.ending[thread] = Ending.SET

    @action(fair=True, thread=Thread)
    def set(self, thread: Thread) -> None:
        """The flag is written, even if another thread has written it meanwhile."""
        require(self.ending[thread] == Ending.SET)
        self.completed = True
        self.winner = thread
        self.ending[thread] = Ending.CANCEL


class NotCancelling(Race):
    """forceComplete leaves the request in the timer (KAFKA-1989)."""

    @action(fair=True, thread=Thread)
    def cancel(self, thread: Thread) -> None:
        """The entry stays in the timer."""
        require(self.ending[thread] == Ending.CANCEL)
        self.ending[thread] = Ending.COMPLETE


class WithoutTimeout(Race):
    """The requester has finished after watching: there is no timer.add."""

    @action(fair=True)
    def add_to_timer(self) -> None:
        """Only a trigger can complete the request."""
        super().add_to_timer()
        self.in_timer = False


class WithoutSecondTry(Race):
    """The requester watches, and continues with the timer."""

    @action(fair=True)
    def try_again(self) -> None:
        """The requester continues without a try."""
        require(self.requester == Asking.RETRY)
        self.requester = Asking.FREE


class WithoutRecheck(Race):
    """The requester does not look again after timer.add."""

    @action(fair=True)
    def look_again(self) -> None:
        """The requester has finished without a look."""
        require(self.requester == Asking.LOOK_AGAIN)
        self.requester = Asking.DONE


class LinkingLater(Race):
    """timer.add in the two steps that it has with threads: the entry is tested, then linked.

    A winner in between finds no list to take the entry out of, and the request forgets it; so the
    second look finds nothing to cancel either. The dead entry is never run, and leaves with its
    bucket: the timer is right only eventually, even when all threads have finished.
    """

    linking = boolean(False)            # tested, and not linked yet
    dead = boolean(False)               # cancelled in between

    @action(fair=True)
    def add_to_timer(self) -> None:
        """Only the test of the entry."""
        require(self.requester == Asking.ADD and not self.linking)
        self.linking = True

    @action(fair=True)
    def link(self) -> None:
        """Link the entry into its bucket, dead or alive."""
        require(self.linking)
        self.linking = False
        self.in_timer = True
        self.requester = Asking.LOOK_AGAIN

    @action(fair=True, thread=Thread)
    def cancel(self, thread: Thread) -> None:
        """Unlink the entry from its bucket; the request forgets its entry."""
        require(self.ending[thread] == Ending.CANCEL)
        self.dead = self.dead or self.linking
        self.in_timer = False
        self.ending[thread] = Ending.COMPLETE

    @action(fair=True)
    def look_again(self) -> None:
        """A forgotten entry cannot be cancelled."""
        require(self.requester == Asking.LOOK_AGAIN)
        if self.completed and not self.dead:
            self.in_timer = False
        self.requester = Asking.DONE

    @leads_to("KAFKA-P4D", MUST, "A completed request does not stay in the timer forever.",
              source=f"{CODE}; kafka#wheel: add tests whether the entry is cancelled, and "
                     "then links it")
    def dead_entries_go(self) -> tuple[bool, bool]:
        """It leaves with its bucket, at the latest."""
        return self.completed and self.in_timer, not self.in_timer


class KeepingDeadEntries(LinkingLater):
    """The bucket of a dead entry never expires."""

    @action(fair=True)
    def time_out(self) -> None:
        """Only a bucket without a dead entry expires."""
        require(not self.dead)
        super().time_out()


class ExpiringAnyway(Race):
    """onExpiration is called even if another thread was first (the old purgatory, KAFKA-1989)."""

    def lose(self, thread: Thread) -> None:
        """The timer calls it although it has lost."""
        if thread == Thread.TIMER:
            self.ending[thread] = Ending.EXPIRE
        else:
            self.leave(thread)


class TryPerKey(Race):
    """A try before each key's list, as in early releases (KAFKA-1952): sound, but slow."""

    @action(fair=True)
    def watch(self) -> None:
        """Try, and then watch the next key."""
        require(self.requester == Asking.WATCH and self.ending[Thread.REQUESTER] == Ending.NO)
        self.attempt(Asking.WATCH)
        if self.requester == Asking.WATCH:
            self.lists.add(len(self.lists))
            if len(self.lists) == self.J:
                self.requester = Asking.RETRY


class TryLock(Race):
    """The trigger gives up if the lock is taken, since the holder will try (KAFKA-6653)."""

    @action(fair=True)
    def give_up(self) -> None:
        """tryLock fails, and the trigger gives up."""
        require(self.trigger == Telling.TRY and self.lock != 4)
        self.trigger = Telling.DONE


class AskingTryLock(Race):
    """tryLock with a flag that asks the requester to try again (KAFKA-5970); code that holds the
    lock for another purpose does not look at it (KAFKA-8334)."""

    @action(fair=True)
    def give_up(self) -> None:
        """tryLock fails: the first time the trigger sets the flag, the second time it gives up."""
        require(self.trigger == Telling.TRY and self.lock != 4)
        if self.asked:
            self.trigger = Telling.DONE
        else:
            self.asked = True

    @action(fair=True)
    def try_again(self) -> None:
        """The requester clears the flag before it tries."""
        require(self.requester == Asking.RETRY)
        self.asked = False
        self.attempt(Asking.FREE)

    @action(fair=True)
    def free(self) -> None:
        """The requester releases its lock, and then reads the flag."""
        require(self.requester == Asking.FREE)
        self.lock = 4
        self.requester = Asking.FLAG

    @action(fair=True)
    def look_at_flag(self) -> None:
        """If asked, the requester tries once more as soon as it gets the lock; otherwise it
        continues.
        """
        require(self.requester == Asking.FLAG)
        if self.asked:
            require(self.lock == 4)
            self.lock = Thread.REQUESTER
            self.requester = Asking.RETRY
        else:
            self.requester = Asking.LOOK


RULES = (
    ("KAFKA-P1R", "a request is completed once"),
    ("KAFKA-P1ER", "expiry for the winner only"),
    ("KAFKA-P2LR", "a request is completed eventually"), ("KAFKA-P3", "no trigger is lost"),
    ("KAFKA-P4R", "out of the timer"), ("KAFKA-P10", "two tries, whatever the number of keys"),
)

EXPECTATIONS = (
    *(expect(Race, rule, "holds", about, J=(1, 2, 3), O=(0, 1)) for rule, about in RULES),
    expect(Race, "KAFKA-PE6", "violated", "watched, and not in the timer yet", J=1),
    expect(WithoutCas, "KAFKA-P1R", "violated", "KAFKA-385: no CAS, completed twice", J=1),
    expect(WithoutCas, "KAFKA-P1ER", "violated", "KAFKA-385: no CAS, completed and expired", J=1),
    expect(NotCancelling, "KAFKA-P4R", "violated", "no cancel in forceComplete (KAFKA-1989)", J=1),
    expect(WithoutSecondTry, "KAFKA-P3", "violated",
           "no second try: a trigger between try and watch", J=(1, 2)),
    expect(WithoutSecondTry, "KAFKA-P2LR", "holds",
           "without a second try only the timeout completes a request that missed its "
           "trigger", J=(1, 2)),
    expect(WithoutRecheck, "KAFKA-P4R", "violated", "no second look after timer.add", J=1),
    expect(LinkingLater, "KAFKA-P4R", "violated",
           "completed between timer.add's test and its link: a dead entry", J=1),
    expect(WithoutTimeout, "KAFKA-P2LR", "violated",
           "without a timeout a request may wait for an event forever", J=1),
    expect(KeepingDeadEntries, "KAFKA-P4D", "violated",
           "a dead entry stays if its bucket never expires", J=1),
    expect(LinkingLater, "KAFKA-P4D", "holds",
           "a dead entry that was linked too late leaves with its bucket", J=(1, 2)),
    expect(LinkingLater, "KAFKA-P1R", "holds",
           "a dead entry that was linked too late is never completed again", J=1),
    expect(ExpiringAnyway, "KAFKA-P1ER", "violated", "expired without winning (KAFKA-1989)", J=1),
    expect(TryPerKey, "KAFKA-P3", "holds", "a try per key (KAFKA-1952) loses nothing", J=(1, 3)),
    expect(TryPerKey, "KAFKA-P10", "violated",
           "a try per key makes as many tries as there are keys (KAFKA-1952)", J=(1, 3)),
    expect(TryLock, "KAFKA-P3", "violated", "tryLock: the holder has tried already (KAFKA-6653)",
           J=1),
    expect(AskingTryLock, "KAFKA-P3", "violated",
           "tryLock with a flag (KAFKA-5970) fails if others hold the lock (KAFKA-8334)",
           where="O == 1", J=(1, 2), O=(0, 1)),
)

UNSEEN = {
    "KAFKA-PE6":
        "It is false while a request is watched and not yet in the timer, so no implementation has "
        "to satisfy it.",
}
