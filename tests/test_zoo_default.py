"""A user's default run on the zoo: no hint, and yet every twin."""

from __future__ import annotations

import json
import pickle

import pytest

from benchmarks.zoo import rows_of
from checkvalve.conformance.campaigns.case import run_case
from checkvalve.conformance.cli import root
from checkvalve.conformance.cli.outcome import run
from checkvalve.conformance.engines.conduct import Order, next_cases
from checkvalve.conformance.zoo import default_run
from checkvalve.conformance.zoo.default_run import (
    EQUIVALENT, MISSED, NAMED, Find, default_runs, find,
)


@pytest.mark.parametrize("name", [
    "kafka-7697-partition-lock", "timer-horizon-in-java", "D5", "partition-one-delay",
    "PR-2502-review", "youngest-put-first"])
def test_a_twin_that_takes_a_rare_course_is_named_by_its_rule(name: str) -> None:
    """Deadlocks of two locks, a horizon of <=, a race: each in a run of all rules in turn."""
    assert find(name).verdict == NAMED


def test_the_table_of_default_runs_has_a_row_for_each_suite_and_one_for_all() -> None:
    """Of a suite of which nothing was run there is no row."""
    said = {"one": {"verdict": NAMED, "steps": 3, "first": 1},
            "two": {"verdict": MISSED, "steps": None, "first": 0}}
    _, *rows = rows_of({"queue": said, "jobs": {}})
    assert rows == [("`queue`", "2", "1", "0", "1", "0", "3", "1, 1"),
                    ("all", "2", "1", "0", "1", "0", "3", "1, 1")]


def test_the_cases_are_those_of_a_default_run() -> None:
    """As many as it took, from the first on."""
    found = find("last-in-first-out")
    cases = next_cases(Order("queue"), [])[:found.cases]
    rows = [run_case("queue", "zoo:last-in-first-out", case, Order().settings) for case in cases]
    assert [row.rule == found.twin.rule for row in rows] == [False] * (len(rows) - 1) + [True]
    assert found.fixture is not None and found.fixture.to_json() == rows[-1].fixture


def test_a_find_crosses_processes_though_its_twin_cannot() -> None:
    """Some twins are classes that were made by a call."""
    found = find("timer-tick-early")
    assert pickle.loads(pickle.dumps(found)) == found


def test_what_is_found_does_not_depend_on_the_number_of_processes() -> None:
    """The same finds, in the same order."""
    assert [each.to_json() for each in default_runs(["storm.spout"], jobs=2)] == [
        each.to_json() for each in default_runs(["storm.spout"])]


def test_a_twin_that_is_missed_fails_the_command(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code 1; one that is argued to be equivalent is not missed."""
    missed, equivalent = (Find(name, None, (), 0, 36)
                          for name in ("D5", "timer-expiration-kept"))
    assert (missed.verdict, equivalent.verdict) == (MISSED, EQUIVALENT)
    for found, code in ((missed, 1), (equivalent, 0)):
        monkeypatch.setattr(default_run, "default_runs", lambda *_, found=found: iter([found]))
        assert run(root, ["zoo", "--default", "--json"]) == code
        assert json.loads(capsys.readouterr().out)["exit_code"] == code


def test_processes_are_about_default_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """The hunt has none, and says so."""
    assert run(root, ["zoo", "queue", "--jobs", "2"]) == 64
    assert "--default" in capsys.readouterr().err
