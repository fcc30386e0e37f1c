"""The calls of many keys at a time: which end belongs to which beginning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from .rows import Rows
from .segments import stable_order

if TYPE_CHECKING:

    from .cells import Numbers

__all__ = ["Pairs", "first_of_each", "in_groups", "paired"]


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

    order, first = (in_groups(rows.call) if numbered else
                    in_groups(segment, rows.process, rows.call, are_sorted=True))
    starts, does = begins[order], operation[order]
    same = ~first[1:]
    joins = same & starts[:-1] & ~starts[1:] & (does[1:] == does[:-1])
    mate = np.full(len(rows), -1, np.int64)
    mate[order[1:][joins]] = order[:-1][joins]
    mate[order[:-1][joins]] = order[1:][joins]
    odd = ~begins & (mate < 0)
    odd[order[1:][same & starts[:-1] & starts[1:]]] = True
    return Pairs(mate, odd)


def in_groups(*columns: Numbers, are_sorted: bool = False) -> tuple[Numbers, Any]:
    """The places of rows, those with the same values in all columns one after the other, in their
    order; and by place whether another group begins there. By the first column they may be
    ``sorted`` before."""
    import numpy as np

    order = stable_order(*columns[are_sorted:])
    begins = np.ones(len(order), bool)
    if len(order):
        begins[1:] = False
        for column in columns:
            if column.strides == (0,):
                continue        # it has one value
            here = column[order]
            begins[1:] |= here[1:] != here[:-1]
    return order, begins


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
