"""The port ``awaits.condition``: a condition variable for coroutines; their loop is driven.

Each call is a coroutine with a name. A ``wait`` takes the lock and goes to sleep; once it continues
it keeps the lock until ``leave``. A ``notify`` takes the lock, notifies, and gives it back.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ...ports.base import (
    COUNT, POSITIVE, Argument, Operation, Port, hello, promised,
)
from ...ports.driven import BY, driven, events_of_calls, stopped

__all__ = ["EVENTS", "PORT"]

EVENTS: Final[Mapping[str, str]] = {
    "sleeps": "a wait has taken the lock, and goes to sleep, which gives the lock back",
    "goes on": "a wait has ended with the lock, which the call keeps until `leave`, even if its "
               "cancellation was requested: that came too late",
    "cancelled": "a wait that was asked to cancel has ended with the lock; the call has "
                 "given that back, and is over",
    "left": "after `leave`: the call has given the lock back, and is over",
    "has no lock": "in place of cancelled or left: the call is over, and could not give the lock "
                   "back, for its wait ended without it",
    "notifies": "a notify has taken the lock, and notified; it gives the lock back, and is over",
}
"""The events of a call."""

SEEN: Final = events_of_calls(EVENTS)

_OPERATIONS: Final = (
    hello("start a fresh condition variable and forget the one before"),
    Operation("wait", SEEN, "a new call, which takes the lock and sleeps; its name is new", (BY,)),
    Operation("notify", SEEN, "a new call, which takes the lock, notifies and gives it back", (
        BY, Argument("count", COUNT, "how many it notifies, if so many sleep: 0, 1, 2 or 1,000"))),
    Operation("leave", SEEN, "a call that continued gives the lock back, at once: the step in "
              "which it does comes before all that is ready", (BY,)),
    Operation("interrupt", SEEN, "the cancellation of a sleeping call is requested; nothing runs "
              "yet", (BY,)),
    *driven(SEEN),
    *stopped(SEEN),
)

_PROMISES: Final = {
    "wait": {"The call sleeps as soon as it can take the lock.": "COND-10"},
    "notify": {
        "The call notifies as soon as it can take the lock.": "COND-10",
        "For each notification a sleeper wakes, as soon as it can take the lock.": "COND-3",
    },
    "leave": {"The call gives the lock back at once.": "COND-11"},
    "interrupt": {
        "The call wakes as soon as it can take the lock.": "COND-5",
        "If it was notified before, another sleeper wakes in its place.": "COND-4",
    },
}
"""The result that each operation must have, and the rules of progress that judge it."""

PORT: Final = Port(
    name="awaits.condition",
    version=1,
    meaning="a condition variable for coroutines, one callback at a time",
    operations=promised(_OPERATIONS, _PROMISES),
    settings=(Argument("capacity", POSITIVE, "how many may have the lock: 1"),),
    policies={"sleep": "a waiter sleeps until it is notified"},
)
