"""The folder of a campaign: its plan, the rows that are there, and the cases that were set apart.

``plan.json`` says what the rows are of; ``rows/unit=ID/`` has Parquet files, each written whole;
``apart.json`` names the cases that ended each process that ran them. A case is done if its row is
there, so what was cut off at any moment continues with the cases that are missing.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Final

from checkvalve.spec.notation.errors import InputError

from ..campaigns.case import case_at
from ..computer.files import write_whole
from ..engines.table import arrow_schema, table_of
from ..suites.results import CaseRow
from .config import Campaign, Unit

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Store"]

_PLAN: Final = "plan.json"
_APART: Final = "apart.json"
_VERSION: Final = 1


class Store:
    """The folder of one campaign."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def rows(self) -> Path:
        """The folder of the rows: one below it for each unit."""
        return self.folder / "rows"

    def begin(self, campaign: Campaign) -> None:
        """Make the folder, or continue in it. Raises InputError if it has another campaign."""
        units = {unit.id: unit.to_json() for unit in campaign.units}
        plan = {"checkvalve": _VERSION, "units": units}
        path = self.folder / _PLAN
        there = self._read(path)
        if there is None:
            self._must_be_new()
            write_whole(path, json.dumps(plan, indent=1) + "\n")
        elif there != plan:
            raise InputError("this folder has another campaign, or one of another edition of its "
                             "suites", str(path), "Give another folder, or remove this one.")

    def _must_be_new(self) -> None:
        if self.folder.is_dir() and any(self.folder.iterdir()):
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

    def files(self, unit: Unit) -> list[Path]:
        """The files with rows of a unit; what is being written begins with a dot or a dash below.
        """
        return sorted(each for each in (self.rows / f"unit={unit.id}").glob("*.parquet")
                      if not each.name.startswith((".", "_")))

    def write(self, unit: Unit, rows: Iterable[CaseRow]) -> None:
        """Add a file with rows of a unit, whole or not at all."""
        import pyarrow.parquet as pq

        folder = self.rows / f"unit={unit.id}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            path = next(path for number in count(len(self.files(unit)))
                        if not (path := folder / f"lot-{number:06}.parquet").exists())
            half = path.with_name(f".{path.name}.half")
            pq.write_table(table_of(rows), half)
            with half.open("rb") as file:
                os.fsync(file.fileno())
            os.replace(half, path)
        except OSError as error:
            raise InputError(f"the rows cannot be written: {error.strerror or error}", str(folder),
                             "Make room there, and run it again: it continues.") from error

    def read(
        self, unit: Unit, columns: Sequence[str] | None = None
    ) -> Iterator[pa.RecordBatch]:
        """All rows of a unit, a few thousand at a time, in the order of the files."""
        import pyarrow.parquet as pq

        for file in self.files(unit):
            with _explained(file):
                yield from pq.ParquetFile(file).iter_batches(
                    2048, columns=list(columns or arrow_schema().names))

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
        write_whole(self.folder / _APART, json.dumps(apart, indent=1) + "\n")

    def _read(self, path: Path) -> dict[str, dict[str, str]] | None:
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise InputError(f"this is not the file of a campaign: {error}", str(path),
                             "Give another folder, or remove this one.") from error
        return found if isinstance(found, dict) else {}


def _column(file: Path, name: str) -> list[int]:
    import pyarrow.parquet as pq

    with _explained(file):
        found: list[int] = pq.read_table(file, columns=[name], partitioning=None)[name].to_pylist()
        return found


class _explained:
    """Turns what the reader raises about a file into one message."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        import pyarrow as pa

        if isinstance(error, (OSError, pa.ArrowException, KeyError)):
            first = str(error).partition("\n")[0].rstrip(".")
            raise InputError(f"these are not rows of a campaign: {first}", str(self._file),
                             "Remove the file, and run it again: its cases are run anew."
                             ) from error
