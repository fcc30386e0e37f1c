"""The folder of a campaign: its plan, the rows that are there, and the cases that were set apart.
It is one of this machine, or at a URL.

``plan.json`` says what the rows are of; ``rows/unit=ID/`` has Parquet files, each written whole;
``apart.json`` names the cases that ended each process that ran them. A case is done if its row is
there, so what was cut off at any moment continues with the cases that are missing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Final

from checkvalve.spec.notation.errors import InputError

from ..campaigns.case import case_at
from ..computer.storage import Place, place_at
from ..engines.table import arrow_schema, table_of
from ..suites.results import CaseRow
from .config import Campaign, Unit

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

__all__ = ["Store"]

_PLAN: Final = "plan.json"
_APART: Final = "apart.json"
_VERSION: Final = 1


_BUFFER: Final = 1 << 20
"""Bytes of a column that are read ahead. What Arrow would read ahead is a whole file."""


class Store:
    """The folder of one campaign: a path, a URL, or a place."""

    def __init__(self, folder: Path | str | Place) -> None:
        self.folder = folder if isinstance(folder, Place) else place_at(str(folder))

    @property
    def rows(self) -> Place:
        """The folder of the rows: one below it for each unit."""
        return self.folder / "rows"

    def begin(self, campaign: Campaign) -> None:
        """Make the folder, or continue in it. Raises InputError if it has another campaign."""
        units = {unit.id: unit.to_json() for unit in campaign.units}
        plan = {"checkvalve": _VERSION, "units": units}
        place = self.folder / _PLAN
        there = self._read(place)
        if there is None:
            self._must_be_new()
            place.write(_text(plan))
        elif there != plan:
            raise InputError("this folder has another campaign, or one of another edition of its "
                             "suites", str(place), "Give another folder, or remove this one.")

    def _must_be_new(self) -> None:
        if self.folder.names():
            raise InputError("there is something in this folder that is no campaign",
                             str(self.folder), "Give the path of a new folder.")

    # --- rows -----------------------------------------------------------------------------

    def missing(self, unit: Unit) -> Iterator[int]:
        """The places of the cases without rows, in order, those set apart excepted."""
        done = bytearray(unit.cases)
        for named in self.apart().get(unit.id, {}):
            done[int(named)] = 1
        for file in self.files(unit):
            for place in _column(file, "case"):
                done[place] = 1
        return (place for place in range(unit.cases) if not done[place])

    def files(self, unit: Unit) -> list[Place]:
        """The files with rows of a unit; what is being written begins with a dot or a dash below.
        """
        folder = self._rows_of(unit)
        return [folder / name for name in folder.names()
                if name.endswith(".parquet") and not name.startswith((".", "_"))]

    def _rows_of(self, unit: Unit) -> Place:
        return self.rows / f"unit={unit.id}"

    def write(self, unit: Unit, rows: Iterable[CaseRow]) -> None:
        """Add a file with rows of a unit, whole or not at all."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        folder = self._rows_of(unit)
        there = set(folder.names())
        name = next(name for number in count() if (name := f"lot-{number:06}.parquet") not in there)
        whole = pa.BufferOutputStream()
        pq.write_table(table_of(rows), whole)
        try:
            (folder / name).write(whole.getvalue().to_pybytes())
        except InputError as error:
            raise InputError(f"the rows are not written: {error.what}", str(folder),
                             "Make room there, and run it again: it continues.") from error

    def read(
        self, unit: Unit, columns: Sequence[str] | None = None
    ) -> Iterator[pa.RecordBatch]:
        """All rows of a unit, a few thousand at a time, in the order of the files."""
        wanted = list(columns or arrow_schema().names)
        for file in self.files(unit):
            with _table(file) as table:
                yield from table.iter_batches(2048, columns=wanted)

    # --- what was set apart ---------------------------------------------------------------

    def apart(self) -> Mapping[str, Mapping[str, str]]:
        """By unit, the places of cases that ended each process that ran them, and how."""
        found = self._read(self.folder / _APART)
        return found if found is not None else {}

    def set_apart(self, unit: Unit, place: int, why: str) -> None:
        """Note a case that no process survives; it is not run again."""
        apart = {name: dict(places) for name, places in self.apart().items()}
        case = asdict(case_at(unit.suite, place, unit.seed))
        apart.setdefault(unit.id, {})[str(place)] = f"seed {case['seed']}: {why}"
        (self.folder / _APART).write(_text(apart))

    def _read(self, place: Place) -> dict[str, dict[str, str]] | None:
        text = place.read()
        if text is None:
            return None
        try:
            found = json.loads(text)
        except ValueError as error:
            raise InputError(f"this is not the file of a campaign: {error}", str(place),
                             "Give another folder, or remove this one.") from error
        return found if isinstance(found, dict) else {}


def _text(document: object) -> bytes:
    return (json.dumps(document, indent=1) + "\n").encode()


def _column(file: Place, name: str) -> Iterator[int]:
    with _table(file) as table:
        for batch in table.iter_batches(columns=[name]):
            yield from batch[name].to_pylist()


@contextmanager
def _table(file: Place) -> Iterator[ParquetFile]:
    """A file of rows; what the reader says of a bad one becomes one message."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with file.opened() as opened:
            yield pq.ParquetFile(opened, pre_buffer=False, buffer_size=_BUFFER)
    except (OSError, pa.ArrowException, KeyError) as error:
        first = str(error).partition("\n")[0].rstrip(".")
        raise InputError(f"these are not rows of a campaign: {first}", str(file),
                         "Remove the file, and run it again: its cases are run anew.") from error
