"""Adapters by hand of what threads wait for, with which ``by_name`` compares the same by its name.

They share nothing with what runs a class by its name but the scheduler of threads. The classes
of ``threading`` are made anew of their source, on locks of that scheduler. A call runs until it
ends or waits, and is not stopped between lines.
"""

from __future__ import annotations

import inspect
import platform
import threading
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final

from checkvalve.conformance.adapters.base import Declined
from checkvalve.conformance.adapters.port_adapter import PortAdapter
from checkvalve.conformance.ports.base import STEPPED, Message, Port
from checkvalve.conformance.systems.awaits_condition.port import PORT as CONDITION
from checkvalve.conformance.systems.awaits_gate.port import PORT as GATE
from checkvalve.conformance.systems.awaits_permits.port import PORT as PERMITS
from checkvalve.conformance.systems.rate.libraries import TICK, OfThreads
from checkvalve.conformance.systems.rate.port import PORT as RATE
from checkvalve.reference.drivers.schedules.scheduling import Scheduler, Task, Waitable

__all__ = ["BoundedSemaphore", "Condition", "Event", "Pyrate", "RLock", "Semaphore", "pyrate"]

STEPS_MAX: Final = 10_000_000
_MADE: Final = ("_RLock", "Condition", "Semaphore", "BoundedSemaphore", "Event")


class _Lock(Waitable):
    """A lock as ``threading.Lock`` is: any thread may give it back."""

    def __init__(self, scheduler: Scheduler, held: bool = False) -> None:
        super().__init__(scheduler, "a lock")
        self._held = held

    def free_for(self, task: Task | None) -> bool:
        """True if nobody holds it."""
        return not self._held

    def holders(self) -> tuple[str, ...]:
        """It does not note them."""
        return ()

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Take it; no call of these adapters has a time limit."""
        return super().acquire(blocking)

    def _take(self, task: Task | None) -> None:
        self._held = True

    def _give(self, task: Task | None) -> None:
        if not self._held:
            raise RuntimeError("release unlocked lock")
        self._held = False


def _on_locks_of(scheduler: Scheduler) -> dict[str, Any]:
    """The classes of ``threading`` by their names, on locks of a scheduler."""
    made = dict(vars(threading))
    made["Lock"] = made["_allocate_lock"] = lambda: _Lock(scheduler)
    for name in _MADE:
        exec(inspect.getsource(getattr(threading, name)), made)  # noqa: S102  the library's own
    made["RLock"] = made["_RLock"]
    return made


class _Threads(PortAdapter):
    """Calls that have a name and a thread each, and what became of them."""

    wakes: ClassVar[str] = STEPPED
    version: ClassVar[str] = platform.python_version()

    def begin_anew(self) -> dict[str, Any]:
        """Begin with fresh threads; the classes on their locks."""
        self.close()
        self._threads = Scheduler((), steps_max=STEPS_MAX)
        self._tasks: dict[str, Task] = {}
        self._kept: dict[str, _Lock] = {}
        self._events: list[Message] = []
        return _on_locks_of(self._threads)

    def call(self, by: str, does: Callable[[], object]) -> list[Message]:
        """A new call, until it ends or waits."""
        self._tasks[by] = self._threads.spawn(by, does)
        return self._runs(self._tasks[by])

    def keeps(self, by: str) -> None:
        """The call has what it asked for, until it is let go."""
        self._kept[by] = _Lock(self._threads, held=True)
        self._kept[by].acquire()

    def let_go(self, by: str) -> list[Message]:
        """A call gives back what it has."""
        if by not in self._kept:
            raise Declined("has-nothing")
        self._kept.pop(by).release()
        return self._runs(self._tasks[by])

    def note(self, by: str, does: str) -> None:
        """Report what became of a call."""
        self._events.append({"by": by, "does": does})

    def settle(self) -> list[Message]:    # type: ignore[override]
        """Let every thread run that can."""
        while can := self._threads.runnable():
            self._runs_on(can[0])
        return self._told()

    def close(self) -> None:
        """End the threads that wait."""
        if hasattr(self, "_threads"):
            self._threads.close()

    def _runs(self, task: Task) -> list[Message]:
        if not task.blocked():
            self._runs_on(task)
        return self._told()

    def _runs_on(self, task: Task) -> None:
        self._threads.run(task)
        if task.done:   # its thread is for the next call
            self._threads.forget(task)
        if task.error is not None:
            raise task.error

    def _told(self) -> list[Message]:
        told, self._events = self._events, []
        return told


class Semaphore(_Threads):
    """``threading.Semaphore``, and by ``kind`` the others that are acquired and given back."""

    port: ClassVar[Port] = PERMITS
    policy: ClassVar[str] = "line"
    kind: ClassVar[str] = "Semaphore"
    counts: ClassVar[bool] = True

    def start(self, settings: Mapping[str, Any]) -> None:
        """Begin with a fresh instance."""
        if settings["capacity"] > 1 and not self.counts:
            raise Declined("unsupported-capacity")
        made = self.begin_anew()[self.kind]
        self._permits = made(settings["capacity"]) if self.counts else made()

    def acquire(self, by: str) -> list[Message]:
        def holds() -> None:
            self._permits.acquire()
            self.note(by, "has")
            self.keeps(by)
            self._permits.release()
            self.note(by, "released")

        return self.call(by, holds) or [{"by": by, "does": "waits"}]

    def release(self, by: str) -> list[Message]:
        return self.let_go(by)


class BoundedSemaphore(Semaphore):
    """``threading.BoundedSemaphore``, which is never given back more often than acquired."""

    kind: ClassVar[str] = "BoundedSemaphore"


class RLock(Semaphore):
    """``threading._RLock``, the lock of ``threading`` that is written in Python."""

    kind: ClassVar[str] = "RLock"
    counts: ClassVar[bool] = False


class Condition(_Threads):
    """``threading.Condition`` with the lock that it makes for itself."""

    port: ClassVar[Port] = CONDITION
    policy: ClassVar[str] = "sleep"

    def start(self, settings: Mapping[str, Any]) -> None:
        """Begin with a fresh instance."""
        if settings["capacity"] != 1:
            raise Declined("unsupported-capacity")
        self._condition = self.begin_anew()["Condition"]()

    def wait(self, by: str) -> list[Message]:
        def waits() -> None:
            with self._condition:
                self.note(by, "sleeps")
                self._condition.wait()
                self.note(by, "goes on")
                self.keeps(by)
            self.note(by, "left")

        return self.call(by, waits)

    def notify(self, by: str, count: int) -> list[Message]:
        def notifies() -> None:
            with self._condition:
                self._condition.notify(count)
                self.note(by, "notifies")

        return self.call(by, notifies)

    def leave(self, by: str) -> list[Message]:
        return self.let_go(by)


class Event(_Threads):
    """``threading.Event``, opened and shut by calls that do not wait."""

    port: ClassVar[Port] = GATE
    policy: ClassVar[str] = "sleep"

    def start(self, settings: Mapping[str, Any]) -> None:
        """Begin with a fresh instance."""
        if settings["capacity"] != 1:
            raise Declined("unsupported-capacity")
        self._event = self.begin_anew()["Event"]()

    def wait(self, by: str) -> list[Message]:
        def waits() -> None:
            self._event.wait()
            self.note(by, "passes")

        return self.call(by, waits)

    def open_(self) -> list[Message]:
        return self.call("open", self._event.set)

    def shut_(self) -> list[Message]:
        return self.call("shut", self._event.clear)


class Pyrate(OfThreads):
    """pyrate-limiter's ``Limiter`` with a bucket in memory, asked not to wait."""

    port: ClassVar[Port] = RATE
    policy: ClassVar[str] = "log"
    name = "pyrate_limiter.Limiter"
    modules: ClassVar[tuple[str, ...]] = (
        "pyrate_limiter.buckets.in_memory_bucket", "pyrate_limiter.limiter")

    def start(self, settings: Mapping[str, Any]) -> None:
        """Begin with a fresh instance."""
        from pyrate_limiter import limiter
        from pyrate_limiter.buckets import in_memory_bucket

        self.begin_anew()
        self._now = 0.0
        locks = _on_locks_of(self._threads)["RLock"]
        for module in (limiter, in_memory_bucket):
            vars(module).update(RLock=locks)
        self._limiter = pyrate(settings["capacity"], settings["rate"])
        bucket: Any = self._limiter.buckets()[0] if self._limiter.buckets() else (
            self._limiter.bucket_factory.bucket)
        bucket.now = lambda: int(self._now * 1000)

    def take(self, permits: int) -> bool:
        return bool(self._limiter.try_acquire("key", permits, blocking=False))

    def ask(self, permits: int) -> bool:
        return self.take(permits)

    def tick(self, ticks: int) -> bool:
        self._now += ticks * TICK
        return True

    def idle(self, ticks: int) -> bool:
        return self.tick(ticks)


def pyrate(capacity: int, rate: int) -> Any:
    """A limiter of pyrate-limiter; its bucket is in memory and is not swept by a thread, which
    would run a loop of asyncio of its own."""
    from pyrate_limiter import InMemoryBucket, Limiter, Rate, SingleBucketFactory

    bucket = InMemoryBucket([Rate(capacity, capacity * 1000 // rate)])
    return Limiter(SingleBucketFactory(bucket, schedule_leak=False))
