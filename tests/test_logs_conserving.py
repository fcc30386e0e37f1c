"""Queues of which the order is not judged: the same answers in whole columns and event by event."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from logs_both_ways import in_chunks
from pyarrow import parquet

from checkvalve.conformance.columns import run
from checkvalve.conformance.engines.log_parts import logs_of
from checkvalve.conformance.logs.live import Live
from checkvalve.conformance.logs.mapping import plain
from checkvalve.conformance.logs.memory import Ended
from checkvalve.conformance.logs.notes import Notes
from checkvalve.conformance.logs.readers import Log
from checkvalve.conformance.logs.rows import counts_of, rows_of
from checkvalve.conformance.logs.run import Judged, terms_of
from checkvalve.conformance.logs.run import judge_files as by_events
from checkvalve.conformance.systems.queue.calls import PUT, TAKEN
from checkvalve.spec.queues.conserved import ConservingQueue

Row = dict[str, Any]
UNORDERED = {"order": 0}
LOGS = logs_of("queue")


def bag(random: Random, faulty: bool, calls: int) -> Iterator[Row]:
    """A bag with some callers; items come out in any order. A faulty one loses, repeats and makes
    up items, and a put fails."""
    inside, over, put = list[int](), list[int](), 0
    wrong = random.choice([0.02, 0.2]) if faulty else 0.0
    calling: dict[str, Row] = {}
    for _ in range(calls):
        process = random.choice(["p0", "p1", "p2", "c0", "c1", "c2"])
        call = calling.pop(process, None)
        if call is None:
            call = calling[process] = {"operation": "take", "process": process}
            if process[0] == "p":
                call |= {"operation": "put", "item": put}
                put += 1
                if random.random() >= wrong:
                    inside.append(put - 1)
            yield {**call, "phase": "begin"}
        elif process[0] == "p":
            yield {**call, "phase": "end", "result": random.choice(
                ["ok"] * 9 + ["failed", "full", "unknown"]) if faulty else "ok"}
        elif random.random() < wrong:
            yield {**call, "phase": "end", "item": random.choice([*over, 999])}
        elif inside:
            over.append(inside.pop(random.randrange(len(inside))))
            yield {**call, "phase": "end", "item": over[-1]}
        else:
            yield {**call, "phase": "end", "result": "empty"}


def rows(random: Random) -> list[Row]:
    """Some keys, half of them faulty, in one order."""
    parts = {f"key {number}": list(bag(random, number % 2 == 1, random.choice([20, 60, 200])))
             for number in range(4)}
    found = list[Row]()
    while any(parts.values()):
        key = random.choice([key for key, part in parts.items() if part])
        found.append({"key": key, "result": "ok", **parts[key].pop(0)})
        if random.random() < 0.002:
            found.append({**found[-1], "phase": "point", "operation": "drained", "item": None})
    return found


def written(path: Path, some: list[Row]) -> list[Log]:
    """A log as a table, as it is read."""
    parquet.write_table(pa.table({name: [row.get(name) for row in some] for name in (
        "key", "process", "operation", "phase", "result", "item")}), path)
    return again(path)


def again(path: Path) -> list[Log]:
    """A log, to be read anew."""
    return [Log(path, plain(), list(LOGS.operations))]


def told(judged: Judged) -> list[str]:
    """All rows of an answer."""
    return sorted(map(str, [*rows_of(judged.notes), *counts_of(judged)]))


def test_whole_columns_say_what_the_events_say_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rules, keys, events, histories and counts, however large the chunks are."""
    monkeypatch.setattr(run, "LEAST", 0)
    found = list[str]()
    for seed in range(12):
        random = Random(seed)
        some = rows(random)
        in_chunks(monkeypatch, [1 << 18, 100, 60, 25][seed % 4])
        terms, path = terms_of(plain(), UNORDERED, False, 1_000_000), tmp_path / "log.parquet"
        assert run.judged_whole(written(path, some), LOGS, terms, Notes(), lambda at: None)
        columns = told(run.judge_files(again(path), LOGS, terms, keeps=True))
        assert columns == told(by_events(again(path), LOGS, terms, keeps=True)), seed
        found += columns
    for rule in ("QUEUE-4", "QUEUE-5", "QUEUE-6"):
        assert any("'violated'" in row and rule in row for row in found)
    assert not any("'violated'" in row and "QUEUE-3" in row for row in found)


def test_the_order_is_not_judged_only_where_that_is_said(tmp_path: Path) -> None:
    """Two items in another order out than in are right if only conservation is asked for."""
    some = [{"key": "k", "process": "a", "operation": do, "phase": phase, "result": "ok",
             "item": item if do == "put" or phase == "end" else None}
            for do, item in (("put", 1), ("put", 2), ("take", 2), ("take", 1))
            for phase in ("begin", "end")]
    log = written(tmp_path / "log.parquet", some)
    for settings, rules in (({}, ["QUEUE-3"]), (UNORDERED, [])):
        judged = by_events(log, LOGS, terms_of(plain(), settings, False, 1_000))
        assert list(judged.notes.violations) == rules
        assert ("QUEUE-3" in judged.notes.not_shown) == (not rules)
        log = again(tmp_path / "log.parquet")


def test_an_item_that_is_put_and_taken_once_is_right_in_either_order_of_the_ends() -> None:
    """For no other one is it said in whole columns that it is right."""
    for ends in ((PUT.woken, TAKEN), (TAKEN, PUT.woken)):
        queue = Live(ConservingQueue, K=1, T=1)
        assert queue.takes(PUT.waits) is None
        assert [queue.takes(action, item=0) for action in ends] == [None, None]


@pytest.mark.parametrize("gap", [1, 2, 64, 1000])
def test_numbers_with_gaps_are_remembered_within_bounds(gap: int) -> None:
    """The last of them are known, and it is said that others were forgotten."""
    ended = Ended(10)
    for number in range(0, 5_000 * gap, gap):
        ended.add("k", number)
    assert ended.has("k", 4_999 * gap)
    assert not ended.has("k", 4_999 * gap + 1)
    assert ended.has("k", 0) is (gap == 1)
    assert ended.has_forgotten is (gap > 1)
