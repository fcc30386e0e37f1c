"""Condition variables for asyncio, callback by callback: the port ``awaits.condition``."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, ClassVar

from ....reference.drivers.asyncio_condition import Condition
from ...adapters.base import Declined, missing
from ...adapters.loop_adapter import Held, LoopAdapter
from ...ports.base import Message, Port
from .port import PORT

__all__ = ["AnyioCondition", "AnyioNativeCondition", "AsyncioCondition", "ReferenceCondition"]


class ReferenceCondition(LoopAdapter):
    """The reference's condition variable, and the common part of all adapters of such."""

    port: ClassVar[Port] = PORT
    name = "reference"
    policy: ClassVar[str] = "sleep"
    kind: ClassVar[type[Any]] = Condition

    # -- for subclasses -----------------------------------------------------------------------

    def make(self) -> Any:
        """Create the condition variable under test."""
        return self.kind()

    async def sleep(self, call: Held) -> None:
        """Wait; raise ``CancelledError`` if the wait is cancelled."""
        await self.condition.wait()

    # -- the port -----------------------------------------------------------------------------

    def start(self, settings: Mapping[str, Any]) -> None:
        """Begin with a fresh instance."""
        if settings["capacity"] != 1:
            raise Declined("unsupported-capacity")
        self.begin_anew()
        self.condition = self.inside(self.make)

    def wait(self, by: str) -> list[Message]:
        self.call(by, self._waits)
        return self._seen()

    def notify(self, by: str, count: int) -> list[Message]:
        async def notifies(call: Held) -> None:
            await self.condition.acquire()
            self.condition.notify(count)
            self.note(call, "notifies")
            self.condition.release()

        self.call(by, notifies)
        return self._seen()

    def leave(self, by: str) -> list[Message]:
        return self.let_go(by)

    # -- within -------------------------------------------------------------------------------

    async def _waits(self, call: Held) -> None:
        await self.condition.acquire()
        self.note(call, "sleeps")
        try:
            await self.sleep(call)
        except asyncio.CancelledError:
            self._ends(call, "cancelled")
            return
        self.note(call, "goes on")
        await call.keeps()
        self._ends(call, "left")

    def _ends(self, call: Held, does: str) -> None:
        try:
            self.condition.release()
        except RuntimeError:    # the call does not hold it
            does = "has no lock"
        self.note(call, does)


class AsyncioCondition(ReferenceCondition):
    """``asyncio.Condition`` of the Python that runs us, or one that is derived from it."""

    name = "asyncio.Condition"
    kind: ClassVar[type[Any]] = asyncio.Condition


class AnyioCondition(ReferenceCondition):
    """anyio's condition variable, on asyncio; cancelled by its own cancel scopes."""

    name = "anyio.Condition"

    def make(self) -> Any:
        """Create the condition variable under test."""
        try:
            import anyio
        except ImportError as error:
            raise missing("anyio") from error
        self._anyio = anyio
        return anyio.Condition()

    async def sleep(self, call: Held) -> None:
        """Wait; raise ``CancelledError`` if the wait is cancelled."""
        over = False
        with self._anyio.CancelScope() as call.scope:
            await self.condition.wait()
            over = True
        if not over:
            raise asyncio.CancelledError

    def stop(self, call: Held) -> None:
        """Request the cancellation of a call; one that has not gone to sleep has no scope yet."""
        if call.scope is None:
            super().stop(call)
        else:
            call.scope.cancel()


class AnyioNativeCondition(AnyioCondition):
    """anyio's condition variable, cancelled by ``task.cancel()``."""

    name = "anyio.Condition, cancelled by asyncio"

    def stop(self, call: Held) -> None:
        """Request the cancellation of a call's task."""
        LoopAdapter.stop(self, call)
