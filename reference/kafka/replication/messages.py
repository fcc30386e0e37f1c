"""Messages between brokers, controllers and clients about a partition.

A partition is named by its number, a broker by its id. ``broker_epoch`` names one life of a broker,
``epoch`` a leader epoch. The answer to a request is an instance of the class behind it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final, NamedTuple

from .log import NO_EPOCH, EpochEnd, Record

__all__ = [
    "NOBODY", "Code", "EndOfEpoch", "EndedAt", "Fetch", "Fetched", "PartitionState", "Produce",
    "Produced", "Read", "ReadUpTo",
]

NOBODY: Final = -1
"""The leader of a partition that has none."""


class Code(Enum):
    """Result codes of requests."""

    DONE = "done"
    NOT_LEADER = "the broker does not lead the partition"
    FENCED = "the request is of an older leader epoch"
    UNKNOWN_EPOCH = "the request is of a newer leader epoch"
    DIVERGING = "the log of the follower does not match"
    OUT_OF_RANGE = "the offset is beyond the log"
    TOO_FEW = "fewer replicas are in sync than min.insync.replicas"
    TOO_FEW_AFTER = "fewer are in sync now than min.insync.replicas; the record was appended"


class PartitionState(NamedTuple):
    """The leader of a partition, its epoch, and its ISR, as the quorum keeps them.

    ``controller_epoch`` is that of the controller that decided it, or that appointed the leader.
    """

    leader: int
    epoch: int
    isr: tuple[int, ...]
    controller_epoch: int


@dataclass(frozen=True)
class Produce:
    """Append a value. With ``acks_all`` the answer comes when the record is committed."""

    partition: int
    value: int
    acks_all: bool


@dataclass(frozen=True)
class Produced:
    """The offset, if the value was appended and acknowledged."""

    code: Code
    offset: int = -1


@dataclass(frozen=True)
class Fetch:
    """A follower asks for the records from an offset on.

    ``epoch`` is the leader epoch that it is in, and ``last_epoch`` that of its last record.
    """

    partition: int
    replica: int
    offset: int
    epoch: int
    last_epoch: int = NO_EPOCH


@dataclass(frozen=True)
class Fetched:
    """Records from that offset on, and the leader's high watermark; or where logs diverge."""

    code: Code
    offset: int = 0
    records: tuple[Record, ...] = ()
    hw: int = 0
    diverging: EpochEnd | None = None


@dataclass(frozen=True)
class EndOfEpoch:
    """A follower asks where an epoch ends in the leader's log (OffsetForLeaderEpoch)."""

    partition: int
    replica: int
    wanted: int
    epoch: int


@dataclass(frozen=True)
class EndedAt:
    """The largest epoch up to the wanted one, and where it ends."""

    code: Code
    end: EpochEnd = EpochEnd(NO_EPOCH, -1)


@dataclass(frozen=True)
class Read:
    """A consumer asks for committed records from an offset on."""

    partition: int
    offset: int


@dataclass(frozen=True)
class ReadUpTo:
    """Records below the high watermark, with it, and the answering broker's leader epoch and life.
    """

    code: Code
    records: tuple[Record, ...] = ()
    hw: int = 0
    epoch: int = NO_EPOCH
    life: int = 0
