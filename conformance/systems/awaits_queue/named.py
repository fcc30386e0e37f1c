"""Queues for coroutines, by their names, callback by callback."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, Final

from ...foreign.target import Named
from ..queue.named import sample
from ..queue.named_loop import NamedLoopQueue
from ..queue.named_ways import WANTED as OF_ALL
from .adapter import Awaits

__all__ = ["WANTED", "NamedAwaits", "make"]

WANTED: Final = tuple(replace(each, instead="") for each in OF_ALL)
"""The usual names: here it has to wait."""


class NamedAwaits(NamedLoopQueue, Awaits):
    """A queue of the user's, on a loop of which one callback runs at a time."""

    wanted: ClassVar = WANTED


def make(named: Named) -> NamedAwaits:
    """The adapter of a queue. Raises ``InputError`` if it is not for tasks."""
    named.for_tasks(WANTED[0], lambda: sample(named))
    return NamedAwaits(named)
