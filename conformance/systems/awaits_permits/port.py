"""The port ``awaits.permits``: a semaphore or a lock for coroutines; their loop is driven.

Each call of acquire is a coroutine with a name. It takes one step when it is requested, and then
runs only at ``run`` and ``settle``. Once it has a permit it keeps it until ``release``, even if its
cancellation is requested. Answers have the events of the callbacks that ran, in their order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ...ports.base import (
    FLAG, POSITIVE, Argument, Operation, Port, hello, promised,
)
from ...ports.driven import BY, driven, events_of_calls, stopped

__all__ = ["EVENTS", "PORT"]

EVENTS: Final[Mapping[str, str]] = {
    "has": "the call has a permit now, and keeps it until `release`, even if its cancellation was "
           "requested: that came too late",
    "waits": "the call has none yet; only in the answer to its own `acquire`, and nothing else is "
             "in that answer",
    "cancelled": "the cancellation of the call was requested; it has no permit, and is over",
    "released": "the call has given its permit back, and is over",
}
"""The events of a call."""

SEEN: Final = events_of_calls(EVENTS)

_OPERATIONS: Final = (
    hello("start a fresh semaphore or lock and forget the one before"),
    Operation("acquire", SEEN, "a new call: it has a permit, or it waits; its name is new", (BY,)),
    Operation("release", SEEN, "a call that has a permit gives it back, at once: the step in "
              "which it does comes before all that is ready", (BY,)),
    Operation("interrupt", SEEN, "the cancellation of a waiting call is requested; nothing runs "
              "yet", (BY,)),
    Operation("locked", FLAG, "whether an acquire would have to wait now"),
    *driven(SEEN),
    *stopped(SEEN),
)

_PROMISES: Final = {
    "acquire": {
        "The call has a permit or waits, at once.": "PERMIT-10",
        "A permit that no call holds is available at once, unless others wait for it.": "PERMIT-2",
        "A waiting call gets a permit as soon as one is free.": "PERMIT-3",
    },
    "release": {
        "The permit goes to a waiting call, if there is one.": "PERMIT-3",
    },
    "interrupt": {
        "If a permit was on its way to the call, the next waiting call gets it.": "PERMIT-4",
    },
}
"""The result that each operation must have, and the rules of progress that judge it."""

PORT: Final = Port(
    name="awaits.permits",
    version=1,
    meaning="permits for coroutines, one callback at a time",
    operations=promised(_OPERATIONS, _PROMISES),
    settings=(Argument("capacity", POSITIVE, "how many permits there are; a lock has one"),),
    policies={"line": "waiters form a wait queue"},
)
