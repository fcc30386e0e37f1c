"""Errors of a cluster are reported in one sentence, with whose fault they are."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import pytest

from checkvalve.conformance.campaigns.case import RunSettings, plan
from checkvalve.conformance.engines.cluster import StandaloneCluster
from checkvalve.conformance.engines.local import run_locally
from checkvalve.conformance.engines.session import check_master, spark_session
from checkvalve.conformance.engines.spark import run_on_spark
from checkvalve.spec.notation.errors import InputError

pytestmark = pytest.mark.spark

SUITE, TARGET = "queue", "reference"
CASES = plan(SUITE, cases=2, seed=1)
SETTINGS = RunSettings(programs=4)
HERE = "local[1]"

HIDING = """
import importlib.abc, importlib.machinery, sys

class Hiding(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name != "checkvalve":
            return None
        sent = [place for place in sys.path if place.endswith(".zip")]
        spec = importlib.machinery.PathFinder.find_spec(name, sent)
        if spec is None:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return spec

sys.meta_path.insert(0, Hiding())
"""
"""Hides an installed checkvalve, but for one that Spark has sent."""


@pytest.fixture
def bare_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Executors run a Python that has everything except checkvalve."""
    (tmp_path / "sitecustomize.py").write_text(HIDING)
    program = tmp_path / "python"
    program.write_text(
        f'#!/bin/sh\nPYTHONPATH="{tmp_path}:$PYTHONPATH" exec "{sys.executable}" "$@"\n'
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PYSPARK_PYTHON", str(program))


@pytest.mark.usefixtures("bare_python")
def test_an_executor_without_checkvalve_is_told_in_one_line() -> None:
    """The error names the interpreter that lacks it and says what to install."""
    with pytest.raises(InputError, match="an executor has no checkvalve") as caught:
        run_on_spark(SUITE, TARGET, CASES, SETTINGS, master=HERE)
    assert "\n" not in str(caught.value)
    assert "Install checkvalve[spark]" in caught.value.next_step


@pytest.mark.usefixtures("bare_python")
def test_a_checkvalve_that_is_sent_along_gives_the_same_rows() -> None:
    """With ``ship`` the executors, in folders of their own, need only what it depends on."""
    rows = run_on_spark(
        SUITE, TARGET, CASES, SETTINGS, master="local-cluster[1,1,1024]", ship=True)
    assert rows == run_locally(SUITE, TARGET, CASES, SETTINGS)


def test_a_node_without_that_python_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong PYSPARK_PYTHON is named as the cause."""
    monkeypatch.setenv("PYSPARK_PYTHON", "/no/such/python")
    with pytest.raises(InputError, match="no Python where PYSPARK_PYTHON says"):
        run_on_spark(SUITE, TARGET, CASES, SETTINGS, master=HERE)


def test_an_error_on_an_executor_is_told_as_it_is_here() -> None:
    """An unusable target gives the same error from both engines, and a session stays usable. A
    cluster that is given by its address gives the same rows, in a session that the engine makes,
    and stops, so that the next one can be made."""
    rows = run_on_spark(SUITE, TARGET, CASES, SETTINGS, master="local[2]")
    assert rows == run_locally(SUITE, TARGET, CASES, SETTINGS)
    with spark_session(HERE) as session:
        with pytest.raises(InputError) as here:
            run_locally(SUITE, "no-such-target", CASES, SETTINGS)
        with pytest.raises(InputError) as there:
            run_on_spark(SUITE, "no-such-target", CASES, SETTINGS, session=session)
        assert str(there.value) == str(here.value)
        with pytest.raises(InputError, match="runs in this process already"):
            run_on_spark(SUITE, TARGET, CASES, SETTINGS, master=HERE)
        assert run_on_spark(SUITE, TARGET, CASES, SETTINGS, session=session) == rows


def test_a_cluster_without_room_is_given_up_and_leaves_nothing() -> None:
    """A cluster that has no executor to give is reported in bounded time; then all of it ends."""
    too_much = {"spark.executor.memory": "8g"}
    with StandaloneCluster(workers=1) as cluster:
        with pytest.raises(InputError, match="no executor took up work within 1 s"):
            run_on_spark(SUITE, TARGET, CASES, SETTINGS, master=cluster.master,
                         options=too_much, patience_s=1)
        address, folder = cluster.master, cluster.folder
    assert not folder.exists()
    with pytest.raises(InputError, match="no Spark master answers"):
        check_master(address)
