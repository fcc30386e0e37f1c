"""A limit on a rate in a log: what it admits, and, where the log has its ticks, what it refuses.

Clocks do not show where the limit's own ticks begin. So where the times of a log are counted in
ticks, the limit may have one tick more than is counted: only what exceeds that is certain. The
same holds of a tolerance between clocks. Refusals are judged only where the log has the ticks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ....spec.flow.observed_rate import (
    NOT_HELD_BACK, WITHIN_THE_RATE, ObservedRate, ObservedRefusals,
)
from ...logs.events import Event
from ...logs.kinds import Call, Logs, Terms
from ...suites.meanings import Meanings
from ...logs.notes import Notes
from ...logs.points import PointJudge, Watching
from .suite import RateConversation

__all__ = ["LOGS", "RateJudge"]

_SAYS: Final = Meanings(RateConversation.says)
_ROWS: Final = {"admits": _SAYS.row(_SAYS.answer("take", True), "value"),
                "refuses": _SAYS.row(_SAYS.answer("take", False), "value"),
                "tick": _SAYS.row(_SAYS.answer("tick", True))}


def _constants(terms: Terms) -> Mapping[str, int]:
    """The constants; a tick more, where ticks are counted by clocks."""
    rate, depth = terms.settings["rate"], terms.settings["depth"]
    tick = terms.settings.get("tick_ns", 0)
    more = rate * (1 - -terms.tolerance // tick) if tick else 0
    return {"r": rate, "b": depth + more, "K": 1}


_ADMISSIONS: Final = Watching(ObservedRate, _constants, _ROWS)
_REFUSALS: Final = Watching(ObservedRefusals, _constants, _ROWS)


class RateJudge(PointJudge):
    """Judges one limit; see ``KeyJudge``."""

    def __init__(self, key: str, terms: Terms, notes: Notes, common: Any) -> None:
        self._tick = terms.settings.get("tick_ns", 0)
        super().__init__(key, terms, notes,
                         (_ADMISSIONS,) if self._tick else (_ADMISSIONS, _REFUSALS))
        constants = _constants(terms)
        self._most = constants["b"] // max(1, constants["r"]) + 1   # then nothing is in the window
        self._ticks: int | None = None
        if self._tick:
            notes.not_shown[NOT_HELD_BACK.id] = "the log does not have the limit's own ticks"

    def take(self, event: Event) -> None:
        """Take the next event; the ticks that its time shows come first."""
        if self._tick and event.time is not None:
            now = event.time // self._tick
            if self._ticks is not None and now > self._ticks:
                self.steps(event._replace(operation="tick"), min(now - self._ticks, self._most))
            self._ticks = now if self._ticks is None else max(now, self._ticks)
        super().take(event)

    def steps(self, event: Event, times: int) -> None:
        """Take steps; ticks of the log itself may be several at once."""
        if event.operation == "tick" and event.value is not None and not self._tick:
            times = min(event.value, self._most)
        super().steps(event, times)


LOGS: Final = Logs(
    machines=(ObservedRate, ObservedRefusals),
    operations={
        "admits": Call("value permits were given at once", ("end", "point"), ("value",)),
        "refuses": Call("a caller that asked for value permits got none", ("end", "point"),
                        ("value",)),
        "tick": Call("a tick of the limit passed; value: so many", ("point",)),
    },
    settings={"rate": "permits that a tick brings", "depth": "permits that are kept",
              "tick_ns": "nanoseconds of a tick, if the log has times and no ticks"},
    required=("rate", "depth"),
    rules=(WITHIN_THE_RATE, NOT_HELD_BACK),
    judge=RateJudge,
)
