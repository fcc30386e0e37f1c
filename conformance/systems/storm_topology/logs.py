"""A lane in a log: what one sender sends to one receiver over a channel that keeps order.

A partition of a log is a lane, a connection, a stream of one publisher. It may lose elements (their
loss is counted, or not), and never reorders them, makes them up or hands one over twice. The suite
has no table of messages (it runs whole topologies), so the rows are written here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ....spec.storm.topologies.observed_topology import NOT_INVENTED, ORDER, ObservedLane
from ...logs.events import Event
from ...logs.kinds import Call, Logs, Terms
from ...logs.notes import Notes
from ...logs.points import PointJudge, Row, Watching

__all__ = ["LOGS"]

_MOST: Final = 1 << 60

_WATCHING: Final = Watching(
    ObservedLane, lambda terms: {"K": _MOST},
    {"emits": Row("emits", {"number": "number"}, names=True),
     "processes": Row("processes", {"number": "number"}),
     "loses": Row("loses", {"number": "number"}),
     "rest": Row("comes_to_rest")})


_NAMING: Final = ("processes", "loses")
"""Operations that name an element which was sent."""


class LaneJudge(PointJudge):
    """Judges one lane. Elements get their numbers in the order in which they are sent; those that
    can come no more, for a later one was processed, are forgotten."""

    WINDOW: Final = 100_000

    def __init__(self, key: str, terms: Terms, notes: Notes, common: Any) -> None:
        super().__init__(key, terms, notes, (_WATCHING,))
        self._forgot = False

    def continues(self, numbers: Mapping[Any, int], named: int) -> None:
        """Continue where so many elements were ``named``, of which these are not forgotten."""
        self._numbers, self._named = dict(numbers), named
        self._forgot = len(numbers) < named

    @classmethod
    def forgotten(cls, named: Any) -> Any:
        """How many of the elements that were named are forgotten by then."""
        return (cls.WINDOW + 1) * ((named - cls.WINDOW).clip(0) // (cls.WINDOW + 1))

    def take(self, event: Event) -> None:
        """Take the next event of the lane."""
        if self.is_over:
            return
        if event.operation == "emits" and event.item in self._numbers:
            self._notes.unsure(
                (ORDER.id, NOT_INVENTED.id), self._key,
                f"{event.item!r} is sent twice, so it is no identity", event)
            self.eyes = []
        if self._forgot and event.operation in _NAMING and event.item not in self._numbers:
            self._notes.unsure(
                (ORDER.id, NOT_INVENTED.id), self._key,
                f"{event.item!r} was never sent, or so long ago that it is forgotten", event)
            self.eyes = []
        super().take(event)
        if len(self._numbers) > 2 * self.WINDOW:
            oldest = len(self._numbers) - self.WINDOW
            for name in list(self._numbers)[:oldest]:
                del self._numbers[name]
            self._forgot = True


def _whole(terms: Terms, notes: Notes, names: Any, common: Any) -> Any:
    from .whole import WholeLanes

    return WholeLanes(terms, notes, names, (_WATCHING,),
                      lambda key: LaneJudge(key, terms, notes, common),
                      forgotten=LaneJudge.forgotten)


LOGS: Final = Logs(
    machines=(ObservedLane,),
    operations={
        "emits": Call("an item is sent on the lane", ("point",), ("item",), sends=True),
        "processes": Call("an item is received, or processed", ("point",), ("item",),
                          receives=True),
        "loses": Call("the loss of an item is counted", ("point",), ("item",), receives=True),
        "rest": Call("all that was sent has been received, or its loss counted", ("point",),
                     receives=True),
    },
    settings={},
    rules=(ORDER, NOT_INVENTED),
    with_rest={"STORM-C3": "rest"},
    judge=LaneJudge,
    whole=_whole,
    no_asks="the suite runs whole topologies, and a log of a lane does not say which",
)
