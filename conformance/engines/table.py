"""Rows as a table: one schema for Arrow, Parquet and Spark, derived from CaseRow.

Both engines write through it, so that a table that Spark has written and one that was
written here differ in nothing but the order of their rows, and reading sorts them by key.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from dataclasses import asdict, fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, get_type_hints

from checkvalve.spec.notation.errors import InputError

from ..suites.results import KEY, CaseRow, sort_rows
from .seal import METADATA, seal_of, seal_of_file, seal_of_folder

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "KEY", "arrow_schema", "read_rows", "rows_of", "sort_rows", "spark_schema", "table_of",
    "write_rows",
]

@cache
def _columns() -> dict[str, type]:
    hints = get_type_hints(CaseRow)
    return {field.name: hints[field.name] for field in fields(CaseRow)}


def arrow_schema() -> pa.Schema:
    """The columns in Arrow's words: texts are strings, whole numbers have 64 bits."""
    import pyarrow as pa

    kinds = {str: pa.string(), int: pa.int64()}
    return pa.schema([(name, kinds[kind]) for name, kind in _columns().items()])


def spark_schema() -> str:
    """The same columns in Spark's words, as a DDL string."""
    kinds = {str: "string", int: "bigint"}
    return ", ".join(f"`{name}` {kinds[kind]}" for name, kind in _columns().items())


def table_of(rows: Iterable[CaseRow]) -> pa.Table:
    """``rows`` as an Arrow table, in the order given."""
    import pyarrow as pa

    return pa.Table.from_pylist([asdict(row) for row in rows], schema=arrow_schema())


def rows_of(table: pa.Table) -> list[CaseRow]:
    """The rows of an Arrow table, in the order of their key."""
    return sort_rows(CaseRow(**row) for row in table.to_pylist())


def write_rows(rows: Iterable[CaseRow], path: Path) -> None:
    """Write ``rows``, sorted by key, to one Parquet file: all of it or nothing.

    Raises InputError if it cannot be written.
    """
    import pyarrow.parquet as pq

    table = table_of(sort_rows(rows))
    seal = seal_of(rows_of(table))
    table = table.replace_schema_metadata({METADATA: seal.to_json().encode()})
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as folder:
            draft = Path(folder) / path.name
            pq.write_table(table, draft)
            os.replace(draft, path)
    except OSError as error:
        what = f"cannot write the results here: {error.strerror or error}"
        raise InputError(what, str(path), "Give the path of a file that you may write.") from error


def read_rows(path: Path) -> list[CaseRow]:
    """The rows of a Parquet file, or of the folder that Spark has written, sorted by key.

    Raises InputError if there is no such table, if it is not one of results, and if it is not
    whole: a run that was not finished, or a table that lost a part (see seal.py).
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not path.exists():
        raise InputError("there is no table of results here", str(path), _READ_ADVICE)
    try:
        seal = seal_of_folder(path) if path.is_dir() else seal_of_file(
            pq.read_schema(path).metadata, path)
        table = pq.read_table(path, columns=arrow_schema().names)
        rows = rows_of(table.cast(arrow_schema()))
    except (OSError, pa.ArrowException) as error:
        first = str(error).partition("\n")[0].rstrip(".")
        what = f"this is not a table of results: {first}"
        raise InputError(what, str(path), _READ_ADVICE) from error
    seal.compare(rows, str(path))
    return rows


_READ_ADVICE = "Give a Parquet file or folder that a run of a suite wrote."
