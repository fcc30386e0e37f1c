"""The work of one task of a cluster on its part of a log, in whole columns.

A row of Spark's is thousands of events here: a task understands a chunk of rows as columns, puts
them by the part that their key belongs to, and sends each part's as one binary value. So the
shuffle moves few and large rows, and nothing is sorted but these. What judges a part gets its
events in the order of the log, as an engine on one machine does, and is that engine: ``columns``.

Where that cannot judge a log, it says so in a row of its own, and the log is judged event by event
(``log_parts``).
"""

from __future__ import annotations

import json
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final
from zlib import crc32

from ...spec.notation.errors import InputError
from ...spec.verdicts.native_refusal import NotNative
from ..columns.cells import NONE, Unfit
from ..columns.ordered import CallCounter, Numbering
from ..columns.rows import LINE as LINE_BITS
from ..columns.rows import Names, Rows, column_of, joined, nothing
from ..columns.run import CHUNK, Run, gathered
from ..columns.segments import stable_order
from ..columns.sent import packed, rows_sent, sent, unpacked
from ..columns.text_lines import csv_rows, json_rows
from ..logs.events import Event
from ..logs.histories import Histories
from ..logs.kinds import Logs, Terms
from ..logs.mapping import Mapped
from ..logs.notes import Notes
from ..logs.order import shifts_of
from ..logs.readers import header_in
from ..logs.rows import arrow_schema, count_of, counts_of, rows_of
from ..logs.run import Judged
from ..logs.understanding import Reading
from .log_parts import (
    FILE, LINE, Files, Listener, batched, codes_of, logs_of, meanings_of, told_by,
)

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from ..columns.cells import Numbers

__all__ = ["FAULTS", "PACKED", "REPORTS_AT", "UNFIT", "Batches", "ColumnVerdicts", "Numbered",
           "OfPart", "Packs", "batch_of", "hears", "labels_of", "part_of", "rows_in", "rows_taken"]

PACKED: Final = "part int, at bigint, file int, report string, events binary"
"""The columns of a row of events on their way, in Spark's words: the label of the part that it goes
to, its place in the order of the part, its file, numbers that a task reports, and events."""

UNFIT: Final = "unfit"
"""A report, and then a count, that a log cannot be judged in whole columns."""

FAULTS: Final = (Unfit, NotNative, InputError, UnicodeDecodeError)
"""A log that raises one of these is judged event by event, and there the fault is named."""

REPORTS_AT: Final = -1 << 62
"""The place of reports, before all events."""

_LEAST: Final = 1 << 16
_MOST: Final = 1 << 20
_OF_PART: Final = 1 << 12
"""Rows that are understood at a time: so many for each part, but not less, and not more."""

Batches = Iterator["pa.RecordBatch"]

_SIGN: Final = 1 << 31
_WORD: Final = (1 << 32) - 1


def labels_of(partitions: int) -> tuple[int, ...]:
    """A whole number for each partition that Spark's hash sends there. Only how even the parts are
    depends on that."""
    found: dict[int, int] = {}
    label = 0
    while len(found) < partitions:
        found.setdefault(_hash(label) % partitions, label)
        label += 1
    return tuple(found[at] for at in range(partitions))


def _hash(number: int) -> int:
    """Spark's hash of a whole number of 32 bits: Murmur3 with the seed 42, as a signed number."""
    mixed = number * 0xcc9e2d51 & _WORD
    mixed = (mixed << 15 | mixed >> 17) & _WORD
    found = 42 ^ (mixed * 0x1b873593 & _WORD)
    found = (found << 13 | found >> 19) & _WORD
    found = (found * 5 + 0xe6546b64 & _WORD) ^ 4
    found = (found ^ found >> 16) * 0x85ebca6b & _WORD
    found = (found ^ found >> 13) * 0xc2b2ae35 & _WORD
    found ^= found >> 16
    return found - (found & _SIGN) * 2


def part_of(key: str, labels: Sequence[int]) -> int:
    """The number of the part of a key, the same in all tasks: ``labels`` has one for each part."""
    return crc32(key.encode()) % len(labels)


# --- reading ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Packs:
    """Makes rows of events of rows of a log: of text, in the column ``value``, or of columns of
    their own. There is a part for each of the ``labels``."""

    suite: str
    mapped: Mapped
    files: Files
    labels: tuple[int, ...]
    ending: str = ""
    """The end of the files' names, if they are of text."""

    @property
    def size(self) -> int:
        """Rows that are understood at a time."""
        return min(max(_LEAST, _OF_PART * len(self.labels)), _MOST)

    def of(self, batches: Batches) -> Batches:
        """The events, as ``PACKED`` has them; first of all, that the log is unfit, if it is."""
        try:
            yield from self._packed(batches)
        except FAULTS:      # what is wrong is said event by event
            yield batch_of((label, REPORTS_AT, 0, UNFIT, None) for label in self.labels)
            read_to_the_end(batches)

    def _packed(self, batches: Batches) -> Batches:
        logs = logs_of(self.suite)
        readings: dict[str, Reading] = {}
        by_time = self.mapped.order == "time"
        names, codes = Names(logs, [], by_time, 0), codes_of(logs)
        shifts = shifts_of(self.mapped.tolerance, logs.named("sends"), logs.named("receives")
                           ) if by_time else None
        spread = _Spread(self.labels)
        for file, lines, batch in self._chunks(batches, readings):
            found = sent(self._reading(readings, file), batch, lines, names, codes, shifts)
            if found.num_rows:
                yield spread.of(found, self.files.number(file))
        yield from self._reports(readings)

    def _reading(self, readings: dict[str, Reading], file: str) -> Reading:
        """The reading of a file, made when it is asked for first."""
        found = readings.get(file)
        if found is None:
            found = readings[file] = Reading(
                self.files.names[file], self.files.mapped.get(file, self.mapped),
                list(logs_of(self.suite).operations))
        return found

    def _reports(self, readings: Mapping[str, Reading]) -> Batches:
        """A row for each file, before all events: what was found out about it."""
        for file, reading in readings.items():
            told = json.dumps(list(told_by(reading)))
            yield batch_of([(self.labels[0], REPORTS_AT + 1, self.files.number(file), told, None)])

    def _chunks(self, batches: Batches, readings: dict[str, Reading]
                ) -> Iterator[tuple[str, Numbers, pa.RecordBatch]]:
        """Chunks of the rows of one file, with their lines."""
        read: dict[tuple[str, int], int] = {}
        for file, block, held in _runs(batches, self.size, bool(self.ending)):
            if not self.ending:
                lines = held.column(LINE).to_numpy()
                yield file, lines, held.drop_columns([FILE, LINE])
                continue
            first = read.get((file, block))
            if first is None:
                first = self.files.first_lines.get(file, {}).get(block, 1)
            read[file, block] = first + held.num_rows
            yield from self._text(file, first, held.column("value").to_pylist(),
                                  self._reading(readings, file))

    def _text(self, file: str, first: int, values: list[bytes], reading: Reading
              ) -> Iterator[tuple[str, Numbers, pa.RecordBatch]]:
        """Lines of text as rows, without the head, or the header of the recorder."""
        import numpy as np

        if first == 1:
            header = header_in(values[0])
            if self.ending == ".csv" or header is not None:
                reading.gaps += int((header or {}).get("dropped", 0))
                values, first = values[1:], 2
        if values:
            text = b"\n".join(values) + b"\n"
            yield file, np.arange(first, first + len(values)), (
                csv_rows(text, self.files.heads[file], reading.mapped) if self.ending == ".csv"
                else json_rows(text, reading.mapped))


def _runs(batches: Batches, size: int, by_block: bool
          ) -> Iterator[tuple[str, int, pa.RecordBatch]]:
    """The rows of a file, and of a block of it, that follow each other, about a ``size`` at a time.
    """
    held: list[pa.RecordBatch] = []
    of, rows = ("", 0), 0
    for batch in batches:
        for where, some in _of_files(batch, by_block):
            if held and (where != of or rows >= size):
                yield *of, _one(held)
                held, rows = [], 0
            held.append(some)
            of, rows = where, rows + some.num_rows
    if held:
        yield *of, _one(held)


def _of_files(batch: pa.RecordBatch, by_block: bool
              ) -> Iterator[tuple[tuple[str, int], pa.RecordBatch]]:
    """The parts of a batch that are of one file, and of one block."""
    import numpy as np

    if not batch.num_rows:
        return
    files = batch.column(FILE).dictionary_encode()
    at, names = files.indices.to_numpy(), files.dictionary.to_pylist()
    blocks = batch.column(LINE).to_numpy() if by_block else np.zeros(len(at), np.int64)
    edges = np.flatnonzero((np.diff(at) != 0) | (np.diff(blocks) != 0)) + 1
    starts = [0, *edges.tolist()]
    for start, end in zip(starts, [*starts[1:], len(at)], strict=True):
        yield (names[at[start]], int(blocks[start])), batch.slice(start, end - start)


def _one(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    import pyarrow as arrow

    if len(batches) == 1:
        return batches[0]
    return arrow.concat_batches(batches)


class _Spread:
    """Puts events by the part of their key: which that is, is the same in all tasks."""

    def __init__(self, labels: tuple[int, ...]) -> None:
        self._labels = labels
        self._known: dict[str | None, int] = {}

    def of(self, events: pa.RecordBatch, file: int) -> pa.RecordBatch:
        """The rows of some events, one for each part that has any."""
        import numpy as np
        import pyarrow as arrow

        parts = self._parts(events)
        order = np.argsort(parts, kind="stable")
        sorted_ = events.take(arrow.array(order))
        edges = np.searchsorted(parts[order], np.arange(len(self._labels) + 1)).tolist()
        lines = sorted_.column("line").to_numpy()
        return batch_of(
            (label, file << LINE_BITS | int(lines[start]), file, None,
             packed(sorted_.slice(start, end - start)))
            for label, start, end in zip(self._labels, edges, edges[1:], strict=False)
            if end > start)

    def _parts(self, events: pa.RecordBatch) -> np.ndarray[Any, Any]:
        """The number of the part of each event."""
        import numpy as np

        if "key" not in events.schema.names:
            return np.zeros(events.num_rows, np.uint16)
        keys, known = events.column("key"), self._known
        if not hasattr(keys, "dictionary"):
            keys = keys.dictionary_encode()
        names = [*keys.dictionary.to_pylist(), None]
        table = [known.get(name, -1) for name in names]
        for at, number in enumerate(table):
            if number < 0:
                name = names[at] or ""      # a row without a key is of the key without a name
                table[at] = known[names[at]] = part_of(name, self._labels)
        indices = keys.indices.fill_null(-1) if keys.indices.null_count else keys.indices
        found: np.ndarray[Any, Any] = np.array(table, np.uint16)[
            indices.to_numpy(zero_copy_only=False)]
        return found


def read_to_the_end(batches: Batches) -> None:
    """Take all rows that are left: Spark waits two seconds for a task that leaves some, and ends
    the process that it ran in."""
    for _ in batches:
        pass


def batch_of(rows: Iterable[tuple[Any, ...]]) -> pa.RecordBatch:
    """Rows of events on their way, as ``PACKED`` has them."""
    import pyarrow as arrow

    columns = list(zip(*rows, strict=True)) or [()] * 5
    kinds = (arrow.int32(), arrow.int64(), arrow.int32(), arrow.string(), arrow.binary())
    return arrow.RecordBatch.from_arrays(
        [arrow.array(column, kind) for column, kind in zip(columns, kinds, strict=True)],
        names=[each.split()[0] for each in PACKED.split(", ")])


# --- judging ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Numbered:
    """Numbers the calls of a part with rows in the order of their files; then each row goes
    to the place of its first event by the clocks."""

    suite: str
    files: Files

    def of(self, batches: Batches) -> Batches:
        """The same events, those of each row in the order of the clocks."""
        try:
            yield from self._numbered(batches)
        except Unfit:
            yield batch_of([(0, REPORTS_AT, 0, UNFIT, None)])
            read_to_the_end(batches)

    def _numbered(self, batches: Batches) -> Batches:
        import numpy as np
        import pyarrow as arrow

        logs = logs_of(self.suite)
        names, meanings = Names(logs, [], False, 0), meanings_of(logs)
        counter = CallCounter()
        of, numbering = -1, Numbering(counter)
        for file, told, events in rows_in(batches):
            if told is not None:
                yield batch_of([(0, REPORTS_AT, file, told, None)])
                continue
            if file != of:
                of, numbering = file, Numbering(counter)
                names.holders = [numbering]
            rows = rows_sent(_only(events, ("code", "line", "key", "process", "call")), file,
                             names, meanings)
            order = events.column("order").to_numpy()
            number = numbering.numbers(rows, events.column("phase").to_numpy(), order)
            events = _only(events, [name for name in events.schema.names
                                    if name not in ("call", "phase")]).append_column(
                "number", arrow.array(number))
            if bool((order[1:] < order[:-1]).any()):
                events = events.take(arrow.array(np.argsort(order, kind="stable")))
            yield batch_of([(0, int(order.min()), file, None, packed(events))])
            names.forgets()


def _only(events: pa.RecordBatch, names: Sequence[str]) -> pa.RecordBatch:
    return events.select([name for name in names if name in events.schema.names])


def rows_in(batches: Batches) -> Iterator[tuple[int, str | None, Any]]:
    """The file of each row, and its report or its events."""
    for batch in batches:
        for file, told, events in zip(*(batch.column(name) for name in (
                "file", "report", "events")), strict=True):
            said = told.as_py()
            yield file.as_py(), said, None if said is not None else unpacked(events.as_py())


@dataclass(frozen=True)
class OfPart(ABC):
    """Makes of the rows of events that were sent to a part those of what was found."""

    suite: str
    terms: Terms
    files: Files

    def of(self, batches: Batches) -> Batches:
        """Rows of what was found, and counts; if it cannot be judged so, a count of that."""
        yield from batched((tuple(row.values()) for row in self._rows(batches)), arrow_schema())

    def _rows(self, batches: Batches) -> Iterator[dict[str, Any]]:
        try:
            yield from self._found(batches)
        except FAULTS:
            yield count_of(UNFIT)
            read_to_the_end(batches)

    @abstractmethod
    def _found(self, batches: Batches) -> Iterator[dict[str, Any]]:
        """The rows. Raises one of ``FAULTS``."""


@dataclass(frozen=True)
class ColumnVerdicts(OfPart):
    """Judges the events of a part with rows in the order of the log: ``by_time``, in that of
    the first event of each."""

    by_time: bool

    @cached_property
    def _places(self) -> list[str]:
        return list(self.files.names.values())

    def _found(self, batches: Batches) -> Iterator[dict[str, Any]]:
        logs = logs_of(self.suite)
        notes = Notes(doubts=[], most=sys.maxsize, checked=Histories(logs, self.terms))
        total = Judged(notes, terms=self.terms)
        yield from self._judged(batches, logs, total)
        yield from counts_of(total)

    def _judged(self, batches: Batches, logs: Logs, total: Judged) -> Iterator[dict[str, Any]]:
        notes, terms = total.notes, self.terms
        names = Names(logs, self._places, self.by_time, terms.remember)
        chunks = gathered(self._parts(batches, logs, names, Listener(total, self._places)))
        first = next(chunks, None)
        if first is None:
            return
        common = logs.common(terms, notes)
        whole = logs.whole(terms, notes, names, common) if logs.whole is not None else None
        if whole is None:
            raise Unfit
        run = Run(logs, whole, names)
        run.takes(first)
        del first
        yield from rows_taken(notes)
        for rows in chunks:
            run.takes(rows)
            yield from rows_taken(notes)
        total.events, total.keys = run.ends()
        yield from rows_taken(notes)
        logs.judge("", terms, notes, common)    # notes what is not shown on these terms

    def _parts(self, batches: Batches, logs: Logs, names: Names, listener: Listener
               ) -> Iterator[Rows]:
        meanings, merge = meanings_of(logs), _Merge()
        names.holders.append(merge)
        for file, told, events in rows_in(batches):
            if told == UNFIT:
                raise Unfit
            if told is not None:
                hears(listener, told, file)
                continue
            rows = rows_sent(events, file, names, meanings)
            if self.by_time:
                yield from merge.takes(rows, events.column("order").to_numpy())
            else:
                yield rows
        if self.by_time:
            yield from merge.ends()


@dataclass
class _Merge:
    """Puts events in the order of clocks: what comes later begins no earlier than what came."""

    _rows: list[Rows] = field(default_factory=list)
    _keys: list[Numbers] = field(default_factory=list)
    _size: int = 0
    _turn: int = 0

    def in_use(self, column: str) -> Numbers:
        """The numbers of a column of the rows that wait."""
        import numpy as np

        return np.concatenate([column_of(rows, column) for rows in (nothing(), *self._rows)])

    def takes(self, rows: Rows, keys: Numbers) -> Iterator[Rows]:
        """Take events, with their places in the order; give what is before the first of them."""
        self._rows.append(rows)
        self._keys.append(keys)
        self._size += len(rows)
        if self._size >= CHUNK:
            yield from self._gives(int(keys[0]))

    def ends(self) -> Iterator[Rows]:
        """Give all that is left."""
        yield from self._gives(None)

    def _gives(self, bound: int | None) -> Iterator[Rows]:
        import numpy as np

        if not self._rows:
            return
        rows, keys = joined(self._rows), np.concatenate(self._keys)
        order = stable_order(keys, rows.line)   # equal ones as they stand in their files
        rows, keys = rows.at(order), keys[order]
        size = len(keys) if bound is None else int(np.searchsorted(keys, bound))
        left = rows.at(slice(size, None))
        self._rows, self._keys = ([left], [keys[size:]]) if len(left) else ([], [])
        self._size = min(len(left), CHUNK // 2)     # so that what waits is not sorted each time
        found = rows.at(slice(0, size))
        found = found.at(found.said != NONE) if size else nothing()
        if len(found):
            found.turn = np.arange(self._turn, self._turn + len(found))
            self._turn += len(found)
            yield found


def rows_taken(notes: Notes) -> Iterator[dict[str, Any]]:
    """Rows of what was noted, and forget it: a task may find more than fits into memory."""
    yield from rows_of(notes)
    notes.findings.clear()
    if notes.doubts is not None:
        notes.doubts.clear()


def hears(listener: Listener, told: str, file: int) -> None:
    """Let the reports of tasks be compared. Raises ``InputError``."""
    for code, more in json.loads(told):
        listener.hears(
            Event("", more.get("process", ""), "", "", more.get("item"), more.get("value"),
                  more.get("place"), result="number" if more.get("is_number") else ""),
            None, file, code)

