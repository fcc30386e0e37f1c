"""JUnit XML and SARIF 2.1.0 of check, conform and gate."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as xml

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkvalve.conformance.cli import root
from checkvalve.conformance.cli.outcome import run
from checkvalve.conformance.gate.report import EXIT_CODES, Place, Report, Row
from checkvalve.conformance.gate.sarif import MEANINGS, sarif
from checkvalve.spec.design.reading.properties import FACTS

EXPECTED = Path(__file__).parent / "expected"
SARIF = jsonschema.Draft4Validator(
    json.loads((EXPECTED / "sarif-2.1.0.json").read_text(encoding="utf-8")))

ONE_SHORT = """\
checkvalve: 2
name: line
tasks:
  a: {kind: source}
  b: {kind: sink}
links:
  - {from: a, to: b, capacity: 1, takes: 2}
"""
"""A reader that takes two elements from a link that holds one: a deadlock without a cycle."""

TALK = """\
checkvalve: 2
name: talk
tasks:
  a:
    kind: script
    steps:
      - {read: q}
      - {write: r}
  b:
    kind: script
    steps:
      - {read: r}
      - {write: q}
links:
  - {from: b, to: a, name: q, capacity: 1}
  - {from: a, to: b, name: r, capacity: 1}
"""
"""Each task reads before it writes: a cycle of waits, closed by the read at 12:9."""

ROWS = st.builds(
    Row, st.sampled_from(["designs", "suites", "chapters"]), st.text(),
    st.one_of(st.text(), st.sampled_from([*FACTS, "no-starvation: a"])), st.text(), st.text(),
    st.sampled_from(sorted(EXIT_CODES)), st.text(), st.floats(0, 100),
    st.just({}), st.lists(st.text()).map(tuple),
    st.none() | st.builds(Place, st.sampled_from(["a b/ü.yaml", "/x/y.py"]), st.integers(1, 9)))


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test in a folder of its own."""
    monkeypatch.chdir(tmp_path)


def written(code: int, *arguments: str) -> tuple[dict[str, Any], xml.Element]:
    """The SARIF run and the JUnit root that a command writes, which ends with ``code``."""
    assert run(root, [*arguments, "--sarif", "x.sarif", "--junit", "x.xml"]) == code
    document = json.loads(Path("x.sarif").read_text(encoding="utf-8"))
    SARIF.validate(document)
    return document["runs"][0], xml.parse("x.xml").getroot()


def place(result: dict[str, Any]) -> tuple[str, int, int]:
    """The file, line and column of a result."""
    where, = result["locations"]
    region = where["physicalLocation"]["region"]
    return (where["physicalLocation"]["artifactLocation"]["uri"], region["startLine"],
            region["startColumn"])


@given(st.lists(ROWS), st.sampled_from(({}, {"against": {}})))
def test_sarif_fits_its_schema_whatever_the_rows_say(
    rows: list[Row], compared: dict[str, Any]
) -> None:
    """A result for each row that is violated, unknown or an error; each has a rule with help. What
    is left of a comparison is new."""
    document = json.loads(sarif(Report("x.toml", tuple(rows), 1.0, compared)))
    SARIF.validate(document)
    assert all((result.get("baselineState") == "new") == bool(compared)
               for result in document["runs"][0]["results"])
    found = document["runs"][0]
    rules = found["tool"]["driver"]["rules"]
    wrong = [row for row in rows if row.judgement in ("violated", "unknown", "error")]
    assert len(found["results"]) == len(wrong)
    assert len({rule["id"] for rule in rules}) == len(rules)
    for result in found["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert rules[result["ruleIndex"]]["help"]["text"]


def test_every_property_of_a_design_has_a_meaning() -> None:
    """As the help text of its rule."""
    assert MEANINGS.keys() == FACTS.keys()


def test_a_cycle_is_reported_at_the_step_that_closes_it() -> None:
    """The last one in the file; the column is that of the step."""
    Path("talk.yaml").write_text(TALK)
    found, junit = written(1, "check", "talk.yaml")
    result = next(each for each in found["results"] if each["ruleId"] == "deadlock-free")
    assert place(result) == ("talk.yaml", 12, 9) and result["level"] == "error"
    assert "Cycle of waits: " in result["message"]["text"]
    assert junit.get("name") == "checkvalve check"
    failure = next(junit.iter("failure"))
    assert "At the end these tasks wait:" in (failure.text or "")


def test_a_deadlock_without_a_cycle_is_reported_at_the_name() -> None:
    """No link closes anything there."""
    Path("line.yaml").write_text(ONE_SHORT)
    found, _ = written(1, "check", "line.yaml", "--no-repair")
    assert {place(result) for result in found["results"]} == {("line.yaml", 2, 1)}


def test_a_design_that_is_as_expected_has_no_result() -> None:
    """The SARIF file is there all the same, and the JUnit file has a case for each property."""
    Path("talk.yaml").write_text(TALK + "expect: {deadlock-free: violated}\n")
    found, junit = written(0, "check", "talk.yaml")
    assert found["results"] == [] and junit.get("failures") == "0"
    assert len(list(junit.iter("testcase"))) > 1


def test_designs_of_one_file_have_their_names() -> None:
    """A case for each of them."""
    Path("talk.yaml").write_text(TALK.replace("capacity: 1", "capacity: n")
                                 + "parameters: {n: 1..2}\n")
    _, junit = written(1, "check", "talk.yaml")
    assert [suite.get("name") for suite in junit] == [
        "designs.talk.yaml (talk n=1)", "designs.talk.yaml (talk n=2)"]


def test_conform_reports_a_broken_rule_at_the_class_with_its_replay() -> None:
    """The command in the message names the fixture that was saved."""
    Path("mine.py").write_text("from queue import Queue\n\n\nclass Own(Queue):\n    pass\n")
    found, junit = written(1, "conform", "thread:mine:Own", "--suite", "queue", "--cases", "12",
                           "--fixtures", "saved")
    broken = [each for each in found["results"] if each["ruleId"] == "QUEUE-12"]
    assert [(place(each), each["level"]) for each in broken] == [(("mine.py", 4, 1), "warning")]
    fixture = "saved/queue-thread-mine-Own-QUEUE-12.json"
    assert f"Replay it: checkvalve replay {fixture} thread:mine:Own" in broken[0]["message"]["text"]
    assert Path(fixture).is_file()
    assert junit.get("name") == "checkvalve conform" and junit.get("failures") == "1"


def test_a_known_rule_of_conform_is_no_failure_whether_it_breaks_or_not() -> None:
    """The files agree with the exit code."""
    _, junit = written(2, "conform", "deque", "--cases", "4", "--known", "QUEUE-1",
                       "--known", "QUEUE-2")
    assert junit.get("failures") == "0"


def test_a_gate_reports_a_rule_where_its_target_is_listed() -> None:
    """And a mistake in a design where it is."""
    Path("checkvalve.toml").write_text(
        '[[designs]]\nfiles = ["*.yaml"]\n[[suites]]\nsuite = "queue"\ncases = 4\n'
        'targets = [\n  "deque",\n]\n')
    Path("bad.yaml").write_text("checkvalve: 2\nname: x\ntasks: 3\n")
    found, _ = written(64, "gate")
    places = {result["ruleId"]: place(result) for result in found["results"]}
    assert places["QUEUE-1"] == ("checkvalve.toml", 7, 1)
    assert places["can-be-run"][:2] == ("bad.yaml", 3)


@pytest.mark.parametrize("command", [["check", "talk.yaml"], ["conform", "deque"]])
def test_two_reports_in_one_file_are_refused(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """So is one that would overwrite a design; nothing was run."""
    Path("talk.yaml").write_text(TALK)
    assert run(root, [*command, "--junit", "x", "--sarif", "./x"]) == 64
    assert "name the same file" in capsys.readouterr().err
    if command[0] == "check":
        assert run(root, [*command, "--sarif", "talk.yaml"]) == 64
        assert "--sarif would overwrite" in capsys.readouterr().err
    assert Path("talk.yaml").read_text() == TALK and not Path("x").exists()
