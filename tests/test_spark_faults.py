"""What goes wrong on a cluster changes no row, and a session of Spark Connect gives the same."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from checkvalve.conformance.campaigns.case import RunSettings, plan
from checkvalve.conformance.engines import spark
from checkvalve.conformance.engines.conduct import Engine, Order, conduct
from checkvalve.conformance.engines.local import run_locally
from checkvalve.conformance.engines.spark import run_on_spark
from checkvalve.conformance.engines.task import work

pytestmark = pytest.mark.spark

SUITE, TARGET = "queue", "zoo:silent-drop"
CASES = plan(SUITE, cases=9, seed=7)
SETTINGS = RunSettings(programs=3)
EXECUTOR = "CoarseGrainedExecutorBackend"

CONNECT = f"""
import json
from dataclasses import asdict
from pyspark.sql import SparkSession
from checkvalve.conformance.engines.spark import run_on_spark
from checkvalve.conformance.campaigns.case import RunSettings, plan

session = SparkSession.builder.remote("local[2]").config("spark.ui.enabled", "false").getOrCreate()
assert "connect" in type(session).__module__
rows = run_on_spark({SUITE!r}, {TARGET!r}, plan({SUITE!r}, cases=9, seed=7),
                    RunSettings(programs=3), session=session, partitions=3)
print("ROWS" + json.dumps([asdict(row) for row in rows]))
session.stop()
"""


def kill_python() -> None:
    """End the Python that a task runs in."""
    os.kill(os.getpid(), signal.SIGKILL)


def kill_executor() -> None:
    """End the Java that started the Python that a task runs in."""
    process = os.getpid()
    while EXECUTOR not in Path(f"/proc/{process}/cmdline").read_text():
        process = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
    os.kill(process, signal.SIGKILL)


@pytest.mark.parametrize("strike", [kill_python, kill_executor])
def test_a_process_that_is_killed_changes_no_row(
    strike: Callable[[], None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
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
        rows = run_on_spark(
            SUITE, TARGET, CASES, SETTINGS, master="local-cluster[2,1,1024]", partitions=3)
    finally:
        cloudpickle.unregister_pickle_by_value(sys.modules[__name__])
    assert (tmp_path / "struck").exists()
    assert rows == run_locally(SUITE, TARGET, CASES, SETTINGS)


def test_spark_connect_gives_the_same_rows() -> None:
    """The engine asks for nothing that a remote session lacks."""
    done = subprocess.run([sys.executable, "-c", CONNECT], capture_output=True, text=True,
                          env=os.environ | {"PYSPARK_PYTHON": sys.executable}, check=False)
    told = [line.removeprefix("ROWS") for line in done.stdout.splitlines()
            if line.startswith("ROWS")]
    assert told, done.stderr
    assert json.loads(told[0]) == [
        asdict(row) for row in run_locally(SUITE, TARGET, CASES, SETTINGS)]


def test_a_target_that_fails_at_once_is_tried_on_one_case_only(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    """As here, so on a cluster: one that hangs costs one limit, and not one for each case."""
    asked = []

    def counting(suite: str, target: str, cases: list[Any], *rest: Any, **place: Any) -> Any:
        asked.append(len(cases))
        return run_locally(suite, target, cases, *rest)

    monkeypatch.setattr(spark, "run_on_spark", counting)
    order = Order("queue", 5, 0, RunSettings(programs=1))
    silent = f"command:{sys.executable} -c 'import sys; sys.stdin.readline()'"
    conduct(silent, order, engine=Engine(session=object()))  # type: ignore[arg-type]
    conduct("reference", order, engine=Engine(session=object()))  # type: ignore[arg-type]
    assert asked == [1, 1, 4]
