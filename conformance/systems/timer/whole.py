"""All timers of a log at a time: each task has a machine of its own, which is driven to each time.

A task is judged by its own deadline, and by the clock of its timer, which is the greatest time so
far. What counts the tasks of a timer is only ever shown (the adds, the runs, the longest delay); it
is summed up here, for the judge of a timer that is handed over.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from ....spec.engines.native.running import Step, runner_of
from ....spec.kafka.observed_timer import ObservedTimer
from ....spec.kafka.timer import Phase
from ...columns.cells import NONE, longer
from ...columns.rows import Rows
from ...columns.segments import Segments, greatest_so_far
from ...columns.things import Chunk, WholeThings, by_thing

if TYPE_CHECKING:
    from ...columns.cells import Numbers

__all__ = ["WholeTimers"]

_DRIVE, _ADD, _CANCEL, _RUN = 1, 2, 3, 4
_SHOWS: Final = (("phase[0]", 0),)
_VALUE_MAX: Final = 1 << 40
_TIME_MAX: Final = 1 << 61


class WholeTimers(WholeThings):
    """Judges all timers; see ``Whole``. ``constants`` are those of the machine of one timer,
    ``actions`` the actions that are a drive, an add, a cancel and a run."""

    columns = ("turn", "phase")

    def __init__(self, *given: Any, constants: dict[str, int], actions: tuple[str, ...], law: int,
                 make: Callable[..., Any]) -> None:
        import numpy as np

        terms, notes, names = given
        machine: Any = ObservedTimer
        of_one = {**constants, "K": 1, "D": constants["T"]}
        super().__init__(terms, notes, names, runner_of(
            machine, tuple(of_one.items()), _steps(actions, law), shows=_SHOWS), make)
        self._actions = actions
        self._unit = terms.settings.get("unit_ns", 1_000_000)
        self._sooner = max(0, terms.settings.get("tick_ns", 0) - 1)
        operations = [*names.logs.operations, ""]
        self._step = np.array([{"adds": _ADD, "cancels": _CANCEL, "runs": _RUN}.get(do, 0)
                               for do in operations])
        self._begins = operations.index("")
        self._times = np.array([], np.int64)        # by timer: its clock …
        self._sums = np.zeros((0, 4), np.int64)     # … adds, runs, longest delay, time of last run
        self._has_run = np.zeros(0, bool)           # the last event was a run
        self._ended = {Phase.RAN: self.over(), Phase.CANCELLED: self.over()}
        self._now: Any = None       # by row: the clock …
        self._delay: Any = None     # … and the delay of an add
        self._chunk: Any = None

    def waits(self, rows: Rows) -> Any:
        """All rows are understood by themselves."""
        import numpy as np

        return np.zeros(len(rows), bool)

    def plan(self, rows: Rows, segments: Segments) -> Chunk:
        """The steps of some rows: the machine is driven to its time, and takes it."""
        import numpy as np

        self._grows(len(self.names.keys))
        does = self.operation_of(rows)
        step = self._step[does]
        failed = (step == _CANCEL) & ~self._is_ok()[rows.said]
        wide = (step == _ADD) & (np.abs(rows.value) >= _VALUE_MAX)
        bad = [np.flatnonzero((does == self._begins) | wide | (rows.time == NONE)
                              | (np.abs(rows.time) >= _TIME_MAX))]
        self._now = self._clock(rows, segments)
        behind = self._now - rows.time + self._sooner
        self._delay = np.where(step == _ADD, np.maximum(
            0, np.where(wide, 0, rows.value) * self._unit - behind), 0)
        at, starts, what = by_thing(rows, np.flatnonzero((step > 0) & ~failed))
        row = np.repeat(at, 2)
        steps = np.full(len(row), _DRIVE)
        steps[1::2] = step[at]
        ends = np.append(starts[1:], len(at))
        return Chunk(rows, segments, what, 2 * starts, 2 * ends, row, steps, self._now[row],
                     self._delay[row], bad, np.zeros(len(row), np.int64),
                     self.known.of("phase", what, int(Phase.NEW)))

    def across(self, chunk: Chunk) -> None:
        """Nothing is asked of all tasks together."""
        self._chunk = chunk

    def counts(self, rows: Rows, taken: Any) -> None:
        """Note the steps of the rows that were taken; a cancel is one of a task that is pending."""
        import numpy as np

        chunk = self._chunk
        drive, *others = self._actions
        mask = np.zeros(len(rows), bool)
        mask[taken] = True
        counted = mask[chunk.row] & ((chunk.step != _CANCEL) | (chunk.before() == Phase.PENDING))
        times = np.bincount(chunk.step[counted], minlength=5)[_ADD:].tolist()
        for action, number in zip((drive, *others), (int(mask.sum()), *times), strict=True):
            if number:
                self.notes.steps[ObservedTimer, action] += number

    def keeps(self, chunk: Chunk, states: Numbers, upto: Numbers) -> None:
        """Keep the tasks that are pending; of others, whether they ran or were cancelled."""
        import numpy as np

        rows, segments = chunk.rows, chunk.segments
        mask = np.arange(len(rows)) < np.repeat(upto, segments.sizes)
        turns = self._summed(chunk, mask)
        shown = chunk.last()
        before, taken = chunk.before(), mask[chunk.row]
        thing = np.repeat(np.arange(len(chunk.what)),
                          np.diff(chunk.starts, append=len(chunk.row)))
        for phase, step in ((Phase.RAN, _RUN), (Phase.CANCELLED, _CANCEL)):
            some = np.unique(thing[taken & (chunk.step == step) & (before == Phase.PENDING)])
            self._ended[phase].add(chunk.what[some])
        turn = self.known.of("turn", chunk.what, 0)
        adds = np.flatnonzero(taken & (chunk.step == _ADD))
        turn[thing[adds]] = turns[chunk.row[adds]]      # the last one of a task counts
        self.known.puts(chunk.what, states, {"turn": turn, "phase": shown},
                        shown == Phase.PENDING)

    def brings(self, judge: Any, key: int) -> None:
        """Bring the judge of a timer to where it is."""
        some = self.of_key(key)
        tasks = []
        for at in range(some.start, some.stop):
            slots: dict[str, Any] = {**self.runner.slots(self.known.states[at])}
            tasks.append((self.name(int(self.known.what[at])), int(slots["due[0]"]),
                          int(slots["brief[0]"]), int(self.known.columns["turn"][at])))
        adds, runs, longest, last = self._sums[key].tolist()
        was = {phase: self.was(ended, key) for phase, ended in self._ended.items()}
        judge.continues(tasks, was, now=int(self._times[key]), added=adds, ran_of_them=runs,
                        longest=longest, last=last, late=True, fruitful=bool(self._has_run[key]))

    # --- what is summed up ----------------------------------------------------------------------

    def _is_ok(self) -> Any:
        import numpy as np

        return np.array([result == "ok" for _, _, result in self.names.meanings])

    def _grows(self, keys: int) -> None:
        self._times, self._sums, self._has_run = (
            longer(each, keys) for each in (self._times, self._sums, self._has_run))

    def _clock(self, rows: Rows, segments: Segments) -> Numbers:
        """By row, the greatest time of its timer so far."""
        return greatest_so_far(rows.time, segments.starts, self._times[segments.keys])

    def _summed(self, chunk: Chunk, mask: Any) -> Numbers:
        """Sum up the rows that were taken; by row, the number of its add."""
        import numpy as np

        rows, segments = chunk.rows, chunk.segments
        step = np.where(mask, self._step[self.operation_of(rows)], 0)
        adds, runs = step == _ADD, step == _RUN
        sums = self._sums[segments.keys]
        so_far = np.cumsum(adds)
        offset = sums[:, 0] - so_far[segments.starts] + adds[segments.starts]
        turns: Numbers = so_far + np.repeat(offset, segments.sizes)
        sums[:, 0] += np.add.reduceat(adds, segments.starts, dtype=np.int64)
        sums[:, 1] += np.add.reduceat(runs, segments.starts, dtype=np.int64)
        for column, values in ((2, np.where(adds, self._delay, 0)),
                               (3, np.where(runs, self._now, 0))):
            sums[:, column] = np.maximum(sums[:, column],
                                         np.maximum.reduceat(values, segments.starts))
        self._sums[segments.keys] = sums
        taken = np.add.reduceat(mask, segments.starts, dtype=np.int64)
        some = np.flatnonzero(taken)
        last = (segments.starts + taken - 1)[some]
        self._times[segments.keys[some]] = self._now[last]
        self._has_run[segments.keys[some]] = runs[last]
        return turns


@cache
def _steps(actions: tuple[str, ...], law: int) -> tuple[Step, ...]:
    drive, add, cancel, run = actions
    return (Step(), Step(drive, {"until": "first"}),
            Step(add, {"task": 0, "delay": "second", "law": law}), Step(cancel, {"task": 0}),
            Step(run, {"task": 0, "at": "first", "law": law}))
