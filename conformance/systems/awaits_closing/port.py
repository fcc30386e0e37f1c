"""The port ``awaits.closing``: a queue for coroutines that ends; its loop is driven.

Each call is a coroutine with a name, which begins when it is requested and may end at once. The
item of a put may be equal to that of another one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ...ports.base import (
    ITEM, NAME, POSITIVE, Argument, Kind, Operation, Port, Vocabulary, hello, is_word, list_of,
    promised,
)
from ...ports.driven import BY, driven

__all__ = ["EVENTS", "LOOP", "PORT"]

LOOP: Final = "loop"
"""The ``by`` of an event that belongs to no call."""

EVENTS: Final[Mapping[str, str]] = {
    "in": "the item of a put or spoil is in the queue, and the call is over",
    "told": "a put, spoil or take is informed, as by an error, that the queue is closed, and is "
            "over; its item is not in the queue, or it has none",
    "fails": "a put or spoil ends with another error, since the queue cannot take its item",
    "has": "a take has an item, and is over",
    "over": "a join has ended",
    "spins": f"by `{LOOP}`: callbacks run without end at one instant, or a call does not yield",
}
"""The events of a call."""


def _is_event(value: object) -> bool:
    if not isinstance(value, dict) or not is_word(value.get("does"), EVENTS):
        return False
    return NAME.accepts(value.get("by")) and (
        value["does"] != "has" or ITEM.accepts(value.get("item")))


SEEN: Final = Kind(
    'a list of {"by", "does"}, with "item" where it "has" one', list_of(_is_event), (
        Vocabulary("an event", {
            "by": f"the name of the call, or `{LOOP}`", "does": "what became of it",
            "item": "where it `has` one: the item; else absent"}),
        Vocabulary("`does`", EVENTS)))

_ITEM: Final = Argument("item", ITEM, "the item")

_OPERATIONS: Final = (
    hello("start a fresh queue and forget the one before"),
    Operation("put", SEEN, "a new call, which puts an item; its name is new", (BY, _ITEM)),
    Operation("spoil", SEEN, "a new call, which puts an item that the queue may not be able to "
              "take: then it fails; in other queues it comes out as it is", (BY, _ITEM)),
    Operation("take", SEEN, "a new call, which takes an item", (BY,)),
    Operation("join", SEEN, "a new call, which waits until all items that went in are done",
              (BY,)),
    Operation("done", SEEN, "a consumer is done with an item that it took"),
    Operation("close", SEEN, "close it: nothing goes in any more, and the items inside are still "
              "handed out"),
    Operation("cut", SEEN, "close it, and throw away the items inside, which count as done"),
    *driven(SEEN),
)

_PROMISES: Final = {
    "put": {
        "The item of a waiting put goes in as soon as there is a free slot.": "QUEUE-7",
    },
    "take": {
        "A waiting take gets an item as soon as there is one.": "QUEUE-8",
    },
    "join": {
        "A join ends when all items that went in are done.": "JOIN-2",
    },
    "close": {
        "Every waiting take ends.": "CLOSE-2",
        "Every waiting put ends.": "CLOSE-3",
    },
    "cut": {
        "Every waiting take ends.": "CLOSE-2",
        "Every waiting put ends.": "CLOSE-3",
        "Every waiting join ends.": "JOIN-2",
    },
}
"""The result that each operation must have, and the rules of progress that judge it."""

PORT: Final = Port(
    name="awaits.closing",
    version=1,
    meaning="a queue for coroutines that is closed and joined, one callback at a time",
    operations=promised(_OPERATIONS, _PROMISES),
    settings=(Argument("capacity", POSITIVE, "the most items that the queue may hold"),),
    policies={"wait": "a full queue makes a put wait; items leave in the order in which they came",
              "ranked": "a full queue makes a put wait; items leave by their rank"},
)
