"""Logs that are cut in time on Spark: tasks send what they read does to each key, and no event.

The tasks run here, one after the other, in the place of Spark.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from test_logs_columns import KINDS, named, rows, told, written
from test_spark_columns import added, batched, blocks_of, same

from checkvalve.conformance.columns import cut, run
from checkvalve.conformance.engines import log_cut
from checkvalve.conformance.engines.log_columns import UNFIT, labels_of
from checkvalve.conformance.engines.log_cut import (
    REFUSED, Composed, JudgedAgain, Pieces, ReadAgain, Refusal, lines_again,
)
from checkvalve.conformance.engines.log_parts import LINE, Files, logs_of
from checkvalve.conformance.logs.kinds import Terms
from checkvalve.conformance.logs.mapping import Mapped, plain
from checkvalve.conformance.logs.readers import Log
from checkvalve.conformance.logs.run import judge_files as by_events
from checkvalve.conformance.logs.run import terms_of


def in_pieces(path: Path, suite: str, mapped: Mapped, terms: Terms, random: Random
              ) -> list[dict[str, Any]]:
    """The rows of all tasks: each block is read by one, and one composes each part."""
    blocks = list(blocks_of(path, random))
    starts = [block.column(LINE)[0].as_py() for block in blocks]
    is_text = path.suffix != ".parquet"
    files = Files({str(path): str(path)},
                  {str(path): {start: start + 1 for start in starts}} if is_text else {},
                  {str(path): path.read_text().splitlines()[0].split(",")} if is_text else {})
    labels = labels_of(random.choice([1, 2, 5]))
    about = (suite, mapped, files, labels, path.suffix if is_text else "")

    def sent(task: Any) -> list[dict[str, Any]]:
        return [row for block in blocks
                for made in task.of(iter(block.to_batches(max_chunksize=random.randrange(10, 60))))
                for row in made.to_pylist()]

    def judged(task: Any, read: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [row for label in labels for batch in task.of(
            batched([row for row in read if row["part"] == label], random))
            for row in batch.to_pylist()]

    found = judged(Composed(suite, terms, files, 100), sent(Pieces(*about, terms=terms)))
    refusals = [Refusal.read(row["event"]) for row in found if row["key"] == REFUSED]
    found = [row for row in found if row["key"] != REFUSED]
    if refusals:
        spans = lines_again(refusals)
        if not is_text:     # as Spark does, of the pieces that are read again alone
            blocks = [block.filter([any(start <= line < stop for start, stop in spans)
                                    for line in block.column(LINE).to_pylist()])
                      for block in blocks]
        found += judged(JudgedAgain(suite, terms, files, refusals),
                        sent(ReadAgain(*about, refusals=refusals)))
    return found


@pytest.mark.parametrize("kind", ["rate", "marks"])
def test_pieces_have_the_rows_of_the_whole_log(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Findings with their histories, and counts, whatever the pieces, parts and formats."""
    suite, settings, _ = KINDS[kind]
    monkeypatch.setattr(run, "LEAST", 0)
    violated = 0
    for seed in range(1000, 1006):
        random = Random(seed)
        monkeypatch.setattr(log_cut, "CHUNK", random.choice([7, 40, 1 << 18]))
        monkeypatch.setattr(log_cut, "_OF_KEY", random.choice([0, 0, 5]))
        monkeypatch.setattr(log_cut, "_ROWS", random.choice([7, 40, 1 << 18]))
        monkeypatch.setattr(cut, "_FIRST", random.choice([1, 4, 512]))
        some = rows(kind, seed)
        some = named(some, "texts") if seed % 2 else some
        path = written(tmp_path / f"{seed}{random.choice(['.parquet', '.jsonl', '.csv'])}", some)
        mapped = replace(plain(), order="file")
        terms, logs = terms_of(mapped, settings, False, 1_000_000), logs_of(suite)
        found = added(in_pieces(path, suite, mapped, terms, random))
        assert not any(UNFIT in row for row in found)
        whole = by_events([Log(path, mapped, list(logs.operations))], logs, terms, keeps=True)
        assert list(map(same, found)) == list(map(same, told(whole))), seed
        violated += sum(whole.notes.violations.values())
    assert violated


def test_a_log_that_cannot_be_cut_is_refused_by_all_parts(tmp_path: Path) -> None:
    """Its machines need what all pieces before know: it is judged by whole columns."""
    path = written(tmp_path / "log.parquet", rows("lane", 3))
    found = in_pieces(path, "storm.topology", plain(), Terms(), Random(1))
    assert {row["key"] for row in found} == {UNFIT}
