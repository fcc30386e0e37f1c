"""Names of processes that a judge of whole columns still has are not forgotten."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from logs_both_ways import Row, agreed

from checkvalve.conformance.columns import run
from checkvalve.conformance.columns.named import Named

LATER = 130
"""Rows or groups of rows by others: so many are not kept, as they are in no use."""


def row(process: str, operation: str, item: int | None = None, value: int | None = None) -> Row:
    """A point of the one key."""
    return {"key": "k", "process": process, "operation": operation, "phase": "point",
            "result": "ok", "item": item, "value": value}


def broker() -> Iterator[Row]:
    """A consumer holds a message; at last another one is given it, too."""
    yield from (row("p", "publish", 0), row("slow", "receive", 0))
    for item in range(1, LATER):
        yield from (row("p", "publish", item), row("quick", "receive", item),
                    row("quick", "ack", item))
    yield row("quick", "receive", 0)


def limits() -> Iterator[Row]:
    """A consumer has set a limit, and holds nothing; at last it is given more."""
    yield from (row("quick", "limit", value=2), row("slow", "limit", value=1))
    for item in range(LATER):
        yield from (row("p", "publish", item), row("quick", "receive", item),
                    row("quick", "ack", item))
    for item in (LATER, LATER + 1):
        yield from (row("p", "publish", item), row("slow", "receive", item))


def acker() -> Iterator[Row]:
    """The root of a task is pending; at last the acker answers it to another one."""
    yield from (row("quick", "tick"), row("slow", "init", 0, 5))
    for root in range(1, LATER):
        yield from (row("quick", "init", root, 7), row("bolt", "ack", root, 7),
                    row("quick", "tells_ack", root))
    yield from (row("bolt", "ack", 0, 5), row("quick", "tells_ack", 0))


def election() -> Iterator[Row]:
    """Two candidates are silent for long; at last the store takes the write of one that does not
    lead."""
    yield from (row("a", "join"), row("b", "join"), row("c", "join"), row("c", "leads", value=1))
    for _ in range(LATER):
        yield row("c", "accepted")
    yield from (row("a", "leads", value=2), row("c", "accepted"), row("b", "accepted"))


LOGS = {"delivery": (broker, {"law": 3}), "delivery, limits": (limits, {"law": 3}),
        "storm.acker": (acker, {"buckets": 4}),
        "election": (election, {"steady": 1, "candidates": 3})}


@pytest.mark.parametrize("log", LOGS)
def test_a_process_that_is_silent_for_long_has_its_name_in_the_answer(
    log: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All names in no use are forgotten after each chunk, and the answer is that of the log event
    by event: a violation."""
    monkeypatch.setattr(run, "LEAST", 0)
    made, settings = LOGS[log]
    for seed in (1, 2, 3):
        found = agreed(log.partition(",")[0], list(made()), settings, seed,
                       tmp_path / f"{seed}.parquet", monkeypatch)
        assert any("'found': 'violated'" in each for each in found)


def test_a_name_that_was_forgotten_gets_another_number() -> None:
    """Names in use keep theirs, and no number is used twice."""
    named = Named()
    assert named.numbers(["a", 1, None, "1"]) == [0, 1, 2, 1]
    named.forgets(np.array([1]))
    assert named.numbers(["1", 1, "a", ""]) == [1, 1, 3, 4]
    assert [named[1], named[3], named[4]] == ["1", "a", ""]


def test_names_are_forgotten_as_seldom_as_they_are_many() -> None:
    """There are more than the spare ones, and than those that were in use."""
    named = Named(spare=10)
    named.numbers([str(each) for each in range(11)])
    assert named.is_full
    named.forgets(np.arange(11))
    named.numbers([str(each) for each in range(11, 22)])
    assert not named.is_full
    named.numbers(["22"])
    assert named.is_full
