"""The clocks of ``time``, which follow a loop in virtual time while one runs.

A class for tasks may read its loop's ``time``, or ``time.monotonic`` and its like. Both have to be
one clock: else what waits on the loop is late by the other, and would be accused of it.
"""

from __future__ import annotations

import time
from asyncio import _get_running_loop
from collections.abc import Callable
from typing import Final

from ...reference.drivers.schedules.virtual_loop import VirtualLoop

__all__ = ["CLOCKS", "follow_loops"]

CLOCKS: Final = ("monotonic", "time", "perf_counter")
"""The functions of ``time`` that are clocks, in seconds."""

_DONE: Final[list[bool]] = []


def follow_loops() -> None:
    """Let the clocks follow, in this process, for good; before the code under test is imported, for
    it may import them by their names.
    """
    if not _DONE:
        _DONE.append(True)
        vars(time).update({name: _following(getattr(time, name)) for name in CLOCKS})


def _following(real: Callable[[], float]) -> Callable[[], float]:
    def read() -> float:
        loop = _get_running_loop()
        return loop.time() if isinstance(loop, VirtualLoop) else real()
    return read
