"""The suite ``awaits.queue``: the rules of a queue, between any two callbacks of an event loop.

Requests and judges are those of the suite ``queue``, with the same machines. But a woken coroutine
has not run yet, a cancelled one does not know it yet, and the requests that come in between are
drawn: some of the programs of a case take another one and cancel, at each of its instants in turn,
each coroutine that waits then.
"""

from __future__ import annotations

from typing import Final

from ....spec.queues.conserved import ConservingQueue
from ....spec.queues.interruptible import InterruptibleQueue
from ....spec.queues.policies import UnknownQueue
from ....spec.queues.queue import IN_TURN, BoundedQueue
from ...suites.lengthy import Long
from ...suites.says import WAITS, done, on, one, says, table, unsaid
from ...suites.suite import Act, Watch
from ...suites.sweeping import STEPS_MAX, SweepingSuite
from ..queue.suite import PLACES, ROWS, QueueConversation, constants
from ..queue.suite import SUITE as QUEUE
from .port import PORT

__all__ = ["SUITE", "AwaitsConversation"]

_UNDONE: Final = "a cancelled call is undone"


class AwaitsConversation(QueueConversation):
    """One session with a queue on a driven loop; see ``Conversation``."""

    cancels = "interrupt"
    lets_run = ("settle", "run", "proceed", "interrupt")
    late = vouching = False
    says = table(
        (BoundedQueue, InterruptibleQueue, UnknownQueue), *ROWS,
        on("interrupt", "interrupt what began to wait in step {began}",
           says(WAITS, "stops_put", "a cancellation is requested"), where="put",
           later=one(says(True, "cancelled_put", _UNDONE,
                          "the put of {named} is cancelled: undone"),
                     unsaid(says(False, "too_late_for_put", "",
                                 "the put of {named} is cancelled: too late")))),
        on("interrupt", "interrupt what began to wait in step {began}",
           says(WAITS, "stops_take", "a cancellation is requested"), where="take",
           later=one(says(True, "cancelled_take", _UNDONE, "{by} is cancelled: undone"),
                     unsaid(says(False, "too_late_for_take", "",
                                 "{by} is cancelled: too late")))),
        on("run", "run up to {steps} callbacks", done(),
           makes_sense=lambda talk: bool(talk.waiting()),
           picks={"steps": range(1, STEPS_MAX + 1)}),
        on("proceed", "a thread that can continue does", done(),
           makes_sense=lambda talk: bool(talk.waiting()), picks=PLACES),
    )


_FIRST: Final = (Act("interrupt", 0),)
_WOKEN_AND_STOPPED: Final = (
    ("take", "take", "offer", _FIRST, "settle"),
    ("take", "take", "put", _FIRST, "settle"),
    ("take", "take", "offer", "run", _FIRST, "settle"),
    ("take", "take", "run", "put", "run", _FIRST, "settle"),
    (*("put",) * 5, "poll", _FIRST, "settle"),
    (*("put",) * 5, "take", _FIRST, "settle"),
)
"""Two calls wait, one of them is woken, and cancelled before it runs."""


SUITE: Final = SweepingSuite(
    name=PORT.name,
    version=3,
    port=PORT.name,
    # The order counts: of two machines that refuse the same step, the first names the rule.
    watches=(
        Watch(ConservingQueue),
        Watch(BoundedQueue),
        Watch(InterruptibleQueue, adds=IN_TURN, base=BoundedQueue),
    ),
    weights={"offer": 2, "poll": 2, "put": 3, "take": 3, "run": 4, "proceed": 2, "interrupt": 3,
             "settle": 1, "size": 1},
    epilogue=QUEUE.epilogue,
    constants=constants,
    long=Long(fills=("offer", "put"), drains=("poll", "take"), sizes=(7,)),
    payloads=QUEUE.payloads,
    conversation=AwaitsConversation,
    scene="A queue of capacity {capacity}, on an event loop whose callbacks run one by one.",
    plainer=QUEUE.plainer,
    courses={"QUEUE-10": _WOKEN_AND_STOPPED},
    fuller=QUEUE.fuller,
)
