"""The port ``queue``: the requests to a bounded queue under test, as data.

Items are chosen by the harness. Mostly they are all distinct, so that an item that is lost,
invented, reordered or delivered twice can be distinguished from its neighbours; in some programs
several are equal.
"""

from __future__ import annotations

from typing import Final

from ...ports.base import (
    COUNT, FLAG, ITEM, ITEM_OR_NULL, NAME, POSITIVE, TICKET, TIMERS, TRUE, Argument, Operation,
    Port, hello, promised,
)

__all__ = ["PORT"]

_ITEM = Argument("item", ITEM, "the item; its value means nothing; some may be equal")
_BY = Argument("by", NAME, "the producer or consumer that asks", required=False)
_STEPS = Argument("steps", POSITIVE, "how many: a step is the smallest unit between which a thread "
                  "may be stopped")

_OPERATIONS: Final = (
    hello("start a fresh instance and forget the one before, its tickets included"),
    Operation("offer", FLAG, "put the item if that is possible at once; never waits", (_ITEM,)),
    Operation("poll", ITEM_OR_NULL, "take an item, or null when there is none; never waits"),
    Operation("put", TRUE, "put the item, or wait for a free slot", (_ITEM, _BY), completion=TRUE),
    Operation("take", ITEM, "take an item, or wait for one", (_BY,), completion=ITEM),
    Operation(
        "cancel", FLAG,
        "true: the waiting operation is undone, as if it had never been asked; "
        "false: too late, it has completed, and its event has been or will be reported",
        (Argument("ticket", TICKET, "the ticket of a put or take; of one that has been reported, "
                  "too: then answer false, or the definite error unknown-ticket"),),
    ),
    Operation("size", COUNT, "how many items are in the queue"),
    Operation("resident", COUNT, "how many of them the queue holds itself, and not elsewhere"),
    Operation(
        "settle", TRUE, "let everything run that can run at this instant, then answer",
        optional=False,
    ),
    Operation("timers", TIMERS, "when the adapter next wants to be asked"),
    Operation(
        "pause", TRUE,
        "the next put or take is stopped after so many steps of its thread, if it takes as many, "
        "and waits; it continues at settle, at proceed, or before another one can answer at once",
        (_STEPS,),
    ),
    Operation(
        "begin_offer", FLAG,
        "an offer that is stopped after so many steps of its thread, if it takes as many, and "
        "continues as a stopped put does; its answer is that of an offer",
        (_ITEM, _STEPS), completion=FLAG,
    ),
    Operation(
        "begin_poll", ITEM_OR_NULL, "a poll that is stopped in the same way", (_STEPS,),
        completion=ITEM_OR_NULL,
    ),
    Operation(
        "proceed", TRUE, "one of the calls that could continue does, until it ends or waits",
        (Argument("place", COUNT, "which of them, from 0, round and round"),),
    ),
)

_PROMISES: Final = {
    "offer": {
        "An item that fits is accepted.": "QUEUE-2",
    },
    "poll": {
        "An item that is inside is handed out.": "QUEUE-4",
    },
    "put": {
        "A put that waits ends as soon as there is a free slot.": "QUEUE-7",
    },
    "take": {
        "A take that waits ends as soon as there is an item.": "QUEUE-8",
    },
    "cancel": {
        "If the call was woken before, the next waiting call is woken in its place.": "QUEUE-10",
    },
}
"""The result that each operation must have, and the rules of progress that judge it."""

PORT: Final = Port(
    name="queue",
    version=1,
    meaning="a bounded first-in-first-out queue with waiting producers and consumers",
    operations=promised(_OPERATIONS, _PROMISES),
    settings=(Argument("capacity", POSITIVE, "the most items that the queue may hold"),),
    policies={
        "wait": "a full queue refuses an offer; a put waits for a free slot",
        "reject": "a full queue refuses an offer; there is no waiting put",
        "drop-newest": "a full queue drops what arrives",
        "drop-oldest": "a full queue accepts an offer and drops its oldest item",
        "drop-youngest-queued": "a full queue accepts an offer and drops its youngest item",
        "clear": "a full queue accepts an offer and drops all items that it had",
        "conflate": "there is one place, for the newest item",
        "merge": "there is one place, for an item that stands for all items since the last that "
                 "came out",
        "spill": "an item that a full queue accepts is held elsewhere; it comes out in its turn",
        "disconnect": "a full queue accepts an offer and cuts its consumer off",
        "unbounded": "the queue is never full",
    },
)
