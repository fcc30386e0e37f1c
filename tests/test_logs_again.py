"""The short history of a finding breaks its rule by itself, or there is none."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from benchmarks.recordings import KEPT, RECORDINGS, Recording
from checkvalve.conformance.cli.judge import command
from checkvalve.conformance.columns import again, run
from checkvalve.conformance.logs.again import LAST

FAULTY = [each for each in RECORDINGS if each.fault]


def judged(path: Path, suite: str, *more: str) -> dict[str, Any]:
    """The document of a run."""
    result = CliRunner().invoke(command, [str(path), "--suite", suite, "--json", *more],
                                standalone_mode=False, catch_exceptions=False)
    found: dict[str, Any] = json.loads(result.stdout)
    return found


@pytest.mark.parametrize("recording", FAULTY, ids=lambda each: each.name.split(".jsonl")[0])
def test_what_is_saved_breaks_the_same_rules_again(recording: Recording, tmp_path: Path) -> None:
    """Each first history of a cause, judged as a log of its own key, and nothing else is broken."""
    saved = tmp_path / "saved.jsonl"
    settings = [part for name, value in recording.settings.items()
                for part in ("--set", f"{name}={value}")]
    first = judged(KEPT / recording.name, recording.suite, "--save", str(saved), *settings)
    anew = judged(saved, recording.suite, *settings)
    causes = {(each["rule"], each["needed"]) for each in first["violations"]}
    assert causes == {(each["rule"], each["needed"]) for each in anew["violations"]}
    for each in first["violations"]:
        assert not each["history"] or each["history"][-1] == each["event"]


def doubled(rounds: int, seed: int) -> Iterator[dict[str, Any]]:
    """A queue of three takers that gets one item, hands it out, and does so again much later."""
    rng = random.Random(seed)
    steps = [(name, item) for item in range(rounds) for name in ("put", "take")]
    steps.insert(2 * rounds - 10, ("take", 3))
    for name, item in steps:
        process = f"{name}-{rng.randrange(3)}"
        common = {"key": "q", "process": process, "operation": name}
        yield {**common, "phase": "begin", **({"item": item} if name == "put" else {})}
        yield {**common, "phase": "end", "item": item}


@pytest.mark.parametrize("rounds", [40, 1_500])
@pytest.mark.parametrize("whole", [True, False])
def test_the_events_of_an_item_are_found_however_far_apart(
    whole: bool, rounds: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In whole columns, where of a hot key few rows become events, and event by event."""
    monkeypatch.setattr(run, "LEAST", 0 if whole else 10 ** 9)
    monkeypatch.setattr(run, "CHUNK", 1_000)
    monkeypatch.setattr(again, "_ALL", 200)
    path = tmp_path / "q.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in doubled(rounds, 1)))
    found, = judged(path, "queue", "--set", "order=0")["violations"]
    assert found["rule"] == "QUEUE-6"
    assert {each["item"] for each in found["history"] if "item" in each} == {3}
    assert [each["operation"] for each in found["history"] if each["phase"] == "end"][-2:] == [
        "take", "take"]


def test_what_needs_more_events_than_are_looked_at_has_no_history(tmp_path: Path) -> None:
    """A limit that was used up long before, in steps of one: the text says so, and nothing is
    saved."""
    path = tmp_path / "r.jsonl"
    admits = {"key": "k", "process": "p", "operation": "admits", "phase": "point", "value": 1}
    lines = [json.dumps(admits)] * (5 * LAST) + [json.dumps({**admits, "value": 2})]
    path.write_text("\n".join(lines) + "\n")
    words = [str(path), "--suite", "rate", "--set", "rate=1", "--set", f"depth={5 * LAST}",
             "--save", str(tmp_path / "s.jsonl")]
    told = CliRunner().invoke(command, words, standalone_mode=False).output
    assert "no short history was found that breaks it by itself" in told
    assert (tmp_path / "s.jsonl").read_text() == ""
