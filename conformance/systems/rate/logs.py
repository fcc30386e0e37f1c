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
from ...logs.kinds import Asks, Call, Logs, Terms
from ...suites.meanings import Meanings
from ...logs.notes import Notes
from ...logs.points import PointJudge, Watching
from .suite import RateConversation

__all__ = ["LOGS", "RateJudge", "eyes_of", "ticks_of_a_window"]

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
# Before, it may have admitted nothing, and all that it may: the first is where most is admitted,
# the second where most is refused, and each machine judges one of the two.
_REFUSALS: Final = Watching(ObservedRefusals, _constants, _ROWS,
                            before=lambda terms: [{"burst": _constants(terms)["b"]}])


def eyes_of(terms: Terms) -> tuple[Watching, ...]:
    """The machines that judge on some terms."""
    return (_ADMISSIONS,) if terms.settings.get("tick_ns", 0) else (_ADMISSIONS, _REFUSALS)


def ticks_of_a_window(terms: Terms) -> int:
    """Ticks after which nothing is in the window."""
    constants = _constants(terms)
    return constants["b"] // max(1, constants["r"]) + 1


class RateJudge(PointJudge):
    """Judges one limit; see ``KeyJudge``."""

    def __init__(self, key: str, terms: Terms, notes: Notes, common: Any) -> None:
        self._tick = terms.settings.get("tick_ns", 0)
        super().__init__(key, terms, notes, eyes_of(terms))
        self._most = ticks_of_a_window(terms)
        self._ticks: int | None = None
        if self._tick:
            notes.not_shown[NOT_HELD_BACK.id] = "the log does not have the limit's own ticks"

    def continues(self, ticks: int | None) -> None:
        """Continue where so many ticks were counted."""
        self._ticks = ticks

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


def _whole(terms: Terms, notes: Notes, names: Any, common: Any) -> Any:
    from .whole import WholeRates

    return WholeRates(terms, notes, names, eyes_of(terms),
                      lambda key: RateJudge(key, terms, notes, common),
                      most=ticks_of_a_window(terms))


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
    whole=_whole,
    capacity="depth",
    asks={("admits", "ok"): Asks(("take",), value="permits"),
          ("refuses", "ok"): Asks(("take",), value="permits"),
          ("tick", "ok"): Asks(("tick",), value="ticks")},
    is_cut=lambda terms: not terms.settings.get("tick_ns", 0),    # else ticks are of two pieces
)
