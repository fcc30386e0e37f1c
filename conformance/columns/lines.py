"""Plain lines of JSON as columns, texts as dictionaries; a reader of any JSON takes three times as
long.

The names are learned from the lines themselves, the first ones as a rule. Where a line is not
plain (see ``scan``), nothing is said here of the whole block, and another reader takes it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ..logs.readers import HEADER
from .arrays import column_of

if TYPE_CHECKING:
    import pyarrow as pa

    from .scan import Scan

__all__ = ["plain_rows"]


def plain_rows(text: bytes) -> pa.RecordBatch | None:
    """Whole lines of JSON as one batch, with a column for each name that is in one of them; None
    where one is no plain object, or a name has texts and numbers."""
    import pyarrow as arrow

    from .scan import Scan

    if not _is_utf8(text):
        return None
    scan = Scan(text, text.count(b"\n"))
    while not scan.takes():
        names = _new_names(text[scan.at:text.index(b"\n", scan.at)], scan)
        if not names:
            return None
        scan.learns(names)
    columns = [_column(scan, field) for field in range(len(scan.names))]
    if not columns or None in columns:
        return None
    return arrow.RecordBatch.from_arrays(columns, [json.loads(name) for name in scan.names])


def _is_utf8(text: bytes) -> bool:
    if text.isascii():
        return True
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def _new_names(line: bytes, scan: Scan) -> list[bytes]:
    """The names of an object that are not known yet, as they are written; none where it is another
    reader's anyway."""
    from .scan import FIELDS_MAX

    if not line.lstrip().startswith(b"{"):
        return []
    try:
        pairs = json.loads(line, object_pairs_hook=lambda pairs: pairs)
        names = [json.dumps(name, ensure_ascii=False).encode() for name, _ in pairs]
    except (ValueError, RecursionError):
        return []
    new = [name for name in dict.fromkeys(names) if name not in scan.names]
    if HEADER in dict(pairs) or len(scan.names) + len(new) > FIELDS_MAX:
        return []
    return new


def _column(scan: Scan, field: int) -> Any:
    """The column of a field; None where its values are of two kinds."""
    import pyarrow as arrow

    from .scan import ABSENT, NUMBER, TEXT

    cells, kind = scan.cells[field], int(scan.kinds[field])
    absent = cells == ABSENT
    mask = absent if absent.any() else None
    if kind == TEXT:
        return arrow.DictionaryArray.from_arrays(
            column_of(cells.astype("int32"), mask), _texts(*scan.texts(field)))
    if kind == NUMBER:
        return column_of(cells, mask)
    return None if kind else arrow.nulls(scan.lines)


def _texts(ends: Any, text: Any) -> Any:
    """Texts that stand in the order of their places: what is between two of them is left out."""
    import numpy as np
    import pyarrow as arrow

    found = arrow.StringArray.from_buffers(
        len(ends) - 1, arrow.py_buffer(ends.astype(np.int32)), arrow.py_buffer(text))
    return found.take(column_of(np.arange(0, len(ends), 2)))
