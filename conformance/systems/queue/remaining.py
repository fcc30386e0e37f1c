"""The remainder of a piece of a log of unordered queues: see ``columns.remainder``.

An item that is put and taken within the piece, by plain calls, leaves nothing. Neither does a take
that found nothing, but for a check: at that line, no more items may certainly be inside than takes
are open; how many more items than takes there are among the rows that are not left, the piece says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...columns.cells import NONE
from ...columns.rows import ITEM_MAX, Rows
from ...columns.remainder import Remainder, in_order_of, lasts_of, many_rows
from ...columns.segments import stable_order
from .chunk import NONE_THERE, OK, Kept, Meant, Table, by_key, fresh, merged
from .conserving import Conserved

if TYPE_CHECKING:
    from ...columns.cells import Numbers

__all__ = ["are_plain", "remainder_of"]


def remainder_of(meant: Meant, rows: Rows) -> Remainder:
    """The remainder of some rows, where nothing is known of those before."""
    import numpy as np

    kept, segments = by_key(fresh(rows))
    table = Table(meant, kept, segments, margin=0)
    many = many_rows(segments)
    over, gone, change = _gone(table, many[table.segment])
    lines = table.rows.line
    total = np.cumsum(change)
    empty = np.flatnonzero(~table.begins & (table.result == NONE_THERE))
    inside = total[empty] - np.append(0, total)[segments.starts][table.segment[empty]]
    # Between two rows that are left, the take is checked at which the most items are inside.
    left = np.cumsum(~gone)[empty]
    new = np.append(True, (np.diff(left) != 0) | (np.diff(table.segment[empty]) != 0))[:len(empty)]
    first = np.flatnonzero(new)
    most = np.maximum.reduceat(inside, first) if len(first) else inside
    at = empty[first]
    key = table.rows.key
    order, begins = _by_process(table.rows)
    calls = order[begins]
    calls = calls[gone[calls]]
    return Remainder(
        in_order_of(table.rows.at(~gone)), table.what[over],
        np.bincount(table.kinds()[gone], minlength=12), lasts_of(table.rows, segments, many),
        np.stack([key[calls], table.rows.process[calls]], axis=1),
        np.stack([key[at], lines[at], most], axis=1), len(rows), segments.keys)


def _gone(table: Table, may_go: Any) -> tuple[Numbers, Any, Numbers]:
    """The puts of items that are over; all rows that are not left; and by row the change of the
    number of items inside, less the takes that are open, by these."""
    import numpy as np

    odd = np.append(table.is_odd, True)     # the row -1 is none
    named = np.flatnonzero(table.begins & table.puts)
    told, got = table.mate[named], table.got[named]
    take = np.where(got >= 0, table.mate[got], -1)
    bad = np.unique(table.what[table.is_odd & (table.rows.item != NONE)])
    over = may_go[named] & ~np.isin(table.what[named], bad)
    for each in (named, told, got, take):
        over &= ~odd[each]
    over &= table.result[told] == OK
    named, told, got, take = named[over], told[over], got[over], take[over]
    empty = np.flatnonzero(~table.begins & (table.result == NONE_THERE) & may_go)
    empty = empty[~odd[empty] & ~odd[table.mate[empty]]]
    gone, change = np.zeros(len(odd) - 1, bool), np.zeros(len(odd) - 1, np.int64)
    for rows in (named, told, got, take, empty, table.mate[empty]):
        gone[rows] = True
    change[told] = 1
    change[np.maximum(told, got)] -= 1
    change[take] -= 1
    change[table.mate[empty]] -= 1
    change[got] += 1
    change[empty] += 1
    return named, gone, change


def _by_process(rows: Rows) -> tuple[Numbers, Any]:
    """The places of rows by key and process, and where another process begins."""
    import numpy as np

    order = stable_order(rows.key, rows.process)
    begins = np.ones(len(order), bool)
    begins[1:] = (np.diff(rows.key[order]) != 0) | (np.diff(rows.process[order]) != 0)
    return order, begins


def are_plain(meant: Meant, open_: Kept, left: Remainder, most: int) -> bool:
    """True if the rows of which this is left are plain after those that are ``open_`` of their
    keys, and no more than so many would be open then."""
    import numpy as np

    rows = open_.rows
    if meant.ended.has(left.over).any() or np.isin(
            left.over, rows.key * ITEM_MAX + rows.item).any():
        return False
    if len(left.calls) and len(rows):
        begins = meant.said[1]
        order, first = _by_process(rows)
        last = order[np.append(np.flatnonzero(first)[1:] - 1, len(order) - 1)]
        last = last[begins[rows.said[last]]]
        wide = 1 << 31
        if np.isin(rows.key[last] * wide + rows.process[last],
                   left.calls[:, 0] * wide + left.calls[:, 1]).any():
            return False
    kept, segments = merged(open_, left.rows)
    if not len(kept):
        return not len(left.checks) or int(left.checks[:, 2].max()) <= 0
    table = Table(meant, kept, segments, margin=0)
    if (table.end < segments.ends).any() or int(segments.sizes.max()) > most:
        return False
    return _are_right(table, left.checks)


def _are_right(table: Table, checks: Numbers) -> bool:
    """True if at each check no more items are inside than takes are open."""
    import numpy as np

    change = np.append(0, np.cumsum(Conserved(table, checked=True).changes()))
    for key in np.unique(checks[:, 0]).tolist():
        here = checks[checks[:, 0] == key]
        at = int(np.searchsorted(table.segments.keys, key))
        inside = np.zeros(len(here), np.int64)
        if at < len(table.segments.keys) and table.segments.keys[at] == key:
            start, end = int(table.segments.starts[at]), int(table.segments.ends[at])
            place = start + np.searchsorted(table.rows.line[start:end], here[:, 1], side="right")
            inside = change[place] - change[start]
        if (inside + here[:, 2] > 0).any():
            return False
    return True
