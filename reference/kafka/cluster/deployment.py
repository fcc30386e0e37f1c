"""The setup of a cluster: how many brokers and partitions, and what processes consist of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..controller.controller import Controller
from ..replication.replica import Replica
from ..replication.settings import Settings
from .broker import Broker
from .clients import Producer
from .controlling import Controlling

__all__ = ["Deployment", "DeploymentMisuse", "Parts"]


class DeploymentMisuse(ValueError):
    """There are fewer than 1 broker or partition, or more replicas asked for than brokers."""


@dataclass(frozen=True)
class Deployment:
    """How large the cluster is. Each partition has a replica on each broker; the preferred leader
    of partition p is broker p modulo brokers. Raises ``DeploymentMisuse``."""

    brokers: int = 3
    partitions: int = 1
    min_isr: int = 2
    seed: int = 0

    def __post_init__(self) -> None:
        if self.brokers < 1 or self.partitions < 1 or not 1 <= self.min_isr <= self.brokers:
            raise DeploymentMisuse(
                f"{self.brokers} brokers, {self.partitions} partitions, and {self.min_isr} in "
                f"sync at least: there must be one of each, and as many brokers as in sync")

    def assignment(self) -> Mapping[int, tuple[int, ...]]:
        """The replicas of each partition, the preferred one first."""
        return {partition: self.replicas_of(partition) for partition in range(self.partitions)}

    def replicas_of(self, partition: int) -> tuple[int, ...]:
        """All brokers, the preferred one first."""
        return tuple((partition + each) % self.brokers for each in range(self.brokers))


@dataclass(frozen=True)
class Parts:
    """The classes of the processes."""

    broker: type[Broker] = Broker
    replica: type[Replica] = Replica
    producer: type[Producer] = Producer
    controller: type[Controller] = Controller
    controlling: type[Controlling] = Controlling
    settings: Settings = field(default_factory=Settings)
