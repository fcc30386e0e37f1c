"""The rules of a bounded queue that an implementation can be seen to break.

They are *guard rules*: the ``require`` lines that name them, in ``bounded``, ``conserved`` and
``dropping``, are their only definition.
"""

from __future__ import annotations

from ..notation import MUST, SHOULD, guard_rule

__all__ = [
    "CANCEL_LEAVES_NO_TRACE", "CANCEL_PASSES_ON", "CONSUMER_WAKES", "DROPS_AS_PROMISED",
    "FULL_REFUSES", "IN_TURN",
    "NOT_INVENTED", "NOT_LOST", "NOT_TWICE", "ORDER", "PRODUCER_WAKES", "ROOM_ACCEPTS", "SIZE",
]

FULL_REFUSES = guard_rule(
    "QUEUE-1", MUST,
    "A queue that is full refuses an offer and makes a put wait: it never holds more than its "
    "capacity, and makes no room by dropping.",
    source="003#defining (bounded); anyio #147",
)
ROOM_ACCEPTS = guard_rule(
    "QUEUE-2", MUST,
    "A queue refuses an offer only when it is full.",
    source="003#defining (live)",
)
ORDER = guard_rule(
    "QUEUE-3", MUST,
    "Items leave in the order in which they entered.",
    source="000#order (per sender); cpython #83055",
)
NOT_LOST = guard_rule(
    "QUEUE-4", MUST,
    "An accepted item stays in the queue until it is handed out: a queue says that it is empty "
    "only if it is.",
    source="003#tokens; bpo-23812, anyio #146",
)
NOT_INVENTED = guard_rule(
    "QUEUE-5", MUST,
    "Nothing comes out that did not go in; an item that was refused stays out.",
    source="003#tokens",
)
NOT_TWICE = guard_rule(
    "QUEUE-6", MUST,
    "Nothing comes out twice, and no wait completes twice.",
    source="003#tokens; RabbitMQ #5609",
)
PRODUCER_WAKES = guard_rule(
    "QUEUE-7", MUST,
    "A put that waits completes as soon as there is room for it.",
    source="003#defining (live); anyio #143, janus #237",
)
CONSUMER_WAKES = guard_rule(
    "QUEUE-8", MUST,
    "A take that waits completes as soon as there is an item for it.",
    source="003#defining (live); tokio #8260",
)
CANCEL_LEAVES_NO_TRACE = guard_rule(
    "QUEUE-9", MUST,
    "A put or a take that was cancelled has had no effect; one that had an effect cannot be "
    "cancelled any more.",
    source="bpo-23812, anyio #146: a cancelled get took an item with it",
)
CANCEL_PASSES_ON = guard_rule(
    "QUEUE-10", MUST,
    "If a waiter is cancelled after it was woken, the next waiter is woken instead.",
    source="bpo-27585, cpython #90155, python/asyncio #265: a cancelled waiter swallowed the "
    "wakeup",
)
SIZE = guard_rule(
    "QUEUE-11", MUST,
    "The size that a queue reports is the number of items inside.",
    source="003#defining (Pending(B) is its term, and that a call reports it is ours)",
)
DROPS_AS_PROMISED = guard_rule(
    "QUEUE-17", MUST,
    "A queue that states what it drops when it is full drops just that: its oldest item, its "
    "youngest, all of them, or what arrives.",
    source="libraries#deque-maxlen, libraries#rx-dropping",
)
IN_TURN = guard_rule(
    "QUEUE-12", SHOULD,
    "Waiters are served in the order in which they began to wait, and a put or a take that comes "
    "later does not overtake them.",
    source="cpython #83055; libraries#trio-channels",
)
