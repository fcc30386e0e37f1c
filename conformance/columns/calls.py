"""The calls of many keys at a time: which end belongs to which beginning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from .rows import NONE, Rows

if TYPE_CHECKING:

    from .rows import Numbers

__all__ = ["Pairs", "first_of_each", "in_groups", "paired"]


_FAR: Final = 1 << 62
_BITS: Final = 62


class Pairs(NamedTuple):
    """By row, the row of the other end of its call, -1 for none; and the ``odd`` rows: an end
    without its beginning, or a beginning where the process was in a call."""

    mate: Numbers
    odd: Any


def paired(rows: Rows, segment: Numbers, operation: Numbers, begins: Any, numbered: bool
           ) -> Pairs:
    """The calls of rows that are sorted by ``segment`` (the number of their key) and are beginnings
    or ends. Where they are ``numbered``, the rows of a call have its number."""
    import numpy as np

    order, group = (in_groups(rows.call) if numbered else
                    in_groups(segment, rows.process, rows.call))
    starts, does = begins[order], operation[order]
    same = group[1:] == group[:-1]
    joins = same & starts[:-1] & ~starts[1:] & (does[1:] == does[:-1])
    mate = np.full(len(rows), -1, np.int64)
    mate[order[1:][joins]] = order[:-1][joins]
    mate[order[:-1][joins]] = order[1:][joins]
    odd = ~begins & (mate < 0)
    odd[order[1:][same & starts[:-1] & starts[1:]]] = True
    return Pairs(mate, odd)


def in_groups(*columns: Numbers) -> tuple[Numbers, Numbers]:
    """The places of rows, those with the same values in all columns one after the other, in their
    order; and by row of these the number of its group."""
    import numpy as np

    size = len(columns[0])
    place = max(1, size.bit_length())
    whole, bits = np.zeros(size, np.int64), place
    for column in columns:
        if not size:
            break
        absent = column == NONE
        least = int(np.where(absent, _FAR, column).min())
        inner = np.where(absent, 0, column - least + 1)
        more = max(1, int(inner.max()).bit_length())
        bits += more
        if bits > _BITS:
            break
        whole = whole << more | inner
    if bits <= _BITS:
        both = np.sort(whole << place | np.arange(size))
        return both & ((1 << place) - 1), both >> place
    order = np.lexsort(columns[::-1])
    ends = np.zeros(size, bool)
    for column in columns:
        ends[1:] |= column[order][1:] != column[order][:-1]
    return order, np.cumsum(ends)


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
