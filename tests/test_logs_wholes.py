"""Timers, epochs and elections in whole columns, and the same answers as event by event."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from logs_both_ways import Row, agreed

from checkvalve.conformance.columns import run
from checkvalve.conformance.systems.election import whole


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


def election(random: Random, faulty: bool, calls: int) -> Iterator[Row]:
    """Candidates and a leader, which is followed by another one now and then; in a faulty one
    any of them does anything."""
    size, leader, token = random.choice([2, 3, 3, 5]), 0, random.choice([0, 1])
    inside, numbers = list(range(size)), [0] * size
    yield from ({"operation": "join", "process": str(each)} for each in inside)
    for _ in range(calls):
        do, each = random.random(), random.randrange(size)
        if faulty and random.random() < 0.04:
            yield {"operation": random.choice(["leads", "leads_not", "accepted", "refused", "quiet",
                                               "resign", "join"]),
                   "process": str(each), "value": random.choice([*numbers, token + 1, None])}
        elif do < 0.5 and leader in inside:
            numbers[leader] = token
            yield {"operation": "leads" if do < 0.3 else "accepted", "process": str(leader),
                   "value": token}
        elif do < 0.6 and each != leader:
            yield {"operation": random.choice(["leads_not", "refused"]), "process": str(each)}
        elif do < 0.8:
            inside = [one for one in inside if one != each]
            yield {"operation": random.choice(["crash", "resign"]), "process": str(each)}
        elif do < 0.9:
            inside = [*inside, each]
            yield {"operation": "join", "process": str(each)}
        else:
            yield {"operation": random.choice(["disturbed", "disturbed", "restart"]),
                   "process": str(each)}
        if leader not in inside and inside:
            leader, token = inside[0], token and token + 1
            yield {"operation": "leads", "process": str(leader), "value": token,
                   "phase": random.choice(["end", "point"])}
            numbers[leader] = token
            if do < 0.62:
                yield {"operation": "quiet", "process": str(leader)}
        elif not inside and do < 0.7:
            yield {"operation": "quiet", "process": "", "result": "empty"}


SYSTEMS: dict[str, Any] = {"timer": timer, "kafka.failover": epoch, "election": election}


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


@pytest.mark.parametrize("suite", SYSTEMS)
def test_whole_columns_say_what_the_events_say_one_by_one(
    suite: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rules, keys, events, histories and counts, however large the chunks are; items may be texts.
    """
    found: list[str] = []
    monkeypatch.setattr(run, "LEAST", 0)
    for seed in range(8 if suite == "election" else 12):
        random = Random(seed)
        # All elections at a time, or one after the other; a table with few sets is soon full.
        monkeypatch.setattr(whole, "_FEW", seed // 2 % 2 * 100)
        monkeypatch.setattr(whole, "_SETS_MAX", 30 if seed % 4 == 1 else 1 << 15)
        settings = {"timer": {"unit_ns": random.choice([1, 2]), "tick_ns": random.choice([0, 3])},
                    "election": {"candidates": random.choice([3, 8]), "steady": seed % 2}
                    }.get(suite, {})
        found += agreed(suite, rows(suite, random), settings, seed, tmp_path / "log.parquet",
                        monkeypatch)
    assert len({row.partition("'key'")[0] for row in found if "'violated'" in row}) >= 2
