"""A budget that is spent while a target or a log is judged ends in *unknown*, which says so."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest

from checkvalve.conformance.campaigns.case import RunSettings, case_at, run_case
from checkvalve.conformance.campaigns.places import LONG_EVERY
from checkvalve.conformance.campaigns.replay import replay
from checkvalve.conformance.columns import run as columns
from checkvalve.conformance.logs.answer import outcome_of, outcomes
from checkvalve.conformance.logs.run import judge_files, opened, terms_of
from checkvalve.conformance.suites.fixture import read_fixture
from checkvalve.conformance.systems.queue.identity import identify
from checkvalve.conformance.systems.queue.logs import LOGS
from checkvalve.conformance.systems.targets import resolve_target
from checkvalve.spec.verdicts.deadline import Deadline, OutOfTime
from checkvalve.spec.verdicts.memory import limited_to

ROOT = Path(__file__).resolve().parent.parent
LOG = ROOT / "examples" / "logs"
FIXTURE = ROOT / "docs" / "awaits" / "condition.json"


def log_of(path: Path, twice: bool) -> Path:
    """A log of 1,500 points; in one the first item comes out ``twice``."""
    items = [item for item in range(750) for _ in (0, 1)]
    if twice:
        items[2] = 0
    path.write_text("".join(
        f'{{"key": "k", "process": "p", "operation": "{("put", "take")[number % 2]}", '
        f'"phase": "point", "item": "i{item}"}}\n' for number, item in enumerate(items)))
    return path


@pytest.mark.parametrize(("twice", "outcome"), [(False, "unknown"), (True, "violated")])
def test_a_log_that_is_judged_in_part_passes_nothing(
    tmp_path: Path, twice: bool, outcome: str
) -> None:
    """A rule that was violated before stays so; of all else nothing is known."""
    def ends(events: int) -> None:
        if events > 1:
            raise OutOfTime("events were judged")
    files, mapped = opened([log_of(tmp_path / "log.jsonl", twice)], None, LOGS, {})
    judged = judge_files(files, LOGS, terms_of(mapped, {}, False, 10), ends)
    assert judged.spent == "the budget of time was spent while events were judged"
    assert 1 < judged.events < 1_500 and outcome_of(judged, LOGS) == outcome
    assert "passed" not in outcomes(judged, LOGS).values()


def test_what_is_judged_one_by_one_beside_columns_looks_at_the_clock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The events of a key that is not plainly right: often, and not once for a part of the log."""
    monkeypatch.setattr(columns, "LEAST", 1)
    monkeypatch.setattr(columns, "LOOK", 100)
    files, mapped = opened([log_of(tmp_path / "log.jsonl", True)], None, LOGS, {})
    looks: list[int] = []
    columns.judge_files(files, LOGS, terms_of(mapped, {}, False, 10), looks.append)
    assert len(looks) >= 10


def test_a_replay_makes_no_request_after_its_deadline() -> None:
    """Two of its steps are made, by a clock that ticks at each look, and the budget is named."""
    saved = read_fixture(FIXTURE.read_text(encoding="utf-8"), "f")
    target = resolve_target("reference.awaits.condition")
    assert len(replay(saved, target).words) > 2
    ticks = count()
    found = replay(saved, target, deadline=Deadline(3, lambda: next(ticks)))
    assert len(found.words) == 2 and "budget of time" in found.spent


def test_a_long_program_ends_when_its_deadline_passes() -> None:
    """It would make thousands of requests, each of which may take long."""
    ticks, case = count(), case_at("queue", LONG_EVERY - 1, 0)
    row = run_case("queue", "reference", case, RunSettings(),
                   Deadline(100, lambda: float(next(ticks))))
    assert 64 <= row.longest < 200
    assert run_case("queue", "reference", case, RunSettings()).longest > 1_000


def test_a_kind_that_takes_too_much_is_not_identified() -> None:
    """Neither with too few states, nor without memory or time; each says which it was."""
    target = resolve_target("deque")
    assert "1 states" in identify(resolve_target("asyncio.Queue"), 3, states=1).why
    assert "s were over" in identify(target, 3, seconds=1e-9).why
    with limited_to(1):
        found = identify(target, 3)
    assert not found.identified and "memory" in found.why and "--max-memory" in found.advice
