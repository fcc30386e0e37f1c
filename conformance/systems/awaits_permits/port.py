"""The port ``awaits.permits``: a semaphore or a lock for coroutines, whose loop is driven.

Each call of acquire is a coroutine with a name. It takes one step when it is asked for, and then
only as ``run`` and ``settle`` say. Once it has a permit it keeps it until ``release``, whatever it
was told. Answers have the events of the callbacks that ran, in their order.
"""

from __future__ import annotations

from typing import Final

from ...ports.base import FLAG, NAME, POSITIVE, Argument, Kind, Operation, Port, hello, is_word
from ..storm_acker.port import list_of

__all__ = ["EVENTS", "PORT"]

EVENTS: Final = ("has", "waits", "cancelled", "released")


def _is_event(value: object) -> bool:
    return (isinstance(value, dict) and is_word(value.get("does"), EVENTS)
            and NAME.accepts(value.get("by")))


SEEN: Final = Kind('a list of {"by", "does"}', list_of(_is_event))

_BY: Final = Argument("by", NAME, "the name of the call of acquire")

_OPERATIONS: Final = (
    hello("start a fresh semaphore or lock and forget the one before"),
    Operation("acquire", SEEN, "a new call: it has a permit, or it waits", (_BY,)),
    Operation("release", SEEN, "a call that has a permit gives it back, at once", (_BY,)),
    Operation("interrupt", SEEN, "a call that waits is told to stop; nothing runs yet", (_BY,)),
    Operation("locked", FLAG, "whether an acquire would have to wait now"),
    Operation(
        "run", SEEN, "let so many callbacks run, first in, first out; fewer if no more are ready",
        (Argument("steps", POSITIVE, "how many"),)),
    Operation("settle", SEEN, "let everything run that can run at this instant"),
)

PORT: Final = Port(
    name="awaits.permits",
    version=1,
    meaning="permits for coroutines, one callback at a time",
    operations={each.name: each for each in _OPERATIONS},
    settings=(Argument("capacity", POSITIVE, "how many permits there are; a lock has one"),),
    policies={"line": "who waits stands in a line"},
)
