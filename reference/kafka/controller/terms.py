"""Terms of the controller: partitions, requests to brokers, events and effects.

A broker is named by its number. ``broker_epoch`` names one life of a broker: it is the ``czxid`` of
the znode by which the broker has registered. ``controller_epoch`` counts the controllers.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final, NamedTuple, TypeAlias

from ...coordination import terms as coordination

__all__ = [
    "NOBODY", "ControllerRequest", "Answered", "Ask", "BEING_DELETED", "BrokerAnswer", "Effect",
    "Elapsed", "Error", "Event", "Failed", "Later", "LeaderAndIsr", "Leadership", "Metadata",
    "Noted", "Obeyed", "Opened", "Over", "PartitionTold", "Send", "ShutDown", "ShutDownAnswer",
    "StopReplica", "Stopped", "TopicPartition", "UpdateMetadata",
]

NOBODY: Final = -1
"""The leader of a partition that has none."""

BEING_DELETED: Final = -2
"""The leader in metadata while a topic is being deleted."""


class TopicPartition(NamedTuple):
    """One partition of a topic; partitions count from 0."""

    topic: str
    partition: int


class Leadership(NamedTuple):
    """The leader and the ISR of a partition, as the coordination service keeps them.

    ``leader_epoch`` grows with each change that the controller makes. ``controller_epoch`` is that
    of the controller that wrote it, or that appointed the leader that wrote it. ``version`` is that
    of the znode, on which the next write is conditional.
    """

    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    controller_epoch: int
    version: int

    def says_the_same(self, other: Leadership) -> bool:
        """True if all fields but the version are equal."""
        return self[:-1] == other[:-1]


# -- requests to brokers --------------------------------------------------------------------------

class PartitionTold(NamedTuple):
    """The part of a LeaderAndIsr request about one partition.

    ``is_new`` is true if the replica is new on this broker.
    """

    leadership: Leadership
    replicas: tuple[int, ...]
    is_new: bool


@dataclass(frozen=True)
class LeaderAndIsr:
    """The leaders of partitions with a replica on the broker.

    A broker obeys for each partition with a leader epoch that is greater than its own, so this may
    come twice, and late. ``live`` are the brokers that may lead.
    """

    controller: int
    controller_epoch: int
    broker_epoch: int
    partitions: dict[TopicPartition, PartitionTold]
    live: tuple[int, ...]


class Metadata(NamedTuple):
    """A broker's answer to clients about one partition."""

    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    replicas: tuple[int, ...]


@dataclass(frozen=True)
class UpdateMetadata:
    """The leaders of partitions, and the live brokers: a broker replaces what it knew.

    It may come twice. It must not come late: nothing in it shows that it is old.
    """

    controller: int
    controller_epoch: int
    broker_epoch: int
    partitions: dict[TopicPartition, Metadata]
    live: tuple[int, ...]


class Stopped(NamedTuple):
    """The part of a StopReplica request about one partition; ``delete``: its log, too."""

    delete: bool
    leader_epoch: int


@dataclass(frozen=True)
class StopReplica:
    """Stop serving partitions.

    It may come twice; a late copy is harmless for a broker that compares the leader epoch
    (KIP-570).
    """

    controller: int
    controller_epoch: int
    broker_epoch: int
    partitions: dict[TopicPartition, Stopped]


ControllerRequest: TypeAlias = LeaderAndIsr | UpdateMetadata | StopReplica


class Error(Enum):
    """A broker's answer to a request of a controller, or to the part about one partition."""

    NONE = "done"
    STALE_CONTROLLER_EPOCH = "a later controller has spoken"
    STALE_BROKER_EPOCH = "the request is meant for an earlier life of the broker"
    STALE_LEADER_EPOCH = "the leader epoch is not news"
    STORAGE = "the broker cannot do it now"


@dataclass(frozen=True)
class BrokerAnswer:
    """A broker's answer; ``partitions`` has those of a StopReplica request that failed."""

    error: Error = Error.NONE
    partitions: tuple[tuple[TopicPartition, Error], ...] = ()


# -- events of the controller
# ------------------------------------------------------------------------

@dataclass(frozen=True)
class Opened:
    """A new session begins; ``session`` is the id that the coordination service gave it."""

    session: int


@dataclass(frozen=True)
class Over:
    """The session has expired; ``Opened`` follows when there is another."""


@dataclass(frozen=True)
class Answered:
    """The result of a request with this number."""

    number: int
    result: coordination.Result


@dataclass(frozen=True)
class Obeyed:
    """A broker's answer to the request with this number."""

    broker: int
    number: int
    answer: BrokerAnswer = BrokerAnswer()


@dataclass(frozen=True)
class Failed:
    """No answer came: the connection broke, or it took too long. The broker may have obeyed."""

    broker: int
    number: int


@dataclass(frozen=True)
class Elapsed:
    """The time of a ``Later`` with this number has passed."""

    number: int


@dataclass(frozen=True)
class ShutDown:
    """A broker asks for a controlled shutdown, in this life; ``number`` is for the answer."""

    number: int
    broker: int
    broker_epoch: int


Event: TypeAlias = (Opened | Over | Answered | Obeyed | Failed | Elapsed | ShutDown
                    | coordination.Event)


# -- effects of the controller
# -----------------------------------------------------------------------

@dataclass(frozen=True)
class Ask:
    """Submit a request to the coordination service in the present session; ``Answered`` follows."""

    number: int
    request: coordination.Request


@dataclass(frozen=True)
class Send:
    """Send a request to a broker; ``Obeyed`` or ``Failed`` follows.

    One is under way for each broker.
    """

    broker: int
    number: int
    request: ControllerRequest


@dataclass(frozen=True)
class Later:
    """Let ``ms`` pass; ``Elapsed`` follows."""

    number: int
    ms: int


@dataclass(frozen=True)
class ShutDownAnswer:
    """The answer to a broker that asked for a controlled shutdown.

    ``remaining`` are the partitions that it still leads: it must stay while there are any. None:
    this is not the controller, or the request is from an earlier life.
    """

    number: int
    remaining: tuple[TopicPartition, ...] | None


@dataclass(frozen=True)
class Noted:
    """A note for the history: a word, and its subject. Nothing has to be done."""

    what: str
    about: tuple[object, ...] = ()


Effect: TypeAlias = Ask | Send | Later | ShutDownAnswer | Noted
