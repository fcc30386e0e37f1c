"""The seal of a table: which cases its run was to do, written when all of them are there.

A folder of Parquet files that lost one still reads as a table, and so does what a run left
behind that was killed. So a table carries its plan, the number of cases and a digest of their
keys, and a reader compares. In one file the plan stands in the Parquet metadata; in a
folder that Spark wrote it is a folder ``_plan`` of its own, which readers of the rows pass over.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from checkvalve.spec.notation.errors import InputError

from ..suites.results import Case, CaseRow

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["METADATA", "Seal", "seal_folder", "seal_of", "seal_of_file", "seal_of_folder"]

METADATA = b"checkvalve.plan"
FOLDER = "_plan"
_AGAIN = "Run it again, to another path."


@dataclass(frozen=True)
class Seal:
    """The number of cases that a run was to do, and a digest of their numbers and seeds."""

    cases: int
    digest: str

    def to_json(self) -> str:
        """One line of JSON."""
        return json.dumps(asdict(self))

    def compare(self, rows: Iterable[CaseRow], where: str) -> None:
        """Raise ``InputError`` unless these are the rows of the cases, each once."""
        found = seal_of(rows)
        if found.cases != self.cases:
            raise InputError(
                f"this table has {found.cases} of the {self.cases} rows of its run", where,
                f"A part of it was lost, or came in twice. {_AGAIN}")
        if found.digest != self.digest:
            raise InputError("this table has rows of other cases than those of its run", where,
                             _AGAIN)


def seal_of(cases: Iterable[Case] | Iterable[CaseRow]) -> Seal:
    """The seal of some cases, or of the rows that they gave, in any order."""
    keys = sorted(
        (each.index, each.seed) if isinstance(each, Case) else (each.case, each.seed)
        for each in cases)
    digest = hashlib.sha256(json.dumps(keys).encode()).hexdigest()[:16]
    return Seal(len(keys), digest)


def seal_folder(session: SparkSession, cases: Iterable[Case], out: str) -> None:
    """Have the cluster write the seal beside the rows at ``out``, which are all there."""
    seal = seal_of(cases)
    frame = session.createDataFrame([(seal.cases, seal.digest)], "cases bigint, digest string")
    frame.coalesce(1).write.mode("error").json(f"{out.rstrip('/')}/{FOLDER}")


def seal_of_folder(path: Path) -> Seal:
    """The seal of a folder of rows. Raises ``InputError`` where the run was not finished."""
    parts = sorted((path / FOLDER).glob("part-*.json"))
    if not parts or not (path / "_SUCCESS").exists():
        lacks = "_SUCCESS" if parts else "plan"
        raise InputError(
            f"this is the table of a run that was not finished: it has no {lacks}",
            str(path), _AGAIN)
    return _seal("".join(part.read_text(encoding="utf-8") for part in parts), path)


def seal_of_file(metadata: dict[bytes, bytes] | None, path: Path) -> Seal:
    """The seal in a file's metadata. Raises ``InputError`` where it has none."""
    text = (metadata or {}).get(METADATA)
    if text is None:
        raise InputError(
            "this file has no plan: it is a part of a table, or not one of results", str(path),
            "Give the whole folder that the run wrote, or the file of a local run.")
    return _seal(text.decode(errors="replace"), path)


def _seal(text: str, path: Path) -> Seal:
    try:
        told = json.loads(text)
        return Seal(int(told["cases"]), str(told["digest"]))
    except (ValueError, LookupError, TypeError):
        raise InputError("the plan of this table cannot be read", str(path), _AGAIN) from None
