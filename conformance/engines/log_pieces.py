"""Judging a log that continues: what a key's judge remembers between two pieces of it.

A piece of a key's events is put in order, judged, and what was found is handed over once; the judge
itself is kept as bytes until the next piece comes. Events of a piece must not be earlier than those
before it: a key of which one is has been judged in a wrong order, so its rules are unknown
from there on.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from ...spec.notation.errors import InputError
from ..logs.events import Event
from ..logs.kinds import Terms
from ..logs.mapping import Mapped
from .log_parts import FILE, Found, KeyPart, batched, columns_of, logs_of, rows_understood
from ..logs.readers import HEADER, row_of_json
from ..logs.rows import rows_of
from ..logs.understanding import Calls, Reading

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["FORGOTTEN", "HEARD", "Heard", "piece_judged"]

HEARD: Final = "key string, file string, line bigint, event string"
"""The columns of an event of a stream, in Spark's words; ``event`` is JSON."""

FORGOTTEN: Final = b""
"""The state of a key that was silent for so long that its judge was forgotten."""

_TIME: Final = Event._fields.index("time")

Batches = Iterator["pa.RecordBatch"]


@dataclass(frozen=True)
class Heard:
    """Makes events of the rows of a stream: of text, if ``is_text``, or of columns."""

    suite: str
    mapped: Mapped
    is_text: bool

    def of(self, batches: Batches) -> Batches:
        """The events, as ``HEARD`` has them."""
        import pyarrow as pa

        schema = pa.schema([("key", pa.string()), ("file", pa.string()), ("line", pa.int64()),
                            ("event", pa.string())])
        yield from batched(self._events(batches), schema)

    def _events(self, batches: Batches) -> Iterator[tuple[Any, ...]]:
        readings: dict[str, Reading] = {}
        operations = list(logs_of(self.suite).operations)

        def reading_of(file: str) -> Reading:
            return readings.setdefault(file, Reading(file, self.mapped, operations))

        found = self._texts(batches, reading_of) if self.is_text else (
            rows_understood(batches, reading_of))
        for _, each in found:
            if each is not None:
                event, call = each
                yield (event.key, event.file, event.line,
                       json.dumps([*event, call], ensure_ascii=False))

    def _texts(self, batches: Batches, reading_of: Callable[[str], Reading]) -> Found:
        read: dict[str, int] = {}
        for batch in batches:
            for value, file in zip(*columns_of(batch, ("value", FILE)), strict=True):
                yield file, self._of_text(reading_of(file), value, read)

    def _of_text(self, reading: Reading, value: bytes, read: dict[str, int]
                 ) -> tuple[Event, str | None] | None:
        line = read[reading.file] = read.get(reading.file, 0) + 1
        if not value.strip():
            return None
        row = row_of_json(value, reading.file, line, is_cut=False)
        if HEADER not in row:
            return reading.understood(row, line)
        if row.get("dropped"):
            raise InputError("the recorder dropped records, and a stream cannot say what follows "
                             "from that", reading.file, "Judge the whole log without --follow.")
        return None


@dataclass
class _Kept:
    """The memory of a key: its judge, the time of its last event, and if it came late."""

    judge: KeyPart
    calls: Calls
    last: int = -1 << 62
    is_late: bool = False


def piece_judged(suite: str, terms: Terms, key: str, kept: bytes | None,
                 piece: Iterable[tuple[str, int, str]]) -> tuple[bytes, list[Mapping[str, Any]]]:
    """The bytes that are kept after a piece of a key's events (file, line, event), and the rows of
    what was found in it. A key that was forgotten comes back as one of which the log begins in the
    middle. Raises ``InputError`` where what was ``kept`` is of another edition."""
    pickle: Any = import_module("pyspark.cloudpickle")   # it has no types

    logs = logs_of(suite)
    if kept is None or kept == FORGOTTEN:
        of = _Kept(KeyPart(logs, key, terms if kept is None else replace(
            terms, from_start=False)), Calls())
    else:
        edition, _, state = kept.partition(b"\n")
        if edition.decode() != _edition():
            raise InputError("this checkpoint was written by another edition of checkvalve", "",
                             "Judge the log from its begin, with a new --checkpoint and --out.")
        of = pickle.loads(state)
        of.judge.logs = logs
    _takes(of, piece, [rule.id for rule in logs.rules])
    notes = of.judge.notes
    rows: list[Mapping[str, Any]] = list(rows_of(notes))
    notes.findings, notes.doubts = [], []
    of.judge.logs = None    # it is found again, and need not be kept for each key
    return _edition().encode() + b"\n" + pickle.dumps(of), rows


def _takes(of: _Kept, piece: Iterable[tuple[str, int, str]], rules: list[str]) -> None:
    """Let a key's judge take a batch, in the order of time; an event before one that was taken
    makes all of it unsure."""
    # A call may begin in one file and end in another: they are paired in the order of their times.
    read = [(file, line, json.loads(text)) for file, line, text in piece]
    read.sort(key=lambda each: (each[2][_TIME] or 0, each[0], each[1]))
    events = [of.calls.numbered(Event(*fields), call) for _, _, (*fields, call) in read]
    for event in sorted(events, key=lambda each: (each.time or 0, each.phase == "end")):
        if of.is_late:
            return
        time = event.time or 0
        if time < of.last:
            of.is_late = True
            of.judge.notes.unsure(rules, event.key, "an event came later than others that are "
                                  "after it by their times", event)
            return
        of.last = time
        of.judge.takes(event, None, 0)


@cache
def _edition() -> str:
    from .task import edition

    return edition()
