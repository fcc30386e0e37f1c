"""Targets that do not answer alike each time: what they keep, or how often a breach comes."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from checkvalve.conformance.campaigns import steadiness
from checkvalve.conformance.campaigns.case import RunSettings, plan, run_case
from checkvalve.conformance.campaigns.replay import Replay
from checkvalve.conformance.campaigns.summary import summarise
from checkvalve.conformance.cli.replay import _unbroken
from checkvalve.conformance.suites.results import ERROR, FLAKY, VIOLATED, CaseRow
from checkvalve.conformance.suites.fixture import read_fixture

KEEPING = """
    class Adapter(ReferenceQueue):  # every request for a queue of a capacity gets the same one
        kept = {}
        def start(self, capacity):
            super().start(capacity)
            self._queue = Adapter.kept.setdefault(capacity, self._queue)
"""
BROKEN_BUT_FOR_THE_FIRST = """
    class Adapter(ReferenceQueue):
        sessions = 0
        def start(self, capacity):
            Adapter.sessions += 1
            super().start(capacity)
        def poll(self):
            return super().poll() if Adapter.sessions == 1 else "nobody's"
"""
FAILS_LATER = """
    class Adapter(ReferenceQueue):
        sessions = 0
        def start(self, capacity):
            Adapter.sessions += 1
            super().start(capacity)
        def poll(self):
            if Adapter.sessions > FIRST:
                raise RuntimeError("no more handles")
            return super().poll()
"""
AT_TIMES = """
    from pathlib import Path
    from random import Random
    class Adapter(ReferenceQueue):  # what it counts is outside of its process
        def start(self, capacity):
            super().start(capacity)
            file = Path(__file__).with_suffix(".count")
            count = int(file.read_text()) + 1 if file.exists() else 1
            file.write_text(str(count))
            self.is_wrong = Random(count).random() < 1 / 3
        def poll(self):
            return "nobody's" if self.is_wrong else super().poll()
"""


@pytest.fixture(autouse=True)
def few_attempts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each attempt to shorten starts processes; the programs here are short soon."""
    monkeypatch.setattr(steadiness, "_EARLIER_RUNS", 8)
    monkeypatch.setattr(steadiness, "_LATER_RUNS", 4)


def row_of(body: str, name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> CaseRow:
    """The first row of a target with an adapter that is written here."""
    header = "from checkvalve.conformance.systems.queue.reference import ReferenceQueue\n"
    (folder / f"{name}.py").write_text(header + textwrap.dedent(body))
    monkeypatch.syspath_prepend(str(folder))
    (case,) = plan("queue", cases=1, seed=0)
    return run_case("queue", f"python:{name}:Adapter", case, RunSettings(capacity=1))


def test_state_that_is_kept_is_told_by_two_sessions_and_whose_fault_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The earlier one and the later one, and what the later one gets in a process of its own."""
    row = row_of(KEEPING, "keeping_adapter", tmp_path, monkeypatch)
    assert (row.verdict, row.rule, row.fixture) == (ERROR, "", "")
    assert "keeps state from one session to the next" in row.message
    assert "A queue of capacity 1. Session 1: " in row.message and "Session 3" not in row.message
    assert "Session 2: poll: a1, which was never put in. But" in row.message
    assert "session 2 in a fresh process: poll: empty." in row.message
    assert "the target's fault" in row.message and '"again": false' in row.message


@pytest.mark.parametrize(("first", "told"), [
    (1, "the target keeps state from one session to the next, in the same process"),
    (4, "answered all of this, 2 times of 2: the failure is left of earlier sessions"),
])
def test_a_failure_that_earlier_sessions_caused_is_not_held_against_the_last(
    first: int, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A handle is lost in each session: with two of them to show it, or with none that do."""
    monkeypatch.setattr(steadiness, "_IN_A_ROW", 2)
    monkeypatch.setattr(steadiness, "BETWEEN", 1)
    body = FAILS_LATER.replace("FIRST", str(first))
    row = row_of(body, f"leaking_adapter_{first}", tmp_path, monkeypatch)
    assert (row.verdict, row.rule) == (ERROR, "")
    assert told in row.message and "no more handles" in row.message
    assert "the target's fault" in row.message


def test_a_breach_that_a_fresh_process_does_not_show_is_no_violation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However often it came in a process that has served other sessions."""
    row = row_of(BROKEN_BUT_FOR_THE_FIRST, "worn_adapter", tmp_path, monkeypatch)
    assert (row.verdict, row.fixture) == (ERROR, "")
    assert "Session 2: poll: \"nobody's\"" in row.message


def test_of_a_breach_that_comes_now_and_then_it_is_told_how_often_and_by_which_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is no verdict on a rule; and yet a developer who fixes it needs the steps."""
    row = row_of(AT_TIMES, "adapter_of_chance", tmp_path, monkeypatch)
    assert (row.verdict, row.rule) == (FLAKY, "QUEUE-5")
    fixture = read_fixture(row.fixture, "a row")
    broke, runs = fixture.came_in
    assert (fixture.length, runs) == (1, 10) and 0 < broke < 10
    assert f"QUEUE-5 was broken in {broke} of 10 runs of the same program" in row.message
    assert f"It came in {broke} of 10 runs of these steps" in fixture.story()[-1]
    result = next(each for each in summarise("queue", row.target, [row]).results
                  if each.rule.id == "QUEUE-5")
    assert (result.verdict, result.message) == (FLAKY, row.message)
    assert result.fixture is not None
    unbroken = _unbroken(fixture, Replay(row.target, None, False, ()))
    assert f"it came in {broke} of 10 runs: run it again" in unbroken


def test_a_violation_was_seen_again_after_it_was_shrunk() -> None:
    """Its fixture says in how many runs, and that it broke in all of them."""
    (case,) = plan("queue", cases=1, seed=0)
    row = run_case("queue", "zoo:silent-drop", case, RunSettings())
    fixture = read_fixture(row.fixture, "a row")
    assert row.verdict == VIOLATED and fixture.came_in == (4, 4) and fixture.always_comes
    assert not any("runs of these steps" in line for line in fixture.story())
