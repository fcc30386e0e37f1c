"""Requests to brokers that are not about one replica."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["Leader", "MayGo", "Metadata", "WantsToGo", "WhoLeads"]


class Leader(NamedTuple):
    """The leader of a partition, and its epoch."""

    broker: int
    epoch: int


@dataclass(frozen=True)
class WhoLeads:
    """A client asks for the leader of a partition; answered with ``Metadata``."""

    partition: int


@dataclass(frozen=True)
class Metadata:
    """The leader as far as the broker knows; None if it does not."""

    leader: Leader | None


@dataclass(frozen=True)
class WantsToGo:
    """A broker, in the life with this broker epoch, asks the controller whether it may shut down;
    answered with ``MayGo``."""

    broker_epoch: int


@dataclass(frozen=True)
class MayGo:
    """The number of partitions that it still leads; None if the receiver is not the controller."""

    remaining: int | None
