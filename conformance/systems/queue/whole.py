"""All queues of a log at a time: the machine of ``following``, as machine code, for many keys.

A chunk is judged with what earlier ones left open: the calls that have not ended, and the items
that are inside. When the hidden steps were is proposed for whole columns (``schedule``); the
machine takes them and what was seen, each queue in its state, and each item is judged by itself by
what order its calls have. Where later events decide what was, the rest of a key's rows waits for
the next chunk. Where anything is refused, or is no plain call, the key is handed over to its
``QueueJudge``, some events before.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Final

from ....spec.engines.native.running import NAMES_MAX, Runner, Step, runner_of
from ....spec.queues.bounded import BoundedQueue
from ....spec.queues.conserved import ConservingQueue
from ...logs.kinds import KeyJudge, Terms
from ...logs.memory import Ended
from ...logs.notes import AROUND, Notes
from ...logs.understanding import Calls
from ...columns.calls import first_of_each, paired
from ...columns.recent import Recent
from ...columns.cells import NONE, Unfit
from ...columns.rows import ITEM_MAX, Names, Rows, joined, nothing
from ...columns.runs import Runs
from ...columns.segments import Handed, Resumable, Segments, order_by_key, sorted_by_key
from .calls import PUT, TAKE, TAKEN
from .schedule import Items, after_row, before_row, of_row, planned

if TYPE_CHECKING:

    from ...columns.cells import Numbers

__all__ = ["WholeQueues"]

_MARGIN: Final = 1_024
"""Rows before an odd one that the judge of the key takes again: it looks back so far."""

_LEFT: Final = 50_000
"""Rows of a key that may wait for later ones."""

_CALLERS: Final = 8
_ROOM: Final = 32
"""The machine's bounds: calls of a kind that are open at a time, and items that are inside. What
does not fit is refused, and so handed over."""

_STEPS: Final = (
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
class _Open:
    """Rows with what the machine has made of them: whether it was ``fed`` them, the ``name`` of the
    item or the take, and of an item its ``rank`` if it is inside, and whether it was ``served``."""

    rows: Rows
    fed: Any
    name: Numbers
    rank: Numbers
    served: Any

    def at(self, which: Any) -> _Open:
        return _Open(*(getattr(self, each.name).at(which) if each.name == "rows" else
                       getattr(self, each.name)[which] for each in fields(self)))

    def __len__(self) -> int:
        return len(self.rows)


def _fresh(rows: Rows) -> _Open:
    import numpy as np

    size = len(rows)
    return _Open(rows, np.zeros(size, bool), np.zeros(size, np.int64), np.full(size, -1),
                 np.zeros(size, bool))


def _both(one: _Open, other: _Open) -> _Open:
    import numpy as np

    return _Open(joined([one.rows, other.rows]), *(
        np.concatenate([getattr(one, each.name), getattr(other, each.name)])
        for each in fields(_Open)[1:]))


class _Table:
    """The calls of some rows: what each is, its other end, and the items."""

    def __init__(self, whole: WholeQueues, kept: _Open, segments: Segments, cut: Numbers | None
                 ) -> None:
        import numpy as np

        self.rows, self.kept = kept.rows, kept
        self.segments = segments
        self.segment = np.repeat(np.arange(len(segments.keys)), segments.sizes)
        meanings = whole.table[self.rows.said]
        self.puts, self.begins, self.result = (meanings[:, column] for column in range(3))
        self.mate, odd = paired(self.rows, self.segment, self.puts, self.begins.astype(bool),
                                whole.numbered)
        self.what = self.rows.key * ITEM_MAX + self.rows.item
        self._joins(whole, odd)
        self.odd = first_of_each(odd, segments.starts, segments.ends)
        self.end = self.odd if cut is None else np.minimum(self.odd, cut)
        self.end = np.where(self.end < segments.ends,
                            np.maximum(segments.starts, self.end - _MARGIN), self.end)

    def _joins(self, whole: WholeQueues, odd: Any) -> None:
        """Find the take of each item; rows that no plain queue has are marked as odd."""
        import numpy as np

        begins, puts = self.begins == 1, self.puts == 1
        odd |= self.result == _OTHER
        named = np.flatnonzero(begins & puts)
        odd[named[self.rows.item[named] == NONE]] = True
        order = named[np.argsort(self.what[named], kind="stable")]
        twice = np.flatnonzero(self.what[order][1:] == self.what[order][:-1]) + 1
        odd[order[twice]] = True
        fresh = named[~self.kept.fed[named]]
        odd[fresh[whole.ended.has(self.what[fresh])]] = True
        takes = np.flatnonzero(~begins & ~puts & (self.result == _OK))
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

    def items(self) -> tuple[Numbers, Items]:
        """The rows at which the puts of items begin, and the items."""
        import numpy as np

        end = self.end[self.segment]
        rows = np.arange(len(self.rows))
        named = np.flatnonzero((self.begins == 1) & (self.puts == 1) & (rows < end))
        end = end[named]

        def known(row: Numbers) -> Numbers:
            return np.where((row >= 0) & (row < end), row, end)

        told, got = known(self.mate[named]), known(self.got[named])
        take = np.where(got < end, self.mate[np.minimum(got, len(self.rows) - 1)], end)
        return named, Items(self.segment[named], named, told, take, got, self.kept.rank[named],
                            self.kept.served[named])


_OK, _NONE_THERE, _OTHER = range(3)


class WholeQueues:
    """Judges all queues; see ``Whole``. ``make`` makes the judge of one key, and ``ended`` is what
    these judges remember."""

    def __init__(self, terms: Terms, notes: Notes, names: Names, make: Callable[[str], Resumable],
                 ended: Ended) -> None:
        import numpy as np

        self._notes, self._names, self._make = notes, names, make
        self._capacity = min(terms.settings.get("capacity", _ROOM), _ROOM)
        items = min(NAMES_MAX, self._capacity + 2 * _CALLERS)
        self._runner = runner_of(
            BoundedQueue, (("C", self._capacity), ("K", items), ("T", _CALLERS), ("W", _CALLERS)),
            _STEPS, (("item", items), ("take", _CALLERS)))
        self._states = self._runner.initial(1)
        self._left = _fresh(nothing())
        self._recent = Recent(AROUND)
        self.ended = Runs()
        self.numbered = names.numbered
        self.table = np.zeros((0, 3), np.int64)
        self._known = _Known(names)
        self._ended = ended
        ended.elsewhere = self._known

    def takes(self, rows: Rows, segments: Segments) -> list[Handed]:
        """Take the next rows of some keys."""
        import numpy as np

        keys = len(self._names.keys)
        if keys * ITEM_MAX > 1 << 62:
            raise Unfit
        if len(self._states) < keys:
            self._states = np.concatenate(
                [self._states, self._runner.initial(2 * keys - len(self._states))])
        self._learns()
        mine = np.zeros(keys, bool)
        mine[segments.keys] = True
        here = mine[self._left.rows.key]
        return self._judges(_both(self._left.at(here), _fresh(rows)), self._left.at(~here), False)

    def ends(self) -> list[Handed]:
        """The log is over: what has not ended never will."""
        left, self._left = self._left, _fresh(nothing())
        return self._judges(left, self._left, True) if len(left) else []

    def items(self) -> Numbers:
        """The numbers of the items that are in use, or may be shown."""
        import numpy as np

        return np.concatenate([self._left.rows.item, self._recent.items()])

    def forgets(self, least: int) -> None:
        """Items with smaller numbers are forgotten, but for those that are in use."""
        self._ended.has_forgotten = True
        start, _, size = self.ended.every()
        self.ended.keeps(start % ITEM_MAX + size > least)

    def _learns(self) -> None:
        """Know what each meaning is: whether of a put, a beginning, and how it ended."""
        import numpy as np

        known = []
        for operation, phase, result in self._names.meanings:
            is_put, begins = operation == PUT_NAME, phase == "begin"
            plain = phase != "point" and operation in (PUT_NAME, TAKE_NAME)
            ended = (_OK if plain and (begins or result == "ok") else
                     _NONE_THERE if plain and result == "empty" and not is_put else _OTHER)
            known.append((is_put, begins, ended))
        self.table = np.array(known, np.int64).reshape(-1, 3)

    # --- one chunk -------------------------------------------------------------------------

    def _judges(self, kept: _Open, others: _Open, final: bool) -> list[Handed]:
        """Judge the rows that can be judged now; a key that is refused is judged once more up to
        rows before, from where its own judge continues."""
        import numpy as np

        kept, segments = _by_key(kept)
        saved = self._states[segments.keys]
        table = _Table(self, kept, segments, None)
        work = _Work(self._runner, self._states, table, self._capacity, final)
        bad = table.end < segments.ends
        refused = work.refused >= 0
        parts = [others]
        handed: list[Handed] = []
        if refused.any():
            # Once more, up to some rows before: the judge of the key continues from there.
            again, some = _by_key(kept.at(refused[table.segment]))
            cut = work.refused[refused] + some.starts - segments.starts[refused]
            for _ in range(2):
                self._states[some.keys] = saved[refused]
                once = _Table(self, again, some, cut)
                more = _Work(self._runner, self._states, once, self._capacity, False)
                cut = np.where(more.refused < 0, cut, some.starts)
            handed += self._leaves(once, more, np.ones(len(some.keys), bool), [])
            bad = bad & ~refused
        handed += self._leaves(table, work, bad, parts, ~refused)
        left = parts[0]
        for part in parts[1:]:
            left = _both(left, part)
        self._left = left
        return handed

    def _leaves(self, table: _Table, work: _Work, bad: Any, parts: list[_Open],
                mine: Any = None) -> list[Handed]:
        """Count what was taken, keep what is open, and hand over the bad keys."""
        import numpy as np

        segments = table.segments
        mine = np.ones(len(segments.keys), bool) if mine is None else mine
        new = work.fed & ~table.kept.fed & mine[table.segment]
        self._counts(table, new, 1)
        gone, puts = work.gone()
        puts = puts[mine[table.segment[puts]]]
        puts = puts[np.argsort(table.what[puts], kind="stable")]
        self.ended.add(table.what[puts], table.what[puts])
        open_ = work.open()
        stays = ~gone & mine[table.segment]
        crowded = np.bincount(table.segment[stays], minlength=len(segments.keys)) > _LEFT
        bad = bad | crowded & mine
        places = {each: slice(int(segments.starts[each]), int(segments.ends[each]))
                  for each in np.flatnonzero(bad).tolist()}
        befores = {each: self._recent.of(int(segments.keys[each]), table.rows.at(place).at(
            new[place])) for each, place in places.items()}
        if new.any():
            fed = table.rows.at(new)
            starts = np.flatnonzero(np.diff(fed.key, prepend=-1))
            self._recent.takes(fed, Segments(fed.key[starts], starts,
                                             np.append(starts[1:], len(fed))))
        parts.append(open_.at(stays & ~bad[table.segment]))
        handed = []
        for each, before in befores.items():
            handed.append(self._hands(
                int(segments.keys[each]), open_.at(places[each]).at(stays[places[each]]), before))
        return handed

    def _counts(self, table: _Table, which: Any, times: int) -> None:
        """Count the steps that some rows are, as the judge of a key counts them."""
        import numpy as np

        kind = (table.puts * 2 + table.begins) * 3 + table.result
        found = np.bincount(kind[which], minlength=12)
        steps = self._notes.steps

        def add(number: int, *actions: tuple[Any, str]) -> None:
            if found[number]:
                for machine, action in actions:
                    steps[machine, action] += times * int(found[number])

        add((2 + 1) * 3 + _OK, (BoundedQueue, PUT.waits))
        add(2 * 3 + _OK, (BoundedQueue, PUT.woken), (ConservingQueue, PUT.woken))
        add(1 * 3 + _OK, (BoundedQueue, TAKE.waits))
        add(_OK, (BoundedQueue, TAKE.woken), (ConservingQueue, TAKEN))
        add(_NONE_THERE, (BoundedQueue, TAKE.in_vain), (BoundedQueue, TAKE.cancelled),
            (ConservingQueue, TAKE.in_vain))

    def _hands(self, key: int, open_: _Open, before: Rows) -> Handed:
        """Hand a key over: its judge takes what was open again, and continues with the rest."""
        fed = open_.at(open_.fed)
        if len(fed):
            _, segments = sorted_by_key(fed.rows)
            self._counts(_Table(self, fed, segments, segments.starts), slice(None), -1)
        name = self._names.keys[key]
        self._known.knows(name, key, self.ended, frozenset(fed.rows.item.tolist()))

        def made(calls: Calls) -> KeyJudge:
            judge = self._make(name)
            for at in range(len(fed)):
                judge.take(calls.numbered(*self._names.event(fed.rows, at)))
            if len(before):
                judge.has_seen(self._names.event(before, at)[0] for at in range(len(before)))
            return judge

        return Handed(key, made, open_.rows.at(~open_.fed))


PUT_NAME, TAKE_NAME = "put", "take"


class _Known:
    """The items of keys that are judged by themselves now, which had ended before."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._of: dict[str, tuple[list[int], list[int], frozenset[int]]] = {}

    def knows(self, name: str, key: int, ended: Runs, again: frozenset[int]) -> None:
        """Know what has ended of a key, but for what its judge takes ``again``."""
        starts, ends = ended.ranges(key * ITEM_MAX, (key + 1) * ITEM_MAX)
        self._of[name] = ([each - key * ITEM_MAX for each in starts],
                          [each - key * ITEM_MAX for each in ends], again)

    def __call__(self, key: str, name: Any) -> bool:
        """True if an item had ended."""
        number = self._names.item_number(name) if key in self._of else -1
        if number < 0:
            return False
        starts, ends, again = self._of[key]
        place = bisect_right(starts, number) - 1
        return place >= 0 and number < ends[place] and number not in again


class _Work:
    """The machine's work on a chunk: what it was ``fed``, and where it ``refused`` (the row, by
    key; -1 where it did not)."""

    def __init__(self, runner: Runner, states: Any, table: _Table, capacity: int, final: bool
                 ) -> None:
        self._table = table
        self._final = final
        self.named, self.items = table.items()
        segments = table.segments
        self.plan = planned(self.items, segments.starts, table.end, capacity, final)
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
        steps, first, second = self._visible(visible)
        times, ties, hidden = [of_row(visible)], [np.zeros(len(visible), np.int64)], [
            (steps, first, second)]
        for time, tie, step, thing in self._hidden():
            times.append(time)
            ties.append(tie)
            hidden.append((np.full(len(time), step), thing, thing))
        time, tie = np.concatenate(times), np.concatenate(ties)
        order = np.argsort(time << 22 | tie, kind="stable")
        all_steps, all_first, all_second = (
            np.ascontiguousarray(np.concatenate(column)[order])
            for column in zip(*hidden, strict=True))
        time = time[order]
        segments = table.segments
        starts = np.searchsorted(time, before_row(segments.starts))
        ends = np.append(starts[1:], len(time))
        self._names = table.kept.name.copy()
        stopped = runner.run(states, np.ascontiguousarray(segments.keys), starts, ends, all_steps,
                             all_first, all_second, self._names)
        at = np.append(time, 0)[stopped]
        self.refused = np.where(stopped >= 0, at >> 2, -1)

    def _visible(self, rows: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        """The steps of rows: the kind, and the things, which are known by the rows at which they
        begin."""
        import numpy as np

        table = self._table
        puts, begins = table.puts[rows] == 1, table.begins[rows] == 1
        mate, put = table.mate[rows], table.put_of[rows]
        got = table.got[np.maximum(mate, 0)]
        last_told = (got >= 0) & (got < rows)
        told = table.mate[np.maximum(put, 0)]
        last_got = (told >= 0) & (told < rows)
        steps = np.where(
            puts, np.where(begins, _PUT, np.where(last_told, _TOLD_LAST, _TOLD)),
            np.where(begins, _TAKE, np.where(
                table.result[rows] == _NONE_THERE, _GOT_NONE,
                np.where(last_got, _GOT_LAST, _GOT))))
        return steps, np.where(begins, rows, mate), np.where(put >= 0, put, rows)

    def _hidden(self) -> Sequence[tuple[Numbers, Numbers, int, Numbers]]:
        """The hidden steps before the horizon: times, ties, the step, and the things."""
        import numpy as np

        plan, items = self.plan, self.items
        order = plan.order
        place = np.arange(len(order)) * 4
        limit = np.minimum(plan.horizon, before_row(self._table.end))[items.segment[order]]
        self.enters = (items.rank[order] < 0) & (plan.admit < limit)
        self.leaves = ~items.served[order] & (plan.serve < limit)
        taker = items.take[order]
        found = [(plan.admit[self.enters], place[self.enters], _ADMIT,
                  self.named[order][self.enters]),
                 (plan.serve[self.leaves], place[self.leaves] + 1, _SERVE, taker[self.leaves])]
        empty = self._empty(order, place, limit)
        return found if empty is None else [*found, empty]

    def _empty(self, order: Numbers, place: Numbers, limit: Numbers
               ) -> tuple[Numbers, Numbers, int, Numbers] | None:
        """An instant for each take that found nothing: the first of it at which nothing is in."""
        import numpy as np

        table, items, plan = self._table, self.items, self.plan
        rows = np.flatnonzero(self.fed & ~table.kept.fed & (table.begins == 0)
                              & (table.result == _NONE_THERE))
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
        before = over & table.kept.fed[got] & table.kept.fed[told]
        calls = np.stack([self.named, told, got, table.mate[got]])[:, over]
        empty = np.flatnonzero(self.fed & (table.begins == 0) & (table.result == _NONE_THERE))
        vain = np.stack([table.mate[empty], empty])
        gone = np.zeros(size, bool)
        gone[calls] = gone[vain] = True
        first = first_of_each(~gone, table.segments.starts, table.segments.ends)
        for rows in (calls, vain):
            late = rows.max(axis=0) >= first[table.segment[rows[0]]]
            gone[rows[:, late & (first < table.segments.ends)[table.segment[rows[0]]]]] = False
        return gone, self.named[over & ~before]

    def open(self) -> _Open:
        """The rows with what the machine has made of them."""
        import numpy as np

        kept, order = self._table.kept, self.plan.order
        rank, served = kept.rank.copy(), kept.served.copy()
        rank[self.named[order][self.enters]] = np.flatnonzero(self.enters)
        inside = np.flatnonzero(rank[self.named[order]] >= 0)
        rank[self.named[order][inside]] = inside
        served[self.named[order][self.leaves]] = True
        return _Open(kept.rows, self.fed | kept.fed, self._names, rank, served)


def _by_key(kept: _Open) -> tuple[_Open, Segments]:
    """Rows by key, those of each in their order."""
    order, segments = order_by_key(kept.rows.key)
    return kept.at(order), segments
