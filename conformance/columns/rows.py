"""Events as columns of numbers, a chunk of a log at a time.

Texts are numbers here: keys and processes by the order in which they were first seen, operations
with their phases and results by a table. What a row means is asked of the one definition
(``Reading``) once for each combination of operation, phase and result. A log in which a row needs a
closer look is ``Unfit``: it is judged row by row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from ..logs.columns import clocks_agree, planned
from ..logs.events import Event
from ..logs.kinds import Logs
from ..logs.mapping import NANOSECONDS
from ..logs.understanding import Reading
from .arrays import absent_in, numbers_in, values_in
from .cells import NONE, WIDE, Unfit, constant, times_of, whole_numbers
from .items import Items
from .named import Named

if TYPE_CHECKING:
    import pyarrow as pa

    from .cells import Numbers

__all__ = ["ITEM_MAX", "LINE", "Holder", "Names", "Rows", "coded_by", "column_of", "fields_of",
           "has_all", "items_of", "joined", "nothing", "read_batch", "rows_of_batch", "stacked",
           "unstacked"]

ITEM_MAX: Final = 1 << 40
"""Items are whole numbers from 0 to below this, so that one fits into a word with its key; all
others have such a number instead (``Items``)."""


LINE: Final = 40
"""Bits of the number of a line."""

Meaning = tuple[str, str, str]
"""An operation, a phase, and a result."""


@dataclass
class Rows:
    """Events, by column. ``said`` is the number of what was done, in what phase and with what
    result (``Names.meanings``); ``call`` the identity of a call that has one. ``line`` is the line
    with the number of its file, ``turn`` the place in the order of the log. ``NONE`` is no value.
    """

    key: Numbers
    said: Numbers
    process: Numbers
    call: Numbers
    item: Numbers
    value: Numbers
    place: Numbers
    time: Numbers
    line: Numbers
    turn: Numbers

    def __len__(self) -> int:
        return len(self.key)

    def at(self, which: Any) -> Rows:
        """Some of the rows: a slice, a mask, or places."""
        import numpy as np

        if isinstance(which, np.ndarray) and which.dtype == bool:
            which = np.flatnonzero(which)
        key = self.key[which]
        found: dict[int, Numbers] = {}      # two columns may be the same
        columns = [column_of(self, name) for name in _COLUMNS]
        for column in columns:
            if id(column) not in found:
                found[id(column)] = (np.broadcast_to(column[:1], len(key))
                                     if _is_constant(column) else column[which])
        return Rows(*(found[id(column)] for column in columns))


def column_of(rows: Rows, name: str) -> Numbers:
    """The column of rows with a name."""
    found: Numbers = getattr(rows, name)
    return found


_COLUMNS: Final = tuple(each.name for each in fields(Rows))


def _is_constant(column: Numbers) -> bool:
    """True if a column has one value, and no place in memory for each."""
    return column.strides == (0,)


def joined(parts: Sequence[Rows]) -> Rows:
    """The rows of all parts, one after the other."""
    import numpy as np

    parts = [part for part in parts if len(part)] or parts[:1]
    found: dict[tuple[int, ...], Numbers] = {}
    columns = [[getattr(part, name) for part in parts] for name in _COLUMNS]
    for column in columns:
        same = tuple(map(id, column))
        if same not in found:
            found[same] = (
                constant(int(column[0][0]), sum(map(len, column)))
                if len(column[0]) and all(map(_is_constant, column))
                and len({int(each[0]) for each in column}) == 1 else np.concatenate(column))
    return Rows(*(found[tuple(map(id, column))] for column in columns))


def nothing() -> Rows:
    """A log in which nothing happened."""
    import numpy as np

    return Rows(*(np.zeros(0, np.int64) for _ in _COLUMNS))


def stacked(rows: Rows | None) -> Numbers:
    """The columns of rows as those of a matrix."""
    import numpy as np

    if rows is None:
        return np.zeros((0, len(_COLUMNS)), np.int64)
    return np.stack([getattr(rows, name) for name in _COLUMNS], axis=1)


def unstacked(matrix: Numbers) -> Rows:
    """The rows of a matrix."""
    return Rows(*(matrix[:, column] for column in range(len(_COLUMNS))))


class Holder(Protocol):
    """Has rows, or numbers of them, from one chunk to the next."""

    def in_use(self, column: str) -> Numbers:
        """The numbers in the column ``process``, ``call`` or ``item`` that it has. There may be
        others among them."""
        ...


@dataclass
class Names:
    """The meaning of the numbers in a log's columns, and the events that its rows are. ``items`` is
    None where these are the numbers that they have in the log; of texts, ``remember`` are kept.
    Calls are ``numbered`` where each has a number of its own, whatever its process is. What the
    ``holders`` have is not forgotten."""

    logs: Logs
    files: Sequence[str]
    numbered: bool
    remember: int
    items: Items | None = None
    keys: Named = field(default_factory=Named)
    processes: Named = field(default_factory=Named)
    calls: Named = field(default_factory=Named)
    meanings: list[Meaning] = field(default_factory=list)
    holders: list[Holder] = field(default_factory=list)
    _said: dict[Meaning, int] = field(default_factory=dict)
    _are_plain: bool = False

    def numbers_of_calls(self, given: Sequence[Any]) -> Sequence[int]:
        """The numbers of some calls' own identities; ``NONE`` for none."""
        return [NONE if one is None else number for one, number in zip(
            given, self.calls.numbers(given), strict=True)]

    def plain_items(self) -> bool:
        """True if items are the numbers that they have in the log, from now on."""
        if self.items is None:
            self._are_plain = True
        return self._are_plain

    def numbers_of_items(self, given: Any, are_texts: bool) -> Numbers:
        """The numbers of some items (an array) that are none themselves. Raises ``Unfit`` where
        others were."""
        if self._are_plain:
            raise Unfit
        if self.items is None:
            self.items = Items(self.remember if are_texts else None)
        return self.items.numbers(given)

    def item(self, number: int) -> Any:
        """The item that a number in a column is."""
        if number == NONE:
            return None
        return number if self.items is None else self.items.name(number)

    def item_number(self, item: Any) -> int:
        """The number of an item; -1 for one that is not known."""
        if self.items is not None:
            return self.items.number(item)
        return item if isinstance(item, int) else -1

    def said(self, meaning: Meaning) -> int:
        """The number of a meaning; ``NONE`` for a beginning that says nothing.

        Raises ``Unfit`` for a phase that the operation has not."""
        if meaning not in self._said:
            self._said[meaning] = self._new(meaning)
        return self._said[meaning]

    def _new(self, meaning: Meaning) -> int:
        operation, phase, result = meaning
        call = self.logs.operations[operation]
        if phase not in call.phases:
            if phase == "begin":
                return NONE     # what it did is known at its end
            if phase != "end" or "point" not in call.phases:
                raise Unfit
            return self.said((operation, "point", result))
        if phase == "begin" and call.by_end:
            raise Unfit     # calls that overlap are taken in all orders, one key at a time
        self.meanings.append(meaning)
        return len(self.meanings) - 1

    def event(self, rows: Rows, at: int) -> tuple[Event, str | None]:
        """A row as an event of a call without a number yet, and that call's own identity."""
        operation, phase, result = self.meanings[int(rows.said[at])]
        call, line = int(rows.call[at]), int(rows.line[at])
        return Event(
            self.keys[int(rows.key[at])], self.processes[int(rows.process[at])], operation, phase,
            self.item(int(rows.item[at])), _maybe(rows.value[at]), _maybe(rows.place[at]),
            _maybe(rows.time[at]), result, -1, self.files[line >> LINE], line & ((1 << LINE) - 1)
        ), None if call == NONE else str(call) if self.numbered else self.calls[call]

    def forgets(self) -> int | None:
        """Forget names that no holder has, where there are many of them. If items were among them,
        the least one that was not."""
        for column, named in (("process", self.processes), ("call", self.calls)):
            if named.is_full:
                named.forgets(self._held(column))
        if self.items is None or not self.items.is_full:
            return None
        self.items.forgets(self._held("item"))
        return self.items.least

    def _held(self, column: str) -> Numbers:
        import numpy as np

        return np.concatenate([np.zeros(0, np.int64), *(
            holder.in_use(column) for holder in self.holders)])

    def needing(self, name: str) -> Sequence[int]:
        """The numbers of the meanings that need a field."""
        return [at for at, (operation, *_) in enumerate(self.meanings)
                if name in self.logs.operations[operation].needs]


def _maybe(number: Any) -> int | None:
    return None if number == NONE else int(number)


def rows_of_batch(reading: Reading, batch: pa.RecordBatch, first: int, names: Names) -> Rows:
    """The events of a batch, of which the first row is the line ``first``; those to be ignored are
    left out, and counted. Raises ``Unfit``, and ``InputError`` as ``Reading`` does."""
    found = read_batch(reading, batch, first, names).rows
    whole = found.said != NONE
    return found if whole.all() else found.at(whole)


class Read(NamedTuple):
    """The rows of a batch, beginnings that say nothing among them; the ``kind`` of each, and by
    kind an event like them."""

    rows: Rows
    kind: Numbers
    events: Sequence[Event | None]


def read_batch(reading: Reading, batch: pa.RecordBatch, first: int, names: Names, file: int = 0
               ) -> Read:
    """See ``rows_of_batch``; ``file`` is the number of the file."""
    import numpy as np

    of, size, constants = fields_of(reading, batch, first, names), batch.num_rows, (
        reading.mapped.constants)

    def coded(name: str, numbers: Any) -> Numbers:
        if name in of.plan:
            return coded_by(batch.column(of.plan[name]), numbers)
        return constant(numbers([constants.get(name)])[0], size)

    item = items_of(batch.column(of.plan["item"]), names) if of.item is None else of.item
    call = (_whole_calls(batch.column(of.plan["call"])) if names.numbered and "call" in of.plan
            else None)
    lines = np.arange(first, first + size)
    found = Rows(
        coded("key", names.keys.numbers), of.said[of.kind],
        coded("process", names.processes.numbers),
        coded("call", names.numbers_of_calls) if call is None else call,
        item, of.value, of.place, of.time, lines | file << LINE, lines)
    kind = of.kind
    if of.absent.any():
        found, kind = found.at(~of.absent), kind[~of.absent]
    has_all(names, found.said, item=found.item, value=found.value)
    return Read(found, kind, of.events)


class Fields(NamedTuple):
    """The fields of a batch: by name the column; the ``kind`` of each row, and by kind what was
    ``said`` and an event like it, None for one to be ignored; whether each row is
    ``absent`` for that; and numbers. ``item`` is None where it has a column."""

    plan: Mapping[str, str]
    kind: Numbers
    said: Numbers
    events: Sequence[Event | None]
    absent: Any
    item: Numbers | None
    value: Numbers
    place: Numbers
    time: Numbers


def fields_of(reading: Reading, batch: pa.RecordBatch, first: int, names: Names) -> Fields:
    """The fields of a batch, of which nothing has a number of its own yet; those to be ignored are
    counted. Raises ``Unfit``, and ``InputError`` as ``Reading`` does."""
    import numpy as np

    plan = planned(reading, batch, written=True)
    if plan is None:
        raise Unfit
    kind, said, events = _said(reading, batch, plan, first, names)

    def numbers(name: str, times: int = 1) -> Numbers:
        if name in plan:
            most = {"most": WIDE} if name == "value" and names.logs.has_wide_values else {}
            return whole_numbers(batch.column(plan[name]), times, **most)
        given = reading.mapped.constants.get(name)
        if given is not None and type(given) is not int:
            raise Unfit
        return constant(NONE if given is None else given * times, batch.num_rows)

    time = (times_of(batch.column(plan["time"]), reading.mapped.unit) if "time" in plan else
            numbers("time", NANOSECONDS[reading.mapped.unit]))
    _clocks_agree(reading, time)
    absent = np.array([event is None for event in events], bool)[kind]
    reading.ignored += int(absent.sum())
    return Fields(plan, kind, said, events, absent, None if "item" in plan else numbers("item"),
                  numbers("value"), numbers("place"), time)


def _whole_calls(column: Any) -> Numbers | None:
    """The identities of calls as they are, where they are whole numbers: of those that are
    numbered, no names are kept."""
    import pyarrow as pa

    return whole_numbers(column) if pa.types.is_integer(column.type) else None


def _clocks_agree(reading: Reading, time: Numbers) -> None:
    """Raise ``Unfit`` where times need a look at each."""
    known = time[:1] if _is_constant(time) else time
    known = known[known != NONE]
    if len(known):
        least, greatest = int(known.min()), int(known.max())
        absent = 0 if _is_constant(time) else len(time) - len(known)
        if not clocks_agree(reading, absent, least, greatest):
            raise Unfit
    elif reading.mapped.order == "time" and len(time):
        raise Unfit


def has_all(names: Names, said: Numbers, **fields: Numbers) -> None:
    """Raise ``Unfit`` where a row lacks a field that its operation needs."""
    import numpy as np

    for name, column in fields.items():
        needing = names.needing(name)
        if needing and bool((np.isin(said, needing) & (column == NONE)).any()):
            raise Unfit


def _said(reading: Reading, batch: pa.RecordBatch, plan: Mapping[str, str], first: int,
          names: Names) -> tuple[Numbers, Numbers, Sequence[Event | None]]:
    """The kind of each row; by kind, its meaning, and an event like it, None for one that is to be
    ignored."""
    import numpy as np

    code = np.zeros(batch.num_rows, np.int64)
    for name in ("operation", "phase", "result"):
        if name in plan:
            indices, values = _encoded(batch.column(plan[name]))
            if len(values) > 1_000:
                raise Unfit
            code = code * (len(values) + 1) + indices + 1
    kinds, at, which = numbered_kinds(code)
    meant = np.empty(len(kinds), np.int64)
    events: list[Event | None] = []
    for number, row in enumerate(at.tolist()):
        given = {name: batch.column(name)[row].as_py() for name in batch.schema.names}
        understood = reading.understood(given, first + row)
        event = None if understood is None else understood[0]
        events.append(event)
        meant[number] = NONE if event is None else names.said(
            (event.operation, event.phase, event.result))
    return which, meant, events


def numbered_kinds(code: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """The values of a column, in their order; where each is first; and the number of each row's."""
    import numpy as np

    most = int(code.max(initial=0))
    if most >= len(code):
        return np.unique(code, return_index=True, return_inverse=True)
    first = np.full(most + 1, -1)
    first[code[::-1]] = np.arange(len(code) - 1, -1, -1)
    kinds = np.flatnonzero(first >= 0)
    number = np.zeros(most + 1, np.int64)
    number[kinds] = np.arange(len(kinds))
    return kinds, first[kinds], number[code]


def _encoded(column: Any) -> tuple[Numbers, list[Any]]:
    """The values of a column, and the place among them of each row's; -1 for no value."""
    indices, values = _dictionary(column)
    return indices, values.tolist()


def _dictionary(column: Any) -> tuple[Numbers, Any]:
    """See ``_encoded``; the values as an array."""
    import numpy as np
    import pyarrow as pa

    coded = column
    if pa.types.is_dictionary(column.type) and len(column.dictionary) > len(column):
        coded = column.dictionary_decode()      # the values of a larger part of the file
    if not pa.types.is_dictionary(coded.type):
        coded = coded.dictionary_encode()
    indices, values = coded.indices, coded.dictionary
    if values.null_count:
        raise Unfit
    found = numbers_in(indices).astype(np.int64)
    if indices.null_count:
        found[absent_in(indices)] = -1
    return found, values_in(values)


def items_of(column: Any, names: Names) -> Numbers:
    """A column of items: whole numbers that fit as they are, and others by their ``Items``."""
    import numpy as np
    import pyarrow as pa
    from pyarrow import compute

    if column.null_count == len(column):
        return constant(NONE, len(column))
    are_numbers = pa.types.is_integer(column.type)
    if are_numbers:
        ends = compute.min_max(column).as_py()
        if ends["min"] >= 0 and ends["max"] < ITEM_MAX and names.plain_items():
            return whole_numbers(column)
    indices, values = _dictionary(column)
    return np.append(names.numbers_of_items(values, not are_numbers), NONE)[indices]


def coded_by(column: Any, of: Any) -> Numbers:
    """The numbers of names, which are in a column; ``of`` gives those of some names."""
    import numpy as np

    indices, values = _encoded(column)
    table = [*of(values), *(of([None]) if column.null_count else ())]
    return np.array(table or [0], np.int64)[indices]
