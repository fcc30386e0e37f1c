"""A limit on a rate in a log: what it admits, and, where the log has its ticks, what it refuses.

Clocks do not show where the limit's own ticks begin. So where the times of a log are counted in
ticks, the limit may have one tick more than is counted: only what exceeds that is certain. The
same holds of a tolerance between clocks. Refusals are judged only where the log has the ticks.

A call that begins may be admitted at any instant up to its end. So what it asks for may have been
given before a tick, if it fits then; and it is refused with reason if nothing fitted at some
instant. Which of the open calls was given something is not asked: it is given to them together. So
more may be allowed than was right, and never less.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ....spec.flow.observed_rate import (
    NOT_HELD_BACK, WITHIN_THE_RATE, ObservedRate, ObservedRefusals,
)
from ...logs.events import Event
from ...logs.kinds import Asks, Call, Logs, Terms
from ...logs.live import Live
from ...suites.meanings import Meanings
from ...logs.notes import Notes
from ...logs.points import PointJudge, Row, Watching
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
        self._asking: dict[int, tuple[int | None, int]] = {}    # open calls: for what, since when
        self._steps = 0
        self._given = 0     # what open calls may have been given already
        self._less = 0
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
        if event.phase == "begin":
            self._asking[event.call] = event.value, self._steps
            return
        since = self._asking.pop(event.call, (None, self._steps))[1]
        if event.operation == "refuses" and (self._asking or since < self._steps):
            return      # nothing may have fitted at another instant
        self._steps += 1
        if event.operation == "admits" and self._given:
            self._is_given(event)
        else:
            super().take(event)

    def _is_given(self, event: Event) -> None:
        """Give a call what it was not given before a tick, and all of it in the other machine."""
        early = [eye for eye in self.eyes if eye[0] is _ADMISSIONS]
        others = [eye for eye in self.eyes if eye[0] is not _ADMISSIONS]
        self._less = min(self._given, event.value or 0)
        self._given -= self._less
        self.eyes = early
        if self._less < (event.value or 0):
            super().steps(event, 1)
        self._less, early = 0, self.eyes
        self.eyes = others
        super().take(event)
        self.eyes += early

    def _gives_early(self) -> None:
        """Give to open calls what they may have been given by now."""
        live = next((live for watching, live in self.eyes if watching is _ADMISSIONS), None)
        if not isinstance(live, Live):
            return
        most = live.machine.b       # no call is given more, if it does not say for what it asks
        asked = sum(most if value is None else value for value, _ in self._asking.values())
        room = min(most - live.machine.burst, asked - self._given)
        if room > 0 and live.takes(_ROWS["admits"].action, permits=room) is None:
            self._given += room

    def _args(self, row: Row, event: Event) -> dict[str, int] | None:
        args = super()._args(row, event)
        if args is not None and self._less:
            args["permits"] -= self._less
        return args

    def steps(self, event: Event, times: int) -> None:
        """Take steps; ticks of the log itself may be several at once."""
        if event.operation == "tick" and event.value is not None and not self._tick:
            times = min(event.value, self._most)
        if event.operation != "tick" or not self._asking:
            super().steps(event, times)
            return
        self._steps += 1
        for _ in range(times):
            self._gives_early()
            super().steps(event, 1)


def _whole(terms: Terms, notes: Notes, names: Any, common: Any) -> Any:
    from .whole import WholeRates

    return WholeRates(terms, notes, names, eyes_of(terms),
                      lambda key: RateJudge(key, terms, notes, common),
                      most=ticks_of_a_window(terms))


LOGS: Final = Logs(
    machines=(ObservedRate, ObservedRefusals),
    operations={
        "admits": Call("value permits were given at once", needs=("value",), by_end=True),
        "refuses": Call("a caller that asked for value permits got none", needs=("value",),
                        by_end=True),
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
