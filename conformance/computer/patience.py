"""Waiting for as long as it takes: time limits that a busy machine stretches by itself.

A limit such as "Spark comes up within 90 s" is meant for a machine that has nothing else to do.
Where eight other processes share its cores, the same start takes four times as long, and nothing
is wrong. So a limit is counted in *seconds of an idle machine*: each second that passes counts
the less, the slower this process is seen to get on. CHECKVALVE_PATIENCE, a factor, stretches all
limits further, for machines that are slow without being busy.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from checkvalve.spec.notation.errors import InputError

__all__ = [
    "VARIABLE", "Countdown", "Overtime", "factor", "slowness", "still_due", "stretched",
]

VARIABLE = "CHECKVALVE_PATIENCE"
_PROBE_SECONDS = 0.01
"""Processor time by which it is seen how fast this process gets on."""

_NOISE = 1.25
"""A machine that is not slower than this is idle: no two measurements agree to a few percent."""

_STRETCH_SECONDS = 0.5
"""The stretches of time for which slowness is measured: to measure it takes a core."""

_PART = 0.25
"""The part of its limit that a process that looks late has to itself before it is late."""

_LOOK_SECONDS, _LOOKS = 0.25, 4
"""Seconds between two looks at such a process, and the fewest looks."""

_SLOWEST = 50.0
"""The most that a limit is stretched by slowness: a wait for something that never comes ends."""


def factor() -> float:
    """The factor by which the user wants limits multiplied; 1 if none is set.

    Raises ``InputError`` for what is no positive number.
    """
    text = os.environ.get(VARIABLE, "1")
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise InputError(f"{VARIABLE} is {text[:40]!r}, which is no positive number",
                         next_step=f"Set it to a factor, as in {VARIABLE}=3, or unset it.")
    return value


def slowness() -> float:
    """The factor by which things take longer now than on this machine when it is idle; 1 or more.

    The larger of two signs: how long a little work took by the clock, for its processor time,
    and how many processes want a core, for each core that there is.
    """
    began, used = time.monotonic(), time.thread_time()
    while time.thread_time() - used < _PROBE_SECONDS:
        pass
    waited = (time.monotonic() - began) / (time.thread_time() - used)
    crowd = os.getloadavg()[0] / (os.cpu_count() or 1) if hasattr(os, "getloadavg") else 1.0
    seen = max(waited, crowd)
    return min(_SLOWEST, seen) if seen > _NOISE else 1.0


def still_due(limit: float, waited: float, slow: Callable[[], float] = slowness) -> float:
    """Seconds more to wait for what had ``limit`` seconds of an idle machine and took
    ``waited`` so far; 0 or less: it is late.

    It is asked only when a limit has passed by the clock, so that nothing is measured before.
    """
    return limit * factor() * slow() - waited


def stretched(seconds: float, most: float) -> float:
    """A time for a machine that is as slow as this one now, and not ``most`` times longer.

    For the limits of another program, which will not ask again how slow the machine is.
    """
    return seconds * min(most, factor() * slowness())


class Overtime:
    """The time that a process gets beyond its limit, because the machine kept it from running.

    How busy a machine is shows late in what ``still_due`` looks at: the average of a minute, and
    how this process gets on, which is not the other. So a process that looks late is watched for a
    while. Time in which it waits for a core or a disk does not count; once it had a part of its
    limit for itself and has still not answered, it is late. Where the system does not say what a
    process waits for (it is not Linux), there is none.

    ``clock`` is in seconds, and ``kept`` says how many of them the process has been kept waiting,
    and whether it waits for a disk at the moment (None: the system does not say); tests give their
    own.
    """

    def __init__(
        self, process: int, limit: float, *, clock: Callable[[], float] = time.monotonic,
        kept: Callable[[int], tuple[float, bool] | None] | None = None,
    ) -> None:
        self._process = process
        self._own = limit * _PART
        self._most = limit * _SLOWEST
        self._slice = min(_LOOK_SECONDS, self._own / _LOOKS)
        self._clock, self._kept = clock, kept or _kept_waiting
        self._last = clock(), self._kept(process)

    def slice(self) -> float:
        """Seconds to wait before the next look; 0: it is late."""
        (before, waited), now, seen = self._last, self._clock(), self._kept(self._process)
        if waited is None or seen is None:
            return 0.0
        passed = now - before
        self._last = now, seen
        self._most -= passed
        # A thread that has ended takes its part of the sum along.
        self._own -= 0.0 if seen[1] else max(0.0, passed - max(0.0, seen[0] - waited[0]))
        return self._slice if self._own > 0 < self._most else 0.0


def _kept_waiting(process: int) -> tuple[float, bool] | None:
    """The seconds for which the threads of a process waited for a core, and whether one of them
    waits for a disk; None where the system does not say."""
    waited: int | None = None
    disk = False
    with suppress(OSError, IndexError, ValueError):
        for thread in Path(f"/proc/{process}/task").iterdir():
            with suppress(FileNotFoundError, ProcessLookupError):    # it has ended meanwhile
                waited = (waited or 0) + int((thread / "schedstat").read_text().split()[1])
                state = (thread / "stat").read_text().rpartition(")")[2].split()[0]
                disk = disk or state == "D"
    return None if waited is None else (waited / 1e9, disk)


class Countdown:
    """A limit of so many ``seconds`` of an idle machine, from now on.

    ``clock`` is in seconds, ``slow`` says how slow the machine is at the moment; tests give
    their own.
    """

    def __init__(
        self, seconds: float, *, clock: Callable[[], float] = time.monotonic,
        slow: Callable[[], float] = slowness,
    ) -> None:
        self._left = seconds * factor()
        self._clock, self._slow = clock, slow
        self._last = clock()

    @property
    def over(self) -> bool:
        """True if the limit is reached; the time since the last look counts by how slow the machine
        is now."""
        now = self._clock()
        passed = now - self._last
        if passed < min(_STRETCH_SECONDS, self._left):
            return False    # however fast the machine is, and to know that costs nothing
        self._last = now
        if passed > 0:
            self._left -= passed / self._slow()
        return self._left <= 0

    def slice(self, most: float = 0.5) -> float:
        """Seconds to wait before the next look."""
        return max(0.001, min(most, self._left - (self._clock() - self._last)))
