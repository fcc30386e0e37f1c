"""The port ``awaits.queue``: a queue for coroutines, whose event loop the harness drives.

It is the port ``queue``, with two differences. Nothing runs of itself: ``put`` and ``take`` take
one step, up to where the coroutine first waits for anything, and ``run`` lets some callbacks run.
And ``interrupt`` asks a waiting coroutine to stop, as ``task.cancel()`` does; what becomes of that
shows when it runs.
"""

from __future__ import annotations

from typing import Final

from ...ports.base import COUNT, FLAG, POSITIVE, TICKET, TRUE, Argument, Operation, Port, promised
from ..queue.port import PORT as QUEUE

__all__ = ["PORT"]

_LEFT_OUT: Final = ("cancel", "timers", "pause", "proceed")

_OWN: Final = (
    Operation(
        "interrupt", FLAG,
        "ask a waiting put or take to stop; nothing runs yet. true: it was undone, as if it had "
        "never been asked; false: too late, it has completed, and its event has been reported",
        (Argument("ticket", TICKET, "the ticket of a put or take that has not been reported"),),
        completion=FLAG,
    ),
    Operation(
        "run", TRUE, "let so many callbacks run, first in, first out; fewer if no more are ready",
        (Argument("steps", POSITIVE, "how many"),),
    ),
    Operation(
        "proceed", TRUE,
        "of a queue that threads use as well: let one that could go on run until it waits",
        (Argument("place", COUNT, "which of them, from 0, round and round"),),
    ),
)

_PROMISES: Final = {
    "interrupt": {
        "If the call was woken before, the next one that waits goes on in its place.": "QUEUE-10",
    },
}
"""What has to come of each operation, and the rules of progress that judge it."""

PORT: Final = Port(
    name="awaits.queue",
    version=1,
    meaning="a bounded first-in-first-out queue for coroutines, one callback at a time",
    operations={name: each for name, each in QUEUE.operations.items() if name not in _LEFT_OUT}
    | promised(_OWN, _PROMISES),
    settings=QUEUE.settings,
    policies={"wait": QUEUE.policies["wait"]},
)
