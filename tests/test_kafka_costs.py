"""Costs of timers and purgatories, in steps and entries and not in seconds."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from benchmarks.purgatory.counts import held, queued
from benchmarks.purgatory.rows import AIM_OVER_OLD
from benchmarks.purgatory.workload import CASES
from checkvalve.reference.kafka.old_timer import OldTimer
from checkvalve.reference.kafka.timer import Timer, TimerTask

LOW, HIGH = CASES


class Idle(TimerTask):
    """Never asked to run here."""


def steps(action: Callable[[], object]) -> int:
    """Lines that are run by an action, in Python."""
    count = 0

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    gc.disable()    # what libraries do at a collection is Python as well, and not the action's
    sys.settrace(trace)
    try:
        action()
    finally:
        sys.settrace(before)
        gc.enable()
    return count


def filled(kind: type[Timer | OldTimer], tasks: int) -> Timer | OldTimer:
    """A timer with so many tasks, of all the delays from 1 to 399 ms."""
    timer = kind()
    for number in range(tasks):
        timer.add(Idle(1 + number % 399), 0)
    return timer


@pytest.mark.parametrize("delay", [1, 19, 20, 399])
def test_to_add_and_to_cancel_takes_as_many_steps_with_20000_tasks_as_with_400(delay: int) -> None:
    """O(1) in the number of tasks; the first 400 have made all wheels and buckets."""
    costs = set()
    for tasks in (400, 20_000):
        timer, task = filled(Timer, tasks), Idle(delay)
        costs.add((steps(lambda: timer.add(task, 0)), steps(task.cancel)))  # noqa: B023
    assert len(costs) == 1


def test_a_longer_delay_takes_steps_for_each_wheel_and_no_more() -> None:
    """O(m) in the number of wheels: the same number of steps for each further one."""
    timer = Timer()
    delays = [19, 399, 7_999, 159_999]
    for delay in delays:
        timer.add(Idle(delay), 0)
    costs = [steps(lambda: timer.add(Idle(delay), 0)) for delay in delays]  # noqa: B023
    assert len({after - before for before, after in zip(costs, costs[1:], strict=False)}) == 1


def test_a_queue_of_buckets_is_used_far_less_than_a_queue_of_tasks() -> None:
    """A queue of tasks gets an offer for each request that has to wait."""
    assert all(queued(case, 2_000, 10_000).a_request < 0.2 for case in CASES)


def test_many_buckets_are_empty_when_they_expire_only_where_requests_are_few() -> None:
    """At 100 a second most of those of the text's healthy case; at 10,000 hardly any."""
    few, many = queued(LOW, 2_000, 100), queued(LOW, 2_000, 10_000)
    assert few.empty > few.offered / 2
    assert many.empty < many.offered / 10


def test_the_old_purgatory_pays_for_little_memory_with_scans() -> None:
    """If half of the requests expire, it looks at each entry again and again."""
    old, new = (held(HIGH, 1_000, 3_000, 10_000, old=kind) for kind in (True, False))
    assert old.scans > 50 * new.scans
    free = held(HIGH, 100_000, 3_000, 10_000, old=True)
    assert free.scans < 5
    assert free.largest > old.largest


def test_each_case_of_the_text_has_its_own_ratio() -> None:
    """40,000 to 105,000 a second, and 25,000 to 105,000."""
    assert {"low": 2.6, "high": 4.2} == AIM_OVER_OLD
