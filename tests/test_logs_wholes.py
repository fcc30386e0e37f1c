"""Timers and epochs in whole columns, and the same answers as event by event."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from checkvalve.conformance.columns import run
from checkvalve.conformance.engines.log_parts import logs_of
from checkvalve.conformance.logs.mapping import plain
from checkvalve.conformance.logs.notes import Notes
from checkvalve.conformance.logs.readers import Log
from checkvalve.conformance.logs.rows import counts_of, rows_of
from checkvalve.conformance.logs.run import Judged, terms_of
from checkvalve.conformance.logs.run import judge_files as by_events

Row = dict[str, Any]


def timer(random: Random, faulty: bool, calls: int) -> Iterator[Row]:
    """A timer that runs its tasks when they are due or later; a faulty one some too early, twice,
    after their cancel, or without an add."""
    wrong, due, over, now, tasks = 0.02 if faulty else 0.0, dict[int, int](), list[int](), 5, 0
    for _ in range(calls):
        now += random.choice([0, 1, 3])
        time = now - (random.choice([0, 0, 0, 2]) if due else 0)   # clocks of logs may go back
        late = [task for task, at in due.items() if at <= now]
        do = random.random()
        if random.random() < wrong:
            yield {"operation": "runs", "item": random.choice([*due, *over, 99]), "time": time}
        elif late and do < 0.4:
            over.append(random.choice(late))
            del due[over[-1]]
            yield {"operation": "runs", "item": over[-1], "time": now}
        elif do < 0.5:
            some = random.choice([*due, *over, 0])
            yield {"operation": "cancels", "item": some, "time": time,
                   "result": "ok" if due.pop(some, None) is not None else "empty"}
            over.append(some)
        else:
            again = random.choice([None] * 9 + [*due, *over[-1:]])
            task = tasks if again is None else again
            tasks += again is None
            delay = random.randrange(-1, 9)
            due[task] = now + max(0, delay)
            row = {"operation": "adds", "item": task, "value": delay, "time": now}
            if random.random() < 0.002:
                yield row | {"phase": "begin"}
                row["phase"] = "end"
            yield row


def epoch(random: Random, faulty: bool, calls: int) -> Iterator[Row]:
    """An epoch with its leader, and its mark; another one leads, or the mark falls, in a faulty
    one."""
    leader, mark = random.randrange(4), 0
    for _ in range(calls):
        wrong = faulty and random.random() < 0.02
        if random.random() < 0.5:
            yield {"operation": "leads", "item": leader + wrong}
        else:
            mark += random.randrange(3) - 4 * wrong
            yield {"operation": "mark", "value": mark}


SYSTEMS: dict[str, Any] = {"timer": timer, "kafka.failover": epoch}


def rows(suite: str, random: Random) -> list[Row]:
    """Some keys, half of them faulty, in one order."""
    parts = {f"key {number}": list(SYSTEMS[suite](
        random, number % 2 == 1, random.choice([20, 60, 150]))) for number in range(4)}
    found = list[Row]()
    while any(parts.values()):
        key = random.choice([key for key, part in parts.items() if part])
        found.append({"key": key, "process": "p", "phase": "point", "result": "ok",
                      **parts[key].pop(0)})
    return found


def written(path: Path, some: list[Row]) -> Path:
    """A log as a table."""
    kinds = dict.fromkeys(("value", "time"), pa.int64())
    parquet.write_table(pa.table({
        name: pa.array([row.get(name) for row in some], kinds.get(name)) for name in (
            "key", "process", "operation", "phase", "result", "item", "value", "time")}), path)
    return path


_STATE = re.compile(r"'allowed': .*?, 'needed'")


def told(judged: Judged) -> list[str]:
    """All rows of an answer, but for the state: its places may have other numbers."""
    return sorted(_STATE.sub("", str(row)) for row in [*rows_of(judged.notes), *counts_of(judged)])


@pytest.mark.parametrize("suite", SYSTEMS)
def test_whole_columns_say_what_the_events_say_one_by_one(
    suite: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rules, keys, events, histories and counts, however large the chunks are; items may be texts.
    """
    logs, found = logs_of(suite), list[str]()
    monkeypatch.setattr(run, "LEAST", 0)
    for seed in range(12):
        random = Random(seed)
        settings = {"unit_ns": random.choice([1, 2]), "tick_ns": random.choice([0, 3])} if (
            suite == "timer") else {}
        some = rows(suite, random)
        if seed % 3 == 1:
            some = [row if row.get("item") is None else {**row, "item": f"i{row['item']}"}
                    for row in some]
        monkeypatch.setattr(run, "CHUNK", [1 << 18, 100, 60, 25][seed % 4])
        terms = terms_of(plain(), settings, False, 1_000_000)
        path = written(tmp_path / "log.parquet", some)
        one, two, three = ([Log(path, plain(), list(logs.operations))] for _ in range(3))
        assert run.judged_whole(one, logs, terms, Notes(), lambda at: None) is not None
        columns = told(run.judge_files(two, logs, terms, keeps=True))
        assert columns == told(by_events(three, logs, terms, keeps=True)), seed
        found += columns
    assert len({row.partition("'key'")[0] for row in found if "'violated'" in row}) >= 2
