"""The port ``awaits.gate``: a gate for coroutines, whose loop is driven. It is shut at first."""

from __future__ import annotations

from typing import Final

from ...ports.base import NAME, POSITIVE, Argument, Kind, Operation, Port, hello, is_word
from ..storm_acker.port import list_of

__all__ = ["EVENTS", "PORT"]

EVENTS: Final = ("passes", "told", "cancelled", "fails")


def _is_event(value: object) -> bool:
    return (isinstance(value, dict) and is_word(value.get("does"), EVENTS)
            and NAME.accepts(value.get("by")))


SEEN: Final = Kind('a list of {"by", "does"}', list_of(_is_event))

_BY: Final = Argument("by", NAME, "the name of the call")

_OPERATIONS: Final = (
    hello("start a fresh gate, which is shut, and forget the one before"),
    Operation("wait", SEEN, "a new call, which waits until it is open", (_BY,)),
    Operation("open", SEEN, "open it: all pass who wait, and who comes"),
    Operation("shut", SEEN, "shut it: who comes waits"),
    Operation("break", SEEN, "break it: all are told who wait, and who comes"),
    Operation("interrupt", SEEN, "a call that waits is told to stop; nothing runs yet", (_BY,)),
    Operation(
        "run", SEEN, "let so many callbacks run, first in, first out; fewer if no more are ready",
        (Argument("steps", POSITIVE, "how many"),)),
    Operation("settle", SEEN, "let everything run that can run at this instant"),
)

PORT: Final = Port(
    name="awaits.gate",
    version=1,
    meaning="a gate for coroutines, one callback at a time",
    operations={each.name: each for each in _OPERATIONS},
    settings=(Argument("capacity", POSITIVE, "how many gates there are: 1"),),
    policies={"sleep": "who comes while it is shut sleeps until it is opened"},
)
