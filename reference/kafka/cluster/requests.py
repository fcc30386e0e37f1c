"""What clients and brokers ask of brokers beside what is about one replica."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["Leader", "MayGo", "Metadata", "WantsToGo", "WhoLeads"]


class Leader(NamedTuple):
    """Who leads a partition, and in which epoch."""

    broker: int
    epoch: int


@dataclass(frozen=True)
class WhoLeads:
    """A client asks for the leader of a partition; answered with ``Metadata``."""

    partition: int


@dataclass(frozen=True)
class Metadata:
    """As far as the broker has heard; None if it has not."""

    leader: Leader | None


@dataclass(frozen=True)
class WantsToGo:
    """A broker, in the life with this broker epoch, asks the controller whether it may shut down;
    answered with ``MayGo``."""

    broker_epoch: int


@dataclass(frozen=True)
class MayGo:
    """How many partitions it leads still; None if who was asked is not the controller."""

    remaining: int | None
