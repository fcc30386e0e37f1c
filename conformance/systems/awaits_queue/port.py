"""The port ``awaits.queue``: a queue for coroutines; the harness drives their event loop.

It is the port ``queue``, with two differences. Nothing runs by itself: ``put`` and ``take`` take
one step, up to where the coroutine first waits for anything, and ``run`` lets some callbacks run.
And ``interrupt`` requests the cancellation of a waiting coroutine, as ``task.cancel()`` does; the
result shows when it runs.
"""

from __future__ import annotations

from typing import Final

from ...ports.base import COUNT, FLAG, POSITIVE, TICKET, TRUE, Argument, Operation, Port, promised
from ..queue.port import PORT as QUEUE

__all__ = ["PORT"]

_LEFT_OUT: Final = ("cancel", "timers", "pause", "proceed", "begin_offer", "begin_poll")

_OWN: Final = (
    Operation(
        "interrupt", FLAG,
        "request the cancellation of a waiting put or take; nothing runs yet. true: it was undone, "
        "as if it had never been asked; false: too late, it has completed, and its event has been "
        "reported",
        (Argument("ticket", TICKET, "the ticket of a put or take that has not been reported"),),
        completion=FLAG,
    ),
    Operation(
        "run", TRUE, "let so many callbacks run, first in, first out; fewer if no more are ready",
        (Argument("steps", POSITIVE, "how many"),),
    ),
    Operation(
        "proceed", TRUE,
        "of a queue that threads use as well: let a thread that can continue run until it waits",
        (Argument("place", COUNT, "which of them, from 0, round and round"),),
    ),
)

_PROMISES: Final = {
    "interrupt": {
        "If the call was woken before, the next waiting call is woken in its place.": "QUEUE-10",
    },
}
"""The result that each operation must have, and the rules of progress that judge it."""

PORT: Final = Port(
    name="awaits.queue",
    version=1,
    meaning="a bounded first-in-first-out queue for coroutines, one callback at a time",
    operations={name: each for name, each in QUEUE.operations.items() if name not in _LEFT_OUT}
    | promised(_OWN, _PROMISES),
    settings=QUEUE.settings,
    policies={"wait": QUEUE.policies["wait"]},
)
