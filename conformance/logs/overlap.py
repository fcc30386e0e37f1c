"""Calls that overlap, at a place that takes one thing after the other.

Each call had its effect at some instant between its begin and its end. One order is followed: a
call takes effect when it ends, or before, where another end needs that. So what the judge takes is
explained. What no instant that is tried explains is *violated* only if that does not hang on the
order: if the events about one item, or two, break a rule in every order in which they may have
been, whatever happened to all other items. Else it is *unknown*.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Final, Protocol

from ...spec.engines.monitor import Failure
from .events import Event

if TYPE_CHECKING:
    from .notes import Finding

__all__ = ["Overlap", "Overlapped"]

_AHEAD: Final = 4_096
"""Events that are read ahead for the ends of the calls that are open, at most."""

_SPANS: Final = 40
_ORDERS: Final = 500
"""Calls about a few items, and orders of them, that are tried."""

_NEVER: Final = 1 << 62

_COMING: Final = 1 << 16
"""Items of which it is remembered when they came in, the last ones."""

_ITEMS: Final = 4_096
"""Items with the events about them that are remembered, the last ones; and other events."""

_NO_ORDER: Final = ("calls overlap, and no order of them was found that explains this: one that "
                    "was not tried may")


class Overlapped(Protocol):
    """A judge, as it is asked about calls that overlap."""

    comes: ClassVar[str]
    early: ClassVar[frozenset[str]]
    everywhere: ClassVar[frozenset[str]]

    def trial(self, event: Event) -> Failure | str | None:
        """Take an event; or say why not, and be as before."""
        ...

    def goes_first(self, item: Hashable, before: Callable[[Hashable, Hashable], bool]) -> bool:
        """Take an item for older than all that are in its way; false if it cannot be. ``before``
        says of two whether the one may have come in before the other."""
        ...

    def rivals(self, event: Event, others: Sequence[Event]) -> Iterable[Sequence[Hashable]]:
        """The items that may show, together and without any other, that an event breaks a rule;
        ``others`` are the events so far that matter to all items."""
        ...

    def alone(self, events: Sequence[Event]) -> Finding | None:
        """Return what is broken by some events about a few items, if no other events matter to
        that."""
        ...

    def violates(self, finding: Finding) -> None:
        """Note a violation; nothing more is judged."""
        ...

    def unsure(self, why: str, event: Event | None) -> None:
        """From here on the key is unknown."""
        ...


@dataclass
class _Call:
    begin: Event
    at: int
    end: Event | None = None
    not_before: int = 0
    is_done: bool = False


Span = tuple[int, int, Event, Event]
"""The begin and the end of a call, by their places in the log."""


class Overlap:
    """Gives a judge each call of a key at an instant between its begin and its end."""

    def __init__(self, judge: Overlapped, before: Sequence[Event] = ()) -> None:
        """``before`` has the events so far, of which none overlapped, if they are known."""
        self._judge = judge
        self._open: dict[int, _Call] = {}
        self._held: deque[tuple[int, Event]] = deque()
        self._waits: set[int] = set()
        self._now = 0
        self._about: OrderedDict[Hashable, list[Span]] = OrderedDict()
        self._others: list[Span] | None = []
        self._put: OrderedDict[Hashable, tuple[int, int]] = OrderedDict()
        begun: dict[int, _Call] = {}
        for at, event in enumerate(before, -len(before)):
            if event.phase == "begin":
                begun[event.call] = _Call(event, at)
            else:
                self._remembers(at, begun.get(event.call) if event.phase == "end" else None, event)

    def take(self, event: Event) -> None:
        """Take the next event of the key."""
        self._now += 1
        self._held.append((self._now, event))
        if self._waits:
            self._waits.discard(event.call)
            if self._waits and len(self._held) < _AHEAD:
                return
        self._goes_on(False)

    def end(self) -> None:
        """The log is over: no more ends come."""
        self._goes_on(True)

    def _goes_on(self, final: bool) -> None:
        while self._held:
            at, event = self._held[0]
            goes = self._begins if event.phase == "begin" else self._places
            if not goes(at, event, final):
                return
            if not self._held:      # it is unknown, or violated
                return
            self._held.popleft()
            self._waits.clear()

    def _begins(self, at: int, event: Event, final: bool) -> bool:
        """Open a call; false if its end has to be read first."""
        call = _Call(event, at)
        if event.operation in self._judge.early:
            self._reads_end(call)
            if call.end is None and not final and len(self._held) < _AHEAD:
                self._waits = {event.call}
                return False
        self._open[event.call] = call
        if event.operation == self._judge.comes and event.item is not None:
            self._put[event.item] = at, _NEVER
        self._takes_early()
        return True

    def _reads_end(self, call: _Call) -> None:
        """Look ahead for the end of a call; what else happens to its item until then is before."""
        held = list(self._held)
        where = next((place for place, (_, each) in enumerate(held)
                      if each.phase == "end" and each.call == call.begin.call), None)
        if where is not None:
            call.end = held[where][1]
            item = call.end.item
            call.not_before = max((at for at, each in held[:where] if item is not None
                                   and each.phase != "begin" and each.item == item), default=0)

    def _places(self, at: int, event: Event, final: bool) -> bool:
        """Give an end, or a point, to the judge; false if more has to be read for that."""
        call = self._open.get(event.call) if event.phase == "end" else None
        if (call is None or not call.is_done) and not self._takes(event):
            ends = self._ends_of_open(event)
            missing = {number for number, each in self._open.items()
                       if number != event.call and not each.is_done and number not in ends}
            if missing and not final and len(self._held) < _AHEAD:
                self._waits = missing
                return False
            if not self._tries_open(event, ends):
                self._gives_up(at, event, bool(missing))
                return True
        if event.phase == "end":
            self._open.pop(event.call, None)
        self._remembers(at, call, event)
        self._takes_early()
        return True

    def _takes(self, event: Event) -> bool:
        """True if the judge takes an event, perhaps after its item came in before others."""
        return self._judge.trial(event) is None or (
            event.item is not None and self._judge.goes_first(event.item, self._may_be_before)
            and self._judge.trial(event) is None)

    def _may_be_before(self, one: Hashable, other: Hashable) -> bool:
        """True if the one item may have come in before the other."""
        first, second = self._put.get(one), self._put.get(other)
        return first is not None and second is not None and first[0] < second[1]

    def _ends_of_open(self, but: Event) -> dict[int, Event]:
        """The ends of the calls that are open, as far as they were read."""
        return {event.call: event for _, event in self._held
                if event.phase == "end" and event.call in self._open and event.call != but.call
                and not self._open[event.call].is_done}

    def _tries_open(self, event: Event, ends: dict[int, Event]) -> bool:
        """Let open calls take effect now, those about the same item first, until the event is
        explained."""
        left = sorted(ends.values(), key=lambda each: (
            each.item != event.item, each.operation != event.operation, self._open[each.call].at))
        moved = True
        while moved:
            moved = False
            for each in left:
                if not self._open[each.call].is_done and self._takes(each):
                    self._open[each.call].is_done = moved = True
                    if self._takes(event):
                        return True
        return False

    def _takes_early(self) -> None:
        """Let calls take effect as soon as they can, of those for which that is best."""
        at = self._held[0][0]
        for call in self._open.values():
            if call.end is not None and not call.is_done and at >= call.not_before:
                call.is_done = self._takes(call.end)

    # --- what is certain ----------------------------------------------------------------------

    def _remembers(self, at: int, call: _Call | None, event: Event) -> None:
        begin, begun = (event, at) if call is None else (call.begin, call.at)
        span = begun, at, begin, event
        if event.operation in self._judge.everywhere and self._others is not None:
            self._others.append(span)
            if len(self._others) > _ITEMS:
                self._others = None
        elif event.item is not None:
            if event.operation == self._judge.comes:
                self._put[event.item] = begun, at
                if len(self._put) > _COMING:
                    self._put.popitem(last=False)
            self._about.setdefault(event.item, []).append(span)
            self._about.move_to_end(event.item)
            if len(self._about) > _ITEMS:
                self._about.popitem(last=False)

    def _gives_up(self, at: int, event: Event, unread: bool) -> None:
        """Nothing that was tried explains an event."""
        self._held.clear()
        call = self._open.pop(event.call, None)
        begun, begin = (at, event) if call is None else (call.at, call.begin)
        found = None
        if not unread and self._others is not None:
            for items in self._judge.rivals(event, [each[3] for each in self._others]):
                found = found or self._certain(items, (begun, at, begin, event))
        if found is not None:
            self._judge.violates(found)
        else:
            self._judge.unsure(_NO_ORDER, event)

    def _certain(self, items: Sequence[Hashable], last: Span) -> Finding | None:
        """Return what an event breaks in every order in which it and those about some items may
        have been."""
        for call in self._open.values():
            about = call.begin.item if call.end is None else call.end.item
            if about in items or about is None and call.end is None:
                return None
        spans = [each for item in items for each in self._about.get(item, ())]
        spans = sorted([*spans, *(self._others or ()), last], key=lambda each: each[1])
        if len(spans) > _SPANS:
            return None
        told: Finding | None = None
        for number, order in enumerate(_orders(spans)):
            found = self._judge.alone([span[3] for span in order])
            if found is None or number == _ORDERS:
                return None
            if told is None or found.event is last[3] is not told.event:
                told = found    # the first that breaks no rule before
        assert told is not None
        events = {(place, event is span[2]): event for span in spans
                  for place, event in ((span[0], span[2]), (span[1], span[3]))}
        return replace(told, event=last[3], history=(), whole=tuple(
            events[each] for each in sorted(events, key=lambda each: (each[0], not each[1]))))


def _orders(spans: Sequence[Span]) -> Iterator[tuple[Span, ...]]:
    """All orders of some calls; what ended before another began is before it. That of their ends is
    the first."""
    if not spans:
        yield ()
    soonest = min((span[1] for span in spans), default=0)
    for place, span in enumerate(spans):
        if span[0] <= soonest:
            for rest in _orders([*spans[:place], *spans[place + 1:]]):
                yield (span, *rest)
