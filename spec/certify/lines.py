"""Queues that are read in the order in which they were written, whatever the kinds in them.

Slots in a ring: the front goes round them as they are read, and the end as they are written.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..design.reading.language import Link
from .system import Counter, Transition, Ways, each

__all__ = ["first_in_line", "last_in_line", "line_of", "not_in_front"]


def _slots(link: Link) -> range:
    assert link.capacity is not None
    return range(1, link.capacity + 1)


def _next(link: Link, slot: int) -> int:
    return 1 if slot == link.capacity else slot + 1


def line_of(link: Link) -> Iterator[tuple[str, Counter]]:
    """The contents of each slot, and the places of front and end: those of the whole queue."""
    for slot in _slots(link):
        yield f"slot {slot} of {link.name}", Counter(0, 1)
        for end in ("front", "end"):
            yield f"{end} of {link.of} is slot {slot}", Counter(int(slot == 1), 1)


def first_in_line(link: Link, way: Transition) -> Iterator[Transition]:
    """The same, where what stands at the front is of the link's kind, and is taken."""
    for slot in _slots(link):
        transition, held = way.copy(), f"slot {slot} of {link.name}"
        transition.goes(f"front of {link.of} is slot {slot}",
                  f"front of {link.of} is slot {_next(link, slot)}")
        yield transition.take(held, 1).passes(held, -1)


def last_in_line(link: Link, way: Transition) -> Iterator[Transition]:
    """The same, and what is written comes to stand at the end."""
    for slot in _slots(link):
        transition, held = way.copy(), f"slot {slot} of {link.name}"
        transition.goes(f"end of {link.of} is slot {slot}",
                  f"end of {link.of} is slot {_next(link, slot)}")
        yield transition.put(held, 1).passes(held, 1)


def not_in_front(link: Link, ways: Ways) -> Iterator[Transition]:
    """The same, where nothing of the link's kind stands at the front."""
    for way in each(ways):
        for slot in _slots(link):
            yield way.copy().has(f"front of {link.of} is slot {slot}", 1).fits(
                f"slot {slot} of {link.name}", 0)
