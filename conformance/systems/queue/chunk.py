"""A chunk of a log of queues: its calls, and what the machines make of them.

The rows that earlier chunks left open (``Kept``) and the new ones are paired to calls (``Table``).
When the hidden steps were is proposed (``schedule``), and the machines take them and what was seen,
each queue in its state (``Work``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Final

from ....spec.engines.native.running import Runner, Step
from ...columns.calls import first_of_each, paired
from ...columns.cells import NONE
from ...columns.rows import ITEM_MAX, Rows, joined
from ...columns.runs import Runs
from ...columns.segments import Segments, order_by_key
from .calls import PUT, TAKE
from .schedule import Items, after_row, before_row, of_row, planned

if TYPE_CHECKING:
    from ...columns.cells import Numbers

__all__ = ["NONE_THERE", "OK", "OTHER", "STEPS", "Kept", "Meant", "Table", "Work", "both", "by_key",
           "fresh", "kind_of", "merged"]

MARGIN: Final = 1_024
"""Rows before an odd one that the judge of the key takes again: it looks back so far."""

STEPS: Final = (
    Step(PUT.waits, sets={"named": "first"}, drops={"out": "first"}, begins="item", things=True),
    Step(PUT.woken, {"item": "first"}, things=True),
    Step(PUT.woken, {"item": "first"}, ends={"first": "item"}, things=True),
    Step(TAKE.waits, sets={"asked": "first"}, begins="take", things=True),
    Step(TAKE.woken, {"ticket": "first", "item": "second"}, ends={"first": "take"}, things=True),
    Step(TAKE.woken, {"ticket": "first", "item": "second"},
         ends={"first": "take", "second": "item"}, things=True),
    Step(TAKE.cancelled, {"ticket": "first"}, ends={"first": "take"}, things=True),
    Step("admit", {"place": "puts of first"}, things=True),
    Step("serve", {"place": "takes of first"}, things=True),
    Step(TAKE.in_vain, things=True))
_PUT, _TOLD, _TOLD_LAST, _TAKE, _GOT, _GOT_LAST, _GOT_NONE, _ADMIT, _SERVE, _EMPTY = range(10)


@dataclass
class Kept:
    """Rows with what the machine has made of them: whether it was ``fed`` them, the ``name`` of the
    item or the take, and of an item its ``rank`` if it is inside, and whether it was ``served``.
    Those that were ``seen`` are counted: fed to these machines, or to others before."""

    rows: Rows
    seen: Any
    fed: Any
    name: Numbers
    rank: Numbers
    served: Any

    def at(self, which: Any) -> Kept:
        """Some of the rows: a slice, a mask, or places."""
        return Kept(self.rows.at(which), *(
            getattr(self, each.name)[which] for each in fields(self)[1:]))

    def __len__(self) -> int:
        return len(self.rows)


def fresh(rows: Rows, seen: Any = None) -> Kept:
    """Rows of which these machines have made nothing yet."""
    import numpy as np

    size = len(rows)
    return Kept(rows, np.zeros(size, bool) if seen is None else seen, np.zeros(size, bool),
                np.zeros(size, np.int64), np.full(size, -1), np.zeros(size, bool))


def merged(left: Kept, rows: Rows) -> tuple[Kept, Segments]:
    """New rows behind those that were left, sorted by key."""
    import numpy as np

    order, segments = order_by_key(np.append(left.rows.key, rows.key))
    found = fresh(joined([left.rows, rows]).at(order))
    places = np.flatnonzero(order < len(left))
    for each in fields(Kept)[1:]:
        getattr(found, each.name)[places] = getattr(left, each.name)[order[places]]
    return found, segments


def both(one: Kept, other: Kept) -> Kept:
    """The rows of one, and then those of the other."""
    import numpy as np

    return Kept(joined([one.rows, other.rows]), *(
        np.concatenate([getattr(one, each.name), getattr(other, each.name)])
        for each in fields(Kept)[1:]))


@dataclass
class Meant:
    """The meaning of rows: ``said`` has, by the number of a meaning, if it is of a put, if of a
    beginning, and the result; calls may be ``numbered``; ``ended`` are the items that are over."""

    numbered: bool
    ended: Runs
    said: tuple[Any, Any, Any]


class Table:
    """The calls of some rows: what each is, its other end, and the items; up to the ``end`` of each
    queue: at most its ``cut``, and a ``margin`` before the first row that is no plain call.
    """

    def __init__(self, meant: Meant, kept: Kept, segments: Segments, cut: Numbers | None = None,
                 margin: int = MARGIN) -> None:
        import numpy as np

        self.rows, self.kept = kept.rows, kept
        self.segments = segments
        self.segment = np.repeat(np.arange(len(segments.keys)), segments.sizes)
        self.puts, self.begins, self.result = (column[self.rows.said] for column in meant.said)
        self.mate, odd = paired(self.rows, self.segment, self.puts, self.begins, meant.numbered)
        self.what = self.rows.key * ITEM_MAX + self.rows.item
        self._joins(meant, odd)
        self.is_odd = odd
        self.odd = first_of_each(odd, segments.starts, segments.ends)
        self.end = self.odd if cut is None else np.minimum(self.odd, cut)
        self.end = np.where(self.end < segments.ends,
                            np.maximum(segments.starts, self.end - margin), self.end)

    def _joins(self, meant: Meant, odd: Any) -> None:
        """Find the take of each item; rows that no plain queue has are marked as odd."""
        import numpy as np

        begins, puts = self.begins, self.puts
        odd |= self.result == OTHER
        named = np.flatnonzero(begins & puts)
        odd[named[self.rows.item[named] == NONE]] = True
        order = named[np.argsort(self.what[named], kind="stable")]
        twice = np.flatnonzero(self.what[order][1:] == self.what[order][:-1]) + 1
        odd[order[twice]] = True
        new = named[~self.kept.seen[named]]
        odd[new[meant.ended.has(self.what[new])]] = True
        takes = np.flatnonzero(~begins & ~puts & (self.result == OK))
        known = self.what[order]
        place = np.minimum(np.searchsorted(known, self.what[takes]), max(0, len(known) - 1))
        has = known[place] == self.what[takes] if len(known) else np.zeros(len(takes), bool)
        put = order[place] if len(known) else takes
        odd[takes[~has | (put > takes)]] = True
        self.put_of = np.full(len(self.rows), -1)
        self.got = np.full(len(self.rows), -1)      # of the beginning of a put: the end of the take
        takes, put = takes[has], put[has]
        self.got[put[::-1]] = takes[::-1]           # the first take of an item counts
        odd[takes[self.got[put] != takes]] = True
        self.put_of[takes] = put

    def kinds(self) -> Numbers:
        """The kind of each row (``kind_of``)."""
        import numpy as np

        found: Numbers = kind_of(self.puts, self.begins, self.result).astype(np.int64)
        return found

    def open_takes(self) -> Numbers:
        """The rows at which takes begin that do not end before the end of their queue."""
        import numpy as np

        end = self.end[self.segment]
        return np.flatnonzero(self.begins & ~self.puts
                              & (np.where(self.mate < 0, end, self.mate) >= end)
                              & (np.arange(len(end)) < end))

    def most_open(self) -> Numbers:
        """By queue, how many calls of a kind are open at a time, at most."""
        import numpy as np

        found = np.zeros(len(self.segments.keys), np.int64)
        change = np.where(self.begins, 1, -1)
        for kind in (False, True):
            some = np.cumsum(np.where(self.puts == kind, change, 0))
            before = np.append(0, some)[self.segments.starts]
            found = np.maximum(found, np.maximum.reduceat(some, self.segments.starts) - before)
        return found

    def items(self) -> tuple[Numbers, Items]:
        """The rows at which the puts of items begin, and the items."""
        import numpy as np

        end = self.end[self.segment]
        rows = np.arange(len(self.rows))
        named = np.flatnonzero(self.begins & self.puts & (rows < end))
        end = end[named]

        def known(row: Numbers) -> Numbers:
            return np.where((row >= 0) & (row < end), row, end)

        told, got = known(self.mate[named]), known(self.got[named])
        take = np.where(got < end, self.mate[np.minimum(got, len(self.rows) - 1)], end)
        return named, Items(self.segment[named], named, told, take, got, self.kept.rank[named],
                            self.kept.served[named])


OK, NONE_THERE, OTHER = range(3)


def kind_of(puts: Any, begins: Any, result: Any) -> Any:
    """A number for what a row is: of a put, a beginning, and its result."""
    return 6 * puts + 3 * begins + result


def _step_of() -> Numbers:
    """By kind of row, its step, unless it is the last one of its item."""
    import numpy as np

    found = np.full(12, _GOT)
    found[kind_of(True, True, OK)], found[kind_of(True, False, OK)] = _PUT, _TOLD
    found[kind_of(False, True, OK)] = _TAKE
    found[kind_of(False, False, NONE_THERE)] = _GOT_NONE
    return found


class Work:
    """The machine's work on a chunk: what it was ``fed``, and where it ``refused`` (the row, by
    key; -1 where it did not). ``searches``: the order is searched for."""

    def __init__(self, runner: Runner, states: Any, table: Table, capacity: int, final: bool,
                 searches: bool) -> None:
        self._table = table
        self.named, self.items = table.items()
        segments = table.segments
        self.plan = planned(self.items, segments.starts, table.end, capacity, final,
                            table.open_takes() if searches else None)
        self._feeds(runner, states)

    def _feeds(self, runner: Runner, states: Any) -> None:
        """Feed the machines with all visible and hidden steps of each key, in one order of time,
        and note where they refuse."""
        import numpy as np

        table, plan = self._table, self.plan
        rows = np.arange(len(table.rows))
        horizon = plan.horizon[table.segment]
        self.fed = (rows < table.end[table.segment]) & (of_row(rows) < horizon)
        visible = np.flatnonzero(self.fed & ~table.kept.fed)
        hidden = [np.concatenate(column) for column in zip(*self._hidden(), strict=True)]
        order = np.argsort(hidden[0] << 22 | hidden[1], kind="stable")
        time, _, steps, things = (column[order] for column in hidden)
        # Each hidden step stands behind the visible ones of the rows before its time.
        before = np.append(0, np.cumsum(self.fed & ~table.kept.fed))
        places = np.arange(len(time)) + before[time + 1 >> 2]
        is_visible = np.ones(len(visible) + len(time), bool)
        is_visible[places] = False
        columns = []
        for seen, not_seen in zip(self._visible(visible), (steps, things, things), strict=True):
            column = np.empty(len(is_visible), np.int64)
            column[places], column[is_visible] = not_seen, seen
            columns.append(column)
        segments = table.segments
        starts = before[segments.starts] + np.searchsorted(time, before_row(segments.starts))
        ends = np.append(starts[1:], len(is_visible))
        self._names = table.kept.name.copy()
        stopped = runner.run(states, np.ascontiguousarray(segments.keys), starts, ends,
                             columns[0], columns[1], columns[2], self._names)
        self.refused = np.full(len(stopped), -1)
        for at in np.flatnonzero(stopped >= 0).tolist():
            step = int(stopped[at])
            passed = int(np.searchsorted(places, step))
            self.refused[at] = visible[step - passed] if is_visible[step] else time[passed] >> 2

    def _visible(self, rows: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        """The steps of rows: the kind, and the things, which are known by the rows at which they
        begin."""
        import numpy as np

        table = self._table
        steps = _step_of()[table.kinds()]
        told, got = table.mate[self.named], table.got[self.named]
        steps[np.maximum(told, got)[(told >= 0) & (got >= 0)]] += 1     # the last one of its item
        first = np.where(table.begins, np.arange(len(steps)), table.mate)
        return steps[rows], first[rows], table.put_of[rows]

    def _hidden(self) -> Sequence[tuple[Numbers, Numbers, Numbers, Numbers]]:
        """The hidden steps before the horizon: times, ties, the steps, and the things."""
        import numpy as np

        plan, items = self.plan, self.items
        order = plan.order
        place = np.arange(len(order)) * 4
        limit = np.minimum(plan.horizon, before_row(self._table.end))[items.segment[order]]
        self.enters = (items.rank[order] < 0) & (plan.admit < limit)
        self.leaves = ~items.served[order] & (plan.serve < limit)
        taker = items.take[order]
        found = [(plan.admit[self.enters], place[self.enters], _ADMIT,
                  self.named[order[self.enters]]),
                 (plan.serve[self.leaves], place[self.leaves] + 1, _SERVE, taker[self.leaves])]
        empty = self._empty(order, place, limit)
        return [(time, tie, np.full(len(time), step), things) for time, tie, step, things in (
            found if empty is None else [*found, empty])]

    def _empty(self, order: Numbers, place: Numbers, limit: Numbers
               ) -> tuple[Numbers, Numbers, int, Numbers] | None:
        """An instant for each take that found nothing: the first of it at which nothing is in."""
        import numpy as np

        table, items, plan = self._table, self.items, self.plan
        rows = np.flatnonzero(self.fed & ~table.kept.fed & ~table.begins
                              & (table.result == NONE_THERE))
        if not len(rows):
            return None
        inside = (items.rank[order] >= 0) & ~items.served[order]
        first = before_row(table.segments.starts)[items.segment[order]] - 1
        time = np.concatenate([plan.admit[self.enters], plan.serve[self.leaves], first[inside]])
        tie = np.concatenate([place[self.enters], place[self.leaves] + 1, place[inside]])
        change = np.repeat([1, -1, 1], [self.enters.sum(), self.leaves.sum(), inside.sum()])
        sort = np.argsort(time << 22 | tie, kind="stable")
        time, tie, change = time[sort], tie[sort], change[sort]
        # All go out that are in, or not: the count of a queue begins anew with it.
        queue = np.searchsorted(table.segments.starts, time + 3 >> 2, side="right") - 1
        total = np.append(0, np.cumsum(change))
        begin = np.searchsorted(queue, np.arange(len(table.segments.keys)))
        count = total[1:] - total[begin][queue]
        segment = table.segment[rows]
        begun = after_row(table.mate[rows])
        at = np.searchsorted(time, begun, side="right")
        none = np.where(at > begin[segment], np.append(count, 0)[at - 1], 0) == 0
        zeros = np.flatnonzero(count == 0)
        zero = np.append(zeros, len(time))[np.searchsorted(zeros, at)]
        end = before_row(rows)
        when = np.minimum(np.append(time, 1 << 60)[zero], end)
        return (np.where(none, begun, when), np.where(none, 0, np.append(tie, 0)[zero] + 1),
                _EMPTY, table.mate[rows])

    # --- what is left ----------------------------------------------------------------------

    def gone(self) -> tuple[Any, Numbers]:
        """The rows that need not be kept, and the puts of the items that ended here. Kept is from
        the first row on of which something is open: a judge of the key would look back so far."""
        import numpy as np

        table, fed = self._table, np.append(self.fed, False)
        size = len(table.rows)
        got, told = table.got[self.named], table.mate[self.named]
        over = (got >= 0) & fed[got] & (told >= 0) & fed[told]
        before = over & table.kept.seen[got] & table.kept.seen[told]
        calls = np.stack([self.named, told, got, table.mate[got]])[:, over]
        empty = np.flatnonzero(self.fed & ~table.begins & (table.result == NONE_THERE))
        vain = np.stack([table.mate[empty], empty])
        gone = np.zeros(size, bool)
        gone[calls] = gone[vain] = True
        first = first_of_each(~gone, table.segments.starts, table.segments.ends)
        for rows in (calls, vain):
            late = rows.max(axis=0) >= first[table.segment[rows[0]]]
            gone[rows[:, late & (first < table.segments.ends)[table.segment[rows[0]]]]] = False
        return gone, self.named[over & ~before]

    def open(self) -> Kept:
        """The rows with what the machine has made of them."""
        import numpy as np

        kept, order = self._table.kept, self.plan.order
        rank, served = kept.rank.copy(), kept.served.copy()
        rank[self.named[order][self.enters]] = np.flatnonzero(self.enters)
        inside = np.flatnonzero(rank[self.named[order]] >= 0)
        rank[self.named[order][inside]] = inside
        served[self.named[order][self.leaves]] = True
        return Kept(kept.rows, self.fed | kept.seen, self.fed | kept.fed, self._names, rank, served)


def by_key(kept: Kept) -> tuple[Kept, Segments]:
    """Rows by key, those of each in their order."""
    order, segments = order_by_key(kept.rows.key)
    return kept.at(order), segments
