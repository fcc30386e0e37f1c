"""The states of partitions and replicas in the controller: two tables.

A table says for each target from which states it may be reached; all other pairs are illegal. The
tables are those of Kafka 3.9. In 0.9 one pair is missing (``REPLICAS_0_9``).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final

__all__ = [
    "PARTITIONS", "REPLICAS", "REPLICAS_0_9", "PartitionState", "ReplicaState",
]


class PartitionState(Enum):
    """States of a partition in the controller."""

    NON_EXISTENT = "NonExistentPartition"   # never created, or deleted
    NEW = "NewPartition"                    # has replicas assigned; had no leader yet
    ONLINE = "OnlinePartition"              # has a leader
    OFFLINE = "OfflinePartition"            # had a leader, which is gone


class ReplicaState(Enum):
    """States of a replica, on a broker, in the controller."""

    NEW = "NewReplica"                              # can only become a follower
    ONLINE = "OnlineReplica"                        # its broker lives
    OFFLINE = "OfflineReplica"                      # its broker is gone, or was asked to stop it
    DELETION_STARTED = "ReplicaDeletionStarted"     # its broker was asked to delete it
    DELETION_SUCCESSFUL = "ReplicaDeletionSuccessful"
    DELETION_INELIGIBLE = "ReplicaDeletionIneligible"   # it cannot be deleted now
    NON_EXISTENT = "NonExistentReplica"


_P, _R = PartitionState, ReplicaState

PARTITIONS: Final[Mapping[PartitionState, frozenset[PartitionState]]] = {
    _P.NEW: frozenset({_P.NON_EXISTENT}),
    _P.ONLINE: frozenset({_P.NEW, _P.ONLINE, _P.OFFLINE}),
    _P.OFFLINE: frozenset({_P.NEW, _P.ONLINE, _P.OFFLINE}),
    _P.NON_EXISTENT: frozenset({_P.OFFLINE}),
}
"""The states from which each may be reached. Source: PartitionState.validPreviousStates."""

REPLICAS: Final[Mapping[ReplicaState, frozenset[ReplicaState]]] = {
    _R.NEW: frozenset({_R.NON_EXISTENT}),
    _R.ONLINE: frozenset({_R.NEW, _R.ONLINE, _R.OFFLINE, _R.DELETION_INELIGIBLE}),
    _R.OFFLINE: frozenset({_R.NEW, _R.ONLINE, _R.OFFLINE, _R.DELETION_INELIGIBLE}),
    _R.DELETION_STARTED: frozenset({_R.OFFLINE}),
    _R.DELETION_SUCCESSFUL: frozenset({_R.DELETION_STARTED}),
    _R.DELETION_INELIGIBLE: frozenset({_R.OFFLINE, _R.DELETION_STARTED}),
    _R.NON_EXISTENT: frozenset({_R.DELETION_SUCCESSFUL}),
}
"""The states from which each may be reached. Source: ReplicaState.validPreviousStates."""

REPLICAS_0_9: Final[Mapping[ReplicaState, frozenset[ReplicaState]]] = {
    **REPLICAS, _R.DELETION_INELIGIBLE: frozenset({_R.DELETION_STARTED})}
"""In Kafka 0.9, a replica is found ineligible only while it is being deleted."""
