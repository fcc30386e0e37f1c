"""A broker with acknowledgements in a log, in the order in which the broker took its events.

Messages get places in the order in which they are published. Those that are over, refused or
dropped leave them, and are remembered: two places stand for them, which the machine never changes.
What was in flight when the server restarted comes back by a hidden step; it is taken when an event
shows that it was, or cannot be explained without it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Final

from ....spec.engines.monitor import Failure
from ....spec.flow import observed_delivery as chapter
from ....spec.flow.delivery_places import MESSAGES
from ....spec.flow.observed_delivery import Law, ObservedDelivery, Where
from ....spec.notation.rules import Rule
from ...logs.events import Event
from ...logs.kinds import Asks, Call, Logs, Terms
from ...logs.memory import FORGOTTEN, Elsewhere, Ended
from ...logs.notes import Finding, Notes
from ...logs.places import PLACES_MAX, Room
from ...logs.steps import StepJudge, ids_of
from ...suites.meanings import Meanings
from ...suites.says import ANY
from .suite import DeliveryConversation

__all__ = ["LOGS"]

_SAYS: Final = Meanings(DeliveryConversation.says)
_RULES: Final[tuple[Rule, ...]] = (
    chapter.TAKES, chapter.REFUSES, chapter.KEPT, chapter.COMES_AGAIN, chapter.DURABLE,
    chapter.STAYS_OVER, chapter.ALONE, chapter.WITHIN_LIMIT, chapter.IN_TURN, chapter.IN_PLACE,
    chapter.IN_TIME, chapter.ONCE, chapter.TOO_LATE, chapter.DIES_JUSTLY, chapter.DIES,
    chapter.STAYS_DEAD, chapter.COUNTS, chapter.STAYS_OUT)

_CONSUMERS: Final = 64
_MOST: Final = 1 << 40
"""Deliveries, ticks and places of a queue: more than any log has."""

_GONE: Final = {Where.OVER: 0, Where.OUT: 1}
"""The places that stand for all that is over, and for all that never was in the queue."""

_RIVALS: Final = 3
"""Messages that are ready, the oldest, that may show what is broken."""

_OF_PLACE: Final = ("where", "holder", "left", "times", "survived")

_TOO_MANY: Final = f"more than {PLACES_MAX:,} messages are in the queue, or in flight"

_COMES_BACK: Final = next(
    name for name, action in ObservedDelivery.actions_declared.items() if action.internal)
_ACTIONS: Final = {
    ("publish", "ok"): _SAYS.answer("publish", True),
    ("publish", "full"): _SAYS.answer("publish", False),
    ("receive", "ok"): _SAYS.answer("receive", ANY),
    ("receive", "empty"): _SAYS.answer("receive", None),
    **{(do, result): _SAYS.answer(do, ANY) for do in ("ack", "requeue", "reject")
       for result in ("ok", "empty")},
    ("limit", "ok"): _SAYS.answer("limit", True),
    ("tries", "ok"): _SAYS.answer("tries", True),
    ("dead", "ok"): _SAYS.answer("dead", ANY),
    ("dead", "empty"): _SAYS.answer("dead", None),
    ("count", "ok"): _SAYS.answer("count", ANY),
    ("count", "empty"): _SAYS.answer("count", None),
    ("disconnect", "ok"): _SAYS.answer("disconnect", True),
    ("tick", "ok"): _SAYS.answer("advance", True),
    ("restart", "ok"): _SAYS.answer("restart", True),
}
_PARAMETERS: Final = {name: tuple(each for each, _ in action.over)
                      for name, action in ObservedDelivery.actions_declared.items()}
_ANOTHER: Final = {"receive": _SAYS.otherwise("receive", ANY),
                   "dead": _SAYS.otherwise("dead", ANY)}


class DeliveryJudge(StepJudge):
    """Judges one queue; see ``StepJudge``. A message has the number of its place, the oldest the
    lowest."""

    machine = ObservedDelivery
    reuse = MESSAGES
    rules = ids_of(_RULES)
    comes = "publish"
    early = frozenset({"receive", "dead"})
    everywhere = frozenset({"limit", "tries", "tick", "restart", "disconnect"})
    of_few_items = frozenset(ids_of((
        chapter.STAYS_OVER, chapter.ALONE, chapter.IN_TIME, chapter.ONCE, chapter.TOO_LATE,
        chapter.DIES_JUSTLY, chapter.DIES, chapter.STAYS_DEAD, chapter.COUNTS, chapter.IN_TURN,
        chapter.IN_PLACE, chapter.KEPT, chapter.COMES_AGAIN, chapter.DURABLE)))

    def __init__(self, key: str, terms: Terms, notes: Notes, common: Any) -> None:
        super().__init__(key, terms, notes, common)
        self._may_be_loose = False      # a restart was seen
        self._law = _law(terms)
        self._numbers: dict[Hashable, int] = {}
        self._next = len(_GONE)
        self._room = Room(self.live, self.reuse)
        self._ended = {at: Ended(terms.remember) for at in _GONE.values()}
        self._consumers: dict[str, int] = {}
        self.now.tries = terms.settings.get("tries", 0)
        for where, at in _GONE.items():
            self.now.where[at] = where

    def constants(self) -> Mapping[str, int]:
        settings = self.terms.settings
        return {"K": settings.get("capacity", _MOST), "W": _CONSUMERS, "R": 16,
                "T": settings.get("ticks", _MOST), "D": _MOST}

    def continues(self, messages: Sequence[tuple[Hashable, Where, int, str | None, int]],
                  limits: Mapping[str, int],
                  has_ended: Mapping[Where, Elsewhere]) -> None:
        """Be where a queue is: its ``messages``, as they were confirmed, each with its deliveries,
        the consumer that has it and the ticks that are left to that; and the limits of consumers.
        Of what has ended something is known elsewhere."""
        for where, at in _GONE.items():
            self._ended[at].continues(has_ended[where])
        if len(_GONE) + len(messages) > PLACES_MAX:
            self.unsure(_TOO_MANY, None)
            return
        while self.now.R < len(_GONE) + len(messages):
            self._room.grows(2 * self.now.R)
        for item, where, times, consumer, left in messages:
            at = self._numbers[item] = self._next
            self._next += 1
            self.now.where[at], self.now.times[at] = where, times
            if consumer is not None:
                self.now.left[at] = left
                holder = self._consumer(consumer, None)
                if holder is None:
                    return
                self.now.holder[at] = holder
        for consumer, limit in limits.items():
            holder = self._consumer(consumer, None)
            if holder is None:
                return
            self.now.limit[holder] = limit

    def sees(self, event: Event) -> None:
        do, result = event.operation, event.result
        action = _ACTIONS.get((do, result))
        if action is None:
            self.unsure(f"a {do} ended as {result!r}: it may have had its effect, or not", event)
            return
        args = self._args(event, action)
        if args is not None:
            self._steps(event, *args)

    def _args(self, event: Event, action: str) -> tuple[str, dict[str, int]] | None:
        """The action with its arguments; None if it is not judged, or is no event of a broker."""
        do, args = event.operation, dict[str, int]()
        for name in _PARAMETERS[action]:
            if name == "message":
                message = self._message(event)
                if message is None and do in _ANOTHER and self.terms.from_start:
                    if event.item is not None and any(
                            ended.has_forgotten for ended in self._ended.values()):
                        self.unsure(f"{event.item!r} is given, which was never published, or was "
                                    f"acknowledged or dropped {FORGOTTEN}", event)
                        return None
                    return self._args(event, _ANOTHER[do])
                if message is None or (message < len(_GONE) and do == "count"):
                    return None
                args[name] = message
            elif name == "consumer":
                consumer = self._consumer(event.process, event)
                if consumer is None:
                    return None
                args[name] = consumer
            elif name == "law":
                args[name] = self._law
            elif name == "taken":
                args[name] = int(event.result == "ok")
            elif event.value is None or event.value < 0:
                self.is_foreign(f"a {do} has no number as its value", event)
                return None
            else:
                args[name] = min(event.value, _MOST)
        return action, args

    def _steps(self, event: Event, action: str, args: dict[str, int]) -> None:
        loose = self._may_be_loose and self.now.where.count(Where.LOOSE)
        if (loose and event.operation == "publish"
                and self._law in (Law.DROP_HEAD, Law.DROP_TAIL)
                and self.now.ready() + loose >= self.now.K):
            self.unsure("what was in flight at a restart comes back at an unknown instant, and the "
                        "queue, full with it, may drop something", event)
            return
        if loose and event.operation == "tries":
            self.unsure("what was in flight at a restart comes back at an unknown instant, and "
                        "whether it is a dead letter then depends on this event", event)
            return
        failure = self.tries(action, **args)
        if failure is not None and loose:
            failure = self._again(failure, action, args)
        if failure is not None:
            self.refused(event, failure)
        elif event.operation == "disconnect":
            del self._consumers[event.process]
        elif event.operation == "restart":
            self._may_be_loose = True

    def _again(self, failure: Failure, action: str, args: dict[str, int]) -> Failure | None:
        """Try once more when as much of what is loose has come back as has to be."""
        while self.tries(_COMES_BACK) is None:
            if self.tries(action, **args) is None:
                return None
        return failure

    # --- calls that overlap -----------------------------------------------------------------

    def forgets(self, event: Event) -> None:
        """Know nothing of a message that was not published after all."""
        if event.operation == "publish" and self._next - 1 == self._numbers.get(event.item):
            del self._numbers[event.item]
            self._next -= 1

    def goes_first(self, item: Hashable, before: Callable[[Hashable, Hashable], bool]) -> bool:
        """Let a message have been confirmed before the oldest that is ready, if their publishes,
        and all between, overlap: places are in that order, and so those between move up by one."""
        where: list[Where] = self.now.where
        at = self._numbers.get(item, 0)
        if where[at] != Where.READY:
            return False
        first = next(each for each in range(at + 1) if where[each] == Where.READY and (
            each == at or self._law != Law.ANY_ORDER or not self.now.times[each]))
        among = {name: each for name, each in self._numbers.items() if first <= each < at}
        if not all(before(item, name) for name, each in among.items() if where[each] not in _GONE):
            return False
        for each in _OF_PLACE:
            column = getattr(self.now, each)
            column[first:at + 1] = [column[at], *column[first:at]]
        self._numbers.update({name: each + 1 for name, each in among.items()})
        self._numbers[item] = first
        return at > first

    def rivals(self, event: Event, others: Sequence[Event]) -> Iterable[Sequence[Hashable]]:
        """A message shows by itself that it is not given twice, and another one that is ready that
        it is out of turn, or that something was to be had: where no consumer has a limit, which
        others may have used up. A queue that drops messages when it is full may have dropped any.
        """
        if self._law in (Law.DROP_HEAD, Law.DROP_TAIL):
            return
        where = self.now.where
        waits = Where.DEAD if event.operation == "dead" else Where.READY
        some = sorted((at, name) for name, at in self._numbers.items() if where[at] == waits)
        names = [name for _, name in some[:_RIVALS]]
        if event.item is not None:
            yield (event.item,)
            yield from ((event.item, name) for name in names if name != event.item)
        elif not any(each.operation == "limit" and each.value for each in others):
            yield from ((name,) for name in names)

    def alone(self, events: Sequence[Event]) -> Finding | None:
        """See ``StepJudge``. A message that was published before these events has others."""
        published = {each.item for each in events if each.operation == "publish"}
        for item in {each.item for each in events if each.item is not None} - published:
            if item in self._numbers or any(
                    each.has(self.key, item) or each.has_forgotten
                    for each in self._ended.values()):
                return None
        return super().alone(events)

    # --- names ------------------------------------------------------------------------------

    def _message(self, event: Event) -> int | None:
        """The place of a message; None where it was never published."""
        item = event.item
        if item is None:
            self.is_foreign(f"a {event.operation} names no message", event)
            return None
        is_new = event.operation == "publish"
        at = self._numbers.get(item)
        if at is None:
            at = next((gone for gone, ended in self._ended.items()
                       if ended.has(self.key, item)), None)
        if is_new and at is not None:
            self.unsure(f"{item!r} is published twice, so it is no identity", event)
            return None
        if is_new:
            if self._next == self.now.R and not self._has_room():
                self.unsure(_TOO_MANY, event)
                return None
            at = self._numbers[item] = self._next
            self._next += 1
        return at

    def _has_room(self) -> bool:
        """Make room: what is over leaves its place, and the others move together, in order."""
        where: list[Where] = self.now.where
        over = [name for name, at in self._numbers.items() if where[at] in _GONE]
        size = max(self.now.R, 2 * (len(_GONE) + len(self._numbers) - len(over)))
        if size > PLACES_MAX:
            return False
        gone = []
        for name in over:
            at = self._numbers.pop(name)
            self._ended[_GONE[where[at]]].add(self.key, name)
            gone.append(at)
        self._room.drops(gone)
        self._room.grows(size)
        names = {at: to for to, at in enumerate(sorted(self._numbers.values()), len(_GONE))}
        self._numbers = {name: names[at] for name, at in self._numbers.items()}
        self._next = len(_GONE) + len(names)
        return True

    def _consumer(self, process: str, event: Event | None) -> int | None:
        at = self._consumers.get(process)
        if at is None:
            free = set(range(_CONSUMERS)) - set(self._consumers.values())
            if not free:
                self.unsure(f"there are more than {_CONSUMERS} consumers at a time", event)
                return None
            at = self._consumers[process] = min(free)
        return at


_EXCLUDED: Final[Mapping[str, tuple[Law, ...]]] = {
    chapter.REFUSES.id: (Law.DROP_HEAD, Law.DROP_TAIL, Law.UNBOUNDED, Law.ANY_ORDER),
    chapter.IN_PLACE.id: (Law.ANY_ORDER,),
    chapter.STAYS_OUT.id: (Law.UNBOUNDED, Law.ANY_ORDER)}
"""By rule, the policies of queues that cannot break it."""


def _common(terms: Terms, notes: Notes) -> None:
    """Note the rules that a queue of this policy cannot break."""
    law = _law(terms)
    notes.not_shown |= {rule: f"a queue with law={law.value} cannot break it"
                        for rule, laws in _EXCLUDED.items() if law in laws}


def _whole(terms: Terms, notes: Notes, names: Any, common: Any) -> Any:
    from .whole import WholeQueues

    settings = terms.settings
    limits = {"capacity": settings.get("capacity", _MOST), "tries": settings.get("tries", 0),
              "ticks": settings.get("ticks", _MOST)}
    if terms.tolerance or min(limits["ticks"], limits["capacity"]) < 1:
        return None     # clocks that may differ make all keys unknown
    return WholeQueues(
        terms, notes, names, actions=_ACTIONS, law=_law(terms), limits=limits,
        parameters=_PARAMETERS, make=lambda key, noted: DeliveryJudge(key, terms, noted, common))


def _law(terms: Terms) -> Law:
    return Law(min(terms.settings["law"], len(Law) - 1))


_OF_MESSAGE: Final = ("item",)

LOGS: Final = Logs(
    machines=(ObservedDelivery,),
    operations={
        "publish": Call("an item is published, and confirmed; \"full\": it is refused",
                        needs=_OF_MESSAGE),
        "receive": Call("a consumer, the process, is given an item; \"empty\": it asks for one, "
                        "and there is none"),
        "ack": Call("a consumer acknowledges an item; \"empty\": the broker ignores that",
                    needs=_OF_MESSAGE),
        "requeue": Call("a consumer gives an item back; \"empty\": the broker ignores that",
                        needs=_OF_MESSAGE),
        "reject": Call("a consumer rejects an item; \"empty\": the broker ignores that",
                       needs=_OF_MESSAGE),
        "limit": Call("a consumer limits itself to value items in flight; 0: to none",
                      needs=("value",)),
        "tries": Call("from now on, value deliveries of an item are allowed; 0: any number",
                      needs=("value",)),
        "dead": Call("an item is taken away from the dead letters; \"empty\": there is none"),
        "count": Call("the broker says that it gave an item value times; \"empty\": it does not "
                      "know it", needs=_OF_MESSAGE),
        "disconnect": Call("the connection of a consumer, the process, is lost"),
        "tick": Call("value ticks pass, as the broker counts them", needs=("value",)),
        "restart": Call("the server is killed, and started again"),
    },
    settings={
        "law": "0: a full queue refuses; 1: it drops its oldest; 2: it drops what comes; 3: there "
               "is no limit; 4: nor a promise of where an item stands that comes back",
        "capacity": "ready items of a full queue", "tries": "deliveries that are allowed at first",
        "ticks": "ticks that an item may be in flight; without it, it may be for any time"},
    required=("law",),
    rules=_RULES,
    judge=DeliveryJudge,
    common=_common,
    whole=_whole,
    asks={**dict.fromkeys([("publish", "ok"), ("publish", "full")],
                          Asks(("publish",), item="message", new=("message",))),
          **{(do, result): Asks((do,), item="" if do == "receive" else "message",
                                process="consumer")
             for do in ("receive", "ack", "requeue", "reject") for result in ("ok", "empty")},
          ("limit", "ok"): Asks(("limit",), process="consumer", value="most"),
          ("tries", "ok"): Asks(("tries",), value="most"),
          **dict.fromkeys([("dead", "ok"), ("dead", "empty")], Asks(("dead",))),
          **dict.fromkeys([("count", "ok"), ("count", "empty")],
                          Asks(("count",), item="message")),
          ("disconnect", "ok"): Asks(("disconnect",), process="consumer"),
          ("tick", "ok"): Asks(("advance",), value="ticks"),
          ("restart", "ok"): Asks(("restart",))},
)
