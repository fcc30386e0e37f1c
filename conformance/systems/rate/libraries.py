"""Rate limits of other projects, under a clock that the harness moves.

Those for threads are also called by two at once, by real threads that run one at a time: one of
them is stopped between two of its lines, wherever the harness says.

A tick is a second and the smallest bit more: whether a period of a second ends after just one
second or right after it, no user of a real clock can distinguish.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from importlib.metadata import version
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar, Final

from ....reference.drivers.schedules.scheduling import Scheduler, Task
from ....reference.drivers.schedules.virtual_loop import VirtualLoop
from ...adapters.base import Declined, missing
from ...adapters.port_adapter import PortAdapter
from ...ports.base import UNSUPPORTED, Port
from .port import PORT

__all__ = [
    "AiolimiterRate", "FixedWindowRate", "LoopRate", "MovingWindowRate", "OfThreads",
    "TokenBucketRate",
]

TICK: Final = 1 + 2**-20
"""Length of a tick in seconds."""

STEPS_MAX: Final = 10_000_000
"""Limit of the lines that the threads of one session run."""


def _replace(module: ModuleType, **names: object) -> None:
    """Bind these names in a module to other objects, in the target's own process."""
    vars(module).update(names)


class LoopRate(PortAdapter):
    """A limit for tasks, on a loop with the harness's clock; ``asks`` waits for permits."""

    port: ClassVar[Port] = PORT
    policy: ClassVar[str] = "bucket"

    async def asks(self, permits: int) -> None:
        """Wait until ``permits`` permits are given."""
        raise NotImplementedError

    def begin_anew(self) -> None:
        """Begin with a fresh loop, on which no call waits."""
        self.close()
        self._loop = VirtualLoop()
        self._calls: dict[str, asyncio.Task[None]] = {}
        self._through: list[str] = []

    def acquire(self, by: str, permits: int) -> list[str]:
        async def acquires() -> None:
            await self.asks(permits)
            self._through.append(by)

        with self._loop.running():
            self._calls[by] = self._loop.begin(acquires())
            self._loop.settle()
        return self._told()

    def give_up(self, by: str) -> list[str]:
        with self._loop.running():
            self._calls[by].cancel()
            self._loop.settle()
        return self._told()

    def tick(self, ticks: int) -> list[str]:
        with self._loop.running():
            self._loop.jump(self._loop.time() + ticks * TICK)
            self._loop.settle()
        return self._told()

    def close(self) -> None:
        """Cancel the calls that wait, so that no task is thrown away while pending."""
        if not hasattr(self, "_loop") or self._loop.is_closed():
            return
        with self._loop.running():
            for task in self._calls.values():
                task.cancel()
            self._loop.settle()
        self._loop.close()

    def _told(self) -> list[str]:
        told, self._through = self._through, []
        return told


class AiolimiterRate(LoopRate):
    """``AsyncLimiter`` reads its loop's clock; a call that may pass does so without waiting."""

    name = "aiolimiter.AsyncLimiter"

    def start(self, settings: Mapping[str, Any]) -> None:
        """Begin with a fresh instance."""
        try:
            from aiolimiter import AsyncLimiter
        except ImportError:
            raise missing("aiolimiter") from None
        self.version = version("aiolimiter")  # type: ignore[misc]
        self.begin_anew()
        depth = settings["capacity"]
        self._limit = AsyncLimiter(depth, depth / settings["rate"])

    def take(self, permits: int) -> bool:
        with self._loop.running():
            if not self._limit.has_capacity(permits):
                return False
            task = self._loop.begin(self._limit.acquire(permits))
            self._loop.settle()
            return task.done() and task.exception() is None

    def ask(self, permits: int) -> bool:
        return self.take(permits)

    def idle(self, ticks: int) -> bool:
        return self.tick(ticks) == []

    async def asks(self, permits: int) -> None:
        """Wait until ``permits`` permits are given."""
        await self._limit.acquire(permits)


class OfThreads(PortAdapter):
    """A limit for threads, one of which may be stopped between two lines of ``modules``."""

    modules: ClassVar[tuple[str, ...]]

    def begin_anew(self) -> None:
        """Begin with threads of its own, which run one at a time."""
        self.close()
        self._threads = Scheduler(self.modules, steps_max=STEPS_MAX)

    def take(self, permits: int) -> bool:
        """Ask the limit for permits without waiting; true if all are given."""
        raise NotImplementedError

    def both(self, permits: int, other: int, steps: int) -> list[bool]:
        """Ask twice, the second time between two steps of the first; return both answers."""
        given: dict[str, bool] = {}

        def asks(name: str, many: int) -> Task:
            return self._threads.spawn(name, lambda: given.update({name: self.take(many)}))

        first, second = asks("first", permits), asks("second", other)
        if steps:
            self._threads.run(first, steps)
        for task in (second, first, second):
            if not task.done:
                self._threads.run(task)
        for task in (first, second):
            if task.error is not None:
                raise task.error
        return [given["first"], given["second"]]

    def close(self) -> None:
        """End the threads that were started, if any were."""
        if hasattr(self, "_threads"):
            self._threads.close()


class TokenBucketRate(OfThreads):
    """``Limiter`` reads ``time.monotonic`` in the module of its storage, where our clock is put."""

    port: ClassVar[Port] = PORT
    policy: ClassVar[str] = "bucket"
    name = "token_bucket.Limiter"
    modules: ClassVar[tuple[str, ...]] = ("token_bucket.storage",)

    def start(self, settings: Mapping[str, Any]) -> None:
        """Begin with a fresh instance."""
        try:
            from token_bucket import Limiter, MemoryStorage, storage
        except ImportError:
            raise missing("token_bucket") from None
        self.version = version("token_bucket")  # type: ignore[misc]
        self.begin_anew()
        self._now = 0.0
        _replace(storage, time=SimpleNamespace(monotonic=lambda: self._now))
        self._limit = Limiter(settings["rate"], settings["capacity"], MemoryStorage())

    def take(self, permits: int) -> bool:
        return bool(self._limit.consume("key", permits))

    def tick(self, ticks: int) -> bool:
        self._now += ticks * TICK
        return True

    def idle(self, ticks: int) -> bool:
        return self.tick(ticks)


class _NoTimer:
    """The timer with which ``limits`` sweeps its storage: it changes no answer, and is not run."""

    def __init__(self, seconds: float, sweep: object) -> None:
        self.daemon = False

    def start(self) -> None:
        """Nothing is swept, now or later."""

    def is_alive(self) -> bool:
        """True, as if it were about to sweep."""
        return True


class FixedWindowRate(OfThreads):
    """A whole depth in each period of so many seconds as bring it; ``limits`` reads ``time.time``.

    ``strategy`` is the name of the class in ``limits.strategies``.
    """

    port: ClassVar[Port] = PORT
    policy: ClassVar[str] = "bucket"
    name = "limits.FixedWindowRateLimiter"
    strategy: ClassVar[str] = "FixedWindowRateLimiter"
    modules: ClassVar[tuple[str, ...]] = ("limits.storage.memory", "limits.strategies")

    def start(self, settings: Mapping[str, Any]) -> None:
        """Begin with a fresh instance."""
        try:
            from limits import RateLimitItemPerSecond, strategies
            from limits.storage import memory
        except ImportError:
            raise missing("limits") from None
        self.version = version("limits")  # type: ignore[misc]
        self.begin_anew()
        self._now = 0.0
        _replace(memory, time=SimpleNamespace(time=lambda: self._now),
                 threading=SimpleNamespace(Timer=_NoTimer, RLock=self._threads.lock))
        self._limiter = getattr(strategies, self.strategy)(memory.MemoryStorage())
        depth, rate = settings["capacity"], settings["rate"]
        if depth % rate:
            raise Declined(f"{UNSUPPORTED}rate")
        self._item = RateLimitItemPerSecond(depth, depth // rate)

    def take(self, permits: int) -> bool:
        return bool(self._limiter.hit(self._item, "key", cost=permits))

    def ask(self, permits: int) -> bool:
        return self.take(permits)

    def tick(self, ticks: int) -> bool:
        self._now += ticks * TICK
        return True

    def idle(self, ticks: int) -> bool:
        return self.tick(ticks)


class MovingWindowRate(FixedWindowRate):
    """As many as a depth in any such period: a log of the admitted calls."""

    policy: ClassVar[str] = "log"

    name = "limits.MovingWindowRateLimiter"
    strategy: ClassVar[str] = "MovingWindowRateLimiter"
