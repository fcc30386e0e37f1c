"""A receiver with two marks in a log: every event is an instant of the receiver itself."""

from __future__ import annotations

from typing import Any, Final

from ....spec.flow.observed_marks import (
    GIVEN, IN_TURN, NOT_BETWEEN, NOT_EARLY, NOT_KEPT, ObservedMarks,
)
from ...logs.kinds import Asks, Call, Logs, Terms
from ...logs.notes import Notes
from ...suites.meanings import Meanings
from ...logs.points import PointJudge, Watching
from ...suites.says import ANY, END
from .suite import MarksConversation

__all__ = ["LOGS"]

_MOST: Final = 1 << 40
"""Elements that a receiver may hold: more than any log has."""

_SAYS: Final = Meanings(MarksConversation.says)
_WATCHING: Final = Watching(
    ObservedMarks,
    lambda terms: {"H": terms.settings["high"], "L": terms.settings["low"], "M": _MOST},
    {"arrives": _SAYS.row(_SAYS.request("arrive"), "value"),
     "gives": _SAYS.row(_SAYS.answer("take", ANY, of="given"), "value"),
     "stop": _SAYS.row(_SAYS.answer("arrive", "stop")),
     "go": _SAYS.row(_SAYS.answer("arrive", "go")),
     "rest": _SAYS.row(_SAYS.answer("arrive", END))},
    before=lambda terms: [{}, {"stopped": True}], ranged=("held", _MOST >> 1), ordered=True)

def _whole(terms: Terms, notes: Notes, names: Any, common: Any) -> Any:
    from ...columns.points import WholePoints

    if terms.tolerance:
        return None     # the order of several processes is looked at event by event
    return WholePoints(terms, notes, names, (_WATCHING,),
                       lambda key: PointJudge(key, terms, notes, (_WATCHING,)))


LOGS: Final = Logs(
    machines=(ObservedMarks,),
    operations={
        "arrives": Call("value elements came", ("point",), ("value",)),
        "gives": Call("value elements were taken", ("point",), ("value",)),
        "stop": Call("the receiver asked its sender to stop", ("point",)),
        "go": Call("the receiver asked its sender to resume", ("point",)),
        "rest": Call("the receiver has no more to say for the time being", ("point",)),
    },
    settings={"high": "the high mark", "low": "the low mark"},
    required=("high", "low"),
    rules=(NOT_EARLY, NOT_BETWEEN, IN_TURN, GIVEN, NOT_KEPT),
    with_rest={"FLOW-112": "rest", "FLOW-114": "rest"},
    judge=lambda key, terms, notes, common: PointJudge(key, terms, notes, (_WATCHING,)),
    whole=_whole,
    is_cut=lambda terms: not terms.tolerance,
    capacity="low",
    asks={("arrives", "ok"): Asks(("arrive",), value="count"),
          ("gives", "ok"): Asks(("take",), value="most"),
          **dict.fromkeys([(does, "ok") for does in ("stop", "go", "rest")])},
)
