"""A whole run over columns: chunks of a log, its keys judged together, and some of them one by one.

The system's ``Whole`` sorts each chunk by key, and judges all its keys at a time. It says
nothing of a log but that it is right: a key at which it finds anything else is handed over to the
judge of one key, which is brought to where the key is and continues from there, event by event. So
what is violated, unknown or foreign is said by one judge, whichever way a log is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple, cast

from ...spec.notation.errors import InputError
from ...spec.verdicts.deadline import Spent
from ...spec.verdicts.memory import in_use, meter
from ...spec.verdicts.native_refusal import NotNative
from ..logs.histories import Histories
from ..logs.kinds import KeyJudge, Logs, Terms
from ..logs.notes import Notes
from ..logs.order import shifts_of
from ..logs.run import Judged
from ..logs.run import judge_files as by_events
from ..logs.readers import Log, batches_of, ending_of, rows_about
from ..logs.understanding import Calls
from .ordered import Batches, in_order
from .cells import Unfit, longer
from .rows import Names, Rows, joined, rows_of_batch
from .segments import Handed, Whole
from .text_lines import Numbered, csv_batches, json_batches

__all__ = ["CHUNK", "LEAST", "Counted", "Run", "chunks_of", "gathered",
           "judge_files", "judged_whole"]

CHUNK: Final = 1 << 18
"""Rows that are judged at a time."""

LOOK: Final = 1_000
"""Rows that are judged one by one between two looks at the clock."""

_BYTES_OF_ALL: Final = 230 << 20
_BYTES_OF_ROW: Final = 600
"""Bytes of a process with all libraries and compiled machines, and those of each row of a chunk."""

_ROWS_LEAST: Final = 8_192
"""Rows of a chunk at least: in smaller ones the calls of the libraries are what takes time."""

LEAST: Final = 10_000
"""Rows from which on it pays to load the libraries and the machines, of which the code is kept as a
rule (``spec.engines.native.kept``)."""


def judge_files(
    files: Sequence[Log], logs: Logs, terms: Terms, watch: Callable[[int], None] = lambda at: None,
    keeps: bool = False,
) -> Judged:
    """Judge the events of some files, in whole columns where that can be, or else event by event;
    see ``logs.run.judge_files``. What is found is the same."""
    notes = Notes(doubts=[] if keeps else None, checked=Histories(logs, terms))
    found = Judged(notes, terms=terms, by_time=any(file.mapped.order == "time" for file in files))

    def looks(events: int) -> None:
        found.events = events
        watch(events)
    try:
        counted = judged_whole(files, logs, terms, notes, looks)
        if counted is None:
            for file in files:
                file.begins_anew()
            return by_events(files, logs, terms, watch, keeps)
        found.events, found.keys = counted
    except Spent as late:
        found.spent = str(late)
    found.gaps = sum(file.gaps for file in files)
    found.ignored = sum(file.ignored for file in files)
    return found


class Counted(NamedTuple):
    """The numbers of the events and the keys of a log."""

    events: int
    keys: int


def judged_whole(files: Sequence[Log], logs: Logs, terms: Terms, notes: Notes,
                 watch: Callable[[int], None], part: Callable[[Rows, Names], Rows] | None = None
                 ) -> Counted | None:
    """Judge a log in whole columns, or a ``part`` of each chunk of it; None if it has to be judged
    row by row: then ``notes`` are to be made anew. What is wrong with a log is said row by row,
    too: there it is the first thing."""
    chunks = chunks_of(files, logs, terms)
    if chunks is None:
        return None
    names, given = chunks
    try:
        common = logs.common(terms, notes)
        whole = logs.whole(terms, notes, names, common) if logs.whole is not None else None
        if whole is None:
            return None
        run = Run(logs, whole, names, watch)
        for rows in given:
            mine = rows if part is None else part(rows, names)
            if len(mine):
                run.takes(mine)
            watch(run.events)
        found = run.ends()
    except (Unfit, NotNative, InputError, UnicodeDecodeError):
        return None
    if found.events:
        logs.judge("", terms, notes, common)    # notes what is not shown on these terms
    return found


def chunks_of(files: Sequence[Log], logs: Logs, terms: Terms
              ) -> tuple[Names, Iterator[Rows]] | None:
    """The chunks of a log in its order, with what their numbers mean; None where a log has to be
    read row by row. What reads them raises ``Unfit`` where that is seen later."""
    orders = {file.mapped.order for file in files}
    if logs.whole is None or terms.patience or not terms.from_start or len(orders) > 1 or (
            len(files) > 1 and orders == {"file"}) or any(file.has_format for file in files) or (
            sum(map(rows_about, files)) < LEAST):
        return None
    size = rows_that_fit(meter().left())
    if not size:
        return None
    batches = [_batches(file, size // len(files) + 1) for file in files]
    if None in batches:
        return None
    names = Names(logs, [file.file for file in files], orders == {"time"}, terms.remember)
    some = cast("list[Batches]", batches)
    parts = in_order(files, some, names, shifts_of(
        max(file.mapped.tolerance for file in files), logs.named("sends"),
        logs.named("receives"))) if names.numbered else (
            rows_of_batch(files[0], batch, line, names) for line, batch in some[0])
    return names, gathered(parts, size)


def _batches(log: Log, size: int) -> Batches | None:
    """The rows of a file in batches of about a ``size``, each with the number of its first line;
    None for a format that is read row by row."""
    ending = ending_of(log.path)
    tables = batches_of(log, size)
    if tables is not None:
        return _numbered(tables)
    try:
        import pyarrow  # noqa: F401 - without it the lines are read one by one
    except ImportError:
        return None
    return csv_batches(log, size) if ending == ".csv" else json_batches(log, size)


def _numbered(batches: Iterator[Any]) -> Iterator[Numbered]:
    line = 1
    for batch in batches:
        yield line, batch
        line += batch.num_rows


def rows_that_fit(left: float) -> int:
    """The rows of a chunk where so many bytes are left; 0 where whole columns do not fit, and a log
    is better judged event by event."""
    rows = (left - max(0, _BYTES_OF_ALL - in_use())) / _BYTES_OF_ROW
    return int(min(CHUNK, rows)) if rows >= _ROWS_LEAST else 0


def gathered(given: Iterator[Rows], size: int = 0) -> Iterator[Rows]:
    """Rows in the order of the log, in chunks of about a ``size`` (``CHUNK``, if none is given), of
    parts that may be small."""
    parts: list[Rows] = []
    for part in given:      # no larger than a part of the file, which may be small
        parts.append(part)
        if sum(map(len, parts)) >= (size or CHUNK):
            yield joined(parts)
            parts = []
    if any(map(len, parts)):
        yield joined(parts)


class Run:
    """A run over chunks of a log, by the ``whole`` of its system; ``events`` were taken so far.
    ``watch`` gets their number now and then, and may raise."""

    def __init__(self, logs: Logs, whole: Whole, names: Names,
                 watch: Callable[[int], None] = lambda at: None) -> None:
        import numpy as np

        self._logs, self._whole, self._names, self._watch = logs, whole, names, watch
        names.holders.append(whole)
        self.events = 0
        self._alone: dict[int, KeyJudge] = {}
        self._is_alone = np.zeros(1024, bool)
        self._is_over = np.zeros(1024, bool)
        self._calls = Calls()
        self._seen = np.zeros(1024, bool)

    def ends(self) -> Counted:
        """The log is over: end all judges."""
        self._feeds([], self._whole.ends())
        for judge in self._alone.values():
            judge.end()
        return Counted(self.events, int(self._seen.sum()))

    def joins(self, events: int, keys: Any, how: Callable[[], None]) -> None:
        """Have so many rows of some keys judged elsewhere, all of which were plain; the whole
        learns ``how``."""
        self.events += events
        self._seen = longer(self._seen, len(self._names.keys))
        self._seen[keys] = True
        how()
        self._forgets()

    def takes(self, rows: Rows) -> None:
        """Judge a chunk: rows of keys that were handed over go to the judges of one key, all others
        to the whole."""
        self.events += len(rows)
        keys = len(self._names.keys)
        self._is_alone, self._is_over, self._seen = (
            longer(each, keys) for each in (self._is_alone, self._is_over, self._seen))
        self._seen[rows.key] = True
        alone = self._is_alone[rows.key]
        parts = []
        if alone.any():
            parts.append(rows.at(alone & ~self._is_over[rows.key]))
            rows = rows.at(~alone)
        handed = []
        if len(rows):
            handed = self._whole.takes(rows)
        self._feeds(parts, handed)
        self._forgets()

    def _forgets(self) -> None:
        least = self._names.forgets()
        if least is not None:
            self._whole.forgets(least)

    def _feeds(self, parts: list[Rows], handed: list[Handed]) -> None:
        """Let the judges of single keys take rows, in the order of the log."""
        for each in handed:
            self._alone[each.key] = each.judge(self._calls)
            self._is_alone[each.key] = True
            parts.append(each.rows)
        if not parts:
            return
        rows = joined(parts)
        for number, at in enumerate(rows.turn.argsort(kind="stable").tolist()):
            if number % LOOK == 0:
                self._watch(self.events)
            key = int(rows.key[at])
            judge = self._alone.get(key)
            if judge is not None:
                judge.take(self._calls.numbered(*self._names.event(rows, at)))
                if judge.is_over:       # what it knows is of no use any more
                    self._is_over[key] = True
                    del self._alone[key]
