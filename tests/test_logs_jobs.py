"""Logs judged in several processes: by pieces of time, or by keys, the answer is that of one."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet
from test_logs_columns import KINDS, rows, written
from test_spark_columns import in_parts

from checkvalve.conformance.columns import run
from checkvalve.conformance.engines import log_jobs
from checkvalve.conformance.engines.local import process_pool
from checkvalve.conformance.engines.log_jobs import Job, judge_in_jobs
from checkvalve.conformance.logs.answer import outcome_of
from checkvalve.conformance.logs.mapping import plain
from checkvalve.conformance.logs.rows import rows_of
from checkvalve.conformance.logs.run import Judged, terms_of
from checkvalve.conformance.logs.run import judge_files as by_events
from checkvalve.spec.verdicts.deadline import Deadline, OutOfMemory, Spent
from checkvalve.spec.verdicts.memory import limited_to


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


def queue_of(path: Path, items: int, terms: Any = None, deadline: Deadline | None = None) -> Job:
    """The log of as many queues as items, each of which is put and taken."""
    parquet.write_table(pa.table({
        "key": [f"the queue with a long name and the number {each // 4}"
                for each in range(4 * items)],
        "operation": ["put", "put", "take", "take"] * items, "phase": ["begin", "end"] * 2 * items,
        "process": ["p", "p", "c", "c"] * items,
        "item": [None if each % 4 == 2 else each // 4 for each in range(4 * items)],
        "result": ["ok"] * 4 * items}), path)
    return Job("queue", terms or terms_of(plain(), {"capacity": 4}, False, 1_000), (path,), plain(),
               deadline or Deadline())


@pytest.mark.parametrize("budget", ["time", "memory"])
def test_each_process_keeps_to_the_budgets(
    budget: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In real processes: one that has spent its time or memory ends all of them, and the answer is
    unknown, with what was spent. None of them is left."""
    monkeypatch.setattr(log_jobs, "process_pool", process_pool)
    before = set(multiprocessing.active_children())
    is_time = budget == "time"
    job = queue_of(tmp_path / "log.parquet", 3_000 if is_time else 100_000,
                   deadline=Deadline(0 if is_time else None))
    with limited_to(None if is_time else 480 << 20):
        found = judge_in_jobs(job, 2)
    assert f"the budget of {budget} was spent" in found.spent
    assert outcome_of(found, job.logs) == "unknown"
    assert found.events < 400_000
    assert set(multiprocessing.active_children()) == before


@pytest.mark.parametrize("kind", ["rate", "queue"])
def test_a_process_that_reads_pieces_keeps_to_the_budgets(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it has spent its memory, no piece after that is judged, and the answer is unknown."""
    path = written(tmp_path / "log.parquet", rows(kind, 1))
    settings = KINDS[kind][1] if kind == "rate" else {"order": 0}
    job = Job(KINDS[kind][0], terms_of(plain(), settings, False, 1_000), (path,), plain())

    def check(self: Job, phase: str) -> None:
        if phase != "row 0 of the log was judged":
            raise OutOfMemory(phase)

    monkeypatch.setattr(Job, "check", check)
    monkeypatch.setattr(log_jobs, "_ROWS", 100)
    found = judge_in_jobs(job, 2)
    assert found.spent.startswith("the budget of memory was spent while row ")
    assert outcome_of(found, job.logs) in ("unknown", "violated")


def test_all_processes_end_when_one_has_spent_its_budget(tmp_path: Path) -> None:
    """The file that says so ends each at its next look."""
    job = replace(queue_of(tmp_path / "log.parquet", 10), stop=tmp_path / "stop")
    job.check("nothing")
    log_jobs._stop(job)
    with pytest.raises(Spent):
        job.check("nothing")
    assert log_jobs._share(job, 0, 2)[1]    # type: ignore[index]


def test_a_process_that_the_system_ends_makes_the_answer_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has most likely taken too much memory, which is no fault of the log."""
    def ended(*_: object) -> None:
        raise BrokenProcessPool

    monkeypatch.setattr(log_jobs, "_share", ended)
    job = queue_of(tmp_path / "log.parquet", 10)
    found = judge_in_jobs(job, 2)
    assert "was ended" in found.spent
    assert outcome_of(found, job.logs) == "unknown"


@pytest.mark.parametrize("seed", range(3))
def test_a_key_that_is_a_number_in_one_file_and_a_text_in_another_is_one_key(
    seed: int, tmp_path: Path
) -> None:
    """Event by event, in whole columns, in several processes, and in the tasks of a cluster: what
    is put in one file is taken in the other."""
    random = Random(seed)
    paths = [tmp_path / "numbers.parquet", tmp_path / "texts.parquet"]
    keys = [random.randrange(3) for _ in range(60)]
    for file, (path, kind) in enumerate(zip(paths, (int, str), strict=True)):
        parquet.write_table(pa.table({
            "key": [kind(each) for each in keys for _ in range(2)],
            "process": [kind(9)] * 120, "operation": [["put", "take"][file]] * 120,
            "phase": ["begin", "end"] * 60, "item": [each // 2 for each in range(120)],
            "result": ["ok"] * 120,
            "time": [10 ** 9 + 4 * (each // 2) + 2 * file + each % 2 for each in range(120)],
        }), path)
    mapped = replace(plain(), order="time")
    terms = terms_of(mapped, {"capacity": 2}, False, 1_000)
    job = Job("queue", terms, tuple(paths), mapped)
    events = by_events(job.files(), job.logs, terms, keeps=True)
    assert events.keys == 3
    assert not events.notes.findings
    assert said(judge_in_jobs(job, 1)) == said(judge_in_jobs(job, 2)) == said(events)
    parts = in_parts(paths, "queue", mapped, terms, random)
    assert {row["found"] for row in parts} == {"count"}
    assert sum(row["times"] for row in parts if row["key"] == "keys") == 3
