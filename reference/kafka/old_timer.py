"""The timer before the wheels: one delay queue of all tasks, without early removal.

A cancelled task stays in the queue until its time comes (lazy deletion), or until the queue is
purged, which scans all of it. So ``size`` counts dead tasks as well, and adding costs O(log k). A
task runs at max(time of its add, its deadline), and only from ``advance``.

Source: "Apache Kafka, Purgatory, and Hierarchical Timing Wheels", 'Old Purgatory Design';
RequestPurgatory of Kafka 0.8.2.
"""

from __future__ import annotations

from typing import Final

from .delay_queue import DelayQueue, LockedDelayQueue
from .locks import LockFactory, check_gil
from .timer import Submit, TaskRunner
from .timing_wheel import TimerMisuse, TimerTask, TimerTaskEntry

__all__ = ["OldTimer"]


class _Waiting(TimerTaskEntry):
    """A task's place in the queue. It is in no list: to remove it changes nothing."""

    __slots__ = ()


class OldTimer(TaskRunner):
    """The same calls as ``Timer``; ``tick`` and ``wheel_size`` have no effect."""

    __slots__ = ("_last", "_lock", "_queue")

    def __init__(
        self, tick: int = 1, wheel_size: int = 20, start: int = 0, *,
        submit: Submit | None = None, lock: LockFactory | None = None,
    ) -> None:
        if type(start) is not int:
            raise TimerMisuse(f"times are whole ms, not {start!r}")
        super().__init__(submit)
        check_gil(lock)
        self._queue: Final[DelayQueue[TimerTaskEntry]] = (
            DelayQueue() if lock is None else LockedDelayQueue(lock))
        self._last = start
        self._lock: Final = lock

    @property
    def size(self) -> int:
        """Tasks in the queue, dead ones included."""
        return len(self._queue)

    def add(self, task: TimerTask, now: int) -> None:
        """Run the task ``task.delay`` ms after ``now``, in an ``advance``. Re-schedules a pending
        task.

        Raises ``TimerMisuse``.
        """
        if type(now) is not int or type(task.delay) is not int:
            raise TimerMisuse(f"times are whole ms, not {now!r}, nor a delay of {task.delay!r}")
        if self._lock is not None and task.task_lock is None:
            raise TimerMisuse("a timer with locks needs tasks with locks: TimerTask(delay, lock)")
        deadline = now + task.delay
        self._queue.offer(_Waiting(task, deadline), deadline)

    def advance(self, now: int) -> bool:
        """Run every live task that is due at ``now``; true if any, dead or not, was due.

        Raises ``TimerMisuse`` if ``now`` is before the ``now`` of an earlier call.
        """
        if type(now) is not int or now < self._last:
            raise TimerMisuse(f"the time was {self._last} ms and cannot be {now!r} ms now")
        self._last = now
        first = entry = self._queue.poll(now)
        while entry is not None:
            if entry.task.entry is entry:
                self._submit(entry.task)
            entry = self._queue.poll(now)
        if self._ready:
            self._run_ready()
        return first is not None

    def next_expiration(self) -> int | None:
        """The earliest deadline in the queue (ms), of a dead task or not; None if empty."""
        return self._queue.first_time()

    def purge(self) -> int:
        """Remove all cancelled tasks from the queue, and return their number. Costs O(k)."""
        return self._queue.discard(lambda entry: entry.cancelled)
