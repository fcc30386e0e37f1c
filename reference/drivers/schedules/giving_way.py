"""Code that never yields: a coroutine that runs without a wait, ended by a count.

An event loop runs one callback at a time and cannot end it. A coroutine that awaits what is always
there (an event that is set, a lock that is free) never returns to its loop, and no other callback
runs ever again: no timer, no cancel. A thread could notice by the clock. Here calls are counted, so
that a run ends at the same call whenever it is repeated.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

__all__ = ["NeverGaveWay", "calls_counted"]


class NeverGaveWay(BaseException):
    """Raised inside code that never yields; no ``except Exception`` of its own catches it."""


@contextmanager
def calls_counted(most: int) -> Iterator[Callable[[], None]]:
    """Let code of this thread make so many calls, of functions in Python or C, and no more.

    The next call raises ``NeverGaveWay``, and then nothing is counted until the yielded function is
    called, which begins anew. A loop that calls nothing is not ended.
    """
    outer, left = sys.getprofile(), most

    def anew() -> None:
        nonlocal left
        left = most
        sys.setprofile(count)

    def count(frame: FrameType, event: str, arg: Any) -> None:
        nonlocal left
        if event in ("call", "c_call"):
            left -= 1
            if left < 0:
                raise NeverGaveWay(f"{most} calls were made, and no wait")

    anew()
    try:
        yield anew
    finally:
        sys.setprofile(outer)
