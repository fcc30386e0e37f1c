"""Purgatories with one seeded bug each that shows on lists from some length on.

The order in which an event tries the requests of a list is promised nowhere, but it tries each.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

from ....reference.kafka.purgatory import Purgatory
from ....reference.kafka.watcher_lists import Watchers
from ...suites.twin import Twins
from .adapter import ReferencePurgatory
from .twins_rounds import parts_of

__all__ = ["LISTS"]

LISTS: Final = Twins("kafka.purgatory", ReferencePurgatory, ("reference.purgatory",), parts_of)


class _StackFrom(Purgatory):
    """A purgatory in which an event tries the newest request alone, from a certain number on."""

    requests = 4

    def _try_watched(self, key: Hashable, watchers: Watchers) -> int:
        if len(watchers) < self.requests:
            return super()._try_watched(key, watchers)
        newest = [*watchers][-1]
        if newest.safe_try_complete():
            watchers.pop(newest, None)
            return 1
        return 0


@LISTS.twin(
    "purgatory-stack-from-four", "KAFKA-P3",
    "of a list of four requests or more, an event tries the newest alone",
    "a stack that is popped until the first request that is not ready, tried with three")
class StackFromFour(_StackFrom):
    """A list of four or more is a stack."""


@LISTS.twin(
    "purgatory-stack-from-six", "KAFKA-P3",
    "of a list of six requests or more, an event tries the newest alone",
    "a stack that is popped until the first request that is not ready, tried with five")
class StackFromSix(_StackFrom):
    """A list of six or more is a stack."""

    requests = 6
