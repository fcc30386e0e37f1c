"""The Spark engine: the same cases on a cluster, through the DataFrame API alone.

A table of cases is spread over the executors, each of which calls `run_case` and
sends back rows. A row is a pure function of suite, target, case, seed and settings, so
neither the number of partitions nor a task that Spark runs twice can change the table.
Nothing here touches RDDs or the JVM: it works on a session of Spark Connect as well.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, TypedDict, Unpack

from checkvalve.spec.notation.errors import InputError

from ..campaigns.case import RunSettings
from ..suites.results import Case, CaseRow
from .seal import seal_folder
from .session import explain, spark_session, within
from .shipping import ship_checkvalve, ship_files
from .table import rows_of, spark_schema
from .task import Order, Part, work

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

__all__ = [
    "PATIENCE_SECONDS", "Place", "check_executors", "results_frame", "run_on_spark",
    "run_to_parquet", "ship_checkvalve", "ship_files", "spark_errors", "spark_session",
    "tasks_for", "write_frame",
]

PATIENCE_SECONDS = 60.0
"""Seconds that a cluster may take to give work to a first executor."""

_CASES_PER_TASK = 25
"""A task costs Spark some 20 ms; this many cases take a hundred times as long."""

_TASKS_AT_MOST = 1000
_SEED_LIMIT = 2**63



class Place(TypedDict, total=False):
    """The cluster to run on: ``session``, which stays as it is, or the cluster at ``master``.

    There a session with the settings ``options`` is made, and stopped again. ``ship`` sends
    the code of checkvalve along, and ``files`` are sent too; ``patience_s`` is how long, in
    seconds, the cluster may take to start with the work.
    """

    master: str | None
    session: SparkSession | None
    options: Mapping[str, str]
    ship: bool
    files: Sequence[Path]
    patience_s: float


def run_on_spark(
    suite: str, target: str, cases: Sequence[Case], settings: RunSettings, *,
    partitions: int | None = None, **place: Unpack[Place],
) -> list[CaseRow]:
    """The rows of ``cases`` sorted by key, as `run_locally` gives them, from a cluster.

    Raises InputError if the cluster, the suite or the target cannot be used.
    """
    with _ready(place) as session:
        frame = results_frame(session, suite, target, cases, settings, partitions=partitions)
        with spark_errors("running the cases on Spark"):
            return rows_of(frame.toArrow())


def run_to_parquet(
    suite: str, target: str, cases: Sequence[Case], settings: RunSettings, out: str, *,
    partitions: int | None = None, **place: Unpack[Place],
) -> dict[str, int]:
    """Have the cluster write the rows of ``cases`` to ``out``; the number of rows by verdict.

    No row comes here, so that a run may be of any size. ``out`` is as in `write_frame`; the
    plan is written there last, so that `read_rows` tells a whole table from any other.
    Raises InputError as `run_on_spark` does, and if there is something at ``out`` already.
    """
    with _ready(place) as session:
        frame = results_frame(session, suite, target, cases, settings, partitions=partitions)
        write_frame(frame, out)
        with spark_errors("reading the results back"):
            lines = session.read.parquet(out).groupBy("verdict").count().collect()
        counts = {line["verdict"]: line["count"] for line in lines}
        if sum(counts.values()) != len(cases):
            raise InputError(f"the cluster wrote {sum(counts.values())} of {len(cases)} rows", out,
                             "Look at the log of Spark, and run it again, to another path.")
        with spark_errors(f"writing the plan to {out}"):
            seal_folder(session, cases, out)
    return counts


@contextmanager
def _ready(place: Place) -> Iterator[SparkSession]:
    """The session of ``place``, once an executor has shown that it can do the work."""
    master, given = place.get("master"), place.get("session")
    opened: AbstractContextManager[SparkSession]
    if master is not None and given is None:
        opened = spark_session(master, place.get("options"))
    elif given is not None and master is None:
        opened = nullcontext(given)
    else:
        raise InputError("give the address of a Spark master, or a session: one of the two")
    with opened as session:
        if place.get("ship"):
            ship_checkvalve(session)
        ship_files(session, place.get("files", ()))
        check_executors(session, patience_s=place.get("patience_s", PATIENCE_SECONDS))
        yield session


def results_frame(
    session: SparkSession, suite: str, target: str, cases: Sequence[Case],
    settings: RunSettings, *, partitions: int | None = None,
) -> DataFrame:
    """The rows of ``cases`` as a DataFrame; each action on it runs the cases anew.

    ``partitions`` is the number of tasks; left out, it is one for every 25 cases. Raises
    InputError if it is less than one.
    """
    import pyarrow as pa

    tasks = tasks_for(len(cases)) if partitions is None else partitions
    if tasks < 1:
        raise InputError(f"cannot spread the cases over {tasks} partitions", "",
                         "Give 1 or more.")
    if any(not -_SEED_LIMIT <= case.seed < _SEED_LIMIT for case in cases):
        raise InputError("a seed does not fit into 64 bits", "", "Give a smaller seed.")
    columns = {"case": [case.index for case in cases], "seed": [case.seed for case in cases],
               "draft": [case.draft for case in cases]}
    schema = pa.schema([("case", pa.int64()), ("seed", pa.int64()), ("draft", pa.string())])
    with spark_errors("sending the cases to Spark"):
        spread = session.createDataFrame(pa.table(columns, schema)).repartition(tasks)
        return spread.mapInArrow(work(Order.here(suite, target, settings)), spark_schema())


def write_frame(frame: DataFrame, out: str) -> None:
    """Have the cluster write ``frame`` to a folder of Parquet files at the new path ``out``.

    The path is the cluster's: a folder that all nodes share, or a URL such as
    ``s3a://...``. Raises InputError if there is something already, or it cannot be written.
    """
    with spark_errors(f"writing the results to {out}"):
        frame.write.mode("error").parquet(out)


def check_executors(session: SparkSession, *, patience_s: float = PATIENCE_SECONDS,
                    needs: Part | None = None) -> None:
    """Raise InputError unless an executor takes up work, and has this very checkvalve and what a
    part of the work ``needs``.

    Every task looks again; this check only tells a cluster without free cores from one that works,
    within ``patience_s`` seconds.
    """
    tag = "checkvalve-first-look"

    def look() -> None:
        session.addTag(tag)
        frame = session.range(0, 1, 1, 1).mapInArrow(work(needs), "`id` bigint")
        frame.collect()

    silence = f"no executor took up work within {patience_s:g} s"
    with spark_errors("looking at the executors"):
        try:
            within(patience_s, look, silence)
        except InputError:
            session.interruptTag(tag)
            raise


def tasks_for(cases: int) -> int:
    """The number of tasks that so many cases are spread over where nobody says it."""
    return min(max(1, -(-cases // _CASES_PER_TASK)), _TASKS_AT_MOST)


@contextmanager
def spark_errors(doing: str) -> Iterator[None]:
    """Turn what Spark raises while ``doing`` something into one clear error."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module="pyspark")
        try:
            yield
        except Exception as error:
            # By name: a client of Spark Connect has no py4j to import, a classic one no grpc.
            if type(error).__module__.partition(".")[0] not in ("pyspark", "py4j", "grpc"):
                raise
            raise explain(error, doing) from error
