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
    "A full queue accepts no further item, by an offer or a put: it neither exceeds its "
    "capacity nor drops an item to make space.",
    source="003#defining (bounded); anyio #147",
)
ROOM_ACCEPTS = guard_rule(
    "QUEUE-2", MUST,
    "A queue refuses an offer only while it is full, counting the items of waiting puts that "
    "may have entered already.",
    source="003#defining (live)",
)
ORDER = guard_rule(
    "QUEUE-3", MUST,
    "Polls and takes get items in the order in which these entered; calls that wait at the same "
    "time may enter or return in any order.",
    source="000#order (per sender); cpython #83055",
)
NOT_LOST = guard_rule(
    "QUEUE-4", MUST,
    "A poll finds a queue empty only if each item that entered was handed out, or is held for a "
    "take that still waits.",
    source="003#tokens; bpo-23812, anyio #146",
)
NOT_INVENTED = guard_rule(
    "QUEUE-5", MUST,
    "An item is handed out only if a producer put or offered it before, and never if its offer "
    "was refused.",
    source="003#tokens",
)
NOT_TWICE = guard_rule(
    "QUEUE-6", MUST,
    "Nothing comes out twice, and no wait completes twice.",
    source="003#tokens; RabbitMQ #5609",
)
PRODUCER_WAKES = guard_rule(
    "QUEUE-7", MUST,
    "When an open queue is quiescent, no put waits while a place is free or its item is inside "
    "already, unless a waiting put was cancelled beside a free place just before.",
    source="003#defining (live); anyio #143, janus #237",
)
CONSUMER_WAKES = guard_rule(
    "QUEUE-8", MUST,
    "When a queue is quiescent, no take waits while an item is inside or held for it, unless a "
    "waiting take was cancelled beside an item just before.",
    source="003#defining (live); tokio #8260",
)
CANCEL_LEAVES_NO_TRACE = guard_rule(
    "QUEUE-9", MUST,
    "A cancelled put never enters its item and a cancelled take gets none; a cancel comes too "
    "late only after the item has entered or the take has got one.",
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
    "The size that a queue reports is the number of items that have entered and that no poll or "
    "take has got, where a take may get an item before it returns.",
    source="003#defining (Pending(B) is its term, and that a call reports it is ours)",
)
DROPS_AS_PROMISED = guard_rule(
    "QUEUE-17", MUST,
    "Once a queue with a stated drop policy has overflowed, and until a call waits, polls and "
    "takes return just what the policy (drop oldest, youngest, all, or the arrival) leaves, "
    "oldest first.",
    source="libraries#deque-maxlen, libraries#rx-dropping",
)
IN_TURN = guard_rule(
    "QUEUE-12", SHOULD,
    "Puts are served in the order in which they began to wait, before later puts, and so are "
    "takes; offers and polls may come first, and waiters with a requested cancellation may be "
    "passed over.",
    source="cpython #83055; libraries#trio-channels",
)
