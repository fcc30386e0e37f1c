"""The clocks of ``time``, which follow a loop in virtual time while one runs.

A class for tasks may read its loop's ``time``, or ``time.monotonic`` and its like. Both have to be
one clock: else what waits on the loop is late by the other, and would be accused of it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from importlib.util import resolve_name
from typing import Any, Final

__all__ = ["CLOCKS", "follow_loops"]

CLOCKS: Final = ("monotonic", "time", "perf_counter")
"""The functions of ``time`` that are clocks, in seconds."""

_VIRTUAL: Final = resolve_name("...reference.drivers.schedules.virtual_loop", __package__)
"""The module of loops in virtual time: while it is not imported, none runs. A class for threads
needs none, and to import asyncio takes as long as all else that its process imports."""

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
        virtual: Any = sys.modules.get(_VIRTUAL)
        # While it is being imported it has no function yet, and the clock may be asked.
        ask: Callable[[], float | None] | None = getattr(virtual, "virtual_now", None)
        now = None if ask is None else ask()
        return real() if now is None else now
    return read
