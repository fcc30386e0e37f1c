"""Logs judged on a cluster: read, understood, brought together by key, judged, through DataFrames.

Nothing here touches RDDs or the JVM: it works on a session of Spark Connect as well. Every stage is
a ``mapInArrow`` of ``log_parts``. Rows are shuffled once, by the hash of their key, and sorted
within their partition; so a key's events pass through one task in batches, and its memory does not
grow with them. What is found goes into a table; only counts, and the first finding of each kind,
come here.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import reduce
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote, urlparse

from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.notation.labels import nearest

from ..logs.answer import document
from ..logs.events import FIELDS
from ..logs.kinds import Logs, Terms
from ..logs.mapping import Mapped, of_recorder
from ..columns.run import CHUNK, LEAST
from .log_columns import PACKED, UNFIT, ColumnVerdicts, Numbered, Packs, labels_of
from .log_cut import (
    OF_KEY, REFUSALS_MAX, REFUSED, Composed, JudgedAgain, Pieces, ReadAgain, Refusal, lines_again,
)
from .log_left import JoinedParts, LeftOver
from .log_parts import (
    EVENTS, FILE, LINE, SURVEYED, Files, Meanings, Surveys, Verdicts, codes_that_say,
)
from ..logs.readers import ending_of, header_in
from ..logs.rows import COLUMNS, COUNTS, arrow_schema, judged_of, spark_schema
from ..logs.run import Judged
from .session import changed
from .spark import PATIENCE_SECONDS, check_executors, spark_errors
from .task import work

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

__all__ = ["ANSWER", "Asked", "Opened", "TABLE", "columns_handed_over", "judge_on_spark",
           "needed_of", "opened_there"]

TABLE: Final = "table:"
"""Before the name of a table of Spark's, in the place of a file."""

ANSWER: Final = "_answer"
"""The folder within that of the findings which is written last: without it they are not all."""

_FEWEST: Final = 8
"""Parts of a log, if nobody says how many, and it is small."""

_OF_COMPOSER: Final = 8
"""Keys of a log that is cut, for each part of them in which pieces are composed."""

_SAMPLE: Final = 1 << 16
"""Rows of a log that are looked at for how many keys there are."""

_BYTES: Final = 16 << 20
_HAS_BYTES: Final = (4, 1)
"""The edition of Spark that bounds what it hands over by bytes."""

_SLASHES: Final = "^file:/+"
_TEXTS: Final = (".jsonl", ".ndjson", ".json", ".csv")


@dataclass(frozen=True)
class Asked:
    """An order to judge: ``places`` are files, folders and patterns as the cluster sees them, or
    tables; by which ``suite``, how it is ``mapped``, and on what ``terms``."""

    places: Sequence[str]
    suite: str
    logs: Logs
    mapped: Mapped
    terms: Terms


def judge_on_spark(session: SparkSession, asked: Asked, *, out: str | None = None,
                   partitions: int | None = None, patience_s: float = PATIENCE_SECONDS) -> Judged:
    """The answer. Findings go to a new folder ``out`` of Parquet files, if it is given.

    ``partitions`` is the number of tasks that judge; left out, it is Spark's own for shuffles.
    Raises InputError where the cluster, the log or the mapping cannot be used; then ``out`` has no
    ``ANSWER``.
    """
    if partitions is not None and partitions < 1:
        raise InputError(f"cannot judge in {partitions} partitions", "", "Give 1 or more.")
    check_executors(session, patience_s=patience_s)
    with spark_errors("reading the log"):
        log = opened_there(session, asked)
    asked, names = log.asked, log.files.names
    if asked.mapped.order != "time" and len(names) > 1:
        raise InputError(
            f"{len(names)} files have no common order", list(names.values())[1],
            "Judge them one by one, or write \"order: time\" and a tolerance of the clocks in the "
            "mapping.")
    most = int(session.conf.get("spark.sql.shuffle.partitions") or 200)
    by_time = asked.mapped.order == "time"
    answer = _in_pieces(session, log, out, partitions, most)
    if answer is None and (rows := _rows_for_columns(log)) >= LEAST:
        number = partitions or min(most, max(_FEWEST, rows // CHUNK))
        answer = _in_columns(session, log, out, number)
    if answer is None:
        with spark_errors("reading the times of the log"):
            latest = _latest(log)
        found = _judged(log, partitions or most, latest)
        if out is not None:
            with spark_errors(f"writing the findings to {out}"):
                found.write.mode("error").parquet(out)
                found = session.read.parquet(out)
        with spark_errors("judging the log"):
            answer = judged_of(_gathered(found, by_time), asked.logs, by_time)
    if out is not None:
        _seal(session, answer, asked.logs, out)
    answer.terms = asked.terms
    return answer


def _in_columns(session: SparkSession, log: Opened, out: str | None, partitions: int
                ) -> Judged | None:
    """The answer of whole columns; None if the log cannot be judged so: then nothing was written.
    """
    by_time = log.asked.mapped.order == "time"
    with columns_handed_over(session, log, partitions) as columns:
        found = _columns_judged(columns, log)
        if out is not None:
            _check_absent(session, out)
            found = found.persist()     # it is written once it is known to be whole
        with spark_errors("judging the log"):
            rows = _gathered(found, by_time)
        if any(row["found"] == COUNTS and row["key"] == UNFIT for row in rows):
            return None
        if out is not None:
            with spark_errors(f"writing the findings to {out}"):
                found.write.mode("error").parquet(out)
            found.unpersist()
    return judged_of(rows, log.asked.logs, by_time)


def _in_pieces(session: SparkSession, log: Opened, out: str | None, partitions: int | None,
               most: int) -> Judged | None:
    """The answer of a log that is cut in time; None if it is not: then nothing was written. It is
    composed in so many ``partitions``; left out, by the number of its keys, at most ``most``."""
    asked = log.asked
    if not _fits_columns(log) or asked.mapped.order == "time" or not (
            asked.logs.is_cut(asked.terms) or asked.logs.by_item(asked.terms)):
        return None
    with _few_rows_at_once(session):
        with spark_errors("judging the log"):
            first = {row["key"]: row["times"] for row in _composed(replace(log, frames=[
                (frame.limit(_SAMPLE), kind) for frame, kind in log.frames]), 1).collect()}
            keys = first.get("keys", _SAMPLE)
            if keys > _SAMPLE // OF_KEY or first["events"] + first["ignored"] < LEAST:
                return None     # so many keys that their pieces are no shorter, or few events
            partitions = partitions or min(most, 1 + keys // _OF_COMPOSER)
            rows: list[Mapping[str, Any]] = [
                row.asDict() for row in _composed(log, partitions).collect()]
        refusals = [Refusal.read(row["event"]) for row in rows if row["key"] == REFUSED]
        counts = [row for row in rows if row["key"] != REFUSED]
        if len(refusals) > REFUSALS_MAX or any(row["key"] == UNFIT for row in counts):
            return None
        found = _again(log, partitions, refusals) if refusals else None
        if out is not None:
            _check_absent(session, out)
            found = found and found.persist()   # it is written once it is known to be whole
        if found is not None:
            with spark_errors("judging the log"):
                rows = _gathered(found, False)
            if any(row["key"] == UNFIT and row["found"] == COUNTS for row in rows):
                return None
        if out is not None:
            _write(session, found, counts, out)
    return judged_of([*(rows if refusals else ()), *counts], asked.logs, False)


def _write(session: SparkSession, found: DataFrame | None, counts: Sequence[Mapping[str, Any]],
           out: str) -> None:
    """Write what was found, and the counts, which are here."""
    import pyarrow as pa

    with spark_errors(f"writing the findings to {out}"):
        here = session.createDataFrame(pa.Table.from_pylist(list(counts), schema=arrow_schema()))
        (here if found is None else found.unionByName(here)).write.mode("error").parquet(out)
        if found is not None:
            found.unpersist()


def _check_absent(session: SparkSession, out: str) -> None:
    """Raise ``InputError`` if there is something at the path of the findings, before they are
    looked for."""
    try:
        with spark_errors(f"writing the findings to {out}"):
            found = session.read.format("binaryFile").load(out).columns
    except InputError:
        return      # there is no such path, or it is told when it is written to
    if found:
        raise InputError(f"writing the findings to {out}: there is something at the path of the "
                         "results already", "", "Give another path, or remove it.")


# --- reading ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Opened:
    """A log on a cluster: frames with file, line and content of each row, each with the end of the
    files' names; and how many ``lines`` of text they have."""

    asked: Asked
    files: Files
    frames: Sequence[tuple[DataFrame, str]]
    lines: int


def opened_there(session: SparkSession, asked: Asked) -> Opened:
    """The log at all places, of which no row but the first ones was read."""
    by_kind: dict[str, list[str]] = {}
    for place in asked.places:
        by_kind.setdefault(_kind(place), []).append(place)
    shown = {_uri(place): place for place in asked.places}
    frames: list[tuple[DataFrame, str]] = []
    names: dict[str, str] = {}
    for kind, places in by_kind.items():
        for frame, paths in _read(session, kind, places, asked.mapped, len(names)):
            frames.append((frame, kind))
            names |= {name: shown.get(_canonical(path)) or _plain(_canonical(path))
                      for name, path in paths.items()}
    order = {place: at for at, place in enumerate(asked.places)}
    names = dict(sorted(names.items(), key=lambda each: (
        order.get(each[1], len(order)), each[1])))
    if not names:
        raise InputError("there is no file of a log", asked.places[0], "Give one.")
    files, asked, lines = _surveyed([frame for frame, kind in frames if kind in _TEXTS], names,
                                    asked)
    return Opened(asked, files, frames, lines)


def _events_of(log: Opened) -> DataFrame:
    """A row for each event of all places, in no order."""
    asked = log.asked
    return _united(frame.mapInArrow(work(Meanings(
        asked.suite, asked.mapped, log.files, _ending(kind))), EVENTS)
        for frame, kind in log.frames)


@contextmanager
def columns_handed_over(session: SparkSession, log: Opened, partitions: int
                        ) -> Iterator[DataFrame]:
    """The events as whole columns, brought together by the part that their key is in, and each
    part's in their order; so many parts."""
    with _few_rows_at_once(session):
        yield _columns_of(log, partitions)


def _columns_of(log: Opened, partitions: int) -> DataFrame:
    asked, labels = log.asked, labels_of(partitions)
    packs = _united(frame.mapInArrow(work(Packs(
        asked.suite, asked.mapped, log.files, labels, _ending(kind))), PACKED)
        for frame, kind in log.frames)
    parts = packs.repartition(partitions, "part").sortWithinPartitions("at")
    if asked.mapped.order != "time":
        return parts
    return parts.mapInArrow(work(Numbered(asked.suite, log.files)), PACKED
                            ).sortWithinPartitions("at")


def _composed(log: Opened, partitions: int) -> DataFrame:
    """The counts and the refusals of a log that is cut; no event is shuffled that is over within
    what a task reads."""
    asked, labels, files = log.asked, labels_of(partitions), Files(log.files.names)
    most = max(64, 2 * REFUSALS_MAX // partitions)
    made: type[Pieces | LeftOver] = Pieces
    if not asked.logs.is_cut(asked.terms):
        made = LeftOver
    pieces = _united(frame.mapInArrow(work(made(
        asked.suite, asked.mapped, log.files, labels, _ending(kind), terms=asked.terms)), PACKED)
        for frame, kind in log.frames)
    return pieces.repartition(partitions, "part").sortWithinPartitions("at").mapInArrow(
        work(Composed(asked.suite, asked.terms, files, most) if made is Pieces else
             JoinedParts(asked.suite, asked.terms, files)), spark_schema())


def _again(log: Opened, partitions: int, refusals: Sequence[Refusal]) -> DataFrame:
    """The findings at the keys that refuse a piece, each of which is read again."""
    asked, labels = log.asked, labels_of(partitions)
    lines = lines_again(refusals)
    few = _united((frame if kind in _TEXTS else frame.where(_is_between(lines))).mapInArrow(
        work(ReadAgain(asked.suite, asked.mapped, log.files, labels, _ending(kind),
                       refusals=refusals)), PACKED) for frame, kind in log.frames)
    return few.repartition(partitions, "part").sortWithinPartitions("at").mapInArrow(
        work(JudgedAgain(asked.suite, asked.terms, Files(log.files.names), refusals)),
        spark_schema())


def _is_between(lines: Sequence[tuple[int, int]]) -> Column:
    """True for a row of which the line is in one of some spans."""
    from pyspark.sql import functions as F

    return reduce(lambda one, other: one | other,
                  (F.col(LINE).between(start, stop - 1) for start, stop in lines))


def _united(frames: Iterator[DataFrame]) -> DataFrame:
    return reduce(lambda one, other: one.unionByName(other), frames)


def _ending(kind: str) -> str:
    """The end of the names of files of text; of others, nothing."""
    return (".csv" if kind == ".csv" else ".jsonl") if kind in _TEXTS else ""


def _kind(place: str) -> str:
    """The end of the names of what is at a place; that of a folder is of what is in it."""
    if place.startswith(TABLE):
        return TABLE
    path = Path(place)
    if path.is_dir():
        inside = sorted(each for each in path.iterdir() if each.name[:1] not in "_.")
        if not inside:
            raise InputError("this folder is empty", place, "Give one with files of a log.")
        path = inside[0]
    ending = ending_of(path)
    if ending in (".arrow", ".arrows", ".feather"):
        raise InputError("Spark does not read Arrow files", place, "Save the log as Parquet.")
    return ".jsonl" if ending in (".json", ".ndjson") else ending


def _read(session: SparkSession, kind: str, places: Sequence[str], mapped: Mapped, before: int
          ) -> Iterator[tuple[DataFrame, Mapping[str, str]]]:
    """A frame with file, line and content of each row, and the files that it is read from, by what
    its rows call each: a table, lines of text, or Parquet. There are so many files ``before``."""
    from pyspark.sql import functions as F

    if kind == TABLE:
        if mapped.order != "time":
            raise InputError("the rows of a table have no order of their own", places[0],
                             "Write \"order: time\" in the mapping.")
        for place in places:
            frame = session.table(place.removeprefix(TABLE))
            yield frame.select(*needed_of(frame, mapped, place), F.lit(place).alias(FILE),
                               F.lit(0).cast("bigint").alias(LINE)), {place: place}
        return
    block = F.col("_metadata.file_block_start")
    if kind in _TEXTS:
        frame = session.read.text(list(places), lineSep="\n")
        name, paths = _named(frame.inputFiles(), before)
        yield frame.select(F.col("value").cast("binary"), name, block.alias(LINE)), paths
        return
    frame = session.read.parquet(*places)
    name, paths = _named(frame.inputFiles(), before)
    row = (F.col("_metadata.row_index") + 1).alias(LINE)
    yield frame.select(*needed_of(frame, mapped, places[0]), name, row), paths


def _named(paths: Sequence[str], before: int) -> tuple[Column, Mapping[str, str]]:
    """The name that each row has of its file, and the path of each: its canonical path; but if
    there is one file, a number, for each row is handed over with it."""
    from pyspark.sql import functions as F

    if len(paths) == 1:
        return F.lit(str(before)).alias(FILE), {str(before): paths[0]}
    return F.regexp_replace(F.col("_metadata.file_path"), _SLASHES, "file:/").alias(FILE), {
        _canonical(path): path for path in paths}


def needed_of(frame: DataFrame, mapped: Mapped, place: str) -> list[Column]:
    """The columns that the mapping asks for, so that no other one is read. Raises ``InputError``
    for one that is not there."""
    from pyspark.sql import functions as F

    has = frame.columns
    asked = dict.fromkeys(name for name in FIELDS if name in has)
    operations = (mapped.operations or {}).values()
    columns = [each for of in (mapped.columns, *(each.columns for each in operations))
               for names in of.values() for each in names]
    for column in columns:
        top = column if column in has else column.partition(".")[0]
        if top not in has:
            raise InputError(f"there is no column {column!r}", place,
                             nearest(column, list(has), "the schema of the log"))
        asked[top] = None
    for of in (mapped.only, *(each.only for each in operations)):
        asked |= dict.fromkeys(top for column in of if (
            top := column if column in has else column.partition(".")[0]) in has)
    return [F.col(f"`{name}`") for name in asked]


def _surveyed(texts: Sequence[DataFrame], names: Mapping[str, str], asked: Asked
              ) -> tuple[Files, Asked, int]:
    """The files with the numbers of their lines, block by block, and what their first lines say;
    and how many lines there are."""
    blocks: dict[str, dict[int, tuple[int, bytes]]] = {}
    for frame in texts:
        for row in frame.mapInArrow(work(Surveys()), SURVEYED).collect():
            blocks.setdefault(row["file"], {})[row["block"]] = (row["lines"], bytes(row["first"]))
    first_lines, heads, mapped = {}, {}, {}
    for file, parts in blocks.items():
        starts = sorted(parts)
        before = accumulate((parts[start][0] for start in starts), initial=1)
        first_lines[file] = dict(zip(starts, before, strict=False))
        first = parts[starts[0]][1]
        heads[file] = next(csv.reader([first.decode("utf-8", "replace")]), [])
        header = header_in(first)
        if header is not None:
            mapped[file] = of_recorder(asked.mapped, header)
    orders = {mapped.get(file, asked.mapped).order for file in names}
    if len(orders) > 1:
        raise InputError("some files are ordered by time and others by their lines",
                         list(names.values())[-1], "Judge them one by one.")
    lines = sum(number for parts in blocks.values() for number, _ in parts.values())
    return Files(names, first_lines, heads, mapped), replace(
        asked, mapped=replace(asked.mapped, order=orders.pop())), lines


def _fits_columns(log: Opened) -> bool:
    """True if rows may be judged in whole columns, if there are many."""
    asked = log.asked   # the rows of a table have no order in which calls can be paired
    return (asked.logs.whole is not None and not asked.terms.patience and asked.terms.from_start
            and not any(kind == TABLE for _, kind in log.frames))


def _rows_for_columns(log: Opened) -> int:
    """The number of rows that may be judged in whole columns; 0 if they cannot."""
    if not _fits_columns(log):
        return 0
    return log.lines + sum(frame.count() for frame, kind in log.frames if kind not in _TEXTS)


def _few_rows_at_once(session: SparkSession) -> AbstractContextManager[None]:
    """Let Spark hand rows over by their bytes, for one may have megabytes."""
    wanted = {"spark.sql.execution.arrow.maxBytesPerBatch": str(_BYTES)}
    if tuple(map(int, session.version.split(".")[:2])) < _HAS_BYTES:
        wanted = {"spark.sql.execution.arrow.maxRecordsPerBatch": "64"}
    return changed(session, wanted)


def _uri(place: str) -> str:
    """The name of a file in the cluster, if it is one of this machine."""
    return _canonical(Path(place).resolve().as_uri()) if Path(place).is_file() else place


def _canonical(uri: str) -> str:
    """Spark writes a file of this machine with one slash here, and with three there."""
    return re.sub(_SLASHES, "file:/", uri)


def _plain(uri: str) -> str:
    parsed = urlparse(uri)
    return unquote(parsed.path) if parsed.scheme == "file" else uri


# --- judging ----------------------------------------------------------------------------------


def _columns_judged(columns: DataFrame, log: Opened) -> DataFrame:
    """The rows of what is found in whole columns, or one of a count that says that it cannot be."""
    asked = log.asked
    task = ColumnVerdicts(asked.suite, asked.terms, Files(log.files.names),
                          asked.mapped.order == "time")
    return columns.mapInArrow(work(task), spark_schema())


def _latest(log: Opened) -> int:
    """The greatest time of the log, where a patience is stated: no task sees the keys of others."""
    from pyspark.sql import functions as F

    if not log.asked.terms.patience:
        return 0
    said = _events_of(log).where(F.col("code").isin(codes_that_say(log.asked.logs)))
    return int(said.agg(F.max("time")).collect()[0][0] or 0)


def _judged(log: Opened, partitions: int, latest: int) -> DataFrame:
    task = Verdicts(log.asked.suite, log.asked.terms, Files(log.files.names), latest=latest)
    return _by_key(log, partitions).mapInArrow(work(task), spark_schema())


def _by_key(log: Opened, partitions: int) -> DataFrame:
    """The events brought together by key, and each key's in their order."""
    from pyspark.sql import functions as F

    events, asked, files = _events_of(log), log.asked, Files(log.files.names)
    ties = ("process", "place", "code", "item", "value")
    spread = events.withColumn("hash", F.xxhash64("key")).repartition(partitions, "hash")
    if asked.mapped.order == "time":
        spread = spread.sortWithinPartitions("hash", "at", "time", *ties)
        numbers = Verdicts(asked.suite, asked.terms, files, only_numbers=True)
        spread = spread.mapInArrow(work(numbers), f"{EVENTS}, hash bigint")
        return spread.sortWithinPartitions("hash", "moved", "is_end", "at", *ties)
    return spread.sortWithinPartitions("hash", "at")


def _gathered(found: DataFrame, by_time: bool) -> list[Mapping[str, Any]]:
    """One row of each kind: the first, and how many are like it."""
    from pyspark.sql import functions as F

    # Findings of one cause are alike; of doubts the first of a rule is enough.
    alike = [F.when(F.col("found") == "violated", F.col(name)).alias(f"by_{name}")
             for name in ("operation", "result", "needed")]
    counted = F.when(F.col("found") == COUNTS, F.col("key")).alias("by_count")
    first = F.struct(*([F.coalesce("time", F.lit(0)).alias("at")] if by_time else []),
                     "file", "line", *(F.col(name).alias(f"of_{name}") for name in COLUMNS
                                       if name not in ("file", "line", "times")))
    rows = found.groupBy("found", "rule", counted, *alike).agg(
        F.sum("times").alias("times"), F.min(first).alias("first")).collect()
    kinds = []
    for row in rows:
        kind = {name: row["first"][name if name in ("file", "line") else f"of_{name}"]
                for name in COLUMNS if name != "times"}
        kinds.append({**kind, "times": row["times"]})
    return sorted(kinds, key=lambda each: (each["found"], each["rule"] or "", each["key"] or ""))


def _seal(session: SparkSession, answer: Judged, logs: Logs, out: str) -> None:
    import pyarrow as pa

    text = json.dumps(document(answer, logs), ensure_ascii=False, default=str)
    with spark_errors(f"writing the answer to {out}"):
        frame = session.createDataFrame(pa.table({"value": [text]}))
        frame.coalesce(1).write.mode("error").text(f"{out.rstrip('/')}/{ANSWER}")

