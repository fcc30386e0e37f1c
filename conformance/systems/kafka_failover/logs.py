"""Leader epochs and high watermarks in a log, of whatever consensus: two of the small machines.

An *epoch* (a term, a view) is a key, in which at most one process leads. A *mark* (a commit index)
is a key too, that of one leader in one epoch: it does not fall. The suite has no table of messages
(it reads histories), so the rows are written here.
"""

from __future__ import annotations

from typing import Final

from ....spec.kafka.observed_failover import MONOTONE, ONE_LEADER, ObservedEpoch, ObservedMark
from ...logs.kinds import Call, Logs
from ...logs.points import PointJudge, Row, Watching

__all__ = ["LOGS"]

_MOST: Final = 1 << 60

_EPOCH: Final = Watching(ObservedEpoch, lambda terms: {"N": _MOST},
                         {"leads": Row("leads", {"broker": "number"}, names=True)})
_MARK: Final = Watching(ObservedMark, lambda terms: {"H": _MOST},
                        {"mark": Row("tells", {"hw": "value"})})

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
    judge=lambda key, terms, notes, common: PointJudge(key, terms, notes, (_EPOCH, _MARK)),
)
