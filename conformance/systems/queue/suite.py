"""The suite ``queue``: a bounded queue with waiting producers and consumers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Final

from ....spec.engines.candidates import either
from ....spec.notation.errors import InputError
from ....spec.notation.interpreter import Step
from ....spec.notation.labels import counted
from ....spec.queues.bounded import BoundedQueue, OrderlyQueue
from ....spec.queues.conserved import ConservingQueue
from ....spec.queues.dropping import DroppingQueue, Policy
from ....spec.queues.rules import IN_TURN
from ...ports.base import STEPPED_WAKES, Message, Session, excerpt
from ...suites.asking import greet, refused
from ...suites.lengthy import Long, grown
from ...suites.suite import Act, Answer, Exchange, Fuller, Suite, Watch
from ...suites.values import Payloads, Value, in_words

__all__ = ["SUITE", "QueueConversation", "Wait", "about", "constants", "policy"]

WAITERS_MAX: Final = 3
"""Limit of the puts, and takes, that wait at the same time: more find no more, and cost states."""

TAKES_MAX: Final = 12
"""Limit of the takes that begin to wait in one short program."""

TAKES_OF_LONG: Final = 600


PROMISES: Final[Mapping[str, Policy]] = {
    "drop-oldest": Policy.DROP_OLDEST, "drop-newest": Policy.DROP_NEWEST,
    "drop-youngest-queued": Policy.DROP_YOUNGEST, "clear": Policy.CLEAR,
    "conflate": Policy.CONFLATE,
}
"""The promise of a target's policy about dropped items; other policies promise nothing."""


def policy(name: str) -> str:
    """The capability of a target with this policy: a rule may need it."""
    return f"the policy {name}"


@dataclass
class Wait:
    """A call that waits: ``number`` is the item's number for a put, the ticket's for a take.

    It is ``over`` when it is known to wait no longer; a field of its own says whether its caller
    knows how it ended: after a late cancel the caller may learn that later, or never. A call that
    has ``ended`` was reported by an event, and no cancel of it has been requested since.
    """

    wire: str | int
    side: str
    number: int
    issued_at: int
    over: bool = False
    told: bool = False
    ended: bool = False


class QueueConversation:
    """One session with a queue; see ``Conversation``.

    Items are the texts a1, a2, … in the order in which they are first named, which is also
    their number in the machines; or those that the program gives. ``issued_at`` of a ticket is the
    number of the request.
    A subclass may talk about another ``port``, with another operation to ``cancel`` a wait.
    """

    port: ClassVar[str] = "queue"
    cancel: ClassVar[str] = "cancel"
    known: ClassVar[Collection[str]] = (
        "offer", "poll", "put", "take", "settle", "cancel", "size", "pause", "proceed")

    def __init__(self, session: Session, capacity: int, items_max: int) -> None:
        self.tells = True
        self._session = session
        self._capacity = capacity
        self._items_max = items_max
        self._values: list[Value] = []
        self._equal = False         # whether two items have the same value
        self._numbers: dict[object, list[int]] = {}     # by value
        self._takes_max = grown(TAKES_MAX, items_max, TAKES_OF_LONG)
        self._fates: list[str] = []
        self._tickets: list[Wait] = []
        self._asked = 0
        self._said = 0
        self._pauses = False        # whether the next put or take is to be stopped on its way
        greeting = greet(session, self.port, {"capacity": capacity})
        self.greeting = greeting
        # Its policy is among what it can: a rule depends on it.
        self.can: frozenset[str] = frozenset(greeting["can"]) | {policy(greeting["policy"])}
        self._promise = PROMISES.get(greeting["policy"], Policy.NONE)

    # --- what can be asked ---------------------------------------------------------------

    def makes_sense(self, act: Act) -> bool:
        """True if an act can be requested now, within the limits of the machines."""
        if act.do != "settle" and act.do not in self.can:
            return False
        if act.do in ("offer", "put") and len(self._fates) + 1 >= self._items_max:
            return False
        if act.do == "take" and self._asked >= self._takes_max:
            return False
        if act.do in ("put", "take"):
            return sum(ticket.side == act.do and not ticket.told
                       for ticket in self._tickets) < WAITERS_MAX
        return act.do != self.cancel or bool(self._to_cancel())

    def _out(self) -> list[Wait]:
        return [ticket for ticket in self._tickets if not ticket.over]

    def _to_cancel(self) -> list[Wait]:
        """The calls that a cancel may be about: those that wait, and the last that was reported."""
        return [*self._out(), *[each for each in self._tickets if each.ended][-1:]]

    # --- asking --------------------------------------------------------------------------

    def say(self, act: Act) -> Exchange:
        """Request an act, and return the exchange."""
        ticket = None
        if act.do == self.cancel:
            out = self._to_cancel()
            ticket = out[act.pick % len(out)]
        request = self._request(act, ticket)
        possible = tuple(self._possible(act, ticket)) if self.tells else ()
        wire = dict(request)
        if ticket is not None:
            wire["ticket"] = ticket.wire
            del wire["ticket_of"]
            wire.pop("late", None)
            ticket.ended = False
        reply = self._session.request(wire)
        self._said, number = self._said + 1, self._said
        asked = self.asked(request)
        if error := refused(request, reply, asked):
            return error
        outcome, words = self._outcome(act, ticket, request, reply, number)
        shown = self._take_promise() + self._take_pause(act, reply)
        completions: tuple[Answer, ...] = ()
        if reply["events"]:
            completions = tuple(self._completions()) if self.tells else ()
            events = [self._event(event) for event in reply["events"]]
            shown += tuple([step for step, _ in events])
            words = "; ".join([words, *[more for _, more in events]])
        # What rides on a reply happened after it or shows late; only settle vouches for all.
        return Exchange(request, reply, f"{asked}: {words}", outcome, shown, act.do == "settle",
                        possible, completions)

    def _take_promise(self) -> tuple[Step, ...]:
        """The promise of the target's policy: given to the machines once, at the beginning."""
        promise, self._promise = self._promise, Policy.NONE
        return (("promised", (("promise", promise),)),) if promise else ()

    def _take_pause(self, act: Act, reply: Message) -> tuple[Step, ...]:
        """The step of a call that waits because its thread was stopped, and may be in no wait
        queue.
        """
        if act.do == "pause":
            self._pauses = True
        elif act.do in ("put", "take"):
            pauses, self._pauses = self._pauses, False
            return (("stopped_on_its_way", ()),) if pauses and "waiting" in reply else ()
        return ()

    def _request(self, act: Act, ticket: Wait | None) -> Message:
        if act.do == "pause":
            return {"do": "pause", "steps": act.pick + 1}
        if act.do == "proceed":
            return {"do": "proceed", "place": act.pick}
        if act.do == "offer":
            return {"do": "offer", "item": self._next_item(act)}
        if act.do == "put":
            number = len(self._fates) + 1
            return {"do": "put", "item": self._next_item(act), "by": f"producer {number}"}
        if act.do == "take":
            return {"do": "take", "by": f"consumer {self._asked + 1}"}
        if ticket is not None:
            late = {"late": True} if ticket.ended else {}
            return {"do": self.cancel, "ticket_of": ticket.issued_at, **late}
        return {"do": act.do}

    def _next_item(self, act: Act) -> Value:
        return act.about[0][1] if act.about else _plain(len(self._fates))

    def act_for(self, request: Mapping[str, Any]) -> Act | None:
        """The act that makes a fixture's request; None if its ticket is no longer out."""
        do = request["do"]
        if do not in self.known:
            raise InputError(f"the suite {self.port} has no operation {excerpt(do)}")
        if do != "settle" and do not in self.can:
            raise InputError(f"the target cannot do {do!r}")
        if do == self.cancel:
            if "ticket_of" not in request:
                raise InputError(f"{do!r} lacks \"ticket_of\"")
            out = [(each.issued_at, each.ended) for each in self._to_cancel()]
            wanted = request["ticket_of"], bool(request.get("late"))
            return Act(do, out.index(wanted)) if wanted in out else None
        act = Act(do, _picked(request))
        if not self.makes_sense(act):
            raise InputError(f"{do!r} would be more than may wait at the same time")
        if request.get("item", self._next_item(act)) != self._next_item(act):
            act = Act(do, about=(("item", request["item"]),))
        return act

    def asked(self, request: Message) -> str:
        """A request in words."""
        if "ticket_of" in request:
            late = ", which has ended" if "late" in request else ""
            return f"{request['do']} what began to wait in step {request['ticket_of'] + 1}{late}"
        if request["do"] == "pause":
            return f"the next put or take is stopped after {counted(request['steps'], 'step')}"
        if request["do"] == "proceed":
            return "a call that can continue does"
        words: str = request["do"]
        if "item" in request:
            words = f"{words} {in_words(request['item'])}"
        return f"{words} by {request['by']}" if "by" in request else words

    # --- what a reply shows --------------------------------------------------------------

    def _outcome(
        self, act: Act, ticket: Wait | None, request: Message, reply: Message, number: int
    ) -> tuple[Step | None, str]:
        answer = reply.get("ok")
        if act.do == "offer":
            self._name(request["item"], "inside" if answer else "refused")
            return (_ACCEPTED, "accepted") if answer else (_REFUSED, "refused")
        if act.do == "put":
            return self._put(request, reply, number)
        if act.do == "take" and "waiting" in reply:
            self._tickets.append(Wait(reply["waiting"], "take", self._asked, number))
            self._asked += 1
            return ("take_waits", ()), "waits"
        if act.do in ("poll", "take"):
            return self._came_out(f"{act.do}_item", answer)
        if ticket is not None:
            return self._cancelled(ticket, bool(answer))
        if act.do in ("pause", "proceed"):
            return None, "done"
        if act.do == "size":
            return ("sized", (("count", int(answer or 0)),)), str(answer)
        if act.do == "resident":
            return ("held", (("count", int(answer or 0)),)), str(answer)
        return ("settled", ()), "all has run that can run"

    def _put(self, request: Message, reply: Message, at: int) -> tuple[Step, str]:
        waits = "waiting" in reply
        number = self._name(request["item"], "waiting" if waits else "inside")
        if not waits:
            return ("put_done", ()), "done at once"
        self._tickets.append(Wait(reply["waiting"], "put", number, at))
        return ("put_waits", ()), "waits"

    def _came_out(self, action: str, item: object) -> tuple[Step, str]:
        if item is None:
            return ("poll_empty", ()), "empty"
        words = in_words(item)
        numbers = self._numbers_of(item)
        if not numbers:
            # A number that no producer has used yet stands for an item that was never put in.
            return (action, (("item", len(self._fates)),)), f"{words}, which was never put in"
        likely = min(numbers, key=lambda number: _LIKELY.index(self._fates[number]))
        self._fates[likely] = "out"
        step = (action, (("item", likely),)) if len(numbers) == 1 else either(
            action, "item", numbers)
        return step, words

    def _cancelled(self, ticket: Wait, undone: bool) -> tuple[Step, str]:
        # The event of a wait that had completed may have been lost, or be on its way.
        ticket.over, ticket.told = True, undone
        action = "cancelled" if undone else "too_late_for"
        if undone and ticket.side == "put":
            self._fates[ticket.number] = "cancelled"
        return about(action, ticket), "undone" if undone else "too late"

    def _event(self, event: Message) -> tuple[Step, str]:
        ticket = next(t for t in self._tickets if t.wire == event["done"])
        ticket.over = ticket.told = ticket.ended = True
        if ticket.side == "put":
            item = in_words(self._values[ticket.number])
            if self._fates[ticket.number] == "waiting":
                self._fates[ticket.number] = "inside"
            return about("woken", ticket), f"the put of {item} completes"
        (_, args), words = self._came_out("woken_take", event["ok"])
        return (
            ("woken_take", (("ticket", ticket.number), *args)),
            f"consumer {ticket.number + 1} gets {words}",
        )

    def _name(self, item: Value, fate: str) -> int:
        number = len(self._fates)
        self._equal = self._equal or bool(self._numbers_of(item))
        self._numbers.setdefault(_key(item), []).append(number)
        self._values.append(item)
        self._fates.append(fate)
        return number

    def _numbers_of(self, item: object) -> list[int]:
        """The numbers of the items that have this value."""
        return self._numbers.get(_key(item), [])

    # --- other possible answers ------------------------------------------------------------

    def _possible(self, act: Act, ticket: Wait | None) -> Iterator[Answer]:
        if act.do == "offer":
            yield from _OFFERED
        elif act.do == "put":
            yield from _PUT
        elif act.do == "take":
            yield from self._items("take_item")
            yield _TAKE_WAITS
        elif act.do == "poll":
            yield _POLL_EMPTY
            yield from self._items("poll_item")
        elif ticket is not None:
            yield Answer("undone", about("cancelled", ticket))
            yield Answer("too late", about("too_late_for", ticket))
        elif act.do == "pause":
            return
        elif act.do == "size":
            for count in range(min(len(self._fates), self._capacity + 1) + 1):
                yield Answer(str(count), ("sized", (("count", count),)))
        else:
            yield from self._completions()

    def _completions(self) -> Iterator[Answer]:
        yield _SETTLED
        for ticket in self._out():
            if ticket.side == "put":
                words = f"the put of {in_words(self._values[ticket.number])} completes"
                yield Answer(words, about("woken", ticket))
                continue
            for item in self._items("woken_take"):
                action, args = item.step
                whole = (("ticket", ticket.number), *args)
                yield Answer(f"consumer {ticket.number + 1} gets {item.words}", (action, whole))

    def _items(self, action: str) -> Iterator[Answer]:
        """Every item that may be inside, and one each of the other fates."""
        if self._equal:
            yield from self._equal_items(action)
            return
        last = {fate: number for number, fate in enumerate(self._fates)}
        for number, fate in enumerate(self._fates):
            if fate in ("inside", "waiting") or last[fate] == number:
                yield _came(action, number, self._values[number])
        yield _made_up(action, len(self._fates))

    def _equal_items(self, action: str) -> Iterator[Answer]:
        """The same if several items have one value: any of them may have come."""
        for numbers in self._numbers.values():
            yield Answer(in_words(self._values[numbers[0]]), either(action, "item", numbers))
        yield _made_up(action, len(self._fates))


def _picked(request: Mapping[str, Any]) -> int:
    """The pick of an act that makes this request."""
    if request["do"] == "pause":
        return int(request.get("steps", 1)) - 1
    return int(request.get("place", 0)) if request["do"] == "proceed" else 0


# Answers that are asked about all the time are made once.

_ACCEPTED: Final[Step] = ("offer_accepted", ())
_REFUSED: Final[Step] = ("offer_refused", ())
_OFFERED: Final = (Answer("accepted", _ACCEPTED), Answer("refused", _REFUSED))
_PUT: Final = (Answer("done at once", ("put_done", ())), Answer("waits", ("put_waits", ())))
_TAKE_WAITS: Final = Answer("waits", ("take_waits", ()))
_POLL_EMPTY: Final = Answer("empty", ("poll_empty", ()))
_SETTLED: Final = Answer("no further wait completes", ("settled", ()))


_LIKELY: Final = ("inside", "waiting", "refused", "cancelled", "out")
"""The fates of an item, from the most to the least likely to come out."""


def _key(item: object) -> object:
    """A key of a value: the number 1 is neither the text 1 nor true."""
    return (type(item), item)


def _plain(number: int) -> str:
    """The item of a number, if the program does not name another."""
    return f"a{number + 1}"


@lru_cache(maxsize=1024, typed=True)
def _came(action: str, number: int, item: Value) -> Answer:
    """An item comes out."""
    return Answer(in_words(item), (action, (("item", number),)))


@lru_cache(maxsize=1024)
def _made_up(action: str, number: int) -> Answer:
    """An item comes out that was never put in: its number is one that no producer has used."""
    return Answer("an item that was never put in", (action, (("item", number),)))


def about(action: str, ticket: Wait) -> Step:
    """The step of an action about a wait: by the item of a put, the ticket of a take."""
    name = "item" if ticket.side == "put" else "ticket"
    return f"{action}_{ticket.side}", ((name, ticket.number),)


def constants(capacity: int, items_max: int) -> Mapping[str, int]:
    """The constants of the machines, for a capacity and the most items that a program names."""
    return {"C": capacity, "K": items_max, "T": grown(TAKES_MAX, items_max, TAKES_OF_LONG),
            "W": WAITERS_MAX}


TWICE: Final = {"QUEUE-6": (Fuller(("put", "take"), "a wait that completes twice"),)}

IN_BETWEEN: Final = {rule: (Fuller((STEPPED_WAKES,), finds),) for rule, finds in {
    "QUEUE-6": "an item that goes to a woken call and to another as well",
    "QUEUE-9": "a wait that is cancelled after it was woken, and has had an effect",
    "QUEUE-10": "a wait that is cancelled after it was woken, and wakes no other",
    "QUEUE-12": "a later call that overtakes a woken one",
}.items()}
"""Bugs that show only if other calls can come between a wake-up and the first step of the woken
call:
the rules of twins that are not found if all settles after each request.
"""

_TWO_PUTS: Final = (
    ("pause", "put", "put", "settle", "size"),
    ("put", "pause", "put", "take", "put", "settle"),
    ("pause", "put", "pause", "put", "proceed", "settle", "size"),
)
_TWO_TAKES: Final = (
    ("put", "pause", "take", "take", "settle"),
    ("pause", "take", "put", "take", "settle"),
    ("put", "pause", "take", "pause", "take", "proceed", "settle"),
)
STOPPED_BETWEEN: Final = {
    "QUEUE-1": _TWO_PUTS, "QUEUE-3": _TWO_PUTS, "QUEUE-4": _TWO_PUTS, "QUEUE-7": _TWO_PUTS,
    "QUEUE-6": _TWO_TAKES, "QUEUE-8": _TWO_TAKES,
}
"""Programs for a queue for threads: one is stopped on its way, and others come in between."""

SUITE: Final = Suite(
    name="queue",
    version=7,
    port="queue",
    # The order counts: of two machines that refuse the same step, the first names the rule.
    watches=(
        Watch(ConservingQueue),
        Watch(BoundedQueue),
        Watch(OrderlyQueue, adds=IN_TURN, base=BoundedQueue),
        Watch(DroppingQueue, apart=True),
    ),
    weights={"offer": 2, "poll": 2, "put": 3, "take": 3, "settle": 1, "cancel": 3, "size": 1,
             "pause": 4, "proceed": 1},
    own_picks={"pause": range(16)},
    long=Long(fills=("offer", "put"), drains=("poll", "take"), sizes=(7,)),
    payloads=Payloads({"offer": "item", "put": "item"}, equal=True),
    needs={
        # A wait ends once, so that no program has both answers to it.
        "QUEUE-9": (("put", "take"), ("cancel",)),
        # In a queue of another policy no put waits.
        "QUEUE-7": (("put",), ("poll", "take"), (policy("wait"),)),
    },
    epilogue=(Act("settle"), *(Act("poll"),) * 5, Act("settle")),
    constants=constants,
    converse=QueueConversation,
    scene="A queue of capacity {capacity}.",
    plainer={"put": "offer", "take": "poll"},
    fuller={**TWICE, **IN_BETWEEN, "QUEUE-6": TWICE["QUEUE-6"] + IN_BETWEEN["QUEUE-6"]},
    courses=STOPPED_BETWEEN,
    takes_more={
        "QUEUE-12": "a target in which one call waits while another one puts or takes",
    },
)
