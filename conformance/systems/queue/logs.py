"""A queue in a log: each item by itself, and the order, capacity and emptiness of all of them.

Loss, duplicates and what was made up are judged item by item, by ``ConservingQueue``: that needs no
order at all, and a queue that breaks its order is still judged by it. Order and capacity are judged
by ``BoundedQueue`` (``following``). A call that has begun waits, whatever it does; its end is its
wake-up. So nothing here says again what a queue may do.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable
from functools import cache
from typing import Any, Final

from ....spec.engines.candidates import Candidates, CandidateSets
from ....spec.engines.monitor import Failure, LostTrack, why_refused
from ....spec.notation.interpreter import Step
from ....spec.notation.labels import counted
from ....spec.queues.conserved import NOT_INVENTED, ConservingQueue
from ....spec.queues.queue import (
    CANCEL_LEAVES_NO_TRACE, FULL_REFUSES, NOT_LOST, NOT_TWICE, ORDER, ROOM_ACCEPTS, BoundedQueue,
    OrderlyQueue,
)
from ...logs.events import Event
from ...logs.kinds import Asks, Call, Logs, Terms
from ...logs.live import bound
from ...logs.memory import Ended
from ...logs.notes import AROUND, Finding, Notes
from .calls import DONE, PUT, TAKE, TAKEN, UNLIMITED, Item, LogCall, Refused, refusal
from .following import Follower

__all__ = ["LOGS", "QueueJudge"]

_ITEM: Final[Step] = (TAKEN, (("item", 0),))
_WOKEN: Final[Step] = (PUT.woken, (("item", 0),))
_CANCELLED: Final[Step] = (PUT.cancelled, (("item", 0),))
_WAITS: Final[Step] = (PUT.waits, ())
_REFUSED: Final[Step] = (PUT.in_vain, ())

_NO_ORDER: Final = "neither order nor capacity is judged, for order=0 is set"

_LOOKED_AT: Final = 64
"""Items that were in before another one of which the order is looked at by pairs."""

_ORDERED: Final = (FULL_REFUSES, ROOM_ACCEPTS, ORDER, NOT_LOST)
_OF_ITEMS: Final = (NOT_INVENTED, NOT_TWICE, CANCEL_LEAVES_NO_TRACE)


@cache
def _sets() -> CandidateSets:
    """Those of one item, which has a handful of states: found once."""
    return CandidateSets(bound(ConservingQueue, K=1, T=1))


class _Common:
    """Shared by the judges of all queues: the machine of one item, and the items that ended."""

    def __init__(self, terms: Terms) -> None:
        self.sets = _sets()
        self.ended = Ended(terms.remember)


class QueueJudge:
    """Judges one queue; see ``KeyJudge``."""

    def __init__(self, key: str, terms: Terms, notes: Notes, common: _Common) -> None:
        self._key, self._terms, self._notes, self._common = key, terms, notes, common
        self._sets = common.sets
        self._now = 0
        self._open: dict[int, LogCall] = {}
        self._takes: dict[LogCall, LogCall] = {}    # those that are open, or have an unknown end
        self._items: dict[Hashable, Item] = {}
        self._present: dict[Hashable, Item] = {}    # surely in, in the order of their puts' ends
        self._recent: deque[Event] = deque(maxlen=AROUND)
        self._found: set[str] = set()
        self._loses = False
        self._capacity = terms.settings.get("capacity")
        self._follower = Follower(self._capacity, notes, self._retires, self._no_order_explains,
                                  self._unsure_of_order, terms.states)
        if not terms.settings.get("order", 1):
            self._follower.stops()
            notes.not_shown.update(dict.fromkeys(
                (FULL_REFUSES.id, ROOM_ACCEPTS.id, ORDER.id), _NO_ORDER))
        elif self._capacity is None:
            notes.not_shown.update(dict.fromkeys(
                (FULL_REFUSES.id, ROOM_ACCEPTS.id), "no capacity was given: --set capacity=NUMBER"))

    def has_seen(self, events: Iterable[Event]) -> None:
        """Events that were the last ones, judged elsewhere: they are only shown."""
        self._recent.clear()
        self._recent.extend(events)

    def take(self, event: Event) -> None:
        """Take the next event of the queue."""
        if event.operation == "drained":
            event = event._replace(operation="take", result="empty")
        if event.phase == "point":
            call = self._begins(event)
            if call is not None:
                self._ends(call, event)
        elif event.phase == "begin":
            call = self._begins(event)
            if call is not None:
                self._open[event.call] = call
        else:
            found = self._open.pop(event.call, None)
            if found is not None:
                self._ends(found, event)
            elif event.call < 0 and self._terms.from_start:
                self._notes.is_foreign(
                    self._key, f"a {event.operation} ends that has not begun", event)
        self._recent.append(event)

    def end(self) -> None:
        """The log is over."""
        if self._terms.drained and self._recent:
            self.take(self._recent[-1]._replace(
                operation="drained", phase="point", process="the end of the log", item=None))
        if not self._follower.closed:
            self._follower.finishes()

    @property
    def is_over(self) -> bool:
        """False: items are judged whatever else was found."""
        return False

    # --- calls -----------------------------------------------------------------------------

    def _begins(self, event: Event) -> LogCall | None:
        """A call begins; None for one that cannot be judged."""
        self._now += 1
        call = LogCall(event, self._now)
        if not call.puts:
            self._takes[call] = call
        elif not self._is_named(event, call):
            return None
        if not self._follower.closed:
            self._follower.begins(call)
        return call

    def _is_named(self, event: Event, call: LogCall) -> bool:
        name = event.item
        if name is None:
            self._notes.is_foreign(self._key, "a put has no item", event)
            return False
        if name in self._items or self._common.ended.has(self._key, name):
            self._stops(f"the item {name!r} is put twice, so it is no identity: map \"item\" to "
                        "one that is never used again", event)
            return False
        item = call.item = Item(name, call, self._sets.after(self._sets.initial, _WAITS))
        self._items[name] = item
        return True

    def _ends(self, call: LogCall, event: Event) -> None:
        """A call ends: its item is judged, and then the order in which items come out."""
        self._now += 1
        call.ends(event, self._now)
        if call.puts:
            self._put_ends(call)
        elif event.result != "unknown":
            del self._takes[call]
            if event.result == "ok":
                self._take_ends(call, event)
            elif event.result == "empty":
                self._is_empty(call)
        if not self._follower.closed:
            self._follower.ends(call)
        elif call.puts and call.item is not None and call.item.take is not None:
            self._retires(call.item)

    def _put_ends(self, call: LogCall) -> None:
        """Judge the item of a put that has ended: it is in, was refused, or was cancelled."""
        item, result = call.item, call.result
        if item is None or result == "unknown":
            return
        if result == "ok":
            self._judges(item, _WOKEN, call)
            if item.take is None:
                self._present[item.name] = item
            return
        if result == "full" and item.take is None:
            item.fate = self._sets.after(self._sets.initial, _REFUSED)
            self._count(PUT.in_vain)
        else:
            self._judges(item, _CANCELLED, call)
        if self._follower.closed:
            self._retires(item)

    def _take_ends(self, call: LogCall, event: Event) -> None:
        """A take ends with an item: it is judged by the item's own machine, and by the order."""
        name = event.item
        if name is None:
            self._notes.is_foreign(self._key, "a take has got something, and the log does not say "
                                              "what", event)
            return
        item = self._items.get(name)
        if item is None:
            self._takes_unknown(call, name)
            return
        first = item.take is None
        self._judges(item, _ITEM, call)
        if not first:
            return
        item.take = call
        self._present.pop(name, None)
        if item.put.result in ("", "ok", "unknown"):
            call.item = item
        if self._terms.settings.get("order", 1):
            self._is_in_order(item, call)
        if self._follower.closed and item.put.ended:
            self._retires(item)

    def _is_in_order(self, item: Item, call: LogCall) -> None:
        """Look for two items that are certainly in another order out than in, whatever else there
        was; what is found is proved on the machine."""
        first = item.overtaken_by
        if first is not None and first.ended < call.begun and first.item is not None:
            self._compares([*first.item.calls(), *item.calls()], call.ended)
        for _, other in zip(range(_LOOKED_AT), self._present.values(), strict=False):
            if other.put.ended > item.put.begun:
                break
            other.overtaken_by = other.overtaken_by or call

    def _compares(self, calls: list[LogCall], upto: int) -> None:
        try:
            found = refusal(BoundedQueue, UNLIMITED, calls, upto, self._terms.states)
        except LostTrack:
            self._unsure_of_order("two items seem to be in another order out than in, and that has "
                                  f"more than {counted(self._terms.states, 'state')} "
                                  "(--max-states)")
            return
        if found is not None:
            self._follower.stops()
            self._no_order_explains(found, calls)

    def _takes_unknown(self, call: LogCall, name: Hashable) -> None:
        """A take of an item that is none of those that are known now."""
        if self._common.ended.has(self._key, name):
            item = Item(name, call, self._sets.after(
                self._after(self._sets.initial, (DONE, ())), _ITEM))
            self._judges(item, _ITEM, call)
        elif not self._terms.from_start:
            return
        elif self._common.ended.has_forgotten:
            self._notes.unsure(
                [NOT_INVENTED.id, NOT_TWICE.id], self._key,
                f"{name!r} comes out, which was never put, or is one of those that came out so "
                "long ago that they are forgotten (--remember)", call.end)
        else:
            self._judges(Item(name, call, self._sets.initial), _ITEM, call)

    def _is_empty(self, call: LogCall) -> None:
        """A take found nothing: of the items that were surely in before it began, each may be with
        a take that has not ended."""
        self._count(TAKE.in_vain)
        if self._loses:
            return
        may_hold = sum(take.begun < call.ended for take in self._takes.values())
        left: list[Item] = []
        for item in self._present.values():
            if item.put.ended > call.begun or len(left) > may_hold:
                break
            left.append(item)
        if len(left) <= may_hold or may_hold > 8:
            return
        calls = [*(item.put for item in left), call, *self._takes.values()]
        try:
            found = refusal(ConservingQueue, UNLIMITED, calls, call.ended, self._terms.states)
        except LostTrack:
            return
        if found is not None:
            self._loses = True
            self._no_order_explains(found, calls)

    # --- machines --------------------------------------------------------------------------

    def _after(self, here: Candidates, step: Step) -> Candidates:
        after = self._sets.after(here, step)
        assert after is not None, "a put is always taken"
        return after

    def _count(self, action: str) -> None:
        self._notes.steps[ConservingQueue, action] += 1

    def _judges(self, item: Item, step: Step, call: LogCall) -> None:
        """Give a step to the machine of one item."""
        self._count(step[0])
        if item.fate is None:
            return
        after = self._sets.after(item.fate, step)
        if after is not None:
            item.fate = after
            return
        failure = why_refused(self._sets.bound.interpreter, item.fate.states, [step], 0)
        history = [] if item.put is call else item.calls()
        words = ("the take gets another item, or has not ended" if not call.puts
                 else "the put has not failed")
        assert call.end is not None
        self._violates(failure, call.end, (words,), [*history, call])
        item.fate = None

    def _no_order_explains(self, found: Refused, calls: Iterable[LogCall]) -> None:
        self._violates(found.failure, found.event, found.allowed, calls)

    def _violates(self, failure: Failure, event: Event, allowed: tuple[str, ...],
                  calls: Iterable[LogCall]) -> None:
        if not self._notes.is_found(failure, self._key, event, self._found):
            return
        assert failure.rule is not None
        places = {at: each for call in calls for at, each in zip(
            (call.begun, call.ended), call.events(), strict=False)}
        self._notes.violated(Finding(
            failure.rule.id, self._key, event, failure, "; or ".join(dict.fromkeys(allowed)),
            tuple(places[at] for at in sorted(places)), tuple(self._recent)))

    def _retires(self, item: Item) -> None:
        """An item has ended: its name is remembered, and no more."""
        if self._items.pop(item.name, None) is not None:
            self._common.ended.add(self._key, item.name)
            self._present.pop(item.name, None)

    def _unsure_of_order(self, why: str) -> None:
        self._notes.unsure([rule.id for rule in _ORDERED], self._key, why,
                           self._recent[-1] if self._recent else None)

    def _stops(self, why: str, event: Event) -> None:
        """Nothing more can be judged of this queue."""
        self._follower.stops()
        if "identity" not in self._found:
            self._found.add("identity")
            self._notes.unsure([rule.id for rule in (*_OF_ITEMS, *_ORDERED)], self._key, why, event)


def _judge(key: str, terms: Terms, notes: Notes, common: Any) -> QueueJudge:
    return QueueJudge(key, terms, notes, common)


def _whole(terms: Terms, notes: Notes, names: Any, common: _Common) -> Any:
    from .whole import WholeQueues

    return None if terms.drained else WholeQueues(
        terms, notes, names, lambda key: QueueJudge(key, terms, notes, common), common.ended)


_PUT_IN: Final = Asks(("put", "offer"), item="item", new=("item",))
_TAKE_OUT: Final = Asks(("take", "poll"))

LOGS: Final = Logs(
    machines=(ConservingQueue, BoundedQueue, OrderlyQueue),
    operations={
        "put": Call("an item is put in; it may wait for a free slot. \"full\": it was refused"),
        "take": Call("an item is taken out; it may wait for one. \"empty\": there was none"),
        "drained": Call("the queue was found empty, or its end was reached", ("point",)),
    },
    settings={"capacity": "items that it holds at most; without it, capacity is not judged",
              "order": "0: items may come out in any order; only what becomes of each is judged"},
    rules=(*_OF_ITEMS, *_ORDERED),
    judge=_judge,
    common=lambda terms, notes: _Common(terms),
    whole=_whole,
    by_item=lambda terms: not terms.settings.get("order", 1) and not terms.drained,
    asks={
        ("put", "ok"): _PUT_IN, ("put", "failed"): _PUT_IN, ("put", "unknown"): _PUT_IN,
        ("put", "full"): Asks(("offer",), item="item", new=("item",), at_end=True),
        ("take", "ok"): _TAKE_OUT, ("take", "failed"): _TAKE_OUT, ("take", "unknown"): _TAKE_OUT,
        ("take", "empty"): Asks(("poll",), at_end=True), ("drained", "ok"): Asks(("poll",))},
)
