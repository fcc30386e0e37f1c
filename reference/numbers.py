"""Whole numbers by chance: those that ``Random`` draws, for the same state, by a shorter way.

In a run in virtual time little else is as frequent as a delay. ``Random.randint`` draws it by way
of three functions of Python; its numbers must not depend on the way.
"""

from __future__ import annotations

from random import Random
from typing import TypeVar

__all__ = ["below", "shuffled"]

T = TypeVar("T")


def below(random: Random, limit: int) -> int:
    """A number from 0 up to ``limit`` (1 or more), not included: ``Random.randrange(limit)``."""
    bits = limit.bit_length()
    found = random.getrandbits(bits)
    while found >= limit:
        found = random.getrandbits(bits)
    return found


def shuffled(random: Random, things: list[T]) -> list[T]:
    """Some things in any order, that of ``Random.shuffle``; the list stays as it is."""
    found, draw = things.copy(), random.getrandbits
    for last in range(len(found) - 1, 0, -1):
        bits = (last + 1).bit_length()
        other = draw(bits)
        while other > last:
            other = draw(bits)
        found[last], found[other] = found[other], found[last]
    return found
