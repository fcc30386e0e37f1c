"""JSON lines as batches of columns, parsed by Arrow, some megabytes at a time.

A log in which a block is not as plain as one object a line is ``Unfit``: row by row, it is read by
Python, which says what is wrong and where.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..logs.readers import HEADER
from .rows import Unfit

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["json_batches"]

_BYTES: Final = 8 << 20


def json_batches(path: Path) -> Iterator[pa.RecordBatch]:
    """The lines of a file, in batches of consecutive ones. Raises ``Unfit``."""
    with path.open("rb") as file:
        rest = b""
        while block := file.read(_BYTES):
            lines, newline, tail = block.rpartition(b"\n")
            if newline:
                yield _batch(rest + lines + newline)
                rest = tail
            else:
                rest += tail
        if rest:
            raise Unfit     # it may be cut off


def _batch(text: bytes) -> pa.RecordBatch:
    """Whole lines of JSON as one batch. Raises ``Unfit`` where its rows would not be the lines."""
    import pyarrow as arrow
    from pyarrow import json

    try:
        table = json.read_json(
            arrow.BufferReader(text),
            json.ReadOptions(use_threads=False, block_size=len(text) + 1),
            json.ParseOptions(newlines_in_values=False))
        batches = table.combine_chunks().to_batches()
    except (arrow.ArrowException, ValueError):
        raise Unfit from None
    if len(batches) != 1 or batches[0].num_rows != text.count(b"\n") or (
            HEADER in batches[0].schema.names):
        raise Unfit     # empty lines would shift the numbers of those that follow
    return batches[0]
