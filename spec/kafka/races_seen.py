"""Timer and purgatory used by several threads, as their observer sees them.

Theory. Four chapters have the steps of the code: ``purgatory_races`` one request and the three
threads that may complete it, ``purgatory_lists`` the list of a key and its removal, ``timer_races``
one entry that is cascaded and cancelled, and the making of an overflow wheel; ``purgatory_locks``
has programs that take locks. ``observed_races`` sees calls that begin and return, callbacks with
their threads, and counts while no thread is in a call.

A thread calls with its first step, and returns with its last. A condition that becomes true and its
event are two calls of the trigger's thread. A cascade and an expiry are two calls of the driver.

Source: the four chapters, ``observed_races``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ..expectations import expect
from ..notation import action, boolean, require
from ..notation.views import LEFT_OUT, Seen, View, see, shown
from ..refinements import refines, refused
from .given_calls import GivenCalls, ShutDown
from .observed_races import Call, ObservedRaces
from .purgatory_lists import (
    KeepingEmptyLists, WatcherLists, WatchingWithoutLock, WithoutEmptinessTest,
    WithoutIdentityTest,
)
from .purgatory_locks import (
    CompletingUnderPartitionLocks, CompletingWithoutWriters, GroupLocks, PartitionLocks, Programs,
    TellingUnderGroupLock, TryingUnderListLock,
)
from .purgatory_races import (
    Asking, AskingTryLock, Ending, ExpiringAnyway, KeepingDeadEntries,
    LinkingLater, NotCancelling,
    Race, Telling, Thread, TryLock, WithoutCas, WithoutRecheck, WithoutSecondTry, WithoutTimeout,
)
from .timer_races import (
    Cancelling, Cascade, Driving, OverflowWheel, PublishedTooEarly, UncheckedUnlink,
    UntestedEntry, WithoutSecondLook,
)

__all__ = [
    "EXPECTATIONS", "CascadeSeen", "GivenCallsSeen", "KeepingCompleted", "LinkingAnew", "ListsSeen",
    "LocksSeen", "RaceSeen",
    "WheelSeen",
]


def calls(thread: int, call: Call, request: int = 0) -> Seen:
    """A thread begins a call, possibly about a request."""
    return see("calls", thread=thread, call=call, request=request)


def returns(thread: int, call: Call, request: int = 0) -> Seen:
    """The same call returns."""
    return see("returns", thread=thread, call=call, request=request)


def whole(thread: int, call: Call, request: int = 0) -> list[Seen]:
    """A call that no other event interrupts."""
    return [calls(thread, call, request), returns(thread, call, request)]


# --- one request -----------------------------------------------------------------------------

class RaceSeen(View[Race]):
    """The requester, the trigger, the timer, and others that use the request's lock."""

    @shown
    def try_first(self, before: Race, after: Race) -> list[Seen]:
        return [calls(Thread.REQUESTER, Call.WATCH), *self.ended(before, after)]

    @shown
    def look(self, before: Race, after: Race) -> list[Seen]:
        return self.ended(before, after)

    @shown
    def look_again(self, before: Race, after: Race) -> list[Seen]:
        return self.ended(before, after)

    @shown
    def make_ready(self, before: Race, after: Race) -> list[Seen]:
        return [*whole(Thread.TRIGGER, Call.READY), calls(Thread.TRIGGER, Call.CHECK)]

    @shown
    def find(self, before: Race, after: Race) -> list[Seen]:
        return self.ended(before, after)

    @shown
    def time_out(self, before: Race, after: Race) -> list[Seen]:
        return [calls(Thread.TIMER, Call.ADVANCE), see("runs", thread=Thread.TIMER, request=0)]

    @shown
    def use_lock(self, before: Race, after: Race) -> Seen:
        return calls(Thread.OTHER, Call.OTHER)

    @shown
    def free_lock(self, before: Race, after: Race) -> Seen:
        return returns(Thread.OTHER, Call.OTHER)

    @shown
    def compare_and_set(self, before: Race, after: Race, thread: int) -> list[Seen]:
        return self.ended(before, after)

    @shown
    def complete(self, before: Race, after: Race, thread: int) -> list[Seen]:
        return [see("completes", thread=thread, request=0), *self.ended(before, after)]

    @shown
    def expire(self, before: Race, after: Race) -> list[Seen]:
        return [see("expires", thread=Thread.TIMER, request=0), *self.ended(before, after)]

    def ended(self, before: Race, after: Race) -> list[Seen]:
        """The returns of calls that this step ends."""
        ends = ((Thread.REQUESTER, Call.WATCH), (Thread.TRIGGER, Call.CHECK),
                (Thread.TIMER, Call.ADVANCE))
        return [returns(thread, call) for thread, call in ends
                if self.is_through(after, thread) and not self.is_through(before, thread)]

    @staticmethod
    def is_through(machine: Race, thread: Thread) -> bool:
        """True if the thread is in no call."""
        if machine.ending[thread] != Ending.NO:
            return False
        if thread == Thread.REQUESTER:
            return machine.requester == Asking.DONE
        return thread == Thread.TIMER or machine.trigger in (Telling.START, Telling.DONE)

    def asked(self, machine: Race) -> Iterable[Seen]:
        """The counts, when no thread is in a call."""
        if machine.is_quiet() and machine.lock == 4:
            yield see("rests", size=1 + machine.in_timer, keys=len(machine.lists))

    def at_rest(self, machine: Race) -> Iterable[Sequence[Seen]]:
        """The counts after a drain, which expires all buckets."""
        yield [*whole(Thread.TIMER, Call.DRAIN),
               see("rests", size=1 + machine.in_timer, keys=len(machine.lists))]


class LinkingSeen(RaceSeen):
    """The same; a dead entry is never run, and leaves when its bucket expires."""

    @shown
    def time_out(self, before: Race, after: Race) -> list[Seen]:
        assert isinstance(before, LinkingLater)
        runs = [] if before.dead else [see("runs", thread=Thread.TIMER, request=0)]
        return [calls(Thread.TIMER, Call.ADVANCE), *runs]


class AskingSeen(RaceSeen):
    """The same; a trigger that finds the lock taken may give up."""

    @shown
    def give_up(self, before: Race, after: Race) -> list[Seen]:
        return self.ended(before, after)


# --- the list of a key -----------------------------------------------------------------------

Watched = tuple[tuple[int, ...], int]
"""The request of each requester, and the number of requests so far."""


class ListsSeen(View[WatcherLists]):
    """The threads are the requesters, then the sweepers.

    A requester that watches gets a new, ready request each time; there are as many as the observer
    has names for.
    """

    history: Watched = ((), 0)

    def begins(self, machine: WatcherLists) -> Iterable[Seen]:
        """No requester has a request."""
        self.history = (0,) * machine.R, 0
        return ()

    @shown
    def watch(
        self, before: WatcherLists, after: WatcherLists, requester: int
    ) -> list[Seen] | str:
        requests, count = self.history
        if count == REQUESTS:
            return LEFT_OUT
        self.history = (*requests[:requester], count, *requests[requester + 1:]), count + 1
        return [*whole(requester, Call.WATCH, count), *whole(requester, Call.READY, count)]

    @shown
    def get(self, before: WatcherLists, after: WatcherLists, thread: int) -> Seen:
        return calls(before.R + thread, Call.CHECK)

    @shown
    def sweep(self, before: WatcherLists, after: WatcherLists, thread: int) -> list[Seen]:
        requests, _ = self.history
        gone = [each for each in range(before.R) if before.on[each] != after.on[each]]
        return [see("completes", thread=before.R + thread, request=requests[each])
                for each in gone]

    @shown
    def remove(self, before: WatcherLists, after: WatcherLists, thread: int) -> Seen:
        return returns(before.R + thread, Call.CHECK)

    def asked(self, machine: WatcherLists) -> Iterable[Seen | Sequence[Seen]]:
        """When no thread is in a call: an event of a key without a list; and whether an empty list
        is left.
        """
        if all(swept == machine.G for swept in machine.swept):
            event = whole(machine.R, Call.CHECK)
            if machine.mapped == machine.G:
                yield event
            if machine.mapped == machine.G or (
                    all(on == machine.G for on in machine.on) and self.history[1] > 0):
                keys = int(machine.mapped < machine.G)
                yield [*whole(machine.R, Call.DRAIN), *event, see("rests", size=1, keys=keys)]


class FindingSeen(ListsSeen):
    """The same; a requester finds its list, and enters it later."""

    @shown
    def find(
        self, before: WatcherLists, after: WatcherLists, requester: int
    ) -> list[Seen] | str:
        requests, count = self.history
        if count == REQUESTS:
            return LEFT_OUT
        self.history = (*requests[:requester], count, *requests[requester + 1:]), count + 1
        return [*whole(requester, Call.READY, count), calls(requester, Call.WATCH, count)]

    @shown
    def watch(
        self, before: WatcherLists, after: WatcherLists, requester: int
    ) -> list[Seen] | str:
        return [returns(requester, Call.WATCH, self.history[0][requester])]


REQUESTS = 4
"""The number of requests that the observer has names for."""


# --- an entry, a wheel -----------------------------------------------------------------------

ADDER, DRIVER, CANCELLER = 0, 1, 2


class CascadeSeen(View[Cascade]):
    """An adder that has finished before, the driver, and a canceller."""

    def begins(self, machine: Cascade) -> Iterable[Seen]:
        """The task is in the timer already."""
        return whole(ADDER, Call.ADD)

    @shown
    def flush(self, before: Cascade, after: Cascade) -> list[Seen]:
        return [calls(DRIVER, Call.ADVANCE), *self.ended(after)]

    @shown
    def test(self, before: Cascade, after: Cascade) -> list[Seen]:
        return self.ended(after)

    @shown
    def link(self, before: Cascade, after: Cascade) -> Seen:
        return returns(DRIVER, Call.ADVANCE)

    @shown
    def expire(self, before: Cascade, after: Cascade) -> list[Seen]:
        return [calls(DRIVER, Call.ADVANCE), *self.ended(after)]

    @shown
    def test_again(self, before: Cascade, after: Cascade) -> list[Seen]:
        return self.ended(after)

    @shown
    def run(self, before: Cascade, after: Cascade) -> list[Seen]:
        return [see("runs", thread=DRIVER, request=0), *self.ended(after)]

    @staticmethod
    def ended(after: Cascade) -> list[Seen]:
        """The return of the driver's call, if it has finished."""
        return [returns(DRIVER, Call.ADVANCE)] if after.driver == Driving.DONE else []

    @shown
    def read_list(self, before: Cascade, after: Cascade) -> Seen:
        return calls(CANCELLER, Call.CANCEL)

    @shown
    def mark(self, before: Cascade, after: Cascade) -> Seen:
        return returns(CANCELLER, Call.CANCEL)

    def asked(self, machine: Cascade) -> Iterable[Seen]:
        """The size, when no thread is in a call."""
        drives = machine.driver not in (Driving.FLUSH, Driving.EXPIRE, Driving.DONE)
        if not drives and machine.canceller in (Cancelling.READ, Cancelling.DONE):
            yield see("rests", size=1 + machine.size, keys=0)


class WheelSeen(View[OverflowWheel]):
    """Threads that each add a task."""

    @shown
    def look(self, before: OverflowWheel, after: OverflowWheel, thread: int) -> Seen:
        return calls(thread, Call.ADD, thread)

    @shown
    def make(self, before: OverflowWheel, after: OverflowWheel, thread: int) -> Seen:
        return see("makes_wheel", level=1)

    @shown
    def use(self, before: OverflowWheel, after: OverflowWheel, thread: int) -> Seen:
        meets_zeros = after.careless and not before.careless
        return see("fails", thread=thread) if meets_zeros else returns(thread, Call.ADD, thread)


class LocksSeen(View[Programs]):
    """Threads that take locks: only a deadlock is visible."""

    def at_rest(self, machine: Programs) -> Iterable[Seen]:
        """The programs have no end, and show nothing while they continue."""
        if not self.enabled:
            yield see("stuck")


# --- threads and the calls that they are given -----------------------------------------------

class GivenCallsSeen(View[GivenCalls]):
    """The number of calls that the threads were given, and the calls."""

    def begins(self, machine: GivenCalls) -> Iterable[Seen]:
        """The number of calls that the threads are given."""
        yield see("is_to_call", count=machine.T * machine.B)

    @shown
    def call(self, before: GivenCalls, after: GivenCalls, thread: int) -> list[Seen]:
        return whole(thread, Call.OTHER)

    def at_rest(self, machine: GivenCalls) -> Iterable[Seen]:
        """At the end nothing is in the timer, and no key has a list."""
        yield see("rests", size=1, keys=0)


ONE = {"T": 4, "K": 1}

class KeepingCompleted(LinkingLater):
    """A completed request is left to its bucket, which expires for pending ones only."""

    @action(fair=True)
    def look_again(self) -> None:
        """The second look cancels nothing."""
        require(self.requester == Asking.LOOK_AGAIN)
        self.requester = Asking.DONE

    @action(fair=True)
    def time_out(self) -> None:
        """Only a bucket with a pending request expires."""
        require(not self.completed)
        super().time_out()


class LinkingAnew(LinkingLater):
    """A dead entry is linked again when its bucket expires, into a bucket that does not expire."""

    again = boolean(False)

    @action(fair=True)
    def time_out(self) -> None:
        """It stays in the timer."""
        require(not self.again)
        super().time_out()
        self.in_timer = self.dead
        self.again = self.dead


SEEN = refines(Race, ObservedRaces, "calls, callbacks and counts of one request",
               shows=RaceSeen, seen_by=ONE, J=(1, 2), O=(0, 1))
ASKING = replace(SEEN, machine=AskingTryLock, shows=AskingSeen,
                 about="a flag is enough if no other code uses the lock",
                 grid=(("J", (1, 2)), ("O", 0)))
LINKING = refines(LinkingLater, ObservedRaces, "a dead entry leaves with its bucket",
                  shows=LinkingSeen, seen_by=ONE, J=1, O=0)
LISTS = refines(WatcherLists, ObservedRaces, "every watched request is found",
                shows=ListsSeen, seen_by={"T": "R + T", "K": REQUESTS}, R=2, T=1)
FINDING = replace(LISTS, machine=WatchingWithoutLock, shows=FindingSeen)
CASCADE = refines(Cascade, ObservedRaces, "a task that is cascaded and cancelled",
                  shows=CascadeSeen, seen_by=ONE)
WHEEL = refines(OverflowWheel, ObservedRaces, "threads that need one overflow wheel",
                shows=WheelSeen, seen_by={"T": "T", "K": "T"}, T=(2, 3))
LOCKED = refines(GroupLocks, ObservedRaces, "locks of a group and its requests",
                 shows=LocksSeen, seen_by=ONE)
GIVEN = refines(GivenCalls, ObservedRaces, "every call that a thread is given returns",
                shows=GivenCallsSeen, seen_by=ONE, T=(1, 2), B=(1, 2))

EXPECTATIONS = (
    SEEN, ASKING, LINKING, LISTS, CASCADE, WHEEL, LOCKED, GIVEN,
    refused(ShutDown, "KAFKA-P40", "a thread ends before its last call", like=GIVEN, T=2, B=1),
    refines(PartitionLocks, ObservedRaces, "locks of partitions and their requests",
            shows=LocksSeen, seen_by=ONE),
    *(refused(variant, rule, about, like=SEEN, J=1, O=0) for variant, rule, about in (
        (WithoutCas, "KAFKA-P1R", "completed is read, then written (KAFKA-385)"),
        (NotCancelling, "KAFKA-P4R", "no cancel in forceComplete (KAFKA-1989)"),
        (WithoutRecheck, "KAFKA-P4R", "no second look after timer.add"),
        (WithoutSecondTry, "KAFKA-P3", "a trigger between try and watch is lost"),
        (ExpiringAnyway, "KAFKA-P1ER", "expired without winning (KAFKA-1989)"),
        (WithoutTimeout, "KAFKA-W2L", "a waiting request is in no timer"),
    )),
    refused(KeepingDeadEntries, "KAFKA-P4R", "a dead entry outlives its bucket", like=LINKING),
    expect(KeepingCompleted, "KAFKA-P4D", "violated", "a completed request is left to a bucket "
           "that does not expire", J=1, O=0),
    expect(LinkingAnew, "KAFKA-P4D", "violated", "a dead entry is linked again", J=1, O=0),
    refused(KeepingCompleted, "KAFKA-P4R", "a completed request stays there", like=LINKING),
    refused(LinkingAnew, "KAFKA-P4R", "a dead entry is linked again", like=LINKING),
    refused(TryLock, "KAFKA-P3", "a trigger that finds the lock taken gives up", like=ASKING, O=0),
    refused(AskingTryLock, "KAFKA-P3", "other holders of the lock do not read the flag "
            "(KAFKA-8334)",
            like=ASKING, O=1),
    refused(WithoutIdentityTest, "KAFKA-P3I", "another list is removed", like=LISTS, R=1, T=2),
    refused(WithoutEmptinessTest, "KAFKA-P3I", "emptiness is not tested again", like=LISTS),
    refused(WatchingWithoutLock, "KAFKA-P3I", "the list is removed before it is entered",
            like=FINDING),
    refused(KeepingEmptyLists, "KAFKA-P7L", "empty lists stay (KAFKA-2160)", like=LISTS),
    refused(UntestedEntry, "KAFKA-W1CR", "a task cancelled in its cascade runs (KAFKA-2226)",
            like=CASCADE),
    refused(UncheckedUnlink, "KAFKA-W2L", "unlinked from a bucket that it has left", like=CASCADE),
    refused(WithoutSecondLook, "KAFKA-W10", "two overflow wheels for one level", like=WHEEL, T=2),
    refused(PublishedTooEarly, "KAFKA-W11", "used before it is initialised (KAFKA-2112)",
            like=WHEEL, T=2),
    refused(TryingUnderListLock, "KAFKA-P9", "a try under the list's lock (KAFKA-3994)",
            like=LOCKED),
    refused(TellingUnderGroupLock, "KAFKA-P9", "a report under the group's lock (KAFKA-5970)",
            like=LOCKED),
    refused(CompletingUnderPartitionLocks, "KAFKA-P9", "completion under a shared lock "
            "(KAFKA-7697)",
            like=LOCKED),
    refines(CompletingWithoutWriters, ObservedRaces, "a shared lock is harmless without writers",
            shows=LocksSeen, seen_by=ONE),
)
