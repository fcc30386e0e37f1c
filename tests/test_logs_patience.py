"""A key at which nothing happens for a stated time rests, and progress is judged by that."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner

from checkvalve.conformance.cli.judge import command
from checkvalve.conformance.engines import log_jobs
from checkvalve.conformance.engines.log_jobs import Job, judge_in_jobs
from checkvalve.conformance.engines.log_parts import KeyPart
from checkvalve.conformance.logs.mapping import plain
from checkvalve.conformance.logs.rows import rows_of
from checkvalve.conformance.logs.run import checked, judge_files, terms_of
from checkvalve.spec.notation.errors import InputError

EXECUTOR = ("--suite", "executor", "--set", "workers=2", "--set", "policy=5")
IDLE_BESIDE_A_TASK = [("a", "submits", "x", 0), ("a", "starts", "x", 1), ("a", "submits", "y", 2)]
OTHER_KEY = [("b", "submits", "z", 3), ("b", "starts", "z", 4), ("b", "finishes", "z", 60)]


def judged(path: Path, events: Sequence[tuple[str, str, str, int | None]], *more: str
           ) -> dict[str, str]:
    """The outcomes of a log, by rule; times are in seconds."""
    path.write_text("".join(json.dumps({
        "key": key, "operation": operation, "phase": "point", "item": item, "time":
        None if time is None else time * 10 ** 9}) + "\n" for key, operation, item, time in events))
    result = CliRunner().invoke(command, [str(path), *more, "--json"], standalone_mode=False)
    if result.exception is not None:
        raise result.exception
    document: dict[str, Any] = json.loads(result.stdout)
    return {each["id"]: each["outcome"] for each in document["rules"]}


@pytest.mark.parametrize(("patience", "outcome"), [
    (("--patience", "10"), "violated"), (("--patience", "58"), "violated"),
    (("--patience", "59"), "not shown"), ((), "not shown")])
def test_a_task_that_waits_beside_an_idle_worker_is_late_after_the_patience(
    tmp_path: Path, patience: Sequence[str], outcome: str,
) -> None:
    """The other key has events for 58 seconds more."""
    events = [*IDLE_BESIDE_A_TASK, *OTHER_KEY]
    assert judged(tmp_path / "log.jsonl", events, *EXECUTOR, *patience)["EXEC-3"] == outcome


def test_a_key_that_rests_with_nothing_to_do_passes(tmp_path: Path) -> None:
    """Both tasks run when nothing happens for a while."""
    events = [*IDLE_BESIDE_A_TASK, ("a", "starts", "y", 3), *OTHER_KEY]
    assert judged(tmp_path / "log.jsonl", events, *EXECUTOR, "--patience", "20"
                  )["EXEC-3"] == "passed"


def test_what_comes_before_the_patience_is_over_is_no_rest(tmp_path: Path) -> None:
    """The task starts after eight seconds, and nothing is said of it."""
    events = [*IDLE_BESIDE_A_TASK, ("a", "starts", "y", 10)]
    assert judged(tmp_path / "log.jsonl", events, *EXECUTOR, "--patience", "9"
                  )["EXEC-3"] == "not shown"
    assert judged(tmp_path / "log.jsonl", events, *EXECUTOR, "--patience", "8"
                  )["EXEC-3"] == "violated"


@pytest.mark.parametrize(("events", "more", "words"), [
    ([("a", "submits", "x", None)], EXECUTOR, "has no time"),
    ([("a", "put", "x", 1)], ("--suite", "queue"), "about rest")])
def test_patience_that_cannot_be_had_is_one_message(
    tmp_path: Path, events: Sequence[tuple[str, str, str, int | None]], more: Sequence[str],
    words: str,
) -> None:
    """With the next step."""
    with pytest.raises(InputError, match=words) as error:
        judged(tmp_path / "log.jsonl", events, *more, "--patience", "5")
    assert error.value.next_step


def log_of_many(seed: int) -> list[dict[str, Any]]:
    """Executors with workers that are sometimes late, at times in the order of the lines."""
    random, time, rows = Random(seed), 0, list[dict[str, Any]]()
    waits: dict[str, list[list[str]]] = {key: [[], []] for key in "abcdef"}
    for number in range(150):
        key, time = random.choice("aaabbcccdef"), time + random.randint(0, 3)
        queued, running = waits[key]
        if running and random.random() < 0.5:
            what = ("finishes", running.pop())
        elif queued and len(running) < 2 and random.random() < 0.7:
            what = ("starts", queued.pop(0))
            running.append(what[1])
        else:
            what = ("submits", f"{key}{number}")
            queued.append(what[1])
        rows.append({"key": key, "operation": what[0], "phase": "point", "item": what[1],
                     "time": time * 10 ** 9})
    return rows


def rows_of_one_process(job: Job) -> list[dict[str, Any]]:
    """All that is found, in the order of its words."""
    return sorted(rows_of(judge_files(job.files(), job.logs, job.terms, keeps=True).notes), key=str)


@pytest.mark.parametrize("seed", range(4))
def test_parts_of_a_log_know_the_rests_of_the_whole_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """Each process, and each task of a cluster, has only some keys, and the time of the last event
    of any; what is found is what one process finds, also at the end of the log."""
    monkeypatch.setattr(log_jobs, "LEAST", 0)
    monkeypatch.setattr(log_jobs, "process_pool", ThreadPoolExecutor)
    path, rows = tmp_path / "log.jsonl", log_of_many(seed)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    terms = terms_of(plain(), {"workers": 2, "policy": 5}, False, 1_000, patience=25 * 10 ** 9)
    job = Job("executor", terms, (path,), plain())
    one = rows_of_one_process(job)
    several = judge_in_jobs(job, 3)
    assert sorted(rows_of(several.notes), key=str) == one
    assert (several.events, several.keys) == (150, 6)

    parts = {row["key"]: KeyPart(job.logs, row["key"], terms, rows[-1]["time"]) for row in rows}
    for event in checked(job.files(), job.logs):
        parts[event.key].takes(event, None, 0)
    assert all(part.ends() for part in parts.values())
    assert sorted((row for part in parts.values() for row in rows_of(part.notes)), key=str) == one
    assert any(row["rule"] == "EXEC-3" for row in one)
