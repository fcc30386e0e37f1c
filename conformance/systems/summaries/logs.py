"""A stage that rolls up, or batches, in a log: each output by the sum of its values.

A log has the sum of an output, and not its values: that these are as they came is not shown.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from ....spec.flow import observed_summaries as chapter
from ....spec.flow.observed_summaries import ObservedBatches, ObservedSummaries
from ...logs.events import Event
from ...logs.kinds import Asks, Call, Logs, Terms
from ...logs.many import Many
from ...logs.notes import Notes
from ...logs.points import PointJudge, Row, Watching
from ...suites.meanings import Meanings
from ...suites.says import ANY
from .suite import SummariesConversation

__all__ = ["LOGS"]

_SAYS: Final = Meanings(SummariesConversation.says)
_MOST: Final = 1 << 60


def _rows(where: str) -> dict[str, Row]:
    """The actions of the machine of a policy."""
    return {"takes": _SAYS.row(_SAYS.answer("offer", True, where=where), "value"),
            "waits": _SAYS.row(_SAYS.answer("offer", False, where=where)),
            "gives": _SAYS.row(_SAYS.answer("take", ANY, where=where), "value"),
            "nothing": _SAYS.row(_SAYS.answer("take", None, where=where))}


_ROLLS_UP: Final = Watching(ObservedSummaries, lambda terms: {"K": _MOST}, _rows(""),
                           before=lambda terms: [{}, {"values": 1}], ordered=True)
_BATCHES: Final = Watching(
    ObservedBatches, lambda terms: {"K": _MOST, "m": terms.settings["batch"]}, _rows("batches"),
    before=lambda terms: [{"values": held} for held in range(terms.settings["batch"] + 1)],
    ordered=True)


class SummariesJudge(PointJudge):
    """Judges one stage. Of the values that it held before a log that begins in the middle, the sum
    is known once they go."""

    def __init__(self, key: str, terms: Terms, notes: Notes, common: Any) -> None:
        super().__init__(key, terms, notes,
                         (_BATCHES if terms.settings.get("batch", 0) else _ROLLS_UP,))
        self._taken = 0     # since the log began, until an output went

    def steps(self, event: Event, times: int) -> None:
        """Take steps; the first output shows what was held before."""
        gone, here = event.value or 0, self._taken
        for _, live in self.eyes:
            if isinstance(live, Many) and here >= 0 and event.operation == "gives":
                live.splits(lambda now: [
                    {"total": gone} if gone - now.total >= now.values - here > 0 else {}])
                self._taken = -1
        if self._taken >= 0 and event.operation == "takes":
            self._taken += 1
        super().steps(event, times)


_does: Final = partial(Call, by_end=True)

LOGS: Final = Logs(
    machines=(ObservedSummaries, ObservedBatches),
    operations={
        "takes": _does("the stage takes a value, above 0", needs=("value",)),
        "waits": _does("a value comes, and is not taken"),
        "gives": _does("an output goes; value: the sum of its values", needs=("value",)),
        "nothing": _does("a credit comes, and no output goes"),
    },
    settings={"batch": "values of a batch; without it, or 0, the stage rolls up"},
    rules=(chapter.WHOLE, chapter.NOBODY_WAITS, chapter.WAITS_WHERE_FULL, chapter.BOUNDED,
           chapter.NOT_KEPT, chapter.OF_SOMETHING),
    judge=SummariesJudge,
    capacity="batch",
    asks={**dict.fromkeys([("takes", "ok"), ("waits", "ok")], Asks(("offer",), value="value")),
          **dict.fromkeys([("gives", "ok"), ("nothing", "ok")], Asks(("take",)))},
)
