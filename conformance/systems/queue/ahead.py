"""The order in which the items of one queue came in, searched for (``Order``) in what was read
ahead of its log, where that is judged event by event.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from .calls import Item, LogCall
from .order import FAR, Order

__all__ = ["Ahead", "View"]

_LEAST: Final = 768
"""Events that have to be read ahead for a search."""

_MARGIN: Final = 512
"""The last of them, for which the order that is found is not used: what comes next may show another
one."""

_MOST: Final = 4_096
"""Events that are read ahead at most, if the order is not known with fewer."""


class View(NamedTuple):
    """The known facts of a queue: the items that are ``inside``, in their order, and the ``coming``
    ones, which wait, or of which the puts are read and have not begun; takes that are open, and
    ``lost`` ones, which have got nothing yet, and of which nobody knows what they got. The last
    place that was read is ``upto``; ``final``: nothing follows."""

    inside: Sequence[Item]
    coming: Sequence[Item]
    open_takes: Iterable[LogCall]
    lost: Iterable[LogCall]
    upto: int
    final: bool


class Ahead:
    """The order in one queue. ``ranks`` has the places of the items in it, ``known`` the place of
    the log up to which they are known, or cannot be."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self.ranks: dict[Item, int] = {}
        self.known = 0
        self._needs = _LEAST

    def begins_anew(self) -> None:
        """Search again, as the machine is elsewhere."""
        self.ranks, self.known, self._needs = {}, 0, _LEAST

    def has(self, events: int, final: bool) -> bool:
        """True if so many events that are read ahead are enough for a search."""
        return final or events >= self._needs

    def searches(self, at: int, events: int, view: View) -> bool:
        """Search for the order from the place ``at`` on, in so many events; false if more of them
        are needed."""
        stop = self._searched(view)
        self.known = view.upto + 1 if view.final else min(stop, view.upto - _MARGIN)
        self._needs = _LEAST
        if at < self.known:
            return True
        if events < _MOST and not view.final:
            self._needs = 2 * events
            return False
        self.known = at + _LEAST
        return True

    def _searched(self, view: View) -> int:
        """Find the ranks; the place from which on later events decide them."""
        items = sorted((*view.inside, *(item for item in view.coming if item.put.result in (
            "", "ok", "unknown"))), key=_put)
        due = [item.put.ended if item.put.result == "ok" else FAR for item in items]
        take = [FAR if item.take is None else item.take.begun for item in items]
        got = [item.take.ended if item.take is not None and item.take.item is item else FAR
               for item in items]
        place = {item: number for number, item in enumerate(items)}
        inside = [place[item] for item in view.inside]
        since = FAR if view.final else min(map(_begun, view.open_takes), default=view.upto + 1)
        left = [number for number in inside if take[number] == FAR]
        left += sorted((number for number in range(len(items)) if take[number] == FAR
                        and due[number] < FAR and number not in inside), key=due.__getitem__)
        if not view.final:      # those that are out for sure, and not with an open take
            least = _first_out_later(items, due, got, inside)
            left = [number for number in left if least[number] < since]
        for number, call in zip(left, sorted(view.lost, key=_begun), strict=False):
            take[number] = call.begun
        found = Order(
            list(map(_put, items)), due, take, got, inside, self._capacity, since).found()
        self.ranks = {items[number]: rank for rank, number in enumerate(found.order)}
        return found.stop


def _first_out_later(items: Sequence[Item], due: Sequence[int], got: Sequence[int],
                     inside: Sequence[int]) -> list[int]:
    """By item, the first place at which one is out that certainly came in later; ``FAR``: none."""
    least = [FAR]
    for each in reversed(got):
        least.append(min(least[-1], each))
    least.reverse()
    puts = list(map(_put, items))
    found = [least[bisect(puts, end)] if end < FAR else FAR for end in due]
    within = set(inside)
    after = min((got[number] for number in range(len(items)) if number not in within), default=FAR)
    for number in reversed(inside):
        found[number] = after
        after = min(after, got[number])
    return found


def _put(item: Item) -> int:
    return item.put.begun


def _begun(call: LogCall) -> int:
    return call.begun
