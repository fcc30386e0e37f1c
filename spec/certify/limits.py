"""The budgets of a check: time, states and the memory of the process, which each loop asks about.

What is not checked when one of them ends is undecided: that it took long refutes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from ..verdicts.deadline import Deadline
from ..verdicts.verdict import Budget

__all__ = ["TooManyStates", "allow", "look", "seconds_left", "within"]

_limits: Final = [(Budget(), Deadline())]
"""Those that are set, the last of which count."""


class TooManyStates(Exception):
    """There are more states than were to be visited."""


@contextmanager
def within(budget: Budget) -> Iterator[None]:
    """Keep these budgets inside of the block; the time begins."""
    _limits.append((budget, budget.start().deadline))
    try:
        yield
    finally:
        _limits.pop()


def look(phase: str) -> None:
    """Raise OutOfTime or OutOfMemory where one of them is spent."""
    _limits[-1][1].check(phase)


def seconds_left(most: float) -> float:
    """Seconds that are left, at most so many."""
    return min(most, _limits[-1][1].left())


def allow(states: int) -> None:
    """Raise TooManyStates where so many are more than were to be visited."""
    most = _limits[-1][0].max_states
    if states > (math.inf if most is None else most):
        raise TooManyStates(f"the budget of states was spent: there are more than {most:,}")
