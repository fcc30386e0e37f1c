"""JSON lines and CSV as batches of columns, parsed by Arrow, some megabytes at a time.

A log in which a block is not as plain as one object, or one row, a line is ``Unfit``: row by row,
it is read by Python, which says what is wrong and where.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from ..logs.events import FIELDS
from ..logs.mapping import Mapped
from ..logs.readers import HEADER, Log, header_of, text_of
from .cells import Unfit
from .lines import plain_rows

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Numbered", "csv_batches", "csv_rows", "json_batches", "json_rows"]

_BYTES: Final = 8 << 20
_LEAST: Final = 1 << 18
_LINE: Final = 32
"""Bytes of a short line."""

Numbered = tuple[int, "pa.RecordBatch"]
"""A batch, and the number of the line that its first row is."""


def json_batches(log: Log, size: int) -> Iterator[Numbered]:
    """The lines of a file, in batches of about ``size`` consecutive ones, but for the recorder's
    header. Raises ``Unfit``."""
    header = header_of(log.path)
    with text_of(log.path) as file:
        if header is not None:
            file.readline()
            log.gaps += int(header.get("dropped", 0))
        yield from _blocks(file.read, size, 1 if header is None else 2,
                           lambda text: json_rows(text, log.mapped))


def csv_batches(log: Log, size: int) -> Iterator[Numbered]:
    """The rows of a file, in batches of about ``size`` consecutive ones, of texts. Raises
    ``Unfit``."""
    with text_of(log.path) as file:
        first = file.readline()
        try:
            head = next(csv.reader([first.decode("utf-8")], strict=True), [])
        except csv.Error:
            raise Unfit from None
        if first.count(b'"') % 2:
            raise Unfit
        yield from _blocks(file.read, size, 2, lambda text: csv_rows(text, head, log.mapped))


def _blocks(read: Callable[[int], bytes], size: int, line: int,
            parsed: Callable[[bytes], pa.RecordBatch]) -> Iterator[Numbered]:
    """Blocks of whole lines, ``parsed``. The last line needs no end: one that is cut off is none of
    its format, or lacks cells."""
    most = max(_LEAST, min(_BYTES, size * _LINE))
    rest = b""
    while block := read(most):
        lines, newline, tail = block.rpartition(b"\n")
        if newline:
            batch = parsed(rest + lines + newline)
            yield line, batch
            line += batch.num_rows
            rest = tail
        else:
            rest += tail
    if rest:
        yield line, parsed(rest + b"\n")


def json_rows(text: bytes, mapped: Mapped) -> pa.RecordBatch:
    """Whole lines of JSON as one batch. Raises ``Unfit`` where its rows would not be the lines, or
    Arrow has read times that are texts."""
    plain = plain_rows(text)
    return _any_rows(text, mapped) if plain is None else plain


def _any_rows(text: bytes, mapped: Mapped) -> pa.RecordBatch:
    """See ``json_rows``; the lines may be any objects."""
    import pyarrow as arrow
    from pyarrow import json

    times = mapped.columns.get("time", ("time",))
    texts = times if mapped.unit == "iso" else ()     # whatever they look like
    try:
        table = json.read_json(
            arrow.BufferReader(text),
            json.ReadOptions(use_threads=False, block_size=len(text) + 1),
            json.ParseOptions(newlines_in_values=False, explicit_schema=arrow.schema(
                [(name, arrow.string()) for name in texts])))
    except (arrow.ArrowException, ValueError):
        raise Unfit from None
    batch = _one(table, text)
    names = batch.schema.names
    if HEADER in names or any(arrow.types.is_timestamp(batch.schema.field(name).type)
                              for name in times if name in names):
        raise Unfit
    return batch


def csv_rows(text: bytes, head: Sequence[str], mapped: Mapped) -> pa.RecordBatch:
    """Whole lines of CSV as one batch, with the columns that are used. Raises ``Unfit`` for what
    may mean another thing to the reader of rows."""
    import pyarrow as arrow
    from pyarrow import csv as tables

    if len(set(head)) < len(head):
        raise Unfit
    used = sorted(set(head) & {*FIELDS, *(each for some in mapped.columns.values()
                                          for each in some)})
    if b"\0" in text or b'"' in text and not _is_plainly_quoted(text):
        raise Unfit
    try:
        table = tables.read_csv(
            arrow.BufferReader(text),
            tables.ReadOptions(use_threads=False, block_size=len(text) + 1, column_names=head),
            tables.ParseOptions(newlines_in_values=False, double_quote=False,
                                ignore_empty_lines=False),
            tables.ConvertOptions(
                column_types=dict.fromkeys(used, arrow.string()), include_columns=used,
                null_values=[""], strings_can_be_null=True))
    except (arrow.ArrowException, ValueError):
        raise Unfit from None
    return _one(table, text)


def _is_plainly_quoted(text: bytes) -> bool:
    """True if quotes are only around whole cells."""
    import numpy as np

    letters = np.frombuffer(b"\n" + text + b"\n", np.uint8)
    quotes = np.flatnonzero(letters == ord('"'))
    if len(quotes) % 2:
        return False
    before, after = letters[quotes[::2] - 1], letters[quotes[1::2] + 1]
    return bool(np.isin(before, [*b",\n"]).all() and np.isin(after, [*b",\r\n"]).all())


def _one(table: pa.Table, text: bytes) -> pa.RecordBatch:
    """A table of lines as one batch; empty lines would shift the numbers of those that follow."""
    batches = table.combine_chunks().to_batches()
    if len(batches) != 1 or batches[0].num_rows != text.count(b"\n"):
        raise Unfit
    return batches[0]
