"""All queues of a log at a time: the machine of ``following``, as machine code, for many keys.

A chunk is judged with what earlier ones left open: the calls that have not ended, and the items
that are inside. When the hidden steps were is proposed for whole columns (``schedule``); the
machine takes them and what was seen, each queue in its state, and each item is judged by itself by
what order its calls have. Where later events decide what was, the rest of a key's rows waits for
the next chunk. Where a machine refuses that, the order is searched for (``order``), by machines
with more callers where there are more. Where that is refused too, or a row is no plain call, the
key is handed over to its ``QueueJudge``, some events before.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

from ....spec.engines.native.running import NAMES_MAX, runner_of
from ....spec.queues.conserved import ConservingQueue
from ....spec.queues.queue import BoundedQueue
from ...logs.kinds import KeyJudge, Terms
from ...logs.memory import Ended
from ...logs.notes import AROUND, Notes
from ...logs.understanding import Calls
from ...columns.calls import first_of_each
from ...columns.recent import Recent
from ...columns.cells import Unfit, longer
from ...columns.remainder import Remainder
from ...columns.rows import ITEM_MAX, Names, Rows, column_of, nothing
from ...columns.runs import Runs
from ...columns.segments import Handed, Resumable, Segments, sorted_by_key
from .calls import PUT, TAKE, TAKEN
from .chunk import (
    NONE_THERE, OK, OTHER, STEPS, Kept, Meant, Table, Work, both, by_key, fresh, kind_of, merged,
)
from .conserving import Conserved, NoMachines
from .remaining import are_plain, remainder_of

if TYPE_CHECKING:

    from ...columns.cells import Numbers

__all__ = ["WholeQueues"]

_LEFT: Final = 50_000
"""Rows of a key that may wait for later ones."""

_AT_END: Final = 1 << 18
"""Rows that are judged at a time where the log is over: all keys that ever were have some."""

_CALLERS: Final = 8
_MORE_CALLERS: Final = 16
_ROOM: Final = 32
"""The machines' bounds: calls of a kind that are open at a time, and items that are inside. What
does not fit is refused, and so handed over."""

_MANY: Final = 8_192
"""Rows of keys with more callers from which on it pays to compile the machine for these."""


class _Machines:
    """Machines for so many ``callers`` of a kind, one for each key; the rows that were ``left``;
    and the keys that are ``hard``: their order is searched for, as another one was refused."""

    def __init__(self, capacity: int, callers: int) -> None:
        import numpy as np

        items = min(NAMES_MAX, capacity + 2 * callers)
        self.capacity, self.callers = capacity, callers
        self.runner = runner_of(
            BoundedQueue, (("C", capacity), ("K", items), ("T", callers), ("W", callers)),
            STEPS, (("item", items), ("take", callers)))
        self.states = self.runner.initial(1)
        self.hard = np.zeros(1, bool)
        self.left = fresh(nothing())

    def grows(self, keys: int) -> None:
        """Have a state for each key."""
        if len(self.states) < keys:
            self.states = longer(self.states, keys, self.runner.initial(1))
            self.hard = longer(self.hard, keys)

    def with_left(self, rows: Rows, mine: Any) -> tuple[Kept, Segments]:
        """Some rows behind those that were left of their keys (``mine``, by key), sorted."""
        here = mine[self.left.rows.key]
        left, self.left = self.left.at(here), self.left.at(~here)
        return merged(left, rows)

    def works(self, meant: Meant, kept: Kept, segments: Segments, final: bool = False,
              searches: bool = True, cut: Numbers | None = None) -> tuple[Table, Work]:
        """Take rows, which are sorted by key."""
        table = Table(meant, kept, segments, cut)
        return table, Work(self.runner, self.states, table, self.capacity, final, searches)


class WholeQueues:
    """Judges all queues; see ``Whole``. ``make`` makes the judge of one key, and ``ended`` is what
    these judges remember."""

    def __init__(self, terms: Terms, notes: Notes, names: Names, make: Callable[[str], Resumable],
                 ended: Ended) -> None:
        import numpy as np

        self._notes, self._names, self._make = notes, names, make
        self._capacity = min(terms.settings.get("capacity", _ROOM), _ROOM)
        self._ordered = bool(terms.settings.get("order", 1))
        self._all: list[_Machines | NoMachines] = [
            _Machines(self._capacity, _CALLERS) if self._ordered else NoMachines()]
        self._of = np.zeros(1, np.int64)    # by key, which of them are its
        self._recent = Recent(AROUND)
        self._meant = Meant(names.numbered, Runs(), (np.zeros(0, bool),) * 3)
        self._known = _Known(names)
        self._ended = ended
        ended.elsewhere = self._known

    def takes(self, rows: Rows) -> list[Handed]:
        """Take the next rows of the log."""
        import numpy as np

        keys = self._grows()
        handed: list[Handed] = []
        for number, machines in enumerate(list(self._all)):
            some = rows if len(self._all) == 1 else rows.at(self._of[rows.key] == number)
            if len(some):
                mine = np.zeros(keys, bool)
                mine[some.key] = True
                handed += self._judges(machines, *machines.with_left(some, mine), False)
        return handed

    def _grows(self) -> int:
        """Have a place for each key; the number of the keys."""
        keys = len(self._names.keys)
        if keys * ITEM_MAX > 1 << 62:
            raise Unfit
        for machines in self._all:
            machines.grows(keys)
        self._of = longer(self._of, keys)
        self._learns()
        return keys

    def ends(self) -> list[Handed]:
        """The log is over: what has not ended never will."""
        handed: list[Handed] = []
        for machines in self._all:      # some may be added here
            left, machines.left = machines.left, fresh(nothing())
            for some in _of_some_keys(left):
                handed += self._judges(machines, *by_key(some), True)
        return handed

    def in_use(self, column: str) -> Numbers:
        """The numbers of a column that are in use, or may be shown."""
        import numpy as np

        return np.concatenate([self._recent.in_use(column), *(
            column_of(machines.left.rows, column) for machines in self._all)])

    def forgets(self, least: int) -> None:
        """Items with smaller numbers are forgotten, but for those that are in use."""
        self._ended.has_forgotten = True
        start, _, size = self._meant.ended.every()
        self._meant.ended.keeps(start % ITEM_MAX + size > least)

    # --- pieces of a log, where the order is not judged: see Divided -------------------------

    def remainder(self, rows: Rows) -> Remainder:
        """The remainder of some rows, without the items that were put and taken among them."""
        self._learns()
        return remainder_of(self._meant, rows)

    def fits(self, left: Remainder) -> bool:
        """True if the rows with this remainder are plain after those so far."""
        import numpy as np

        self._grows()
        open_ = self._all[0].left
        mine = np.isin(open_.rows.key, left.keys)
        return are_plain(self._meant, open_.at(mine), left, _LEFT)

    def joins(self, left: Remainder) -> None:
        """Be behind the rows with this remainder, which fits."""
        machines = self._all[0]
        assert isinstance(machines, NoMachines)
        machines.is_checked = True      # that the takes which found nothing are right
        handed = self.takes(left.rows)
        machines.is_checked = False
        assert not handed, "it fits"
        self._adds(left.of, 1)
        over = left.over.copy()
        over.sort()
        self._meant.ended.add(over, over)
        if len(left.lasts):
            self._recent.takes(*sorted_by_key(left.lasts))

    def _learns(self) -> None:
        """Know what each meaning is: whether of a put, a beginning, and how it ended."""
        import numpy as np

        known = []
        for operation, phase, result in self._names.meanings:
            is_put, begins = operation == PUT_NAME, phase == "begin"
            plain = phase != "point" and operation in (PUT_NAME, TAKE_NAME)
            ended = (OK if plain and (begins or result == "ok") else
                     NONE_THERE if plain and result == "empty" and not is_put else OTHER)
            known.append((is_put, begins, ended))
        columns = np.array(known, np.int8).reshape(-1, 3).T
        self._meant.said = (columns[0] == 1, columns[1] == 1, columns[2].copy())

    # --- one chunk -------------------------------------------------------------------------

    def _judges(self, machines: _Machines | NoMachines, kept: Kept, segments: Segments, final: bool
                ) -> list[Handed]:
        """Judge the rows that can be judged now, in the order that is proposed; where it is
        refused, in one that is searched for, from now on."""
        hard = kept.at(slice(0, 0))
        if machines.hard[segments.keys].any():
            is_hard = machines.hard[kept.rows.key]
            hard = kept.at(is_hard)
            kept, segments = by_key(kept.at(~is_hard))
        handed: list[Handed] = []
        if len(kept):
            saved = machines.states[segments.keys]
            table, work = machines.works(self._meant, kept, segments, final, searches=False)
            refused = work.refused >= 0
            handed += self._leaves(machines, table, work, (table.end < segments.ends) & ~refused,
                                   ~refused)
            keys = segments.keys[refused]
            machines.states[keys], machines.hard[keys] = saved[refused], True
            if len(keys):
                hard = both(hard, kept.at(refused[table.segment]))
        return handed + (self._searches(machines, hard, final) if len(hard) else [])

    def _searches(self, machines: _Machines | NoMachines, kept: Kept, final: bool) -> list[Handed]:
        """Judge rows in an order that is searched for. A key that is refused goes to machines with
        more callers, if it has more; or else it is handed over."""
        kept, segments = by_key(kept)
        saved = machines.states[segments.keys]
        table, work = machines.works(self._meant, kept, segments, final)
        refused = work.refused >= 0
        handed = self._leaves(machines, table, work, (table.end < segments.ends) & ~refused,
                              ~refused)
        if not refused.any():
            return handed
        machines.states[segments.keys[refused]] = saved[refused]
        open_ = table.most_open()
        wide = refused & (open_ > machines.callers) & (open_ <= _MORE_CALLERS)
        if len(self._all) > 1 or segments.sizes[wide].sum() >= _MANY:
            handed += self._widens(kept.at(wide[table.segment]), final)
            refused &= ~wide
        return handed + self._gives_up(machines, kept.at(refused[table.segment]),
                                       (work.refused - segments.starts)[refused])

    def _widens(self, kept: Kept, final: bool) -> list[Handed]:
        """Let machines with more callers judge some keys from now on; they begin with what is
        open, as the judge of a key does."""
        if not len(kept):
            return []
        if len(self._all) == 1:
            self._all.append(_Machines(self._capacity, _MORE_CALLERS))
        wide = self._all[1]
        wide.grows(len(self._names.keys))
        self._of[kept.rows.key], wide.hard[kept.rows.key] = 1, True
        return self._searches(wide, fresh(kept.rows, kept.seen), final)

    def _gives_up(self, machines: _Machines | NoMachines, kept: Kept, cut: Numbers) -> list[Handed]:
        """Judge keys once more, up to some rows before the one that is refused (the place in each):
        their own judges continue from there."""
        import numpy as np

        if not len(kept):
            return []
        kept, segments = by_key(kept)
        saved, cut = machines.states[segments.keys], cut + segments.starts
        for _ in range(2):
            machines.states[segments.keys] = saved
            table, work = machines.works(self._meant, kept, segments, cut=cut)
            cut = np.where(work.refused < 0, cut, segments.starts)
        every = np.ones(len(segments.keys), bool)
        return self._leaves(machines, table, work, every, every)

    def _leaves(self, machines: _Machines | NoMachines, table: Table, work: Work | Conserved,
                bad: Any, mine: Any) -> list[Handed]:
        """Count what was taken, keep what is open, and hand over the bad keys; of those that are
        ``mine``."""
        import numpy as np

        segments, seen = table.segments, table.kept.seen
        new = work.fed & ~seen & mine[table.segment]
        self._counts(table, new, 1)
        gone, puts = work.gone()
        puts = puts[mine[table.segment[puts]]]
        puts = puts[np.argsort(table.what[puts], kind="stable")]
        self._meant.ended.add(table.what[puts], table.what[puts])
        open_ = work.open()
        stays = ~gone & mine[table.segment]
        crowded = np.bincount(table.segment[stays], minlength=len(segments.keys)) > _LEFT
        bad = bad | crowded & mine
        places = {each: slice(int(segments.starts[each]), int(segments.ends[each]))
                  for each in np.flatnonzero(bad).tolist()}
        befores = {each: self._recent.of(int(segments.keys[each]), table.rows.at(place).at(
            new[place])) for each, place in places.items()}
        sizes = np.add.reduceat(new, segments.starts, dtype=np.int64)
        some = np.flatnonzero(sizes)
        if len(some):       # those of a key are behind each other
            starts = first_of_each(new, segments.starts, segments.ends)[some]
            self._recent.takes(table.rows, Segments(segments.keys[some], starts,
                                                    starts + sizes[some]))
        machines.left = both(machines.left, open_.at(stays & ~bad[table.segment]))
        return [self._hands(int(segments.keys[each]),
                            open_.at(places[each]).at(stays[places[each]]), before)
                for each, before in befores.items()]

    def _counts(self, table: Table, which: Any, times: int) -> None:
        """Count the steps that some rows are, as the judge of a key counts them."""
        import numpy as np

        self._adds(np.bincount(table.kinds()[which], minlength=12), times)

    def _adds(self, found: Numbers, times: int) -> None:
        steps = self._notes.steps

        def add(number: int, *actions: tuple[Any, str]) -> None:
            if found[number]:
                for machine, action in actions:
                    if self._ordered or machine is ConservingQueue:
                        steps[machine, action] += times * int(found[number])

        add(kind_of(True, True, OK), (BoundedQueue, PUT.waits))
        add(kind_of(True, False, OK), (BoundedQueue, PUT.woken), (ConservingQueue, PUT.woken))
        add(kind_of(False, True, OK), (BoundedQueue, TAKE.waits))
        add(kind_of(False, False, OK), (BoundedQueue, TAKE.woken), (ConservingQueue, TAKEN))
        add(kind_of(False, False, NONE_THERE), (BoundedQueue, TAKE.in_vain),
            (BoundedQueue, TAKE.cancelled), (ConservingQueue, TAKE.in_vain))

    def _hands(self, key: int, open_: Kept, before: Rows) -> Handed:
        """Hand a key over: its judge takes what was open again, and continues with the rest."""
        seen = open_.at(open_.seen).rows
        if len(seen):
            _, segments = sorted_by_key(seen)
            self._counts(Table(self._meant, fresh(seen, open_.seen[open_.seen]), segments),
                         slice(None), -1)
        name = self._names.keys[key]
        self._known.knows(name, key, self._meant.ended, frozenset(seen.item.tolist()))

        def made(calls: Calls) -> KeyJudge:
            judge = self._make(name)
            for at in range(len(seen)):
                judge.take(calls.numbered(*self._names.event(seen, at)))
            if len(before):
                judge.has_seen(self._names.event(before, at)[0] for at in range(len(before)))
            return judge

        return Handed(key, made, open_.rows.at(~open_.seen))


def _of_some_keys(kept: Kept) -> Iterator[Kept]:
    """The rows in parts, each with all rows of some keys."""
    import numpy as np

    order = np.argsort(kept.rows.key, kind="stable")
    ends = np.flatnonzero(np.diff(kept.rows.key[order], append=-1)) + 1
    start = 0
    while start < len(order):
        last = min(int(np.searchsorted(ends, start + _AT_END)), len(ends) - 1)
        yield kept.at(order[start:ends[last]])
        start = int(ends[last])


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
