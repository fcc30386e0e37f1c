"""Logs in whole columns: they are judged as event by event, by machines as machine code."""

from __future__ import annotations

import csv
import gzip
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from logs_both_ways import InColumns, in_chunks
from pyarrow import parquet

from checkvalve.conformance.columns import ordered, run
from checkvalve.conformance.columns.runs import Runs
from checkvalve.conformance.engines.log_parts import logs_of
from checkvalve.conformance.logs import order
from checkvalve.conformance.logs.kinds import Logs, Terms
from checkvalve.conformance.logs.mapping import plain
from checkvalve.conformance.logs.readers import Log
from checkvalve.conformance.logs.rows import counts_of, rows_of
from checkvalve.conformance.logs.run import Judged, terms_of
from checkvalve.conformance.logs.run import judge_files as by_events
from checkvalve.conformance.recorder import Recorder, identity
from checkvalve.conformance.systems.queue import whole as queues
from checkvalve.spec.engines.native.running import Runner, Step
from checkvalve.spec.flow.observed_rate import ObservedRate
from checkvalve.spec.notation.bound import bind
from checkvalve.spec.notation.errors import InputError, ModelFault
from checkvalve.spec.queues.locks.permits import Permits
from checkvalve.spec.queues.queue import BoundedQueue

Row = dict[str, Any]


def lane(random: Random, faulty: bool) -> Iterator[Row]:
    """A lane that sends, receives and loses; now and then something comes late, or twice."""
    sent = got = 0
    for _ in range(random.randrange(1, 80)):
        if sent <= got or random.random() < 0.5:
            again = faulty and random.random() < 0.02
            yield {"operation": "emits", "item": random.randrange(sent + 1) if again else sent}
            sent += 1
        elif random.random() < 0.9:
            item = random.randrange(sent + 2) if faulty and random.random() < 0.05 else got
            yield {"operation": "processes", "item": item}
            got = max(got, item) + 1
        else:
            yield {"operation": random.choice(["loses", "rest"]), "item": got}


def rate(random: Random, faulty: bool) -> Iterator[Row]:
    """Ticks, admissions and refusals."""
    time = 0
    for _ in range(random.randrange(1, 60)):
        time += random.randrange(60)
        drawn = random.random()
        if drawn < 0.5:
            yield {"operation": "tick", "value": random.choice([None, 1, 9]), "time": time}
        elif drawn < 0.9 or not faulty:
            yield {"operation": "admits", "value": random.randint(1, 4 if faulty else 2),
                   "time": time}
        else:
            yield {"operation": "refuses", "value": random.randint(6, 12), "time": time}


def marks(random: Random, faulty: bool) -> Iterator[Row]:
    """A receiver that says stop and go in time, if it is right."""
    held, stopped = 0, False
    for _ in range(random.randrange(1, 60)):
        if faulty and random.random() < 0.03:
            yield {"operation": random.choice(["stop", "go", "rest"])}
        elif stopped != (held > (2 if stopped else 8)):
            stopped = not stopped
            yield {"operation": "stop" if stopped else "go"}
        elif random.random() < 0.5:
            held += 3
            yield {"operation": "arrives", "value": 3}
        elif held:
            held -= 1
            yield {"operation": "gives", "value": 1}


def call(process: object, operation: str, phase: str, item: int | None = None, result: str = "ok"
         ) -> Row:
    """The row of one end of a call."""
    return {"process": str(process), "operation": operation, "phase": phase, "item": item,
            "result": result}


def permits(random: Random, faulty: bool) -> Iterator[Row]:
    """Callers of two permits, one of which may get a third."""
    waiting, held, free = list[int](), list[int](), list(range(20))
    for _ in range(random.randrange(2, 60)):
        more = faulty and random.random() < 0.05
        if waiting and (len(held) < 2 or more):
            held.append(waiting.pop(random.randrange(len(waiting))))
            yield call(held[-1], "acquire", "end")
        elif held and random.random() < 0.5:
            one = held.pop()
            yield call(one, "release", "begin")
            yield call(one, "release", "end", result="unknown" if more else "ok")
            free.append(one)
        elif len(waiting) < 4 and free:
            waiting.append(free.pop(0))
            yield call(waiting[-1], "acquire", "begin")
        elif waiting and faulty:
            yield call(waiting.pop(), "acquire", "end", result="empty")
    if faulty:
        yield call(99, "release", "begin")


def queue(random: Random, faulty: bool) -> Iterator[Row]:
    """Callers that put and take, all at the same time, and some that find nothing."""
    inside, out, number = list[int](), list[int](), 0
    open_: dict[str, int | None] = {}
    for _ in range(random.randrange(2, 80)):
        process = random.choice(["put", "take"]) + str(random.randrange(3))
        operation = process[:-1]
        if process not in open_:
            open_[process] = number if operation == "put" else None
            yield call(process, operation, "begin", open_[process])
            number += operation == "put"
        elif operation == "put":
            item = open_.pop(process)
            assert item is not None
            if not faulty or random.random() < 0.95:
                inside.append(item)
            yield call(process, "put", "end", item)
        elif inside:
            item = inside.pop(random.randrange(len(inside)) if faulty and random.random() < 0.1
                              else 0)
            again = faulty and out and random.random() < 0.05
            out.append(random.choice(out) if again else item)
            del open_[process]
            yield call(process, "take", "end", out[-1])
        elif random.random() < 0.3 and not inside and all(
                item is None for item in open_.values()):
            del open_[process]
            yield call(process, "take", "end", result="empty")


def overlapping(random: Random, callers: int, capacity: int, events: int, late: float = 0
                ) -> list[Row]:
    """A queue with callers that are nearly always in a call, which has its effect at any instant of
    it; now and then (``late``) the last one comes out first."""
    inside, number, found = list[int](), 0, list[Row]()
    calls: dict[str, tuple[int | None, bool]] = {}      # the item, and whether it had its effect
    names = [f"{operation} {each}" for operation in ("put", "take") for each in range(callers)]
    while len(found) < events:
        name = random.choice(names)
        operation = name.partition(" ")[0]
        item, done = calls.get(name, (None, False))
        if name not in calls:
            calls[name] = (number if operation == "put" else None, False)
            found.append(call(name, operation, "begin", calls[name][0]))
            number += operation == "put"
        elif done:
            found.append(call(name, operation, "end", calls.pop(name)[0]))
        elif operation == "put" and len(inside) < capacity:
            assert item is not None
            inside.append(item)
            calls[name] = (item, True)
        elif operation == "take" and inside:
            place = -1 if random.random() < late else 0
            calls[name] = (inside.pop(place), True)
    return found


KINDS: Mapping[str, tuple[str, Mapping[str, int], Callable[[Random, bool], Iterator[Row]]]] = {
    "lane": ("storm.topology", {}, lane), "rate": ("rate", {"rate": 4, "depth": 10}, rate),
    "rate by clocks": ("rate", {"rate": 1, "depth": 3, "tick_ns": 50}, rate),
    "marks": ("marks", {"high": 8, "low": 2}, marks),
    "permits": ("awaits.permits", {"permits": 2}, permits),
    "queue": ("queue", {"capacity": 8}, queue)}


def rows(kind: str, seed: int) -> list[Row]:
    """Some keys of a kind, half of them faulty, in one order."""
    random = Random(seed)
    parts = {f"key {number}": list(KINDS[kind][2](random, number % 2 == 1)) for number in range(6)}
    found = []
    while any(parts.values()):
        key = random.choice([key for key, part in parts.items() if part])
        found.append({"key": key, "process": "p", "phase": "point", "result": "ok",
                      **parts[key].pop(0)})
    return found


def written(path: Path, some: list[Row]) -> Path:
    """A log as a table, or as JSON lines."""
    if ".csv" in path.name:
        names = list(dict.fromkeys(name for row in some for name in row))
        with (gzip.open if path.suffix == ".gz" else open)(path, "wt", newline="") as file:
            table = csv.DictWriter(file, names, quoting=(
                csv.QUOTE_ALL if "quoted" in path.name else csv.QUOTE_MINIMAL))
            table.writeheader()
            table.writerows(some)
        return path
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in some))
        return path
    numbers = ("item", "value", "time")
    names = ("key", "process", "operation", "phase", "result", *numbers)
    parquet.write_table(pa.table({
        name: pa.array([row.get(name) for row in some], pa.int64() if name in numbers and not (
            name == "item" and any(isinstance(row.get(name), str) for row in some)) else None)
        for name in names}), path)
    return path


def told(judged: Judged) -> list[str]:
    """All rows of an answer, counts too."""
    return sorted(map(str, [*rows_of(judged.notes), *counts_of(judged)]))


def answer(judge: Callable[..., Judged], files: list[Log], logs: Logs, terms: Terms) -> str:
    """The rows of an answer, or the error."""
    try:
        return "\n".join(told(judge(files, logs, terms, keeps=True)))
    except InputError as error:
        return str(error)


def both(path: Path, kind: str, remember: int = 1_000_000) -> tuple[bool, list[str], list[str]]:
    """True if whole columns were judged, and what is found so, and event by event; there all
    identities are remembered."""
    suite, settings, _ = KINDS[kind]
    logs = logs_of(suite)
    terms = terms_of(plain(), settings, False, remember)

    def log() -> Log:
        return Log(path, plain(), list(logs.operations))

    judge = InColumns()
    columns = told(judge([log()], logs, terms, keeps=True))
    return (judge.were_whole, columns,
            told(by_events([log()], logs, replace(terms, remember=1_000_000), keeps=True)))


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "LEAST", 0)


@pytest.mark.parametrize("kind", KINDS)
def test_whole_columns_say_what_the_events_say_one_by_one(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rules, keys, events, histories and counts, however large the chunks are; of queues, however
    many rows are judged at a time at the end."""
    found = []
    for seed in range(5):
        in_chunks(monkeypatch, [1 << 18, 100, 60][seed % 3])
        monkeypatch.setattr(queues, "_AT_END", [1 << 18, 2][seed % 2])
        whole, one, other = both(written(tmp_path / "log.parquet", rows(kind, seed)), kind)
        assert whole
        assert one == other, seed
        found += one
    assert any("'violated'" in row for row in found)


@pytest.mark.parametrize("cut", [0, 1, 2])
def test_json_lines_are_judged_in_whole_columns(cut: int, tmp_path: Path) -> None:
    """As tables are, with the same lines; the last one needs no end, but one that is cut off is
    refused in the same words."""
    path = written(tmp_path / "log.jsonl", rows("lane", 7))
    path.write_bytes(path.read_bytes()[:-cut or None])
    logs = logs_of("storm.topology")
    in_columns = InColumns()
    one, other = (answer(judge, [Log(path, plain(), list(logs.operations))], logs, Terms())
                  for judge in (in_columns, by_events))
    assert in_columns.were_whole == (cut < 2)
    assert one == other
    assert ("ends in the middle" in one) == (cut == 2)


def named(some: list[Row], how: str) -> list[Row]:
    """Rows with texts, or large numbers, as items."""
    of = {"texts": lambda item: f"ab{item * 7919 % 1000}",
          "large numbers": lambda item: (item << 50) - 5}[how]
    return [row if row.get("item") is None else {**row, "item": of(row["item"])} for row in some]


@pytest.mark.parametrize("how", ["texts", "large numbers"])
@pytest.mark.parametrize("kind", ["lane", "permits", "queue"])
def test_items_may_have_any_names(
    kind: str, how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Texts and large numbers are judged in whole columns, as event by event."""
    found = []
    for seed in range(6):
        in_chunks(monkeypatch, [1 << 18, 100, 60][seed % 3])
        some = rows(kind, seed)
        if kind == "permits":   # a permit is given back by another process, for an item
            some = [{**row, "item": int(row["process"])} for row in some]
        ending = ".jsonl" if seed % 2 else ".parquet"
        whole, one, other = both(written(tmp_path / f"log{ending}", named(some, how)), kind)
        assert whole
        assert one == other, seed
        found += one
    assert any("'violated'" in row for row in found)


@pytest.mark.parametrize("kind", ["lane", "queue"])
def test_what_is_forgotten_makes_no_violation(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where few texts are remembered, nothing is violated that is not; what is open stays known."""
    in_chunks(monkeypatch, 60)
    less = 0

    def broken(told_: list[str]) -> set[str]:
        return {row[:120] for row in told_ if "'violated'" in row}
    for seed in range(12):
        whole, one, other = both(written(
            tmp_path / "log.parquet", named(rows(kind, seed), "texts")), kind, remember=4)
        assert whole
        assert broken(one) <= broken(other), seed
        less += len(broken(other)) - len(broken(one))
    assert kind == "lane" or less > 0


@pytest.mark.parametrize("name", ["log.csv", "quoted.csv", "log.csv.gz"])
@pytest.mark.parametrize("kind", KINDS)
def test_csv_is_judged_in_whole_columns(kind: str, name: str, tmp_path: Path) -> None:
    """As row by row, with the same lines; numbers are written out, and items are texts."""
    for seed in range(2):
        whole, one, other = both(written(tmp_path / name, rows(kind, seed)), kind)
        assert whole
        assert one == other, seed


_HEAD = "key,operation,phase,item,value,time\n"


@pytest.mark.parametrize("text", [
    'k,emits,point,"a,b",,\n', 'k,emits,point,"",,\n', "k,emits,point,a,, 5\n", "\n",
    'k,emits,point,"a\nb",,\nk,processes,point,"a\nb",,\n', 'k,emits,point,"a""b",,\n',
    'k,emits,point,a"b,,\n', 'k,emits,point,"a"b,,\n', "k,emits,point,a,0x10,\n",
    "k,emits,point,a,,1.5\n", "k,emits,point,a\n", "k,emits,point,a,,,\n",
    "k,emits,point,a\rb,,\n", "k,emits,point,a,,\r\r\n", "k,emits,point,\0,,\n",
    "k,emits,point,\xe4,,\n",
    "k,emits,point,a,1_0,", "k,emits,point,a,007,1700000000000000001\nk,emits,point,a,,9\n",
    "k,emits,point,a,99999999999999999999,", "k,nonsense,point,a,,", '"k,emits,point,a,,\n',
])
def test_unusual_csv_says_what_the_rows_say_one_by_one(text: str, tmp_path: Path) -> None:
    """Quotes, empty lines, odd numbers, letters that are no UTF-8: the same answer or error."""
    path = tmp_path / "log.csv"
    path.write_bytes((_HEAD + "k,emits,point,b,,\n" + text).encode("latin-1"))

    logs = logs_of("storm.topology")
    terms = terms_of(plain(), {}, False, 100)
    one, other = (answer(judge, [Log(path, plain(), list(logs.operations))], logs, terms)
                  for judge in (run.judge_files, by_events))
    assert one == other


_HISTORY = re.compile(r"'history': .*?, 'before':")


def timed(some: list[Row], random: Random, skew: int) -> list[list[Row]]:
    """Rows with the times of clocks that differ, in files of which each has some processes; a few
    stand not where their time is."""
    time, files = 1_700_000_000_000_000_000, list[list[Row]]([[], [], []])
    off = [random.randint(-skew, skew) for _ in files]
    where: dict[str, int] = {}
    for row in some:
        time += random.choice([0, 1, 5, 40])
        at = where.setdefault(row["process"], random.randrange(3))
        files[at].append({**row, "time": time + off[at]})
    for file in files:
        for _ in range(len(file) // 40):
            place = random.randrange(len(file))
            file.insert(max(0, place - random.randrange(12)), file.pop(place))
    return [file for file in files if file]


@pytest.mark.parametrize("tolerance", [0, 7, 60])
@pytest.mark.parametrize("kind", KINDS)
def test_files_in_the_order_of_clocks_are_judged_in_whole_columns(
    kind: str, tolerance: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As event by event, whatever the tolerance, the skew, the chunks and the formats; what is
    sorted too little is refused in the same words."""
    suite, settings, _ = KINDS[kind]
    logs, many, in_columns = logs_of(suite), 0, InColumns()
    mapped = replace(plain(), order="time", tolerance=tolerance)
    terms = terms_of(mapped, settings, False, 1_000_000)
    for seed in range(12):
        random = Random(seed)
        in_chunks(monkeypatch, [1 << 18, 100, 50][seed % 3])
        for module in (order, ordered):
            monkeypatch.setattr(module, "WINDOW", [100_000, 25, 9][seed // 3 % 3])
        some = timed(rows(kind, seed), random, tolerance // 2)
        if seed % 2:
            some = [named(file, "texts") for file in some]
        endings = [".parquet", ".jsonl", ".csv"][:2 + seed % 2]
        paths = [written(tmp_path / f"{at}{random.choice(endings)}", file)
                 for at, file in enumerate(some)]

        def files(paths: list[Path] = paths) -> list[Log]:
            return [Log(path, mapped, list(logs.operations)) for path in paths]

        one, other = (answer(judge, files(), logs, terms) for judge in (in_columns, by_events))
        many += in_columns.were_whole
        if kind == "queue":     # an item that ended long before is forgotten at other moments
            one, other = (_HISTORY.sub("", each) for each in (one, other))
        assert one == other, seed
    assert many >= 4 or (kind == "marks" and tolerance)     # the order of processes is looked at


@pytest.mark.parametrize("ending", [".parquet", ".jsonl", ".csv"])
@pytest.mark.parametrize("how", ["iso", "iso at a place", "s", "ms", "us"])
def test_times_may_be_written_in_any_way(how: str, ending: str, tmp_path: Path) -> None:
    """ISO 8601, and fractions of any unit, are rounded as row by row."""
    logs = logs_of("queue")
    unit = how.partition(" ")[0]
    mapped = replace(plain(), order="time", unit=unit)
    terms = terms_of(mapped, {"capacity": 8}, False, 1_000_000)
    nanoseconds, random = 1_764_327_000_123_456_000, Random(3)
    some = rows("queue", 1)
    for row in some:
        nanoseconds += random.randrange(1, 2_000_000)
        moment = datetime.fromtimestamp(nanoseconds / 1e9, timezone(timedelta(hours=5, minutes=30)))
        row["time"] = (moment.isoformat() if "place" in how else
                       moment.astimezone(UTC).isoformat().replace("+00:00", "Z") if unit == "iso"
                       else nanoseconds / {"s": 10**9, "ms": 10**6, "us": 10**3}[unit])
        row["item"] = row.get("item") if row.get("item") is None else f"i{row['item']}"
    path = tmp_path / f"log{ending}"
    if ending == ".parquet":
        names = ("key", "process", "operation", "phase", "item", "result", "time")
        parquet.write_table(pa.table({name: pa.array([row.get(name) for row in some])
                                      for name in names}), path)
    else:
        written(path, some)

    def log() -> Log:
        return Log(path, mapped, list(logs.operations))
    in_columns = InColumns()
    one, other = (_HISTORY.sub("", answer(judge, [log()], logs, terms))
                  for judge in (in_columns, by_events))
    assert in_columns.were_whole
    assert one == other
    assert "'violated'" in one


def test_a_time_of_another_unit_is_refused_in_the_same_words(tmp_path: Path) -> None:
    """Arrow reads a text as a timestamp of itself; a log in nanoseconds has none."""
    some = [{**row, "time": f"2026-11-28T11:00:{at:02}Z"} for at, row in
            enumerate(rows("lane", 1)[:50])]
    logs, path = logs_of("storm.topology"), written(tmp_path / "log.jsonl", some)
    one, other = (answer(judge, [Log(path, plain(), list(logs.operations))], logs, Terms())
                  for judge in (run.judge_files, by_events))
    assert one == other
    assert "no time in ns" in one


@pytest.mark.parametrize("unit", ["s", "ms", "us"])
@pytest.mark.parametrize("zone", ["UTC", "Asia/Kolkata", None])
def test_timestamps_of_a_table_are_the_same_times(
    zone: str | None, unit: str, tmp_path: Path
) -> None:
    """As row by row; those without a zone are of the place where it is judged."""
    logs, path = logs_of("storm.topology"), tmp_path / "log.parquet"
    mapped = replace(plain(), order="time")
    some = rows("lane", 1)
    stamps = pa.array([1_764_327_000 * {"s": 1, "ms": 10**3, "us": 10**6}[unit] + at
                       for at in range(len(some))], pa.timestamp(unit, zone))
    parquet.write_table(pa.table({"time": stamps, **{
        name: pa.array([row.get(name) for row in some])
        for name in ("key", "process", "operation", "phase", "item")}}), path)
    terms = terms_of(mapped, {}, False, 1_000_000)
    in_columns = InColumns()
    one, other = (answer(judge, [Log(path, mapped, list(logs.operations))], logs, terms)
                  for judge in (in_columns, by_events))
    assert one == other
    assert zone is None or in_columns.were_whole


def test_what_the_recorder_wrote_is_judged_in_whole_columns(tmp_path: Path) -> None:
    """Its header is no event, and its calls have numbers of their own."""
    with Recorder(tmp_path / "log.jsonl") as recorder:
        for item in range(50):
            with recorder.call("jobs", "put", identity(str(item))):
                pass
            with recorder.call("jobs", "take") as call_:
                call_.item = identity(str(item // 2))
    whole, one, other = both(recorder.file, "queue")
    assert whole
    assert one == other
    assert any("'violated'" in row for row in one)


@pytest.mark.parametrize("closer", ["empty line"])
def test_what_needs_a_closer_look_is_judged_event_by_event(closer: str, tmp_path: Path) -> None:
    """Identities that are texts, lines that shift the numbers of others, numbers beyond a word."""
    some = rows("lane", 3)
    path = written(tmp_path / "log.jsonl", some)
    if closer == "empty line":
        path.write_text("\n" + path.read_text())
    whole, one, other = both(path, "lane")
    assert not whole
    assert one == other


@pytest.mark.parametrize("machine", [BoundedQueue, Permits, ObservedRate])
def test_a_machine_as_machine_code_takes_what_the_interpreter_takes(machine: Any) -> None:
    """From random states, any action with arguments in its range: the same states after it."""
    bound = bind(machine, **({"r": 2, "b": 4} if machine is ObservedRate else {}))
    names = [name for name, action in machine.actions_declared.items() if len(action.over) <= 2]
    over = {name: [each for each, _ in machine.actions_declared[name].over] for name in names}
    runner = Runner(bound, [Step(name, dict(zip(over[name], ("first", "second"), strict=False)))
                            for name in names])
    random, interpreter = Random(5), bound.interpreter
    state, native, one = interpreter.initial(), runner.initial(1), np.zeros(1, np.int64)
    taken = 0
    for _ in range(3_000):
        name, args = random.choice([step for step in interpreter.steps() if step[0] in over])
        try:
            after = interpreter.step(state, name, args)
        except ModelFault:
            after = None
        given = [np.array([value]) for _, value in args] + [one, one]
        stopped = runner.run(native, one, one, one + 1, np.array([names.index(name)]), given[0],
                             given[1], one)
        assert (stopped[0] < 0) == (after is not None), (state, name, args)
        taken += after is not None
        state = state if after is None else after
        assert interpreter.from_slots(runner.slots(native[0])) == state
        if random.random() < 0.02:
            state, native = interpreter.initial(), runner.initial(1)
    assert taken > 100


def test_a_table_of_runs_is_a_table() -> None:
    """It says of each number what was added for it, and takes next to nothing."""
    random, table, known = Random(1), Runs(), dict[int, int]()
    for _ in range(20):
        start = random.randrange(300)
        fresh = [number for number in range(start, start + 30) if number not in known]
        known |= {number: 1_000 + number for number in fresh}
        table.add(np.array(fresh, np.int64), np.array(fresh, np.int64) + 1_000)
    asked = np.arange(400)
    assert table.numbers(asked, -1).tolist() == [known.get(number, -1) for number in range(400)]
    assert table.has(asked).tolist() == [number in known for number in range(400)]
    assert dict(zip(*(part.tolist() for part in table.between(0, 400)), strict=True)) == known


_WITHOUT_PANDAS = """
import sys
from checkvalve.conformance.columns import run
from checkvalve.conformance.cli import main
run.LEAST = 0
try:
    main()
finally:
    assert "llvmlite" in sys.modules, "it was judged event by event"
    assert "pandas" not in sys.modules
"""


def test_a_log_in_whole_columns_is_judged_without_importing_pandas(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text("".join(
        f'{{"key": "k", "operation": "{does}", "phase": "point", "item": {at}}}\n'
        for at in range(9) for does in ("emits", "processes")))
    found = subprocess.run(
        [sys.executable, "-c", _WITHOUT_PANDAS, "judge", str(path), "--suite", "storm.topology"],
        capture_output=True, text=True, check=False)
    assert (found.returncode, found.stderr) == (0, "")
