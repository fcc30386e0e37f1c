"""The work of one task of a cluster on its part of a log: Arrow batches in, batches out.

Three kinds of tasks. *Surveys* count the lines of the blocks of a text file, so that each line can
be numbered wherever it is read. *Meanings* make events of rows. And *verdicts* judge events that
come key by key, each key in its order: a key is judged as its events come in, however many they
are, and forgotten when the next one begins. A key's judge does what it does in a run on one
machine; nothing here knows a system.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any, Final

from ...spec.notation.errors import InputError
from ..logs.columns import understood
from ..logs.events import PHASES, RESULTS, Event, in_line
from ..logs.histories import Histories
from ..logs.kinds import KeyJudge, Logs, Terms
from ..logs.mapping import Mapped
from ..logs.notes import Notes, as_it_is
from ..logs.order import moved, shifts_of
from ..logs.patience import Patience
from ..logs.readers import HEADER, row_of_cells, row_of_json
from ..logs.rows import arrow_schema, counts_of, rows_of
from ..logs.run import Judged, fitting
from ..logs.understanding import Calls, Reading, Row, is_jump

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["EVENTS", "FILE", "LINE", "SURVEYED", "Files", "Found", "KeyPart", "Listener",
           "Meanings", "Surveys", "Told", "Verdicts", "batched", "codes_of", "codes_that_say",
           "columns_of", "logs_of", "meanings_of", "rows_understood", "says_something", "told_by"]

EVENTS: Final = (
    "at bigint, file int, line bigint, time bigint, moved bigint, is_end boolean, key string, "
    "process string, code int, item string, is_number boolean, value bigint, place bigint, "
    "call string, number bigint")
"""The columns of an event on its way, in Spark's words. ``code`` is its operation, phase and
result; negative, it is a row of numbers of a task (see ``Told``)."""

SURVEYED: Final = "file string, block bigint, lines bigint, first binary"

FILE: Final = "checkvalve_file"
LINE: Final = "checkvalve_line"
"""Columns that are added to those of a log: the file, and the row or the block that it is in."""

_AT_ONCE: Final = 4_096
_SHIFT: Final = 40

Batches = Iterator["pa.RecordBatch"]
Found = Iterator[tuple[str, tuple[Event, str | None] | None]]
"""The meaning of each row, with its file."""


def logs_of(suite: str) -> Logs:
    """How a suite judges logs; it is known that it does."""
    from ..systems.catalogue import system_of

    found: Logs | None = system_of(suite).logs
    assert found is not None
    return found


@dataclass(frozen=True)
class Files:
    """The files of a log: the name of each for people by its name in the cluster, in their order;
    and of those of text the first line of each block, by its beginning, and the head."""

    names: Mapping[str, str]
    first_lines: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    heads: Mapping[str, Sequence[str]] = field(default_factory=dict)
    mapped: Mapping[str, Mapped] = field(default_factory=dict)

    def number(self, name: str) -> int:
        """Its place among the files. Raises ``InputError`` for one that came later."""
        found = self._numbers.get(name)
        if found is None:
            raise InputError("this file was not there when the run began", name,
                             "Run it again, when nothing is written to the log.")
        return found

    @cached_property
    def _numbers(self) -> Mapping[str, int]:
        return {name: at for at, name in enumerate(self.names)}


@dataclass(frozen=True)
class Surveys:
    """Counts the lines of each block: rows of (value, file, block) in."""

    def of(self, batches: Batches) -> Batches:
        """One row for each block, with its first line."""
        import pyarrow as pa

        found: dict[tuple[str, int], list[Any]] = {}
        for batch in batches:
            for value, file, block in zip(*columns_of(batch, ("value", FILE, LINE)), strict=True):
                about = found.setdefault((file, block), [0, value])
                about[0] += 1
        schema = pa.schema([("file", pa.string()), ("block", pa.int64()), ("lines", pa.int64()),
                            ("first", pa.binary())])
        yield pa.RecordBatch.from_pylist(
            [{"file": file, "block": block, "lines": lines, "first": first}
             for (file, block), (lines, first) in found.items()], schema=schema)


class Told:
    """Rows of numbers that a task reports to those after it, beside its events."""

    IGNORED: Final = -1
    GAPS: Final = -2
    TIMES: Final = -3
    """The least and the greatest time of a file that is not 0."""
    KIND: Final = -4
    """A field, and whether its values are numbers."""


def told_by(reading: Reading) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows of numbers that a task reports of a file: the code of each, and its fields."""
    yield Told.IGNORED, {"value": reading.ignored}
    yield Told.GAPS, {"value": reading.gaps}
    low, high = reading.times
    yield Told.TIMES, {"value": low, "place": high}
    for (name, own), kind in reading.kinds.items():
        yield Told.KIND, {"process": name, "item": own, "is_number": kind is int}


@dataclass(frozen=True)
class Meanings:
    """Makes events of rows: of text, in the column ``value``, or of columns of their own."""

    suite: str
    mapped: Mapped
    files: Files
    ending: str = ""
    """The end of the files' names, if they are of text."""

    def of(self, batches: Batches) -> Batches:
        """The events, as ``EVENTS`` has them."""
        import pyarrow as pa

        logs = logs_of(self.suite)
        code = codes_of(logs)
        readings: dict[str, Reading] = {}
        operations = list(logs.operations)

        def reading_of(file: str) -> Reading:
            found = readings.get(file)
            if found is None:
                found = readings[file] = Reading(
                    self.files.names[file], self.files.mapped.get(file, self.mapped), operations)
            return found

        def events() -> Iterator[tuple[Any, ...]]:
            for file, found in (self._text(batches, reading_of) if self.ending else
                                rows_understood(batches, reading_of)):
                if found is None:
                    readings[file].ignored += 1
                else:
                    yield self._sent(self.files.number(file), *found, code)
            for file, reading in readings.items():
                yield from self._told(file, reading)

        yield from batched(events(), _event_schema(pa))

    @cached_property
    def _shifts(self) -> Mapping[str, int]:
        logs = logs_of(self.suite)
        return shifts_of(self.mapped.tolerance, logs.named("sends"), logs.named("receives"))

    def _sent(self, file: int, event: Event, call: str | None,
              code: Mapping[tuple[str, str, str], int]) -> tuple[Any, ...]:
        item = event.item
        # The order of equal times is that of the lines, and those of a table have none.
        return ((file << _SHIFT | event.line) if event.line else 0, file, event.line, event.time,
                moved(event, self._shifts), event.phase == "end", event.key, event.process,
                code[event.operation, event.phase, event.result],
                None if item is None else str(item), type(item) is int, event.value, event.place,
                call, None)

    def _told(self, file: str, reading: Reading) -> Iterator[tuple[Any, ...]]:
        number = self.files.number(file)

        def told(code: int, **more: Any) -> tuple[Any, ...]:
            return tuple({**dict.fromkeys(_NAMES), "file": number, "code": code, "at": 0,
                          "moved": 0, "is_end": False, "is_number": False, **more}.values())

        for code, more in told_by(reading):
            yield told(code, **more)

    def _text(self, batches: Batches, reading_of: Callable[[str], Reading]) -> Found:
        """The events of lines of text, each understood by the reading of its file; blocks of a file
        may come in any order."""
        read: dict[tuple[str, int], int] = {}
        is_csv = self.ending == ".csv"
        for batch in batches:
            for value, file, block in zip(*columns_of(batch, ("value", FILE, LINE)), strict=True):
                line = read.get((file, block))
                if line is None:
                    line = self.files.first_lines.get(file, {}).get(block, 1)
                read[file, block] = line + 1
                name = self.files.names[file]
                if is_csv:
                    if line > 1:
                        row = _row_of_csv(self.files.heads[file], value, name, line)
                        yield file, reading_of(file).understood(row, line)
                elif value.strip():
                    row = row_of_json(value, name, line, is_cut=False)
                    if HEADER in row:
                        reading_of(file).gaps += int(row.get("dropped", 0))
                    else:
                        yield file, reading_of(file).understood(row, line)


def rows_understood(batches: Batches, reading_of: Callable[[str], Reading]) -> Found:
    """The meaning of rows with columns, and with their file and line."""
    for batch in batches:
        rows = batch.drop_columns([FILE, LINE])
        files, lines = columns_of(batch, (FILE, LINE))
        at = 0
        for file, same in groupby(files):
            number = len(list(same))
            for found in understood(reading_of(file), rows.slice(at, number), 0,
                                    lines[at:at + number]):
                yield file, found
            at += number


def _row_of_csv(head: Sequence[str], text: bytes, file: str, line: int) -> Row:
    try:
        cells = next(csv.reader([text.decode("utf-8")], strict=True), [])
    except csv.Error as error:
        raise in_line(f"this is not CSV: {error}", file, line, "A cell that goes over several "
                      "lines cannot be read in parts: save the log as Parquet.") from None
    except UnicodeDecodeError as error:
        raise in_line(f"this is no UTF-8 text: {error.reason}", file, line, "Save it as UTF-8."
                      ) from None
    return row_of_cells(head, cells, file, line)


@dataclass(frozen=True)
class Verdicts:
    """Judges events that come key by key. If ``only_numbers``, it numbers their calls alone, for
    the order in which calls are paired is that of the lines, whatever their times are."""

    suite: str
    terms: Terms
    files: Files
    only_numbers: bool = False
    latest: int = 0
    """The greatest time of the log, in nanoseconds, where a patience is stated."""

    def of(self, batches: Batches) -> Batches:
        """Rows of what was found, or the events with the numbers of their calls."""
        if self.only_numbers:
            yield from self._numbered(batches)
            return
        yield from batched((tuple(row.values()) for row in self._rows(batches)), arrow_schema())

    def _numbered(self, batches: Batches) -> Batches:
        """The batches with a column of numbers, one for the begin and the end of each call; a point
        has -1."""
        import pyarrow as pa

        calls: dict[int, Calls] = {}
        key = None
        for batch in batches:
            columns = dict(zip(batch.schema.names, batch.columns, strict=True))
            numbers: list[int | None] = []
            for event, call, file, code in self._events(batch):
                if code < 0:
                    numbers.append(None)
                    continue
                if event.key != key:
                    key, calls = event.key, {}
                numbers.append(calls.setdefault(file, Calls()).numbered(event, call).call
                               | file << _SHIFT if event.phase != "point" else -1)
            columns["number"] = pa.array(numbers, pa.int64())
            yield pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))

    def _rows(self, batches: Batches) -> Iterator[dict[str, Any]]:
        """The rows of one task: of each key when all of it was taken, and the counts at the end."""
        logs = logs_of(self.suite)
        total = Judged(Notes(), terms=self.terms)
        told = Listener(total, list(self.files.names.values()))
        keys: dict[str, KeyPart] = {}
        last = None
        for batch in batches:
            for (event, call, file, code), at in zip(
                    self._events(batch), batch.column("hash").to_pylist(), strict=True):
                if code < 0:
                    told.hears(event, call, file, code)
                    continue
                if at != last:
                    # All keys of one hash come together: there is nearly always one.
                    yield from _ended(keys, total)
                    keys, last = {}, at
                of_key = keys.get(event.key)
                if of_key is None:
                    of_key = keys[event.key] = KeyPart(logs, event.key, self.terms,
                                                      self.latest)
                total.events += of_key.takes(event, call, file)
        yield from _ended(keys, total)
        yield from counts_of(total)

    def _events(self, batch: pa.RecordBatch) -> Iterator[tuple[Event, str | None, int, int]]:
        """The events of a batch, each with its call, file and code."""
        meaning = meanings_of(logs_of(self.suite))
        names = list(self.files.names.values())
        for (file, line, time, key, process, code, item, is_number, value, place, call, number
             ) in zip(*columns_of(batch, (
                 "file", "line", "time", "key", "process", "code", "item", "is_number", "value",
                 "place", "call", "number")), strict=True):
            if code < 0:
                yield (Event("", process or "", "", "", item, value, place,
                             result="number" if is_number else ""), call, file, code)
                continue
            operation, phase, result = meaning[code]
            yield (Event(key, process, operation, phase, int(item) if is_number else item, value,
                         place, time, result, -1 if number is None else number, names[file], line),
                   call, file, code)


class KeyPart:
    """The judge of one key, with notes of its own; ``logs`` says how its system judges. With a
    patience, ``latest`` is the greatest time of the log."""

    def __init__(self, logs: Logs, key: str, terms: Terms, latest: int = 0) -> None:
        self.notes = Notes(doubts=[])
        self._calls: dict[int, Calls] = {}
        self._judge: KeyJudge | None = None
        self._key, self._terms = key, terms
        self._patience = Patience.of(logs, terms, latest)
        self.logs = logs

    @property
    def logs(self) -> Logs | None:
        """How its system judges; None while it is kept."""
        return self._logs

    @logs.setter
    def logs(self, logs: Logs | None) -> None:
        """Judge as they say from now on, and check what is found."""
        self._logs = logs
        self.notes.checked = as_it_is if logs is None else Histories(logs, self._terms)

    def takes(self, event: Event, call: str | None, file: int) -> bool:
        """Take the next event; false for one that says nothing."""
        if event.call < 0 and event.phase != "point":
            event = self._calls.setdefault(file, Calls()).numbered(event, call)
        assert self.logs is not None
        found = fitting(event, self.logs)
        if found is None:
            return False
        if self._judge is None:
            common = self.logs.common(self._terms, self.notes)
            self._judge = self.logs.judge(self._key, self._terms, self.notes, common)
        for rest in self._patience.before(found) if self._patience is not None else ():
            self._judge.take(rest)
        self._judge.take(found)
        return True

    def is_at(self, now: int) -> None:
        """All events of the key before this time are known, in nanoseconds: it may rest by it."""
        if self._judge is not None and self._patience is not None:
            self._patience.hears(now)
            for rest in self._patience.at_end(self._key):
                self._judge.take(rest)

    @property
    def rests_at(self) -> int | None:
        """The time at which it rests if it has no event before; None if nothing can be found so."""
        if self._judge is None or self._patience is None or self._judge.is_over:
            return None
        return self._patience.due(self._key)

    def ends(self) -> bool:
        """The key is over; true if it had any event."""
        if self._judge is not None:
            self.is_at(0)
            self._judge.end()
        return self._judge is not None


def _ended(keys: Mapping[str, KeyPart], total: Judged) -> Iterator[dict[str, Any]]:
    for each in keys.values():
        total.keys += each.ends()
        total.notes.steps.update(each.notes.steps)
        total.notes.not_shown.update(each.notes.not_shown)
        total.notes.sets += each.notes.together()
        yield from rows_of(each.notes)


class Listener:
    """Takes what the tasks before have reported: all of it comes to one task."""

    def __init__(self, total: Judged, names: Sequence[str]) -> None:
        self._total, self._names = total, names
        self._kinds: dict[tuple[int, str, str], str] = {}
        self._times: dict[int, int] = {}

    def hears(self, event: Event, call: str | None, file: int, code: int) -> None:
        """Take a row of numbers. Raises ``InputError`` where two parts of a file disagree."""
        if code == Told.IGNORED:
            self._total.ignored += event.value or 0
        elif code == Told.GAPS:
            self._total.gaps += event.value or 0
        elif code == Told.TIMES:
            for time in (event.value, event.place):
                if time and is_jump(self._times.setdefault(file, time), time):
                    raise InputError("some times are of another unit, or of another clock, than "
                                     "others", self._names[file], "Write all times in one unit.")
        else:
            name = (file, event.process, str(event.item or ""))
            if self._kinds.setdefault(name, event.result) != event.result:
                raise InputError(
                    f"the {event.process} is text in some lines and a number in others",
                    self._names[file], "One of the two is not what it seems: write it in one way.")


# --- columns ------------------------------------------------------------------------------------

_NAMES: Final = tuple(column.split()[0] for column in EVENTS.split(", "))


def codes_that_say(logs: Logs) -> list[int]:
    """The codes of events that are judged: all but those of a begin that says nothing."""
    return [code for code, (operation, phase, _) in enumerate(meanings_of(logs))
            if says_something(logs, operation, phase)]


def says_something(logs: Logs, operation: str, phase: str) -> bool:
    """False for the begin of a call of which the judge sees only the end."""
    return phase != "begin" or phase in logs.operations[operation].phases


def codes_of(logs: Logs) -> Mapping[tuple[str, str, str], int]:
    """By operation, phase and result together, their number on the way."""
    return {meaning: code for code, meaning in enumerate(meanings_of(logs))}


def meanings_of(logs: Logs) -> Sequence[tuple[str, str, str]]:
    """The operations, each with each phase and result, by their numbers on the way."""
    return [(operation, phase, result) for operation in logs.operations for phase in PHASES
            for result in RESULTS]


def _event_schema(arrow: Any) -> pa.Schema:
    kinds = {"bigint": arrow.int64(), "int": arrow.int32(), "boolean": arrow.bool_(),
             "string": arrow.string()}
    return arrow.schema([(name, kinds[kind]) for name, kind in
                         (column.split() for column in EVENTS.split(", "))])


def columns_of(batch: pa.RecordBatch, names: Iterable[str]) -> Iterator[list[Any]]:
    """Some columns as lists."""
    return (batch.column(name).to_pylist() for name in names)


def batched(rows: Iterator[tuple[Any, ...]], schema: pa.Schema) -> Batches:
    """Rows as batches of a schema. Raises ``InputError`` for a number that does not fit."""
    import pyarrow as pa

    while some := list(islice(rows, _AT_ONCE)):
        try:
            arrays = [pa.array(column, kind.type) for column, kind in
                      zip(zip(*some, strict=True), schema, strict=True)]
        except (pa.ArrowInvalid, OverflowError) as error:
            raise InputError(f"a number does not fit into 64 bits: {error}", "",
                             "Map \"value\", \"place\" and \"time\" to columns of such numbers."
                             ) from None
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)
