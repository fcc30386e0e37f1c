"""Producers that wait at a leader, according to its history, for ``ObservedHolding``.

A history without waiting producers (``held``) says nothing about their answers: nothing is demanded
of a broker at which no producer was ever reported to wait.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Final

from ....spec.kafka.observed_failover_liveness import ObservedHolding
from ....spec.notation.interpreter import Step
from ....spec.notation.machine import Machine
from .port import Event

__all__ = ["Holding"]

_SHOWS: Final = {"held": "is_held", "replied": "is_answered", "copied": "follows"}
_OVER: Final = ("began", "crashed", "left")

Observation = tuple[type[Machine], Hashable, Step]


class Holding:
    """Brokers and partitions at which a producer has waited."""

    def __init__(self) -> None:
        self._known: set[tuple[int, int]] = set()       # brokers and partitions

    def about(self, event: Event) -> Iterator[Observation]:
        """The observations that an event causes."""
        if event.what in _OVER:
            for key in sorted(self._known):
                if key[0] == event.about[0]:
                    yield ObservedHolding, key, ("is_over", ())
        elif event.what in _SHOWS:
            key = int(event.about[0]), int(event.about[1])
            if event.what == "held":
                self._known.add(key)
            if key in self._known:
                yield ObservedHolding, key, (_SHOWS[event.what], ())
