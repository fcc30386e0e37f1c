"""The work of one task of a cluster on a log that is cut in time (``columns/cut``).

No event is shuffled. A task judges the rows that it reads where they lie, from all states in which
they may begin, and sends what they do to each key: one small row for each piece and part of the
keys. The task of a part composes these in the order of the log. Where a machine refuses an event of
a piece, that piece is read again, of it only the keys at which that is so, and judged from
the state that the pieces before lead to.

A log of which any of this cannot be done says so (``UNFIT``), and is judged as all others are.
"""

from __future__ import annotations

import json
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final

from ..columns.cells import Unfit
from ..columns.cut import Composition, Opened, Piece, last_events, piece_of, whole_of
from ..columns.rows import LINE as LINE_BITS
from ..columns.rows import Names, Rows, rows_of_batch
from ..columns.run import CHUNK
from ..columns.sent import packed, rows_sent, sent, unpacked
from ..logs.events import Event
from ..logs.kinds import Terms
from ..logs.notes import AROUND, Notes
from ..logs.rows import count_of, counts_of
from ..logs.run import Judged
from ..logs.understanding import Reading
from .log_columns import (
    UNFIT, Batches, OfPart, Packs, batch_of, hears, part_of, rows_in, rows_taken,
)
from .log_parts import Listener, codes_of, logs_of, meanings_of

if TYPE_CHECKING:
    import pyarrow as pa

    from ..columns.cells import Numbers

__all__ = ["OF_KEY", "REFUSALS_MAX", "REFUSED", "Composed", "Following", "JudgedAgain", "Pieces",
           "PacksPieces", "ReadAgain", "Refusal", "lines_again"]

REFUSED: Final = "refused"
"""A count of nothing: a key at which a piece has to be judged again, as JSON in ``event``."""

REFUSALS_MAX: Final = 10_000
"""Refusals of a log: of more it is not known that they fit into the driver."""

_ROWS: Final = 1 << 18
_ROWS_MAX: Final = 1 << 22
_OF_KEY: Final = 32
"""Rows of a piece at least and at most; of each of its keys, in the mean, so many, for a key has a
map in each piece."""

_LINES: Final = (1 << LINE_BITS) - 1

_KEYS_MOST: Final = 64
OF_KEY: Final = 1_024
"""Keys that a piece may always have, and events of each if there are more: to send what it does to
a key costs as much as to shuffle some hundred events (measured with 2,000 and 100,000 keys)."""


@dataclass(frozen=True)
class Span:
    """The lines from ``start`` up to ``stop``, each with the number of its file."""

    start: int
    stop: int


@dataclass(frozen=True)
class Refusal:
    """A ``key`` at which some machines, by number, refuse an event of the ``span`` of a piece;
    their states at its beginning, and the pieces ``before`` in which the key was last."""

    key: str
    span: Span
    states: Mapping[int, Sequence[int]]
    before: Sequence[Span]

    @classmethod
    def read(cls, text: str) -> Refusal:
        """The refusal that ``written`` made into text."""
        key, span, states, before = json.loads(text)
        return cls(key, Span(*span), {int(number): state for number, state in states.items()},
                   [Span(*each) for each in before])

    def written(self) -> str:
        """The refusal as one line of JSON, for a row of counts."""
        def of(span: Span) -> list[int]:
            return list(asdict(span).values())
        return json.dumps([self.key, of(self.span), self.states, list(map(of, self.before))])


_SPANS_MAX: Final = 64
"""Spans of lines that are looked at one by one, for each row."""


def lines_again(refusals: Sequence[Refusal]) -> list[tuple[int, int]]:
    """The spans of lines that are read again, of whatever file; few, that is one, if many."""
    spans = {(each.start, each.stop) for one in refusals for each in (one.span, *one.before)}
    lines = sorted((start & _LINES, stop & _LINES) for start, stop in spans)
    found: list[tuple[int, int]] = []
    for start, stop in lines:
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(stop, found[-1][1]))
        else:
            found.append((start, stop))
    return found if len(found) <= _SPANS_MAX else [(found[0][0], found[-1][1])]


# --- pieces -----------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class PacksPieces(Packs, ABC):
    """Makes of the rows that a task reads what each piece of them comes to; see ``Packs``."""

    terms: Terms

    @property
    def size(self) -> int:
        """Rows that are understood at a time."""
        return CHUNK

    def _packed(self, batches: Batches) -> Batches:
        readings: dict[str, Reading] = {}
        chunks = (each for file, lines, batch in self._chunks(batches, readings)
                  for each in in_row(file, lines, batch))
        held = next(chunks, None)
        while held is not None:
            reading = self._reading(readings, held[0])
            names = Names(logs_of(self.suite), [reading.file], False, self.terms.remember)
            following = Following(chunks, held, held[1])
            yield from self._of_piece(self.files.number(held[0]) << LINE_BITS, following, names, (
                rows_of_batch(reading, batch, first, names)
                for first, batch in following.taken(lambda names=names: len(names.keys))))
            held = following.left
        yield from self._reports(readings)

    @abstractmethod
    def _of_piece(self, file: int, following: Following, names: Names, parts: Iterator[Rows]
                  ) -> Batches:
        """The rows of one piece of the ``file``, which is added to the numbers of its lines; all of
        its ``parts`` are taken, and ``following`` says how far they were. Raises ``Unfit``."""


@dataclass(frozen=True, kw_only=True)
class Pieces(PacksPieces):
    """Makes of the rows that a task reads what they do to each key; see ``Packs``."""

    def _of_piece(self, file: int, following: Following, names: Names, parts: Iterator[Rows]
                  ) -> Batches:
        first = following.stop
        piece = piece_of(whole_of(names.logs, self.terms, Notes(), names), parts)
        if len(piece.keys) > max(_KEYS_MOST, piece.events // OF_KEY):
            raise Unfit
        yield self._sent(piece, Span(file | first, file | following.stop))

    def _sent(self, piece: Piece, span: Span) -> pa.RecordBatch:
        """A row for each part that has any of the keys."""
        import numpy as np
        import pyarrow as arrow

        parts = np.array([part_of(key, self.labels) for key in piece.keys], np.int64)
        order = np.argsort(parts, kind="stable")
        edges = np.searchsorted(parts[order], np.arange(len(self.labels) + 1)).tolist()
        columns: dict[str, Any] = {"key": arrow.array(piece.keys, arrow.string())}
        for at, (jumps, taken) in enumerate(zip(piece.jumps, piece.taken, strict=True)):
            columns[f"jumps{at}"] = _lists(np.moveaxis(jumps, -1, 0).reshape(len(parts), -1))
            columns[f"taken{at}"] = _lists(taken)
        sorted_ = arrow.RecordBatch.from_arrays(list(columns.values()), names=list(columns)
                                                ).take(arrow.array(order))
        rows = []
        for number, (label, start, end) in enumerate(
                zip(self.labels, edges, edges[1:], strict=False)):
            if end > start or not number:
                told = json.dumps([span.stop, 0 if number else piece.events])
                rows.append((label, span.start, 0, told, packed(sorted_.slice(start, end - start))))
        return batch_of(rows)


def _lists(matrix: Numbers) -> Any:
    import numpy as np
    import pyarrow as arrow

    return arrow.FixedSizeListArray.from_arrays(
        arrow.array(np.ascontiguousarray(matrix).reshape(-1)), matrix.shape[1])


Chunk = tuple[str, int, "pa.RecordBatch"]
"""Rows of a file that follow each other, and the line of the first."""


def in_row(file: str, lines: Numbers, batch: pa.RecordBatch) -> Iterator[Chunk]:
    """The parts of a chunk of which the lines follow each other."""
    import numpy as np

    edges = [0, *(np.flatnonzero(np.diff(lines) != 1) + 1).tolist(), len(lines)]
    for start, end in zip(edges, edges[1:], strict=False):
        if end > start:
            yield file, int(lines[start]), batch.slice(start, end - start)


@dataclass
class Following:
    """The chunks of one piece: those that follow each other, while it is not too long. ``left`` is
    the first one that was not taken, ``stop`` the line after those that were."""

    chunks: Iterator[Chunk]
    left: Chunk | None
    stop: int

    def taken(self, keys: Any) -> Iterator[tuple[int, pa.RecordBatch]]:
        """The batches of the piece, each with its first line; ``keys`` says how many keys were in
        those that were taken."""
        rows, file = 0, self.left[0] if self.left else ""
        while self.left is not None:
            of, first, batch = self.left
            if rows and (of != file or first != self.stop or rows >= min(
                    _ROWS_MAX, max(_ROWS, _OF_KEY * keys()))):
                return
            rows += batch.num_rows
            self.stop = first + batch.num_rows
            yield first, batch
            self.left = next(self.chunks, None)


# --- composing --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Composed(OfPart):
    """Composes the pieces of the keys of a part, which come in the order of the log; gives counts,
    and the refusals: ``most`` of them, or else the log is unfit."""

    most: int

    def _found(self, batches: Batches) -> Iterator[dict[str, Any]]:
        logs, notes = logs_of(self.suite), Notes(doubts=[])
        places = list(self.files.names.values())
        total = Judged(notes, terms=self.terms)
        listener = Listener(total, places)
        names = Names(logs, places, False, self.terms.remember)
        composition = Composition(whole_of(logs, self.terms, notes, names))
        shapes, places_of = composition.shapes, _Last()
        refusals: list[Refusal] = []
        for batch in batches:
            for row in batch.to_pylist():
                if row["report"] == UNFIT:
                    raise Unfit
                if row["events"] is None:
                    hears(listener, row["report"], row["file"])
                    continue
                stop, events = json.loads(row["report"])
                piece = _piece(unpacked(row["events"]), shapes, events)
                numbers = composition.numbers(piece.keys)
                for key, machines in composition.takes(piece).items():
                    refusals.append(Refusal(
                        key, Span(row["at"], stop),
                        {each: composition.state(key, each) for each in machines},
                        places_of.spans(composition.numbers([key])[0])))
                    for each in machines:
                        composition.is_over(key, each)
                places_of.takes(numbers, Span(row["at"], stop))
                if len(refusals) > self.most:
                    raise Unfit
        total.events, total.keys = composition.events, composition.keys
        if composition.keys:
            logs.judge("", self.terms, notes, logs.common(self.terms, notes))
        yield from counts_of(total)
        for refusal in refusals:
            yield count_of(REFUSED, event=refusal.written())


def _piece(columns: pa.RecordBatch, shapes: Sequence[tuple[tuple[int, ...], int]], events: int
           ) -> Piece:
    """A piece that was sent."""
    import numpy as np

    jumps, taken = [], []
    size = columns.num_rows
    for at, (shape, actions) in enumerate(shapes):
        maps = columns.column(f"jumps{at}").flatten().to_numpy()
        jumps.append(np.moveaxis(maps.reshape(size, *shape), 0, -1))
        taken.append(columns.column(f"taken{at}").flatten().to_numpy().reshape(size, actions))
    return Piece(columns.column("key").to_pylist(), jumps, taken, events)


class _Last:
    """By key, the last pieces in which it was: these have as many events as are shown."""

    def __init__(self) -> None:
        import numpy as np

        self._pieces: list[Span] = []
        self._last = np.full((1, AROUND), -1, np.int64)

    def takes(self, keys: Numbers, span: Span) -> None:
        """Some keys are in the next piece."""
        import numpy as np

        if len(keys) and len(self._last) <= (most := int(keys.max())):
            more = np.full((2 * most + 1 - len(self._last), AROUND), -1, np.int64)
            self._last = np.concatenate([self._last, more])
        self._last[keys, :-1] = self._last[keys, 1:]
        self._last[keys, -1] = len(self._pieces)
        self._pieces.append(span)

    def spans(self, key: int) -> list[Span]:
        """The last pieces of a key."""
        if key >= len(self._last):
            return []
        return [self._pieces[each] for each in self._last[key].tolist() if each >= 0]


# --- judging again ----------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class ReadAgain(Packs):
    """Sends the events of keys that refuse a piece, and their last ones before it."""

    refusals: Sequence[Refusal]

    def _packed(self, batches: Batches) -> Batches:
        import numpy as np
        import pyarrow as arrow

        logs = logs_of(self.suite)
        readings: dict[str, Reading] = {}
        names, codes = Names(logs, [], False, 0), codes_of(logs)
        wanted = _Wanted(self.refusals)
        for file, lines, batch in self._chunks(batches, readings):
            number = self.files.number(file)
            found = sent(self._reading(readings, file), batch, lines, names, codes, None)
            parts: dict[int, list[Numbers]] = {}
            for key, places in wanted.of(found, number << LINE_BITS):
                parts.setdefault(self.labels[part_of(key, self.labels)], []).append(places)
            for label, each in parts.items():   # in the order of the lines, whatever the keys are
                some = found.take(arrow.array(np.sort(np.concatenate(each))))
                at = number << LINE_BITS | some.column("line")[0].as_py()
                yield batch_of([(label, at, number, None, packed(some))])


class _Wanted:
    """The events that are wanted, by key."""

    def __init__(self, refusals: Sequence[Refusal]) -> None:
        self._of: dict[str, list[tuple[Span, int | None]]] = {}
        for each in refusals:
            self._of.setdefault(each.key, []).append((each.span, None))
            self._of[each.key] += [(span, AROUND) for span in each.before]

    def of(self, events: pa.RecordBatch, file: int) -> Iterator[tuple[str, Numbers]]:
        """By key, the places of those among some events."""
        import numpy as np

        if not events.num_rows:
            return
        lines = events.column("line").to_numpy() | file
        if "key" not in events.schema.names:
            indices = np.zeros(events.num_rows, np.int64)
            names: list[str | None] = [None]
        else:
            keys = events.column("key")
            keys = keys if hasattr(keys, "dictionary") else keys.dictionary_encode()
            indices = keys.indices.fill_null(len(keys.dictionary)).to_numpy(zero_copy_only=False)
            names = [*keys.dictionary.to_pylist(), None]
        for at, name in enumerate(names):
            spans = self._of.get(name or "", ())
            if not any(span.start <= lines[-1] and lines[0] < span.stop for span, _ in spans):
                continue
            mine = np.flatnonzero(indices == at)
            of = lines[mine]
            kept = np.zeros(len(mine), bool)
            for span, most in spans:
                start, stop = np.searchsorted(of, (span.start, span.stop)).tolist()
                kept[start if most is None else max(start, stop - most):stop] = True
            if kept.any():
                yield name or "", mine[kept]


@dataclass(frozen=True)
class JudgedAgain(OfPart):
    """Judges the pieces in which machines refuse an event, from the states in which they begin.
    Rows come in the order of the log."""

    refusals: Sequence[Refusal]

    def _found(self, batches: Batches) -> Iterator[dict[str, Any]]:
        logs, notes = logs_of(self.suite), Notes(doubts=[], most=sys.maxsize)
        names = Names(logs, list(self.files.names.values()), False, self.terms.remember)
        again = _Again(names, Composition(whole_of(logs, self.terms, notes, names)),
                       self.terms, self.refusals)
        for rows in self._parts(batches, names):
            again.takes(rows)
            yield from rows_taken(notes)
        again.ends()
        yield from rows_taken(notes)
        yield from counts_of(Judged(notes, terms=self.terms))

    def _parts(self, batches: Batches, names: Names) -> Iterator[Rows]:
        meanings = meanings_of(names.logs)
        for file, told, events in rows_in(batches):
            if told is not None:
                raise Unfit
            yield rows_sent(events, file, names, meanings)


@dataclass
class _Again:
    """Takes the rows of keys that refuse a piece, and judges each piece when it is whole."""

    names: Names
    composition: Composition
    terms: Terms
    refusals: Sequence[Refusal]
    _before: dict[str, list[Event]] = field(default_factory=dict)
    _held: list[Rows] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._pieces: dict[Span, dict[str, Refusal]] = {}
        for each in sorted(self.refusals, key=lambda each: each.span.start):
            self._pieces.setdefault(each.span, {})[each.key] = each
        self._next = iter(self._pieces)
        self._span = next(self._next, None)

    def takes(self, rows: Rows) -> None:
        """Take the next rows."""
        import numpy as np

        while len(rows):
            if self._span is None:
                return
            start, stop = np.searchsorted(rows.line, (self._span.start, self._span.stop)).tolist()
            self._sees([rows.at(slice(0, start))])
            if stop > start:
                self._held.append(rows.at(slice(start, stop)))
            rows = rows.at(slice(stop, None))
            if len(rows):
                self._judges()

    def ends(self) -> None:
        """There are no more rows."""
        self._judges()

    def _judges(self) -> None:
        """The piece is whole."""
        assert self._span is not None
        held, here = self._held, self._pieces[self._span]
        present = {self.names.keys[key] for rows in held for key in set(rows.key.tolist())}
        refused = {}
        for name in present & here.keys():
            states = here[name].states
            self.composition.continues_at(name, states)
            refused[name] = list(states)

        def opened() -> Opened:
            return whole_of(self.names.logs, self.terms, self.composition.notes, self.names), held

        self.composition.again(refused, opened, {name: self._before.get(name, [])
                                                 for name in refused})
        self._sees(held)
        self._held = []
        self._span = next(self._next, None)

    def _sees(self, parts: list[Rows]) -> None:
        """Keep the last events of each key."""
        keys = {self.names.keys[key] for rows in parts for key in set(rows.key.tolist())}
        for key, events in last_events(self.names, parts, keys).items():
            self._before[key] = [*self._before.get(key, ()), *events][-AROUND:]
