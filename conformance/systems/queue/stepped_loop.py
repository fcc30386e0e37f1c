"""An event loop that runs only when it is told to, one callback at a time, in virtual time.

It is deterministic, opens no file descriptor and never sleeps. Callbacks run in the order in
which asyncio's own loop would run them; what the harness gains is to stop between any two.
"""

from __future__ import annotations

import asyncio
import heapq
from collections import deque
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import Context
from typing import Any, Final, TypeVarTuple

__all__ = ["SteppedLoop", "Unrest"]

Ts = TypeVarTuple("Ts")

CALLBACKS_MAX: Final = 100_000
"""Callbacks that may run within one request; a queue that needs more does not come to rest."""


class Unrest(RuntimeError):
    """The code under test keeps the loop busy at one instant, or broke a callback."""


class SteppedLoop(asyncio.AbstractEventLoop):
    """Only what tasks, futures and the primitives of asyncio ask of a loop."""

    def __init__(self) -> None:
        self._ready: deque[asyncio.Handle] = deque()
        self._timers: list[tuple[float, int, asyncio.TimerHandle]] = []
        self._timer_count = 0
        self._now = 0.0
        self._failure: str | None = None

    # -- for the harness ----------------------------------------------------------------------

    @contextmanager
    def running(self, now: float) -> Iterator[None]:
        """Be the running loop of this thread at ``now`` seconds; timers that are due get ready."""
        outer = asyncio._get_running_loop()
        asyncio._set_running_loop(self)
        try:
            self._now = max(self._now, now)
            while self._timers and self._timers[0][0] <= self._now:
                self._ready.append(heapq.heappop(self._timers)[2])
            yield
        finally:
            asyncio._set_running_loop(outer)
        if self._failure is not None:
            raise Unrest(self._failure)

    def start(self, coroutine: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Run ``coroutine`` as a task until it waits for somebody else.

        Its first step runs at once, before what is ready already, as if the caller awaited it;
        if it merely yields, it takes its turn behind the others.
        """
        task = self.create_task(coroutine)
        self._run(self._ready.pop())
        self.run_while(lambda: self._is_ready(task))
        return task

    def run_while(self, condition: Callable[[], bool]) -> None:
        """Run callbacks while ``condition()`` and there are any."""
        for _ in range(CALLBACKS_MAX):
            if not self._ready or not condition():
                return
            self._run(self._ready.popleft())
        raise Unrest(f"not at rest after {CALLBACKS_MAX} callbacks at one instant")

    def _run(self, handle: asyncio.Handle) -> None:
        if not handle.cancelled():
            handle._run()

    def _is_ready(self, task: asyncio.Task[Any]) -> bool:
        # A task's own callbacks are bound to it, whether asyncio is the C or the Python one.
        return any(
            getattr(getattr(handle, "_callback", None), "__self__", None) is task
            for handle in self._ready if not handle.cancelled())

    # -- for asyncio --------------------------------------------------------------------------

    def call_soon(
        self, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        """See ``asyncio.AbstractEventLoop``."""
        handle = asyncio.Handle(callback, args, self, context)
        self._ready.append(handle)
        return handle

    def call_soon_threadsafe(
        self, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        """See ``asyncio.AbstractEventLoop``. There is one thread."""
        return self.call_soon(callback, *args, context=context)

    def call_later(
        self, delay: float, callback: Callable[[*Ts], object], *args: *Ts,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """See ``asyncio.AbstractEventLoop``."""
        return self.call_at(self._now + delay, callback, *args, context=context)

    def call_at(
        self, when: float, callback: Callable[[*Ts], object], *args: *Ts,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """See ``asyncio.AbstractEventLoop``."""
        timer = asyncio.TimerHandle(when, callback, args, self, context)
        self._timer_count += 1
        heapq.heappush(self._timers, (when, self._timer_count, timer))
        return timer

    def create_future(self) -> asyncio.Future[Any]:
        """See ``asyncio.AbstractEventLoop``."""
        return asyncio.Future(loop=self)

    def create_task(self, coro: Any, **options: Any) -> asyncio.Task[Any]:
        """See ``asyncio.AbstractEventLoop``."""
        return asyncio.Task(coro, loop=self, **options)

    def time(self) -> float:
        """See ``asyncio.AbstractEventLoop``."""
        return self._now

    def get_debug(self) -> bool:
        """See ``asyncio.AbstractEventLoop``."""
        return False

    def is_running(self) -> bool:
        """See ``asyncio.AbstractEventLoop``."""
        return True

    def is_closed(self) -> bool:
        """See ``asyncio.AbstractEventLoop``."""
        return False

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """See ``asyncio.AbstractEventLoop``. The failure surfaces at the end of the request."""
        error = context.get("exception")
        self._failure = f"{context.get('message')}: {error!r}"

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """asyncio tells its loop; a cancelled timer is skipped when it is due."""
