"""One hot key in several processes, where each item is judged by itself: pieces of its log leave
what is not over within them, and the answer is that of one process."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from logs_both_ways import Row, in_chunks, written
from test_logs_conserving import bag
from test_spark_columns import added, batched, blocks_of, same

from checkvalve.conformance.columns import remainder, run
from checkvalve.conformance.columns.remainder import Joined
from checkvalve.conformance.engines import log_cut, log_jobs
from checkvalve.conformance.engines.log_columns import UNFIT, labels_of
from checkvalve.conformance.engines.log_jobs import Job, judge_in_jobs
from checkvalve.conformance.engines.log_left import JoinedParts, LeftOver
from checkvalve.conformance.engines.log_parts import Files
from checkvalve.conformance.logs.answer import document, lines
from checkvalve.conformance.logs.kinds import Terms
from checkvalve.conformance.logs.mapping import Mapped, plain
from checkvalve.conformance.logs.rows import counts_of, rows_of
from checkvalve.conformance.logs.run import Judged, terms_of
from checkvalve.spec.notation.errors import InputError

SETTINGS = {"queue": {"order": 0}, "storm.acker": {"buckets": 3}}


def said(found: Judged, job: Job) -> str:
    """All words of an answer, and all rows of findings, in their order."""
    return "\n".join([json.dumps(document(found, job.logs), default=str), *lines(found, job.logs),
                      *map(str, rows_of(found.notes))])


def acker(random: Random, messages: int) -> Iterator[Row]:
    """A right acker of trees that are made in any order, fail, are renewed, or expire."""
    trees, left, tree = dict[int, list[Row]](), dict[int, int](), 0
    value, known, failed = dict[int, int](), set[int](), set[int]()
    for _ in range(messages):
        if random.random() < 0.02:
            yield {"operation": "tick", "process": "0"}
            left = {root: number - 1 for root, number in left.items() if number > 1}
            value, known, failed = ({root: value[root] for root in value if root in left},
                                    known & set(left), failed & set(left))
            continue
        if len(trees) < 5:
            edges = [random.randrange(1, 1 << 60) for _ in range(random.choice([1, 1, 2]))]
            made = [{"operation": "ack", "value": edge} for edge in edges]
            init: Row = {"operation": "init", "value": edges[0] ^ edges[-1] if len(edges) > 1 else
                         edges[0]}
            more = [{"operation": random.choice(["fail", "reset_timeout"])}
                    ] if random.random() < 0.15 else []
            trees[tree] = [init, *made, *more]
            if random.random() < 0.2:
                random.shuffle(trees[tree])
            if random.random() < 0.05:
                trees[tree].pop()
            tree += 1
        root = random.choice(list(trees))
        row = {"process": f"p{root % 3}", "item": root, **trees[root].pop(0)}
        if not trees[root]:
            del trees[root]
        yield row
        does = row["operation"]
        if root not in left or does in ("fail", "reset_timeout"):
            left[root] = SETTINGS["storm.acker"]["buckets"]
        value[root] = value.get(root, 0) ^ row.get("value", 0)
        known |= {root} if does == "init" else set()
        failed |= {root} if does == "fail" else set()
        over = root in known and (root in failed or not value[root])
        if over or (does == "reset_timeout" and root in known):
            says = "reset" if not over else "fail" if value[root] else "ack"
            yield {"operation": f"tells_{says}", "process": f"p{root % 3}", "item": root}
        if over:
            del left[root], value[root]
            known, failed = known - {root}, failed - {root}
            trees.pop(root, None)


def rows(suite: str, seed: int) -> list[Row]:
    """One key or two with many rows, or some with few, in one order."""
    random = Random(seed)
    parts = {f"key {number}": list(bag(random, False, calls) if suite == "queue" else
                                   acker(random, calls))
             for number, calls in enumerate(random.choice([[800], [500, 300], [600, 30, 20, 9]]))}
    if seed % 2:
        (spoil if suite == "queue" else misled)(random, max(parts.values(), key=len))
    found = list[Row]()
    while any(parts.values()):
        key = random.choices(list(parts), list(map(len, parts.values())))[0]
        found.append({"key": key, "result": "ok", "phase": "point", **parts[key].pop(0)})
    return found


def spoil(random: Random, log: list[Row]) -> None:
    """Make one mistake in a right log of a bag: anywhere, in any of the ways that there are."""
    ends = [at for at, row in enumerate(log) if row["phase"] == "end"]
    takes = [at for at in ends if log[at]["operation"] == "take" and "item" in log[at]]
    puts = [at for at, row in enumerate(log) if row["operation"] == "put"
            and row["phase"] == "begin"]
    way = random.randrange(8)
    at = random.choice(takes)
    if way == 0:        # an item comes out twice
        log[at]["item"] = log[random.choice(takes)]["item"]
    elif way == 1:      # one that was never put
        log[at]["item"] = 99_999
    elif way == 2:      # a take finds nothing, and its item is lost
        del log[at]["item"]
        log[at]["result"] = "empty"
    elif way == 3:      # an end is missing, and its process begins anew
        del log[random.choice(ends)]
    elif way == 4:      # an end without its beginning
        log.insert(at, {"operation": "take", "process": "x", "phase": "end", "item": 5})
    elif way == 5:      # an item is put twice
        log[random.choice(puts)]["item"] = log[random.choice(puts)]["item"]
    elif way == 6:
        log[random.choice(ends)]["result"] = random.choice(["failed", "unknown"])
    else:
        log.insert(at, {"operation": "drained", "process": "x", "phase": "point"})


def misled(random: Random, log: list[Row]) -> None:
    """Make one mistake in a right log of an acker."""
    told = [at for at, row in enumerate(log) if row["operation"] in ("tells_ack", "tells_fail")]
    at, way = random.choice(told), random.randrange(7)
    if way == 0:        # an answer is missing
        del log[at]
    elif way == 1:      # it comes too late, or comes twice
        log.insert(min(len(log), at + random.randrange(3)), log[at])
    elif way == 2:      # it is another one
        log[at]["operation"] = random.choice(["tells_ack", "tells_fail", "tells_reset"])
    elif way == 3:      # it is about another root, or goes elsewhere
        log[at][random.choice(["item", "process"])] = log[random.choice(told)]["item"]
        log[at]["process"] = str(log[at]["process"])
    elif way == 4:      # a root comes again that was answered
        log[at + 1:at + 1] = log[at - 1:at + 1]
    elif way == 5:
        log.insert(at, {"operation": "tick", "process": "0"})
    else:
        log.insert(at + 1, {"operation": "size", "process": "0", "value": 3})


@pytest.mark.parametrize("suite", ["queue", "storm.acker"])
def test_the_answer_of_pieces_is_that_of_one_process(
    suite: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Word by word, with all counts, histories and the events before, wherever the log is cut and
    goes wrong; most pieces are taken by what they leave."""
    monkeypatch.setattr(run, "LEAST", 0)
    monkeypatch.setattr(log_jobs, "LEAST", 0)
    monkeypatch.setattr(log_jobs, "process_pool", ThreadPoolExecutor)
    monkeypatch.setattr(log_jobs, "_by_key", None)
    monkeypatch.setattr(remainder, "_KEYS_MOST", 4)
    taken, violated = list[bool](), 0
    takes = Joined.takes
    monkeypatch.setattr(Joined, "takes", lambda self, left: taken.append(takes(self, left)) or (
        taken[-1]))
    for seed in range(12):
        random = Random(seed)
        some = rows(suite, seed)
        if seed % 3 == 0:
            some = [row if row.get("item") is None else {**row, "item": f"i{row['item']}"}
                    for row in some]
        path = written(tmp_path / f"{seed}.parquet", some)
        job = Job(suite, terms_of(plain(), SETTINGS[suite], False, 1_000_000), (path,), plain())
        one = judge_in_jobs(job, 1)
        in_chunks(monkeypatch, random.choice([90, 150, 400]), log_jobs)
        monkeypatch.setattr(log_jobs, "_ROWS", random.choice([90, 200, 450]))
        assert said(judge_in_jobs(job, 2), job) == said(one, job), seed
        violated += bool(one.notes.findings)
    assert violated >= 4
    assert sum(taken) > 0.6 * len(taken)
    assert sum(taken) < len(taken)


@pytest.mark.parametrize("suite", ["queue", "storm.acker"])
def test_tasks_of_a_cluster_count_what_one_process_counts(
    suite: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One task for each part of the keys judges the remainders of all. Where one process finds
    anything, they say that the log is to be judged otherwise."""
    monkeypatch.setattr(run, "LEAST", 0)
    monkeypatch.setattr(remainder, "_KEYS_MOST", 4)
    unfit = 0
    for seed in range(6):
        random = Random(seed)
        in_chunks(monkeypatch, random.choice([90, 150, 400]), log_cut)
        monkeypatch.setattr(log_cut, "_ROWS", random.choice([90, 200, 450]))
        path = written(tmp_path / f"{seed}.parquet", rows(suite, seed))
        mapped = replace(plain(), order="file")
        terms = terms_of(mapped, SETTINGS[suite], False, 1_000_000)
        found = added(left_over(path, suite, mapped, terms, random))
        job = Job(suite, terms, (path,), mapped)
        one = judge_in_jobs(job, 1)
        if any(UNFIT in row for row in found):
            unfit += 1
        else:
            assert not one.notes.findings
            assert [*map(same, found)] == [
                *map(same, added([*rows_of(one.notes), *counts_of(one)]))], seed
        assert seed % 2 or not any(UNFIT in row for row in found)
    assert unfit


def test_a_line_that_is_no_event_is_named_also_after_a_violation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One process continues where a piece is not plain; if it cannot, the log is begun anew."""
    monkeypatch.setattr(run, "LEAST", 0)
    monkeypatch.setattr(log_jobs, "LEAST", 0)
    monkeypatch.setattr(log_jobs, "process_pool", ThreadPoolExecutor)
    monkeypatch.setattr(log_jobs, "_ROWS", 200)
    some = rows("queue", 4)
    some[300] = {**some[300], "operation": "take", "item": 99_999, "phase": "end"}
    some[-1] = {**some[-1], "operation": "none"}
    path = written(tmp_path / "log.parquet", some)
    job = Job("queue", terms_of(plain(), {"order": 0}, False, 1_000), (path,), plain())
    for jobs in (1, 2):
        with pytest.raises(InputError, match="the operation 'none' is not known"):
            judge_in_jobs(job, jobs)


def left_over(path: Path, suite: str, mapped: Mapped, terms: Terms, random: Random
              ) -> list[dict[str, Any]]:
    """The rows of all tasks: each block is read by one, and one judges what is left of a part."""
    blocks = list(blocks_of(path, random))
    files, labels = Files({str(path): str(path)}), labels_of(random.choice([1, 2, 5]))
    task = LeftOver(suite, mapped, files, labels, terms=terms)
    sent = [row for block in blocks for made in task.of(iter(block.to_batches(max_chunksize=40)))
            for row in made.to_pylist()]
    return [row for label in labels for batch in JoinedParts(suite, terms, files).of(
        batched([row for row in sent if row["part"] == label], random))
        for row in batch.to_pylist()]
