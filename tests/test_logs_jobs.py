"""Logs judged in several processes: by pieces of time, or by keys, the answer is that of one."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from test_logs_columns import KINDS, rows, written

from checkvalve.conformance.columns import run
from checkvalve.conformance.engines import log_jobs
from checkvalve.conformance.engines.log_jobs import Job, judge_in_jobs
from checkvalve.conformance.logs.mapping import plain
from checkvalve.conformance.logs.rows import rows_of
from checkvalve.conformance.logs.run import Judged, terms_of


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """However short a log is, it is cut; and threads do the work of processes."""
    monkeypatch.setattr(run, "LEAST", 0)
    monkeypatch.setattr(log_jobs, "LEAST", 0)
    monkeypatch.setattr(log_jobs, "process_pool", ThreadPoolExecutor)


def said(found: Judged) -> tuple[object, ...]:
    """All that is said of a log."""
    notes = found.notes
    return (found.events, found.keys, found.ignored, found.gaps, dict(notes.violations),
            dict(notes.exercised()), dict(notes.alike), notes.together(), notes.not_shown,
            sorted(map(str, rows_of(notes))))


@pytest.mark.parametrize("kind", ["rate", "marks", "rate by clocks", "lane", "queue"])
def test_the_answer_does_not_depend_on_the_processes(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Events, keys, counts, and each row of a finding with its history, wherever a log is cut."""
    suite, settings, _ = KINDS[kind]
    violated = 0
    for seed in range(3):
        path = written(tmp_path / f"{seed}.parquet", rows(kind, seed))
        job = Job(suite, terms_of(plain(), settings, False, 1_000), (path,), plain())
        monkeypatch.setattr(log_jobs, "_ROWS", [40, 7, 150][seed])
        one = judge_in_jobs(job, 1)
        assert said(judge_in_jobs(job, 3)) == said(one), seed
        violated += sum(one.notes.violations.values())
    assert violated


def test_pieces_of_a_log_are_read_and_not_all_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A log of limits is judged by its pieces: no process has the keys of all of it."""
    monkeypatch.setattr(log_jobs, "_by_key", None)
    path = written(tmp_path / "log.parquet", rows("rate", 1))
    job = Job("rate", terms_of(plain(), KINDS["rate"][1], False, 1_000), (path,), plain())
    assert judge_in_jobs(job, 2).keys == 6
