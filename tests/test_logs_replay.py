"""Violations in logs are made again on an implementation, by the requests of the suite."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from benchmarks.logged import judge_events, programs
from checkvalve.conformance.campaigns.histories import remade
from checkvalve.conformance.cli.judge import command
from checkvalve.conformance.systems.catalogue import SYSTEMS
from checkvalve.conformance.systems.targets import reference_of, resolve_target

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
    "marks": ("marks", [*[("arrives", "point", "r")] * 2, ("stop", "point", "r")],
              ("--set", "high=2", "--set", "low=1"), "FLOW-113"),
    "gate": ("awaits.gate", [
        ("open", "point", "s"), ("shut", "point", "s"), ("wait", "begin", "a"),
        ("wait", "end", "a")], (), "GATE-1"),
}


@pytest.mark.parametrize(("log", "right", "broken"), [
    ("queue", "reference", "zoo:last-in-first-out"),
    ("broker", "reference.delivery.any-order", "zoo:delivery-second-first"),
    ("permits", "reference.awaits.permits", "zoo:permits-one-too-many"),
    ("jobs", "reference.jobs", "zoo:jobs-newest-first"),
    ("executor", "reference.executor", "zoo:executor-runs-cancelled"),
    ("marks", "reference.marks", "zoo:marks-calling-early"),
    ("gate", "reference.awaits.gate", "zoo:gate-stays-open"),
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


@pytest.mark.parametrize(("suite", "twin", "rule"), [
    ("link", "link-overdraws", "FLOW-6"), ("link.counted", "counted-one-beyond", "FLOW-18"),
    ("summaries", "summaries-latest-only", "FLOW-56"),
    ("election", "election-many-leaders", "ELECT-1"),
    ("storm.partition", "partition-pending-at-emit", "STORM-K20"),
])
def test_the_log_of_a_twin_is_made_again_by_the_suite(suite: str, twin: str, rule: str) -> None:
    """Items, processes, counts and offsets are found among the suite's own."""
    system = SYSTEMS[suite]
    one = next(one for one in programs(suite, f"zoo:{twin}", rule, 3, 9) if one.run.breaches)
    [found] = judge_events(system.logs, one.settings, one.events).findings
    for target, is_broken in ((reference_of(suite), False), (f"zoo:{twin}", True)):
        again = remade(found, system.suite, system.logs, one.settings, resolve_target(target))
        assert (again.rule, again.cannot, again.is_same) == (rule, "", is_broken)
        assert (again.breach is not None) is is_broken


def test_every_suite_makes_histories_again_or_says_why_not() -> None:
    """In one sentence, which the command shows."""
    for system in SYSTEMS.values():
        if system.logs is not None:
            assert bool(system.logs.asks) != bool(system.logs.no_asks), system.name
            assert "." not in system.logs.no_asks


def test_a_system_without_requests_for_its_events_is_not_made_again(tmp_path: Path) -> None:
    """A lane that hands over what was never sent."""
    document = judged(tmp_path / "log.jsonl", [("processes", "point", "r", "x")], "storm.topology",
                      "reference.storm.topology")
    assert "whole topologies" in document["replays"][0]["cannot"]


def test_a_target_that_fails_takes_nothing_from_the_answer(tmp_path: Path) -> None:
    """It is another system's, so it knows no queue."""
    document = judged(tmp_path / "log.jsonl", NEWEST_FIRST, "queue", "reference.marks", "--set",
                      "capacity=2")
    assert "unknown-port" in document["replays"][0]["cannot"]
    assert [each["rule"] for each in document["violations"]] == ["QUEUE-3"]
