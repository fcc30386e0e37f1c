"""Hierarchical timing wheels, their buckets, and the entries of tasks in them.

A wheel with tick u and n buckets has a clock, a multiple of u. A deadline d within the present
tick, d < clock + u, is refused: the task has expired. A deadline below clock + n u goes to the
bucket of tick number floor(d / u), which expires when that tick begins. A later one goes to the
next wheel, with the tick n u; it is made when it is first needed. A bucket is a doubly linked list
around itself, so an entry is put in and taken out in O(1). It enters the queue of buckets when its
expiration changes, hence once.

Nothing ticks: the clock advances when the owner takes a bucket from the queue, to that bucket's
expiration. In between it is stale, which is harmless, since everything is decided by the same
clock.

For one thread there are no locks. Several threads need the ``Locked`` classes, in which each step
that Kafka takes under a lock is under one; the order is task, list, entry. Kafka's atomics are
lines without a call here: CPython changes threads only at calls and at backward jumps.

Source: TimingWheel, TimerTaskList, TimerTaskEntry and TimerTask of Kafka 3.9.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from .delay_queue import DelayQueue
from .locks import LockFactory, Mutex

__all__ = [
    "UNUSED", "WHEEL_SIZE_MAX", "Counter", "LockedTimerTaskEntry", "LockedTimerTaskList",
    "TimerMisuse", "TimerTask", "TimerTaskEntry", "TimerTaskList", "TimingWheel",
]

UNUSED: Final = -1
WHEEL_SIZE_MAX: Final = 65_536


class TimerMisuse(ValueError):
    """The timer was used as it cannot be used; it did not change.

    Usual causes: seconds where milliseconds were meant (a delay that is no integer), a wheel of
    one bucket, which could not hold anything, a tick of 0, a driver with a clock that was set back,
    a task without a lock in a timer with locks.
    """


class Counter:
    """A counter that several lists share."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = 0


class TimerTask:
    """Something to run ``delay`` ms after it is added to a timer, unless it is cancelled.

    A task has at most one live entry: a second add re-schedules it. A delay of 0 or less has passed
    already. With several threads every task needs a ``lock``. Raises ``TimerMisuse`` if the delay
    is no integer.
    """

    __slots__ = ("delay", "entry", "task_lock")

    def __init__(self, delay: int, lock: LockFactory | None = None) -> None:
        if type(delay) is not int:
            raise TimerMisuse(f"a delay is a whole number of ms, not {delay!r}")
        self.delay = delay      # delay of the next add
        self.entry: TimerTaskEntry | None = None
        self.task_lock: Mutex | None = None if lock is None else lock()

    def run(self) -> None:
        """Called by the timer, once for each add or not at all."""
        raise NotImplementedError

    def cancel(self) -> None:
        """Prevent the run, unless it has begun or is about to. A second call has no effect."""
        if self.task_lock is None:
            entry = self.entry
            if entry is not None:
                entry.remove()
                self.entry = None
        else:
            with self.task_lock:
                if self.entry is not None:
                    self.entry.remove()
                self.entry = None


class TimerTaskEntry:
    """A task's place in a bucket, with the deadline in ms. The task's own entry from now on."""

    __slots__ = ("deadline", "list", "next", "previous", "task")

    next: TimerTaskEntry
    previous: TimerTaskEntry
    list: TimerTaskList | None

    def __init__(self, task: TimerTask, deadline: int) -> None:
        self.task = task
        self.deadline = deadline
        self.list = None
        if task.entry is not None:
            task.entry.remove()
        task.entry = self

    @property
    def cancelled(self) -> bool:
        """True if the task has another entry now, or none."""
        return self.task.entry is not self

    def remove(self) -> None:
        """Leave the bucket, and any other into which a cascade puts the entry meanwhile."""
        found = self.list
        while found is not None:
            found.remove(self)
            found = self.list


class TimerTaskList:
    """A bucket: a ring of entries around a root without a task.

    ``expiration`` is ``UNUSED`` while the bucket belongs to no tick. ``counter`` counts the entries
    of all buckets.
    """

    __slots__ = ("counter", "expiration", "root")

    def __init__(self, counter: Counter) -> None:
        self.counter: Final = counter
        self.expiration = UNUSED
        root = TimerTaskEntry.__new__(TimerTaskEntry)
        root.next = root.previous = root
        self.root: Final = root

    def add(self, entry: TimerTaskEntry) -> None:
        """Append an entry, which is in no bucket, to the ring."""
        root = self.root
        last = root.previous
        entry.previous = last
        entry.next = root
        last.next = root.previous = entry
        entry.list = self
        self.counter.value += 1

    def remove(self, entry: TimerTaskEntry) -> None:
        """Unlink the entry if it is in this bucket."""
        if entry.list is self:
            before = entry.previous
            after = entry.next
            before.next = after
            after.previous = before
            entry.list = None
            self.counter.value -= 1

    def flush(self, place: Callable[[TimerTaskEntry], None]) -> None:
        """Take every entry out and ``place`` it; afterwards the bucket belongs to no tick."""
        root = self.root
        counter = self.counter
        entry = root.next
        while entry is not root:
            root.next = after = entry.next
            after.previous = root
            entry.next = root       # not the next entry: an expired task would keep it alive
            entry.list = None
            counter.value -= 1
            place(entry)
            entry = root.next
        self.expiration = UNUSED

    def set_expiration(self, expiration: int) -> bool:
        """Set the beginning of the bucket's tick; true if that is new."""
        previous, self.expiration = self.expiration, expiration     # getAndSet
        return previous != expiration


class LockedTimerTaskEntry(TimerTaskEntry):
    """An entry for several threads."""

    __slots__ = ("entry_lock",)

    def __init__(self, task: TimerTask, deadline: int, lock: LockFactory) -> None:
        self.entry_lock: Final = lock()
        assert task.task_lock is not None
        with task.task_lock:
            super().__init__(task, deadline)


class LockedTimerTaskList(TimerTaskList):
    """A bucket for several threads; its lock is held during the whole of a flush (reentrant)."""

    __slots__ = ("list_lock",)

    def __init__(self, counter: Counter, lock: LockFactory) -> None:
        super().__init__(counter)
        self.list_lock: Final = lock()

    def add(self, entry: TimerTaskEntry) -> None:
        """Leave every other bucket first, as often as another thread puts the entry into one."""
        assert isinstance(entry, LockedTimerTaskEntry)
        done = False
        while not done:
            entry.remove()
            with self.list_lock, entry.entry_lock:
                if entry.list is None:
                    super().add(entry)
                    done = True

    def remove(self, entry: TimerTaskEntry) -> None:
        """Unlink the entry; the test whether it is in this bucket is made under the locks."""
        assert isinstance(entry, LockedTimerTaskEntry)
        with self.list_lock, entry.entry_lock:
            super().remove(entry)

    def flush(self, place: Callable[[TimerTaskEntry], None]) -> None:
        """Take every entry out and place it, atomically for all users of the bucket."""
        with self.list_lock:
            root = self.root
            entry = root.next
            while entry is not root:
                self.remove(entry)
                place(entry)
                entry = root.next
            self.expiration = UNUSED


class TimingWheel:
    """A wheel of ``size`` buckets with a tick of ``tick`` ms, and those above it.

    ``start`` (ms) is its first clock, rounded down to a tick. ``queue`` gets each bucket when it is
    used for another tick. Raises ``TimerMisuse`` for a tick below 1 or fewer than 2 buckets or more
    than ``WHEEL_SIZE_MAX``.
    """

    __slots__ = ("_lock", "_make_lock", "buckets", "clock", "counter", "interval", "overflow",
                 "queue", "size", "tick")

    def __init__(
        self, tick: int, size: int, start: int, counter: Counter, queue: DelayQueue[TimerTaskList],
        lock: LockFactory | None = None,
    ) -> None:
        _check(tick, size, start)
        self.tick: Final = tick
        self.size: Final = size
        self.interval: Final = tick * size
        self.clock = start - start % tick
        self.counter: Final = counter
        self.queue: Final = queue
        self._make_lock: Final = lock
        self._lock: Final = None if lock is None else lock()
        self.buckets: Final = [
            TimerTaskList(counter) if lock is None else LockedTimerTaskList(counter, lock)
            for _ in range(size)]
        self.overflow: TimingWheel | None = None

    def add(self, entry: TimerTaskEntry) -> bool:
        """Put a live entry into its bucket; False if it is cancelled or has expired already."""
        if entry.task.entry is not entry:
            return False
        deadline = entry.deadline
        if deadline < self.clock + self.tick:
            return False
        wheel = self
        # No wheel above considers a live entry expired: its clock is this one's, rounded down.
        while deadline >= wheel.clock + wheel.interval:
            wheel = wheel.overflow or wheel.make_overflow()
        number = deadline // wheel.tick
        bucket = wheel.buckets[number % wheel.size]
        bucket.add(entry)
        expiration = number * wheel.tick
        if bucket.expiration != expiration and bucket.set_expiration(expiration):
            wheel.queue.offer(bucket, expiration)
        return True

    def make_overflow(self) -> TimingWheel:
        """The wheel above this one; it is created once, when it is first needed."""
        if self._lock is None:
            return self._made_overflow()
        with self._lock:
            return self._made_overflow()

    def _made_overflow(self) -> TimingWheel:
        # The second look: another thread may have made it while this one waited for the lock.
        if self.overflow is None:
            self.overflow = type(self)(
                self.interval, self.size, self.clock, self.counter, self.queue, self._make_lock)
        return self.overflow

    def advance(self, time: int) -> None:
        """Advance the clocks to ``time`` (ms), each rounded down to its tick; never backwards."""
        wheel: TimingWheel | None = self
        while wheel is not None and time >= wheel.clock + wheel.tick:
            time -= time % wheel.tick
            wheel.clock = time
            wheel = wheel.overflow


def _check(tick: int, size: int, start: int) -> None:
    if type(tick) is not int or tick < 1:
        raise TimerMisuse(f"a tick is a whole number of ms from 1 up, not {tick!r}")
    if type(size) is not int or not 2 <= size <= WHEEL_SIZE_MAX:
        raise TimerMisuse(f"a wheel has 2 to {WHEEL_SIZE_MAX} buckets, not {size!r}")
    if type(start) is not int:
        raise TimerMisuse(f"a time is a whole number of ms, not {start!r}")
