"""The suite ``awaits.closing``: a queue that ends leaves no call waiting, and loses nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Final

from ....spec.queues.closing import ClosableQueue, OrderlyClosing
from ....spec.queues.queue import ORDER
from ...ports.base import STEPPED_WAKES
from ...suites.besides import asked, equal, inside, just, lacks, same, starts, told, worded
from ...suites.calls import WAITING, CallsConversation, driving, events
from ...suites.items import named_items
from ...suites.lengthy import Long, enough, grown
from ...suites.plain import policy
from ...suites.remembered import flag, kept, tally
from ...suites.says import Fields, ends, on, over, says, table, unsaid
from ...suites.suite import Act, Fuller, Suite, Watch
from ...suites.values import Payloads, in_words
from .port import PORT

__all__ = ["SUITE", "ClosingConversation"]

CALLS_MAX: Final = 10
CALLS_OF_LONG: Final = 160
"""Limit of the puts in one program; and of the takes, and of the joins."""

_CLOSED: Final = "{by} is informed that it is closed"
_SPINS: Final = says("spins", "spins", "it does not become idle")


def _who(talk: ClosingConversation, request: Fields) -> Iterator[Fields]:
    own = [request["by"]] if "by" in request else []
    puts = talk.begun("p") + (request["do"] in ("put", "spoil"))
    for name in (*talk.calls(*WAITING), *own):
        yield {"by": name}
        if name.startswith("t"):
            yield from ({"by": name, "put_of": number} for number in range(puts))


_DONE: Final = events(
    over(_who, says("in", "goes_in", "{by}: goes in", "{by} is in", where="put"),
         says("told", "put_is_told", "{by}: put is refused as closed", _CLOSED, where="put"),
         says("told", "take_is_told", "{by}: take is refused as closed", _CLOSED, where="takes"),
         says("over", "join_ends", "{by}: join ends", "{by} ends", where="joins"),
         says("has", "gives", "{by} has {what}", where="has")),
    says("fails", "put_fails", "", "{by} fails", where="bad"), *unsaid(_SPINS))


_NEW: Final[Mapping[str, Any]] = {
    "item": lambda talk, request: [f"a{request['by'][1:]}"]}


def _item(talk: ClosingConversation, fields: Fields) -> Fields:
    """The item of an event, which has its value or the number of its put; or, of a call that got
    none, the number of the call."""
    if "item" not in fields and "put_of" not in fields:
        return {"item": fields["call"], "what": "", "has": False}
    puts = [*talk.items, talk.request.get("item")]
    value = fields["item"] if "item" in fields else puts[fields["put_of"]]
    meant = talk.items.meant(value)
    return {"item": fields.get("put_of", meant["item"]), "likely": meant["likely"],
            "what": in_words(value), "has": fields["takes"], "takes": False}


class ClosingConversation(CallsConversation):
    """One session. Puts are named p1, p2, …, and their items a1, a2, … unless the program gives
    others; takes t1, …, and joins j1, …

    Items of one value cannot be distinguished: an item that comes out may be any of them.
    """

    carries: ClassVar[Mapping[str, tuple[str, ...]]] = {"put": ("item",), "spoil": ("item",)}
    items = named_items(("inside", "out"), inside=("inside",), named={"puts": "inside"},
                        becomes={"gives": "out"})
    bad = kept("by", adds="puts:bad")
    cut_off = flag(on="is_cut_off")
    closed = flag(on="closes")
    given = tally({"gives:owed": 1, "done": -1})    # items that a consumer has to be done with
    needs_policy = True
    letters = {"put": "p", "spoil": "p", "take": "t", "join": "j"}
    moves = dict.fromkeys(("goes_in", "put_is_told", "put_fails", "take_is_told", "join_ends",
                           "gives"), ("over", "waits"))
    room_for_each = True
    knows = (
        asked("item", what=worded("item")),
        asked("do", bad=equal("do", just("spoil"))),
        told("by", put=starts("by", "p"), joins=starts("by", "j"), takes=starts("by", "t"),
             bad=inside("by", "bad"), owed=lacks("cut_off"), take=same("call"), join=same("call")),
        told("by", _item),
    )
    says = table(
        ClosableQueue,
        on("put", "{by} puts {what}", _DONE, tells="puts", picks=_NEW),
        on("spoil", "{by} puts {what}, which may fail", _DONE, tells="puts", picks=_NEW),
        on("take", "{by} takes", _DONE, tells="begins_to_take"),
        on("join", "{by} joins", _DONE, tells="begins_to_join"),
        on("done", "an item is done", _DONE, tells="done", only="given"),
        on("close", "it is closed", _DONE, tells="closes", unless="cut_off closed"),
        on("cut", "it is cut off", _DONE, tells="is_cut_off", unless="cut_off"),
        *driving(_DONE, ends("settled", "nothing else happens"), _SPINS),
    )


def _constants(capacity: int, items_max: int) -> Mapping[str, int]:
    return {"C": capacity, "K": grown(CALLS_MAX, items_max, enough(CALLS_OF_LONG, capacity))}


SUITE: Final = Suite(
    name=PORT.name,
    version=4,
    port=PORT.name,
    watches=(Watch(ClosableQueue), Watch(OrderlyClosing, adds=ORDER, base=ClosableQueue)),
    weights={"put": 5, "take": 4, "done": 3, "join": 2, "spoil": 1, "close": 1, "cut": 1,
             "run": 4, "settle": 2},
    # Becoming idle is not requested; but it takes a call that may wait.
    needs={"JOIN-3": (("put", "take", "join"),),
           "QUEUE-3": (("put",), ("take",), (policy("wait"),)), "QUEUE-5": (("put",), ("take",))},
    epilogue=(Act("settle"), Act("take"), Act("take"), Act("take"), Act("settle"), Act("done"),
              Act("done"), Act("settle")),
    constants=_constants,
    payloads=Payloads({"put": "item", "spoil": "item"}, equal=True),
    long=Long(fills=("put",), drains=("take",), ending=("close", "cut", "spoil"), sizes=(6,)),
    conversation=ClosingConversation,
    scene="A queue of capacity {capacity}, on an event loop whose callbacks run one by one.",
    fuller={"CLOSE-6": (Fuller((STEPPED_WAKES,), "a woken call that finds nothing"),)},
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
