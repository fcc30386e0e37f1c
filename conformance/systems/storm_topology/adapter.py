"""The reference's cluster behind the port ``storm.topology``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, ClassVar

from ....reference.storm.cluster import Cluster, Happened
from ....reference.storm.faults import Fault, Scenario, ScenarioMisuse, What
from ....reference.storm.topologies import (
    PING_PONG, TOPOLOGIES, Topology, TopologyMisuse, ping_pong,
)
from ....reference.storm.worker import Parts, Settings, SettingsMisuse, Worker
from ...adapters.base import Declined
from ...adapters.port_adapter import PortAdapter
from .port import PORT, WORDS

__all__ = ["ReferenceTopology", "row_of"]

class ReferenceTopology(PortAdapter):
    """One run of the cluster. A twin replaces ``parts`` or ``worker_type``."""

    port: ClassVar = PORT
    policy: ClassVar[str] = "repeat"
    parts: Parts = Parts()
    worker_type: type[Worker] = Worker
    cycles: bool = False

    def start(self, settings: Mapping[str, Any]) -> None:
        self._capacity: int = settings["capacity"]
        self._planned: Scenario | None = None

    def deploy(self, topology: str, workers: int, messages: int, seed: int,
               ackers: int | None = 1, **sizes: int) -> bool:
        if self._planned is not None:
            raise Declined("deployed-already")
        self._planned = _or_declined(lambda: Scenario(
            _with_ackers(self._topology(topology), ackers), workers, messages,
            Settings(capacity=self._capacity, **sizes), (), seed))
        return True

    def _topology(self, name: str) -> Topology:
        if name not in (PING_PONG, *TOPOLOGIES):
            raise Declined("unknown-topology")
        return ping_pong(cycles=self.cycles) if name == PING_PONG else TOPOLOGIES[name]

    def kill(self, at: int, worker: int, lasts: int) -> bool:
        return self._plan(Fault(at, What.KILL, worker, 0, lasts))

    def cut(self, at: int, worker: int, to: int, lasts: int) -> bool:
        return self._plan(Fault(at, What.CUT, worker, to, lasts))

    def lose_status(self, at: int, worker: int, to: int, lasts: int) -> bool:
        return self._plan(Fault(at, What.LOSE_STATUS, worker, to, lasts))

    def delay_status(self, at: int, worker: int, to: int, lasts: int) -> bool:
        return self._plan(Fault(at, What.DELAY_STATUS, worker, to, lasts))

    def slow(self, at: int, task: int, lasts: int) -> bool:
        return self._plan(Fault(at, What.SLOW, task, 0, lasts))

    def fail(self, at: int, task: int) -> bool:
        return self._plan(Fault(at, What.FAIL, task))

    def toil(self, at: int, task: int, lasts: int) -> bool:
        return self._plan(Fault(at, What.TOIL, task, 0, lasts))

    def throw(self, at: int, task: int) -> bool:
        return self._plan(Fault(at, What.THROW, task))

    def stray(self, at: int, worker: int, to: int) -> bool:
        return self._plan(Fault(at, What.STRAY, worker, to))

    def _plan(self, fault: Fault) -> bool:
        planned = self._scenario()
        self._planned = _or_declined(
            lambda: replace(planned, faults=(*planned.faults, fault)))
        return True

    def _scenario(self) -> Scenario:
        if self._planned is None:
            raise Declined("nothing-deployed")
        return self._planned

    def run(self) -> list[str]:
        planned, self._planned = self._scenario(), None
        return [row_of(event) for event in Cluster(planned, self.parts, self.worker_type).run()]


@lru_cache(maxsize=64)      # so that what a topology knows of its tasks is found out once
def _with_ackers(topology: Topology, ackers: int | None) -> Topology:
    return replace(topology, ackers=ackers)


def _or_declined(plan: Callable[[], Scenario]) -> Scenario:
    try:
        return plan()
    except (ScenarioMisuse, SettingsMisuse, TopologyMisuse) as misuse:
        raise Declined(str(misuse)) from None


def row_of(event: Happened) -> str:
    """An event of the reference's cluster in the port's form."""
    return f"{event.at} {_told(event.what, event.about)}"


@lru_cache(maxsize=1 << 14)
def _told(what: str, about: tuple[int | str, ...]) -> str:
    # Ids of 64 bits are texts, in base 16: as numbers they do not survive JSON everywhere.
    return " ".join([what, *[f"{value:x}" if name == "root" else str(value)
                             for name, value in zip(WORDS[what].fields, about, strict=True)]])
