"""``queue.Queue`` under test, its blocking calls included, with one thread running at a time.

Each blocking put or get is a real thread. ``queue.Queue`` blocks in two condition variables of
its own, ``not_full`` and ``not_empty``; they are replaced by one that reports when a thread has
parked, and lets a notified thread continue at ``settle``. So it is known, not guessed by
waiting a while, that a call blocks, and the order in which threads run is always the same. Under
test is the queue's own logic: when it waits, and which waiters it notifies.

A thread cannot be cancelled, so there is no ``cancel`` here.
"""

from __future__ import annotations

import platform
import queue
import threading
from collections import deque
from collections.abc import Callable
from typing import Any, ClassVar

from ...ports.base import STEPPED
from .adapter import QueueAdapter, Waits

__all__ = ["ThreadQueue"]

Item = str | int


class _Closed(BaseException):
    """Raised in the threads that still wait when the adapter is closed."""


class _Stage:
    """The permission to run, which the harness or one thread has at a time."""

    def __init__(self) -> None:
        self.ready: deque[threading.Lock] = deque()      # gates of threads that were notified
        self.returned: queue.SimpleQueue[None] = queue.SimpleQueue()
        self.closed = False

    def run(self, gate: threading.Lock) -> None:
        """Let the thread behind ``gate`` run until it parks again or ends."""
        gate.release()
        self.returned.get()


class _Line:
    """A condition variable, first come first served as ``threading.Condition`` is."""

    def __init__(self, mutex: threading.Lock, stage: _Stage) -> None:
        self.gates: deque[threading.Lock] = deque()
        self._mutex = mutex
        self._stage = stage

    def __enter__(self) -> bool:
        return self._mutex.__enter__()

    def __exit__(self, *_: object) -> None:
        self._mutex.release()

    def wait(self, timeout: float | None = None) -> bool:
        """Park this thread until it was notified and the harness lets it run."""
        gate = threading.Lock()
        gate.acquire()
        self.gates.append(gate)
        self._mutex.release()
        self._stage.returned.put(None)
        gate.acquire()
        self._mutex.acquire()
        if self._stage.closed:
            raise _Closed
        return True

    def notify(self, n: int = 1) -> None:
        """Let the first ``n`` waiting threads continue, at ``settle``."""
        for _ in range(min(n, len(self.gates))):
            self._stage.ready.append(self.gates.popleft())


class _Call:
    """One blocking call in its thread."""

    def __init__(self, stage: _Stage, action: Callable[[], Any],
                 finished: Callable[[_Call], None]) -> None:
        self.ticket: str | None = None
        self.value: object = None
        self.error: BaseException | None = None
        self.done = False
        self._stage = stage
        self._action = action
        self._finished = finished
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        try:
            self.value = self._action()
            self.done = True
            self._finished(self)
        except _Closed:
            pass
        except Exception as error:  # noqa: BLE001  raised again in the thread of the harness
            self.error = error
        finally:
            self._stage.returned.put(None)


class ThreadQueue(QueueAdapter):
    """``queue.Queue`` of the Python that runs us."""

    name: ClassVar[str] = "queue.Queue"
    wakes: ClassVar[str] = STEPPED
    version = platform.python_version()

    def start(self, capacity: int) -> None:
        """Begin with a fresh, empty queue of ``capacity`` items."""
        self._stage = _Stage()
        self._calls: list[_Call] = []
        self._queue: Any = queue.Queue(capacity)
        self._lines = [_Line(self._queue.mutex, self._stage) for _ in range(2)]
        vars(self._queue).update(not_full=self._lines[0], not_empty=self._lines[1])

    def offer(self, item: Item) -> bool:
        try:
            self._queue.put_nowait(item)
        except queue.Full:
            return False
        return True

    def poll(self) -> Item | None:
        try:
            item: Item = self._queue.get_nowait()
        except queue.Empty:
            return None
        return item

    def put(self, item: Item) -> object:
        answer = self._begin(lambda: self._queue.put(item))
        return answer if isinstance(answer, Waits) else True

    def take(self) -> object:
        return self._begin(self._queue.get)

    def size(self) -> int:
        size: int = self._queue.qsize()
        return size

    def settle(self) -> bool:
        """Let everything run that can run at this instant."""
        while self._stage.ready:
            self._stage.run(self._stage.ready.popleft())
            self._sweep()
        return True

    def close(self) -> None:
        """End the threads that still wait."""
        if not hasattr(self, "_stage"):
            return
        self._stage.closed = True
        for gate in (*self._stage.ready, *self._lines[0].gates, *self._lines[1].gates):
            self._stage.run(gate)
        self._sweep()

    def _begin(self, action: Callable[[], Any]) -> object:
        call = _Call(self._stage, action, self._finished)
        self._calls.append(call)
        call.thread.start()
        self._stage.returned.get()
        self._sweep()
        if call.done:
            return call.value
        call.ticket = self.new_ticket()
        return Waits(call.ticket)

    def _finished(self, call: _Call) -> None:
        # In the call's thread; the harness waits meanwhile.
        if call.ticket is not None:
            self.completed(call.ticket, True if call.value is None else call.value)

    def _sweep(self) -> None:
        """Forget the calls that have ended, and raise their errors."""
        ended = [call for call in self._calls if call.done or call.error or self._stage.closed]
        for call in ended:
            call.thread.join()
            self._calls.remove(call)
            if call.error is not None:
                raise call.error
