"""The port ``awaits.gate``: a gate for coroutines; their loop is driven. It is shut at first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ...ports.base import (
    POSITIVE, Argument, Operation, Port, hello, promised,
)
from ...ports.driven import BY, driven, events_of_calls, stopped

__all__ = ["EVENTS", "PORT"]

EVENTS: Final[Mapping[str, str]] = {
    "passes": "the call has passed the gate, and is over",
    "told": "the call is informed, as by an error, that the gate is broken, and is over",
    "cancelled": "the cancellation of the call was requested; it has not passed, and is over",
    "fails": "the call ends with any other error",
}
"""The events of a call."""

SEEN: Final = events_of_calls(EVENTS)

_OPERATIONS: Final = (
    hello("start a fresh gate, which is shut, and forget the one before"),
    Operation("wait", SEEN, "a new call, which waits until it is open; its name is new", (BY,)),
    Operation("open", SEEN, "open it: every waiting call passes, and every call that comes"),
    Operation("shut", SEEN, "shut it: a call that comes waits"),
    Operation("break", SEEN, "break it: every waiting call is informed, and every call that comes"),
    Operation("interrupt", SEEN, "the cancellation of a waiting call is requested; nothing runs "
              "yet", (BY,)),
    *driven(SEEN),
    *stopped(SEEN),
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
