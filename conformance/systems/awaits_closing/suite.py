"""The suite ``awaits.closing``: whoever waits at a queue that ends is told, and nothing is lost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Final

from ....spec.engines.candidates import either
from ....spec.notation.interpreter import Step
from ....spec.queues.closing import ClosableQueue, OrderlyClosing
from ....spec.queues.rules import ORDER
from ...ports.base import STEPPED_WAKES, Message, Session
from ...suites.calls import WAITING, CallsConversation, driving, events
from ...suites.lengthy import Long, grown
from ...suites.plain import Seen
from ...suites.says import Fields, ends, on, over, says, table, unsaid
from ...suites.suite import Act, Fuller, Suite, Watch
from ...suites.sweeping import STEPS_MAX
from ...suites.values import Payloads, Value, in_words
from .port import PORT

__all__ = ["SUITE", "ClosingConversation"]

CALLS_MAX: Final = 10
CALLS_OF_LONG: Final = 160
"""Puts in one program; and takes, and joins."""

_CLOSED: Final = "{by} is told that it is closed"
_SPINS: Final = says("spins", "spins", "it does not come to rest")


def _who(talk: ClosingConversation, request: Fields) -> Iterator[Fields]:
    own = [request["by"]] if "by" in request else []
    puts = talk.begun("p") + (request["do"] in ("put", "spoil"))
    for name in (*talk.calls(*WAITING), *own):
        yield {"by": name}
        if name.startswith("t"):
            yield from ({"by": name, "put_of": number} for number in range(puts))


_DONE: Final = events(
    over(_who, says("in", "goes_in", "{by}: goes in", "{by} is in", where="put"),
         says("told", "put_is_told", "{by}: put is told", _CLOSED, where="put"),
         says("told", "take_is_told", "{by}: take is told", _CLOSED, where="takes"),
         says("over", "join_ends", "{by}: join ends", "{by} ends", where="joins"),
         says("has", "gives", "{by} has {what}", where="has")),
    says("fails", "put_fails", "", "{by} fails", where="bad"), *unsaid(_SPINS))


class ClosingConversation(CallsConversation):
    """One session. Puts are named p1, p2, …, and their items a1, a2, … where the program does not
    say otherwise; takes t1, …, and joins j1, …

    Items of one value cannot be told apart: what comes out is any of them.
    """

    carries: ClassVar[Mapping[str, tuple[str, ...]]] = {"put": ("item",), "spoil": ("item",)}
    letters = {"put": "p", "spoil": "p", "take": "t", "join": "j"}
    moves = dict.fromkeys(("goes_in", "put_is_told", "put_fails", "take_is_told", "join_ends",
                           "gives"), ("over", "waits"))
    says = table(
        ClosableQueue,
        on("put", "{by} puts {what}", _DONE, tells="puts"),
        on("spoil", "{by} puts {what}, which may fail", _DONE, tells="puts"),
        on("take", "{by} takes", _DONE, tells="begins_to_take"),
        on("join", "{by} joins", _DONE, tells="begins_to_join"),
        on("done", "an item is done", _DONE, tells="done"),
        on("close", "it is closed", _DONE, tells="closes"),
        on("cut", "it is cut off", _DONE, tells="is_cut_off"),
        *driving(_DONE, ends("settled", "nothing else happens"), _SPINS),
    )

    def __init__(self, session: Session, capacity: int, items_max: int) -> None:
        super().__init__(
            session, PORT.name, {"capacity": capacity}, _constants(capacity, items_max))
        self.can |= {policy(self.policy)}
        self._bad: set[str] = set()
        self._items: list[Value] = []       # of the puts, in their order
        self._out: set[int] = set()
        self._given = 0         # items that a consumer has to be done with

    def has_room(self, letter: str) -> bool:
        """See ``CallsConversation``: as many of each kind may wait."""
        return len(self.calls(*WAITING, letter=letter)) < STEPS_MAX

    def request_of(self, act: Act) -> Message | None:
        cut = self.times["is_cut_off"]
        if (act.do == "done" and not self._given) or (act.do == "cut" and cut) or (
                act.do == "close" and (cut or self.times["closes"])):
            return None
        request = super().request_of(act)
        if request is None or self.letters.get(act.do) != "p":
            return request
        return request | {"item": dict(act.about).get("item", f"a{request['by'][1:]}")}

    def seen(self, request: Message, answer: Any) -> Seen:
        if "item" in request:
            self._items.append(request["item"])
        shown = super().seen(request, answer)
        return shown._replace(steps=tuple(map(self._any_of_them, shown.steps)))

    def _any_of_them(self, step: Step) -> Step:
        """A step by which an item comes out: that may be any of its value."""
        name, args = step
        number = dict(args).get("item", -1)
        if name != "gives" or number >= len(self._items):
            return step
        alike = self._numbers_of(self._items[number])
        return step if len(alike) == 1 else either(
            name, "item", alike, ("take", dict(args)["take"]))

    def _numbers_of(self, value: object) -> list[int]:
        """The numbers of the puts of items that have a value."""
        return [number for number, each in enumerate(self._items)
                if type(each) is type(value) and each == value]

    def about(self, message: Message) -> Fields:
        """See ``PlainConversation``: a number has the name of what it is the number of."""
        fields = {**super().about(message), "bad": message.get("do") == "spoil"}
        if "do" in message or "by" not in message:
            if "item" in message:
                fields["what"] = in_words(message["item"])
            return fields
        name, number = message["by"], fields["call"]
        of = self._put_of(message) if name[0] == "t" else -1
        told = "item" in message or "put_of" in message
        return fields | {
            "bad": name in self._bad, "put": name[0] == "p", "joins": name[0] == "j",
            "takes": name[0] == "t" and not told, "has": name[0] == "t" and told,
            "what": "" if not told else in_words(
                message["item"] if "item" in message else self._value_of(of)),
            "take": number, "join": number, "item": of if told else number}

    def _put_of(self, message: Message) -> int:
        """The number of the put whose item somebody has: the first of that value which has not come
        out, if there is one; the next number if nobody has put that."""
        if "put_of" in message:
            return int(message["put_of"])
        alike = self._numbers_of(message["item"]) if "item" in message else []
        return next(iter([each for each in alike if each not in self._out] or alike),
                    len(self._items))

    def _value_of(self, number: int) -> Value:
        """The item of a put, perhaps of one that is being asked for."""
        return self._items[number] if number < len(self._items) else self.request["item"]

    def note(self, action: str, about: Fields) -> None:
        super().note(action, about)
        if action == "gives":
            self._out.add(about["item"])
        if about.get("do") == "spoil":
            self._bad.add(about["by"])
        self._given += (action == "gives" and not self.times["is_cut_off"]) - (action == "done")


def policy(name: str) -> str:
    """What a target of a policy has, besides its operations: a rule may need it."""
    return f"the policy {name}"


def _constants(capacity: int, items_max: int) -> Mapping[str, int]:
    return {"C": capacity, "K": grown(CALLS_MAX, items_max, CALLS_OF_LONG)}


SUITE: Final = Suite(
    name=PORT.name,
    version=3,
    port=PORT.name,
    watches=(Watch(ClosableQueue), Watch(OrderlyClosing, adds=ORDER, base=ClosableQueue)),
    weights={"put": 5, "take": 4, "done": 3, "join": 2, "spoil": 1, "close": 1, "cut": 1,
             "run": 4, "settle": 2},
    # To rest is nothing that is asked for; but it takes a call that may wait.
    needs={"JOIN-3": (("put", "take", "join"),),
           "QUEUE-3": (("put",), ("take",), (policy("wait"),)), "QUEUE-5": (("put",), ("take",))},
    epilogue=(Act("settle"), Act("take"), Act("take"), Act("take"), Act("settle"), Act("done"),
              Act("done"), Act("settle")),
    constants=_constants,
    payloads=Payloads({"put": "item", "spoil": "item"}, equal=True),
    long=Long(fills=("put",), drains=("take",), ending=("close", "cut", "spoil"), sizes=(6,)),
    converse=ClosingConversation,
    scene="A queue of capacity {capacity}, on an event loop whose callbacks run one by one.",
    fuller={"CLOSE-6": (Fuller((STEPPED_WAKES,), "one that is woken, and finds nothing"),)},
    courses={
        "CLOSE-2": (("take", "take", "take", "settle", "put", "close", "settle"),),
        "CLOSE-3": (("put", "put", "put", "put", "settle", "close", "settle"),),
        "CLOSE-4": (("put", "settle", "close", "take", "settle"),
                    ("take", "settle", "put", "close", "settle")),
        "CLOSE-5": (("put", "settle", "cut", "take", "settle"),),
        "JOIN-1": (("put", "put", "settle", "join", "take", "settle", "done", "settle"),),
        "JOIN-2": (("put", "settle", "join", "settle", "take", "settle", "done", "settle"),),
        "JOIN-3": (("put", "settle", "take", "settle", "done", "put", "settle", "join", "settle"),),
        "FAIL-1": (("spoil", "settle", "put", "put", "put", "settle"),
                   ("put", "spoil", "settle", "take", "take", "settle")),
    },
)
