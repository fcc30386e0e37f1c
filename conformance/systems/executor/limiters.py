"""Threads of anyio and trio behind their ``CapacityLimiter``, as an executor.

``to_thread.run_sync`` waits for a token of the limiter and then runs a function in a thread. So the
tokens are the workers, and what waits for one waits in the order of its coming. There is no
shutdown: a limiter has no end. The event loop runs in a thread of its own.

A request is answered when the limiter says that all tasks that are not over wait for a token or
have one, and those that have one have started.
"""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Callable, Collection, Mapping
from importlib import import_module, metadata
from typing import Any, ClassVar

from ....spec.notation.errors import TargetError
from ...adapters.base import Declined, missing
from ...adapters.port_adapter import PortAdapter
from ...computer.patience import Countdown
from ...ports.base import Message, Port
from .port import PORT
from .threads import PATIENCE

__all__ = ["AnyioThreads", "TrioThreads"]

Events = list[list[Any]]
Item = int | str

_LOOK_SECONDS = 0.002


class _TaskFailed(Exception):
    """Raised by a task that the harness lets fail, or ends with the session."""


class _Task:
    """A task: what cancels it, and how it is to end."""

    def __init__(self, scope: Any) -> None:
        self.scope = scope
        self.is_over = False
        self.runs = False
        self.cancelled = False
        self.well: bool | None = None


class TrioThreads(PortAdapter):
    """trio's own. Tasks are those of one nursery."""

    port: ClassVar[Port] = PORT
    policy: ClassVar[str] = "unbounded"
    no_occasion: ClassVar[Collection[str]] = ("EXEC-4",)
    name = "trio.to_thread.run_sync with a CapacityLimiter"
    library: ClassVar[str] = "trio"

    def start(self, settings: Mapping[str, Any]) -> None:
        """Begin with a fresh instance."""
        self.close()
        try:
            self._lib: Any = import_module(self.library)
        except ImportError as error:
            raise missing(self.library) from error
        self._changed = threading.Condition()
        self._events: Events = []
        self._tasks: dict[int, _Task] = {}
        self._asked: deque[tuple[Callable[[], object], threading.Event]] = deque()
        self._ends_loop = False
        self._is_closed = False
        up = threading.Event()
        self._thread = threading.Thread(
            target=self._lib.run, args=(self._main, settings["workers"], up), daemon=True)
        self._thread.start()
        if not up.wait(PATIENCE):
            raise _hangs(self.name, "its event loop does not start")

    @property
    def version(self) -> str:  # type: ignore[override]
        """The version of the library."""
        return metadata.version(self.library)

    def close(self) -> None:
        """End the tasks that still run, and the event loop."""
        if not hasattr(self, "_thread"):
            return
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        with contextlib.suppress(RuntimeError):
            self._call(self._end)
        self._thread.join(PATIENCE)

    def submit(self, task: int, item: Item) -> Events:
        def begin() -> None:
            self._tasks[task] = _Task(self._lib.CancelScope())
            self._nursery.start_soon(self._run, task, item)

        self._call(begin)
        return self._settled()

    def finish(self, task: int) -> Events:
        return self._ends(task, well=True)

    def fail(self, task: int) -> Events:
        return self._ends(task, well=False)

    def cancel(self, task: int) -> Message:
        one = self._tasks[task]
        one.cancelled = True
        self._call(one.scope.cancel)
        does = self._settled()
        # Trio and anyio do not cancel what runs in a thread; they do when it has ended.
        return {"undone": one.is_over and not one.runs, "does": does}

    # -- within the event loop ------------------------------------------------------------------

    async def _main(self, workers: int, up: threading.Event) -> None:
        self._limiter = self._lib.CapacityLimiter(workers)
        self._wake = self._lib.Event()
        self._remember_loop()
        async with self._open_nursery() as self._nursery:
            up.set()
            while not self._ends_loop:
                await self._wake.wait()
                self._wake = self._lib.Event()
                while self._asked:    # in a task: anyio does nothing outside of one
                    what, done = self._asked.popleft()
                    what()
                    done.set()
            self._nursery.cancel_scope.cancel()

    def _open_nursery(self) -> Any:
        return self._lib.open_nursery()

    def _remember_loop(self) -> None:
        token = self._lib.lowlevel.current_trio_token()
        self._soon: Callable[[Callable[[], object]], object] = token.run_sync_soon

    def _end(self) -> None:
        self._ends_loop = True

    async def _run(self, task: int, item: Item) -> None:
        one = self._tasks[task]
        ended: list[Any] = []
        with one.scope:
            try:
                result = await self._lib.to_thread.run_sync(
                    self._body, task, item, limiter=self._limiter)
                ended = ["return", task, result]
            except _TaskFailed:
                ended = ["raise", task]
        with self._changed:
            one.is_over = True
            if ended:
                self._events.append(ended)
            elif not one.cancelled:
                self._events.append(["drop", task])
            self._changed.notify_all()

    # -- within ---------------------------------------------------------------------------------

    def _body(self, task: int, item: Item) -> Item:
        """The task, in a thread, until the harness ends it."""
        one = self._tasks[task]
        with self._changed:
            one.runs = True
            self._events.append(["start", task, item])
            self._changed.notify_all()
            self._changed.wait_for(lambda: one.well is not None or self._is_closed)
            if not one.well:
                raise _TaskFailed
        return item

    def _ends(self, task: int, *, well: bool) -> Events:
        one = self._tasks[task]
        with self._changed:
            if not one.runs or one.well is not None:
                raise Declined("does-not-run")
            one.well = well
            self._changed.notify_all()
            if not self._changed.wait_for(lambda: one.is_over, PATIENCE):
                raise _hangs(self.name, "a task has ended, and what waits for it does not end")
        return self._settled()

    def _call(self, what: Callable[[], object]) -> None:
        """Do something in the event loop, and wait until it is done."""
        done = threading.Event()
        self._asked.append((what, done))
        self._soon(lambda: self._wake.set())
        if not done.wait(PATIENCE):
            raise _hangs(self.name, "its event loop does not answer")

    def _look(self) -> None:
        said = self._limiter.statistics()
        self._said = (said.borrowed_tokens, said.tasks_waiting)

    def _is_settled(self) -> bool:
        self._call(self._look)
        with self._changed:
            left = [one for one in self._tasks.values() if not one.is_over]
            running = sum(one.runs for one in left)
            return self._said == (running, len(left) - running)

    def _settled(self) -> Events:
        """The events until all tasks wait for a token or run."""
        left = Countdown(PATIENCE)
        while not self._is_settled():
            if left.over:
                raise _hangs(self.name, "a task has a token, and has not started")
            with self._changed:
                self._changed.wait(_LOOK_SECONDS)
        with self._changed:
            events, self._events = self._events, []
        return events


class AnyioThreads(TrioThreads):
    """anyio's own, on asyncio."""

    name = "anyio.to_thread.run_sync with a CapacityLimiter"
    library: ClassVar[str] = "anyio"

    def _open_nursery(self) -> Any:
        return self._lib.create_task_group()

    def _remember_loop(self) -> None:
        import asyncio
        self._soon = asyncio.get_running_loop().call_soon_threadsafe


def _hangs(name: str, words: str) -> TargetError:
    return TargetError(f"{name} hangs: {words}, {PATIENCE:.0f} seconds after a request",
                       next_step="Replay the case with a debugger; its threads are named.")
