"""Reading logs: lines or rows as mappings, and these as events, one after the other.

JSON lines and CSV need nothing; Parquet and Arrow files need pyarrow. Each is read piece by piece,
so that memory does not grow with the file. What cannot be understood is refused with file and line:
a guess would make a verdict of it.
"""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import IO, Any, Final

from ...spec.notation.errors import InputError
from ...spec.notation.labels import nearest
from .events import PHASES, RESULTS, Event, in_line
from .mapping import NANOSECONDS, Mapped, Operation, of_recorder

__all__ = ["FORMATS", "HEADER", "Log", "header_of"]

Row = Mapping[str, Any]
Rows = Iterator[tuple[int, Row]]

HEADER: Final = "checkvalve_log"
"""The key by which the recorder's first line is known."""

_JUMP: Final = 20
"""Times of one clock do not differ by such a factor, if they count from 1970 or from a start."""

_LONG_AGO: Final = 10 ** 8


def _json_lines(path: Path) -> Rows:
    with _opened(path) as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except ValueError as error:
                cut = not line.endswith(b"\n")
                raise in_line(
                    "the file ends in the middle of a line" if cut else
                    f"this is not JSON: {error}", str(path), number,
                    "Copy the whole file, or remove the last line." if cut else
                    "Each line is one JSON object.") from None
            if not isinstance(row, dict):
                raise in_line("this line is JSON, but no object", str(path), number,
                              "Each line is one JSON object with an event's fields.")
            yield number, row


def _csv(path: Path) -> Rows:
    with _opened(path) as lines:
        try:
            reader = csv.reader((line.decode("utf-8") for line in lines), strict=True)
            head = next(reader, [])
            for row in reader:
                if len(row) != len(head):
                    raise in_line(f"this row has {len(row)} cells, and the head has {len(head)}",
                                  str(path), reader.line_num, "Copy the whole file, or quote the "
                                  "cells that have commas.")
                yield reader.line_num, {name: cell if cell else None for name, cell
                                        in zip(head, row, strict=True)}
        except csv.Error as error:
            raise in_line(f"this is not CSV: {error}", str(path), reader.line_num,
                          "Save it as CSV with commas and double quotes.") from None


def _parquet(path: Path) -> Rows:
    import pyarrow.parquet as parquet

    with _arrow_errors(path):
        number = count(1)
        for batch in parquet.ParquetFile(path).iter_batches(10_000):
            yield from zip(number, batch.to_pylist(), strict=False)


def _arrow(path: Path) -> Rows:
    import pyarrow as arrow

    with _arrow_errors(path), arrow.memory_map(str(path)) as mapped:
        try:
            file = arrow.ipc.open_file(mapped)
            batches = (file.get_batch(at) for at in range(file.num_record_batches))
        except arrow.ArrowInvalid:
            mapped.seek(0)
            batches = iter(arrow.ipc.open_stream(mapped))
        number = count(1)
        for batch in batches:
            for at in range(0, batch.num_rows, 10_000):
                yield from zip(number, batch.slice(at, 10_000).to_pylist(), strict=False)


@contextmanager
def _arrow_errors(path: Path) -> Iterator[None]:
    import pyarrow as arrow

    try:
        yield
    except (arrow.ArrowInvalid, OSError) as error:
        raise InputError(f"this file cannot be read: {str(error).splitlines()[0]}", str(path),
                         "It may be cut off; copy it again.") from None


FORMATS: Final[Mapping[str, Callable[[Path], Rows]]] = {
    ".jsonl": _json_lines, ".ndjson": _json_lines, ".json": _json_lines, ".csv": _csv,
    ".parquet": _parquet, ".arrow": _arrow, ".arrows": _arrow, ".feather": _arrow}
"""By the end of a file's name, how it is read. The text formats may be gzipped (.gz)."""


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    opener: Any = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rb") as lines:
        try:
            yield lines
        except (gzip.BadGzipFile, EOFError) as error:
            raise InputError(f"this file cannot be unpacked: {error}", str(path),
                             "It may be cut off; copy it again.") from None
        except UnicodeDecodeError as error:
            raise InputError(f"this file is no UTF-8 text: {error.reason}", str(path),
                             "Save it as UTF-8.") from None


def _rows(path: Path) -> Rows:
    ending = Path(path.stem).suffix if path.suffix == ".gz" else path.suffix
    if ending not in FORMATS:
        raise InputError(f"the format of this file is not known by its name's end {ending!r}",
                         str(path), f"Rename it; known are {', '.join(FORMATS)}.")
    return FORMATS[ending](path)


def header_of(path: Path) -> Row | None:
    """The header of a file that the recorder wrote; None for any other."""
    if path.suffix != ".jsonl":
        return None
    with path.open("rb") as lines:
        first = lines.readline(1_000)
    if HEADER.encode() not in first:
        return None
    try:
        found = json.loads(first)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


@dataclass
class Log:
    """One file of a log, with its mapping; ``events`` reads it once.

    ``gaps`` counts records that the recorder dropped. ``operations`` are the suite's.
    """

    path: Path
    mapped: Mapped
    operations: Sequence[str]
    gaps: int = 0
    ignored: int = 0
    _open: dict[tuple[str, str], int] = field(default_factory=dict)
    _kinds: dict[tuple[str, str], type] = field(default_factory=dict)
    _first_time: int = 0

    def __post_init__(self) -> None:
        header = header_of(self.path)
        if header is not None:
            self.mapped = of_recorder(self.mapped, header)

    def events(self, calls: Iterator[int]) -> Iterator[Event]:
        """The events in the order of the file; calls are numbered by ``calls``. Raises
        ``InputError`` with file and line for what cannot be understood."""
        for line, row in _rows(self.path):
            if HEADER in row:
                self.gaps += int(row.get("dropped", 0))
                continue
            found = self._event(row, line, calls)
            if found is None:
                self.ignored += 1
            else:
                yield found

    def _event(self, row: Row, line: int, calls: Iterator[int]) -> Event | None:
        mapped = self.mapped
        if not _agrees(row, mapped.only):
            return None
        operation = self._operation(row, line)
        if operation is None or not _agrees(row, operation.only):
            return None

        def get(name: str, required: str = "") -> Any:
            return self._field(row, line, name, operation, required)

        phase = operation.phase or self._among(get("phase", "It is begin, end or point."), "phase",
                                               mapped.phases, PHASES, line)
        result = operation.result or "ok"
        if not operation.result and (given := get("result")) is not None:
            result = self._among(given, "result", mapped.results, RESULTS, line)
        if result == "failed" and mapped.failed == "unknown":
            result = "unknown"
        key = get("key")
        process = str(get("process") if get("process") is not None else "")
        key = "" if key is None else self._identity(key, "key", line, operation)
        item = get("item")
        number = -1
        if phase != "point":
            number = self._call(get("call"), str(key), process, phase, calls)
        return Event(
            str(key), process, operation.is_, phase,
            None if item is None else self._identity(item, "item", line, operation),
            self._whole(get("value"), "value", line), self._whole(get("place"), "place", line),
            self._time(get("time"), line), result, number, str(self.path), line)

    # --- fields -----------------------------------------------------------------------------

    def _field(self, row: Row, line: int, name: str, operation: Operation, required: str) -> Any:
        columns = operation.columns.get(name) or self.mapped.columns.get(name)
        if columns is None:
            value = self.mapped.constants.get(name)
            value = row.get(name) if value is None else value
        elif len(columns) == 1:
            value = self._column(row, columns[0], line)
        else:
            value = "/".join(str(self._column(row, column, line)) for column in columns)
        if value is None and required:
            raise in_line(f"this line has no {name}", str(self.path), line, f"{required} Map the "
                          f"field {name!r} to a column, or give it in \"constants\".")
        return value

    def _column(self, row: Row, column: str, line: int) -> Any:
        if column in row:
            return row[column]
        value: Any = row
        for part in column.split("."):
            if not isinstance(value, dict):
                return None
            if part not in value:
                if value is row:
                    raise in_line(
                        f"there is no column {column!r}", str(self.path), line,
                        nearest(column, list(map(str, row)), "the head of the file"))
                return None
            value = value[part]
        return value

    def _operation(self, row: Row, line: int) -> Operation | None:
        """The meaning of its operation; None for one to be ignored."""
        given = self._field(row, line, "operation", Operation(""), "It says what was done.")
        table = self.mapped.operations
        if table is None and given in self.operations:
            return Operation(str(given))
        found = (table or {}).get(str(given))
        if found is not None:
            return None if found.is_ == "ignore" else found
        if self.mapped.others == "ignore":
            return None
        raise in_line(
            f"the operation {str(given)[:60]!r} is not known", str(self.path), line,
            f"The suite has {', '.join(self.operations)}. Map it by \"operations\" in the mapping, "
            "or write \"others: ignore\".")

    def _among(self, given: Any, name: str, table: Mapping[str, str], known: Sequence[str],
               line: int) -> str:
        found = table.get(str(given), str(given))
        if found not in known:
            raise in_line(f"the {name} {str(given)[:60]!r} is not known", str(self.path), line,
                          f"It is one of {', '.join(known)}; map yours by \"{name}s\".")
        return found

    def _identity(self, value: Any, name: str, line: int, operation: Operation) -> str | int:
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise in_line(f"the {name} is {str(value)[:60]!r}, which is neither text nor a whole "
                          "number", str(self.path), line,
                          f"Map {name!r} to a column of identities.")
        own = operation.is_ if name in operation.columns else ""
        kind = self._kinds.setdefault((name, own), type(value))
        if kind is not type(value):
            raise in_line(
                f"the {name} {value!r} is {_KIND[type(value)]}, and was {_KIND[kind]} before",
                str(self.path), line, "One of the two is not what it seems: write it in one way.")
        return value

    def _whole(self, value: Any, name: str, line: int) -> int | None:
        if value is None:
            return None
        try:
            if not isinstance(value, bool) and int(value) == float(value):
                return int(value)
        except (TypeError, ValueError, OverflowError):
            pass
        raise in_line(f"the {name} is {str(value)[:60]!r}, which is no whole number",
                      str(self.path), line, f"Map {name!r} to a column of whole numbers.")

    def _time(self, value: Any, line: int) -> int | None:
        unit = self.mapped.unit
        if value is None:
            if self.mapped.order == "time":
                raise in_line("this line has no time", str(self.path), line,
                              "The order is that of the time: map \"time\" to a column.")
            return None
        try:
            if isinstance(value, datetime):
                found = round(value.timestamp() * NANOSECONDS["s"])
            elif unit == "iso":
                found = round(datetime.fromisoformat(value).timestamp() * NANOSECONDS["s"])
            elif isinstance(value, int):
                found = value * NANOSECONDS[unit]
            else:
                found = round(float(value) * NANOSECONDS[unit])
        except (TypeError, ValueError, OverflowError):
            raise in_line(f"the time is {str(value)[:60]!r}, which is no time in {unit}",
                          str(self.path), line, "Name the unit of the time in the mapping: ns, us, "
                          "ms, s or iso.") from None
        self._first_time = self._first_time or found
        low, high = sorted((abs(found), abs(self._first_time)))
        if low > _LONG_AGO and high > _JUMP * low and high - low > 10 ** 15:
            raise in_line(f"the time {value} is of another unit, or of another clock, than those "
                          "before", str(self.path), line, "Write all times in one unit.")
        return found

    def _call(
        self, given: Any, key: str, process: str, phase: str, calls: Iterator[int]
    ) -> int:
        """The number of a call: an end belongs to what its process, or the call's identity, has
        begun last. A process that begins anew has left its last call without an end."""
        name = (key, f"{process}\0{given}" if given is not None else process)
        if phase == "end":
            return self._open.pop(name, -1)
        number = self._open[name] = next(calls)
        return number


_KIND: Final = {str: "text", int: "a number"}


def _agrees(row: Row, only: Mapping[str, Any]) -> bool:
    for column, wanted in only.items():
        value: Any = row
        for part in [column] if column in row else column.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        if value != wanted and str(value) != str(wanted):
            return False
    return True
