"""The places in a run of cases with short programs, and of those with one long program.

Every tenth case runs one long program, and all others run some twenty short ones. The short
cases are numbered by their *turns*, as if there were no long ones: a rule comes into focus turn
by turn. So the places of a run are one sequence that never ends, and no place depends on how
many cases were asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ...spec.notation.rules import Rule

__all__ = ["LONG_EVERY", "focus_of", "is_long", "long_number", "place_of", "turn_of"]

LONG_EVERY: Final = 10
"""Of so many cases in a row, the last one is long."""


def is_long(index: int) -> bool:
    """True if the case at a place runs one long program."""
    return index % LONG_EVERY == LONG_EVERY - 1


def long_number(index: int) -> int:
    """The number of long cases before the place."""
    return index // LONG_EVERY


def turn_of(index: int) -> int:
    """The number of short cases before the place."""
    return index - long_number(index)


def focus_of(rules: Sequence[Rule], index: int) -> Rule:
    """The rule that the case at a place looks for, of those that apply."""
    return rules[turn_of(index) % len(rules)]


def place_of(turn: int) -> int:
    """The place of the short case with this turn."""
    return turn + turn // (LONG_EVERY - 1)
