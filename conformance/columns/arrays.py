"""Columns of Arrow as arrays of numpy, and back, without pandas: Arrow's own ways import it where
it is installed, which takes longer than to judge 100,000 events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    Array = np.ndarray[Any, np.dtype[Any]]

__all__ = ["absent_in", "column_of", "numbers_in", "values_in"]


def numbers_in(column: pa.Array) -> Array:
    """The numbers of a column of them, as they are in memory; any number in place of null."""
    import numpy as np
    import pyarrow as pa

    kind = column.type
    letter = ("f" if pa.types.is_floating(kind) else
              "u" if pa.types.is_unsigned_integer(kind) else "i")
    found: Array = np.frombuffer(
        column.buffers()[1], f"{letter}{kind.bit_width // 8}", len(column), column.offset
        * kind.bit_width // 8) if len(column) else np.zeros(0, np.int64)
    return found


def absent_in(column: pa.Array) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """True for each null of a column."""
    import numpy as np

    present = column.buffers()[0]
    if present is None or not column.null_count:
        return np.full(len(column), column.null_count > 0)
    bits = np.unpackbits(np.frombuffer(present, np.uint8), bitorder="little")
    return np.equal(bits[column.offset:column.offset + len(column)], 0)


def values_in(column: pa.Array) -> Any:
    """The values of a column without nulls: an array of numbers, or of objects."""
    import numpy as np
    import pyarrow as pa

    if pa.types.is_integer(column.type):
        return numbers_in(column)
    found = np.empty(len(column), object)
    found[:] = column.to_pylist()
    return found


def column_of(numbers: Array, absent: Any = None) -> pa.Array:
    """Whole numbers as a column, null where they are ``absent``."""
    import numpy as np
    import pyarrow as pa

    kind = {4: pa.int32(), 8: pa.int64()}[numbers.itemsize]
    present = None if absent is None else pa.py_buffer(np.packbits(~absent, bitorder="little"))
    return pa.Array.from_buffers(kind, len(numbers), [
        present, pa.py_buffer(np.ascontiguousarray(numbers))])
