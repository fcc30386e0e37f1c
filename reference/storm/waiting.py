"""How long a Storm thread waits before it tries again: its two wait strategies.

Pure functions from the number of idle turns so far to the next pause. They take no time
themselves, and read no clock. Defaults are those of Storm's conf/defaults.yaml for
``topology.backpressure.wait.strategy``.
"""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = ["PARK_MICROSECONDS", "Pause", "WaitMisuse", "park", "progressive"]

PARK_MICROSECONDS: Final = 100
_NANOSECONDS_IN_MILLISECOND: Final = 1_000_000
_NANOSECONDS_IN_MICROSECOND: Final = 1_000


class WaitMisuse(ValueError):
    """A count or a time is negative, or no integer."""


class Pause(NamedTuple):
    """How long to wait (0: try again at once), and the number of idle turns after that."""

    nanoseconds: int
    idle_turns: int


def progressive(
    idle_turns: int, *, level1: int = 1, level2: int = 1000, sleep_milliseconds: int = 1,
) -> Pause:
    """Spin for ``level1`` turns, park as briefly as possible for ``level2``, then sleep.

    A thread that sleeps stays at that level: the number of turns no longer grows. Raises
    ``WaitMisuse``. Source: WaitStrategyProgressive.
    """
    _check(idle_turns, level1, level2, sleep_milliseconds)
    if idle_turns < level1:
        return Pause(0, idle_turns + 1)
    if idle_turns < level1 + level2:
        return Pause(1, idle_turns + 1)
    return Pause(sleep_milliseconds * _NANOSECONDS_IN_MILLISECOND, idle_turns)


def park(idle_turns: int, *, microseconds: int = PARK_MICROSECONDS) -> Pause:
    """Park for the same time at each turn; with 0, spin, and count no turns.

    Raises ``WaitMisuse``. Source: WaitStrategyPark.
    """
    _check(idle_turns, microseconds)
    if microseconds == 0:
        return Pause(0, 1)
    return Pause(microseconds * _NANOSECONDS_IN_MICROSECOND, idle_turns + 1)


def _check(*counts: int) -> None:
    for count in counts:
        if type(count) is not int or count < 0:
            raise WaitMisuse(f"{count!r} is not an integer from 0 up")
