"""Judging keys by machines that hold many things, each thing by itself, as machine code.

A broker holds messages and an acker roots. Their observers have a place for each of them, and a log
names things without end. But what a thing does there depends on the thing alone, but for a few
conditions on all of them self. So the rows are sorted by key and thing, and each thing gets a
machine of its own: the same observer, with room for one. What is asked of all things of a key at a
time, a system sums up in columns (``across``), from what its machines show.

That only ever says that a key is right. At the first row at which a machine refuses, or a sum is
not as it has to be, the key's own judge is made in that state, and takes that row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

from ...spec.engines.native.running import Runner
from ..logs.events import Event
from ..logs.kinds import KeyJudge, Terms
from ..logs.memory import Elsewhere
from ..logs.notes import AROUND, WHOLE, Notes
from ..logs.steps import StepJudge
from ..logs.understanding import Calls
from .calls import in_groups
from .cells import Unfit
from .over import Over
from .recent import Recent
from .remainder import Remainder
from .rows import ITEM_MAX, Names, Rows, column_of, joined, nothing
from .segments import Handed, Segments, sorted_by_key
from .tables import Early, Known

if TYPE_CHECKING:
    from .cells import Numbers

__all__ = ["Chunk", "WholeThings", "by_thing"]

_KEYS_MAX: Final = (1 << 62) // ITEM_MAX


@dataclass
class Chunk:
    """The steps of some rows, by thing. ``what`` is the key of each thing with its item; its steps
    are those from ``starts`` up to ``ends``. By step, ``row`` is the row at which it is taken,
    ``first`` and ``second`` are its numbers, and ``shown`` is what its machine shows then; before
    the first one it was ``seen``. The ``bad`` rows need a closer look."""

    rows: Rows
    segments: Segments
    what: Numbers
    starts: Numbers
    ends: Numbers
    row: Numbers
    step: Numbers
    first: Numbers
    second: Numbers
    bad: list[Numbers]
    shown: Numbers
    seen: Numbers

    def before(self) -> Numbers:
        """By step, what the machine of its thing showed before."""
        import numpy as np

        found = np.empty_like(self.shown)
        found[1:] = self.shown[:-1]
        found[self.starts] = self.seen
        return found

    def last(self) -> Numbers:
        """By thing, what its machine shows after its last step."""
        import numpy as np

        if not len(self.shown):
            return self.seen
        return np.where(self.ends > self.starts, self.shown[self.ends - 1], self.seen)


def by_thing(rows: Rows, which: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Some rows, which are sorted by key, by key and item; where each thing begins among them, and
    what it is."""
    import numpy as np

    if not len(which):
        return which, which, which
    order, begins = in_groups(rows.key[which], rows.item[which])
    at = which[order]
    starts = np.flatnonzero(begins)
    return at, starts, rows.key[at[starts]] * ITEM_MAX + rows.item[at[starts]]


class WholeThings:
    """Judges all keys by a machine for each of their things; see ``Whole``. ``make`` makes the
    judge of one key, which notes what it finds."""

    columns: ClassVar[tuple[str, ...]] = ()
    """The numbers that are kept of each thing."""

    def __init__(self, terms: Terms, notes: Notes, names: Names, runner: Runner,
                 make: Callable[[str, Notes], StepJudge]) -> None:
        self.terms, self.notes, self.names, self.runner = terms, notes, names, runner
        self.known = Known(runner.words, self.columns)
        self._make = make
        self.held = nothing()
        self._over: list[Over] = []
        self._recent, self._early = Recent(AROUND), Early(WHOLE)
        self._operations = list(names.logs.operations)
        self._no_names = self.known.what

    def takes(self, rows: Rows, are_all: bool = False) -> list[Handed]:
        """Take the next rows of the log, and keep those that are not understood yet, unless there
        are no more."""
        import numpy as np

        rows, segments, held = self.split(rows, are_all)
        if len(self.names.keys) > _KEYS_MAX:
            raise Unfit
        handed = self._judged(rows, segments) if len(rows) else []
        if handed and len(held):
            gone = np.isin(held.key, [each.key for each in handed])
            handed = [each.with_more(held.at(held.key == each.key)) for each in handed]
            held = held.at(~gone)
        self.held = held
        return handed

    def split(self, rows: Rows, are_all: bool) -> tuple[Rows, Segments, Rows]:
        """The rows that are understood with the next ones of the log, by key; and those that are
        not yet, unless there are no more."""
        import numpy as np

        rows, segments = sorted_by_key(joined([self.held, rows]))
        held = nothing()
        if len(rows) and not are_all:
            waits = np.zeros(len(rows), bool)
            last = segments.ends - 1
            waits[last] = self.waits(rows)[last]
            if waits.any():
                held, (rows, segments) = rows.at(waits), sorted_by_key(rows.at(~waits))
        return rows, segments, held

    def joins(self, left: Remainder) -> None:
        """Take what rows leave that were judged elsewhere, and know the last ones of these."""
        handed = self.takes(left.rows)
        assert not handed, "it fits"
        if len(left.lasts):
            lasts, segments = sorted_by_key(left.lasts)
            self._recent.takes(lasts, segments)
            self._early.exceeds(segments.keys)

    def ends(self) -> list[Handed]:
        """The log is over; what is not understood yet never will be."""
        held, self.held = self.held, nothing()
        return self.takes(held, are_all=True) if self.terms.drained and len(held) else []

    def in_use(self, column: str) -> Numbers:
        """The numbers of a column that are in use, or may be shown."""
        import numpy as np

        found = [self._recent.in_use(column), self._early.in_use(column),
                 column_of(self.held, column)]
        return np.concatenate([*found, self.known.what % ITEM_MAX] if column == "item" else found)

    def forgets(self, least: int) -> None:
        """Items with smaller numbers are forgotten, but for those that are in use."""
        for over in self._over:
            over.forgets(least)

    # --- what systems say; all rows are sorted by key --------------------------------------------

    def waits(self, rows: Rows) -> Any:
        """Which rows are not understood before the next one of their key."""
        raise NotImplementedError

    def plan(self, rows: Rows, segments: Segments) -> Chunk:
        """The steps of some rows."""
        raise NotImplementedError

    def across(self, chunk: Chunk) -> None:
        """Add the rows at which all things of a key together are not as they have to be."""
        raise NotImplementedError

    def counts(self, rows: Rows, taken: Any) -> None:
        """Note the steps of the rows that were ``taken``."""
        raise NotImplementedError

    def keeps(self, chunk: Chunk, states: Numbers, upto: Numbers) -> None:
        """Keep what is to be known of each thing, and of each key, up to the row at which the key
        is handed over, or its end."""
        raise NotImplementedError

    def brings(self, judge: Any, key: int) -> None:
        """Bring the judge of a key to where the key is."""
        raise NotImplementedError

    # --- for systems ---------------------------------------------------------------------------

    def operation_of(self, rows: Rows) -> Numbers:
        """The number of the operation of each row; one more than there are for a beginning."""
        import numpy as np

        table = np.array([len(self._operations) if phase == "begin" else
                          self._operations.index(operation)
                          for operation, phase, _ in self.names.meanings], np.int64)
        return table[rows.said]

    def over(self) -> Over:
        """A set of items that have ended, which are remembered within bounds."""
        self._over.append(Over(self.terms.remember))
        return self._over[-1]

    def was(self, ended: Over, key: int) -> Elsewhere:
        """The items of a key that have ended."""
        import numpy as np

        def has(_: str, item: Any) -> bool:
            number = self.names.item_number(item)
            return number >= 0 and bool(
                ended.has(np.array([key * ITEM_MAX + number], np.int64))[0])
        return Elsewhere(has, ended.has_forgotten(key))

    def of_key(self, key: int) -> slice:
        """The things of a key that are known."""
        import numpy as np

        first, last = np.searchsorted(self.known.what, [key * ITEM_MAX, (key + 1) * ITEM_MAX])
        return slice(int(first), int(last))

    def name(self, what: int) -> Any:
        """The item that a thing is."""
        return self.names.item(what % ITEM_MAX)

    def states(self, chunk: Chunk) -> Numbers:
        """The states of the machines of some things, as they are before."""
        states = self.runner.initial(len(chunk.what))
        place, found = self.known.find(chunk.what)
        states[found] = self.known.states[place[found]]
        return states

    # --- the machines --------------------------------------------------------------------------

    def _judged(self, rows: Rows, segments: Segments) -> list[Handed]:
        import numpy as np

        chunk, before, states, _ = self.tried(rows, segments)
        upto = segments.first_of(np.concatenate(chunk.bad))
        stopped = upto < segments.ends
        taken: Any = slice(None)
        if stopped.any():       # up to there, and no further
            limit = np.repeat(upto, segments.sizes)
            fits = chunk.row < limit[chunk.row]
            thing = np.repeat(np.arange(len(chunk.what)), chunk.ends - chunk.starts)
            chunk.ends = chunk.starts + np.bincount(thing[fits], minlength=len(chunk.what))
            states, _ = self._runs(chunk, before)
            taken = np.arange(len(rows)) < limit
        self.counts(rows, taken)
        self.keeps(chunk, states, upto)
        handed = [self._hands(rows, segments, each, int(upto[each]))
                  for each in np.flatnonzero(stopped).tolist()]
        if handed:
            here = ~np.repeat(stopped, segments.sizes)
            self.known.keeps(~np.isin(self.known.what // ITEM_MAX, segments.keys[stopped]))
            if not here.any():
                return handed
            rows, segments = sorted_by_key(rows.at(here))
        self._recent.takes(rows, segments)
        self._early.takes(rows, segments)
        return handed

    def tried(self, rows: Rows, segments: Segments) -> tuple[Chunk, Numbers, Numbers, Numbers]:
        """The steps of some rows, which are sorted by key, with all that is bad; the states of the
        things before and after; and by thing the step that its machine refused, -1 for none.
        Nothing is known of that yet."""
        chunk = self.plan(rows, segments)
        before = self.states(chunk)
        states, stops = self._runs(chunk, before)
        chunk.bad.append(chunk.row[stops[stops >= 0]])
        self.across(chunk)
        return chunk, before, states, stops

    def _runs(self, chunk: Chunk, before: Numbers) -> tuple[Numbers, Numbers]:
        import numpy as np

        states = before.copy()
        stops = self.runner.run(
            states, np.arange(len(chunk.what)), chunk.starts, chunk.ends, chunk.step, chunk.first,
            chunk.second, self._no_names, chunk.shown)
        return states, stops

    def _hands(self, rows: Rows, segments: Segments, each: int, upto: int) -> Handed:
        """Hand a key over at a row; it was taken as far as there."""
        key, start, end = (int(part[each]) for part in segments)
        name, some = self.names.keys[key], rows.at(slice(start, upto))
        early, recent = self._early.of(key, some), self._recent.of(key, some)
        judge = self._make(name, self.notes if early is None else Notes())
        if early is None:
            self.brings(judge, key)

        def made(calls: Calls) -> KeyJudge:
            judge.has_seen(self._events(recent if early is None else early, calls),
                           early is not None, self.notes)
            return judge

        return Handed(key, made, rows.at(slice(upto, end)))

    def _events(self, rows: Rows, calls: Calls) -> list[Event]:
        return [calls.numbered(*self.names.event(rows, at)) for at in range(len(rows))]
