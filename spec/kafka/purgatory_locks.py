"""The purgatory's locks, and the order in which threads may take them.

Theory of operation
-------------------
Completing a request calls back into the code that created it, and that code has locks of its own:
a consumer group's, a partition's. Such code in turn reports events to the purgatory. So a thread
that comes from the purgatory takes *the request's lock, then the group's*, and a thread that comes
from the group must not take them in the opposite order: it changes the group under the group's
lock, releases the lock, and only then reports to the purgatory. And the purgatory itself holds no
lock but the request's while it tries it: not that of a watcher list, not that of the map.

Each machine below is a table of programs, one for each thread: a sequence of steps that take and
release locks, run again and again. A take may be shared, as of a read lock; a shared take waits not
only for an owner but also behind threads that wait for the lock exclusively, otherwise writers
would starve. A deadlock is a state in which no thread can continue (KAFKA-P9).

- KAFKA-3994, KAFKA-2253: the list's lock is held while its requests are tried.
- KAFKA-5970, KAFKA-6042: the group reports to the purgatory while it holds its lock, and the
  request has another lock.
- KAFKA-7697: two threads complete fetches of each other's partition while they hold their own
  partition's leaderIsrUpdateLock, shared; that would be harmless without two threads that wait for
  these locks exclusively.

Source: kafka#locks, kafka#P9; the issues named above.
"""

from __future__ import annotations

from enum import IntEnum

from ..expectations import expect
from ..notation import (
    MUST, Machine, action, always, array, integer, never_stuck, one_of, require, subset, table,
    upto,
)

__all__ = [
    "EXPECTATIONS", "CompletingUnderPartitionLocks", "CompletingWithoutWriters", "GroupLocks",
    "Lock", "PartitionLocks", "Programs", "Step", "TellingUnderGroupLock", "TryingUnderListLock",
]


class Step(IntEnum):
    """Steps in the lines of a program."""

    TAKE = 0        # the lock, exclusively
    SHARE = 1       # the lock, shared with others
    GIVE = 2


class Lock(IntEnum):
    """The locks; a program for partitions has FIRST and SECOND."""

    LIST = 0
    REQUEST = 1
    GROUP = 2


FIRST, SECOND = 0, 1
LENGTH = 6


class Programs(Machine):
    """Threads that take and release three locks according to their programs: lines of (step, lock).
    """

    programs = table((
        ((Step.TAKE, Lock.LIST), (Step.GIVE, Lock.LIST)),
    ))

    line = array(one_of(programs), integer(0, LENGTH))
    waiting = subset(one_of(programs))      # threads that wait for an exclusive lock
    owner = array(Lock, integer(0, 4, init=4))      # thread that holds it exclusively; 4: none
    sharers = subset(upto(4 * len(Lock)))   # thread t shares lock l: t * 3 + l

    @action(fair=True, thread=one_of(programs))
    def ask(self, thread: int) -> None:
        """The thread begins to wait for an exclusive lock."""
        require(self.is_at(thread, Step.TAKE) and thread not in self.waiting)
        self.waiting.add(thread)

    @action(fair=True, thread=one_of(programs))
    def take(self, thread: int) -> None:
        """The thread gets the lock, which no other thread holds."""
        require(thread in self.waiting)
        self.waiting.discard(thread)
        for lock in range(3):
            if self.is_lock(thread, lock):
                require(self.owner[lock] == 4)
                require(all(other * 3 + lock not in self.sharers for other in range(4)))
                self.owner[lock] = thread
        self.go_on(thread)

    @action(fair=True, thread=one_of(programs))
    def share(self, thread: int) -> None:
        """The thread shares the lock, which no thread holds or awaits exclusively."""
        require(self.is_at(thread, Step.SHARE))
        for lock in range(3):
            if self.is_lock(thread, lock):
                require(self.owner[lock] == 4)
                require(all(
                    other not in self.waiting or not self.is_lock(other, lock)
                    for other in range(len(self.programs))
                ))
                self.sharers.add(thread * 3 + lock)
        self.go_on(thread)

    @action(fair=True, thread=one_of(programs))
    def give(self, thread: int) -> None:
        """The thread releases the lock."""
        require(self.is_at(thread, Step.GIVE))
        for lock in range(3):
            if self.is_lock(thread, lock):
                self.sharers.discard(thread * 3 + lock)
                if self.owner[lock] == thread:
                    self.owner[lock] = 4
        self.go_on(thread)

    def is_at(self, thread: int, step: Step) -> bool:
        """True if this is the step of the thread's next line."""
        return any(
            self.line[thread] == number and self.programs[thread][number][0] == step
            for number in range(len(self.programs[thread]))
        )

    def is_lock(self, thread: int, lock: int) -> bool:
        """True if the thread's next line is about this lock."""
        return any(
            self.line[thread] == number and self.programs[thread][number][1] == lock
            for number in range(len(self.programs[thread]))
        )

    def go_on(self, thread: int) -> None:
        """The thread advances to its next line; after the last follows the first."""
        self.line[thread] = (self.line[thread] + 1) % len(self.programs[thread])

    @never_stuck("KAFKA-P9", MUST,
                 "Threads that add, try and complete requests under the locks of lists, groups "
                 "and partitions never all wait for each other.",
                 source="kafka#P9; KAFKA-2253, KAFKA-3994, KAFKA-5970, KAFKA-6042, KAFKA-7697")
    def never_at_rest(self) -> bool:
        """Programs repeat forever, so every state without a next step is a deadlock."""
        return False

    @always("KAFKA-P9X", MUST, "A lock that one thread holds exclusively has no sharer.",
            source="kafka#locks (held by one thread at a time)")
    def locks_exclude(self) -> bool:
        """A lock has one owner or sharers, not both."""
        return all(
            self.owner[lock] == 4 or all(t * 3 + lock not in self.sharers for t in range(4))
            for lock in range(3)
        )


class GroupLocks(Programs):
    """An event thread, which tries a request of a list, and a thread of the group."""

    programs = table((
        # the list is read and released; the request is tried under its lock; the group is notified
        ((Step.TAKE, Lock.LIST), (Step.GIVE, Lock.LIST), (Step.TAKE, Lock.REQUEST),
         (Step.TAKE, Lock.GROUP), (Step.GIVE, Lock.GROUP), (Step.GIVE, Lock.REQUEST)),
        # the group changes, and then reports to the purgatory
        ((Step.TAKE, Lock.GROUP), (Step.GIVE, Lock.GROUP), (Step.TAKE, Lock.LIST),
         (Step.GIVE, Lock.LIST), (Step.TAKE, Lock.REQUEST), (Step.GIVE, Lock.REQUEST)),
    ))


class TryingUnderListLock(GroupLocks):
    """The list's lock is held while its requests are tried, and a group watches a request while it
    holds its own lock (KAFKA-3994).
    """

    programs = table((
        ((Step.TAKE, Lock.LIST), (Step.TAKE, Lock.GROUP), (Step.GIVE, Lock.GROUP),
         (Step.GIVE, Lock.LIST)),
        ((Step.TAKE, Lock.GROUP), (Step.TAKE, Lock.LIST), (Step.GIVE, Lock.LIST),
         (Step.GIVE, Lock.GROUP)),
    ))


class TellingUnderGroupLock(GroupLocks):
    """The group reports to the purgatory while it holds its lock (KAFKA-5970)."""

    programs = table((
        ((Step.TAKE, Lock.REQUEST), (Step.TAKE, Lock.GROUP), (Step.GIVE, Lock.GROUP),
         (Step.GIVE, Lock.REQUEST)),
        ((Step.TAKE, Lock.GROUP), (Step.TAKE, Lock.REQUEST), (Step.GIVE, Lock.REQUEST),
         (Step.GIVE, Lock.GROUP)),
    ))


class PartitionLocks(Programs):
    """Two threads that append to a partition each, and then complete fetches of the other; two
    that change a partition's leader."""

    programs = table((
        ((Step.SHARE, FIRST), (Step.GIVE, FIRST), (Step.SHARE, SECOND), (Step.GIVE, SECOND)),
        ((Step.SHARE, SECOND), (Step.GIVE, SECOND), (Step.SHARE, FIRST), (Step.GIVE, FIRST)),
        ((Step.TAKE, FIRST), (Step.GIVE, FIRST)),
        ((Step.TAKE, SECOND), (Step.GIVE, SECOND)),
    ))


class CompletingUnderPartitionLocks(PartitionLocks):
    """Fetches are completed while the partition's lock is still shared (KAFKA-7697)."""

    programs = table((
        ((Step.SHARE, FIRST), (Step.SHARE, SECOND), (Step.GIVE, SECOND), (Step.GIVE, FIRST)),
        ((Step.SHARE, SECOND), (Step.SHARE, FIRST), (Step.GIVE, FIRST), (Step.GIVE, SECOND)),
        ((Step.TAKE, FIRST), (Step.GIVE, FIRST)),
        ((Step.TAKE, SECOND), (Step.GIVE, SECOND)),
    ))


class CompletingWithoutWriters(CompletingUnderPartitionLocks):
    """The same without threads that change a leader: no harm is visible."""

    programs = table((
        ((Step.SHARE, FIRST), (Step.SHARE, SECOND), (Step.GIVE, SECOND), (Step.GIVE, FIRST)),
        ((Step.SHARE, SECOND), (Step.SHARE, FIRST), (Step.GIVE, FIRST), (Step.GIVE, SECOND)),
    ))


DEADLOCK = "KAFKA-P9"

EXPECTATIONS = (
    expect(GroupLocks, DEADLOCK, "holds", "the group reports to the purgatory without a lock"),
    expect(TryingUnderListLock, DEADLOCK, "violated", "KAFKA-3994: a try under the list's lock"),
    expect(TellingUnderGroupLock, DEADLOCK, "violated", "KAFKA-5970: a report under the group's "
           "lock"),
    expect(PartitionLocks, DEADLOCK, "holds", "fetches are completed without a partition's lock"),
    expect(PartitionLocks, "KAFKA-P9X", "holds", "an exclusive lock is not shared"),
    expect(CompletingUnderPartitionLocks, DEADLOCK, "violated",
           "KAFKA-7697: fetches are completed under a shared lock"),
    expect(CompletingWithoutWriters, DEADLOCK, "holds",
           "KAFKA-7697 needs writers to show: without them there is no deadlock"),
)

UNSEEN = {
    "KAFKA-P9X":
        "The port does not show which threads hold a lock together; the absence of deadlocks is "
        "KAFKA-P9.",
}
