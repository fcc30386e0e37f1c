"""The story of a violation in a gate: steps, waits, cycle, fix, fixture, command."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as xml

import click
import jsonschema
import pytest

from checkvalve.conformance.campaigns.saving import replay_command
from checkvalve.conformance.cli import root
from checkvalve.conformance.cli.outcome import run
from checkvalve.conformance.gate.places import place_of_target, place_written
from checkvalve.conformance.gate.report import Place, Row, time_of

SCHEMA = json.loads(
    (Path(__file__).parents[1] / "docs/schemas/gate.json").read_text(encoding="utf-8"))


LOST = """\
checkvalve: 2
name: calls
tasks:
  a: {kind: script, steps: [{write: q}, {write: q}, {read: r}]}
  b: {kind: script, steps: [{read: q}, {write: r}, {write: r}]}
links:
  - {from: a, to: b, name: q, capacity: 1}
  - {from: b, to: a, name: r, capacity: 1}
"""
"""Each call has two answers, of which one is read: the queues fill from both sides."""

DEQUE = '[[suites]]\nsuite = "queue"\ncases = 8\ntargets = ["deque"]\n'


def run_gate(config: str) -> tuple[int, list[dict[str, Any]]]:
    """Run a gate in the current folder; its exit code, and the rows of its JSON file."""
    Path("checkvalve.toml").write_text(config)
    code = run(root, ["gate"])
    document = json.loads(Path(".checkvalve/gate.json").read_text())
    jsonschema.validate(document, SCHEMA)
    return code, document["results"]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test in a folder of its own."""
    monkeypatch.chdir(tmp_path)


def test_a_deadlock_comes_with_its_waits_its_cycle_and_a_patch_that_fixes_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """On the console and in the JUnit file; the patch applies, and the next gate is as expected."""
    Path("calls.yaml").write_text(LOST)
    code, rows = run_gate('[[designs]]\nfiles = ["*.yaml"]\n')
    shown = click.unstyle(capsys.readouterr().out)
    failure, = xml.parse(".checkvalve/gate.xml").iter("failure")
    assert failure.text is not None
    row, = (row for row in rows if row["judgement"] == "violated")
    assert code == 1 and row["details"]["around"] and row["story"] == failure.text.splitlines()
    for part in ("At the end these tasks wait:", "Cycle of waits: ", "checked", "patch -p0"):
        assert part in shown and any(part in line for line in row["story"])
    assert row["place"] == {"file": "calls.yaml", "line": 8, "column": 5}
    if shutil.which("patch"):
        subprocess.run(["patch", "-p0"], input=failure.text, text=True, check=True)
        assert run_gate('[[designs]]\nfiles = ["*.yaml"]\n')[0] == 0


def test_a_broken_rule_comes_with_its_steps_its_source_and_a_command_that_replays_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The fixture is saved where the row says; the command ends with 1, as it breaks again."""
    code, rows = run_gate(DEQUE)
    shown = click.unstyle(capsys.readouterr().out)
    row, = (row for row in rows if row["judgement"] == "violated")
    failure, = xml.parse(".checkvalve/gate.xml").iter("failure")
    assert failure.text is not None
    assert code == 1 and row["story"] == failure.text.splitlines()
    for part in ("  1. offer a1: accepted", "This breaks QUEUE-1 (MUST): ", "Source: 003#",
                 "Saved as .checkvalve/fixtures/queue-deque-QUEUE-1.json"):
        assert part in shown and part in failure.text
    command = row["details"]["replay"]
    assert f"Replay it: {command}" in failure.text
    program, *arguments = shlex.split(command)
    assert program == "checkvalve" and run(root, arguments) == 1


def test_a_rule_has_the_time_of_the_cases_that_looked_for_it() -> None:
    """All rules of a suite are judged in one run; its time stands at the suite; what nothing
    looked for took no time."""
    _, rows = run_gate(DEQUE)
    suite, = xml.parse(".checkvalve/gate.xml").iter("testsuite")
    assert len({row["seconds"] for row in rows}) == 1 and all(row["shares_time"] for row in rows)
    assert suite.get("time") == f"{rows[0]['seconds']:.3f}"
    own = {case.get("name"): case.get("time") for case in suite.iter("testcase")}
    assert own == {row["property"]: f"{row['own_seconds']:.3f}" for row in rows}
    assert float(own["QUEUE-1"]) > 0.0 == float(own["QUEUE-9"]) and len({*own.values()}) > 2


def test_rows_of_one_run_count_its_time_once() -> None:
    """Rows with times of their own are added up."""
    shared = [Row("suites", "queue on a", name, "", "", "as expected", seconds=2.0,
                  shares_time=True) for name in "xyz"]
    apart = [Row("designs", "a", name, "", "", "as expected", seconds=1.0) for name in "xyz"]
    assert time_of([*shared, *apart]) == 5.0


def test_a_violation_that_is_expected_has_no_story(capsys: pytest.CaptureFixture[str]) -> None:
    """It needs no action; its fixture is saved all the same, and the row has the command."""
    code, rows = run_gate(DEQUE + '[suites.known]\ndeque = ["QUEUE-1"]\n')
    row, = (row for row in rows if row["property"] == "QUEUE-1")
    assert row["story"] == [] and row["place"] is None and row["details"]["replay"]
    assert code == 2 and "Replay it" not in capsys.readouterr().out


def test_a_replay_in_another_folder_says_so(tmp_path: Path) -> None:
    """A target in the folder of the list is looked for there, and its fixture is here."""
    (tmp_path / "inner").mkdir()
    fixture = Path(".checkvalve/fixtures/x.json")
    here = replay_command(fixture, "deque", folder=Path("inner"))
    assert here == "checkvalve replay .checkvalve/fixtures/x.json deque"
    there = replay_command(fixture, "thread:m:Q", folder=Path("inner"), timeout=7)
    assert there == ("cd inner && checkvalve replay ../.checkvalve/fixtures/x.json thread:m:Q "
                     "--timeout 7")


@pytest.mark.parametrize(("target", "place"), [
    ("thread:mine:Queue", Place("mine.py", 4, 1)),
    ("python:mine:Queue.make?put=push", Place("mine.py", 5, 5)),
    ("asyncio:mine:there_is_none", Place("mine.py")),
    ("thread:queue:Queue", None),
    ("command:python mine.py", Place("mine.py")),
    ("queue.Queue", None), ("python:mine", None),
])
def test_the_place_of_a_target_is_its_class(target: str, place: Place | None) -> None:
    """Found without importing it; of what is not below the folder there is no place."""
    Path("mine.py").write_text("import no_such_module\n\n\nclass Queue:\n    def make(self): ...\n")
    assert place_of_target(target, Path()) == place


def test_the_place_of_an_error_is_the_one_that_it_names(tmp_path: Path) -> None:
    """From the folder of the list or from the current one; None where there is no such file."""
    Path("x.yaml").write_text("")
    assert place_written("x.yaml:3:7", Path()) == Place("x.yaml", 3, 7)
    assert place_written(f"{tmp_path}/x.yaml", Path()) == Place("x.yaml")
    assert place_written("no.yaml:3", Path()) is None and place_written("", Path()) is None
