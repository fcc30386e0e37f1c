"""The pause of a Storm thread before it tries again: its two wait strategies.

Pure functions from the number of idle turns so far to the next pause. They take no time
themselves, and read no clock. Defaults are those of Storm's conf/defaults.yaml for
``topology.backpressure.wait.strategy``.
"""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = [
    "BACKPRESSURE", "BOLT", "PARK_MICROSECONDS", "SPOUT", "Levels", "Pause", "WaitMisuse", "Waiter",
    "park", "progressive",
]

PARK_MICROSECONDS: Final = 100
_NANOSECONDS_IN_MILLISECOND: Final = 1_000_000
_NANOSECONDS_IN_MICROSECOND: Final = 1_000


class WaitMisuse(ValueError):
    """A count or a time is negative, or no integer."""


class Pause(NamedTuple):
    """The time to wait (0: try again at once), and the number of idle turns after that."""

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


class Levels(NamedTuple):
    """The settings of a progressive strategy, in turns and milliseconds."""

    level1: int
    level2: int
    sleep_milliseconds: int


BACKPRESSURE: Final = Levels(1, 1000, 1)
BOLT: Final = Levels(1, 1000, 1)
SPOUT: Final = Levels(0, 0, 1)
"""conf/defaults.yaml: ``topology.backpressure.wait.progressive`` (while pendingEmits is not
empty), ``topology.bolt.wait.progressive`` (an empty recvQ) and ``topology.spout.wait.progressive``
(nothing to emit)."""


class Waiter:
    """An executor's count of its idle turns; the strategy by which it waits may change.

    Source: the loops of SpoutExecutor and BoltExecutor, with a count for each strategy.
    """

    def __init__(self) -> None:
        self._idle_turns: dict[Levels, int] = {}

    def went_on(self) -> None:
        """There was progress: the next wait begins at the first level."""
        self._idle_turns.clear()

    def waits(self, levels: Levels) -> int:
        """The nanoseconds to wait now, after one more idle turn."""
        pause = progressive(
            self._idle_turns.get(levels, 0), level1=levels.level1, level2=levels.level2,
            sleep_milliseconds=levels.sleep_milliseconds)
        self._idle_turns = {levels: pause.idle_turns}
        return pause.nanoseconds


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
