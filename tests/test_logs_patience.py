"""A key at which nothing happens for a stated time rests, and progress is judged by that."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from checkvalve.conformance.cli.judge import command
from checkvalve.spec.notation.errors import InputError

EXECUTOR = ("--suite", "executor", "--set", "workers=2", "--set", "policy=5")
IDLE_BESIDE_A_TASK = [("a", "submits", "x", 0), ("a", "starts", "x", 1), ("a", "submits", "y", 2)]
OTHER_KEY = [("b", "submits", "z", 3), ("b", "starts", "z", 4), ("b", "finishes", "z", 60)]


def judged(path: Path, events: Sequence[tuple[str, str, str, int | None]], *more: str
           ) -> dict[str, str]:
    """The outcomes of a log, by rule; times are in seconds."""
    path.write_text("".join(json.dumps({
        "key": key, "operation": operation, "phase": "point", "item": item, "time":
        None if time is None else time * 10 ** 9}) + "\n" for key, operation, item, time in events))
    result = CliRunner().invoke(command, [str(path), *more, "--json"], standalone_mode=False)
    if result.exception is not None:
        raise result.exception
    document: dict[str, Any] = json.loads(result.stdout)
    return {each["id"]: each["outcome"] for each in document["rules"]}


@pytest.mark.parametrize(("patience", "outcome"), [
    (("--patience", "10"), "violated"), (("--patience", "58"), "violated"),
    (("--patience", "59"), "not shown"), ((), "not shown")])
def test_a_task_that_waits_beside_an_idle_worker_is_late_after_the_patience(
    tmp_path: Path, patience: Sequence[str], outcome: str,
) -> None:
    """The other key has events for 58 seconds more."""
    events = [*IDLE_BESIDE_A_TASK, *OTHER_KEY]
    assert judged(tmp_path / "log.jsonl", events, *EXECUTOR, *patience)["EXEC-3"] == outcome


def test_a_key_that_rests_with_nothing_to_do_passes(tmp_path: Path) -> None:
    """Both tasks run when nothing happens for a while."""
    events = [*IDLE_BESIDE_A_TASK, ("a", "starts", "y", 3), *OTHER_KEY]
    assert judged(tmp_path / "log.jsonl", events, *EXECUTOR, "--patience", "20"
                  )["EXEC-3"] == "passed"


def test_what_comes_before_the_patience_is_over_is_no_rest(tmp_path: Path) -> None:
    """The task starts after eight seconds, and nothing is said of it."""
    events = [*IDLE_BESIDE_A_TASK, ("a", "starts", "y", 10)]
    assert judged(tmp_path / "log.jsonl", events, *EXECUTOR, "--patience", "9"
                  )["EXEC-3"] == "not shown"
    assert judged(tmp_path / "log.jsonl", events, *EXECUTOR, "--patience", "8"
                  )["EXEC-3"] == "violated"


@pytest.mark.parametrize(("events", "more", "words"), [
    ([("a", "submits", "x", None)], EXECUTOR, "has no time"),
    ([("a", "put", "x", 1)], ("--suite", "queue"), "about rest"),
    ([("a", "submits", "x", 1)], (*EXECUTOR, "--engine", "spark", "--master", "local[1]"),
     "judged here")])
def test_patience_that_cannot_be_had_is_one_message(
    tmp_path: Path, events: Sequence[tuple[str, str, str, int | None]], more: Sequence[str],
    words: str,
) -> None:
    """With the next step."""
    with pytest.raises(InputError, match=words) as error:
        judged(tmp_path / "log.jsonl", events, *more, "--patience", "5")
    assert error.value.next_step
