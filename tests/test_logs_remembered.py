"""An end that is forgotten makes a key unknown, and no wrong rule is named."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from logs_both_ways import InColumns, Row, in_chunks, written

from checkvalve.conformance.columns import run
from checkvalve.conformance.engines.log_parts import logs_of
from checkvalve.conformance.logs.mapping import plain
from checkvalve.conformance.logs.readers import Log
from checkvalve.conformance.logs.run import Judged, terms_of
from checkvalve.conformance.logs.run import judge_files as by_events

GAP = 64
"""From one item to the next, so that each has a piece of its own."""


def row(operation: str, item: int, value: int | None = None, process: str = "p",
        time: int = 0) -> Row:
    """A point of the one key."""
    return {"key": "k", "process": process, "operation": operation, "phase": "point",
            "result": "ok", "item": GAP * item, "value": value, "time": time}


def timer(tasks: int) -> Iterator[Row]:
    """All tasks are cancelled; the first one runs."""
    for task in range(tasks):
        yield from (row("adds", task, 9, time=task), row("cancels", task, time=task))
    yield row("runs", 0, time=1 << 40)


def broker(messages: int) -> Iterator[Row]:
    """All messages are acknowledged; the first one comes again."""
    for message in range(messages):
        yield from (row("publish", message), row("receive", message), row("ack", message))
    yield row("receive", 0)


def acker(roots: int) -> Iterator[Row]:
    """All roots are answered; the first one is answered once more."""
    for root in range(roots):
        yield from (row("init", root, 5), row("ack", root, 5), row("tells_ack", root))
    yield from (row("ack", 0, 5), row("tells_ack", 0))


LOGS: dict[str, tuple[Callable[[int], Iterator[Row]], dict[str, int], str]] = {
    "timer": (timer, {}, "KAFKA-W1C"),
    "delivery": (broker, {"law": 3}, "DELIV-6"),
    "storm.acker": (acker, {"buckets": 4}, "STORM-A23"),
}


def both(suite: str, path: Path, settings: dict[str, int], remember: int) -> tuple[Judged, Judged]:
    """A log judged in whole columns, and event by event."""
    logs, terms = logs_of(suite), terms_of(plain(), settings, False, remember)
    one, two = ([Log(path, plain(), list(logs.operations))] for _ in range(2))
    judge = InColumns()
    columns = judge(one, logs, terms, keeps=True)
    assert judge.were_whole
    return columns, by_events(two, logs, terms)


@pytest.mark.parametrize("suite", LOGS)
def test_a_second_end_of_what_is_forgotten_is_unknown(
    suite: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With all remembered its rule is violated, in whole columns and event by event."""
    monkeypatch.setattr(run, "LEAST", 0)
    in_chunks(monkeypatch, 25)
    made, settings, rule = LOGS[suite]
    path = written(tmp_path / "log.parquet", list(made(100)))
    for judged in both(suite, path, settings, 1_000):
        assert list(judged.notes.violations) == [rule]
    for judged in both(suite, path, settings, 10):
        assert not judged.notes.violations
        assert "--remember" in str(judged.notes.unknown)


def test_a_new_root_is_judged_whatever_was_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a root with an INIT the rule is named that its answer breaks."""
    monkeypatch.setattr(run, "LEAST", 0)
    in_chunks(monkeypatch, 25)
    path = written(tmp_path / "log.parquet", [
        *acker(100)][:-2] + [row("init", 100, 5), row("ack", 100, 3), row("tells_ack", 100)])
    for judged in both("storm.acker", path, {"buckets": 4}, 10):
        assert list(judged.notes.violations) == ["STORM-A1"]
