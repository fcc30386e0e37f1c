"""Results of the hunts for twins: each is hunted once by a process, whichever tests ask."""

from __future__ import annotations

from functools import cache

from checkvalve.conformance.systems.catalogue import zoo
from checkvalve.conformance.zoo.hunt import Trophy, hunt

__all__ = ["trophy_of"]


@cache
def trophy_of(name: str) -> Trophy:
    """The result of the hunt for a twin, with its first failure.

    Tests that ask for it belong to the group ``zoo of SUITE``, so that one worker hunts.
    """
    return hunt(zoo()[name], enough=1)
