"""Judging a log that continues: what a key's judge remembers between two pieces of it.

A piece of a key's events is put in order, judged, and what was found is handed over once; the judge
itself is kept as bytes until the next piece comes. The log is known up to a *horizon*: the greatest
time of an event of any key, less the time by which events may come late. By it, and not by any
clock of the cluster, events are held back until none can come before them, a key rests after the
patience, and is forgotten. An event that comes later still has been judged in a wrong order, so all
rules are unknown at its key from there on.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ...spec.notation.errors import InputError
from ..logs.events import Event
from ..logs.kinds import Logs, Terms
from ..logs.mapping import Mapped
from ..logs.order import moved, shifts_of
from .log_parts import (
    FILE, Found, KeyPart, batched, columns_of, logs_of, rows_understood, says_something,
)
from ..logs.readers import HEADER, row_of_json
from ..logs.rows import rows_of
from ..logs.understanding import Calls, Reading

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["AT_ONCE", "FORGOTTEN", "HEARD", "MS", "Heard", "Pace", "piece_judged", "timer"]

HEARD: Final = "key string, file string, line bigint, event string, stamp timestamp"
"""The columns of an event of a stream, in Spark's words; ``event`` is JSON. A row without a key has
the greatest time of a task's events as its ``stamp``; those of events have none, for Spark leaves
out rows with a stamp that is late, and nothing of a log may be left out."""

FORGOTTEN: Final = b""
"""The state of a key that was silent for so long that its judge was forgotten."""

MS: Final = 1_000_000
"""Nanoseconds of a millisecond: watermarks and timers of Spark have those."""

_LONG_AGO: Final = -1 << 62

_NEVER: Final = 1 << 62

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
                            ("event", pa.string()), ("stamp", pa.timestamp("us", "UTC"))])
        yield from batched(self._events(batches), schema)

    def _events(self, batches: Batches) -> Iterator[tuple[Any, ...]]:
        readings: dict[str, Reading] = {}
        logs, latest = logs_of(self.suite), 0
        operations = list(logs.operations)

        def reading_of(file: str) -> Reading:
            return readings.setdefault(file, Reading(file, self.mapped, operations))

        found = self._texts(batches, reading_of) if self.is_text else (
            rows_understood(batches, reading_of))
        for _, each in found:
            if each is not None:
                event, call = each
                if says_something(logs, event.operation, event.phase):
                    latest = max(latest, event.time or 0)
                yield (event.key, event.file, event.line,
                       json.dumps([*event, call], ensure_ascii=False), None)
        if latest:
            yield None, "", 0, "", latest // 1_000

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


@dataclass(frozen=True)
class Pace:
    """How long a stream waits, in nanoseconds between the times of events: events come at most so
    much ``late``, and a key without an event for so long is to ``forget`` (0: never)."""

    late: int = 0
    forget: int = 0

    def needs_times(self, terms: Terms) -> bool:
        """True if what becomes of a key depends on the times of others."""
        return bool(self.late or self.forget or terms.patience or terms.tolerance)


AT_ONCE: Final = Pace()
"""Files come in the order of their times, and nothing is forgotten."""


class _Waiting(NamedTuple):
    """An event that is held back, and the identity of its call; those that are read first are put
    in order by time, as calls are paired, and then by the times that the tolerance allows."""

    time: int
    file: str
    line: int
    event: Event
    call: str | None


@dataclass
class _Kept:
    """The memory of a key: its judge; the time of its last event, of the last one in the order of
    judging, and of its last rest; the events that are held back, before and after their calls were
    paired; and if one came late."""

    judge: KeyPart
    calls: Calls = field(default_factory=Calls)
    last: int = _LONG_AGO
    moved: int = _LONG_AGO
    rested: int = _LONG_AGO
    unpaired: list[_Waiting] = field(default_factory=list)
    paired: list[tuple[int, bool, str, int, Event]] = field(default_factory=list)
    is_late: bool = False


def piece_judged(
    suite: str, terms: Terms, key: str, kept: bytes | None, piece: Iterable[tuple[str, int, str]],
    pace: Pace = AT_ONCE, horizon: int = 0,
) -> tuple[bytes, list[Mapping[str, Any]], int | None]:
    """The bytes that are kept after a piece of a key's events (file, line, event), the rows of what
    was found in it, and the horizon at which the key has to be looked at again (None: at none).

    Nothing that is still to come has a time before the ``horizon``. A key that was forgotten comes
    back as one of which the log begins in the middle. Raises ``InputError`` where what was ``kept``
    is of another edition.
    """
    pickle: Any = import_module("pyspark.cloudpickle")   # it has no types

    logs = logs_of(suite)
    if kept is None or kept == FORGOTTEN:
        of = _Kept(KeyPart(logs, key, terms if kept is None else _from_the_middle(terms)))
    else:
        edition, _, state = kept.partition(b"\n")
        if edition.decode() != _edition():
            raise InputError("this checkpoint was written by another edition of checkvalve", "",
                             "Judge the log from its begin, with a new --checkpoint and --out.")
        of = pickle.loads(state)
        of.judge.logs = logs
    course = _Course(of, logs, terms, pace, key)
    course.takes(piece, horizon)
    notes = of.judge.notes
    rows: list[Mapping[str, Any]] = [*course.rows, *rows_of(notes)]
    notes.findings, notes.doubts = [], []
    if course.is_forgotten:
        return FORGOTTEN, rows, None
    of.judge.logs = None    # it is found again, and need not be kept for each key
    return _edition().encode() + b"\n" + pickle.dumps(of), rows, course.wakes


def timer(wakes: int) -> int:
    """The timer, in milliseconds, beyond which the watermark is once the horizon is at ``wakes``;
    watermarks are whole milliseconds that are not later than the horizon."""
    return max(1, min(-(-wakes // MS) - 1, _NEVER))


def _from_the_middle(terms: Terms) -> Terms:
    return replace(terms, from_start=False)


class _Course:
    """The course of one key through one piece. ``rows`` are findings of a judge that was forgotten
    within it."""

    def __init__(self, of: _Kept, logs: Logs, terms: Terms, pace: Pace, key: str) -> None:
        self._of, self._logs, self._terms, self._pace, self._key = of, logs, terms, pace, key
        self._shifts = shifts_of(terms.tolerance, logs.named("sends"), logs.named("receives"))
        self._half = terms.tolerance // 2
        self.rows: list[Mapping[str, Any]] = []
        self.is_forgotten = False
        self.wakes: int | None = None

    def takes(self, piece: Iterable[tuple[str, int, str]], horizon: int) -> None:
        """Judge what is certain to be next, up to the horizon, and hold back the rest."""
        of = self._of
        for file, line, text in piece:
            *fields, call = json.loads(text)
            event = Event(*fields)
            of.unpaired.append(_Waiting(event.time or 0, file, line, event, call))
        of.unpaired.sort(key=lambda each: each[:3])
        if of.is_late and of.unpaired:
            of.last = max(of.last, of.unpaired[-1].time)    # it is not silent
            of.unpaired.clear()
        if self._pace.late or self._half:
            self._pairs(bisect_left(of.unpaired, horizon, key=lambda each: each.time))
            self._judges(horizon - self._half)
        else:
            self._pairs(len(of.unpaired))
            self._judges(None)
        self._waits(horizon)

    def _pairs(self, number: int) -> None:
        """Pair the calls of the first events that wait. A call may begin in one file and end in
        another, so that this is in the order of their times."""
        of, now = self._of, self._of.unpaired[:number]
        del of.unpaired[:number]
        for time, file, line, event, call in now:
            at = moved(event, self._shifts)
            if time < max(of.last, of.rested) or at < of.moved:
                self._is_late(event)
                return
            if self._pace.forget and of.last != _LONG_AGO and time - of.last >= self._pace.forget:
                self._forgets(time)
            of.last = time
            of.paired.append((at, event.phase == "end", file, line, of.calls.numbered(event, call)))

    def _judges(self, end: int | None) -> None:
        """Judge the events with paired calls, or those before an ``end``."""
        of = self._of
        of.paired.sort(key=lambda each: each[:4])
        number = len(of.paired) if end is None else bisect_left(of.paired, end, key=lambda each:
                                                                each[0])
        now = of.paired[:number]
        del of.paired[:number]
        for at, _, _, _, event in now:
            of.moved = at
            of.judge.takes(event, None, 0)

    def _is_late(self, event: Event) -> None:
        """Leave all rules open from here on: the order of what was held back is not known."""
        of = self._of
        of.is_late = True
        of.unpaired.clear()
        of.paired.clear()
        of.judge.notes.unsure(
            [rule.id for rule in self._logs.rules], event.key,
            "an event came later than others that are after it by their times", event)

    def _forgets(self, time: int) -> None:
        """The key had no event for so long: its judge is one of a log that begins in the middle."""
        of = self._of
        self._judges(None)
        of.judge.is_at(time)
        self.rows += rows_of(of.judge.notes)
        of.judge = KeyPart(self._logs, self._key, _from_the_middle(self._terms))
        of.calls = Calls()

    def _waits(self, horizon: int) -> None:
        """Rest or be forgotten, if it is time, and know when to look again."""
        of, forget = self._of, self._pace.forget
        held = [moved(each.event, self._shifts) for each in of.unpaired]
        held += [each[0] for each in of.paired]
        if held:
            self.wakes = min(held) + self._half + 1
            return
        rests = None if of.is_late else of.judge.rests_at
        if rests is not None and rests <= horizon:
            of.judge.is_at(horizon)
            of.rested, rests = rests, None
        forgets = of.last + forget if forget and of.last != _LONG_AGO else None
        self.is_forgotten = forgets is not None and forgets <= horizon
        self.wakes = min((each for each in (rests, forgets) if each is not None), default=None)


@cache
def _edition() -> str:
    from .task import edition

    return edition()
