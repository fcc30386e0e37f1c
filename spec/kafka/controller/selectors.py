"""The four leader selectors, and the choice of a partition's first leader, as functions.

There are three brokers, 0 to 2; ``NOBODY`` is none of them. A *set* of brokers is the sum of the
weights 1, 2 and 4 of its members. A *list*, such as the assigned replicas (AR) of a partition in
their order of preference, is a row of ``ORDERS``, which has all lists without repetition; -1 fills
it up. A *live* broker is registered and is not shutting down.

Each selector returns the new leader, the new in-sync replicas (ISR), and the receivers of a
LeaderAndIsr request. It *fails* if the leader is ``NOBODY``: nothing is changed then. An election
raises the leader epoch by one, and is written only if the node has not been written since it was
read.

Source: kafka#selectors; KAFKA-3670.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from itertools import permutations
from typing import Final, NamedTuple

__all__ = [
    "ALL", "APPENDED", "BROKERS", "NOBODY", "ORDERS", "PLACES", "STRUCK", "Choice", "Order",
    "Selector", "both", "controlled_shutdown", "either", "first", "first_leader", "has", "members",
    "offline", "only", "preferred", "reassigned", "without",
]

BROKERS: Final = 3
NOBODY: Final = BROKERS
ALL: Final = 2**BROKERS - 1

Order = tuple[int, ...]

ORDERS: Final[tuple[Order, ...]] = tuple(
    (*some, *(-1,) * (BROKERS - length))
    for length in (3, 2, 1, 0) for some in permutations(range(BROKERS), length))
"""All lists of brokers, the longest first; a list that may change is identified by its row number.
"""


def _row(brokers: Iterable[int]) -> int:
    listed = tuple(brokers)
    return ORDERS.index((*listed, *(-1,) * (BROKERS - len(listed))))


PLACES: Final = tuple(broker for order in ORDERS for broker in order)
"""Row after row; the broker at a place of a list is number 3 row + place."""
APPENDED: Final = tuple(
    _row([each for each in order if each >= 0] + [broker] * (broker not in order))
    for order in ORDERS for broker in range(BROKERS))
"""Number 3 row + broker is the row of the list with this broker at its end, unless it has it."""
STRUCK: Final = tuple(
    _row(each for each in order if each not in (-1, broker))
    for order in ORDERS for broker in range(BROKERS))
"""Number 3 row + broker is the row of the list without this broker."""


class Selector(IntEnum):
    """Selectors for the next leader of a partition."""

    OFFLINE = 0
    REASSIGNED = 1
    PREFERRED = 2
    CONTROLLED_SHUTDOWN = 3


class Choice(NamedTuple):
    """The new leader, the new ISR, and the receivers of the request."""

    leader: int
    isr: int
    told: int


# ---- sets and lists of brokers ------------------------------------------------------------------


def has(brokers: int, broker: int) -> bool:
    """True if the set has the member; NOBODY is in no set."""
    return ((broker == 0 and brokers % 2 == 1) or (broker == 1 and brokers // 2 % 2 == 1)
            or (broker == 2 and brokers // 4 == 1))


def only(broker: int) -> int:
    """The set of one broker; the empty set of NOBODY."""
    return (1 if broker == 0 else 2) if broker < 2 else (4 if broker == 2 else 0)


def both(one: int, other: int) -> int:
    """The brokers that are in both sets."""
    return sum(only(each) for each in range(BROKERS) if has(one, each) and has(other, each))


def without(brokers: int, others: int) -> int:
    """The brokers of a set that are not in another."""
    return brokers - both(brokers, others)


def either(one: int, other: int) -> int:
    """The brokers that are in at least one of two sets."""
    return one + without(other, one)


def members(order: Order) -> int:
    """The brokers of a list, as a set."""
    return sum(only(order[place]) for place in range(BROKERS) if order[place] >= 0)


def first(order: Order, among: int) -> int:
    """The first broker of a list that is in a set, or NOBODY."""
    found = NOBODY
    for place in range(BROKERS):
        if found == NOBODY and has(among, order[place]):
            found = order[place]
    return found


# ---- selectors ----------------------------------------------------------------------------------


def first_leader(assigned: Order, live: int) -> Choice:
    """For a new partition: the first live broker leads, and all live ones are in sync."""
    there = both(members(assigned), live)
    return Choice(first(assigned, live), there, there)


def offline(assigned: Order, isr: int, live: int, unclean: bool) -> Choice:
    """After a failure: the first broker that is live and in sync; the ISR keeps its live members.

    Without one, an *unclean* election takes the first live broker, and the ISR has only that one.
    Records that it lacks are lost.
    """
    told = both(members(assigned), live)
    clean = first(assigned, both(isr, live))
    if clean != NOBODY or not unclean:
        return Choice(clean, both(isr, live), told)
    return Choice(first(assigned, live), only(first(assigned, live)), told)


def reassigned(target: Order, isr: int, live: int) -> Choice:
    """For a reassignment: the first of the new replicas that is live and in sync."""
    return Choice(first(target, both(isr, live)), isr, members(target))


def preferred(assigned: Order, isr: int, live: int) -> Choice:
    """The preferred replica: the first of the list, if it is live and in sync."""
    head = assigned[0]
    return Choice(head if has(both(isr, live), head) else NOBODY, isr, members(assigned))


def controlled_shutdown(assigned: Order, isr: int, live: int, shutting_down: int) -> Choice:
    """Avoid brokers that shut down: the first that is live and in sync; they leave the ISR."""
    left = without(isr, shutting_down)
    return Choice(first(assigned, both(left, live)), left,
                  both(members(assigned), either(live, shutting_down)))
