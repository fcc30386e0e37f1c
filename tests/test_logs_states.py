"""The judge in the state of a query: one timer a key, whenever an edition of Spark runs it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import le, lt
from pathlib import Path
from random import Random
from typing import Any

import pytest
from test_logs_followed import EXECUTOR, WAITS, S, at_once, cut, numbered, point
from test_logs_patience import log_of_many

from checkvalve.conformance.engines.following import follow_on_spark
from checkvalve.conformance.engines.judging import Asked
from checkvalve.conformance.engines.log_parts import logs_of
from checkvalve.conformance.engines.log_pieces import AT_ONCE, MS, Pace
from checkvalve.conformance.engines.log_states import judging
from checkvalve.conformance.engines.session import explain
from checkvalve.conformance.logs.mapping import plain
from checkvalve.spec.notation.errors import InputError

Row = Mapping[str, Any]
Runs = Callable[[int, int], bool]
"""If a timer at a time runs, with the watermark at another."""


@dataclass
class Kept:
    """The state and the timers of all keys, as Spark's handle has them for one key at a time."""

    key: str = ""
    states: dict[str, tuple[bytes, int]] = field(default_factory=dict)
    timers: dict[str, set[int]] = field(default_factory=dict)
    watermark: int = 0

    def getValueState(self, name: str, schema: str) -> Kept:
        """The one state that is asked for."""
        assert (name, schema) == ("judge", "judge binary, timer bigint")
        return self

    def get(self) -> tuple[bytes, int] | None:
        """The state of the key."""
        return self.states.get(self.key)

    def update(self, value: tuple[bytes, int]) -> None:
        """Another state of the key."""
        self.states[self.key] = value

    def registerTimer(self, at: int) -> None:
        """A timer, which is one of those of the key."""
        self.timers.setdefault(self.key, set()).add(at)

    def deleteTimer(self, at: int) -> None:
        """Take away a timer that is there."""
        self.timers[self.key].remove(at)

    def getCurrentWatermarkInMs(self) -> int:
        """The watermark of the batch."""
        return self.watermark


class Expired:
    """The time of a timer that runs."""

    def __init__(self, at: int) -> None:
        self._at = at

    def getExpiryTimeInMs(self) -> int:
        """The time, in milliseconds."""
        return self._at


class Query:
    """A query of Spark's as far as a processor sees it: first the rows of a batch, then the timers
    that run by now, each of which is taken away after it has run."""

    def __init__(self, pace: Pace, runs: Runs) -> None:
        self._kept, self._pace, self._runs = Kept(), pace, runs
        self._judge = judging("executor", EXECUTOR, pace, is_timed=pace.needs_times(EXECUTOR))
        self._judge.init(self._kept)  # type: ignore[arg-type]
        self.found: list[Row] = []

    def takes(self, lines: Sequence[tuple[int, Row]]) -> None:
        """A batch with events, and one without, when the watermark has moved."""
        import json

        from checkvalve.conformance.logs.events import Event

        keys: dict[Any, list[tuple[str, int, str]]] = {float("nan"): [("", 0, "")]}
        for number, row in lines:
            event = Event(**{"process": "", **row, "file": "log.jsonl", "line": number})
            keys.setdefault(event.key, []).append(
                (event.file, number, json.dumps([*event, None])))
        self._batch(keys)
        latest = max(row["time"] for _, row in lines)
        self._kept.watermark = max(
            self._kept.watermark, latest // MS - -(-self._pace.late // MS))
        self._batch({})

    def _batch(self, keys: Mapping[Any, list[tuple[str, int, str]]]) -> None:
        kept = self._kept
        for key, rows in keys.items():
            kept.key = key
            frame = dict(zip(("file", "line", "event"), zip(*rows, strict=True), strict=True))
            self._notes(self._judge.handleInputRows(
                (key,), iter([frame]), kept))  # type: ignore[arg-type]
        due = sorted((at, key) for key, all_of in kept.timers.items() for at in all_of
                     if self._runs(at, kept.watermark))
        for at, key in due:
            kept.key = key
            self._notes(self._judge.handleExpiredTimer(
                (key,), kept, Expired(at)))  # type: ignore[arg-type]
            kept.timers[key].discard(at)
        for key, (_, at) in kept.states.items():
            assert kept.timers.get(key, set()) == ({at} if at else set()), "one timer a key"

    def _notes(self, frames: Iterator[Any]) -> None:
        for each in frames:
            self.found += each.to_dict("records")


def words(rows: Sequence[Row]) -> list[str]:
    """Findings in an order, without what pandas has for nothing."""
    return sorted(str({name: None if value != value else value for name, value in row.items()})
                  for row in rows)


@pytest.mark.parametrize("runs", [lt, le])
@pytest.mark.parametrize("seed", range(2))
def test_timers_of_states_know_the_rests_of_the_whole_log(
    tmp_path: Path, seed: int, runs: Runs
) -> None:
    """However it is cut, and whenever timers run: at their time, or when it is over."""
    rows, random, late = log_of_many(seed), Random(seed), seed * 30
    rows = [*rows, {**rows[-1], "key": "end", "operation": "submits",
                    "time": rows[-1]["time"] + 1_000 * S}]
    lines = sorted(numbered(rows), key=lambda each: each[1]["time"] + random.randint(0, late) * S)
    query = Query(Pace(late=late * S + 1) if late else AT_ONCE, runs)
    for piece in cut(lines, random):
        query.takes(piece)
    assert words(query.found) == words(at_once(tmp_path / "log.jsonl", rows, "executor", EXECUTOR))


@pytest.mark.parametrize("runs", [lt, le])
def test_a_timer_that_runs_too_early_is_set_again(runs: Runs) -> None:
    """A key rests 25 s after its last event, to the nanosecond: with the watermark a millisecond
    before, nothing is said, and with it there, all is, once."""
    query = Query(AT_ONCE, runs)
    for time, number in ((2, 0), (27 - 0.001, 0), (27, 1), (28, 1)):
        query.takes(numbered(WAITS) if time == 2 else [
            (9, {**point("submits", f"z{time}", 0, f"other {time}"),
                 "time": (1_700_000_000 + 27) * S + round((time - 27) * 1_000) * MS})])
        found = [row["rule"] for row in query.found if row["key"] == "k"]
        assert found == ["EXEC-3"] * number


def test_a_lack_of_protobuf_is_said_before_a_query_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the way to get it; Spark says so only once a stream runs."""
    monkeypatch.delitem(sys.modules, "pyspark.sql.streaming.proto.StateMessage_pb2", raising=False)
    monkeypatch.setitem(sys.modules, "google.protobuf", None)
    mapped = plain().__class__(**{**vars(plain()), "order": "time"})
    asked = Asked([str(tmp_path)], "executor", logs_of("executor"), mapped, EXECUTOR)
    none: Any = None
    with pytest.raises(InputError, match="--follow needs protobuf") as error:
        follow_on_spark(none, asked, "checkpoint", "out")
    assert "pip install" in error.value.next_step


def test_a_checkpoint_of_another_operator_is_one_message() -> None:
    """As of any other edition."""
    said = ("[STREAM_FAILED] terminated with exception: "
            "[STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA] Stateful operators in the "
            "metadata: [(OperatorId: 0 -> OperatorName: applyInPandasWithState)]")
    error = explain(Exception(said), "following the log")
    assert error.what.endswith("this checkpoint was written by another edition of checkvalve")
    assert error.next_step == "Judge the log from its begin, with a new --checkpoint and --out."
