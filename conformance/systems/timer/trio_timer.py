"""trio's deadlines under test, in a thread that runs only while a request is answered.

A task sleeps in a cancel scope until its deadline, by trio's own ``MockClock``, which advances only
on request: from deadline to deadline, as trio itself would sleep. ``trio_channel`` explains why
there is a thread.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from queue import SimpleQueue
from typing import Any, ClassVar

from ...adapters.base import missing
from .adapter import TimerAdapter

__all__ = ["TrioTimer"]


class TrioTimer(TimerAdapter):
    """``trio.sleep_until`` in a cancel scope; 1 ms of ours is 1 s of the mock clock."""

    name = "trio deadlines"
    policy: ClassVar[str] = "deadline"

    def begin(self, settings: Mapping[str, Any]) -> None:
        """Start trio's run in a thread; raises if trio is missing."""
        try:
            import trio
            import trio.testing
        except ImportError as error:
            raise missing("trio") from error
        self.close()
        self._trio = trio
        self._start = self.now
        self._scopes: dict[int, Any] = {}
        self._inbox: SimpleQueue[tuple[str, tuple[int, ...]] | None] = SimpleQueue()
        self._outbox: SimpleQueue[BaseException | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def schedule(self, task: int, delay: int) -> None:
        """Let a new task sleep until the deadline, instead of an older one."""
        self.unschedule(task)
        self._ask("sleep", task, self.now + delay)

    def unschedule(self, task: int) -> None:
        """Cancel the sleeping task, if there is one."""
        if task in self._scopes:
            self._ask("wake", task)

    def move(self, until: int) -> None:
        """Let time pass up to ``until``."""
        self._ask("pass", until)

    def close(self) -> None:
        """End the run and its thread."""
        if hasattr(self, "_thread"):
            self._inbox.put(None)
            self._thread.join()
            del self._thread

    def _ask(self, do: str, *arguments: int) -> None:
        self._inbox.put((do, arguments))
        answer = self._outbox.get()
        if answer is not None:
            raise answer

    # -- in the thread of the run -------------------------------------------------------------

    def _run(self) -> None:
        self._clock = self._trio.testing.MockClock()
        try:
            self._trio.run(self._serve, clock=self._clock)
        except BaseException as error:  # noqa: BLE001 the harness always waits for an answer
            self._outbox.put(error)

    async def _serve(self) -> None:
        async with self._trio.open_nursery() as self._nursery:
            while (asked := self._inbox.get()) is not None:
                do, arguments = asked
                await getattr(self, f"_do_{do}")(*arguments)
                self._outbox.put(None)
            self._nursery.cancel_scope.cancel()

    async def _do_sleep(self, task: int, deadline: int) -> None:
        self._scopes[task] = scope = self._trio.CancelScope()
        self._nursery.start_soon(self._sleep, task, scope, deadline)
        await self._rest()

    async def _sleep(self, task: int, scope: Any, deadline: int) -> None:
        with scope:
            await self._trio.sleep_until(deadline - self._start)
            del self._scopes[task]
            self.ran(task, self._time())

    async def _do_wake(self, task: int) -> None:
        self._scopes.pop(task).cancel()
        await self._rest()

    async def _do_pass(self, until: int) -> None:
        await self._rest()
        while self._time() < until:
            statistics = self._trio.lowlevel.current_statistics()
            self._clock.jump(min(statistics.seconds_to_next_deadline, until - self._time()))
            await self._rest()

    def _time(self) -> int:
        return self._start + int(self._clock.current_time())

    async def _rest(self) -> None:
        # A cushion of 0 asks trio whether anything can run now; no time passes.
        await self._trio.testing.wait_all_tasks_blocked(0.0)
