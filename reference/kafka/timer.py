"""SystemTimer: tasks in timing wheels, and a queue of buckets that advances their clock.

Sans-I/O: the time is an argument of each call, and the driver calls ``advance`` at
``next_expiration``, or at any other time. A task runs at max(time of its add, floor(deadline / u)
* u) if the driver is never late, with u the tick; so for u = 1 at its deadline, and for u > 1 up
to u - 1 ms early. Times and delays are whole ms.

Due tasks are given to ``submit`` in the order of the buckets' expiration, as Kafka gives them to an
executor of one thread. Without one the tasks run before the call returns, after it has released its
locks. A task that raises has run; those after it run nevertheless, and then the call raises the
exception (several: an ``ExceptionGroup``). Exceptions that end a program are not held back, and
leave the rest to the next call.

Source: SystemTimer of Kafka 3.9.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import ClassVar, Final

from .delay_queue import DelayQueue, LockedDelayQueue
from .locks import LockFactory, SharedLock, check_gil
from .raising import raise_all
from .timing_wheel import (
    Counter, LockedTimerTaskEntry, TimerMisuse, TimerTask, TimerTaskEntry, TimerTaskList,
    TimingWheel,
)

__all__ = ["Submit", "TaskRunner", "Timer", "TimerMisuse", "TimerTask"]

Submit = Callable[[TimerTask], None]


class TaskRunner:
    """Runs expired tasks, in order, after the timer has released its locks."""

    __slots__ = ("_ready", "_submit")

    def __init__(self, submit: Submit | None) -> None:
        self._ready: deque[TimerTask] = deque()
        self._submit: Submit = self._ready.append if submit is None else submit

    def _run_ready(self) -> None:
        ready = self._ready
        errors: list[Exception] = []
        while ready:
            try:
                task = ready.popleft()
            except IndexError:      # another thread took the last one
                break
            try:
                task.run()
            except Exception as error:      # noqa: BLE001  raised when all have run
                errors.append(error)
        raise_all("tasks", errors)


class Timer(TaskRunner):
    """Add, cancel and expire in O(1), except for O(m) insertions in a timer of m wheels.

    ``tick`` (ms, from 1 up) and ``wheel_size`` (from 2 up) are those of the lowest wheel, ``start``
    is the present time (ms). ``lock`` makes reentrant mutexes if several threads use the timer;
    then each task needs a lock as well, ``submit`` must not call the timer, and one thread drives
    it. Raises ``TimerMisuse``, and ``NeedsTheGil`` for locks on a Python without that.
    """

    __slots__ = ("_counter", "_last", "_lock", "_queue", "_shared", "_wheel")

    wheel: ClassVar[type[TimingWheel]] = TimingWheel
    """The class of its wheels; an observer may replace it."""

    def __init__(
        self, tick: int = 1, wheel_size: int = 20, start: int = 0, *,
        submit: Submit | None = None, lock: LockFactory | None = None,
    ) -> None:
        super().__init__(submit)
        check_gil(lock)
        self._counter = Counter()
        self._queue: Final[DelayQueue[TimerTaskList]] = (
            DelayQueue() if lock is None else LockedDelayQueue(lock))
        self._wheel = self.wheel(tick, wheel_size, start, self._counter, self._queue, lock)
        self._lock: Final = lock
        self._shared: Final = None if lock is None else SharedLock(lock)
        self._last = start

    @property
    def size(self) -> int:
        """Tasks added, less those that ran or were cancelled."""
        return self._counter.value

    @property
    def queued(self) -> int:
        """Buckets in the queue, empty ones included: at most ``wheel_size`` for each wheel."""
        return len(self._queue)

    @property
    def levels(self) -> int:
        """Wheels that were made."""
        return len(self.clocks)

    @property
    def clocks(self) -> tuple[int, ...]:
        """The clock of each wheel (ms), the one of the smallest tick first."""
        wheel, clocks = self._wheel, [self._wheel.clock]
        while wheel.overflow is not None:
            wheel = wheel.overflow
            clocks.append(wheel.clock)
        return tuple(clocks)

    def add(self, task: TimerTask, now: int) -> None:
        """Run the task ``task.delay`` ms after ``now``; at once, if that is in the present tick.

        A task that is in the timer already is re-scheduled. Raises ``TimerMisuse``.
        """
        if type(now) is not int or type(task.delay) is not int:
            raise TimerMisuse(f"times are whole ms, not {now!r}, nor a delay of {task.delay!r}")
        if self._shared is not None:
            self._add_locked(task, now)
        elif not self._wheel.add(TimerTaskEntry(task, now + task.delay)):
            self._submit(task)
        if self._ready:
            self._run_ready()

    def _add_locked(self, task: TimerTask, now: int) -> None:
        assert self._lock is not None and self._shared is not None
        if task.task_lock is None:
            raise TimerMisuse("a timer with locks needs tasks with locks: TimerTask(delay, lock)")
        with self._shared.reading():
            self._place(LockedTimerTaskEntry(task, now + task.delay, self._lock))

    def _place(self, entry: TimerTaskEntry) -> None:
        if not self._wheel.add(entry) and entry.task.entry is entry:
            self._submit(entry.task)

    def advance(self, now: int) -> bool:
        """Expire every bucket that is due at ``now``; true if there was one, empty or not.

        Raises ``TimerMisuse`` if ``now`` is before the ``now`` of an earlier call.
        """
        if type(now) is not int or now < self._last:
            raise TimerMisuse(f"the time was {self._last} ms and cannot be {now!r} ms now")
        self._last = now
        bucket = self._queue.poll(now)
        if bucket is not None:
            if self._shared is None:
                self._expire(bucket, now)
            else:
                with self._shared.writing():
                    self._expire(bucket, now)
        if self._ready:
            self._run_ready()
        return bucket is not None

    def _expire(self, bucket: TimerTaskList, now: int) -> None:
        due: TimerTaskList | None = bucket
        while due is not None:
            self._wheel.advance(due.expiration)
            due.flush(self._place)
            due = self._queue.poll(now)

    def next_expiration(self) -> int | None:
        """The time at which the next bucket expires (ms), empty or not; None if none is queued."""
        return self._queue.first_time()
