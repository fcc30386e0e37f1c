"""Paths and contents of Kafka's znodes in the coordination service: JSON.

Contents that outlive a controller are read back here; unknown keys are ignored. There are no
timestamps: this code has no clock.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final

from .terms import Leadership, TopicPartition

__all__ = [
    "CONTROLLER", "CONTROLLER_EPOCH", "DELETE_TOPICS", "IDS", "ISR_CHANGES", "PREFERRED",
    "REASSIGN", "TOP_LEVEL", "TOPICS", "assignment_of", "assignment_text", "broker_path",
    "controller_text", "partition_of_state", "partitions_of", "partitions_text",
    "reassignment_of", "reassignment_text", "state_of", "state_path", "state_text", "topic_path",
]

CONTROLLER: Final = "/controller"
CONTROLLER_EPOCH: Final = "/controller_epoch"
IDS: Final = "/brokers/ids"
TOPICS: Final = "/brokers/topics"
DELETE_TOPICS: Final = "/admin/delete_topics"
REASSIGN: Final = "/admin/reassign_partitions"
PREFERRED: Final = "/admin/preferred_replica_election"
ISR_CHANGES: Final = "/isr_change_notification"

TOP_LEVEL: Final = ("/brokers", IDS, TOPICS, "/admin", DELETE_TOPICS, ISR_CHANGES)
"""The znodes that everything else needs, in an order in which they can be created."""


_ENCODER: Final = json.JSONEncoder(separators=(",", ":"))


def _text(**what: Any) -> bytes:
    return _ENCODER.encode({"version": 1, **what}).encode()


def broker_path(broker: int) -> str:
    """The ephemeral znode by which a broker registers."""
    return f"{IDS}/{broker}"


def topic_path(topic: str) -> str:
    """The znode with the assignment of a topic."""
    return f"{TOPICS}/{topic}"


def state_path(partition: TopicPartition) -> str:
    """The znode with the leadership of a partition."""
    return f"{topic_path(partition.topic)}/partitions/{partition.partition}/state"


def partition_of_state(path: str) -> TopicPartition:
    """The partition with its leadership at that path."""
    topic, _, number, _ = path.removeprefix(f"{TOPICS}/").split("/")
    return TopicPartition(topic, int(number))


def controller_text(broker: int) -> bytes:
    """The broker that is the controller."""
    return _text(brokerid=broker)


def state_text(leadership: Leadership) -> bytes:
    """A leadership as a text; the version is the znode's own."""
    return _text(leader=leadership.leader, leader_epoch=leadership.leader_epoch,
                 isr=list(leadership.isr), controller_epoch=leadership.controller_epoch)


@lru_cache(maxsize=1 << 10)     # a state is looked at again and again
def state_of(data: bytes, version: int) -> Leadership:
    """The leadership in a znode of this version."""
    read = json.loads(data)
    return Leadership(read["leader"], read["leader_epoch"], tuple(read["isr"]),
                      read["controller_epoch"], version)


def assignment_text(replicas: Mapping[int, tuple[int, ...]]) -> bytes:
    """The replicas of each partition of a topic, the preferred one first."""
    return _text(partitions={str(each): list(replicas[each]) for each in sorted(replicas)})


def assignment_of(data: bytes) -> dict[int, tuple[int, ...]]:
    """The replicas by number of partition, from what ``assignment_text`` wrote."""
    return {int(each): tuple(replicas)
            for each, replicas in json.loads(data)["partitions"].items()}


def partitions_text(partitions: Iterable[TopicPartition]) -> bytes:
    """A list of partitions: of a notification, or of a preferred election."""
    return _text(partitions=[{"topic": each.topic, "partition": each.partition}
                             for each in partitions])


def partitions_of(data: bytes) -> list[TopicPartition]:
    """The partitions in their order, from what ``partitions_text`` wrote."""
    return [TopicPartition(each["topic"], each["partition"])
            for each in json.loads(data)["partitions"]]


def reassignment_text(targets: Mapping[TopicPartition, tuple[int, ...]]) -> bytes:
    """The wanted replicas of partitions, as a text."""
    return _text(partitions=[{"topic": each.topic, "partition": each.partition,
                              "replicas": list(replicas)} for each, replicas in targets.items()])


def reassignment_of(data: bytes) -> dict[TopicPartition, tuple[int, ...]]:
    """The wanted replicas of each, from what ``reassignment_text`` wrote."""
    return {TopicPartition(each["topic"], each["partition"]): tuple(each["replicas"])
            for each in json.loads(data)["partitions"]}
