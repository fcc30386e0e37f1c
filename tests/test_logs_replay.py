"""Violations in logs are made again on an implementation, by the requests of the suite."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from checkvalve.conformance.cli.judge import command

Line = tuple[str, ...]


def judged(path: Path, lines: Sequence[Line], suite: str, target: str, *more: str
           ) -> dict[str, Any]:
    """The document of a log with lines of operation, phase, process, item and result."""
    path.write_text("".join(json.dumps({
        "key": "k", "operation": operation, "phase": phase, "process": process,
        "item": item or None, "result": result, "value": 1}) + "\n"
        for operation, phase, process, item, result in (
            (*line, *("", "", "ok")[len(line) - 2:]) for line in lines)))
    found = CliRunner().invoke(command, [str(path), "--suite", suite, "--json", "--replay", target,
                                         *more], standalone_mode=False)
    if found.exception is not None:
        raise found.exception
    assert found.return_value == 1
    document: dict[str, Any] = json.loads(found.stdout)
    return document


NEWEST_FIRST = [("put", "begin", "p", "x"), ("put", "end", "p", "x"), ("put", "point", "q", "y"),
                ("take", "begin", "c"), ("take", "end", "c", "y")]

LOGS: dict[str, tuple[str, Sequence[Line], tuple[str, ...], str]] = {
    "queue": ("queue", NEWEST_FIRST, ("--set", "capacity=2"), "QUEUE-3"),
    "broker": ("delivery", [
        ("publish", "point", "p", "x"), ("publish", "point", "p", "y"),
        ("receive", "point", "c", "y")], ("--set", "law=4"), "DELIV-9"),
    "permits": ("awaits.permits", [
        ("acquire", "begin", "a"), ("acquire", "end", "a"), ("acquire", "begin", "b"),
        ("acquire", "end", "b")], ("--set", "permits=1"), "PERMIT-1"),
    "jobs": ("jobs", [
        ("submit", "point", "", "x"), ("submit", "point", "", "y"), ("ask", "point", "w"),
        ("gives", "point", "w", "y")], ("--set", "places=2"), "FLOW-51"),
    "executor": ("executor", [
        *[(does, "point", "", task) for task in "xy" for does in ("submits", "starts")],
        ("submits", "point", "", "z"), ("cancels", "point", "", "z"),
        ("finishes", "point", "", "x"), ("starts", "point", "", "z")],
        ("--set", "workers=2", "--set", "policy=1", "--set", "places=1"), "EXEC-8"),
}


@pytest.mark.parametrize(("log", "right", "broken"), [
    ("queue", "reference", "zoo:last-in-first-out"),
    ("broker", "reference.delivery.any-order", "zoo:delivery-second-first"),
    ("permits", "reference.awaits.permits", "zoo:permits-one-too-many"),
    ("jobs", "reference.jobs", "zoo:jobs-newest-first"),
    ("executor", "reference.executor", "zoo:executor-runs-cancelled"),
])
def test_a_twin_breaks_the_rule_of_the_log_and_the_reference_does_not(
    tmp_path: Path, log: str, right: str, broken: str,
) -> None:
    """Both are asked for the same."""
    suite, lines, settings, rule = LOGS[log]
    for target, is_broken in ((right, False), (broken, True)):
        document = judged(tmp_path / "log.jsonl", lines, suite, target, *settings)
        [again] = document["replays"]
        assert (again["rule"], again["cannot"], again["same"]) == (rule, "", is_broken), again
        assert (again["breach"] is not None) is is_broken
        assert again["steps"]


def test_a_log_of_settings_that_the_suite_has_not_is_not_made_again(tmp_path: Path) -> None:
    """The answer says why, and is given all the same."""
    document = judged(tmp_path / "log.jsonl", NEWEST_FIRST, "queue", "reference", "--set",
                      "capacity=123456")
    assert "does not run with capacity=123456" in document["replays"][0]["cannot"]


def test_a_system_without_requests_for_its_events_is_not_made_again(tmp_path: Path) -> None:
    """A receiver that asks its sender to stop before anything came."""
    document = judged(tmp_path / "log.jsonl", [("stop", "point", "r")], "marks", "reference.marks",
                      "--set", "high=2", "--set", "low=1")
    assert "cannot make this" in document["replays"][0]["cannot"]


def test_a_target_that_fails_takes_nothing_from_the_answer(tmp_path: Path) -> None:
    """It is another system's, so it knows no queue."""
    document = judged(tmp_path / "log.jsonl", NEWEST_FIRST, "queue", "reference.marks", "--set",
                      "capacity=2")
    assert "unknown-port" in document["replays"][0]["cannot"]
    assert [each["rule"] for each in document["violations"]] == ["QUEUE-3"]
