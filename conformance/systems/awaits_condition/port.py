"""The port ``awaits.condition``: a condition variable for coroutines, whose loop is driven.

Each call is a coroutine with a name. A ``wait`` takes the lock and goes to sleep; once it goes on
it keeps the lock until ``leave``. A ``notify`` takes the lock, notifies, and gives it back.
"""

from __future__ import annotations

from typing import Final

from ...ports.base import NAME, POSITIVE, Argument, Kind, Operation, Port, hello, is_word
from ..storm_acker.port import list_of

__all__ = ["EVENTS", "PORT"]

EVENTS: Final = ("sleeps", "goes on", "cancelled", "left", "has no lock", "notifies")


def _is_event(value: object) -> bool:
    return (isinstance(value, dict) and is_word(value.get("does"), EVENTS)
            and NAME.accepts(value.get("by")))


SEEN: Final = Kind('a list of {"by", "does"}', list_of(_is_event))

_BY: Final = Argument("by", NAME, "the name of the call")

_OPERATIONS: Final = (
    hello("start a fresh condition variable and forget the one before"),
    Operation("wait", SEEN, "a new call, which takes the lock and sleeps", (_BY,)),
    Operation("notify", SEEN, "a new call, which takes the lock, notifies and gives it back", (
        _BY, Argument("count", POSITIVE, "how many it notifies, 1 or 2"))),
    Operation("leave", SEEN, "a call that went on gives the lock back, at once", (_BY,)),
    Operation("interrupt", SEEN, "a call that sleeps is told to stop; nothing runs yet", (_BY,)),
    Operation(
        "run", SEEN, "let so many callbacks run, first in, first out; fewer if no more are ready",
        (Argument("steps", POSITIVE, "how many"),)),
    Operation("settle", SEEN, "let everything run that can run at this instant"),
)

PORT: Final = Port(
    name="awaits.condition",
    version=1,
    meaning="a condition variable for coroutines, one callback at a time",
    operations={each.name: each for each in _OPERATIONS},
    settings=(Argument("capacity", POSITIVE, "how many may have the lock: 1"),),
    policies={"sleep": "who waits sleeps until it is notified"},
)
