"""Leader epochs and high watermarks in a log, of whatever consensus: two of the small machines.

An *epoch* (a term, a view) is a key, in which at most one process leads. A *mark* (a commit index)
is a key too, that of one leader in one epoch: it does not fall. The suite has no table of messages
(it reads histories), so the rows are written here.
"""

from __future__ import annotations

from typing import Any, Final

from ....spec.kafka.observed_failover import MONOTONE, ONE_LEADER, ObservedEpoch, ObservedMark
from ...logs.kinds import Call, Logs, Terms
from ...logs.notes import Notes
from ...logs.points import PointJudge, Row, Watching

__all__ = ["LOGS", "EpochJudge"]

_MOST: Final = 1 << 60

_EPOCH: Final = Watching(ObservedEpoch, lambda terms: {"N": _MOST},
                         {"leads": Row("leads", {"broker": "number"}, names=True)})
_MARK: Final = Watching(ObservedMark, lambda terms: {"H": _MOST},
                        {"mark": Row("tells", {"hw": "value"})})

class EpochJudge(PointJudge):
    """Judges one epoch, or one mark."""

    def __init__(self, key: str, terms: Terms, notes: Notes, common: Any) -> None:
        super().__init__(key, terms, notes, (_EPOCH, _MARK))

    def continues(self, leader: Any) -> None:
        """Continue where one process, and no other, acted as the leader; None: none did."""
        if leader is not None:
            self._numbers, self._named = {leader: 0}, 1


def _whole(terms: Terms, notes: Notes, names: Any, common: Any) -> Any:
    from .whole import WholeEpochs

    return WholeEpochs(terms, notes, names, (_EPOCH, _MARK),
                       lambda key: EpochJudge(key, terms, notes, common))


LOGS: Final = Logs(
    machines=(ObservedEpoch, ObservedMark),
    operations={
        "leads": Call("a process, the item, acts as the leader of the epoch, the key",
                      ("point",), ("item",)),
        "mark": Call("a leader in an epoch, together the key, reports a high watermark, the value",
                     ("point",), ("value",)),
    },
    settings={},
    rules=(ONE_LEADER, MONOTONE),
    judge=EpochJudge,
    whole=_whole,
    no_asks="the suite runs a cluster with its faults, and a log does not show these",
)
