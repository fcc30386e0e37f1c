"""A recorder: what a program does with its queues and locks, as a log for `checkvalve judge`.

One module without dependencies; copy it, or import it. It may be used by threads, by tasks of
asyncio and by processes: each process writes a file of its own. ``call`` surrounds what is
recorded; its beginning is written before, its end after. Events wait in a queue of at most ``most``
for the thread that writes them. If that is full, events are dropped and counted, never the
program stopped: the log says so, and then nothing is judged that a missing record could have
caused.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import IO, Any

__all__ = ["Recorder", "Recording", "identity"]


def identity(payload: bytes | str) -> str:
    """A short name of a payload, which does not show it: 16 hexadecimal digits."""
    data = payload.encode() if isinstance(payload, str) else payload
    return hashlib.blake2b(data, digest_size=8).hexdigest()


class Recording:
    """One call that is being recorded: set ``item`` and ``result`` before it ends."""

    __slots__ = ("item", "result")

    def __init__(self, item: str | int | None) -> None:
        self.item = item
        self.result = "ok"


class Recorder:
    """Writes a log to ``path``, with the number of the process put into its name. ``most`` bounds
    the events in memory; ``every`` is after how many seconds they are written at the latest."""

    def __init__(self, path: str | Path, most: int = 100_000, every: float = 0.2) -> None:
        self._path, self._most, self._every = Path(path), most, every
        self._lock = threading.Lock()
        self._begin_process()

    def _begin_process(self) -> None:
        self._process = os.getpid()
        self._waiting: deque[dict[str, Any]] = deque()
        self._dropped = 0
        self._calls = itertools.count()
        self._more = threading.Event()
        self._over = False
        self._thread: threading.Thread | None = None
        self._file: IO[str] | None = None

    @property
    def file(self) -> Path:
        """The file that this process writes."""
        return self._path.with_name(f"{self._path.stem}-{os.getpid()}.jsonl")

    @contextmanager
    def call(self, key: str, operation: str, item: str | int | None = None, process: str = ""
             ) -> Iterator[Recording]:
        """Record a call: ``with recorder.call("jobs", "put", item): queue.put(…)``. An exception is
        recorded as a failed call, unless ``result`` says better, and is raised again."""
        found = Recording(item)
        about: dict[str, Any] = {"key": key, "process": process or _here(), "operation": operation}
        number = self._begins(about, item)
        try:
            yield found
        except BaseException:
            if found.result == "ok":
                found.result = "failed"
            raise
        finally:
            if number is not None:
                self._add({**about, "phase": "end", "item": found.item, "result": found.result,
                           "call": number})

    def point(self, key: str, operation: str, item: str | int | None = None,
              value: int | None = None) -> None:
        """Record what takes no time."""
        self._add({"key": key, "process": _here(), "operation": operation, "phase": "point",
                   "item": item, "value": value})

    def _begins(self, about: dict[str, Any], item: str | int | None) -> int | None:
        if os.getpid() != self._process:        # a child of a fork: it has its own file
            self._lock = threading.Lock()
            self._begin_process()
        number = next(self._calls)
        return number if self._add({**about, "phase": "begin", "item": item, "call": number}
                                   ) else None

    def _add(self, event: dict[str, Any]) -> bool:
        with self._lock:
            if self._over or (len(self._waiting) >= self._most and event["phase"] != "end"):
                self._dropped += 1
                return False
            # In the lock, so that the order of the file is that of the times.
            event["time"] = time.monotonic_ns()
            self._waiting.append(event)
            if self._thread is None:
                self._thread = threading.Thread(target=self._writes, daemon=True)
                self._thread.start()
        return True

    # --- writing ---------------------------------------------------------------------------

    def _writes(self) -> None:
        while not self._over:
            self._more.wait(self._every)
            self._flush()

    def _flush(self) -> None:
        if self._file is None:
            self._file = self.file.open("w", encoding="utf-8")
            self._line({"checkvalve_log": 1, "unit": "ns", "clock": "monotonic"})
        with self._lock:
            events, self._waiting = self._waiting, deque()
            dropped, self._dropped = self._dropped, 0
        for event in events:
            self._line({name: value for name, value in event.items() if value is not None})
        if dropped:
            self._line({"checkvalve_log": 1, "dropped": dropped})
        self._file.flush()

    def _line(self, document: dict[str, Any]) -> None:
        assert self._file is not None
        self._file.write(json.dumps(document, separators=(",", ":")) + "\n")

    def close(self) -> None:
        """Write what is left, and record no more."""
        with self._lock:
            self._over = True
            thread = self._thread
        self._more.set()
        if thread is not None:
            thread.join()
        self._flush()
        if self._file is not None:
            self._file.close()

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trail: TracebackType | None) -> None:
        self.close()


def _here() -> str:
    """The process, thread and task that is running."""
    name = f"{os.getpid()}/{threading.get_ident()}"
    try:
        import asyncio
        task = asyncio.current_task()
    except RuntimeError:
        return name
    return name if task is None else f"{name}/{task.get_name()}"
