"""Judging all keys of a log by machines that are always in one state (``points``), as machine code.

The machines and the rows of their tables are those of ``PointJudge``. Each machine's actions are
compiled from its chapter (``Runner``), and take the rows of all keys in one loop. Where one
refuses, or a row needs a closer look, the key's ``PointJudge`` is made in that state, and takes
that row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ...spec.engines.native.running import Step, runner_of
from ..logs.events import Event
from ..logs.kinds import KeyJudge, Terms
from ..logs.live import Live
from ..logs.notes import AROUND, Notes
from ..logs.points import PointJudge, Watching
from ..logs.understanding import Calls
from .recent import Recent
from .cells import Unfit, longer
from .rows import Names, Rows
from .segments import Handed, Segments, sorted_by_key

if TYPE_CHECKING:

    from .cells import Numbers

__all__ = ["Eye", "Taken", "WholePoints"]

_NOTHING: Final = 0
"""The step that is no step of a machine."""


def _machine(watching: Watching) -> Any:
    """Its machine: a class has a hash, whatever its instances have."""
    return watching.machine


@cache
def _steps(actions: tuple[tuple[str, ...], ...]) -> tuple[Step, ...]:
    return (Step(), *(Step(action, dict.fromkeys(args, "first")) for action, *args in actions))


class Taken(NamedTuple):
    """The steps of some rows: ``row`` is the row that each is of, ``operation`` the number of its
    operation, ``number`` what ``number`` stands for in the tables."""

    row: Numbers
    operation: Numbers
    number: Numbers


class Eye:
    """One machine, for all keys."""

    def __init__(self, watching: Watching, terms: Terms, operations: Sequence[str]) -> None:
        import numpy as np

        self.watching = watching
        actions = list(dict.fromkeys((row.action, *row.args) for row in watching.rows.values()))
        self.actions = [action for action, *_ in actions]
        self.runner = runner_of(_machine(watching), tuple(watching.constants(terms).items()),
                                _steps(tuple(actions)))
        rows = [watching.rows.get(name) for name in operations]
        self.steps = np.array([
            _NOTHING if row is None else 1 + actions.index((row.action, *row.args))
            for row in rows], np.int64)
        self.by_number = np.array([row is not None and "number" in row.args.values()
                                   for row in rows])
        self.states = self.runner.initial(1)

    def grows(self, keys: int) -> None:
        """Have a state for each key."""
        if len(self.states) < keys:
            self.states = longer(self.states, keys, self.runner.initial(1))


class WholePoints:
    """Judges all keys by some machines; see ``Whole``. ``make`` makes the judge of one key."""

    def __init__(self, terms: Terms, notes: Notes, names: Names, watching: Sequence[Watching],
                 make: Callable[[str], PointJudge]) -> None:
        import numpy as np

        self.terms, self.notes, self.names = terms, notes, names
        self._make = make
        self._first: dict[str, Sequence[Mapping[str, Any]]] = {}
        self.operations = list(names.logs.operations)
        self.eyes = [Eye(each, terms, self.operations) for each in watching]
        self._recent = Recent(AROUND)
        self._no_names = np.zeros(1, np.int64)

    def takes(self, rows: Rows) -> list[Handed]:
        """Take the next rows of the log."""
        import numpy as np

        rows, segments = sorted_by_key(rows)
        for eye in self.eyes:
            eye.grows(len(self.names.keys))
        self.begins(rows, segments)
        taken, upto = self.steps(rows, segments)
        # A step of a row comes after all those of the rows before it, so places are searched for.
        starts = np.searchsorted(taken.row, segments.starts)
        ends = np.searchsorted(taken.row, upto)
        saved = [eye.states[segments.keys] for eye in self.eyes]
        stops = [self._runs(eye, rows, taken, segments.keys, starts, ends) for eye in self.eyes]
        first = np.minimum.reduce([np.where(stop < 0, len(taken.row), stop) for stop in stops])
        at = np.append(taken.row, len(rows))[first]
        upto = np.minimum(upto, np.where(first < ends, at, len(rows)))
        again = np.flatnonzero(first < ends)
        ends[again] = np.searchsorted(taken.row, upto[again])
        for eye, before in zip(self.eyes, saved, strict=True):
            if len(again):      # one machine may have run beyond where another one refused
                eye.states[segments.keys[again]] = before[again]
                self._runs(eye, rows, taken, segments.keys[again], starts[again], ends[again])
            self._counts(eye, taken, starts, ends)
        handed = [self._hands(rows, segments, each, int(upto[each]))
                  for each in np.flatnonzero(upto < segments.ends).tolist()]
        self._recent.takes(rows, segments)
        return handed

    def ends(self) -> list[Handed]:
        """The log is over; nothing that is judged here depends on it."""
        return []

    def in_use(self, column: str) -> Numbers:
        """The numbers of a column that are in use, or may be shown."""
        return self._recent.in_use(column)

    def forgets(self, least: int) -> None:
        """Items with smaller numbers are forgotten, but for those that are in use."""

    def continues_with(self, numbers: Sequence[int],
                       states: Mapping[str, Sequence[Mapping[str, Any]]],
                       found: Mapping[str, set[str]], before: Mapping[str, Sequence[Event]]
                       ) -> None:
        """Continue in the middle of a log with some of the machines, by their ``numbers``. By key:
        the slots of the state of each, the rules that were ``found`` broken, and the last events
        ``before``."""
        make = self._make

        def made(key: str) -> PointJudge:
            judge = make(key)
            judge.continues_with(numbers, found[key])
            judge.has_seen(before[key])
            return judge

        self._make, self._first = made, dict(states)
        self.eyes = [self.eyes[number] for number in numbers]

    def loads(self, rows: Rows) -> None:
        """Be in the state from which to continue, at the keys of some rows that are new."""
        import numpy as np

        for key in np.unique(rows.key).tolist():
            states = self._first.pop(self.names.keys[key], ())
            for eye, slots in zip(self.eyes, states, strict=False):
                eye.grows(len(self.names.keys))
                eye.states[key] = eye.runner.states({"": slots})[0]

    # --- what systems say otherwise ----------------------------------------------------------

    def begins(self, rows: Rows, segments: Segments) -> None:
        """Have room for what is kept of each key."""

    def steps(self, rows: Rows, segments: Segments) -> tuple[Taken, Numbers]:
        """The steps of some rows, and up to which row of each key they go: the next one needs a
        closer look."""
        import numpy as np

        if any(eye.by_number.any() for eye in self.eyes):
            raise Unfit
        return Taken(np.arange(len(rows)), self.operation_of(rows), rows.value), segments.ends

    def brings(self, judge: Any, key: int, at: int, rows: Rows, start: int) -> None:
        """Bring the judge of a key to the row ``at``; its rows here begin at ``start``."""

    def operation_of(self, rows: Rows) -> Numbers:
        """The number of the operation of each row; one more than there are for a beginning."""
        import numpy as np

        table = np.array([len(self.operations) if phase == "begin" else
                          self.operations.index(operation)
                          for operation, phase, _ in self.names.meanings], np.int64)
        return table[rows.said]

    # --- the machines --------------------------------------------------------------------------

    def _runs(self, eye: Eye, rows: Rows, taken: Taken, keys: Numbers, starts: Numbers,
              ends: Numbers) -> Numbers:
        import numpy as np

        steps = np.append(eye.steps, _NOTHING)[taken.operation]
        return eye.runner.run(eye.states, np.ascontiguousarray(keys), starts, ends, steps,
                              np.ascontiguousarray(taken.number), self._no_names, self._no_names)

    def _counts(self, eye: Eye, taken: Taken, starts: Numbers, ends: Numbers) -> None:
        import numpy as np

        steps = np.append(eye.steps, _NOTHING)[taken.operation]
        if (ends - starts).sum() < len(steps):
            size = len(steps) + 1
            edges = np.bincount(starts, minlength=size) - np.bincount(ends, minlength=size)
            steps = steps[np.cumsum(edges)[:-1] > 0]
        times = np.bincount(steps, minlength=len(eye.actions) + 1)
        for action, number in zip(eye.actions, times[1:].tolist(), strict=True):
            if number:
                self.notes.steps[eye.watching.machine, action] += number

    def _hands(self, rows: Rows, segments: Segments, each: int, upto: int) -> Handed:
        """Hand a key over at a row; it was taken as far as there."""
        key, start, end = (int(part[each]) for part in segments)
        states = [eye.states[key].copy() for eye in self.eyes]
        before = self._recent.of(key, rows.at(slice(start, upto)))
        judge = self._make(self.names.keys[key])
        for eye, state, (_, live) in zip(self.eyes, states, judge.eyes, strict=True):
            assert isinstance(live, Live), "what is judged in columns has one state"
            eye.runner.load(state, live.machine)
        self.brings(judge, key, upto, rows, start)

        def made(calls: Calls) -> KeyJudge:
            judge.has_seen(calls.numbered(*self.names.event(before, at))
                           for at in range(len(before)))
            return judge

        return Handed(key, made, rows.at(slice(upto, end)))
