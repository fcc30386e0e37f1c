"""Logs in whole columns on Spark: parts are judged as the whole log is on one machine.

The tasks run here, one after the other, in the place of Spark: it brings the rows of a part
together, and sorts them by their places.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from checkvalve.conformance.columns import run
from checkvalve.conformance.engines import log_columns
from checkvalve.conformance.engines.log_columns import (
    UNFIT, ColumnVerdicts, Numbered, Packs, labels_of,
)
from checkvalve.conformance.engines.log_parts import FILE, LINE, Files, logs_of
from checkvalve.conformance.logs.kinds import Logs, Terms
from checkvalve.conformance.logs.mapping import Mapped, plain
from checkvalve.conformance.logs.notes import Notes
from checkvalve.conformance.logs.readers import Log
from checkvalve.conformance.logs.run import judge_files as by_events
from checkvalve.conformance.logs.run import terms_of
from logs_both_ways import in_chunks
from test_logs_columns import KINDS, named, rows, timed, told, written

_HISTORY = re.compile(r"'history': .*?, 'before':")
_NUMBERS = re.compile(r"'times': (\d+)")


def blocks_of(path: Path, random: Random) -> Iterator[pa.Table]:
    """The rows of a file as Spark reads them: in blocks of it, each one table."""
    if path.suffix == ".parquet":
        table = parquet.read_table(path)
        table = table.append_column(LINE, pa.array(range(1, 1 + len(table)), pa.int64()))
    else:
        lines = path.read_bytes().splitlines()
        table = pa.table({"value": pa.array(lines, pa.binary())})
    table = table.append_column(FILE, pa.array([str(path)] * len(table)))
    size = random.randrange(20, 200)
    for start in range(0, len(table), size):
        block = table.slice(start, size)
        yield block if path.suffix == ".parquet" else block.append_column(
            LINE, pa.array([start] * len(block), pa.int64()))


def in_parts(paths: list[Path], suite: str, mapped: Mapped, terms: Terms, random: Random
             ) -> list[dict[str, Any]]:
    """The rows of all tasks: a task of its own reads each block, and one judges each part."""
    read = {path: list(blocks_of(path, random)) for path in paths}
    files = Files({str(path): str(path) for path in paths},
                  {str(path): {(start := block.column(LINE)[0].as_py()): start + 1
                               for block in blocks}
                   for path, blocks in read.items() if path.suffix != ".parquet"},
                  {str(path): path.read_text().splitlines()[0].split(",") for path in paths
                   if path.suffix == ".csv"})
    labels = labels_of(random.choice([1, 2, 5]))
    sent = [row for path, blocks in read.items() for block in blocks for made in Packs(
        suite, mapped, files, labels, path.suffix.replace(".parquet", "")).of(
            iter(block.to_batches(max_chunksize=random.randrange(10, 60))))
        for row in made.to_pylist()]
    by_time = mapped.order == "time"
    found: list[dict[str, Any]] = []
    for label in labels:
        part = [row for row in sent if row["part"] == label]
        if by_time:
            part = [row for batch in Numbered(suite, files).of(batched(part, random))
                    for row in batch.to_pylist()]
        for batch in ColumnVerdicts(suite, terms, files, by_time).of(batched(part, random)):
            found += batch.to_pylist()
    return found


def batched(part: list[dict[str, Any]], random: Random) -> Iterator[pa.RecordBatch]:
    """Rows of a part in their order, in batches; those of one place come in any order."""
    random.shuffle(part)
    part.sort(key=lambda row: row["at"])
    for at in range(0, len(part), 3):
        yield log_columns.batch_of(tuple(row.values()) for row in part[at:at + 3])


def added(found: list[dict[str, Any]]) -> list[str]:
    """The rows of all parts, their counts added up, as one engine has them."""
    counts = Counter[str]()
    for row in found:
        if row["found"] == "count":
            counts[str({**row, "times": 0})] += row["times"]
    rows_ = [str(row) for row in found if row["found"] != "count"]
    return sorted([*rows_, *(row.replace("'times': 0", f"'times': {times}")
                             for row, times in counts.items())])


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_columns, "_OF_PART", 40)
    monkeypatch.setattr(log_columns, "_LEAST", 40)


def same(row: str) -> str:
    """A row without what may differ: why a rule is not shown is said by each part, and an item of
    a queue that ended long before is forgotten at other moments."""
    return _HISTORY.sub("", _NUMBERS.sub("", row) if "not shown" in row else row)


@pytest.mark.parametrize("order", ["file", "time"])
@pytest.mark.parametrize("kind", KINDS)
def test_parts_have_the_rows_of_the_whole_log(
    kind: str, order: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Findings and counts, whatever the parts, blocks, batches and formats; of one file in its own
    order, and of files in that of their clocks, with any tolerance. What cannot be judged so is
    what cannot be on one machine."""
    suite, settings, _ = KINDS[kind]
    monkeypatch.setattr(run, "LEAST", 0)
    violated = 0
    for seed in range(4):
        random = Random(seed)
        tolerance = random.choice([0, 7, 60])
        in_chunks(monkeypatch, [1 << 18, 100][seed % 2], log_columns)
        some = rows(kind, seed)
        some = named(some, "texts") if seed % 2 else some
        files = timed(some, random, tolerance // 2) if order == "time" else [some]
        mapped = replace(plain(), order=order, tolerance=tolerance)
        ending = random.choice([".parquet", ".jsonl", ".csv"])
        paths = [written(tmp_path / f"{seed}-{at}{ending}", file)
                 for at, file in enumerate(files)]
        terms, logs = terms_of(mapped, settings, False, 1_000_000), logs_of(suite)
        found = added(in_parts(paths, suite, mapped, terms, random))

        def log(paths: list[Path] = paths, mapped: Mapped = mapped, logs: Logs = logs
                ) -> list[Log]:
            return [Log(path, mapped, list(logs.operations)) for path in paths]

        if any(UNFIT in row for row in found):
            assert run.judged_whole(log(), logs, terms, Notes(), lambda at: None) is None
            continue
        whole = told(by_events(log(), logs, terms, keeps=True))
        assert list(map(same, found)) == list(map(same, whole)), seed
        violated += sum("'violated'" in row for row in found)
    assert violated


def test_a_log_that_one_task_cannot_take_is_refused_by_all(tmp_path: Path) -> None:
    """A row that needs a closer look in one block is reported to every part, before its events."""
    some = rows("lane", 3)
    some[-1] = {**some[-1], "operation": "none of these"}
    path = written(tmp_path / "log.parquet", some)
    found = in_parts([path], "storm.topology", plain(), Terms(), Random(1))
    assert {row["key"] for row in found} == {UNFIT}


@pytest.mark.parametrize("partitions", [1, 4, 200])
def test_each_label_is_of_another_partition(partitions: int) -> None:
    """So that each task gets one part."""
    assert len(set(labels_of(partitions))) == partitions
