"""The port ``awaits.gate``: a gate for coroutines, whose loop is driven. It is shut at first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ...ports.base import (
    NAME, POSITIVE, Argument, Kind, Operation, Port, Vocabulary, hello, is_word, promised,
)
from ..storm_acker.port import list_of

__all__ = ["EVENTS", "PORT"]

EVENTS: Final[Mapping[str, str]] = {
    "passes": "the call has passed the gate, and is over",
    "told": "the call is informed, as by an error, that the gate is broken, and is over",
    "cancelled": "the cancellation of the call was requested; it has not passed, and is over",
    "fails": "the call ends with any other error",
}
"""The events of a call."""


def _is_event(value: object) -> bool:
    return (isinstance(value, dict) and is_word(value.get("does"), EVENTS)
            and NAME.accepts(value.get("by")))


SEEN: Final = Kind('a list of {"by", "does"}', list_of(_is_event), (
    Vocabulary("an event", {"by": "the name of the call", "does": "what became of it"}),
    Vocabulary("`does`", EVENTS)))

_BY: Final = Argument("by", NAME, "the name of the call")

_OPERATIONS: Final = (
    hello("start a fresh gate, which is shut, and forget the one before"),
    Operation("wait", SEEN, "a new call, which waits until it is open; its name is new", (_BY,)),
    Operation("open", SEEN, "open it: every waiting call passes, and every call that comes"),
    Operation("shut", SEEN, "shut it: a call that comes waits"),
    Operation("break", SEEN, "break it: every waiting call is informed, and every call that comes"),
    Operation("interrupt", SEEN, "the cancellation of a waiting call is requested; nothing runs "
              "yet", (_BY,)),
    Operation(
        "run", SEEN, "let so many callbacks run, first in, first out; fewer if no more are ready",
        (Argument("steps", POSITIVE, "how many"),)),
    Operation("settle", SEEN, "let everything run that can run at this instant",
              optional=False),
)

_PROMISES: Final = {
    "open": {
        "Every waiting call passes.": "GATE-2",
    },
    "break": {
        "Every waiting call is informed.": "GATE-4",
    },
    "interrupt": {
        "The call stops waiting.": "GATE-6",
    },
}
"""The result that each operation must have, and the rules of progress that judge it."""

PORT: Final = Port(
    name="awaits.gate",
    version=1,
    meaning="a gate for coroutines, one callback at a time",
    operations=promised(_OPERATIONS, _PROMISES),
    settings=(Argument("capacity", POSITIVE, "how many gates there are: 1"),),
    policies={"sleep": "a call that comes while it is shut sleeps until it is opened"},
)
