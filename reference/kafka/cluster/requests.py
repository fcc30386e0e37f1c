"""What clients ask of brokers beside what is about one replica."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["Leader", "Metadata", "WhoLeads"]


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
