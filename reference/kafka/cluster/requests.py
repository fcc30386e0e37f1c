"""What controllers and clients say to brokers beside what is about one partition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from ..replication.replica import Told

__all__ = ["Leader", "LeaderAndIsr", "Metadata", "Obeyed", "StopReplica", "UpdateMetadata",
           "WhoLeads"]


class Obeyed(Enum):
    """What a broker says to a controller's request."""

    DONE = "done"
    STALE_CONTROLLER = "the request is of a controller that has been replaced"
    STALE_BROKER = "the request is meant for an earlier life of the broker"


@dataclass(frozen=True)
class LeaderAndIsr:
    """Who leads, for partitions that the broker has; answered with ``Obeyed``.

    ``broker_epoch`` is that of the life of the broker for which the request is meant.
    """

    controller_epoch: int
    broker_epoch: int
    partitions: Mapping[int, Told]


class Leader(NamedTuple):
    """Who leads a partition, and in which epoch."""

    broker: int
    epoch: int


@dataclass(frozen=True)
class UpdateMetadata:
    """Who leads what, and which brokers are there, for clients; answered with ``Obeyed``."""

    controller_epoch: int
    broker_epoch: int
    leaders: Mapping[int, Leader]
    live: frozenset[int]


@dataclass(frozen=True)
class StopReplica:
    """Stop serving a partition in a leader epoch; answered with ``Obeyed``."""

    controller_epoch: int
    broker_epoch: int
    partition: int
    epoch: int


@dataclass(frozen=True)
class WhoLeads:
    """A client asks for the leader of a partition; answered with ``Metadata``."""

    partition: int


@dataclass(frozen=True)
class Metadata:
    """As far as the broker has heard; None if it has not."""

    leader: Leader | None
