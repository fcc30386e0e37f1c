"""Leaders that may be replaced: those with a session that may have ended, and operators' requests.

A history does not report the ends of sessions. So a broker is in doubt as soon as anything other
than a fault of its connections to other brokers has been done to it, or its history reports such an
event. If the requests to the cluster are unknown, no leader is judged.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping
from typing import Any, Final

from ....spec.kafka.observed_failover_liveness import ObservedTenure
from ....spec.notation.interpreter import Step
from ....spec.notation.machine import Machine
from .port import Event

__all__ = ["Tenures"]

_TO_ONE: Final = ("crash", "pause", "expire", "isolate", "drift", "shut_down")
_TO_ALL: Final = ("stop_service", "upon")
_WISHES: Final = ("prefer", "reassign")
_TOLD: Final = ("crashed", "paused", "expired", "wants", "left")

Observation = tuple[type[Machine], Hashable, Step]


class Tenures:
    """The leaders of all partitions, and the brokers that are in doubt."""

    def __init__(self, brokers: int) -> None:
        self._brokers = brokers
        self._is_told = False               # the requests to the cluster are known
        self._doubtful: set[int] = set()
        self._led: set[int] = set()         # the partitions that the quorum has written

    def asked(self, request: Mapping[str, Any]) -> Iterator[Observation]:
        """Take the next request. For a deleted topic the history reports it."""
        self._is_told, do = True, request["do"]
        if do in _TO_ONE:
            yield from self._doubts((request["broker"],))
        elif do in _TO_ALL:
            yield from self._doubts(range(self._brokers))
        elif do in _WISHES:
            yield ObservedTenure, request["partition"], ("is_wished", ())

    def about(self, event: Event) -> Iterator[Observation]:
        """The observations that an event causes."""
        if event.what in _TOLD:
            yield from self._doubts((int(event.about[0]),))
        elif event.what == "state" and self._is_told:
            partition, leader = int(event.about[0]), int(event.about[3])
            if partition not in self._led:
                self._led.add(partition)
                yield from self._doubts_of(partition, self._doubtful)
            yield ObservedTenure, partition, (
                "is_led", (("replica", min(leader, self._brokers)),))

    def _doubts(self, brokers: Collection[int]) -> Iterator[Observation]:
        self._doubtful.update(brokers)
        for partition in sorted(self._led):
            yield from self._doubts_of(partition, brokers)

    def _doubts_of(self, partition: int, brokers: Collection[int]) -> Iterator[Observation]:
        for broker in sorted(brokers):
            yield ObservedTenure, partition, ("may_be_gone", (("replica", broker),))
