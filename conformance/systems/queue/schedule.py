"""When the hidden steps of many queues may have been: a proposal, which the machine has to take.

A put's item comes in at some instant of the put, and leaves at some instant of the take that gets
it. Which instants explain a log is not said here: ``BoundedQueue`` takes the steps, and refuses
those that are none of a queue. But a proposal is needed, and for many calls at a time.

*The order.* An item came in before another one if its put ended before that of the other began; so
it has to be out before the other one's take ends. That is its deadline: the least end of the takes
of all that certainly came in later, and of its own. Items in the order of their deadlines are in
the order of their puts and of their takes, where there is such an order.

*The instants.* In that order an item comes in as late as it can: when its own put ends, or its
take, or the put or the take of an item behind it. It leaves as soon as it is in, and its take and
those of all before it have begun. So the queue holds as little as it can.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from .order import FAR, Order

if TYPE_CHECKING:

    from ...columns.cells import Numbers

__all__ = ["Items", "Plan", "after_row", "before_row", "of_row", "planned"]

_FAR: Final = 4 * FAR
"""A time after all others."""


@dataclass
class Items:
    """The items of some queues, by queue and in the order in which their puts began. ``segment`` is
    the number of the queue; ``put``, ``told``, ``take`` and ``got`` are the rows at which the put
    and the take begin and end; those that are not known are behind all rows (``end`` of the queue).
    ``rank`` is the place of one that is in already, -1 for none; ``served``: it is out already."""

    segment: Numbers
    put: Numbers
    told: Numbers
    take: Numbers
    got: Numbers
    rank: Numbers
    served: Any


@dataclass
class Plan:
    """The proposal: the ``order`` of the items (by queue), and by place in it the times of the two
    hidden steps. ``horizon`` is, by queue, the time from which on what is not known yet matters."""

    order: Numbers
    admit: Numbers
    serve: Numbers
    horizon: Numbers


def before_row(row: Numbers) -> Numbers:
    """The time just before a row."""
    return 4 * row + 1


def of_row(row: Numbers) -> Numbers:
    """The time of a row."""
    return 4 * row + 2


def after_row(row: Numbers) -> Numbers:
    """The time just after a row."""
    return 4 * row + 3


def planned(items: Items, starts: Numbers, ends: Numbers, capacity: int, final: bool,
            open_takes: Numbers | None = None) -> Plan:
    """Propose the order and the times of the items of queues with rows from ``starts`` up to
    ``ends``. ``final``: nothing follows, so nothing is open. ``open_takes`` are rows at which takes
    begin that have not ended: then the order is searched for (``Order``)."""
    import numpy as np

    start, end = starts[items.segment], ends[items.segment]
    deadline = _deadlines(items, end)
    inside = items.rank >= 0
    if open_takes is None:
        by = np.where(inside, 2 * start + 2, 2 * deadline + 3)
        stop = np.full(len(starts), FAR)
    else:
        by, stop = _searched(items, end, np.split(
            open_takes, np.searchsorted(open_takes, starts[1:])), capacity, final)
    order = np.lexsort((np.where(inside, items.rank, items.put), by, items.segment))
    start, end, inside = start[order], end[order], inside[order]
    needed = np.minimum(items.told, items.got)[order]
    late = np.minimum(np.minimum.accumulate(needed[::-1])[::-1], end)
    admit = np.where(inside, before_row(start), before_row(late))
    begun = np.maximum.accumulate(items.take[order])
    never = before_row(end)
    serve = np.where(begun >= end, never, np.maximum(admit, after_row(begun)))
    horizon = np.where(stop < FAR, before_row(stop), _FAR)
    if open_takes is None and not final and len(order):
        horizon = _horizon(items, order, deadline[order] >= end, admit, serve, end, capacity,
                           len(starts))
    got = items.got[order]
    serve = np.where(got < end, np.minimum(serve, before_row(got)), serve)
    return Plan(order, np.where(late < end, admit, np.where(inside, admit, never)), serve, horizon)


def _deadlines(items: Items, end: Numbers) -> Numbers:
    """By item, the row by which it has to be out; the end of its queue where there is none."""
    import numpy as np

    least = np.append(np.minimum.accumulate(items.got[::-1])[::-1], _FAR)
    later = np.searchsorted(items.put, np.where(items.told < end, items.told, _FAR))
    found: Numbers = np.minimum(np.minimum(items.got, least[later]), end)
    return found


def _searched(items: Items, end: Numbers, open_takes: Sequence[Numbers], capacity: int,
              final: bool) -> tuple[Numbers, Numbers]:
    """By item, its place in the order that a search has found, those that are in before all others,
    and those of which it is not known behind them; and by queue, from which row on it is not. Items
    that no known take has got get takes that never end."""
    import numpy as np

    by = np.where(items.rank >= 0, -1, FAR)
    stop = np.full(len(open_takes), FAR)
    left = np.flatnonzero(~items.served)
    bounds = np.searchsorted(items.segment[left], np.arange(len(open_takes) + 1)).tolist()
    for queue, first in enumerate(bounds[:-1]):
        some = left[first:bounds[queue + 1]]
        put, told, take, got = (np.where(each[some] < end[some], each[some], FAR)
                                for each in (items.put, items.told, items.take, items.got))
        rank = items.rank[some]
        inside = np.flatnonzero(rank >= 0)
        inside = inside[np.argsort(rank[inside])]
        since = FAR if final else int(end[some[0]]) if len(some) else 0
        if final:
            there = np.flatnonzero((take == FAR) & ((rank >= 0) | (told < FAR)))
            there = there[np.lexsort((told[there], rank[there], rank[there] < 0))]
            there = there[:len(open_takes[queue])]
            take[there] = items.take[some[there]] = open_takes[queue][:len(there)]
        elif len(open_takes[queue]):
            since = int(open_takes[queue][0])
        found = Order(put.tolist(), told.tolist(), take.tolist(), got.tolist(), inside.tolist(),
                      capacity, since).found()
        by[some[found.order]] = np.arange(len(found.order))
        stop[queue] = found.stop
    return by, stop


def _horizon(items: Items, order: Numbers, untaken: Any, admit: Numbers, serve: Numbers,
             end: Numbers, capacity: int, queues: int) -> Numbers:
    """By queue, the first time at which later events decide what was."""
    import numpy as np

    segment, told, put = items.segment[order], items.told[order], items.put[order]
    never = before_row(end)
    open_at = np.full(len(order), _FAR)
    # Two items that overlapped, and of which nobody knows yet which one comes out first.
    which = np.flatnonzero(untaken & (items.rank[order] < 0))
    if len(which) > 1:
        follows = segment[which][1:] == segment[which][:-1]
        latest = np.maximum.accumulate(told[which])
        ambiguous = np.zeros(len(which), bool)
        ambiguous[1:] = follows & (latest[:-1] > put[which][1:])
        ambiguous[:-1] |= follows & (put[which][1:] < told[which][:-1])
        open_at[which[ambiguous]] = admit[which[ambiguous]]
    # One that is out, though the one before it is with a take that has not ended.
    got = items.got[order]
    blocked = (serve >= never) & (got < end)
    open_at[blocked] = np.minimum(open_at, before_row(got))[blocked]
    # One that came in, though the queue was full of those of which one is with such a take.
    if capacity < len(order):
        ahead, behind = slice(0, len(order) - capacity), slice(capacity, len(order))
        full = ((segment[ahead] == segment[behind]) & (serve[ahead] >= never[ahead])
                & ~items.served[order][ahead] & (admit[behind] < never[behind]))
        place = np.flatnonzero(full) + capacity
        open_at[place] = np.minimum(open_at[place], admit[place])
    found = np.full(queues, _FAR)
    np.minimum.at(found, segment, open_at)
    return found
