"""Which cases of a run have short programs, and which have one long program.

Every tenth case runs one long program, and all others run some twenty short ones. The short
cases are numbered by their *turns*, as if there were no long ones: a rule comes into focus turn
by turn. So the places of a run are one sequence that never ends, and no place depends on how
many cases were asked for.
"""

from __future__ import annotations

from typing import Final

__all__ = ["LONG_EVERY", "is_long", "long_number", "place_of", "turn_of"]

LONG_EVERY: Final = 10
"""Of so many cases in a row, the last one is long."""


def is_long(index: int) -> bool:
    """Whether the case at a place runs one long program."""
    return index % LONG_EVERY == LONG_EVERY - 1


def long_number(index: int) -> int:
    """How many long cases come before the place."""
    return index // LONG_EVERY


def turn_of(index: int) -> int:
    """How many short cases come before the place."""
    return index - long_number(index)


def place_of(turn: int) -> int:
    """The place of the short case with this turn."""
    return turn + turn // (LONG_EVERY - 1)
