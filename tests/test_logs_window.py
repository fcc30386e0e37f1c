"""A window that slides over the offsets of a log changes no rule that is violated."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from checkvalve.conformance.cli.judge import command


def _of_a_given_up(length: int) -> Iterator[tuple[str, int]]:
    yield from (("append", length), ("emits", 0), ("fail", 0))
    for each in range(1, length):
        yield from (("emits", each), ("ack", each), ("commit", each + 1))
    yield "emits", 0


def _after_truncation(length: int) -> Iterator[tuple[str, int]]:
    yield from (("append", length), ("emits", 0), ("ack", 0), ("commit", 1), ("truncate", 0))
    for each in range(1, length):
        yield from (("emits", each), ("ack", each), ("commit", min(each + 1, length - 1)))


@pytest.mark.parametrize("length", [4, 40])
@pytest.mark.parametrize(("events", "rule"), [
    (_of_a_given_up, "STORM-K28"), (_after_truncation, "STORM-K30")])
def test_the_same_rule_is_violated_whatever_has_left_the_window(
    tmp_path: Path, events: object, rule: str, length: int
) -> None:
    assert callable(events)
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps({
        "key": "p", "process": "m", "operation": operation, "phase": "point", "value": value,
    }) + "\n" for operation, value in events(length)))
    result = CliRunner().invoke(command, [
        str(log), "--suite", "storm.partition", "--set", "retries=0"])
    failed = [line.split()[1] for line in result.output.splitlines() if line.startswith("FAIL")]
    assert failed == [rule]
