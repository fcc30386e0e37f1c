"""The moment by which an answer is wanted, which every phase of a command asks for.

One deadline is made for a command (or for each of its searches), and passed to all that
works for it: lowering, compiling, searching, judging, retracing. Each loop asks it; asking
too late raises :class:`OutOfTime`, which names the phase and ends in the verdict *unknown*. A look
at the time is a look at the memory of the process as well (``memory``), which ends in the same way,
by :class:`OutOfMemory`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .memory import meter

__all__ = [
    "Clock", "Deadline", "OutOfMemory", "OutOfTime", "Spent", "TooLittleTime", "ask",
    "told_of_memory",
]

Clock = Callable[[], float]
"""Seconds since some moment, never decreasing."""


class Spent(Exception):
    """A budget was spent. ``phase`` is what was being done, as in "lowering the machine"."""

    which = "time"

    def __init__(self, phase: str, covered: str = "") -> None:
        super().__init__(phase, covered)
        self.phase = phase
        self.covered = covered

    def __str__(self) -> str:
        covered = f"; {self.covered}" if self.covered else ""
        return f"the budget of {self.which} was spent while {self.phase}{covered}"


class OutOfTime(Spent):
    """The deadline passed while something was still being done."""


class TooLittleTime(OutOfTime):
    """There is time left, and less than what was to be done may take, which nothing could end."""

    def __str__(self) -> str:
        return f"too little of the budget of time is left for {self.phase}"


class OutOfMemory(Spent):
    """The process uses all the memory that it may, or would with what it was about to do."""

    which = "memory"


def ask(size: float, phase: str) -> None:
    """Raise OutOfMemory, with the phase, if ``size`` bytes more are too many."""
    if not meter().has_room(size):
        raise OutOfMemory(phase)


@contextmanager
def told_of_memory(phase: str) -> Iterator[None]:
    """Raise OutOfMemory, with the phase, where Python, a library or Z3 says in its own way that
    there is no memory."""
    try:
        yield
    except Exception as error:
        is_z3s = type(error).__name__ == "Z3Exception" and b"out of memory" in error.args
        if not (isinstance(error, MemoryError) or is_z3s):
            raise
        raise OutOfMemory(phase) from None  # without its frames, which hold what takes so much


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
        """Raise OutOfTime, with the phase, if the end is reached; and OutOfMemory."""
        if self.passed():
            raise OutOfTime(phase)
        if meter().is_over():
            raise OutOfMemory(phase)

    def watch(self, phase: str) -> Callable[[], None]:
        """``check`` with its phase, for code that knows nothing of deadlines."""
        return lambda: self.check(phase)

    def to_tell(self) -> Deadline:
        """A deadline for drawing and writing down what was found: half a second and a tenth of all
        the time after this one, since what was found late is to be shown as well. Whatever asks for
        it has the same end, so that many reports take no longer than one."""
        later = Deadline(self.seconds + 0.5 + self.seconds / 10, self.clock)
        later.started = self.started
        return later

    def share(self, parts: float) -> Deadline:
        """A deadline at one of so many equal parts of what is left."""
        left = self.left()
        return Deadline(None if math.isinf(left) else left / parts, self.clock)
