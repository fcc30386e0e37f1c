"""janus between threads on one side of the queue and coroutines on the other.

janus runs as it is. Only the locks and conditions that it asks ``threading`` for are those of the
controlled scheduler. The work of a thread under the queue's lock is one step, for all that others
can see of it is seen under that lock; so a thread yields where it waits, and after a notification
it continues at ``proceed``, before or after any callback of the loop. A callback that a thread
hands to the loop, by ``call_soon_threadsafe``, becomes ready as the last.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from importlib import import_module
from types import SimpleNamespace
from typing import Any, ClassVar

from ....reference.drivers.conditions import Condition
from ....reference.drivers.schedules.scheduling import Scheduler, Task
from ...adapters.base import Declined, missing
from ..queue.adapter import Waits
from ..queue.event_loop import JanusQueue
from .adapter import Awaits

__all__ = ["JanusFromAsync", "JanusFromThreads", "JanusOfThreads", "JanusThreads"]

Item = str | int


@contextmanager
def _locks_of(scheduler: Scheduler) -> Iterator[None]:
    """Within it, janus makes queues with the scheduler's locks and conditions."""
    module: Any = import_module("janus")
    real = module.threading
    module.threading = SimpleNamespace(
        Lock=lambda: scheduler.lock("the queue's lock"),
        Condition=lambda lock: Condition(scheduler, lock))
    try:
        yield
    finally:
        module.threading = real


class JanusThreads(Awaits, JanusQueue):
    """``janus.Queue``; its puts, or takes, or both, are made by threads."""

    threads: ClassVar[tuple[str, ...]] = ("put", "take")

    def make(self, capacity: int) -> None:
        """Create the queue under test."""
        try:
            import janus
        except ImportError as error:
            raise missing("janus") from error
        self.version = janus.__version__
        self._scheduler = Scheduler(())
        self._waiting_threads: dict[str, Task] = {}
        with _locks_of(self._scheduler):
            self._both: Any = janus.Queue(capacity)
        self._queue = self._both.async_q

    def put(self, item: Item) -> object:
        if "put" in self.threads:
            return self._by_thread(lambda: self._both.sync_q.put(item))
        return super().put(item)

    def take(self) -> object:
        if "take" in self.threads:
            return self._by_thread(self._both.sync_q.get)
        return super().take()

    def interrupt(self, ticket: str) -> Waits:
        """Request the cancellation of a waiting coroutine; a thread cannot be cancelled."""
        if ticket in self._waiting_threads:
            raise Declined("threads-do-not-stop")
        return super().interrupt(ticket)

    def proceed(self, place: int) -> bool:
        if can := self._scheduler.runnable():
            self._go_on(can[place % len(can)])
        return True

    def settle(self) -> bool:
        """Let everything run: first the loop, then the first thread that can continue."""
        while True:
            super().settle()
            if not self._scheduler.runnable():
                return True
            self.proceed(0)

    def close(self) -> None:
        """Release what the adapter holds; threads that wait are unwound."""
        if hasattr(self, "_scheduler"):
            self._scheduler.close()
        super().close()

    # -- within -------------------------------------------------------------------------------

    def _by_thread(self, call: Any) -> object:
        """The value of a call that a thread of its own makes; ``Waits`` if the thread could not end
        it now."""
        got: list[Any] = []
        ticket = self.new_ticket()

        def body() -> None:
            value = call()
            got.append(True if value is None else value)
            if ticket in self._waiting_threads:
                del self._waiting_threads[ticket]
                self.completed(ticket, got[0])

        task = self._scheduler.spawn(ticket, body)
        self._go_on(task)
        if got:
            return got[0]
        self._waiting_threads[ticket] = task
        return Waits(ticket)

    def _go_on(self, task: Task) -> None:
        self._scheduler.run(task)
        if task.error is not None:
            raise task.error


class JanusFromThreads(JanusThreads):
    """Threads put, and coroutines take."""

    name: ClassVar[str] = "janus, from threads to coroutines"
    threads: ClassVar[tuple[str, ...]] = ("put",)


class JanusFromAsync(JanusThreads):
    """Coroutines put, and threads take."""

    name: ClassVar[str] = "janus, from coroutines to threads"
    threads: ClassVar[tuple[str, ...]] = ("take",)


class JanusOfThreads(JanusThreads):
    """Threads put and take; from the loop's side calls only offer and poll."""

    name: ClassVar[str] = "janus, between threads"
    lacks: ClassVar[Collection[str]] = ("interrupt", "run")
