"""Reading logs: lines or rows as mappings, and these as events, one after the other.

JSON lines and CSV need nothing; Parquet and Arrow files need pyarrow. Each is read piece by piece,
so that memory does not grow with the file.
"""

from __future__ import annotations

import csv
import gzip
import json
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from ...spec.notation.errors import InputError
from .events import Event, in_line
from .mapping import Mapped, of_recorder
from .understanding import Calls, Reading, Row

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "FORMATS", "HEADER", "Log", "batches_of", "ending_of", "header_in", "header_of", "row_of_cells",
    "row_of_json", "rows_about", "text_of",
]

Rows = Iterator[tuple[int, Row]]
Batches = Iterator["pa.RecordBatch"]

_BYTES_OF_ROW: Final = {".csv": 32}
_BYTES_OF_LINE: Final = 64

_AT_ONCE: Final = 10_000
"""Rows of a table that are understood at a time."""

HEADER: Final = "checkvalve_log"
"""The key by which the recorder's first line is known."""


def _json_lines(path: Path) -> Rows:
    with text_of(path) as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            yield number, row_of_json(line, str(path), number, not line.endswith(b"\n"))


def row_of_json(line: bytes, file: str, number: int, is_cut: bool) -> Row:
    """A line of JSON as a row. Raises ``InputError``; ``is_cut`` says that nothing follows, not
    even the end of the line."""
    try:
        row = json.loads(line)
    except RecursionError:
        raise in_line("this line nests lists or objects too deep", file, number,
                      "Leave out columns that the mapping does not name.") from None
    except ValueError as error:
        raise in_line(
            "the file ends in the middle of a line" if is_cut else
            f"this is not JSON: {error}", file, number,
            "Copy the whole file, or remove the last line." if is_cut else
            f"Each line is one JSON object. {LINES_OF_TEXT if number == 1 else ''}".strip()
            ) from None
    if not isinstance(row, dict):
        raise in_line("this line is JSON, but no object", file, number,
                      "Each line is one JSON object with an event's fields.")
    return row


def _csv(path: Path) -> Rows:
    with text_of(path) as lines:
        try:
            reader = csv.reader((line.decode("utf-8") for line in lines), strict=True)
            head = next(reader, [])
            for row in reader:
                yield reader.line_num, row_of_cells(head, row, str(path), reader.line_num)
        except csv.Error as error:
            raise in_line(f"this is not CSV: {error}", str(path), reader.line_num,
                          "Save it as CSV with commas and double quotes.") from None


def row_of_cells(head: Sequence[str], cells: Sequence[str], file: str, number: int) -> Row:
    """The cells of a line as a row; an empty one has no value. Raises ``InputError``."""
    if len(cells) != len(head):
        raise in_line(f"this row has {len(cells)} cells, and the head has {len(head)}", file,
                      number, "Copy the whole file, or quote the cells that have "
                      "commas.")
    return {name: cell if cell else None for name, cell in zip(head, cells, strict=True)}


def _parquet(path: Path, size: int) -> Batches:
    import pyarrow as arrow
    import pyarrow.parquet as parquet

    with _arrow_errors(path):
        texts = [field.name for field in parquet.read_schema(path)
                 if arrow.types.is_string(field.type)] if size > _AT_ONCE else []
        # Buffered ahead, what was read of a file stays in memory to its end.
        yield from parquet.ParquetFile(path, read_dictionary=texts, pre_buffer=False).iter_batches(
            size, use_threads=False)


def rows_between(path: Path, start: int, stop: int, size: int) -> Batches:
    """The rows of a Parquet file from one up to another one, counted from 0, so many at a time;
    only the row groups that have some of them are read."""
    import pyarrow as arrow
    import pyarrow.parquet as parquet

    with _arrow_errors(path):
        texts = [field.name for field in parquet.read_schema(path)
                 if arrow.types.is_string(field.type)]
        file = parquet.ParquetFile(path, read_dictionary=texts, pre_buffer=False)
        at = first = 0
        groups: list[int] = []
        for group in range(file.num_row_groups):
            rows = file.metadata.row_group(group).num_rows
            if at + rows > start and at < stop:
                first = first if groups else at
                groups.append(group)
            at += rows
        at = first
        for batch in file.iter_batches(size, row_groups=groups, use_threads=False):
            some = batch.slice(max(0, start - at), max(0, min(stop, at + batch.num_rows)
                                                       - max(start, at)))
            at += batch.num_rows
            if some.num_rows:
                yield some


def _arrow(path: Path, size: int) -> Batches:
    import pyarrow as arrow

    with _arrow_errors(path), arrow.OSFile(str(path), "rb") as opened:
        try:
            file = arrow.ipc.open_file(opened)
            batches = (file.get_batch(at) for at in range(file.num_record_batches))
        except arrow.ArrowInvalid:
            opened.seek(0)
            batches = iter(arrow.ipc.open_stream(opened))
        for batch in batches:
            batch.validate(full=True)   # Arrow itself would follow offsets that lead out of a file
            for at in range(0, batch.num_rows, size):
                yield batch.slice(at, size)


@contextmanager
def _arrow_errors(path: Path) -> Iterator[None]:
    import pyarrow as arrow

    try:
        yield
    except (arrow.ArrowInvalid, OSError) as error:
        raise InputError(f"this file cannot be read: {str(error).splitlines()[0]}", str(path),
                         "It may be cut off; copy it again.") from None


_ROWS: Final[Mapping[str, Callable[[Path], Rows]]] = {
    ".jsonl": _json_lines, ".ndjson": _json_lines, ".json": _json_lines, ".csv": _csv}

_BATCHES: Final[Mapping[str, Callable[[Path, int], Batches]]] = {
    ".parquet": _parquet, ".arrow": _arrow, ".arrows": _arrow, ".feather": _arrow}

LINES_OF_TEXT: Final = "Lines of text have to be made lines of JSON first, as docs/logs.md has it."

FORMATS: Final = (*_ROWS, *_BATCHES)
"""The ends of the names of files that can be read. The text formats may be gzipped (.gz)."""


@contextmanager
def text_of(path: Path) -> Iterator[IO[bytes]]:
    """A file of text, unpacked, in bytes. Raises ``InputError``."""
    opener: Any = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rb") as lines:
        try:
            yield lines
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise InputError(f"this file cannot be unpacked: {error}", str(path),
                             "It may be cut off; copy it again.") from None
        except UnicodeDecodeError as error:
            raise InputError(f"this file is no UTF-8 text: {error.reason}", str(path),
                             "Save it as UTF-8.") from None


def ending_of(path: Path) -> str:
    """The end of a file's name by which its format is known. Raises ``InputError``."""
    ending = Path(path.stem).suffix if path.suffix == ".gz" else path.suffix
    if ending not in FORMATS:
        raise InputError(f"the format of this file is not known by its name's end {ending!r}",
                         str(path), _renamed(path))
    return ending


def _renamed(path: Path) -> str:
    """The next step for a file of no known format, by how it begins."""
    try:
        with text_of(path) as lines:
            first = lines.read(200).lstrip()
    except (InputError, OSError):
        first = b""
    if first.startswith(b"{"):
        return f"It begins as JSON lines do: rename it, so that it ends in {'.jsonl'!r}."
    return f"Rename it if it is one of {', '.join(FORMATS)}. {LINES_OF_TEXT}"


def header_of(path: Path) -> Row | None:
    """The header of a file that the recorder wrote; None for any other."""
    if path.suffix != ".jsonl":
        return None
    with path.open("rb") as lines:
        first = lines.readline(1_000)
    return header_in(first)


def header_in(first: bytes) -> Row | None:
    """The header that is the first line of what the recorder wrote; None of any other line."""
    if HEADER.encode() not in first:
        return None
    try:
        found = json.loads(first)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def batches_of(log: Log, size: int) -> Batches | None:
    """The rows of a table, so many at a time; None for a file that is none."""
    ending = ending_of(log.path)
    return _BATCHES[ending](log.path, size) if ending in _BATCHES and not log.has_format else None


def rows_about(log: Log) -> int:
    """About how many rows a file has; 0 if that cannot be said."""
    ending = ending_of(log.path)
    if ending != ".parquet":
        return log.path.stat().st_size // _BYTES_OF_ROW.get(ending, _BYTES_OF_LINE)
    import pyarrow as arrow
    import pyarrow.parquet as parquet

    try:
        return int(parquet.read_metadata(log.path).num_rows)
    except (arrow.ArrowInvalid, OSError):
        return 0    # who reads it says what is wrong


class Log(Reading):
    """One file of a log, with its mapping; ``events`` reads it once. ``rows`` reads a format that
    is not known by the name's end."""

    def __init__(self, path: Path, mapped: Mapped, operations: Sequence[str],
                 rows: Callable[[Path], Rows] | None = None) -> None:
        header = header_of(path)
        super().__init__(str(path), mapped if header is None else of_recorder(mapped, header),
                         operations)
        self.path = path
        self._rows = rows

    @property
    def has_format(self) -> bool:
        """True if its format is not known by the end of its name."""
        return self._rows is not None

    def events(self, calls: Iterator[int]) -> Iterator[Event]:
        """The events in the order of the file; calls are numbered by ``calls``. Raises
        ``InputError`` with file and line for what cannot be understood."""
        numbered = Calls(calls).numbered
        for found in self._understood():
            if found is None:
                self.ignored += 1
            else:
                yield numbered(*found)

    def _understood(self) -> Iterator[tuple[Event, str | None] | None]:
        """The events of the file in its order, by the reader of its format; None for a line that is
        ignored."""
        if self._rows is not None:
            yield from (self.understood(row, line) for line, row in self._rows(self.path))
            return
        ending = ending_of(self.path)
        if ending in _BATCHES:
            from .columns import understood

            line = 1
            for batch in _BATCHES[ending](self.path, _AT_ONCE):
                yield from understood(self, batch, line)
                line += batch.num_rows
            return
        for line, row in _ROWS[ending](self.path):
            if HEADER in row:
                self.gaps += int(row.get("dropped", 0))
            else:
                yield self.understood(row, line)
