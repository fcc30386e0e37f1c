"""Threads that wait in C: recognised by their sleep, where no lock of the stage is waited for."""

from __future__ import annotations

import sys
from pathlib import Path
from traceback import walk_stack
from typing import Final

from ...reference.drivers.schedules.scheduling import Task
from .guard import own_place

__all__ = ["LONG", "Asleep", "WaitsInC"]

_LOOKS: Final = 4
"""The looks, each a quarter of a second of real time after the one before, at which a thread has to
be found asleep in the same place, and not to have run in between."""

LONG: Final = 12
"""The looks where it is not expected: an answer of a disk or a network may take a while."""

_SLEEPS: Final = "S"
_STATE, _USER_TIME, _SYSTEM_TIME = 0, 11, 12     # in /proc/…/stat, after the name; see proc(5)


class WaitsInC(Exception):
    """A call waits in C; ``place`` is the line that went there, as ``file:line``."""

    def __init__(self, place: str) -> None:
        super().__init__(place)
        self.place = place


class Asleep:
    """Asked again and again about a thread that does not come back. Raises ``WaitsInC`` once it was
    asleep for as long as no computation is.

    Where the system does not say what a thread does (it is not Linux), nothing is found.
    """

    def __init__(self, looks: int = _LOOKS) -> None:
        self._needed = looks
        self._seen: object = None
        self._looks = 0

    def __call__(self, task: Task) -> None:
        seen = _sleep_of(task)
        self._looks = self._looks + 1 if seen is not None and seen == self._seen else 1
        self._seen = seen
        if seen is not None and self._looks >= self._needed:
            assert task.thread is not None
            frame = sys._current_frames()[task.thread.number]
            frames = [(each.f_code.co_filename, line) for each, line in walk_stack(frame)
                      if not _is_ours(each.f_globals.get("__name__"))]
            # A class of the standard library has no place in anybody's own code.
            raise WaitsInC(own_place(reversed(frames)) or "{}:{}".format(*frames[0]))


def _is_ours(module: object) -> bool:
    return str(module).partition(".")[0] == "checkvalve"


def _sleep_of(task: Task) -> object:
    """The instruction at which the thread of a task sleeps, and the processor time that it has
    taken; None if it does not sleep."""
    if task.thread is None:
        return None
    try:
        text = Path(f"/proc/self/task/{task.thread.native}/stat").read_text()
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()
    frame = sys._current_frames().get(task.thread.number)
    if fields[_STATE] != _SLEEPS or frame is None:
        return None
    return id(frame), frame.f_lasti, fields[_USER_TIME], fields[_SYSTEM_TIME]
