"""Events as plain columns, on their way to where they are judged in whole columns.

A batch is understood where it is read, by the same code as here (``fields_of``); names stay texts,
for their numbers are given by what judges them. Columns that a log has not are left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from ..logs.understanding import Reading
from .cells import NONE, Unfit, constant, whole_numbers
from .ordered import moves_and_phases, places_of
from .rows import LINE, Names, Rows, coded_by, fields_of, has_all, items_of

if TYPE_CHECKING:
    import pyarrow as pa

    from .cells import Numbers

__all__ = ["packed", "rows_sent", "sent", "unpacked"]

_TEXTS: Final = ("key", "process", "call")


def sent(reading: Reading, batch: pa.RecordBatch, lines: Numbers, names: Names,
         codes: Mapping[tuple[str, str, str], int], shifts: Mapping[str, int] | None
         ) -> pa.RecordBatch:
    """The events of a batch with rows of some ``lines``, understood; ``codes`` are the numbers
    of what can be said, ``names`` those of what was said so far. With ``shifts``, by which clocks
    order a log, ``order`` is the place of each in it, and beginnings that say nothing stay, for
    calls are still to be paired. Raises ``Unfit``, and ``InputError`` as ``Reading`` does."""
    import numpy as np
    import pyarrow as arrow

    of = fields_of(reading, batch, 0, names)
    said, kept = of.said[of.kind], ~of.absent
    columns: dict[str, Any] = {}
    table = np.array([*(codes[meaning] for meaning in names.meanings), -1], np.int16)
    columns["code"] = table[np.where(said == NONE, -1, said)]
    numbers = {"value": of.value, "place": of.place, "time": of.time}
    if shifts is not None:
        moves, phases = moves_and_phases(of.kind, of.events, shifts)
        columns |= {"phase": phases.astype(np.int8), "order": places_of(of.time + moves, phases)}
    else:
        kept &= said != NONE
    for name, column in numbers.items():
        if column.strides != (0,) or len(column) and int(column[0]) != NONE:
            columns[name] = column
    columns["line"] = lines
    given = {name: arrow.array(column) for name, column in columns.items()}
    given |= {name: text for name in _TEXTS
              if (text := _text(reading, batch, of.plan, name, shifts is not None)) is not None}
    item = of.item
    if item is None:
        column = batch.column(of.plan["item"])
        item = np.where(column.is_null().to_numpy(zero_copy_only=False), NONE, 0)
        if column.null_count < len(column):
            given["item"] = column
    elif len(item) and int(item[0]) != NONE:
        given["item"] = arrow.array(item)
    found = arrow.RecordBatch.from_arrays(list(given.values()), names=list(given))
    value = of.value
    if not kept.all():
        found = found.filter(arrow.array(kept))
        said, item, value = said[kept], item[kept], value[kept]
    has_all(names, said, item=item, value=value)
    return found


def _text(reading: Reading, batch: pa.RecordBatch, plan: Mapping[str, str], name: str,
          numbered: bool) -> Any:
    """A column of names as texts; None if they have none. The identities of calls that will be
    ``numbered`` may be whole numbers: of these, no names are kept."""
    import numpy as np
    import pyarrow as arrow

    if name in plan:
        column = batch.column(plan[name])
        if column.null_count == len(column):
            return None
        is_text = arrow.types.is_string(column.type)
        if name == "call" and numbered:
            kind: type = str if is_text else int
            if reading.kinds.setdefault((name, ""), kind) is not kind:
                raise Unfit
            return column
        return column if is_text else column.cast(arrow.string())
    given = reading.mapped.constants.get(name)
    return None if given is None else arrow.DictionaryArray.from_arrays(
        np.zeros(batch.num_rows, np.int8), [str(given)])


def packed(columns: pa.RecordBatch) -> bytes:
    """Columns as bytes, in the format of Arrow's streams; see ``unpacked``."""
    import pyarrow as arrow

    sink = arrow.BufferOutputStream()
    with arrow.ipc.new_stream(sink, columns.schema) as file:
        file.write_batch(columns)
    found: bytes = sink.getvalue().to_pybytes()
    return found


def unpacked(given: bytes) -> pa.RecordBatch:
    """The columns in what ``packed`` gave."""
    import pyarrow as arrow

    return arrow.ipc.open_stream(given).read_next_batch()


def rows_sent(columns: pa.RecordBatch, file: int, names: Names,
              meanings: Sequence[tuple[str, str, str]]) -> Rows:
    """The rows of events that were sent; ``file`` is the number of theirs, ``meanings`` has what
    their codes stand for. Raises ``Unfit``."""
    import numpy as np
    import pyarrow as arrow

    size, has = columns.num_rows, set(columns.schema.names)

    def numbers(name: str) -> Numbers:
        if name not in has:
            return constant(NONE, size)
        found: Numbers = columns.column(name).to_numpy(zero_copy_only=False)
        return found

    def coded(name: str, of: Any) -> Numbers:
        if name not in has:
            return constant(of([None])[0], size)
        return coded_by(columns.column(name), of)

    code = numbers("code")
    table = np.full(len(meanings) + 1, NONE)
    for number in np.flatnonzero(np.bincount(code + 1)).tolist():
        if number:
            table[number - 1] = names.said(meanings[number - 1])
    lines = numbers("line")
    call = (numbers("number") if "number" in has else
            whole_numbers(columns.column("call")) if "call" in has and arrow.types.is_integer(
                columns.column("call").type) else coded("call", names.numbers_of_calls))
    return Rows(
        coded("key", names.keys.numbers), table[code],
        coded("process", names.processes.numbers), call,
        items_of(columns.column("item"), names) if "item" in has else constant(NONE, size),
        numbers("value"), numbers("place"), numbers("time"), lines | file << LINE, lines)
