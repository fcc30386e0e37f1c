"""Files in the order of their clocks, for whole columns: the same order as that of ``order``, event
by event.

Each end gets the number of its call in the order of its file. Then events are moved by half the
tolerance, and sorted: of a file all but the last ones, which may still be followed by earlier ones,
and of all files what is before the end of each. Where a file is sorted less than that, or a call
ends before it begins, the log is ``Unfit``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from ..logs.events import Event
from ..logs.order import WINDOW
from ..logs.readers import Log
from .calls import in_groups
from .cells import NONE, Unfit
from .rows import Names, Rows, column_of, joined, read_batch

if TYPE_CHECKING:
    from .cells import Numbers
    from .text_lines import Numbered

__all__ = ["Batches", "CallCounter", "Numbering", "in_order", "moves_and_phases",
           "places_of"]

Batches = Iterator["Numbered"]

_TIME_MAX: Final = 1 << 61


def in_order(logs: Sequence[Log], batches: Sequence[Batches], names: Names,
             shifts: Mapping[str, int]) -> Iterator[Rows]:
    """The events of some files in one order, in parts. Raises ``Unfit``, and ``InputError``."""
    import numpy as np

    counter = CallCounter()
    files = [_File(log, at, each, names, shifts, counter)
             for at, (log, each) in enumerate(zip(logs, batches, strict=True))]
    turn = 0
    while files:
        slowest = min(files, key=lambda file: file.upto)
        if not slowest.is_over:
            slowest.reads()
        bound = min(file.upto for file in files)
        parts = [part for file in files if (part := file.before(bound)) is not None]
        files = [file for file in files if not (file.is_over and file.is_empty)]
        if parts:
            rows = joined([rows for rows, _ in parts])
            if len(parts) > 1:
                keys = np.concatenate([keys for _, keys in parts])
                rows = rows.at(np.argsort(keys, kind="stable"))
            rows = rows.at(rows.said != NONE)
            rows.turn = np.arange(turn, turn + len(rows))
            turn += len(rows)
            yield rows


def moves_and_phases(kind: Numbers, events: Sequence[Event | None], shifts: Mapping[str, int]
                     ) -> tuple[Numbers, Numbers]:
    """By row, by how much its time is moved, and its phase as a number: ``kind`` says which of some
    ``events`` it is like."""
    import numpy as np

    moves = np.array([0 if event is None else shifts.get(
        event.operation if event.phase == "point" else event.phase, 0)
        for event in events], np.int64)
    phases = np.array([_PHASES[event.phase] if event is not None else _POINT
                       for event in events], np.int64)
    return moves[kind], phases[kind]


def places_of(times: Numbers, phases: Numbers) -> Numbers:
    """The places in the order of a log: by times, and ends behind all others of their time. Raises
    ``Unfit`` for times that are too large."""
    if len(times) and max(-int(times.min()), int(times.max())) >= _TIME_MAX:
        raise Unfit
    found: Numbers = 2 * times + (phases == _END)
    return found


class _Calls(NamedTuple):
    """Beginnings and ends of calls: what the call is known by, its number, and the key of its row.
    """

    key: Numbers
    process: Numbers
    call: Numbers
    number: Numbers
    at: Numbers


@dataclass
class CallCounter:
    """The next number of a call; each is used once, in all files."""

    calls: int = 0


class _File:
    """One file: what was read of it, and not yet taken. Its rows are sorted by ``keys``, which are
    their times, ends behind all others. ``upto`` is the least key that may still come."""

    def __init__(self, log: Log, at: int, batches: Batches, names: Names,
                 shifts: Mapping[str, int], counter: CallCounter) -> None:
        import numpy as np

        self._log, self._at, self._batches = log, at, batches
        self._names, self._shifts = names, shifts
        self._numbering = Numbering(counter)
        names.holders.append(self)
        self._rows: Rows | None = None
        self._keys = np.zeros(0, np.int64)
        self._place = np.zeros(0, np.int64)     # of each row, in the file
        self._read = self._gone = self._last = 0
        self.is_over = False
        self.upto = -1 << 62

    def in_use(self, column: str) -> Numbers:
        """The numbers of a column of the rows that wait, and of the calls that are open."""
        import numpy as np

        waiting = np.zeros(0, np.int64) if self._rows is None or column == "call" else (
            column_of(self._rows, column))
        return np.concatenate([waiting, self._numbering.in_use(column)])

    @property
    def is_empty(self) -> bool:
        """True if all that was read was taken."""
        return not len(self._keys)

    def reads(self) -> None:
        """Read the next rows, if there are any, and put them among those that wait."""
        found = next(self._batches, None)
        if found is None:
            self.is_over, self.upto = True, 1 << 62
            return
        line, batch = found
        read = read_batch(self._log, batch, line, self._names, self._at)
        rows = read.rows
        moves, phases = moves_and_phases(read.kind, read.events, self._shifts)
        keys = places_of(rows.time + moves, phases)
        rows.call = self._numbering.numbers(rows, phases, keys)
        self._adds(rows, keys)

    def _adds(self, rows: Rows, keys: Numbers) -> None:
        import numpy as np

        place = np.arange(self._read, self._read + len(rows))
        self._read += len(rows)
        if self._rows is not None:
            rows = joined([self._rows, rows])
            keys, place = np.append(self._keys, keys), np.append(self._place, place)
        if bool((keys[1:] < keys[:-1]).any()):
            order = np.argsort(keys, kind="stable")
            rows, keys, place = rows.at(order), keys[order], place[order]
        self._rows, self._keys, self._place = rows, keys, place
        if (self._gone and len(keys) and int(self._keys[0]) < self._last) or bool(
                (np.arange(self._gone, self._gone + len(keys)) < self._place - WINDOW).any()):
            raise Unfit     # it is sorted too little
        ready = len(keys) - WINDOW
        self.upto = int(self._keys[ready - 1]) if ready > 0 else self.upto

    def before(self, bound: int) -> tuple[Rows, Numbers] | None:
        """Take the rows with keys below a bound; None for none."""
        import numpy as np

        size = int(np.searchsorted(self._keys, bound))
        if not size or self._rows is None:
            return None
        found = self._rows.at(slice(0, size)), self._keys[:size]
        self._last = int(self._keys[size - 1])
        self._gone += size
        self._rows = self._rows.at(slice(size, None))
        self._keys, self._place = self._keys[size:], self._place[size:]
        return found


class Numbering:
    """The calls of one file, each of which gets the next number of a ``counter``."""

    def __init__(self, counter: CallCounter) -> None:
        import numpy as np

        self._counter = counter
        self._open = _Calls(*(np.zeros(0, np.int64) for _ in range(5)))

    def in_use(self, column: str) -> Numbers:
        """The numbers of a column of the calls that are open, which have the identities of the log
        here."""
        import numpy as np

        of = {"process": self._open.process, "call": self._open.call}
        return of.get(column, np.zeros(0, np.int64))

    def numbers(self, rows: Rows, phases: Numbers, keys: Numbers) -> Numbers:
        """The number of the call of each row, in the order of the file, as ``Calls`` has them; its
        rows are put in order by ``keys``. Raises ``Unfit`` where a call ends before it begins."""
        import numpy as np

        which = np.flatnonzero(phases != _POINT)
        begins = phases[which] == _BEGIN
        fresh = np.arange(self._counter.calls, self._counter.calls + len(which))
        self._counter.calls += len(which)
        was = self._open
        old = len(was.key)
        all_ = _Calls(*(np.concatenate(pair) for pair in zip(
            was, (rows.key[which], rows.process[which], rows.call[which], fresh, keys[which]),
            strict=True)))
        starts = np.append(np.ones(old, bool), begins)
        order, fresh_group = in_groups(all_.key, all_.process, all_.call)
        same = ~fresh_group[1:]
        joins = same & starts[order][:-1] & ~starts[order][1:]
        first, then = order[:-1][joins], order[1:][joins]
        if bool((all_.at[first] > all_.at[then]).any()):
            raise Unfit     # it ends before it begins
        number = all_.number.copy()
        number[then] = number[first]
        last = order[np.append(~same, True)] if len(order) else order
        self._open = _Calls(*(column[last[starts[last]]] for column in all_))
        found = np.full(len(rows), NONE)
        found[which] = number[old:]
        return found


_BEGIN, _END, _POINT = range(3)
_PHASES: Final = {"begin": _BEGIN, "end": _END, "point": _POINT}
