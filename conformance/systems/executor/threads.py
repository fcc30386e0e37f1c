"""``concurrent.futures.ThreadPoolExecutor`` of the Python that runs us, with its own threads.

That all threads are quiescent is known, and not guessed by waiting a while. A worker is idle when
it waits in the executor's queue, which is replaced by one that says so; it is busy when its task
waits for the harness to end it; and one that puts something into that queue is about to end. So the
pool is quiescent when each of its threads is one of these. Under test is the logic of the pool:
which threads it starts, what they take, and what becomes of futures.

A thread cannot be killed, so there is no ``die`` here.
"""

from __future__ import annotations

import platform
import threading
from collections import deque
from collections.abc import Collection, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from queue import Empty
from typing import Any, ClassVar, Final

from ....spec.notation.errors import TargetError
from ...adapters.base import Declined
from ...adapters.port_adapter import PortAdapter
from ...ports.base import Message, Port
from .port import PORT

__all__ = ["ThreadPool"]

PATIENCE: Final = 10.0
"""Seconds after which threads that are not quiescent are taken to hang."""

Events = list[list[Any]]
Item = int | str


class _TaskFailed(Exception):
    """Raised by a task that the harness lets fail, or ends with the session."""


class _Rest:
    """The states of the ``threads`` of a pool; all is read and written under ``changed``."""

    def __init__(self, threads: Collection[threading.Thread]) -> None:
        self.threads = threads
        self.changed = threading.Condition()
        self.idle: set[threading.Thread] = set()        # wait in the queue
        self.busy: dict[int, threading.Thread] = {}     # by task: wait in it for its end
        self.leaving: set[threading.Thread] = set()
        self.outcomes: dict[int, bool] = {}
        self.closed = False
        self.events: Events = []


class _WorkQueue:
    """In the place of ``queue.SimpleQueue``: the same, and it says which threads wait in it."""

    def __init__(self, rest: _Rest) -> None:
        self._rest = rest
        self._items: deque[Any] = deque()

    def put(self, item: Any) -> None:
        with self._rest.changed:
            self._items.append(item)
            if threading.current_thread() in self._rest.threads:
                self._rest.leaving.add(threading.current_thread())
            self._rest.changed.notify_all()

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        rest, me = self._rest, threading.current_thread()
        with rest.changed:
            if block and not self._items:
                rest.idle.add(me)
                rest.changed.notify_all()
                rest.changed.wait_for(lambda: self._items, timeout)
                rest.idle.discard(me)
            if not self._items:
                raise Empty
            return self._items.popleft()

    def get_nowait(self) -> Any:
        return self.get(block=False)

    def qsize(self) -> int:
        return len(self._items)


class ThreadPool(PortAdapter):
    """``ThreadPoolExecutor``, or a pool that is derived from it."""

    port: ClassVar[Port] = PORT
    policy: ClassVar[str] = "unbounded"
    no_occasion: ClassVar[Collection[str]] = ("EXEC-4",)
    name = "concurrent.futures.ThreadPoolExecutor"
    version = platform.python_version()

    def start(self, settings: Mapping[str, Any]) -> None:
        """Begin with a fresh instance."""
        self.close()
        self._pool = ThreadPoolExecutor(settings["workers"])
        self._rest = _Rest(vars(self._pool)["_threads"])
        self._queue = _WorkQueue(self._rest)
        vars(self._pool)["_work_queue"] = self._queue
        self._futures: dict[int, Future[Item]] = {}
        self._waiter: threading.Thread | None = None
        self._terminated = False

    def close(self) -> None:
        """End its threads, and the tasks that still run."""
        if not hasattr(self, "_pool"):
            return
        with self._rest.changed:
            self._rest.closed = True
            self._rest.changed.notify_all()
        self._pool.shutdown(cancel_futures=True)

    def submit(self, task: int, item: Item) -> Events:
        try:
            future = self._pool.submit(self._body, task, item)
        except RuntimeError:
            return [["refuse", task]]
        self._futures[task] = future
        future.add_done_callback(lambda done: self._ended(task, done))
        return self._settled()

    def finish(self, task: int) -> Events:
        return self._ends(task, well=True)

    def fail(self, task: int) -> Events:
        return self._ends(task, well=False)

    def cancel(self, task: int) -> Message:
        # Its callbacks run before it answers: the future is forgotten for these.
        future = self._futures.pop(task)
        undone = future.cancel()
        if not undone:
            self._futures[task] = future
        return {"undone": undone, "does": self._settled()}

    def shutdown(self) -> Events:
        return self._shut(drops=False)

    def stop(self) -> Events:
        return self._shut(drops=True)

    # -- within -------------------------------------------------------------------------------

    def _body(self, task: int, item: Item) -> Item:
        """The task, in a thread of the pool, until the harness ends it."""
        rest = self._rest
        with rest.changed:
            rest.events.append(["start", task, item])
            rest.busy[task] = threading.current_thread()
            rest.changed.notify_all()
            rest.changed.wait_for(lambda: task in rest.outcomes or rest.closed)
            if not rest.outcomes.pop(task, False):
                raise _TaskFailed
        return item

    def _ended(self, task: int, future: Future[Item]) -> None:
        with self._rest.changed:
            if future.cancelled():
                if task in self._futures:       # else its client has cancelled it
                    self._rest.events.append(["drop", task])
            elif future.exception() is not None:
                self._rest.events.append(["raise", task])
            else:
                self._rest.events.append(["return", task, future.result()])

    def _ends(self, task: int, *, well: bool) -> Events:
        with self._rest.changed:
            if self._rest.busy.pop(task, None) is None:
                raise Declined("does-not-run")
            self._rest.outcomes[task] = well
            self._rest.changed.notify_all()
        return self._settled()

    def _shut(self, *, drops: bool) -> Events:
        self._pool.shutdown(wait=False, cancel_futures=drops)
        if self._waiter is None:
            self._waiter = threading.Thread(target=self._pool.shutdown, daemon=True)
            self._waiter.start()
        return self._settled()

    def _settled(self) -> Events:
        """The events until all threads are idle, busy or gone."""
        rest, threads = self._rest, list(self._rest.threads)

        def at_rest() -> bool:
            busy = {*rest.busy.values(), *rest.leaving}
            idle = rest.idle if not self._queue.qsize() else ()
            return all(thread in busy or thread in idle for thread in threads)

        with rest.changed:
            if not rest.changed.wait_for(at_rest, PATIENCE):
                raise _hangs("its threads neither wait in its queue nor run a task")
        gone = all(thread in rest.leaving for thread in threads)
        if gone and self._waiter is not None and not self._terminated:
            self._waiter.join(PATIENCE)
            if self._waiter.is_alive():
                raise _hangs("all its threads are gone, and a shutdown still waits for them")
            self._terminated = True
            rest.events.append(["terminated"])
        with rest.changed:
            events, rest.events = rest.events, []
        return events


def _hangs(words: str) -> TargetError:
    return TargetError(f"the pool hangs: {words}, {PATIENCE:.0f} seconds after a request",
                       next_step="Replay the case with a debugger; its threads are named.")
