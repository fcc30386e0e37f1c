"""Semaphores and locks for asyncio, callback by callback: the port ``awaits.permits``."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping
from typing import Any, ClassVar

from ....reference.drivers.asyncio_permits import Permits
from ....reference.drivers.virtual_loop import VirtualLoop
from ...adapters.base import Declined, missing
from ...adapters.port_adapter import PortAdapter
from ...ports.base import Message, Port
from .port import PORT

__all__ = [
    "AnyioLimiter", "AnyioLock", "AnyioSemaphore", "AsyncioLock", "AsyncioSemaphore", "Held",
    "ReferencePermits",
]


class Held:
    """One call of acquire: its task, and what it waits for while it has its permit."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.task: asyncio.Task[Any] | None = None
        self.scope: Any = None
        self.has = False
        self._leave = False
        self._gate: asyncio.Future[None] | None = None

    async def keeps(self) -> None:
        """Keep the permit until ``leave``; a cancellation that came too late is dropped."""
        self.has = True
        while not self._leave:
            self._gate = asyncio.get_running_loop().create_future()
            try:
                await self._gate
            except asyncio.CancelledError:
                task = asyncio.current_task()
                assert task is not None
                task.uncancel()
        self.has = False

    def leave(self) -> bool:
        """Let it go on; whether its next step is the last callback that became ready."""
        assert self._gate is not None
        self._leave = True
        if self._gate.done():
            return False
        self._gate.set_result(None)
        return True


class ReferencePermits(PortAdapter):
    """The reference's permits, and the part that is the same for all.

    A subclass says which ``kind`` of permits it makes, and how it takes and gives them.
    """

    port: ClassVar[Port] = PORT
    name = "reference"
    policy: ClassVar[str] = "line"
    kind: ClassVar[type[Any]] = Permits
    capacity_max: ClassVar[int] = 64

    # -- for subclasses -----------------------------------------------------------------------

    def make(self, capacity: int) -> Any:
        """What is under test."""
        return self.kind(capacity)

    async def take(self, call: Held) -> None:
        """Acquire a permit; raises ``CancelledError`` if it was told to stop and has none."""
        await self.permits.acquire()

    def give(self) -> None:
        """Give a permit back, within the task that has it."""
        self.permits.release()

    def stop(self, call: Held) -> None:
        """Tell the task of a call to stop."""
        assert call.task is not None
        call.task.cancel()

    def locked_now(self) -> bool:
        """Whether an acquire would have to wait."""
        locked: bool = self.permits.locked()
        return locked

    # -- the port -----------------------------------------------------------------------------

    def start(self, settings: Mapping[str, Any]) -> None:
        """See ``PortAdapter``."""
        if settings["capacity"] > self.capacity_max:
            raise Declined("unsupported-capacity")
        self.close()
        self._loop = VirtualLoop()
        self._calls: dict[str, Held] = {}
        self._events: list[Message] = []
        self._broken: BaseException | None = None
        with self._loop.running():
            self.permits = self.make(settings["capacity"])

    def acquire(self, by: str) -> list[Message]:
        """See the port."""
        if by in self._calls:
            raise Declined("name-is-taken")
        call = self._calls[by] = Held(by)
        with self._loop.running():
            call.task = self._loop.begin(self._holds(call))
        if not self._events:
            self.note(call, "waits")
        return self._seen()

    def release(self, by: str) -> list[Message]:
        """See the port."""
        call = self._calls.get(by)
        if call is None or not call.has:
            raise Declined("has-no-permit")
        with self._loop.running():
            if call.leave():
                self._loop.step(-1)
            self._loop.run_while(lambda: call.has)
        return self._seen()

    def interrupt(self, by: str) -> list[Message]:
        """See the port."""
        call = self._calls.get(by)
        if call is None or call.has:
            raise Declined("does-not-wait")
        with self._loop.running():
            self.stop(call)
        return self._seen()

    def locked(self) -> bool:
        """See the port."""
        with self._loop.running():
            return self.locked_now()

    def run(self, steps: int) -> list[Message]:
        """See the port."""
        with self._loop.running():
            for _ in range(steps):
                if not self._loop.step():
                    break
        return self._seen()

    def settle(self) -> list[Message]:    # type: ignore[override]
        """See the port."""
        with self._loop.running():
            self._loop.settle()
        return self._seen()

    def close(self) -> None:
        """End what still waits or holds, so that no task is thrown away while pending."""
        if not hasattr(self, "_loop") or self._loop.is_closed():
            return
        with self._loop.running():
            for call in self._calls.values():
                if call.has:
                    call.leave()
                elif call.task is not None and not call.task.done():
                    self.stop(call)
            self._loop.settle()
            for task in asyncio.all_tasks(self._loop):
                task.cancel()
            self._loop.settle()
        self._loop.close()

    # -- within -------------------------------------------------------------------------------

    def note(self, call: Held, does: str) -> None:
        """Report what became of a call."""
        self._events.append({"by": call.name, "does": does})

    async def _holds(self, call: Held) -> None:
        try:
            try:
                await self.take(call)
            except asyncio.CancelledError:
                self.note(call, "cancelled")
                return
            self.note(call, "has")
            await call.keeps()
            self.give()
            self.note(call, "released")
        except Exception as error:      # noqa: BLE001  whatever it is, it is told
            self._broken = error

    def _seen(self) -> list[Message]:
        if self._broken is not None:
            raise self._broken
        seen, self._events = self._events, []
        return seen


class AsyncioSemaphore(ReferencePermits):
    """``asyncio.Semaphore`` of the Python that runs us, or one that is derived from it."""

    name = "asyncio.Semaphore"
    kind: ClassVar[type[Any]] = asyncio.Semaphore


class AsyncioLock(ReferencePermits):
    """``asyncio.Lock``, which does not say whether others wait: only whether it is held."""

    name = "asyncio.Lock"
    capacity_max: ClassVar[int] = 1
    kind: ClassVar[type[Any]] = asyncio.Lock

    def make(self, capacity: int) -> Any:
        """See ``ReferencePermits``."""
        return self.kind()


class AnyioSemaphore(ReferencePermits):
    """anyio's semaphore, on asyncio; cancelled by its own cancel scopes."""

    name = "anyio.Semaphore"

    def make(self, capacity: int) -> Any:
        """See ``ReferencePermits``."""
        try:
            import anyio
        except ImportError as error:
            raise missing("anyio") from error
        self._anyio = anyio
        return self.of_anyio(capacity)

    def of_anyio(self, capacity: int) -> Any:
        """What is under test, made by anyio."""
        return self._anyio.Semaphore(capacity)

    def locked_now(self) -> bool:
        """See ``ReferencePermits``."""
        return bool(self.permits.value == 0)

    async def take(self, call: Held) -> None:
        """See ``ReferencePermits``."""
        await self.scoped(call, self.permits.acquire())

    async def scoped(self, call: Held, acquire: Awaitable[Any]) -> None:
        """Acquire in a scope of its own, which ends with it."""
        has = False
        with self._anyio.CancelScope() as call.scope:
            await acquire
            has = True
        if not has:
            raise asyncio.CancelledError

    def stop(self, call: Held) -> None:
        """See ``ReferencePermits``."""
        call.scope.cancel()


class AnyioLock(AnyioSemaphore):
    """anyio's lock, on asyncio: it is given back by the task that has it."""

    name = "anyio.Lock"
    capacity_max: ClassVar[int] = 1

    def of_anyio(self, capacity: int) -> Any:
        """See ``AnyioSemaphore``."""
        return self._anyio.Lock()

    def locked_now(self) -> bool:
        """See ``ReferencePermits``."""
        return bool(self.permits.locked())


class AnyioLimiter(AnyioSemaphore):
    """anyio's capacity limiter, on asyncio: whoever borrows a token gives it back."""

    name = "anyio.CapacityLimiter"

    def of_anyio(self, capacity: int) -> Any:
        """See ``AnyioSemaphore``."""
        return self._anyio.CapacityLimiter(capacity)

    def locked_now(self) -> bool:
        """See ``ReferencePermits``."""
        return bool(self.permits.available_tokens == 0)
