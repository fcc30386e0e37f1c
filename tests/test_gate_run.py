"""A whole gate: what it runs, what it writes, and how it ends."""

from __future__ import annotations

import json
import sys
import shlex
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as xml

import click
import pytest

from checkvalve.conformance.cli import root
from checkvalve.conformance.cli.outcome import run

GOOD_DESIGN = """\
checkvalve: 2
name: line
tasks:
  a: {kind: source}
  b: {kind: sink}
links:
  - {from: a, to: b, capacity: 2}
expect: {deadlock-free: holds}
"""

SUITE = """\
[[suites]]
suite = "queue"
targets = ["reference"]
"""
IDLE = """\
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    hello = {"name": "idle", "version": "1", "policy": "wait", "can": []}
    reply = {"id": asked["id"], "ok": hello if asked["do"] == "hello" else True}
    print(json.dumps(reply), flush=True)
"""
"""An adapter that can do nothing but greet."""

FEW = SUITE.replace("targets", "cases = 8\ntargets")
"""Too few cases for any rule to pass; enough to see what is broken."""


@pytest.fixture
def gate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to run a gate in."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "line.yaml").write_text(GOOD_DESIGN)
    return tmp_path


def run_gate(folder: Path, config: str, *arguments: str) -> tuple[int, dict[str, Any]]:
    """Run a gate of ``config``; its exit code, and the JSON file that it wrote."""
    (folder / "checkvalve.toml").write_text(config)
    code = run(root, ["gate", str(folder), *arguments])
    return code, json.loads((folder / ".checkvalve" / "gate.json").read_text())


def test_a_gate_where_all_is_as_expected_ends_with_0(
    gate: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its last line is the verdict, and both files hold every row."""
    config = 'verify = ["flow.bucket"]\n[[designs]]\nfiles = ["*.yaml"]\n' + SUITE
    code, document = run_gate(gate, config)
    last = click.unstyle(capsys.readouterr().out).splitlines()[-1]
    assert code == 0 and last.startswith("Gate: all as expected (")
    assert {row["section"] for row in document["results"]} == {"designs", "suites", "chapters"}
    cases = xml.parse(gate / ".checkvalve" / "gate.xml").iter("testcase")
    assert len(list(cases)) == len(document["results"])


def test_a_gate_that_asks_for_few_cases_decides_nothing(gate: Path) -> None:
    """Rules that were exercised too little are unknown, with how little it was; rules that cannot
    be shown at all are named.
    """
    code, document = run_gate(gate, FEW)
    assert code == 2
    assert {row["judgement"] for row in document["results"]} == {"unknown", "not shown"}
    assert {row["found"] for row in document["results"]} == {"not shown"}
    assert any("9 are enough" in row["message"] for row in document["results"])


def test_what_an_implementation_breaks_ends_with_1(gate: Path) -> None:
    """A queue that drops elements is not as expected, and the row names the rule."""
    code, document = run_gate(gate, FEW.replace("reference", "deque"))
    broken = [row for row in document["results"] if row["judgement"] == "violated"]
    assert code == 1 and broken
    assert all(row["property"].startswith("QUEUE-") for row in broken)


def test_a_known_failure_is_as_expected(gate: Path) -> None:
    """The rules that a target is known to break may be broken; no other may."""
    _, document = run_gate(gate, SUITE.replace("reference", "deque"))
    known = [row["property"] for row in document["results"] if row["judgement"] == "violated"]
    config = SUITE.replace("reference", "deque") + f"known = {{deque = {json.dumps(known)}}}\n"
    code, _ = run_gate(gate, config)
    assert code == 0


def test_a_known_failure_that_does_not_fail_ends_with_1(gate: Path) -> None:
    """A list of known failures cannot go stale unnoticed."""
    config = SUITE + 'known = {"reference" = ["QUEUE-1"]}\n'
    code, document = run_gate(gate, config)
    stale = [row for row in document["results"] if row["judgement"] == "violated"]
    assert code == 1 and [row["property"] for row in stale] == ["QUEUE-1"]


def test_an_optional_target_that_is_missing_decides_nothing(
    gate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without node the queue in JavaScript is unavailable, with what to install."""
    monkeypatch.setenv("PATH", str(gate))
    config = SUITE.replace('"reference"', '"reference", "js"') + 'optional = ["js"]\n'
    code, document = run_gate(gate, config)
    absent = [row for row in document["results"] if row["judgement"] == "unavailable"]
    assert code == 0 and [row["subject"] for row in absent] == ["queue on js"]
    assert "node" in absent[0]["message"]


@pytest.mark.parametrize("config", [
    '[[designs]]\nfiles = ["broken.yaml", "line.yaml"]\n',
    FEW.replace("reference", "python:no.such.module:make"),
    FEW.replace("reference", "command:./no-such-program"),
])
def test_what_cannot_be_run_is_a_row_and_ends_with_64(gate: Path, config: str) -> None:
    """Bad input is named in the report, with what to do; the files are written all the same."""
    (gate / "broken.yaml").write_text("checkvalve: 2\nname: broken\ntasks: [\n")
    code, document = run_gate(gate, config)
    wrong = [row for row in document["results"] if row["judgement"] == "error"]
    assert code == 64 and len(wrong) == 1 and wrong[0]["message"]


def test_a_target_that_ends_its_process_does_not_end_the_gate(gate: Path) -> None:
    """It is a row that says how it ended; what is listed after it is run all the same."""
    (gate / "leaver.py").write_text("import os\ndef make():\n    os._exit(0)\n")
    config = SUITE.replace('"reference"', '"python:leaver:make", "reference"')
    code, document = run_gate(gate, config)
    first, *others = document["results"]
    assert code == 69 and "ended with exit status 0" in first["message"]
    assert others and all(row["judgement"] in ("as expected", "not shown") for row in others)


def test_a_target_of_which_nothing_can_be_asked_ends_with_2(
    gate: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run in which nothing was tested is never a pass; `conform` says so too."""
    (gate / "idle.py").write_text(IDLE)
    idle = f"command:{shlex.join([sys.executable, str(gate / 'idle.py')])}"
    code, document = run_gate(gate, SUITE.replace('"reference"', json.dumps(idle)))
    (row,) = document["results"]
    assert (code, row["found"], row["judgement"]) == (2, "nothing applies", "unknown")
    capsys.readouterr()
    assert run(root, ["conform", idle, "--suite", "queue"]) == 2
    assert "Nothing was tested" in capsys.readouterr().out


def test_a_wrong_expectation_of_a_design_ends_with_1(gate: Path) -> None:
    """A design that does not deadlock is not what an author of `violated` expects."""
    (gate / "line.yaml").write_text(GOOD_DESIGN.replace("holds", "violated"))
    code, _ = run_gate(gate, '[[designs]]\nfiles = ["*.yaml"]\n')
    assert code == 1


def test_the_way_into_a_deadlock_is_told_in_numbered_steps(
    gate: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the table and in the JUnit file, a line a step."""
    (gate / "line.yaml").write_text(GOOD_DESIGN.replace("capacity: 2", "capacity: 1, takes: 2"))
    code, document = run_gate(gate, '[[designs]]\nfiles = ["*.yaml"]\n')
    told = click.unstyle(capsys.readouterr().out).splitlines()
    steps = document["results"][0]["details"]["trace"]
    assert code == 1 and steps
    for number, step in enumerate(steps, start=1):
        assert any(line.split() == [str(number), *step.split()] for line in told)
    failure, = xml.parse(gate / ".checkvalve" / "gate.xml").iter("failure")
    assert [line.split()[1:] for line in (failure.text or "").splitlines()[1:len(steps) + 1]] == [
        step.split() for step in steps]


def test_a_gate_tells_what_it_took_for_granted_and_what_is_odd(
    gate: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Once for each design, below its verdicts; the file for machines has the same."""
    (gate / "word-count.flux.yaml").write_bytes(
        (Path(__file__).parents[1] / "examples/formats/word-count.flux.yaml").read_bytes())
    (gate / "line.yaml").write_text(GOOD_DESIGN.replace("capacity: 2}", "capacity: 2, takes: 3}"))
    _, document = run_gate(gate, '[[designs]]\nfiles = ["*.yaml"]\n')
    shown = click.unstyle(capsys.readouterr().out)
    details = {row["subject"]: row["details"] for row in document["results"]}
    taken = details["word-count.flux.yaml"]["assumed"]
    assert taken and shown.count("taken for granted:") == len(taken)
    assert shown.count("odd:") == sum(len(each["lints"]) for each in details.values()) > 0


def test_a_should_that_is_broken_ends_with_1(gate: Path) -> None:
    """As a MUST does; the row says which it is."""
    config = SUITE.replace("reference", "asyncio.Queue")
    code, document = run_gate(gate, config)
    broken = [row for row in document["results"] if row["judgement"] == "violated"]
    assert code == 1 and [row["property"] for row in broken] == ["QUEUE-12"]
    assert broken[0]["message"].startswith("SHOULD: ")


def test_a_target_is_found_beside_the_configuration(
    gate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A gate can be run from anywhere: its targets are looked for where its designs are."""
    (gate / "queue_beside_the_gate.py").write_text(
        "from checkvalve.conformance.systems.targets import adapter_factory\n"
        "make = adapter_factory('reference')\n")
    (gate / "elsewhere").mkdir()
    monkeypatch.chdir(gate / "elsewhere")
    config = SUITE.replace("reference", "python:queue_beside_the_gate:make")
    (gate / "checkvalve.toml").write_text(config)
    assert run(root, ["gate", ".."]) == 0
    assert (gate / "elsewhere" / ".checkvalve" / "gate.json").is_file()


def test_json_prints_the_same_document_as_the_file(
    gate: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With --json, stdout is that one document."""
    _, document = run_gate(gate, FEW, "--json")
    assert json.loads(capsys.readouterr().out) == document


@pytest.mark.parametrize(("outputs", "what"), [
    (["--junit", "line.yaml/x.xml"], "line.yaml/x.xml: cannot write"),
    (["--junit", "out", "--json-file", "./out"], "name the same file"),
    (["--json-file", "line.yaml"], "--json-file would overwrite"),
    (["--junit", "checkvalve.toml"], "--junit would overwrite"),
])
def test_outputs_that_cannot_be_are_refused_before_anything_is_run(
    gate: Path, capsys: pytest.CaptureFixture[str], outputs: list[str], what: str
) -> None:
    """Not writable, the same twice, or an input: one message, no row, no file touched."""
    config = '[[designs]]\nfiles = ["*.yaml"]\n'
    (gate / "checkvalve.toml").write_text(config)
    assert run(root, ["gate", *outputs]) == 64
    told = capsys.readouterr()
    assert told.out == "" and what in told.err
    assert (gate / "checkvalve.toml").read_text() == config
    assert (gate / "line.yaml").read_text() == GOOD_DESIGN


def test_a_design_may_be_anywhere(gate: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """An absolute path, or one that leaves the folder of the configuration."""
    other = tmp_path_factory.mktemp("other") / "line.yaml"
    other.write_text(GOOD_DESIGN)
    (gate / "inner").mkdir()
    config = f'[[designs]]\nfiles = ["{other}", "../line.yaml"]\n'
    code, document = run_gate(gate / "inner", config, "--json-file",
                              str(gate / "inner" / ".checkvalve" / "gate.json"))
    assert code == 0
    assert {row["subject"] for row in document["results"]} == {str(other), "../line.yaml"}
