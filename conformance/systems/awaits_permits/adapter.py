"""Semaphores and locks for asyncio, callback by callback: the port ``awaits.permits``."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Mapping
from contextlib import suppress
from typing import Any, ClassVar

from ....reference.drivers.asyncio_permits import LatePermits, Permits
from ...adapters.base import Declined, missing
from ...adapters.loop_adapter import Held, LoopAdapter
from ...ports.base import Message, Port
from .port import PORT

__all__ = [
    "AnyioLimiter", "AnyioLock", "AnyioNativeLimiter", "AnyioNativeLock", "AnyioNativeSemaphore",
    "AnyioSemaphore", "AsyncioLock", "AsyncioSemaphore", "ReferenceLatePermits",
    "ReferencePermits",
]


class ReferencePermits(LoopAdapter):
    """The reference's permits, and the common part of all adapters of permits.

    A subclass defines which ``kind`` of permits it makes, and how it takes and gives them.
    """

    port: ClassVar[Port] = PORT
    name = "reference"
    policy: ClassVar[str] = "line"
    kind: ClassVar[type[Any]] = Permits
    capacity_max: ClassVar[int] = 10_000

    # -- for subclasses -----------------------------------------------------------------------

    def make(self, capacity: int) -> Any:
        """Create the object under test."""
        return self.kind(capacity)

    async def take(self, call: Held) -> None:
        """Acquire a permit; raise ``CancelledError`` if cancelled without one."""
        await self.permits.acquire()

    def give(self) -> Awaitable[Any] | None:
        """Give a permit back, within the task that holds it; a coroutine is awaited there."""
        given: Awaitable[Any] | None = self.permits.release()
        return given

    def locked_now(self) -> bool:
        """True if an acquire would have to wait."""
        locked: bool = self.permits.locked()
        return locked

    # -- the port -----------------------------------------------------------------------------

    def start(self, settings: Mapping[str, Any]) -> None:
        """Begin with a fresh instance."""
        if settings["capacity"] > self.capacity_max:
            raise Declined("unsupported-capacity")
        self.begin_anew()
        self.permits = self.inside(lambda: self.make(settings["capacity"]))

    def acquire(self, by: str) -> list[Message]:
        call = self.call(by, self._holds)
        if not self._events:
            self.note(call, "waits")
        return self._seen()

    def release(self, by: str) -> list[Message]:
        return self.let_go(by)

    def locked(self) -> bool:
        return self.inside(self.locked_now)

    # -- within -------------------------------------------------------------------------------

    async def _holds(self, call: Held) -> None:
        try:
            await self.take(call)
        except asyncio.CancelledError:
            self.note(call, "cancelled")
            return
        self.note(call, "has")
        await call.keeps()
        given = self.give()
        if inspect.isawaitable(given):
            with suppress(asyncio.CancelledError):      # its end shows in what it left
                await given
        self.note(call, "released")


class ReferenceLatePermits(ReferencePermits):
    """The reference's permits, with a coroutine that gives a permit back."""

    name = "reference, given back by a coroutine"
    kind: ClassVar[type[Any]] = LatePermits


class AsyncioSemaphore(ReferencePermits):
    """``asyncio.Semaphore`` of the Python that runs us, or one that is derived from it."""

    name = "asyncio.Semaphore"
    kind: ClassVar[type[Any]] = asyncio.Semaphore


class AsyncioLock(ReferencePermits):
    """``asyncio.Lock``, which does not report whether others wait: only whether it is held."""

    name = "asyncio.Lock"
    capacity_max: ClassVar[int] = 1
    kind: ClassVar[type[Any]] = asyncio.Lock

    def make(self, capacity: int) -> Any:
        """Create the object under test."""
        return self.kind()


class AnyioSemaphore(ReferencePermits):
    """anyio's semaphore, on asyncio; cancelled by its own cancel scopes."""

    name = "anyio.Semaphore"

    def make(self, capacity: int) -> Any:
        """Create the object under test."""
        try:
            import anyio
        except ImportError as error:
            raise missing("anyio") from error
        self._anyio = anyio
        return self.of_anyio(capacity)

    def of_anyio(self, capacity: int) -> Any:
        """Create the object under test, by anyio."""
        return self._anyio.Semaphore(capacity)

    def locked_now(self) -> bool:
        """True if an acquire would have to wait."""
        return bool(self.permits.value == 0)

    async def take(self, call: Held) -> None:
        """Acquire a permit; raise ``CancelledError`` if cancelled without one."""
        await self.scoped(call, self.permits.acquire())

    async def scoped(self, call: Held, acquire: Awaitable[Any]) -> None:
        """Acquire in a cancel scope of its own, which ends with it."""
        has = False
        with self._anyio.CancelScope() as call.scope:
            await acquire
            has = True
        if not has:
            raise asyncio.CancelledError

    def stop(self, call: Held) -> None:
        """Request the cancellation by the call's own cancel scope."""
        call.scope.cancel()


class AnyioLock(AnyioSemaphore):
    """anyio's lock, on asyncio: the task that holds it gives it back."""

    name = "anyio.Lock"
    capacity_max: ClassVar[int] = 1

    def of_anyio(self, capacity: int) -> Any:
        """Create the lock under test, by anyio."""
        return self._anyio.Lock()

    def locked_now(self) -> bool:
        """True if an acquire would have to wait."""
        return bool(self.permits.locked())


class AnyioLimiter(AnyioSemaphore):
    """anyio's capacity limiter, on asyncio: the task that borrows a token gives it back."""

    name = "anyio.CapacityLimiter"

    def of_anyio(self, capacity: int) -> Any:
        """Create the limiter under test, by anyio."""
        return self._anyio.CapacityLimiter(capacity)

    def locked_now(self) -> bool:
        """True if an acquire would have to wait."""
        return bool(self.permits.available_tokens == 0)


class _Native(AnyioSemaphore):
    """Cancelled by ``task.cancel()``, as ``asyncio.timeout`` and ``TaskGroup`` do."""

    def stop(self, call: Held) -> None:
        """Request the cancellation by ``task.cancel()``."""
        LoopAdapter.stop(self, call)


class AnyioNativeSemaphore(_Native):
    """anyio's semaphore, cancelled by asyncio and not by anyio."""

    name = "anyio.Semaphore, cancelled by asyncio"


class AnyioNativeLock(_Native, AnyioLock):
    """anyio's lock, cancelled by asyncio and not by anyio."""

    name = "anyio.Lock, cancelled by asyncio"


class AnyioNativeLimiter(_Native, AnyioLimiter):
    """anyio's capacity limiter, cancelled by asyncio and not by anyio."""

    name = "anyio.CapacityLimiter, cancelled by asyncio"
