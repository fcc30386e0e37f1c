"""A log that continues, judged piece by piece, has the findings of the whole log."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import pytest
from test_logs_patience import log_of_many

from checkvalve.conformance.engines.following import wait_for
from checkvalve.conformance.engines.log_parts import KeyPart, logs_of
from checkvalve.conformance.engines.log_pieces import (
    AT_ONCE, FORGOTTEN, MS, Pace, piece_judged, timer,
)
from checkvalve.conformance.logs.events import Event
from checkvalve.conformance.logs.kinds import Terms
from checkvalve.conformance.logs.order import in_order
from checkvalve.conformance.logs.mapping import plain
from checkvalve.conformance.logs.readers import Log
from checkvalve.conformance.logs.rows import rows_of
from checkvalve.conformance.logs.run import judge_files

S = 10 ** 9
Row = Mapping[str, Any]
Line = tuple[int, Row]
EXECUTOR = Terms({"workers": 2, "policy": 5}, patience=25 * S)


@dataclass
class Stream:
    """A query of Spark as far as it matters: state, timers and the watermark, which begins in 1970
    and is known to the batch after."""

    suite: str
    terms: Terms
    pace: Pace = AT_ONCE
    file: str = "log.jsonl"
    found: list[Row] = field(default_factory=list)
    kept: dict[str, bytes] = field(default_factory=dict)
    _timers: dict[str, int] = field(default_factory=dict)
    _watermark: int = 0

    def takes(self, lines: Sequence[Line]) -> None:
        """A batch with events, and one without, as Spark has it when the watermark has moved."""
        keys: dict[str, list[tuple[str, int, str]]] = {}
        for number, row in lines:
            event = Event(**{"process": "", **row, "file": self.file, "line": number})
            keys.setdefault(event.key, []).append(
                (self.file, number, json.dumps([*event, None])))
        self._batch(keys)
        latest = max(row["time"] for _, row in lines)
        self._watermark = max(self._watermark, latest // MS - -(-self.pace.late // MS))
        self._batch({})

    def _batch(self, keys: Mapping[str, list[tuple[str, int, str]]]) -> None:
        late = [key for key, at in self._timers.items() if at < self._watermark and key not in keys]
        for key in (*keys, *late):
            self._timers.pop(key, None)
            kept, rows, wakes = piece_judged(
                self.suite, self.terms, key, self.kept.get(key), keys.get(key, ()), self.pace,
                self._watermark * MS)
            self.kept[key] = kept
            self.found += rows
            if wakes is not None:
                assert timer(wakes) >= self._watermark, "Spark refuses a timer that is over"
                self._timers[key] = timer(wakes)


def cut(lines: Sequence[Line], random: Random) -> Iterable[Sequence[Line]]:
    """A log in pieces."""
    at = 0
    while at < len(lines):
        end = at + random.choice([1, 2, 5, 40])
        yield lines[at:end]
        at = end


def streamed(lines: Sequence[Line], random: Random, *of: Any) -> list[Row]:
    """The findings in a stream of some lines, in the order of their words."""
    stream = Stream(*of)
    for piece in cut(lines, random):
        stream.takes(piece)
    return sorted(stream.found, key=str)


def at_once(path: Path, rows: Sequence[Row], suite: str, terms: Terms) -> list[Row]:
    """The findings in the whole log."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    logs = logs_of(suite)
    judged = judge_files([Log(path, plain(), list(logs.operations))], logs, terms, keeps=True)
    return sorted(({**row, "file": path.name, "event": words(row["event"], path),
                    "history": words(row["history"], path), "before": words(row["before"], path)}
                   for row in rows_of(judged.notes)), key=str)


def words(text: str | None, path: Path) -> str | None:
    """Events as text, with the name of their file alone."""
    return text and text.replace(str(path), path.name)


def numbered(rows: Iterable[Row]) -> list[Line]:
    """Rows with their lines."""
    return list(enumerate(rows, 1))


@pytest.mark.parametrize("seed", range(3))
def test_a_stream_knows_the_rests_of_the_whole_log(tmp_path: Path, seed: int) -> None:
    """However it is cut, it has each finding once: its clock is that of the events."""
    rows = log_of_many(seed)
    whole = at_once(tmp_path / "log.jsonl", rows, "executor", EXECUTOR)
    assert any(row["rule"] == "EXEC-3" for row in whole)
    assert streamed(numbered(rows), Random(seed), "executor", EXECUTOR) == whole


@pytest.mark.parametrize("seed", range(3))
def test_events_that_come_late_within_what_is_stated_change_nothing(
    tmp_path: Path, seed: int
) -> None:
    """They are put in order, and no key rests by the times of others before they have come."""
    random, late = Random(seed), 30
    rows = log_of_many(seed)
    rows = [*rows, {**rows[-1], "key": "end", "operation": "submits",
                    "time": rows[-1]["time"] + 1_000 * S}]
    lines = sorted(numbered(rows), key=lambda each: each[1]["time"] + random.randint(0, late) * S)
    whole = at_once(tmp_path / "log.jsonl", rows, "executor", EXECUTOR)
    pace = Pace(late=late * S + 1)
    assert streamed(lines, random, "executor", EXECUTOR, pace) == whole


def point(operation: str, item: str, time: int, key: str = "k") -> Row:
    """A point at a second of 2023."""
    return {"key": key, "operation": operation, "phase": "point", "item": item,
            "time": (1_700_000_000 + time) * S}


WAITS = [point("submits", "x", 0), point("starts", "x", 1), point("submits", "y", 2)]


def executor(*pieces: Sequence[Row], pace: Pace = AT_ONCE) -> list[tuple[str, str]]:
    """The findings at "k" in pieces of an executor's log, each with its rule."""
    stream = Stream("executor", EXECUTOR, pace)
    for piece in pieces:
        stream.takes(numbered(piece))
    return [(row["found"], row["rule"]) for row in stream.found if row["key"] == "k"]


def test_no_key_rests_by_the_first_watermark() -> None:
    """It is 1970, and what another key says later counts; twice is once."""
    late = [point(name, item, time, "other") for name, item, time in (
        ("submits", "z", 26), ("starts", "z", 27), ("finishes", "z", 90), ("submits", "w", 300))]
    assert executor(WAITS) == []
    assert executor(WAITS, late[:1]) == []
    assert executor(WAITS, *([each] for each in late)) == [("violated", "EXEC-3")]


def test_what_is_late_beyond_what_is_stated_makes_a_key_unknown() -> None:
    """It had been said to rest, and its other rules are not judged any more."""
    other, event = [point("submits", "z", 27, "other")], [point("starts", "y", 20)]
    found = executor([*WAITS[:2]], other, event)
    assert {rule for _, rule in found} == {rule.id for rule in logs_of("executor").rules}
    assert {kind for kind, _ in found} == {"unknown"}
    assert executor(WAITS[:2], other, event, pace=Pace(late=10 * S)) == []


def test_a_key_that_came_late_is_forgotten_when_it_is_silent() -> None:
    """Not while it has events, which are not judged."""
    stream = Stream("executor", EXECUTOR, Pace(forget=30 * S))
    for event in (WAITS[2], WAITS[1], point("starts", "u", 25), point("starts", "u", 50)):
        stream.takes([(1, event)])      # the last two start what was not submitted
    assert {(row["found"], row["time"]) for row in stream.found} == {("unknown", WAITS[1]["time"])}
    stream.takes([(1, point("submits", "z", 79, "other"))])
    assert stream.kept["k"] != FORGOTTEN
    stream.takes([(1, point("submits", "z", 80, "other"))])
    assert stream.kept["k"] == FORGOTTEN


@pytest.mark.parametrize("seed", range(2))
def test_what_is_forgotten_does_not_depend_on_the_pieces(seed: int) -> None:
    """A key that was silent for so long is judged from the middle, in whatever batch it returns."""
    lines, pace = numbered(log_of_many(seed)), Pace(forget=27 * S)
    found = [streamed(lines, Random(cut), "executor", EXECUTOR, pace) for cut in range(3)]
    assert found[0] == found[1] == found[2]


def test_a_key_is_forgotten_by_the_times_of_others() -> None:
    """And nothing is made up when it returns: its message may have been published before."""
    again = [point(name, "x", time) for name, time in (("receive", 91), ("ack", 92))]
    for others, is_forgotten in (([], True), ([point("publish", "o", 80, "other")], True),
                                 ([point("publish", "o", 50, "other")], False)):
        stream = Stream("delivery", Terms({"law": 4}), Pace(forget=60 * S))
        stream.takes(numbered([point("publish", "y", 0), point("publish", "y2", 10)]))
        if others:
            stream.takes(numbered(others))
            assert (stream.kept["k"] == FORGOTTEN) is is_forgotten
        stream.takes(numbered(again))
        assert [row for row in stream.found if row["found"] == "violated"] == []


def calls(random: Random) -> list[Row]:
    """Calls at one queue, by several processes; a process does one thing at a time."""
    rows, free = list[tuple[int, Row]](), dict.fromkeys("abc", 0)
    for item in range(30):
        process = random.choice("abc")
        begin = free[process] + random.randint(0, 4)
        free[process] = begin + random.randint(1, 6)
        call = {"key": "q", "process": process, "operation": "put", "item": item}
        rows += [(begin, {**call, "phase": "begin"}), (free[process], {**call, "phase": "end"})]
    rows.sort(key=lambda each: each[0])
    return [{**row, "time": (1_700_000_000 + time) * S} for time, row in rows]


def test_a_call_that_began_before_its_key_was_forgotten_has_no_begin() -> None:
    """The key is judged as if its log began with what comes after."""
    rows = [call for call in calls(Random(1)) if call["process"] == "a"][:7]
    rows += [{**row, "time": row["time"] + 100 * S} for row in (rows.pop(), *(
        call for call in calls(Random(2)) if call["process"] == "b"))]
    found = [Stream("queue", Terms({"capacity": 2}), Pace(forget=60 * S)) for _ in range(2)]
    found[1].kept["q"] = FORGOTTEN
    found[0].takes(numbered(rows))
    found[1].takes(numbered(rows)[6:])
    assert found[0].found == found[1].found


def test_a_timer_task_that_was_added_before_the_log_is_not_early() -> None:
    """Of its call only the end is there, which may be long after it was added."""
    rows = [{**point("adds", "x", 100), "phase": "end", "value": 90_000}, point("runs", "x", 110)]
    stream = Stream("timer", Terms(from_start=False))
    stream.takes(numbered(rows))
    assert stream.found == []


def test_a_queue_that_was_found_empty_within_a_stream_has_lost_what_was_inside() -> None:
    """An event of the log says so, and no option: a stream has no end."""
    stream = Stream("queue", Terms({"capacity": 2}))
    for row in (point("put", "x", 1), {**point("drained", "x", 2), "item": None}):
        stream.takes([(1, row)])
    assert [(row["found"], row["rule"]) for row in stream.found] == [("violated", "QUEUE-4")]


def pairs(events: Sequence[Event]) -> list[tuple[Any, int]]:
    """The events, each with the place of the begin of its call."""
    begun: dict[int, int] = {}
    return [((each.line, each.phase), begun.setdefault(each.call, at))
            for at, each in enumerate(events)]


@pytest.mark.parametrize("late", [0, 5])
@pytest.mark.parametrize("seed", range(3))
def test_clocks_that_differ_order_a_stream_as_the_whole_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, late: int
) -> None:
    """Events wait until none can come before them: the judge takes the same ones in the same order,
    with the same calls."""
    random, taken, tolerance = Random(seed), list[Event](), 7 * S
    rows = calls(random)
    rows.append({**rows[-1], "process": "last", "phase": "point", "operation": "put",
                 "time": rows[-1]["time"] + 100 * S})
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    logs = logs_of("queue")
    mapped = plain().__class__(**{**vars(plain()), "order": "time", "tolerance": tolerance})
    whole = list(in_order([Log(path, mapped, list(logs.operations))], logs.named("sends"),
                          logs.named("receives")))
    takes: Callable[..., bool] = KeyPart.takes

    def noted(self: KeyPart, event: Event, call: str | None, file: int) -> bool:
        taken.append(event)
        return takes(self, event, call, file)

    monkeypatch.setattr(KeyPart, "takes", noted)
    lines = sorted(numbered(rows), key=lambda each: each[1]["time"] + random.randint(0, late) * S)
    streamed(lines, random, "queue", Terms({"capacity": 99}, tolerance=tolerance),
             Pace(late=late * S + bool(late)))
    assert pairs(taken) == pairs(whole[:-1])


class Interrupted:
    """A query that is interrupted while it runs: what Java answers then is of another call."""

    stops = 0

    def awaitTermination(self) -> None:
        """Be interrupted."""
        raise KeyboardInterrupt

    def stop(self) -> None:
        """Be stopped, and get a wrong answer."""
        self.stops += 1
        raise RuntimeError("Answer from Java side is empty")


def test_an_interrupt_ends_a_query_as_an_interrupt() -> None:
    """And not as an error of Spark's."""
    query = Interrupted()
    with pytest.raises(KeyboardInterrupt):
        wait_for(query)
    assert query.stops == 1
