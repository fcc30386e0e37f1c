"""The port ``awaits.permits``: a semaphore or a lock for coroutines, whose loop is driven.

Each call of acquire is a coroutine with a name. It takes one step when it is asked for, and then
only as ``run`` and ``settle`` say. Once it has a permit it keeps it until ``release``, whatever it
was told. Answers have the events of the callbacks that ran, in their order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ...ports.base import (
    FLAG, NAME, POSITIVE, Argument, Kind, Operation, Port, Vocabulary, hello, is_word, promised,
)
from ..storm_acker.port import list_of

__all__ = ["EVENTS", "PORT"]

EVENTS: Final[Mapping[str, str]] = {
    "has": "the call has a permit now, and keeps it until `release`, even if it was told to stop: "
           "that came too late",
    "waits": "the call has none yet; only in the answer to its own `acquire`, and nothing else is "
             "in that answer",
    "cancelled": "the call was told to stop, has no permit, and is over",
    "released": "the call has given its permit back, and is over",
}
"""What may become of a call."""


def _is_event(value: object) -> bool:
    return (isinstance(value, dict) and is_word(value.get("does"), EVENTS)
            and NAME.accepts(value.get("by")))


SEEN: Final = Kind('a list of {"by", "does"}', list_of(_is_event), (
    Vocabulary("an event", {"by": "the name of the call", "does": "what became of it"}),
    Vocabulary("`does`", EVENTS)))

_BY: Final = Argument("by", NAME, "the name of the call of acquire")

_OPERATIONS: Final = (
    hello("start a fresh semaphore or lock and forget the one before"),
    Operation("acquire", SEEN, "a new call: it has a permit, or it waits; its name is new", (_BY,)),
    Operation("release", SEEN, "a call that has a permit gives it back, at once: the step in "
              "which it does comes before all that is ready", (_BY,)),
    Operation("interrupt", SEEN, "a call that waits is told to stop; nothing runs yet", (_BY,)),
    Operation("locked", FLAG, "whether an acquire would have to wait now"),
    Operation(
        "run", SEEN, "let so many callbacks run, first in, first out; fewer if no more are ready",
        (Argument("steps", POSITIVE, "how many"),)),
    Operation("settle", SEEN, "let everything run that can run at this instant",
              optional=False),
)

_PROMISES: Final = {
    "acquire": {
        "The call has a permit or waits, at once.": "PERMIT-10",
        "A permit that nobody holds is to be had at once, unless others wait for it.": "PERMIT-2",
        "A call that waits has a permit as soon as one is free.": "PERMIT-3",
    },
    "release": {
        "The permit goes to a call that waits, if there is one.": "PERMIT-3",
    },
    "interrupt": {
        "If a permit was on its way to the call, the next one that waits has it.": "PERMIT-4",
    },
}
"""What has to come of each operation, and the rules of progress that judge it."""

PORT: Final = Port(
    name="awaits.permits",
    version=1,
    meaning="permits for coroutines, one callback at a time",
    operations=promised(_OPERATIONS, _PROMISES),
    settings=(Argument("capacity", POSITIVE, "how many permits there are; a lock has one"),),
    policies={"line": "who waits stands in a line"},
)
