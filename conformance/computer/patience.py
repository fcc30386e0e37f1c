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

from checkvalve.spec.notation.errors import InputError

__all__ = ["VARIABLE", "Countdown", "factor", "slowness", "still_due", "stretched"]

VARIABLE = "CHECKVALVE_PATIENCE"
_PROBE_SECONDS = 0.01
"""Processor time by which it is seen how fast this process gets on."""

_NOISE = 1.25
"""A machine that is not slower than this is idle: no two measurements agree to a few percent."""

_STRETCH_SECONDS = 0.5
"""The stretches of time for which slowness is measured: to measure it takes a core."""

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
