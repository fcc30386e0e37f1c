"""The port ``awaits.closing``: a queue for coroutines that ends, and whose loop is driven.

Each call is a coroutine with a name, which begins when it is asked for and may end at once. The
item of a put is its name.
"""

from __future__ import annotations

from typing import Final

from ...ports.base import NAME, POSITIVE, Argument, Kind, Operation, Port, hello, is_word
from ..storm_acker.port import list_of

__all__ = ["EVENTS", "LOOP", "PORT"]

EVENTS: Final = ("in", "told", "fails", "has", "over", "spins")
LOOP: Final = "loop"
"""By whom an event is that belongs to no call."""


def _is_event(value: object) -> bool:
    if not isinstance(value, dict) or not is_word(value.get("does"), EVENTS):
        return False
    return NAME.accepts(value.get("by")) and (
        value["does"] != "has" or NAME.accepts(value.get("item")))


SEEN: Final = Kind('a list of {"by", "does"}, with "item" where it "has" one', list_of(_is_event))

_BY: Final = Argument("by", NAME, "the name of the call")

_OPERATIONS: Final = (
    hello("start a fresh queue and forget the one before"),
    Operation("put", SEEN, "a new call, which puts the item of its name", (_BY,)),
    Operation("spoil", SEEN, "a new call, which puts an item of its name that the queue may not "
              "be able to take: then it fails", (_BY,)),
    Operation("take", SEEN, "a new call, which takes an item", (_BY,)),
    Operation("join", SEEN, "a new call, which waits until all is done that went in", (_BY,)),
    Operation("done", SEEN, "a consumer is done with an item that it took"),
    Operation("close", SEEN, "close it: nothing goes in any more, and what is inside is given"),
    Operation("cut", SEEN, "close it, and throw away what is inside, which counts as done"),
    Operation(
        "run", SEEN, "let so many callbacks run, first in, first out; fewer if no more are ready",
        (Argument("steps", POSITIVE, "how many"),)),
    Operation("settle", SEEN, "let everything run that can run at this instant"),
)

PORT: Final = Port(
    name="awaits.closing",
    version=1,
    meaning="a queue for coroutines that is closed and joined, one callback at a time",
    operations={each.name: each for each in _OPERATIONS},
    settings=(Argument("capacity", POSITIVE, "the most items that the queue may hold"),),
    policies={"wait": "a full queue lets a put wait"},
)
