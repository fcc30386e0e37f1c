"""Rows of a log as events: what each column and value means, by the mapping.

Whatever has a row can ask: the reader of a file, and a task of a cluster that has a part of one.
What cannot be understood is refused with file and line: a guess would make a verdict of it.
"""

from __future__ import annotations

from contextlib import suppress
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from ...spec.notation.labels import nearest
from .events import PHASES, RESULTS, Event, in_line
from .mapping import NANOSECONDS, Mapped, Operation

__all__ = ["Calls", "Reading", "Row", "is_jump"]

Row = Mapping[str, Any]

_JUMP: Final = 20
"""Times of one clock do not differ by such a factor, if they count from 1970 or from a start."""

_LONG_AGO: Final = 10 ** 8

_ONE_OF_PHASES: Final = "It is begin or end, or point, where one line stands for the whole act."

_MOST: Final = 20
"""Columns that a message lists."""


@dataclass
class Reading:
    """The meaning of the rows of one ``file``. ``ignored`` counts those to be ignored, ``gaps`` the
    records that the recorder dropped. ``operations`` are the suite's. ``kinds`` has the type of the
    values of a field; ``times`` are the least and the greatest one that was not 0."""

    file: str
    mapped: Mapped
    operations: Sequence[str]
    gaps: int = 0
    ignored: int = 0
    kinds: dict[tuple[str, str], type] = field(default_factory=dict)
    _first_time: int = 0
    times: tuple[int, int] = (0, 0)

    def understood(self, row: Row, line: int) -> tuple[Event, str | None] | None:
        """A row as an event of a call without a number yet, and the identity of that call if it has
        one; None for a row to be ignored. Raises ``InputError`` with file and line."""
        mapped = self.mapped
        if not _agrees(row, mapped.only):
            return None
        operation = self._operation(row, line)
        if operation is None or not _agrees(row, operation.only):
            return None

        def get(name: str, required: str = "") -> Any:
            return self._field(row, line, name, operation, required)

        phase = operation.phase or self._among(get("phase", _ONE_OF_PHASES), "phase",
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
        call = get("call")
        return Event(
            str(key), process, operation.is_, phase,
            None if item is None else self._identity(item, "item", line, operation),
            self._whole(get("value"), "value", line), self._whole(get("place"), "place", line),
            self._time(get("time"), line), result, -1, self.file, line
        ), None if call is None else str(call)

    def begins_anew(self) -> None:
        """Be as if nothing had been read."""
        self.ignored = self.gaps = self._first_time = 0
        self.times = (0, 0)
        self.kinds.clear()

    def have_one_clock(self, *times: int) -> bool:
        """True if some times may be of the clock of those before; then they are noted."""
        for time in times:
            self._first_time = self._first_time or time
            if is_jump(time, self._first_time):
                return False
            low, high = self.times
            if time and not low <= time <= high:
                self.times = (min(low or time, time), max(high, time))
        return True

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
            raise in_line(
                f"this line has no {name}", self.file, line, f"{required} It has {_listed(row)}. "
                f"Write to a file which of them it is, as in columns: {{{name}: …}}, or constants: "
                f"{{{name}: …}} where it is in none, and give that by --map FILE: docs/logs.md.")
        return value

    def _column(self, row: Row, column: str, line: int) -> Any:
        """The value of a column, or of a path of keys with dots. Raises ``InputError`` where the
        row has no such column at all."""
        if column in row:
            return row[column]
        value: Any = row
        for part in column.split("."):
            if not isinstance(value, dict):
                return None
            if part not in value:
                if value is row:
                    raise in_line(
                        f"there is no column {column!r}", self.file, line,
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
            f"the operation {str(given)[:60]!r} is not known", self.file, line,
            f"The suite has {', '.join(self.operations)}. Map it by \"operations\" in the mapping, "
            "or write \"others: ignore\".")

    def _among(self, given: Any, name: str, table: Mapping[str, str], known: Sequence[str],
               line: int) -> str:
        found = table.get(str(given), str(given))
        if found not in known:
            raise in_line(f"the {name} {str(given)[:60]!r} is not known", self.file, line,
                          f"It is one of {', '.join(known)}; map yours by \"{name}s\".")
        return found

    def _identity(self, value: Any, name: str, line: int, operation: Operation) -> str | int:
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise in_line(f"the {name} is {str(value)[:60]!r}, which is neither text nor a whole "
                          "number", self.file, line,
                          f"Map {name!r} to a column of identities.")
        own = operation.is_ if name in operation.columns else ""
        kind = self.kinds.setdefault((name, own), type(value))
        if kind is not type(value):
            raise in_line(
                f"the {name} {value!r} is {_KIND[type(value)]}, and was {_KIND[kind]} before",
                self.file, line, "One of the two is not what it seems: write it in one way.")
        return value

    def _whole(self, value: Any, name: str, line: int) -> int | None:
        if value is None:
            return None
        if type(value) is int:
            return value        # as it is: a float has 53 bits, and an id may have 64
        try:
            if isinstance(value, str):
                return int(value)
            if not isinstance(value, bool) and int(value) == float(value):
                return int(value)
        except (TypeError, ValueError, OverflowError):
            pass
        raise in_line(f"the {name} is {str(value)[:60]!r}, which is no whole number",
                      self.file, line, f"Map {name!r} to a column of whole numbers.")

    def _time(self, value: Any, line: int) -> int | None:
        """A time in nanoseconds. Raises ``InputError`` for one of another unit or clock than those
        before."""
        unit = self.mapped.unit
        if value is None:
            if self.mapped.order == "time":
                raise in_line("this line has no time", self.file, line,
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
                found = _written(value, NANOSECONDS[unit])
        except (TypeError, ValueError, OverflowError):
            raise in_line(f"the time is {str(value)[:60]!r}, which is no time in {unit}",
                          self.file, line, "Name the unit of the time in the mapping, as in "
                          "time: {unit: iso}: ns, us, ms, s or iso.") from None
        if not self.have_one_clock(found):
            raise in_line(f"the time {value} is of another unit, or of another clock, than those "
                          "before", self.file, line, "Write all times in one unit.")
        return found


_new: Final = tuple.__new__


class Calls:
    """The calls of a log, numbered: an end belongs to what its process, or the call's identity, has
    begun last. A process that begins anew has left its last call without an end."""

    def __init__(self, numbers: Iterator[int] | None = None) -> None:
        self._numbers = numbers     # without, they count themselves, and can be kept as bytes
        self._next = 0
        self._open: dict[Hashable, int] = {}

    def numbered(self, event: Event, call: str | None) -> Event:
        """The event with the number of its call; -1 where that has not begun."""
        phase = event[3]
        if phase == "point":
            return event
        name = (event[0], event[1], call)
        if phase == "end":
            number = self._open.pop(name, -1)
        else:
            number = self._next if self._numbers is None else next(self._numbers)
            self._open[name] = number
            self._next += 1
        return _new(Event, (*event[:9], number, *event[10:]))   # _replace takes five times as long


_KIND: Final = {str: "text", int: "a number"}


def _written(value: Any, unit: int) -> int:
    """A time that is written out, in nanoseconds: a float has 53 bits, and one of today needs 61.
    """
    if isinstance(value, str):
        with suppress(ValueError):
            return int(value) * unit
    return round(float(value) * unit)


def _agrees(row: Row, only: Mapping[str, Any]) -> bool:
    for column, wanted in only.items():
        value: Any = row
        for part in [column] if column in row else column.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        if value != wanted and str(value) != str(wanted):
            return False
    return True


def _listed(row: Row) -> str:
    """The columns of a row, some of very many."""
    names = [str(name) for name in row]
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    return f"the columns {', '.join(names[:_MOST])}{more}" if names else "no column"


def is_jump(one: int, other: int) -> bool:
    """True if two times cannot be of one clock and one unit."""
    low, high = sorted((abs(one), abs(other)))
    return low > _LONG_AGO and high > _JUMP * low and high - low > 10 ** 15
