"""Random logs, judged in whole columns and event by event: the answers, to be compared."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from checkvalve.conformance.columns import run
from checkvalve.conformance.columns.named import Named
from checkvalve.conformance.engines.log_parts import logs_of
from checkvalve.conformance.logs.kinds import Logs, Terms
from checkvalve.conformance.logs.mapping import plain
from checkvalve.conformance.logs.readers import Log
from checkvalve.conformance.logs.rows import counts_of, rows_of
from checkvalve.conformance.logs.run import Judged, terms_of
from checkvalve.conformance.logs.run import judge_files as by_events

Row = dict[str, Any]

_STATE = re.compile(r"'allowed': .*?, 'needed'")
_CHUNKS = (1 << 18, 100, 60, 25)
_FIELDS = ("key", "process", "operation", "phase", "result", "item", "value", "time")


def told(judged: Judged) -> list[str]:
    """All rows of an answer, but for the state: its places may have other numbers."""
    return sorted(_STATE.sub("", str(row)) for row in [*rows_of(judged.notes), *counts_of(judged)])


class InColumns:
    """Judges logs in whole columns where that can be; ``were_whole`` says if the last one was."""

    were_whole = False

    def __call__(self, files: Sequence[Log], logs: Logs, terms: Terms, keeps: bool) -> Judged:
        of_whole = run.judged_whole

        def looks(*given: Any) -> Any:
            counted = of_whole(*given)
            self.were_whole = counted is not None
            return counted

        self.were_whole = False
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(run, "judged_whole", looks)
            return run.judge_files(files, logs, terms, keeps=keeps)


def written(path: Path, some: list[Row]) -> Path:
    """A log as a table; its items are numbers or texts."""
    kinds = dict.fromkeys(("value", "time"), pa.int64())
    if all(not isinstance(row.get("item"), str) for row in some):
        kinds["item"] = pa.int64()
    columns = {name: [row.get(name) for row in some] for name in _FIELDS}
    parquet.write_table(pa.table({
        name: pa.array(values, kinds.get(name)) for name, values in columns.items()}), path)
    return path


def in_chunks(monkeypatch: pytest.MonkeyPatch, size: int, *modules: Any) -> None:
    """Have logs read in chunks of a size; after each, all names are forgotten that are in no
    use."""
    for module in (run, *modules):
        monkeypatch.setattr(module, "CHUNK", size)
    monkeypatch.setattr(Named, "is_full", True)


def agreed(suite: str, some: list[Row], settings: Mapping[str, int], seed: int, path: Path,
           monkeypatch: pytest.MonkeyPatch, drained: bool = False) -> list[str]:
    """The rows of a log in columns, which are those of it event by event. The seed says how large
    chunks are, and if items are texts."""
    logs = logs_of(suite)
    if seed % 3 == 1:
        some = [row if row.get("item") is None else {**row, "item": f"i{row['item']}"}
                for row in some]
    in_chunks(monkeypatch, _CHUNKS[seed % len(_CHUNKS)])
    terms = terms_of(plain(), settings, drained, 1_000_000)
    written(path, some)
    one, two = ([Log(path, plain(), list(logs.operations))] for _ in range(2))
    judge = InColumns()
    columns = told(judge(one, logs, terms, keeps=True))
    assert judge.were_whole
    assert columns == told(by_events(two, logs, terms, keeps=True)), seed
    return columns
