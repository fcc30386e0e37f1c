"""Rate limits of other projects, under a clock that the harness moves.

A tick is a second and the smallest bit more: whether a period of a second ends after just one
second or right after it, no user of a real clock can tell.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from threading import RLock
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar, Final

from ....reference.drivers.virtual_loop import VirtualLoop
from ...adapters.base import Declined, missing
from ...adapters.port_adapter import PortAdapter
from ...ports.base import UNSUPPORTED, Port
from .port import PORT

__all__ = ["AiolimiterRate", "FixedWindowRate", "MovingWindowRate", "TokenBucketRate"]

TICK: Final = 1 + 2**-20
"""Seconds."""


def _replace(module: ModuleType, **names: object) -> None:
    """Let a module find other things by these names, in the target's own process."""
    vars(module).update(names)


class AiolimiterRate(PortAdapter):
    """``AsyncLimiter`` reads its loop's clock; whoever may pass does so without waiting."""

    port: ClassVar[Port] = PORT
    policy: ClassVar[str] = "bucket"
    name = "aiolimiter.AsyncLimiter"

    def start(self, settings: Mapping[str, Any]) -> None:
        """See ``PortAdapter.start``."""
        try:
            from aiolimiter import AsyncLimiter
        except ImportError:
            raise missing("aiolimiter") from None
        self.version = version("aiolimiter")  # type: ignore[misc]
        self._loop = VirtualLoop()
        depth = settings["capacity"]
        self._limit = AsyncLimiter(depth, depth / settings["rate"])

    def take(self, permits: int) -> bool:
        """See the port."""
        with self._loop.running():
            if not self._limit.has_capacity(permits):
                return False
            task = self._loop.begin(self._limit.acquire(permits))
            self._loop.settle()
            return task.done() and task.exception() is None

    def tick(self, ticks: int) -> bool:
        """See the port."""
        with self._loop.running():
            self._loop.jump(self._loop.time() + ticks * TICK)
        return True


class TokenBucketRate(PortAdapter):
    """``Limiter`` reads ``time.monotonic`` where its storage finds it: there stands our clock."""

    port: ClassVar[Port] = PORT
    policy: ClassVar[str] = "bucket"
    name = "token_bucket.Limiter"

    def start(self, settings: Mapping[str, Any]) -> None:
        """See ``PortAdapter.start``."""
        try:
            from token_bucket import Limiter, MemoryStorage, storage
        except ImportError:
            raise missing("token_bucket") from None
        self.version = version("token_bucket")  # type: ignore[misc]
        self._now = 0.0
        _replace(storage, time=SimpleNamespace(monotonic=lambda: self._now))
        self._limit = Limiter(settings["rate"], settings["capacity"], MemoryStorage())

    def take(self, permits: int) -> bool:
        """See the port."""
        return bool(self._limit.consume("key", permits))

    def tick(self, ticks: int) -> bool:
        """See the port."""
        self._now += ticks * TICK
        return True


class _NoTimer:
    """What ``limits`` sweeps its storage with, in threads: it changes no answer, and is not run."""

    def __init__(self, seconds: float, sweep: object) -> None:
        self.daemon = False

    def start(self) -> None:
        """Nothing is swept, now or later."""

    def is_alive(self) -> bool:
        """As if it were about to."""
        return True


class FixedWindowRate(PortAdapter):
    """A whole depth in each period of so many seconds as bring it; ``limits`` reads ``time.time``.

    ``strategy`` is the name of the class in ``limits.strategies``.
    """

    port: ClassVar[Port] = PORT
    policy: ClassVar[str] = "bucket"
    name = "limits.FixedWindowRateLimiter"
    strategy: ClassVar[str] = "FixedWindowRateLimiter"

    def start(self, settings: Mapping[str, Any]) -> None:
        """See ``PortAdapter.start``."""
        try:
            from limits import RateLimitItemPerSecond, strategies
            from limits.storage import memory
        except ImportError:
            raise missing("limits") from None
        self.version = version("limits")  # type: ignore[misc]
        self._now = 0.0
        _replace(memory, time=SimpleNamespace(time=lambda: self._now),
                 threading=SimpleNamespace(Timer=_NoTimer, RLock=RLock))
        self._limiter = getattr(strategies, self.strategy)(memory.MemoryStorage())
        depth, rate = settings["capacity"], settings["rate"]
        if depth % rate:
            raise Declined(f"{UNSUPPORTED}rate")
        self._item = RateLimitItemPerSecond(depth, depth // rate)

    def take(self, permits: int) -> bool:
        """See the port."""
        return bool(self._limiter.hit(self._item, "key", cost=permits))

    def tick(self, ticks: int) -> bool:
        """See the port."""
        self._now += ticks * TICK
        return True


class MovingWindowRate(FixedWindowRate):
    """As many as a depth in any such period: a log of who was let through."""

    name = "limits.MovingWindowRateLimiter"
    strategy: ClassVar[str] = "MovingWindowRateLimiter"
