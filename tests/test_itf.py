"""Counterexamples in the Informal Trace Format of Apalache (ADR 015)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import itf_py
import jsonschema
import pytest
from click.testing import CliRunner

from checkvalve.conformance.cli import root
from checkvalve.conformance.designs import check_design
from checkvalve.conformance.report import itf
from checkvalve.spec.design.drawing.folding import boxes_of

ROOT = Path(__file__).resolve().parent.parent
DESIGNS = ROOT / "examples" / "designs"

_VALUE = {"$ref": "#/$defs/value"}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["vars", "states"],
    "properties": {
        "#meta": {"type": "object"},
        "params": {"type": "array", "items": {"type": "string"}},
        "vars": {"type": "array", "items": {"type": "string"}},
        "loop": {"type": "integer", "minimum": 0},
        "states": {"type": "array", "minItems": 1, "items": {
            "type": "object", "properties": {"#meta": {
                "type": "object", "required": ["index"],
                "properties": {"index": {"type": "integer", "minimum": 0}}}},
            "additionalProperties": _VALUE}},
    },
    "additionalProperties": False,
    "$defs": {"value": {"anyOf": [
        {"type": ["boolean", "string"]},
        {"type": "array", "items": _VALUE},
        {"type": "object", "required": ["#bigint"], "additionalProperties": False,
         "properties": {"#bigint": {"type": "string", "pattern": "^-?[0-9]+$"}}},
        {"type": "object", "required": ["#tup"], "additionalProperties": False,
         "properties": {"#tup": {"type": "array", "items": _VALUE}}},
        {"type": "object", "required": ["#map"], "additionalProperties": False,
         "properties": {"#map": {"type": "array", "items": {
             "type": "array", "minItems": 2, "maxItems": 2, "items": _VALUE}}}},
        {"type": "object", "propertyNames": {"pattern": "^[^#]"}, "additionalProperties": _VALUE},
    ]}},
}
"""The format, as the decision record describes it: a plain number is a #bigint here."""


def _without_meta(state: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in state.items() if name != "#meta"}


def check_format(document: dict[str, Any]) -> None:
    """All states have all variables, are numbered, and the loop leads to one of them. Another
    reader of the format has the same states."""
    jsonschema.validate(document, SCHEMA)
    read = itf_py.trace_to_json(itf_py.trace_from_json(document))["states"]
    assert [_without_meta(state) for state in read] == list(map(_without_meta, document["states"]))
    for index, state in enumerate(document["states"]):
        assert state["#meta"]["index"] == index
        assert set(state) - {"#meta"} == set(document["vars"])
    assert document.get("loop", 0) < len(document["states"])


@pytest.mark.parametrize("path", sorted(DESIGNS.glob("*-deadlocked.yaml"))[::3],
                         ids=lambda path: path.stem)
def test_a_deadlock_has_a_state_for_each_step(path: Path) -> None:
    """And the first is the start."""
    report = check_design(path)
    finding = report.finding("deadlock-free")
    document = itf.itf_of_finding(report, finding)
    assert document is not None
    check_format(document)
    assert len(document["states"]) == finding.length + 1
    assert [state["step"] for state in document["states"]] == ["the start", *finding.steps]
    queues = {name: int(held["#bigint"]) for name, held in
              document["states"][-1].get("queues", {"#map": []})["#map"]}
    assert queues == {name: held for name, held in finding.contents if name in queues}


def test_a_run_that_repeats_forever_names_the_state_after_the_last(tmp_path: Path) -> None:
    """That of starvation: its last state would be that of the loop again."""
    report = check_design(DESIGNS / "akka-a2-unfair.yaml")
    finding = next(each for each in report.findings if each.loop is not None)
    document = itf.itf_of_finding(report, finding)
    assert document is not None
    check_format(document)
    assert document["loop"] == finding.loop


def test_a_property_that_holds_has_no_file() -> None:
    """There is no counterexample."""
    report = check_design(DESIGNS / "ring-live.yaml")
    assert boxes_of(report.design) == 6
    assert [itf.itf_of_finding(report, finding) for finding in report.findings] == [None] * len(
        report.findings)


def test_a_long_counterexample_is_cut_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """The description of the file has both numbers."""
    monkeypatch.setattr(itf, "MOST_STATES", 2)
    report = check_design(DESIGNS / "akka-a1-deadlocked.yaml")
    finding = report.finding("deadlock-free")
    document = itf.itf_of_finding(report, finding)
    assert document is not None
    check_format(document)
    assert len(document["states"]) == 3
    assert f"the first 2 of {finding.length} steps" in document["#meta"]["description"]


def test_check_and_verify_write_files_of_the_format(tmp_path: Path) -> None:
    """One for each property of a design, and for each rule of a machine, that is violated."""
    designs, chapters = tmp_path / "designs", tmp_path / "chapters"
    told = CliRunner().invoke(root, [
        "check", str(DESIGNS / "ring-full-deadlocked.yaml"), "--itf", str(designs)])
    assert "1 counterexample in the Informal Trace Format" in told.output
    told = CliRunner().invoke(root, ["verify", "flow.credit", "--itf", str(chapters)])
    assert told.exit_code == 0
    assert [path.name for path in designs.iterdir()] == [
        "ring-full-deadlocked-deadlock-free.itf.json"]
    files = [*designs.iterdir(), *chapters.iterdir()]
    assert len(files) > 10
    for path in files:
        check_format(json.loads(path.read_text()))


class TestReplays:
    """``checkvalve replay --itf``."""

    fixture = ROOT / "docs" / "matrix" / "awaits.queue-awaits.asyncio.Queue-QUEUE-12.json"

    def test_a_replay_that_breaks_a_rule_has_a_state_for_each_step(self, tmp_path: Path) -> None:
        """The last one names the rule; the requests are those of the fixture."""
        told = CliRunner().invoke(root, [
            "replay", str(self.fixture), "awaits.asyncio.Queue", "--itf", str(tmp_path)])
        assert f"1 counterexample in the Informal Trace Format in {tmp_path}" in told.output
        (path,) = tmp_path.iterdir()
        document = json.loads(path.read_text())
        check_format(document)
        first, *states = document["states"]
        assert first["step"] == "the start" and document["#meta"]["source"] == str(self.fixture)
        asked = [step["request"]["do"] for step in json.loads(self.fixture.read_text())["steps"]]
        assert [state["request"]["do"] for state in states] == asked[:len(states)]
        assert [state["broken"] for state in states] == [""] * (len(states) - 1) + ["QUEUE-12"]

    def test_a_replay_that_breaks_none_has_no_file(self, tmp_path: Path) -> None:
        """There is no counterexample."""
        told = CliRunner().invoke(root, [
            "replay", str(self.fixture), "reference.awaits.queue", "--itf", str(tmp_path)])
        assert "0 counterexamples" in told.output and [*tmp_path.iterdir()] == []
