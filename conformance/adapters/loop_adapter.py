"""Shared by adapters with calls that are coroutines on a loop that the harness drives.

Each call is a task with a name. It takes one step when it is asked for, and then only as ``run``
and ``settle`` say. Answers have the events of the callbacks that ran, in their order.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, ClassVar, TypeVar

from ...reference.drivers.schedules.virtual_loop import VirtualLoop
from ..ports.base import STEPPED, Message
from .base import Declined
from .port_adapter import PortAdapter

__all__ = ["Held", "LoopAdapter"]

Answer = TypeVar("Answer")


class Held:
    """One call: its task, and what it waits for while it has what it asked for."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.task: asyncio.Task[Any] | None = None
        self.scope: Any = None
        self.has = False
        self._leave = False
        self._gate: asyncio.Future[None] | None = None

    async def keeps(self) -> None:
        """Keep it until ``leave``; a cancellation that came too late is dropped."""
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
        """Let it continue; true if its next step is the last callback that became ready."""
        assert self._gate is not None
        self._leave = True
        if self._gate.done():
            return False
        self._gate.set_result(None)
        return True


class LoopAdapter(PortAdapter):
    """The loop, the calls by name, and what they have reported."""

    wakes: ClassVar[str] = STEPPED

    _loop: VirtualLoop

    def begin_anew(self) -> None:
        """A fresh loop; what was there ends."""
        self.close()
        self._loop = VirtualLoop()
        self._calls: dict[str, Held] = {}
        self._events: list[Message] = []
        self._broken: BaseException | None = None

    # -- for subclasses -----------------------------------------------------------------------

    def call(self, name: str, does: Callable[[Held], Coroutine[Any, Any, None]]) -> Held:
        """A new call, which takes its first step."""
        if name in self._calls:
            raise Declined("name-is-taken")
        call = self._calls[name] = Held(name)

        async def told() -> None:
            try:
                await does(call)
            except Exception as error:      # noqa: BLE001  whatever it is, it is reported
                self._broken = error

        with self._loop.running():
            call.task = self._loop.begin(told())
        return call

    def inside(self, ask: Callable[[], Answer]) -> Answer:
        """Ask from within a task, and return the answer: some libraries answer only there."""
        async def asks() -> Answer:
            return ask()

        with self._loop.running():
            task: asyncio.Task[Answer] = self._loop.begin(asks())
        return task.result()

    def note(self, call: Held, does: str, **more: object) -> None:
        """Report what became of a call."""
        self._events.append({"by": call.name, "does": does, **more})

    def stop(self, call: Held) -> None:
        """Cancel the task of a call."""
        assert call.task is not None
        call.task.cancel()

    def let_go(self, name: str) -> list[Message]:
        """A call that has something gives it back, at once."""
        call = self._calls.get(name)
        if call is None or not call.has:
            raise Declined("has-nothing")
        with self._loop.running():
            if call.leave():
                self._loop.step(-1)
            self._loop.run_while(lambda: call.has)
        return self._seen()

    # -- what all their ports have ------------------------------------------------------------

    def interrupt(self, by: str) -> list[Message]:
        """Cancel a call that waits; nothing runs yet."""
        call = self._calls.get(by)
        if call is None or call.has:
            raise Declined("does-not-wait")
        with self._loop.running():
            self.stop(call)
        return self._seen()

    def run(self, steps: int) -> list[Message]:
        """Let so many callbacks run."""
        with self._loop.running():
            for _ in range(steps):
                if not self._loop.step():
                    break
        return self._seen()

    def settle(self) -> list[Message]:    # type: ignore[override]
        """Let everything run that can run at this instant."""
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

    def _seen(self) -> list[Message]:
        if self._broken is not None:
            raise self._broken
        seen, self._events = self._events, []
        return seen
