"""``concurrent.futures.ProcessPoolExecutor`` of the Python that runs us, with its own processes.

A task is a function that connects to the harness by a socket, says that it has started, and waits
to be ended. A worker that dies is killed by SIGKILL.

What an idle process waits for cannot be seen from outside. So a request is answered when as many
tasks run as there are workers, or all do that are not over; where that does not come, the answer
has what there is after a while. Only a pool that breaks a rule takes that long.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import platform
import select
import shutil
import signal
import socket
import tempfile
import threading
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import (
    BrokenExecutor, Future, InvalidStateError, ProcessPoolExecutor,
)
from pathlib import Path
from typing import Any, ClassVar, Final

from ...adapters.base import Declined
from ...adapters.port_adapter import PortAdapter
from ...computer.patience import Countdown
from ...ports.base import Message, Port
from .port import PORT

__all__ = ["ProcessPool", "RenewedProcessPool", "run_task"]

Events = list[list[Any]]
Item = int | str

_PATIENCE: Final = 1.0
"""Seconds after which what could have started is taken not to start."""
_LOOK_SECONDS: Final = 0.002
_RETURNS: Final = b"1"
_RAISES: Final = b"0"
_WORDS_MAX: Final = 1 << 12


class TaskFailed(Exception):
    """Raised by a task that the harness lets fail, or ends with the session."""


def run_task(place: str, task: int, item: Item) -> Item:
    """The task, in a process of the pool, until the harness at the socket ``place`` ends it."""
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(place)
        line.sendall(json.dumps([task, item, os.getpid()]).encode() + b"\n")
        if line.recv(1) != _RETURNS:
            raise TaskFailed
    return item


def _heed_no_signal() -> None:
    """Let a SIGTERM end a forked process, and not what our own process does upon one."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


class _Run:
    """A run of a task: the socket to it, its process, and the item that it got."""

    def __init__(self, line: socket.socket) -> None:
        self.line = line
        with line.makefile("rb") as words:
            self.task, self.item, self.process = json.loads(words.readline(_WORDS_MAX))


def _let_end(future: Future[Any]) -> None:
    """Let a future that was cancelled outlive its killed processes: Python 3.11's pool would raise
    in a thread of its own. Only at the end of a session: before it that is the pool's own fault.
    """
    tell = future.set_exception

    def set_exception(error: BaseException | None) -> None:
        with contextlib.suppress(InvalidStateError):
            tell(error)
    vars(future)["set_exception"] = set_exception


class ProcessPool(PortAdapter):
    """Its processes are forked, which is its default on Linux before Python 3.14."""

    port: ClassVar[Port] = PORT
    policy: ClassVar[str] = "unbounded"
    no_occasion: ClassVar[Collection[str]] = ("EXEC-4",)
    name = "concurrent.futures.ProcessPoolExecutor"
    version = platform.python_version()

    def start(self, settings: Mapping[str, Any]) -> None:
        """Begin with a fresh instance."""
        self.close()
        self._workers: int = settings["workers"]
        self._folder = Path(tempfile.mkdtemp(prefix="checkvalve-"))
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self._folder / "tasks"))
        self._listener.listen()
        self._lock = threading.Lock()
        self._events: Events = []
        self._futures: dict[int, Future[Item]] = {}
        self._started: set[int] = set()
        self._runs: dict[int, _Run] = {}
        self._cancelled: set[int] = set()
        self._waiter: threading.Thread | None = None
        self._terminated = False
        self._closed = False
        self._pool = self.made(self._workers)
        self._children: dict[int, Any] = vars(self._pool)["_processes"]    # forgotten by a shutdown
        self._calls: Any = vars(self._pool)["_call_queue"]
        self._work_ids: Any = vars(self._pool)["_work_ids"]

    def made(self, workers: int) -> ProcessPoolExecutor:
        """The pool that is tested, with so many processes."""
        return ProcessPoolExecutor(workers, multiprocessing.get_context("fork"), _heed_no_signal)

    def close(self) -> None:
        """End its processes, and the tasks that still run."""
        if not hasattr(self, "_pool"):
            return
        with self._lock:
            self._closed = True
        self._listener.close()
        for run in self._runs.values():
            run.line.close()
        for future in self._futures.values():
            _let_end(future)
        # A pool that hangs would be waited for without end.
        for process in list(self._children.values()):
            with contextlib.suppress(OSError):
                process.kill()
        self._pool.shutdown(wait=False, cancel_futures=True)
        shutil.rmtree(self._folder, ignore_errors=True)

    def submit(self, task: int, item: Item) -> Events:
        try:
            future = self._pool.submit(run_task, str(self._folder / "tasks"), task, item)
        except RuntimeError:    # also that it is broken
            return [["refuse", task], *self._settled()]
        self._futures[task] = future
        future.add_done_callback(lambda done: self._ended(task, done))
        return self._settled()

    def finish(self, task: int) -> Events:
        return self._ends(task, lambda run: run.line.sendall(_RETURNS))

    def fail(self, task: int) -> Events:
        return self._ends(task, lambda run: run.line.sendall(_RAISES))

    def die(self, task: int) -> Events:
        return self._ends(task, lambda run: os.kill(run.process, signal.SIGKILL))

    def cancel(self, task: int) -> Message:
        with self._lock:
            self._cancelled.add(task)
        undone = self._futures[task].cancel()
        if not undone:
            self._cancelled.discard(task)
        return {"undone": undone, "does": self._settled()}

    def shutdown(self) -> Events:
        return self._shut(drops=False)

    def stop(self) -> Events:
        return self._shut(drops=True)

    # -- within -------------------------------------------------------------------------------

    def _ended(self, task: int, future: Future[Item]) -> None:
        """Note how a future has ended; called in threads of the pool."""
        with self._lock:
            if self._closed:
                return
            if future.cancelled():
                if task not in self._cancelled:
                    self._events.append(["drop", task])
                return
            self._look()    # what has said so has started before it ended
            error = future.exception()
            if error is None:
                self._events.append(["return", task, future.result()])
            else:
                never_ran = isinstance(error, BrokenExecutor) and task not in self._started
                self._events.append(["drop" if never_ran else "raise", task])

    def _ends(self, task: int, how: Callable[[_Run], None]) -> Events:
        run = self._runs.pop(task, None)
        if run is None or self._futures[task].done():
            raise Declined("does-not-run")
        how(run)
        left = Countdown(_PATIENCE)
        while not self._futures[task].done() and not left.over:
            self._wait()
        run.line.close()
        return self._settled()

    def _shut(self, *, drops: bool) -> Events:
        manager = vars(self._pool)["_executor_manager_thread"]    # forgotten by a shutdown, too
        self._pool.shutdown(wait=False, cancel_futures=drops)
        if self._waiter is None:
            self._waiter = threading.Thread(
                target=manager.join if manager is not None else lambda: None, daemon=True)
            self._waiter.start()
        return self._settled()

    def _is_settled(self) -> bool:
        if self._waiter is not None and self._waiter.is_alive() and vars(
                self._pool)["_cancel_pending_futures"]:
            return False    # its thread has not cancelled yet what waits
        if not (self._work_ids.empty() or self._calls.full() or vars(self._pool)["_broken"]):
            return False    # its thread has not yet taken what it takes in advance
        open_tasks = sum(not future.done() for future in self._futures.values())
        running = sum(not self._futures[task].done() for task in self._runs)
        if running != min(self._workers, open_tasks):
            return False
        if self._waiter is None or open_tasks or self._terminated:
            return True
        return not self._waiter.is_alive()

    def _settled(self) -> Events:
        """The events until all runs that can run."""
        left = Countdown(_PATIENCE)
        while not self._is_settled() and not left.over:
            self._wait()
        with self._lock:
            if (self._waiter is not None and not self._terminated
                    and not self._waiter.is_alive()):
                self._terminated = True
                self._events.append(["terminated"])
            events, self._events = self._events, []
        return events

    def _wait(self) -> None:
        select.select([self._listener], [], [], _LOOK_SECONDS)
        with self._lock:
            self._look()

    def _look(self) -> None:
        """Note which tasks have said that they have started."""
        while select.select([self._listener], [], [], 0)[0]:
            run = _Run(self._listener.accept()[0])
            self._started.add(run.task)
            self._runs[run.task] = run
            self._events.append(["start", run.task, run.item])


class RenewedProcessPool(ProcessPool):
    """Each of its processes ends after one task, and another takes its place."""

    name = "concurrent.futures.ProcessPoolExecutor, one task for each process"

    def made(self, workers: int) -> ProcessPoolExecutor:
        """The pool that is tested, with so many processes."""
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([__name__])
        return ProcessPoolExecutor(workers, context, max_tasks_per_child=1)
