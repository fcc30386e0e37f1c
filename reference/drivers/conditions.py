"""Condition variables for threads that run one at a time, as ``scheduling`` lets them."""

from __future__ import annotations

from .schedules.scheduling import Lock, Scheduler, SchedulingMisuse, Task, Unwound, Waitable

__all__ = ["Condition"]


class Condition(Waitable):
    """A ``threading.Condition`` with a lock of the scheduler's, and without a time limit.

    A notified task waits for the lock again, in whatever order the schedule says.
    """

    def __init__(self, scheduler: Scheduler, lock: Lock) -> None:
        super().__init__(scheduler, f"a notification, under {lock.name}")
        self._lock = lock
        self._waiting: list[Task | None] = []
        self.acquire = lock.acquire     # type: ignore[method-assign]
        self.release = lock.release     # type: ignore[method-assign]

    def free_for(self, task: Task | None) -> bool:
        """True if the task was notified."""
        return task not in self._waiting

    def holders(self) -> tuple[str, ...]:
        """No task: a notification has no holder."""
        return ()

    def wait(self, timeout: float | None = None) -> bool:
        """Give the lock back, wait to be notified, and take the lock again.

        Raises ``SchedulingMisuse`` for a time limit: there is no clock.
        """
        if timeout is not None:
            raise SchedulingMisuse("a wait with a time limit; there is no clock here")
        task = self._scheduler.running
        self._waiting.append(task)
        self._lock.release()
        try:
            self._scheduler.wait_for(self, task)
            self._lock.acquire()
        except Unwound:
            self._lock.take_to_unwind(task)
            raise
        return True

    def notify(self, n: int = 1) -> None:
        """Notify up to ``n`` waiters, first come first."""
        del self._waiting[:n]
        self._scheduler.lock_changed()

    def notify_all(self) -> None:
        """Notify every task that waits."""
        self.notify(len(self._waiting))
