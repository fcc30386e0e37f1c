"""Columns of whole numbers and of times as arrays, read as ``Reading`` reads them one by one.

Times are in nanoseconds here: whole numbers and fractions of a unit, written out or not,
timestamps, and texts in ISO 8601.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

from ..logs.mapping import NANOSECONDS
from .arrays import absent_in, numbers_in

if TYPE_CHECKING:
    import numpy as np

    Numbers = np.ndarray[Any, np.dtype[np.int64]]

__all__ = ["NONE", "WIDE", "Unfit", "constant", "longer", "times_of", "whole_numbers"]

NONE: Final = -1 << 62
"""In a column: there is no value."""

WIDE: Final = 1 << 63
"""Above all whole numbers of 64 bits."""

_NUMBERS_MAX: Final = 1 << 60
_TIMES_MAX: Final = 1 << 61


class Unfit(Exception):
    """The log cannot be judged in whole columns; row by row it may be."""


def constant(value: int, size: int) -> Numbers:
    """A column with one value, which takes no memory for each row: most logs leave some out."""
    import numpy as np

    return np.broadcast_to(np.array([value], np.int64), size)


def longer(array: Any, size: int, absent: Any = 0) -> Any:
    """The array with ``size`` places and some more, if it has fewer; what is ``absent`` is in new
    ones. Zeros take no memory before they are written."""
    import numpy as np

    if len(array) >= size:
        return array
    found = np.zeros((size + size // 4, *array.shape[1:]), array.dtype)
    found[:len(array)] = array
    if np.any(absent):
        found[len(array):] = absent
    return found


def whole_numbers(column: Any, times: int = 1, most: int = _NUMBERS_MAX) -> Numbers:
    """A column of whole numbers times a factor, with NONE for null. Raises ``Unfit`` for any other
    column, and for numbers from ``most`` on, which could overflow, or be taken for no value."""
    import numpy as np
    import pyarrow as pa
    from pyarrow import compute

    if column.null_count == len(column):
        return constant(NONE, len(column))
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_string(column.type) and compute.any(
            compute.match_substring(column, "x", ignore_case=True)).as_py():
        raise Unfit     # a number to Arrow alone
    if not pa.types.is_integer(column.type) and not pa.types.is_string(column.type):
        raise Unfit     # other texts
    try:
        whole = column.cast(pa.int64())
    except pa.ArrowInvalid:
        raise Unfit from None
    absent = absent_in(whole) if whole.null_count else None
    found = numbers_in(whole)
    found = found if absent is None else np.where(absent, 0, found)
    if len(found) and max(-int(found.min()), int(found.max())) * times >= most:
        raise Unfit
    found = found * times if times != 1 else found
    if most > -NONE and bool((found == NONE).any()):
        raise Unfit
    return found if absent is None else np.where(absent, NONE, found)


def times_of(column: Any, unit: str) -> Numbers:
    """The times of a column, ``NONE`` for null. Raises ``Unfit`` for what needs a closer look."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    kind = column.type
    if column.null_count == len(column) or (pa.types.is_integer(kind) and unit != "iso"):
        return whole_numbers(column, NANOSECONDS[unit], _TIMES_MAX)
    if pa.types.is_timestamp(kind):
        return _of_timestamps(column)
    if unit == "iso":
        return _of_timestamps(_parsed(column))
    if pa.types.is_string(kind):
        try:
            return whole_numbers(column, NANOSECONDS[unit], _TIMES_MAX)
        except Unfit:
            return _rounded(_cast(column, pa.float64()), NANOSECONDS[unit])
    if not pa.types.is_floating(kind):
        raise Unfit
    return _rounded(_cast(column, pa.float64()), NANOSECONDS[unit])


def _parsed(column: Any) -> Any:
    """Texts in ISO 8601 as timestamps."""
    import pyarrow as pa

    if not pa.types.is_string(column.type):
        raise Unfit
    try:
        return _cast(column, pa.timestamp("us", "UTC"))
    except Unfit:
        return _cast(column, pa.timestamp("us"))


def _of_timestamps(column: Any) -> Numbers:
    """Timestamps by way of seconds as a float, as Python has them. Without a zone they are of the
    place's own, which Arrow does not know."""
    import pyarrow as pa

    if column.type.unit == "ns" or (column.type.tz is None and {*time.tzname} != {"UTC"}):
        raise Unfit
    zone = column.type.tz
    seconds = _cast(_cast(_cast(column, pa.timestamp("us", zone)), pa.int64()), pa.float64())
    return _rounded(seconds, NANOSECONDS["s"], 1_000_000)


def _rounded(column: Any, times: int, over: int = 1) -> Numbers:
    import numpy as np

    absent = absent_in(column)
    found = np.where(absent, 0, numbers_in(column)) / over * times
    if len(found) and not float(np.abs(found).max()) < _TIMES_MAX:
        raise Unfit     # too large, or no number
    return np.where(absent, NONE, np.rint(found).astype(np.int64))


def _cast(column: Any, kind: Any) -> Any:
    import pyarrow as pa

    try:
        return column.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise Unfit from None
