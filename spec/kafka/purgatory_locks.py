"""The purgatory's locks: in which order threads may take them.

Theory of operation
-------------------
Completing a request calls back into the code that made it, and that code has locks of its own: a
consumer group's, a partition's. Such code in turn tells the purgatory about events. So a thread
that comes from the purgatory goes *lock of a request, then of the group*, and a thread that comes
from the group must not do it the other way round: it changes the group under the group's lock,
gives the lock back, and only then tells the purgatory. And the purgatory itself holds no lock but
the request's while it tries it: not that of a watcher list, not that of the map.

Each machine below is a table of programs, one for each thread: a sequence of takes and gives of
locks, run again and again. A take may be shared, as of a read lock; a shared take waits not only
for an owner but also behind whoever waits for the lock alone, or writers would starve. A deadlock
is a state in which no thread can go on (KAFKA-P9).

- KAFKA-3994, KAFKA-2253: the list's lock is held while its requests are tried.
- KAFKA-5970, KAFKA-6042: the purgatory is told while the group's lock is held, and the request's
  lock is another one.
- KAFKA-7697: two threads complete fetches of each other's partition while they hold their own
  partition's leaderIsrUpdateLock, shared; that would do no harm, but for two threads that wait for
  these locks alone.

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
    """What a line of a program does."""

    TAKE = 0        # the lock alone
    SHARE = 1       # the lock, with others that share it
    GIVE = 2


class Lock(IntEnum):
    """The locks; a program for partitions has FIRST and SECOND."""

    LIST = 0
    REQUEST = 1
    GROUP = 2


FIRST, SECOND = 0, 1
LENGTH = 6


class Programs(Machine):
    """Threads that take and give three locks, as their programs say: lines of (step, lock)."""

    programs = table((
        ((Step.TAKE, Lock.LIST), (Step.GIVE, Lock.LIST)),
    ))

    line = array(one_of(programs), integer(0, LENGTH))
    waiting = subset(one_of(programs))      # threads that wait for a lock alone
    owner = array(Lock, integer(0, 4, init=4))      # who has it alone; 4: nobody
    sharers = subset(upto(4 * len(Lock)))   # thread t shares lock l: t * 3 + l

    @action(fair=True, thread=one_of(programs))
    def ask(self, thread: int) -> None:
        """The thread gets in line for a lock alone."""
        require(self.is_at(thread, Step.TAKE) and thread not in self.waiting)
        self.waiting.add(thread)

    @action(fair=True, thread=one_of(programs))
    def take(self, thread: int) -> None:
        """Nobody else has it."""
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
        """Nobody has it alone, and nobody waits for that."""
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
        """The lock is given back."""
        require(self.is_at(thread, Step.GIVE))
        for lock in range(3):
            if self.is_lock(thread, lock):
                self.sharers.discard(thread * 3 + lock)
                if self.owner[lock] == thread:
                    self.owner[lock] = 4
        self.go_on(thread)

    def is_at(self, thread: int, step: Step) -> bool:
        """Whether that is the thread's next line."""
        return any(
            self.line[thread] == number and self.programs[thread][number][0] == step
            for number in range(len(self.programs[thread]))
        )

    def is_lock(self, thread: int, lock: int) -> bool:
        """Whether the thread's next line is about that lock."""
        return any(
            self.line[thread] == number and self.programs[thread][number][1] == lock
            for number in range(len(self.programs[thread]))
        )

    def go_on(self, thread: int) -> None:
        """The next line; from the last to the first."""
        self.line[thread] = (self.line[thread] + 1) % len(self.programs[thread])

    @never_stuck("KAFKA-P9", MUST,
                 "No thread holds a lock but a request's while it tries requests: no deadlock.",
                 source="kafka#P9; KAFKA-2253, KAFKA-3994, KAFKA-5970, KAFKA-6042, KAFKA-7697")
    def never_at_rest(self) -> bool:
        """Programs go round for ever."""
        return False

    @always("KAFKA-P9X", MUST, "A lock that a thread has alone is shared by nobody.",
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
        # the list is read and left; the request is tried under its lock; the group is told
        ((Step.TAKE, Lock.LIST), (Step.GIVE, Lock.LIST), (Step.TAKE, Lock.REQUEST),
         (Step.TAKE, Lock.GROUP), (Step.GIVE, Lock.GROUP), (Step.GIVE, Lock.REQUEST)),
        # the group changes, and then tells the purgatory
        ((Step.TAKE, Lock.GROUP), (Step.GIVE, Lock.GROUP), (Step.TAKE, Lock.LIST),
         (Step.GIVE, Lock.LIST), (Step.TAKE, Lock.REQUEST), (Step.GIVE, Lock.REQUEST)),
    ))


class TryingUnderListLock(GroupLocks):
    """The list's lock is held while its requests are tried, and a group watches a request while it
    holds its own lock (KAFKA-3994)."""

    programs = table((
        ((Step.TAKE, Lock.LIST), (Step.TAKE, Lock.GROUP), (Step.GIVE, Lock.GROUP),
         (Step.GIVE, Lock.LIST)),
        ((Step.TAKE, Lock.GROUP), (Step.TAKE, Lock.LIST), (Step.GIVE, Lock.LIST),
         (Step.GIVE, Lock.GROUP)),
    ))


class TellingUnderGroupLock(GroupLocks):
    """The group tells the purgatory while it holds its lock (KAFKA-5970)."""

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
    """The same without anybody who changes a leader: no harm is seen."""

    programs = table((
        ((Step.SHARE, FIRST), (Step.SHARE, SECOND), (Step.GIVE, SECOND), (Step.GIVE, FIRST)),
        ((Step.SHARE, SECOND), (Step.SHARE, FIRST), (Step.GIVE, FIRST), (Step.GIVE, SECOND)),
    ))


DEADLOCK = "KAFKA-P9"

EXPECTATIONS = (
    expect(GroupLocks, DEADLOCK, "holds", "tell the purgatory without a lock"),
    expect(TryingUnderListLock, DEADLOCK, "violated", "KAFKA-3994: tried under the list's lock"),
    expect(TellingUnderGroupLock, DEADLOCK, "violated", "KAFKA-5970: told under the group's lock"),
    expect(PartitionLocks, DEADLOCK, "holds", "fetches are completed without a partition's lock"),
    expect(PartitionLocks, "KAFKA-P9X", "holds", "locks exclude each other's holders"),
    expect(CompletingUnderPartitionLocks, DEADLOCK, "violated",
           "KAFKA-7697: fetches are completed under a shared lock"),
    expect(CompletingWithoutWriters, DEADLOCK, "holds",
           "KAFKA-7697 takes writers to be seen: without them there is no deadlock"),
)

UNSEEN = {
    "KAFKA-P9X":
        "Who holds a lock together with whom is not shown; that nobody gets stuck is KAFKA-P9.",
}
