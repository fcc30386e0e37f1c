"""Drawing mutants: the same ones for the same seed, whatever is edited in other functions."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable

from .operators import Mutant

__all__ = ["drawn", "share"]


def share(candidates: int, one_in: int, least: int, most: int) -> int:
    """How many mutants are taken of a module that has so many."""
    return min(candidates, max(least, min(most, candidates // one_in)))


def drawn(mutants: Iterable[Mutant], count: int, seed: int) -> list[Mutant]:
    """``count`` of the mutants of a module: one of each function, then a second of each, ….

    The order among them is by a digest of seed and id, so a function that is edited changes
    its own mutants, and those of others only at the end of the list.
    """
    by_function: dict[str, list[Mutant]] = defaultdict(list)
    for mutant in sorted(mutants, key=lambda one: _rank(one, seed)):
        by_function[mutant.function].append(mutant)
    rounds = [(place, _rank(one, seed), one) for group in by_function.values()
              for place, one in enumerate(group)]
    return [one for _, _, one in sorted(rounds, key=lambda row: row[:2])[:count]]


def _rank(mutant: Mutant, seed: int) -> str:
    return hashlib.sha256(f"{seed}\0{mutant.id}".encode()).hexdigest()
