"""The processor time of this process and of all that it started, also of those that have ended.

A process of Spark's that ends is waited for by nobody who counts its time, so all are looked at,
again and again; what a process took since the last look before its end is lost.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from time import thread_time
from typing import Final

__all__ = ["ProcessorTime"]

_LOOK_S: Final = 0.1
_STARTED: Final = 19
"""When a process was started, among the fields of ``/proc/PID/stat`` after its name."""


class ProcessorTime:
    """Looks at all processes that come from this one, while it is entered."""

    def __init__(self) -> None:
        self._ticks: dict[tuple[int, int], int] = {}    # by number and start: numbers come again
        self._own = 0.0     # what looking has taken
        self._ended = Event()
        self._thread = Thread(target=self._watches, daemon=True)

    def __enter__(self) -> ProcessorTime:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    @property
    def seconds(self) -> float:
        """The seconds so far, without those of looking."""
        self._looks()
        return sum(self._ticks.copy().values()) / os.sysconf("SC_CLK_TCK") - self._own

    def _watches(self) -> None:
        while not self._ended.wait(_LOOK_S):
            self._looks()

    def _looks(self) -> None:
        before = thread_time()
        parents, ticks = dict[int, int](), dict[int, tuple[int, int]]()
        for place in Path("/proc").iterdir():
            if place.name.isdigit():
                with suppress(OSError):     # it has ended
                    fields = (place / "stat").read_text().rpartition(")")[2].split()
                    parents[int(place.name)] = int(fields[1])
                    ticks[int(place.name)] = sum(map(int, fields[11:13])), int(fields[_STARTED])
        own, new = set[int](), {os.getpid()}
        while new:
            own |= new
            new = {each for each, parent in parents.items() if parent in new} - own
        for each in own & ticks.keys():
            taken, started = ticks[each]
            self._ticks[each, started] = taken
        self._own += thread_time() - before
