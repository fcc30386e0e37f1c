"""Queues of several kinds of elements that are taken in the order in which they came.

The elements of such a queue stand in slots, as many as it has room for, which are gone round: the
*front* is the slot that is read next, the *end* the one that is written next. There is a place for
each slot that may be the front, or the end, and, for each kind, for what stands in it. So a read
takes what stands at the front and nothing else: an element of another kind that no task takes holds
up all that is behind it (head-of-line blocking).

How many elements of each kind there are, and how many slots are free, is counted as in any queue
with kinds. What else is known of such a ring are sums that no step changes: whether a slot is taken
and whether the one before it is differ by whether it is the front, or the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .places import LinkPlaces
from .rows import Effect, Invariant, Place

__all__ = [
    "front", "invariants", "places", "places_of_queue", "reads", "refused", "slot_of", "writes",
]


def front(queue: str, slot: int) -> str:
    """The place that is 1 while a slot is the one that is read next."""
    return f"front of {queue} is slot {slot}"


def _end(queue: str, slot: int) -> str:
    """The place that is 1 while a slot is the one that is written next."""
    return f"end of {queue} is slot {slot}"


def _held(of: LinkPlaces, slot: int) -> str:
    """The place that is 1 while an element of the link's kind stands in a slot."""
    return f"slot {slot} of {of.link.name}"


def slot_of(place: str) -> int:
    """The number of the slot that a place for what stands there is about."""
    return int(place.split()[1])


def places_of_queue(queue: str, size: int) -> Iterator[Place]:
    """The places for the front and the end of a queue."""
    for name in (front, _end):
        for slot in range(1, size + 1):
            yield Place(name(queue, slot), "line", queue, int(slot == 1), 1, 1, 1)


def places(of: LinkPlaces) -> Iterator[Place]:
    """The places for the kind of the element in each slot."""
    for slot in range(1, of.capacity + 1):
        yield Place(_held(of, slot), "slot", of.link.queue, 0, 1, 1, 1)


def invariants(queue: str, kinds: Sequence[LinkPlaces]) -> Iterator[Invariant]:
    """One front and one end; what stands in slots is what is in the queue; and of two slots, one
    behind the other, what stands in them differs by whether the second is the front, or the end."""
    slots = range(1, kinds[0].capacity + 1)
    for name in (front, _end):
        yield Invariant({name(queue, slot): 1 for slot in slots}, 1)
    for of in kinds:
        yield Invariant({of.queue: -1} | {_held(of, slot): 1 for slot in slots}, 0)
    for slot in slots if len(slots) > 1 else ():
        behind = _behind(kinds[0], slot)
        yield Invariant({**{_held(of, slot): 1 for of in kinds},
                         **{_held(of, behind): -1 for of in kinds},
                         front(queue, behind): 1, _end(queue, behind): -1}, 0)


def reads(of: LinkPlaces, way: Effect) -> Iterator[Effect]:
    """The way to read an element, if it stands at the front."""
    for slot in range(1, of.capacity + 1):
        held = _held(of, slot)
        here, there = (front(of.link.queue, each) for each in (slot, _behind(of, slot)))
        yield way.then(Effect({here: 1, held: 1}, {}, {**_moved(here, there), held: -1}))


def writes(of: LinkPlaces, way: Effect) -> Iterator[Effect]:
    """The way to write an element, which comes to stand at the end."""
    for slot in range(1, of.capacity + 1):
        here, there = (_end(of.link.queue, each) for each in (slot, _behind(of, slot)))
        yield way.then(Effect({here: 1}, {}, {**_moved(here, there), _held(of, slot): 1}))


def refused(of: LinkPlaces) -> Iterator[Effect]:
    """No element of the link's kind stands at the front."""
    for slot in range(1, of.capacity + 1):
        yield Effect({front(of.link.queue, slot): 1}, {_held(of, slot): 0})


def _behind(of: LinkPlaces, slot: int) -> int:
    return slot % of.capacity + 1


def _moved(here: str, there: str) -> dict[str, int]:
    return {} if here == there else {here: -1, there: 1}
