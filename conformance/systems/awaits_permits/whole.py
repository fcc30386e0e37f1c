"""All permits of a log at a time: the machine of ``logs``, as machine code, for many keys.

Each row is one step or two, as ``PermitsJudge`` takes them. A chunk is judged with what earlier
ones left open: the calls that wait, those that hold a permit, and those that give one back. Where
the machine refuses, or a row is of no plain call, the key's ``PermitsJudge`` takes what is open
again, and continues from that row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ....spec.engines.native.running import NAMES_MAX, Step, runner_of
from ....spec.queues.locks.permits import Permits
from ...logs.kinds import KeyJudge, Terms
from ...logs.notes import AROUND, Notes
from ...logs.understanding import Calls
from ...columns.calls import first_of_each, paired
from ...columns.recent import Recent
from ...columns.cells import NONE, longer
from ...columns.rows import Names, Rows, column_of, joined, nothing
from ...columns.segments import Handed, Resumable, Segments, order_by_key
from .acts import CANCELLED, GIVES, RELEASED, WAITS, WOKEN

if TYPE_CHECKING:

    from ...columns.cells import Numbers

__all__ = ["WholePermits", "room_for"]

_CALLERS: Final = 8
"""Calls that wait at a time, at most; one more is refused, and so handed over."""

_STEPS: Final = (
    Step(WAITS, sets={"asked": "first"}, begins="call", things=True),
    Step("grant", {"place": "line of first"}, things=True),
    Step(WOKEN, {"call": "first"}, things=True),
    Step(CANCELLED, {"call": "first"}, ends={"first": "call"}, things=True),
    Step(GIVES, {"call": "first"}, things=True),
    Step("becomes_free", {"call": "first"}, things=True),
    Step(RELEASED, {"call": "first"}, ends={"first": "call"}, things=True))
_WAITS, _GRANT, _WOKEN, _CANCELLED, _GIVES, _FREE, _RELEASED = range(7)

_BEGINS, _GETS, _FAILS, _GIVING, _GAVE, _OTHER = range(6)
"""The kinds of rows: of an acquire its beginning and its two ends, of a release its two ends."""

_FIRST: Final = (_WAITS, _GRANT, _CANCELLED, _GIVES, _RELEASED, _RELEASED)
_THEN: Final = (-1, _WOKEN, -1, _FREE, -1, -1)
_COUNTED: Final = (WAITS, WOKEN, CANCELLED, GIVES, RELEASED)


def room_for(permits: int) -> bool:
    """True if the machine can hold so many permits."""
    return permits + 2 * _CALLERS <= NAMES_MAX


@dataclass
class _Table:
    """Rows, with the row at which the call of acquire began that each is about, -1 for none."""

    rows: Rows
    segments: Segments
    segment: Numbers
    kind: Numbers
    call: Numbers
    odd: Any


class WholePermits:
    """Judges all permits; see ``Whole``. ``make`` makes the judge of one key."""

    def __init__(self, terms: Terms, notes: Notes, names: Names, make: Callable[[str], Resumable]
                 ) -> None:
        import numpy as np

        self._notes, self._names, self._make = notes, names, make
        permits = terms.settings["permits"]
        calls = permits + 2 * _CALLERS
        self._runner = runner_of(Permits, (("C", permits), ("K", calls), ("W", _CALLERS)), _STEPS,
                                 (("call", calls),))
        self._states = self._runner.initial(1)
        self._left, self._left_name = nothing(), np.zeros(0, np.int64)
        self._recent = Recent(AROUND)

    def takes(self, rows: Rows) -> list[Handed]:
        """Take the next rows of the log."""
        import numpy as np

        keys = len(self._names.keys)
        if len(self._states) < keys:
            self._states = longer(self._states, keys, self._runner.initial(1))
        mine = np.zeros(keys, bool)
        mine[rows.key] = True
        here = mine[self._left.key]
        old = int(here.sum())
        both = joined([self._left.at(here), rows])
        order, segments = order_by_key(both.key)
        table = self._table(both.at(order), segments)
        known = (order < old)
        names = np.append(self._left_name[here], np.zeros(len(rows), np.int64))[order]
        cut = first_of_each(table.odd, segments.starts, segments.ends)
        fed = np.flatnonzero(~known & (np.arange(len(order)) < cut[table.segment]))
        stopped = self._runs(table, fed, names)
        cut = np.minimum(cut, stopped)
        return self._leaves(table, known, names, cut, (self._left.at(~here),
                                                       self._left_name[~here]))

    def ends(self) -> list[Handed]:
        """The log is over; what still waits is not judged."""
        return []

    def in_use(self, column: str) -> Numbers:
        """The numbers of a column that are in use, or may be shown."""
        import numpy as np

        return np.concatenate([column_of(self._left, column), self._recent.in_use(column)])

    def forgets(self, least: int) -> None:
        """Nothing is kept of an item but the rows that name it."""

    def _table(self, rows: Rows, segments: Segments) -> _Table:
        """Rows with the call that each belongs to, and those that are odd: a release is paired with
        the last acquire of its holder."""
        import numpy as np

        segment = np.repeat(np.arange(len(segments.keys)), segments.sizes)
        kind = self._kinds()[rows.said]
        begins = (kind == _BEGINS) | (kind == _GIVING)
        acquires = kind <= _FAILS
        mate, odd = paired(rows, segment, acquires.astype(np.int64), begins,
                           self._names.numbered)
        odd |= kind == _OTHER
        holder = np.where(rows.item == NONE, 2 * rows.process, 2 * rows.item + 1)
        gets = kind == _GETS
        of_begin = holder[np.maximum(mate, 0)]
        holder = np.where(gets & (rows.item == NONE), of_begin, holder)
        call = np.where(kind == _BEGINS, np.arange(len(rows)), np.where(acquires, mate, -1))
        which = np.flatnonzero(gets | (kind == _GIVING))
        order = which[np.lexsort((which, holder[which], segment[which]))]
        same = (segment[order][1:] == segment[order][:-1]) & (
            holder[order][1:] == holder[order][:-1])
        gives = kind[order] == _GIVING
        joins = same & gives[1:] & ~gives[:-1]
        call[order[1:][joins]] = call[order[:-1][joins]]
        odd[order[1:][same & ~gives[1:] & ~gives[:-1]]] = True     # it holds one already
        odd[order[gives & (call[order] < 0)]] = True
        gave = np.flatnonzero((kind == _GAVE) & (mate >= 0))
        call[gave] = call[mate[gave]]
        odd |= call < 0
        return _Table(rows, segments, segment, kind, call, odd)

    def _kinds(self) -> Numbers:
        import numpy as np

        def of(operation: str, phase: str, result: str) -> int:
            if phase == "point" or operation not in ("acquire", "release"):
                return _OTHER
            if phase == "begin":
                return _BEGINS if operation == "acquire" else _GIVING
            if result == "unknown":
                return _OTHER
            return _GAVE if operation == "release" else _GETS if result == "ok" else _FAILS

        return np.array([of(*each) for each in self._names.meanings], np.int64)

    def _runs(self, table: _Table, fed: Numbers, names: Numbers) -> Numbers:
        """Let the machine take rows; by key, the row at which it refused, or its end."""
        import numpy as np

        kind, call = table.kind[fed], table.call[fed]
        then = np.array(_THEN)[kind]
        times = 1 + (then >= 0)
        place = np.repeat(np.arange(len(fed)), times)
        second = np.append(False, place[1:] == place[:-1])
        steps = np.where(second, then[place], np.array(_FIRST)[kind][place])
        thing = np.ascontiguousarray(call[place])
        row = fed[place]
        starts = np.searchsorted(row, table.segments.starts)
        ends = np.append(starts[1:], len(row))
        stopped = self._runner.run(
            self._states, np.ascontiguousarray(table.segments.keys), starts, ends,
            np.ascontiguousarray(steps), thing, thing, names)
        return np.where(stopped >= 0, np.append(row, 0)[stopped], table.segments.ends)

    def _leaves(self, table: _Table, known: Any, names: Numbers, cut: Numbers,
                others: tuple[Rows, Numbers]) -> list[Handed]:
        """Count what was taken, keep what is open, and hand over the keys that go no further."""
        import numpy as np

        segments = table.segments
        at = np.arange(len(table.rows))
        taken = at < cut[table.segment]
        new = taken & ~known
        self._counts(table.kind[new], 1)
        over = np.zeros(len(at), bool)
        over[table.call[taken & ((table.kind == _GAVE) | (table.kind == _FAILS))]] = True
        stays = taken & ~over[np.maximum(table.call, 0)]
        bad = cut < segments.ends
        handed = [self._hands(table, slice(int(start), int(end)), int(stop), stays, new)
                  for start, stop, end in zip(segments.starts[bad], cut[bad], segments.ends[bad],
                                              strict=True)]
        if new.any():
            rows = table.rows.at(new)
            starts = np.flatnonzero(np.diff(rows.key, prepend=-1))
            self._recent.takes(rows, Segments(rows.key[starts], starts,
                                              np.append(starts[1:], len(rows))))
        keeps = stays & ~bad[table.segment]
        self._left = joined([others[0], table.rows.at(keeps)])
        self._left_name = np.append(others[1], names[keeps])
        return handed

    def _counts(self, kinds: Numbers, times: int) -> None:
        import numpy as np

        found = np.bincount(kinds, minlength=_OTHER).tolist()
        for action, number in zip(_COUNTED, found, strict=False):
            if number:
                self._notes.steps[Permits, action] += times * number

    def _hands(self, table: _Table, place: slice, stop: int, stays: Any, new: Any) -> Handed:
        """Hand a key over at a row: its judge takes what is open again."""
        rows, key = table.rows, int(table.rows.key[place.start])
        here = slice(place.start, stop)
        fed = rows.at(here).at(stays[here])
        before = self._recent.of(key, rows.at(here).at(new[here]))
        self._counts(table.kind[here][stays[here]], -1)

        def made(calls: Calls) -> KeyJudge:
            judge = self._make(self._names.keys[key])
            for at in range(len(fed)):
                judge.take(calls.numbered(*self._names.event(fed, at)))
            judge.has_seen(self._names.event(before, at)[0] for at in range(len(before)))
            return judge

        return Handed(key, made, rows.at(slice(stop, place.stop)))

