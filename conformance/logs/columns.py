"""Events of whole columns: the same events as row by row, five times as fast.

What the operation, phase and result of a row mean is asked of the one definition (``Reading``) once
for each combination of their values; the other fields are taken as they are, where the type of
their column leaves no question. Where it does, or the mapping asks for more than one column can
say, the rows are understood one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count, repeat
from typing import TYPE_CHECKING, Any, Final

from .events import FIELDS, Event
from .mapping import NANOSECONDS
from .understanding import Reading

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["clocks_agree", "planned", "times_agree", "understood"]

Understood = tuple[Event, str | None] | None

_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "key": (str, int), "process": (str, int), "operation": (str, int), "phase": (str,),
    "item": (str, int), "value": (int,), "place": (int,), "time": (int,), "result": (str,),
    "call": (str, int)}
"""By field, the types of values that need no look at each."""

_WRITTEN: Final = ("value", "place", "time")
"""The fields with numbers that may be written out, in texts."""


def understood(reading: Reading, batch: pa.RecordBatch, first: int,
               lines: Sequence[int] | None = None) -> Iterator[Understood]:
    """The answers of ``Reading.understood`` for each row of a batch; its rows are the lines from
    ``first`` on, or these."""
    numbers = count(first) if lines is None else iter(lines)
    plan = planned(reading, batch)
    if plan is None or not times_agree(reading, batch, plan.get("time")):
        for row, line in zip(batch.to_pylist(), numbers, strict=False):
            yield reading.understood(row, line)
        return
    yield from _rows(reading, batch, plan, numbers)


def _rows(reading: Reading, batch: pa.RecordBatch, plan: Mapping[str, str], numbers: Iterator[int]
          ) -> Iterator[Understood]:
    """The events of a batch, column by column: what an operation, a phase and a result mean
    together is looked up once."""
    columns = [batch.column(plan[name]).to_pylist() if name in plan else
               repeat(reading.mapped.constants.get(name), batch.num_rows) for name in FIELDS]
    unit, file = NANOSECONDS[reading.mapped.unit], reading.file
    known: dict[Any, tuple[str, str, str] | None] = {}
    rows: Callable[[int], dict[str, Any]] = lambda at: {  # noqa: E731 - named for what it gives
        name: batch.column(name)[at].as_py() for name in batch.schema.names}
    for at, line, key, process, operation, phase, item, value, place, time, result, call in zip(
            count(), numbers, *columns, strict=False):
        said = (operation, phase, result)
        if said not in known:
            event = reading.understood(rows(at), line)
            known[said] = event and (event[0].operation, event[0].phase, event[0].result)
        meant = known[said]
        if meant is None:
            yield None
            continue
        yield Event(
            "" if key is None else str(key), "" if process is None else str(process), meant[0],
            meant[1], item, value, place, None if time is None else time * unit, meant[2], -1,
            file, line), None if call is None else str(call)


def planned(reading: Reading, batch: pa.RecordBatch, written: bool = False
            ) -> Mapping[str, str] | None:
    """By field, its column; None where the rows have to be looked at one by one. Numbers may be
    ``written`` out, and times be of any kind."""
    mapped, schema = reading.mapped, batch.schema
    operations = (mapped.operations or {}).values()
    if mapped.only or mapped.unit == "iso" and not written or any(
            each.only or each.columns for each in operations):
        return None
    plan = {}
    for name, types in _TYPES.items():
        columns = mapped.columns.get(name, (name,))
        if len(columns) > 1 or columns[0] not in schema.names:
            if name in mapped.columns:
                return None
            continue
        if name in mapped.constants and name not in mapped.columns:
            continue
        column = batch.column(columns[0])
        kind = _type(column.type)
        fits = kind in types or written and (name == "time" or (
            kind is str and name in _WRITTEN))
        if not fits and column.null_count < len(column):
            return None
        if name in ("key", "item") and column.null_count < len(column):
            assert kind is not None
            if reading.kinds.setdefault((name, ""), kind) is not kind:
                return None
        plan[name] = columns[0]
    return plan


def _type(kind: Any) -> type | None:
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_integer(kind):
        return int
    return str if pa.types.is_string(kind) or pa.types.is_large_string(kind) else None


def times_agree(reading: Reading, batch: pa.RecordBatch, name: str | None) -> bool:
    """True if the times of a batch need no look at each."""
    from pyarrow import compute

    if name is None:
        return reading.mapped.order != "time"
    column = batch.column(name)
    if column.null_count == len(column):
        return reading.mapped.order != "time" or not len(column)
    found = compute.min_max(column).as_py()
    unit = NANOSECONDS[reading.mapped.unit]
    return clocks_agree(reading, column.null_count, found["min"] * unit, found["max"] * unit)


def clocks_agree(reading: Reading, absent: int, least: int, greatest: int) -> bool:
    """True if times from the ``least`` to the ``greatest`` one, some of them ``absent``, need no
    look at each."""
    if absent and reading.mapped.order == "time":
        return False
    return reading.have_one_clock(least, greatest)
