"""Large designs: every part gets its share of the time, and the budget is kept."""

from __future__ import annotations

from dataclasses import replace

import pytest
from work_clock import Work

from benchmarks.shapes import calls, loops
from checkvalve.spec.design.check import Part, Settings, parts
from checkvalve.spec.design.reading.language import Design, Link
from checkvalve.spec.design.verdicts import deadlock
from checkvalve.spec.design.verdicts.deadlock import told_all
from checkvalve.spec.design.verdicts.local import Spaces, decide_local
from checkvalve.spec.verdicts.verdict import Budget, Outcome


BETWEEN = 1.5
"""Seconds of work between two looks at the clock, some 30 ms of a real one."""


def test_each_pool_is_in_one_part() -> None:
    """Also one that nobody uses: it was in all of them, so many parts had as many pools each."""
    design = calls(400, 3, 1)
    used = {pool for task in design.tasks.values() for pool in task.pool}
    assert len(used) < len(design.pools)
    found = [name for part in parts(design) for name in part.pools]
    assert sorted(found) == sorted(design.pools)


def beside(design: Design, more: int) -> Design:
    """The design, and so many pairs of its source and its sink, each with a link of its own."""
    tasks, links = dict(design.tasks), dict(design.links)
    for n in range(more):
        ends = (f"from {n}",), (f"to {n}",)
        tasks |= {ends[0][0]: replace(tasks["source"], name=ends[0][0]),
                  ends[1][0]: replace(tasks["sink"], name=ends[1][0])}
        links[f"pair {n}"] = Link(f"pair {n}", *ends, capacity=3)
    return replace(design, tasks=tasks, links=links)


def seconds_for(design: Design, most: float | None = None) -> tuple[Outcome, float]:
    """The verdict on deadlock in so many seconds of work at most, and how many it took."""
    sections = [Part.of(part, cycles=False) for part in parts(design)]
    with Work().counted() as work:
        budget = Budget(max_seconds=most, clock=work).start()
        return told_all(sections, Settings(budget=budget)).outcome, work()


def test_a_large_part_has_more_time_than_a_small_one() -> None:
    """Of time for all of the work three times over, it gets enough, though sixty others have their
    shares as well."""
    design = beside(loops(160, 50, 3), 60)
    outcome, seconds = seconds_for(design)
    assert outcome is Outcome.HOLDS
    assert seconds_for(design, 3 * seconds)[0] is Outcome.HOLDS


@pytest.mark.parametrize("design", [loops(1_000, 9, 3, planted=True), calls(300, 9, 3)],
                         ids=["loops", "calls"])
def test_the_budget_is_kept_by_every_phase(design: Design) -> None:
    """Also where it ends in one that has much to do before it knows anything: no other is begun,
    and what a phase does between two looks at the clock is little."""
    sections = [Part.of(part, cycles=False) for part in parts(design)]
    for most in (0.5, 3.0):
        for asked in ("deadlock", "local"):
            with Work().counted() as work:
                settings = Settings(budget=Budget(max_seconds=most, clock=work).start())
                found = told_all(sections, settings) if asked == "deadlock" else decide_local(
                    Spaces(sections, settings, asked=False))
                assert found.outcome is Outcome.UNKNOWN and "budget" in found.reason
                assert work() <= 1.1 * most + BETWEEN, (most, asked)


def test_a_part_whose_share_is_not_enough_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the time that the others have left."""
    sections = [Part.of(part, cycles=False) for part in parts(beside(loops(160, 50, 3), 3))]
    monkeypatch.setattr(deadlock, "MAX_SEARCHED", 100)
    monkeypatch.setattr(deadlock, "MAX_GLANCED", 100)
    monkeypatch.setattr(deadlock, "shares", lambda asked: [
        40.0 if len(asked) > 1 and len(part.design.tasks) > 2 else 1.0 for part in asked])
    with Work().counted() as work:
        budget = Budget(max_seconds=20.0, clock=work).start()
        found = told_all(sections, Settings(budget=budget))
    assert found.outcome is Outcome.HOLDS
    assert any(each.outcome is Outcome.UNKNOWN and "budget" in each.why for each in found.tried)
