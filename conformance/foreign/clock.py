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

__all__ = ["follow_loops", "put_clocks"]

_CLOCKS: Final = ("monotonic", "time", "perf_counter")
"""The functions of ``time`` that are clocks, in seconds; each has a like in nanoseconds."""

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
        put_clocks(_loops_now)


def _loops_now() -> float | None:
    """The time of the loop that runs; None while none does."""
    virtual: Any = sys.modules.get(_VIRTUAL)
    # While it is being imported it has no function yet, and the clock may be asked.
    ask: Callable[[], float | None] | None = getattr(virtual, "virtual_now", None)
    return None if ask is None else ask()


def put_clocks(now: Callable[[], float | None]) -> None:
    """Let the clocks of ``time`` say what ``now`` says, in seconds; where that is None, the real
    time."""
    for name in _CLOCKS:
        vars(time).update({
            name: _reading(getattr(time, name), now, float),
            f"{name}_ns": _reading(getattr(time, f"{name}_ns"), now, _nanoseconds)})


def _nanoseconds(seconds: float) -> int:
    return round(seconds * 1e9)


def _reading(
    real: Callable[[], Any], now: Callable[[], float | None], told: Callable[[float], Any],
) -> Callable[[], Any]:
    def read() -> Any:
        virtual = now()
        return real() if virtual is None else told(virtual)
    return read
