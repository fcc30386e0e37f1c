"""The order of events: what is certain, and nothing that only clocks suggest.

Where lines are in the order in which they happened (one recorder, one server), they are taken so.
Where only clocks order them, and two clocks may differ by up to a tolerance, one event is certainly
before another exactly if it is by more than that. So what begins is moved forward by half the
tolerance, and what ends back by half of it: then two calls overlap unless their order is
certain. A point that sends moves like a beginning, one that receives like an end. The price: calls
of *one* process that follow each other within the tolerance count as concurrent, too.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import count
from typing import Final

from ...spec.notation.errors import InputError
from .events import Event, in_line
from .readers import Log

__all__ = ["WINDOW", "in_order", "moved", "shifts_of"]

WINDOW: Final = 100_000
"""Events of a file that are held to be put in order; one that comes later than so many others is
refused."""


def in_order(logs: Sequence[Log], sends: Collection[str], receives: Collection[str]
             ) -> Iterator[Event]:
    """The events of all files in one order; ``sends`` and ``receives`` are operations that are
    points. Raises ``InputError`` where there is no common order."""
    orders = {log.mapped.order for log in logs}
    calls = count()
    if orders == {"file"}:
        if len(logs) > 1:
            raise InputError(
                f"{len(logs)} files have no common order", str(logs[1].path),
                "Judge them one by one, or write \"order: time\" and a tolerance of the clocks "
                "in the mapping.")
        yield from logs[0].events(calls)
        return
    if len(orders) > 1:
        raise InputError("some files are ordered by time and others by their lines",
                         str(logs[-1].path), "Judge them one by one.")
    shifts = shifts_of(max(log.mapped.tolerance for log in logs), sends, receives)
    merged = heapq.merge(*(_sorted(log, log.events(calls), shifts, at)
                           for at, log in enumerate(logs)))
    for *_, event in merged:
        yield event


def shifts_of(tolerance: int, sends: Collection[str], receives: Collection[str]
              ) -> dict[str, int]:
    """By phase, or by operation of a point, how many nanoseconds an event is moved."""
    half = tolerance // 2
    return {"begin": -half, "end": half, **dict.fromkeys(sends, -half),
            **dict.fromkeys(receives, half)}


def moved(event: Event, shifts: Mapping[str, int]) -> int:
    """The time by which an event is put in order."""
    shift = shifts.get(event.operation if event.phase == "point" else event.phase, 0)
    return (event.time or 0) + shift


_Key = tuple[int, bool, int, int, Event]


def _sorted(log: Log, events: Iterator[Event], shifts: dict[str, int], at: int) -> Iterator[_Key]:
    """The events of a file by time. Of equal times beginnings come first: then they overlap."""
    waiting: list[_Key] = []
    last = -1 << 62
    for number, event in enumerate(events):
        time = moved(event, shifts)
        if time < last:
            raise in_line(
                f"this event is earlier than one that stands {WINDOW:,} events before",
                str(log.path), event.line, "Sort the file by time first.")
        heapq.heappush(waiting, (time, event.phase == "end", at, number, event))
        if len(waiting) > WINDOW:
            first = heapq.heappop(waiting)
            last = first[0]
            yield first
    while waiting:
        yield heapq.heappop(waiting)
