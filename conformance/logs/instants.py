"""The events of a key as instants at which something may begin to have its effect, and has had it.

A call is between its begin and its end. Where clocks may differ by a tolerance, the instant of a
point is not certain either: it is a call that begins at its time, and ends by the tolerance later,
as each call ends later by that. So two are in a certain order exactly if one has ended before the
other begins: if their times differ by more than the tolerance.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass

from .events import Event

__all__ = ["Instant", "Instants", "Span", "as_read"]


@dataclass(eq=False)
class Span:
    """Something that happened between two instants: its ``end`` says what; None until it is read.
    ``at`` are the places of both in the log; None for a beginning that it has not."""

    begin: Event | None
    end: Event | None
    at: tuple[int | None, int]

    @property
    def events(self) -> list[tuple[int, Event]]:
        """Its events by their places."""
        begin_at, end_at = self.at
        found = [] if self.begin is None or begin_at is None else [(begin_at, self.begin)]
        return found if self.end is None else [*found, (end_at, self.end)]

    def said(self, is_end: bool) -> Event:
        """One of its events; those of a point are the begin and the end of a call, with a number of
        its own below -1."""
        event = self.end if is_end else self.begin
        if self.begin is None:
            assert self.end is not None
            event = self.end._replace(phase="end" if is_end else "begin", call=-1 - self.at[1])
        assert event is not None
        return event

    def is_before(self, other: Span) -> bool:
        """True if it had ended, by the clock that both have, when the other began."""
        if self.end is None:
            return False
        begin = other.begin or other.end
        assert begin is not None
        return _time_of(self.end) < _time_of(begin)


def as_read(event: Event) -> Event | None:
    """An event as it was read: the point of which it is the end, None for its begin."""
    if event.call >= -1:
        return event
    return None if event.phase == "begin" else event._replace(phase="point", call=-1)


Instant = tuple[bool, Span]
"""The begin of a span, or (true) its end."""

_Key = tuple[int, bool, int, int, Span]


class Instants:
    """The instants of a key's events, in their order; clocks differ by a ``tolerance``."""

    def __init__(self, tolerance: int) -> None:
        self._tolerance, self._half = tolerance, tolerance // 2
        self._open: dict[int, Span] = {}
        self._waiting: list[_Key] = []
        self._read = 0
        self._until = self._gone = -1 << 62
        self.are_sorted = True
        """False once an event came too late to be put in order."""

    def of(self, event: Event) -> Iterator[Instant]:
        """The instants that are known to be next once an event was read."""
        self._read += 1
        if event.phase == "begin":
            span = self._open[event.call] = Span(event, None, (self._read, 0))
            yield from self._put(event, ((False, span),))
            return
        found = self._open.pop(event.call, None) if event.phase == "end" else None
        if found is None:
            span = Span(None, event, (None, self._read))
            yield from self._put(event, ((False, span), (True, span)))
        else:
            found.end, found.at = event, (found.at[0], self._read)
            yield from self._put(event, ((True, found),))

    def rest(self) -> Iterator[Instant]:
        """The instants that are left, once the log is over."""
        while self._waiting:
            yield self._first()

    def _put(self, event: Event, instants: tuple[Instant, ...]) -> Iterator[Instant]:
        if not self._tolerance:
            yield from instants
            return
        time = event.time or 0
        for is_end, span in instants:
            key = time + self._tolerance if is_end else time
            self.are_sorted &= key >= self._gone
            heapq.heappush(self._waiting, (key, is_end, time, self._read, span))
        # Events are read in the order of times that are moved by half of it (``order``).
        moves = {"begin": -self._half, "end": self._half}
        self._until = max(self._until, time + moves.get(event.phase, 0))
        while self._waiting and self._waiting[0][:2] < (self._until, True):
            yield self._first()

    def _first(self) -> Instant:
        self._gone, is_end, *_, span = heapq.heappop(self._waiting)
        return is_end, span


def _time_of(event: Event) -> tuple[int, int, int]:
    """When an event was, by its own clock."""
    return event.time or 0, -1 if event.place is None else event.place, event.line
