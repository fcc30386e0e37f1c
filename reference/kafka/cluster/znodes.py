"""Where in the coordination service the cluster keeps what, and how it is written there."""

from __future__ import annotations

import json
from typing import Final

from ..replication.messages import PartitionState

__all__ = ["CONTROLLER", "CONTROLLER_EPOCH", "IDS", "broker_path", "partition_of", "state_of",
           "state_path", "text_of"]

CONTROLLER: Final = "/controller"
CONTROLLER_EPOCH: Final = "/controller_epoch"
IDS: Final = "/brokers/ids"
_PARTITIONS: Final = "/brokers/topics/t/partitions"


def broker_path(broker: int) -> str:
    """Where a broker registers."""
    return f"{IDS}/{broker}"


def state_path(partition: int) -> str:
    """Where the state of a partition is."""
    return f"{_PARTITIONS}/{partition}/state"


def partition_of(path: str) -> int | None:
    """The partition whose state is there; None if it is another path."""
    begin, _, end = path.rpartition("/")
    if end != "state" or not begin.startswith(f"{_PARTITIONS}/"):
        return None
    return int(begin.rpartition("/")[2])


def text_of(state: PartitionState) -> bytes:
    """A state as it is stored, in Kafka's words."""
    return json.dumps({
        "controller_epoch": state.controller_epoch, "leader": state.leader, "version": 1,
        "leader_epoch": state.epoch, "isr": list(state.isr)}).encode()


def state_of(data: bytes) -> PartitionState:
    """The state that is stored there."""
    read = json.loads(data)
    return PartitionState(
        read["leader"], read["leader_epoch"], tuple(read["isr"]), read["controller_epoch"])
