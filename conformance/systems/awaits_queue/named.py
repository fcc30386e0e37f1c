"""Queues for coroutines, by their names, callback by callback."""

from __future__ import annotations

from ...foreign.target import Named
from ..queue.named import WANTED, NamedLoopQueue, sample
from .adapter import Awaits

__all__ = ["WANTED", "NamedAwaits", "make"]

class NamedAwaits(NamedLoopQueue, Awaits):
    """A queue of the user's, on a loop of which one callback runs at a time."""


def make(named: Named) -> NamedAwaits:
    """The adapter of a queue. Raises ``InputError`` if it is not for tasks."""
    named.for_tasks(WANTED[0], lambda: sample(named))
    return NamedAwaits(named)
