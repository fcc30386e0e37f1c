"""Logs judged while they are written: Structured Streaming, through DataFrames alone.

The files of a folder are read as they come, and each key's judge is kept in the state of the query
(``transformWithState``, of which all Sparks from 4.0 on have the form for pandas: log_states.py).
The checkpoint has what was read and the judges; the sink is Spark's own of Parquet. So a query that
is stopped, or killed, continues where it was, and each finding is written once.

How far the log is known is the watermark of the query: the greatest time of all events, less the
time by which they may come late. A timer of a key is set at a time of events, never at one that is
counted from the watermark, which begins in 1970; so it cannot run before there are such events.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from checkvalve.spec.notation.errors import InputError

from .log_pieces import AT_ONCE, HEARD, MS, Heard, Pace
from .log_parts import FILE, LINE
from ..logs.readers import ending_of
from ..logs.rows import spark_schema
from .judging import TABLE, Asked, needed_of
from .log_states import STORE, Talking, check_protobuf, judging
from .session import changed
from .spark import PATIENCE_SECONDS, check_executors, spark_errors
from .task import work

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["follow_on_spark", "wait_for"]

_PARTITIONS: Final = "spark.sql.shuffle.partitions"
_WHOLE: Final = "spark.sql.files.maxPartitionBytes"
_UNSPLIT: Final = str(1 << 50)
"""Bytes of a part of a file: more than any has, so that its lines can be numbered."""


def follow_on_spark(session: SparkSession, asked: Asked, checkpoint: str, out: str, *,
                    once: bool = False, pace: Pace = AT_ONCE, files_at_once: int = 100,
                    partitions: int | None = None) -> Mapping[str, int]:
    """Judge the files of a folder, or the rows of a table, as they come, until the query is
    stopped; ``once``: those that are there. Findings are added to the folder ``out``. The ``pace``
    says how long is waited for events, by their times. The keys are in so many ``partitions``, or
    as many as Spark's shuffles have, as long as there is the checkpoint. The violations so far, by
    rule.

    Raises InputError where the cluster, the log or the mapping cannot be used.
    """
    if len(asked.places) != 1 or not (
            asked.places[0].startswith(TABLE) or Path(asked.places[0]).is_dir()):
        raise InputError("--follow needs one folder, or one table", " ".join(asked.places),
                         "Give the folder into which the files of the log are moved, or "
                         "table:NAME.")
    if asked.mapped.order != "time":
        raise InputError(
            "a log that continues is ordered by the times of its events", asked.places[0],
            "Write \"order: time\" in the mapping, and map \"time\" to a column; a log without "
            "times is judged as a whole, without --follow.")
    if pace.forget and pace.forget <= max(asked.terms.patience, asked.terms.tolerance):
        raise InputError(
            "a key would be forgotten before it is known whether it rests, or in which order its "
            "events happened", "--forget",
            "Give more seconds than those of --patience and of the tolerance in the mapping.")
    check_protobuf()
    check_executors(session, patience_s=PATIENCE_SECONDS, needs=Talking())
    wanted = {_WHOLE: _UNSPLIT, **STORE}
    if partitions is not None:
        wanted[_PARTITIONS] = str(partitions)
    with changed(session, wanted), spark_errors("following the log"):
        found = _found(session, asked, files_at_once, pace)
        writer = found.writeStream.format("parquet").option("path", out).option(
            "checkpointLocation", checkpoint)
        query = (writer.trigger(availableNow=True) if once else writer).start()
        wait_for(query)
        rows = session.read.schema(spark_schema()).parquet(out).where("found = 'violated'")
        return {row["rule"]: row["count"] for row in rows.groupBy("rule").count().collect()}


def wait_for(query: Any) -> None:
    """Return when a query has ended; an interrupt, or what Spark raises, ends it."""
    try:
        query.awaitTermination()
    finally:
        with suppress(Exception):   # after an interrupt Java's answer is that of another call
            query.stop()


def _found(session: SparkSession, asked: Asked, files_at_once: int, pace: Pace) -> DataFrame:
    """The stream of what is found: files become events, and each key's judge is kept from one batch
    to the next."""
    heard, is_text = _rows(session, asked, files_at_once)
    events = heard.mapInArrow(work(Heard(asked.suite, asked.mapped, is_text)), HEARD)
    is_timed = pace.needs_times(asked.terms)
    if is_timed:
        events = events.withWatermark("stamp", f"{-(-pace.late // MS)} milliseconds")
    return events.groupBy("key").transformWithStateInPandas(
        judging(asked.suite, asked.terms, pace, is_timed=is_timed), spark_schema(), "append",
        "EventTime" if is_timed else "None")


def _rows(session: SparkSession, asked: Asked, files_at_once: int) -> tuple[DataFrame, bool]:
    """The stream of rows with their files and lines, and whether they are lines of text."""
    from pyspark.sql import functions as F

    place = asked.places[0]
    reader = session.readStream.option("maxFilesPerTrigger", files_at_once)
    if place.startswith(TABLE):
        table = reader.table(place.removeprefix(TABLE))
        return table.select(*needed_of(table, asked.mapped, place), F.lit(place).alias(FILE),
                            F.lit(0).cast("bigint").alias(LINE)), False
    kinds = {ending_of(each) for each in Path(place).iterdir() if each.name[:1] not in "_."}
    if not kinds <= {".jsonl", ".ndjson", ".json", ".parquet"} or len(kinds) != 1:
        raise InputError(f"--follow reads JSON lines or Parquet, and here is "
                         f"{', '.join(sorted(kinds)) or 'no file yet'}", place,
                         "Begin with one file of the log, and keep to its format.")
    is_text = kinds != {".parquet"}
    path = F.col("_metadata.file_path").alias(FILE)
    if is_text:
        return reader.text(place, lineSep="\n").select(
            F.col("value").cast("binary"), path, F.lit(0).cast("bigint").alias(LINE)), True
    return reader.schema(session.read.parquet(place).schema).parquet(place).select(
        "*", path, (F.col("_metadata.row_index") + 1).alias(LINE)), False
