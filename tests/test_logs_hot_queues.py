"""Logs of queues with a hot key: an order of its calls is found, and explains them."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest
from logs_both_ways import in_chunks
from test_logs_columns import both, overlapping, written

from checkvalve.conformance.columns import run
from checkvalve.conformance.engines.log_parts import logs_of
from checkvalve.conformance.logs.mapping import plain
from checkvalve.conformance.logs.readers import Log
from checkvalve.conformance.logs.run import terms_of
from checkvalve.conformance.systems.queue import whole as of_queues
from checkvalve.conformance.systems.queue.order import FAR, Order
from checkvalve.conformance.systems.queue.schedule import Items, planned


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """However short a log is, whole columns have it."""
    monkeypatch.setattr(run, "LEAST", 0)


@pytest.mark.parametrize("callers", [4, 16])
def test_an_order_is_found_however_many_calls_overlap(
    callers: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A right queue with one hot key is judged in whole columns to its end, and is right."""
    in_chunks(monkeypatch, 1_500)
    monkeypatch.setattr(of_queues, "_MANY", 0)
    monkeypatch.setattr(of_queues.WholeQueues, "_hands", None)      # no key is judged by itself
    some = [{"key": "hot", **row} for row in overlapping(Random(1), callers, 8, 5_000)]
    logs = logs_of("queue")
    log = Log(written(tmp_path / "log.parquet", some), plain(), list(logs.operations))
    found = run.judge_files([log], logs, terms_of(plain(), {"capacity": 8}, False, 0))
    assert found.events == len(some)
    assert not found.notes.violations
    assert not found.notes.unknown


@pytest.mark.parametrize("callers", [2, 4, 9])
def test_a_hot_key_with_faults_is_judged_as_event_by_event(
    callers: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the chunks: the same rules, events and histories."""
    monkeypatch.setattr(of_queues, "_MANY", 0)
    violated = 0
    for seed in range(6):
        in_chunks(monkeypatch, [1 << 18, 150][seed % 2])
        some = [{"key": "hot", **row}
                for row in overlapping(Random(seed), callers, 8, 400, late=0.1)]
        found, one, other = both(written(tmp_path / "log.parquet", some), "queue")
        assert found
        doubted = any("'unknown'" in row for row in other)
        assert {*one} == {*other} or doubted, seed
        violated += any("'violated'" in row for row in one)
    assert violated


def test_the_order_that_is_found_explains_the_calls() -> None:
    """Of random queues: items come in during their puts, and are out during their takes, in that
    order, and there is room for each."""
    for seed in range(60):
        random = Random(seed)
        callers, capacity = random.randint(1, 9), random.randint(1, 5)
        puts, takes = dict[int, list[int]](), dict[int, list[int]]()
        begun: dict[str, int] = {}
        for at, row in enumerate(overlapping(random, callers, capacity, 200)):
            ends = row["phase"] == "end"
            if ends:
                (puts if row["operation"] == "put" else takes)[row["item"]] = [
                    begun[row["process"]], at]
            begun[row["process"]] = at
        items = sorted((item for item in puts if item in takes), key=puts.__getitem__)
        # What nobody was told of takes room, too; without it, an order remains.
        found = Order(*([calls[item][end] for item in items]
                        for calls, end in ((puts, 0), (puts, 1), (takes, 0), (takes, 1))),
                      [], capacity, FAR).found()
        assert sorted(found.order) == list(range(len(items))), seed
        entered, left = [-1], list[int]()
        for place, number in enumerate(found.order):
            put, take = puts[items[number]], takes[items[number]]
            room = left[place - capacity] if place >= capacity else -1
            entered.append(max(put[0], entered[-1], room))
            left.append(max(take[0], entered[-1], *left[-1:]))
            assert entered[-1] <= put[1], seed
            assert left[-1] <= take[1], seed


def test_the_order_that_is_proposed_is_that_of_the_takes() -> None:
    """Of two puts that overlap, the item comes first that is out first; one that nobody has taken
    yet is open, from its put's end on."""
    column = np.array
    items = Items(column([0, 0, 0]), put=column([0, 1, 4]), told=column([2, 3, 12]),
                  take=column([8, 5, 12]), got=column([9, 6, 12]), rank=column([-1, -1, -1]),
                  served=column([False] * 3))
    plan = planned(items, column([0]), column([12]), 8, False)
    assert plan.order.tolist() == [1, 0, 2]
    assert (plan.admit[:2] < plan.serve[:2]).all()
