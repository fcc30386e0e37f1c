"""A session of Spark Connect gives the same rows, and a target that hangs costs one limit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict
from typing import Any

import pytest

from checkvalve.conformance.campaigns.case import RunSettings, plan
from checkvalve.conformance.engines import spark
from checkvalve.conformance.engines.conduct import Engine, Order, conduct
from checkvalve.conformance.engines.local import run_locally

pytestmark = pytest.mark.spark

SUITE, TARGET = "queue", "zoo:silent-drop"
CASES = plan(SUITE, cases=9, seed=7)
SETTINGS = RunSettings(programs=3)

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
