"""A session of Spark Connect gives the same rows, and a target that hangs costs one limit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
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

LOGS = Path(__file__).resolve().parent.parent / "examples" / "logs"

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

from pathlib import Path
from checkvalve.conformance.engines.judging import Asked, judge_on_spark
from checkvalve.conformance.logs.answer import document
from checkvalve.conformance.engines.log_parts import logs_of
from checkvalve.conformance.logs.run import mapped_for, terms_of
logs = logs_of("queue")
mapped = mapped_for(Path({str(LOGS / "jobs.yaml")!r}), logs, {{}})
judged = judge_on_spark(session, Asked([{str(LOGS / "jobs.csv")!r}], "queue", logs, mapped,
                                       terms_of(mapped, {{}}, False, 9)), partitions=2)
print("JUDGED" + json.dumps(document(judged, logs)))
session.stop()
"""


def test_spark_connect_gives_the_same_rows_and_judges_logs() -> None:
    """The engine asks for nothing that a remote session lacks; one session for both."""
    done = subprocess.run([sys.executable, "-c", CONNECT], capture_output=True, text=True,
                          env=os.environ | {"PYSPARK_PYTHON": sys.executable}, check=False)
    told = [line.removeprefix("ROWS") for line in done.stdout.splitlines()
            if line.startswith("ROWS")]
    assert told, done.stderr
    assert json.loads(told[0]) == [
        asdict(row) for row in run_locally(SUITE, TARGET, CASES, SETTINGS)]
    answer = next(json.loads(line.removeprefix("JUDGED")) for line in done.stdout.splitlines()
                  if line.startswith("JUDGED"))
    violation, = answer["violations"]
    assert (violation["rule"], violation["event"]["line"], answer["events"]) == ("QUEUE-3", 11, 14)


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
