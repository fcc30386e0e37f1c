"""The moment by which an answer is wanted, which every phase of a command asks for.

One deadline is made for a command (or for each of its searches), and passed to all that
works for it: lowering, compiling, searching, judging, retracing. Each loop asks it; asking
too late raises :class:`OutOfTime`, which names the phase and ends in the verdict *unknown*.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

__all__ = ["Clock", "Deadline", "OutOfTime"]

Clock = Callable[[], float]
"""Seconds since some moment, never decreasing."""


class OutOfTime(Exception):
    """The deadline passed. ``phase`` is what was being done, as in "lowering the machine"."""

    def __init__(self, phase: str, covered: str = "") -> None:
        super().__init__(phase, covered)
        self.phase = phase
        self.covered = covered

    def __str__(self) -> str:
        covered = f"; {self.covered}" if self.covered else ""
        return f"the budget of time was spent while {self.phase}{covered}"


class Deadline:
    """A number of seconds from now on (None: no end), by a clock that a test may replace."""

    def __init__(self, seconds: float | None = None, clock: Clock = time.monotonic) -> None:
        self.clock = clock
        self.started = clock()
        self.seconds = math.inf if seconds is None else seconds

    def spent(self) -> float:
        """Seconds since the start."""
        return self.clock() - self.started

    def left(self) -> float:
        """Seconds until the end: infinite where there is none, never negative."""
        return max(0.0, self.seconds - self.spent()) if self.seconds < math.inf else math.inf

    def passed(self) -> bool:
        """True if the end is reached."""
        return self.seconds < math.inf and self.spent() >= self.seconds

    def check(self, phase: str) -> None:
        """Raise OutOfTime, with the phase, if the end is reached."""
        if self.passed():
            raise OutOfTime(phase)

    def watch(self, phase: str) -> Callable[[], None]:
        """``check`` with its phase, for code that knows nothing of deadlines."""
        return lambda: self.check(phase)

    def share(self, parts: float) -> Deadline:
        """A deadline at one of so many equal parts of what is left."""
        left = self.left()
        return Deadline(None if math.isinf(left) else left / parts, self.clock)
