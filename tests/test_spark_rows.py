"""The rows of a suite are the same wherever they are made: here, or on a Spark cluster.

On two clusters, ``local-cluster`` and a standalone master with two workers, since the first
leaves out the network and the second does not.
"""

from __future__ import annotations

import os
import signal
import sys
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from checkvalve.conformance.campaigns.case import RunSettings, plan
from checkvalve.conformance.engines import spark
from checkvalve.conformance.engines.cluster import StandaloneCluster
from checkvalve.conformance.engines.local import run_locally
from checkvalve.conformance.engines.session import spark_session
from checkvalve.conformance.engines.shipping import ship_files
from checkvalve.conformance.engines.spark import run_on_spark, run_to_parquet
from checkvalve.conformance.engines.table import read_rows, write_rows
from checkvalve.conformance.engines.task import work
from checkvalve.conformance.suites.results import PASSED, VIOLATED, CaseRow
from checkvalve.conformance.systems.catalogue import SYSTEMS
from checkvalve.conformance.systems.targets import reference_of
from checkvalve.spec.notation.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SUITE = "queue"
GOOD, BROKEN = "reference", "zoo:silent-drop"
CASES = plan(SUITE, cases=14, seed=7)
SETTINGS = RunSettings(programs=4)
LOCAL = "local-cluster[2,1,1024]"
EXECUTOR = "CoarseGrainedExecutorBackend"


@pytest.fixture(scope="module")
def local_rows() -> dict[str, list[CaseRow]]:
    """The rows of the local engine for each target."""
    return {target: run_locally(SUITE, target, CASES, SETTINGS) for target in (GOOD, BROKEN)}


@pytest.fixture(scope="module", params=[LOCAL, "standalone"])
def session(request: pytest.FixtureRequest) -> Iterator[SparkSession]:
    """A session on a cluster of two executors, one kind of cluster after the other."""
    if request.param == "standalone":
        with StandaloneCluster(workers=2) as cluster, spark_session(cluster.master) as running:
            yield running
    else:
        with spark_session(request.param) as running:
            yield running


@pytest.mark.parametrize(("target", "partitions"), [(BROKEN, 1), (GOOD, 3), (BROKEN, 7)])
def test_rows_do_not_depend_on_the_engine_nor_on_the_partitions(
    session: SparkSession, local_rows: dict[str, list[CaseRow]], target: str, partitions: int
) -> None:
    """A cluster gives the local rows, for every partitioning."""
    rows = run_on_spark(SUITE, target, CASES, SETTINGS, session=session, partitions=partitions)
    assert rows == local_rows[target]


def test_a_table_that_the_cluster_writes_is_the_one_written_here(
    session: SparkSession, local_rows: dict[str, list[CaseRow]], tmp_path: Path
) -> None:
    """Both tables have the same columns and rows, and nothing is overwritten."""
    import pyarrow.parquet as pq

    here, there = tmp_path / "here.parquet", tmp_path / "there"
    write_rows(local_rows[BROKEN], here)
    counts = run_to_parquet(SUITE, BROKEN, CASES, SETTINGS, str(there), session=session)
    assert counts == Counter(row.verdict for row in local_rows[BROKEN])
    assert read_rows(there) == read_rows(here) == local_rows[BROKEN]
    assert pq.read_schema(here).equals(pq.read_table(there).schema)
    with pytest.raises(InputError, match="already"):
        run_to_parquet(SUITE, BROKEN, CASES[:1], SETTINGS, str(there), session=session)


def test_the_rows_tell_a_broken_queue_from_a_sound_one(
    local_rows: dict[str, list[CaseRow]]
) -> None:
    """The comparison above is not one of empty or all equal rows."""
    assert {row.verdict for row in local_rows[GOOD]} == {PASSED}
    assert VIOLATED in {row.verdict for row in local_rows[BROKEN]}
    assert [(row.case, row.seed) for row in local_rows[GOOD]] == [
        (case.index, case.seed) for case in CASES
    ]


@pytest.mark.parametrize("session", [LOCAL], indirect=True)
@pytest.mark.parametrize("suite", SYSTEMS)
def test_the_reference_of_a_suite_passes_with_equal_rows_wherever_it_runs(
    session: SparkSession, suite: str
) -> None:
    """In this process and on a cluster; test_contract_of_systems has it as a program."""
    cases, settings, target = plan(suite, cases=4, seed=3), RunSettings(programs=2), (
        reference_of(suite))
    here = run_locally(suite, target, cases, settings)
    assert {row.verdict for row in here} == {PASSED}
    assert run_on_spark(suite, target, cases, settings, session=session) == here


@pytest.mark.parametrize("session", [LOCAL], indirect=True)
def test_an_adapter_is_shipped_as_a_file_a_package_or_a_wheel(
    session: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The executors import it from what was sent: no other folder that they know of has it."""
    text = (Path(__file__).parent.parent / "examples" / "tutorial" / "myqueue.py").read_text()
    package, wheel = tmp_path / "sent_b", tmp_path / "sent_d-1-py3.whl"
    package.mkdir()
    (package / "__init__.py").touch()
    for path in (tmp_path / "sent_a.py", package / "sent.py"):
        path.write_text(text)
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("sent_d.py", text)
    ship_files(session, [tmp_path / "sent_a.py", package, wheel])
    monkeypatch.chdir(Path(__file__).parent.parent / "examples" / "tutorial")
    (here,) = run_locally(SUITE, "python:myqueue:Adapter", CASES[:1], SETTINGS)
    assert here.verdict == VIOLATED
    for module in ("sent_a", "sent_b.sent", "sent_d"):
        (row,) = run_on_spark(
            SUITE, f"python:{module}:Adapter", CASES[:1], SETTINGS, session=session, partitions=1)
        # The fixture names the target.
        assert replace(row, target="", fixture="") == replace(here, target="", fixture="")


def kill_python() -> None:
    """End the Python that a task runs in."""
    os.kill(os.getpid(), signal.SIGKILL)


def kill_executor() -> None:
    """End the Java that started the Python that a task runs in."""
    process = os.getpid()
    while EXECUTOR not in Path(f"/proc/{process}/cmdline").read_text():
        process = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
    os.kill(process, signal.SIGKILL)


@pytest.mark.parametrize("session", [LOCAL], indirect=True)
@pytest.mark.parametrize("strike", [kill_python, kill_executor])
def test_a_process_that_is_killed_changes_no_row(
    session: SparkSession, local_rows: dict[str, list[CaseRow]], strike: Callable[[], None],
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
) -> None:
    """Spark runs the task again elsewhere, and a case gives the same row a second time."""
    def struck(order: Any) -> Callable[[Iterator[Any]], Iterator[Any]]:
        run, mark = work(order), tmp_path / "struck"

        def once(batches: Iterator[Any]) -> Iterator[Any]:
            from pyspark import TaskContext

            # Once in all: where the shuffle's data went too, Spark begins with a first attempt.
            if order is not None and TaskContext.get().partitionId() == 1 and not mark.exists():
                mark.touch()
                strike()
            yield from run(batches)
        return once

    monkeypatch.setattr(spark, "work", struck)
    from pyspark import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    try:
        rows = run_on_spark(SUITE, BROKEN, CASES, SETTINGS, session=session, partitions=3)
    finally:
        cloudpickle.unregister_pickle_by_value(sys.modules[__name__])
    assert (tmp_path / "struck").exists()
    assert rows == local_rows[BROKEN]
