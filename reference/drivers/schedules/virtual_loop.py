"""An event loop for asyncio in virtual time; callbacks run one by one, on request.

Theory of operation
-------------------
asyncio promises two things about order. Callbacks given to ``call_soon`` run first in, first out;
and timers run when they are due, those of one instant in no certain order. All else is up to the
world: when a packet comes, when a thread calls ``call_soon_threadsafe``, how long a callback takes.
So code for asyncio has as many runs as there are instants at which the world may act.

This loop has no world. It opens no descriptor, reads no clock and never sleeps: time stops while
anything is ready, and then jumps to the next timer. ``step`` runs one callback, the first one;
between any two, the driver of the loop may do what an event would have done there. That is a run
of asyncio's own loop: an event's callback comes between two others if it came before the second
was scheduled. No waiting is needed until the world happens to bring that about.

``step(place)`` runs another one than the first. No loop for asyncio does so; code that fails only
then relies on the order of callbacks, as it may. It is for code that is to run elsewhere as well:
trio runs tasks that became ready together in no certain order.

It is a ``BaseEventLoop``, so tasks, futures, ``run_until_complete``, ``asyncio.timeout`` and all
other code for asyncio run on it as they are. Calls that need sockets, processes or threads raise
``NotImplementedError``.

Source: asyncio's documentation of ``loop.call_soon`` and ``loop.call_at``.
"""

from __future__ import annotations

import asyncio
import heapq
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import Context
from typing import Any, Final, TypeVarTuple

__all__ = ["CALLBACKS_MAX", "DRIVEN_BY", "Deadlock", "Unrest", "VirtualLoop", "virtual_now"]

Ts = TypeVarTuple("Ts")

CALLBACKS_MAX: Final = 100_000
"""Callbacks that may run at one instant; a loop that needs more is taken to run without end."""


DRIVEN_BY: Final = (
    "running", "begin", "step", "run_while", "settle", "ready", "is_ready", "advance", "jump",
    "time",
)
"""The methods of the loop that are for its driver."""


class Deadlock(RuntimeError):
    """Nothing is ready, no timer is set, and ``run_until_complete`` has to continue."""


class Unrest(RuntimeError):
    """The code under test keeps the loop busy at one instant, or broke a callback."""


class VirtualLoop(asyncio.BaseEventLoop):
    """A loop in virtual time. ``ran`` counts the callbacks that it has run.

    Its own methods are called within ``running()``; ``run_until_complete`` needs no such thing.
    """

    def __init__(self) -> None:
        super().__init__()
        self._ready: deque[asyncio.Handle] = deque()
        self._timers: list[tuple[float, int, asyncio.TimerHandle]] = []
        self._timers_set = 0
        self._now = 0.0
        self._at_one_instant = 0
        self._failure: str | None = None
        self.ran = 0

    # -- for the driver of the loop ------------------------------------------------------------

    @contextmanager
    def running(self) -> Iterator[None]:
        """Be the running loop of this thread. Raises ``Unrest`` if one of its callbacks failed."""
        outer = asyncio._get_running_loop()
        asyncio._set_running_loop(self)
        self._thread_id: int | None = threading.get_ident()
        try:
            yield
        finally:
            self._thread_id = None
            asyncio._set_running_loop(outer)
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise Unrest(failure)

    def ready(self) -> int:
        """Number of callbacks that could run now."""
        return sum(not handle._cancelled for handle in self._ready)

    def step(self, place: int = 0) -> bool:
        """Run the first ready callback, or the one at another place; return whether there was one.

        Raises ``IndexError`` for a place at which there is none, and ``Unrest`` if more than
        ``CALLBACKS_MAX`` have run at one instant.
        """
        ready = self._ready
        while ready and ready[0]._cancelled:
            ready.popleft()
        if not ready:
            return False
        if self._at_one_instant >= CALLBACKS_MAX:
            raise Unrest(f"not idle after {CALLBACKS_MAX} callbacks at one instant")
        if place:
            handle = [each for each in ready if not each._cancelled][place]
            ready.remove(handle)
        else:
            handle = ready.popleft()
        self.ran += 1
        self._at_one_instant += 1
        handle._run()
        return True

    def run_while(self, condition: Callable[[], bool]) -> None:
        """Run callbacks, first in, first out, while ``condition()`` and there are any."""
        while condition() and self.step():
            pass

    def settle(self) -> None:
        """Run callbacks, first in, first out, until none is left. Time does not advance."""
        while self.step():
            pass

    def advance(self) -> bool:
        """Jump to the next timer, which becomes ready with all that are due then; return whether
        there was one.

        Timers of one instant become ready in the order in which they were set. With callbacks
        still ready, it is a run in which these took that long.
        """
        self._forget_cancelled()
        if not self._timers:
            return False
        self.jump(self._timers[0][0])
        return True

    def jump(self, to: float) -> None:
        """Set the time, in seconds; an earlier time changes nothing.

        Timers that are due get ready.
        """
        if to > self._now:
            self._now, self._at_one_instant = to, 0
        while self._timers and self._timers[0][0] <= self._now:
            timer = heapq.heappop(self._timers)[2]
            if not timer._cancelled:
                self._ready.append(timer)

    def begin(self, coroutine: Any) -> asyncio.Task[Any]:
        """A task; its first step runs at once, before all callbacks that are ready.

        A task that awaited ``coroutine`` would run so, after an event that made it ready earlier.
        """
        task = self.create_task(coroutine)
        self._ready.rotate(1)    # what create_task has just put at the end
        self.step()
        return task

    def is_ready(self, task: asyncio.Task[Any]) -> bool:
        """True if a step of the task is among the ready callbacks."""
        # A task's own callbacks are bound to it, whether asyncio is the C or the Python one.
        return any(
            getattr(getattr(handle, "_callback", None), "__self__", None) is task
            for handle in self._ready if not handle._cancelled)

    # -- for asyncio --------------------------------------------------------------------------

    def time(self) -> float:
        """The time in seconds; 0 at first."""
        return self._now

    def call_at(
        self, when: float, callback: Callable[[*Ts], object], *args: *Ts,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """Set a timer; the handle can cancel it."""
        timer = asyncio.TimerHandle(when, callback, args, self, context)
        self._timers_set += 1
        heapq.heappush(self._timers, (when, self._timers_set, timer))
        return timer

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """Keep the failure of a callback; ``running`` raises it."""
        if "handle" in context:
            self._failure = f"{context.get('message')}: {context.get('exception')!r}"

    def run_in_executor(  # type: ignore[override]
        self, executor: Any, func: Any, *args: Any
    ) -> Any:
        """There are no threads here. Raises ``NotImplementedError``."""
        raise NotImplementedError(
            "a loop in virtual time has no threads; run them under scheduling.Scheduler")

    def _run_once(self) -> None:
        if self.step() or self.advance():
            return
        if not self._stopping:  # type: ignore[attr-defined]
            raise Deadlock("nothing is ready, no timer is set, and the loop has to continue")

    def __del__(self, _warn: object = None) -> None:
        """asyncio warns of a loop that was not closed; this one holds nothing to release."""

    def _forget_cancelled(self) -> None:
        while self._timers and self._timers[0][2]._cancelled:
            heapq.heappop(self._timers)

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """Nothing to do: a cancelled timer is skipped when it is due."""

    def _write_to_self(self) -> None:
        """Nothing to do: ``call_soon_threadsafe`` calls it to wake a sleeping loop; this never
        sleeps.
        """


def virtual_now() -> float | None:
    """The time of the loop that runs in this thread, in seconds; None if none in virtual time does.
    """
    loop = asyncio._get_running_loop()
    return loop.time() if isinstance(loop, VirtualLoop) else None
