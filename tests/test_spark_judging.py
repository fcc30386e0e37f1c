"""Logs judged on Spark: the rows and verdicts are those of one machine, whatever the partitions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from checkvalve.conformance.engines import judging
from checkvalve.conformance.engines.following import follow_on_spark
from checkvalve.conformance.engines.judging import ANSWER, Asked, judge_on_spark
from checkvalve.conformance.engines.log_pieces import Pace
from checkvalve.conformance.engines.session import spark_session
from checkvalve.conformance.logs.answer import document
from checkvalve.conformance.logs.mapping import Mapped, plain
from checkvalve.conformance.engines.log_parts import logs_of
from checkvalve.conformance.logs.readers import Log
from checkvalve.conformance.logs.rows import COUNTS, rows_of
from checkvalve.conformance.logs.run import judge_files, terms_of
from checkvalve.spec.notation.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

Row = dict[str, Any]


@pytest.fixture(scope="module")
def session() -> Iterator[SparkSession]:
    """A session that reads texts in blocks of 6 kB, so that each file has several."""
    with spark_session("local[2]", {"spark.sql.files.maxPartitionBytes": "6k",
                                    "spark.sql.files.openCostInBytes": "1",
                                    "spark.sql.shuffle.partitions": "2"}) as running:
        yield running


def calls(key: str, random: Random) -> Iterator[Row]:
    """Calls on one queue: puts, and takes in their order, each of a process of its own."""
    inside = list[int]()
    for item in range(8):
        for operation in ("put", "take") if random.random() < 0.7 else ("put",):
            about = {"key": key, "process": f"{operation}-{item}", "operation": operation}
            taken: Row = {"item": item}
            if operation == "take":
                taken = {"item": inside.pop(0)}
            else:
                inside.append(item)
            yield {**about, **(taken if operation == "put" else {}), "phase": "begin"}
            yield {**about, **taken, "phase": "end"}


def swapped(rows: list[Row]) -> list[Row]:
    """Two takes get each other's items."""
    takes = [row for row in rows if row["operation"] == "take" and row["phase"] == "end"]
    if len(takes) > 1:
        takes[0]["item"], takes[1]["item"] = takes[1]["item"], takes[0]["item"]
    return rows


def doubled(rows: list[Row]) -> list[Row]:
    """A take gets what came out before."""
    return [*rows, *({**row, "process": "again", "phase": phase} for row in rows if
                     row["operation"] == "take" and row["phase"] == "end"
                     for phase in ("begin", "end"))]


FAULTS: Mapping[str, Callable[[list[Row]], list[Row]]] = {
    "swapped": swapped, "doubled": doubled,
    "named twice": lambda rows: [*rows, *rows[:2]],
    "not begun": lambda rows: [rows[1], *rows], "right": lambda rows: rows}


def log(seed: int = 26) -> list[Row]:
    """Three queues of each fault, their calls mixed; times in the order of the lines."""
    random = Random(seed)
    queues = [fault(list(calls(f"{name} {number}", random)))
              for name, fault in FAULTS.items() for number in range(3)]
    mixed = list[Row]()
    while queues:
        one = random.choice(queues)
        mixed.append(one.pop(0))
        queues = [each for each in queues if each]
    return [{**row, "time": 1_000_000 + at} for at, row in enumerate(mixed)]


def written(path: Path, rows: list[Row]) -> Path:
    """The rows in a file of the format that its name says."""
    import pyarrow as arrow
    import pyarrow.csv
    import pyarrow.parquet

    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return path
    names = ["key", "process", "operation", "phase", "item", "time"]
    table = arrow.Table.from_pylist([{name: row.get(name) for name in names} for row in rows])
    if path.suffix == ".csv":
        pyarrow.csv.write_csv(table, path)
    else:
        pyarrow.parquet.write_table(table, path, row_group_size=50)
    return path


def locally(paths: list[Path], mapped: Mapped) -> tuple[list[Row], Mapping[str, Any]]:
    """The rows and the document of the local engine."""
    logs = logs_of("queue")
    judged = judge_files([Log(path, mapped, list(logs.operations)) for path in paths], logs,
                         terms_of(mapped, {"capacity": 9}, False, 1000), keeps=True)
    return in_order(rows_of(judged.notes)), document(judged, logs)


def asked(places: list[Any], mapped: Mapped | None = None) -> Asked:
    """An order for Spark."""
    of = mapped or plain()
    return Asked([str(place) for place in places], "queue", logs_of("queue"), of,
                 terms_of(of, {"capacity": 9}, False, 1000))


def in_order(rows: Any) -> list[Row]:
    """Rows of findings in one order."""
    return sorted((dict(row) for row in rows if row["found"] != COUNTS),
                  key=lambda row: json.dumps(row, sort_keys=True))


def on_spark(session: SparkSession, order: Asked, out: Path, partitions: int
             ) -> tuple[list[Row], Mapping[str, Any]]:
    """The rows that Spark wrote, and the document."""
    import pyarrow.parquet

    judged = judge_on_spark(session, order, out=str(out), partitions=partitions)
    table = pyarrow.parquet.ParquetDataset(sorted(map(str, out.glob("*.parquet")))).read()
    return in_order(table.to_pylist()), document(judged, order.logs)


def agree(one: Mapping[str, Any], other: Mapping[str, Any]) -> None:
    """The documents say the same; Spark's names the first key of each cause alone."""
    for name in ("outcome", "events", "keys", "ignored", "dropped"):
        assert one[name] == other[name], name
    for here, there in zip(one["rules"], other["rules"], strict=True):
        assert {**here, "why": None} == {**there, "why": None}
    first: dict[Any, Row] = {}
    for each in one["violations"]:
        cause = (each["rule"], each["event"]["operation"], each["event"]["result"], each["needed"])
        first.setdefault(cause, {**each, "event": None, "history": None, "before": None})
    assert [{**each, "event": None, "history": None, "before": None}
            for each in other["violations"]] == list(first.values())


@pytest.fixture
def in_columns(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A switch for whole columns, for these logs are small; and how often a log was judged event by
    event."""
    monkeypatch.setattr(judging, "LEAST", 0)
    by_event, found = judging._judged, list[int]()
    monkeypatch.setattr(judging, "_judged", lambda log, number, latest: (
        found.append(number), by_event(log, number, latest))[1])
    return found


@pytest.mark.parametrize("partitions", [1, 3])
def test_rows_and_verdicts_do_not_depend_on_whole_columns(
    session: SparkSession, tmp_path: Path, partitions: int, in_columns: list[int]
) -> None:
    """Lines in many blocks have the findings of one machine event by event."""
    path = written(tmp_path / "log.jsonl", log())
    rows, told = locally([path], plain())
    found, answer = on_spark(session, asked([path]), tmp_path / "out", partitions)
    assert found == rows
    agree(told, answer)
    assert (tmp_path / "out" / ANSWER / "_SUCCESS").exists()
    assert not in_columns


def test_rows_and_verdicts_do_not_depend_on_the_engine(
    session: SparkSession, tmp_path: Path
) -> None:
    """A file in many blocks has the same findings, with the same lines, wherever it is judged."""
    partitions = 7
    path = written(tmp_path / "log.jsonl", log())
    rows, told = locally([path], plain())
    found, answer = on_spark(session, asked([path]), tmp_path / "out", partitions)
    assert {row["found"] for row in rows} == {"violated", "unknown", "foreign"}
    assert found == rows
    agree(told, answer)
    assert (tmp_path / "out" / ANSWER / "_SUCCESS").exists()


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_each_format_has_the_rows_of_the_local_engine(
    session: SparkSession, tmp_path: Path, ending: str, request: pytest.FixtureRequest
) -> None:
    """The lines of CSV, with the head as the first one, and the rows of Parquet are numbered
    alike: the one event by event, the other in whole columns."""
    by_event = request.getfixturevalue("in_columns") if ending == "parquet" else []
    path = written(tmp_path / f"log.{ending}", log())
    rows, told = locally([path], plain())
    found, answer = on_spark(session, asked([path]), tmp_path / "out", 3)
    assert found == rows
    agree(told, answer)
    assert not by_event


def test_files_that_clocks_order_are_judged_as_one_log(
    session: SparkSession, tmp_path: Path, in_columns: list[int]
) -> None:
    """Calls are paired in each file by its lines, and all events are ordered by time."""
    all_rows = log()
    files = [written(tmp_path / f"log-{part}.jsonl",
                     [row for row in all_rows if row["process"].startswith("put") is bool(part)])
             for part in range(2)]
    mapped = replace(plain(), order="time", tolerance=6)
    rows, told = locally(files, mapped)
    found, answer = on_spark(session, asked(files, mapped), tmp_path / "out", 3)
    assert found == rows
    agree(told, answer)
    assert not in_columns


def test_a_table_is_judged_by_its_name(session: SparkSession, tmp_path: Path) -> None:
    """Its rows have no lines; the verdicts are those of a file of them, ordered by time."""
    path = written(tmp_path / "log.parquet", log())
    session.read.parquet(str(path)).createOrReplaceTempView("sends")
    mapped = replace(plain(), order="time")
    _, told = locally([path], mapped)
    answer = document(judge_on_spark(session, asked(["table:sends"], mapped), partitions=2),
                      logs_of("queue"))
    assert answer["outcome"] == told["outcome"] == "violated"
    assert [each["violated_keys"] for each in answer["rules"]] == [
        each["violated_keys"] for each in told["rules"]]


@pytest.mark.parametrize(("change", "words"), [
    ({"operation": "push"}, "the operation 'push' is not known"),
    ({"item": "x"}, "text"),
])
def test_bad_input_is_one_message_and_leaves_no_answer(
    session: SparkSession, tmp_path: Path, change: Row, words: str, in_columns: list[int]
) -> None:
    """A row that cannot be understood in one block refuses the whole log, with the next step: it
    is said event by event."""
    rows = log()
    rows[-1] = {**rows[-1], **change}
    path = written(tmp_path / "log.jsonl", rows)
    with pytest.raises(InputError) as error:
        judge_on_spark(session, asked([path]), out=str(tmp_path / "out"), partitions=2)
    assert words in error.value.what
    assert error.value.next_step
    assert str(path) in error.value.where
    assert not (tmp_path / "out" / ANSWER).exists()
    assert not (tmp_path / "out" / "_SUCCESS").exists()
    assert in_columns == [2]


def test_a_column_that_is_not_there_is_told_before_anything_is_read(
    session: SparkSession, tmp_path: Path
) -> None:
    """With the name that is nearest."""
    path = written(tmp_path / "log.parquet", log())
    mapped = replace(plain(), columns={"item": ("itme",)})
    with pytest.raises(InputError, match="there is no column 'itme'") as error:
        judge_on_spark(session, asked([path], mapped), partitions=2)
    assert "item" in error.value.next_step


def test_a_stream_that_is_stopped_within_a_violation_reports_it_once(
    session: SparkSession, tmp_path: Path
) -> None:
    """Its begin is in one piece and its end in the next, read by another query from the
    checkpoint; an event that comes late is no violation."""
    folder, out = tmp_path / "in", tmp_path / "found"
    folder.mkdir()
    mapped = replace(plain(), order="time")
    wrong = [row for row in log() if row["key"] == "doubled 0"]
    at = next(at for at, row in enumerate(wrong) if row["process"] == "again")
    late = [{**wrong[0], "key": "late", "item": time, "time": time} for time in (9, 7)]
    pieces = [wrong[:at + 1], [*wrong[at + 1:], late[0]], late[1:]]
    seen = []
    for number, piece in enumerate(pieces):
        written(folder / f"{number}.jsonl", piece)
        if number != 1:
            seen.append(follow_on_spark(
                session, asked([folder], mapped), str(tmp_path / "checkpoint"), str(out),
                once=True, files_at_once=1, partitions=1))
    assert seen == [{}, {"QUEUE-6": 1}]
    rows = [row.asDict() for row in session.read.parquet(str(out)).collect()]
    alone, _ = locally([written(tmp_path / "alone.jsonl", wrong)], mapped)
    found, = (row for row in rows if row["found"] == "violated")
    assert (found["key"], found["time"], found["needed"]) == (
        "doubled 0", alone[0]["time"], alone[0]["needed"])
    assert {row["key"] for row in rows if row["found"] == "unknown"} == {"late"}


def executor(*events: tuple[str, str, str, int]) -> list[Row]:
    """Events of executors, each with its key, operation, item and second of 2023."""
    return [{"key": key, "operation": operation, "phase": "point", "item": item,
             "time": (1_700_000_000 + time) * 10 ** 9} for key, operation, item, time in events]


def test_a_stream_judges_rest_by_the_times_of_its_events(
    session: SparkSession, tmp_path: Path
) -> None:
    """Watermark and timers of Spark do what they are taken for: no key rests by the first
    watermark, one that waits is found once, over a new query, too, and no row that is late is left
    out. The stream is a table here."""
    folder, out, mapped = tmp_path / "in", tmp_path / "found", replace(plain(), order="time")
    folder.mkdir()
    order = Asked(["table:heard"], "executor", logs_of("executor"), mapped, terms_of(
        mapped, {"workers": 2, "policy": 5}, False, 1_000, patience=10 ** 10))
    rests = [("a", "submits", "x", 0), ("a", "starts", "x", 1), ("a", "submits", "y", 2)]
    pieces = [executor(*rests, ("b", "submits", "z", 3), ("b", "starts", "z", 4)),
              executor(("b", "finishes", "z", 16)), executor(("c", "starts", "v", 18)),
              executor(("c", "submits", "v", 17), ("d", "starts", "u", 5))]
    seen = []
    for number, piece in enumerate(pieces):
        written(folder / f"{number}.parquet", piece)
        if number == 0:
            session.sql(f"CREATE TABLE heard USING parquet LOCATION '{folder}'")
        if number not in (0, 2):
            seen.append(follow_on_spark(session, order, str(tmp_path / "checkpoint"), str(out),
                                        once=True, pace=Pace(late=2 * 10 ** 9), files_at_once=1,
                                        partitions=1))
    assert seen == [{"EXEC-3": 1}, {"EXEC-3": 1}]
    written(folder / "more.parquet", pieces[0])
    with pytest.raises(InputError, match="now one of them is given, or the other way") as error:
        follow_on_spark(session, replace(order, terms=replace(order.terms, patience=0)),
                        str(tmp_path / "checkpoint"), str(out), once=True)
    assert "--checkpoint" in error.value.next_step
    assert session.conf.get("spark.sql.shuffle.partitions") == "2"
    rows = [row.asDict() for row in session.read.parquet(str(out)).collect()]
    assert sorted((row["key"], row["found"], row["time"] // 10 ** 9) for row in rows) == [
        ("a", "violated", 1_700_000_012), ("d", "foreign", 1_700_000_005)]
    session.sql("DROP TABLE heard")
