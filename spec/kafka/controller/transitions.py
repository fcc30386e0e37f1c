"""The states of partitions and replicas, and the legal changes between them.

Each table has one row for a target, with the states from which it may be reached. Everything else
derives from these two: the guards of the machines, the observer's verdicts, the cells that the
suite tries, and the drawings in docs/kafka-controller.md.

Source: kafka#partition-states, kafka#replica-states.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import Final, TypeVar

__all__ = [
    "PARTITION_CHANGES", "REPLICA_CHANGES", "REPLICA_CHANGES_OF", "Era", "PartitionState",
    "ReplicaState", "cells",
]

State = TypeVar("State", bound=IntEnum)


class Era(IntEnum):
    """Releases that the tables belong to: from 0.8.2 on, or the last with ZooKeeper."""

    V0_9 = 0
    V3_9 = 1


class PartitionState(IntEnum):
    """States of a partition for the controller."""

    NEW = 0
    ONLINE = 1
    OFFLINE = 2
    NON_EXISTENT = 3


class ReplicaState(IntEnum):
    """States of a replica for the controller."""

    NEW = 0
    ONLINE = 1
    OFFLINE = 2
    DELETION_STARTED = 3
    DELETION_SUCCESSFUL = 4
    DELETION_INELIGIBLE = 5
    NON_EXISTENT = 6


_P, _R = PartitionState, ReplicaState

PARTITION_CHANGES: Final[Mapping[PartitionState, Sequence[PartitionState]]] = {
    _P.NEW: (_P.NON_EXISTENT,),
    _P.ONLINE: (_P.NEW, _P.ONLINE, _P.OFFLINE),
    _P.OFFLINE: (_P.NEW, _P.ONLINE, _P.OFFLINE),
    _P.NON_EXISTENT: (_P.OFFLINE,),
}
"""The states from which each target may be reached: 8 of the 16 cells. The same in all releases."""

REPLICA_CHANGES: Final[Mapping[ReplicaState, Sequence[ReplicaState]]] = {
    _R.NEW: (_R.NON_EXISTENT,),
    _R.ONLINE: (_R.NEW, _R.ONLINE, _R.OFFLINE, _R.DELETION_INELIGIBLE),
    _R.OFFLINE: (_R.NEW, _R.ONLINE, _R.OFFLINE, _R.DELETION_INELIGIBLE),
    _R.DELETION_STARTED: (_R.OFFLINE,),
    _R.DELETION_SUCCESSFUL: (_R.DELETION_STARTED,),
    _R.DELETION_INELIGIBLE: (_R.DELETION_STARTED,),
    _R.NON_EXISTENT: (_R.DELETION_SUCCESSFUL,),
}
"""The states from which each target may be reached in 0.9: 13 of the 49 cells."""

REPLICA_CHANGES_OF: Final[Mapping[Era, Mapping[ReplicaState, Sequence[ReplicaState]]]] = {
    Era.V0_9: REPLICA_CHANGES,
    Era.V3_9: {
        **REPLICA_CHANGES,
        # A replica that cannot be deleted need not get a request first.
        _R.DELETION_INELIGIBLE: (_R.OFFLINE, _R.DELETION_STARTED),
    },
}
"""The table of each release; 3.9 has one cell more."""


def cells(changes: Mapping[State, Sequence[State]]) -> tuple[int, ...]:
    """A table in the form that machines use: one row for each target; 1 if a change is legal.

    With n states, the cell of a target t and a previous state s is number t n + s.

    >>> cells(PARTITION_CHANGES)[:4] (0, 0, 0, 1)
    """
    states = sorted(changes)
    return tuple(int(each in changes[target]) for target in states for each in states)
