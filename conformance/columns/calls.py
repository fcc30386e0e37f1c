"""The calls of many keys at a time: which end belongs to which beginning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from .rows import NONE, Rows, Unfit

if TYPE_CHECKING:

    from .rows import Numbers

__all__ = ["Pairs", "first_of_each", "paired"]


class Pairs(NamedTuple):
    """By row, the row of the other end of its call, -1 for none; and the ``odd`` rows: an end
    without its beginning, or a beginning where the process was in a call."""

    mate: Numbers
    odd: Any


def paired(rows: Rows, segment: Numbers, operation: Numbers, begins: Any) -> Pairs:
    """The calls of rows that are sorted by ``segment`` (the number of their key) and are beginnings
    or ends. Raises ``Unfit`` where there are too many processes."""
    import numpy as np

    size = len(rows)
    who = rows.process
    if (rows.call != NONE).any():
        most = int(rows.call.max()) + 2
        who = who * most + np.where(rows.call == NONE, 0, rows.call + 1)
    place, people = max(1, size.bit_length()), max(1, int(who.max()).bit_length())
    if place + people + int(segment[-1]).bit_length() > 62:
        raise Unfit
    both = np.sort(((segment << people) | who) << place | np.arange(size))
    order, group = both & ((1 << place) - 1), both >> place
    starts, does = begins[order], operation[order]
    same = group[1:] == group[:-1]
    joins = same & starts[:-1] & ~starts[1:] & (does[1:] == does[:-1])
    mate = np.full(size, -1, np.int64)
    mate[order[1:][joins]] = order[:-1][joins]
    mate[order[:-1][joins]] = order[1:][joins]
    odd = ~begins & (mate < 0)
    odd[order[1:][same & starts[:-1] & starts[1:]]] = True
    return Pairs(mate, odd)


def first_of_each(marked: Any, starts: Numbers, ends: Numbers) -> Numbers:
    """The first marked row in each segment, or its end."""
    import numpy as np

    places = np.flatnonzero(marked)
    found = ends.copy()
    if len(places):
        after = np.searchsorted(places, starts)
        has = np.flatnonzero(after < len(places))
        found[has] = np.minimum(ends[has], places[after[has]])
    return found
