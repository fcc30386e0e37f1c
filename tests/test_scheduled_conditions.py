"""Condition variables of the controlled scheduler: those of threading, one thread at a time."""

from __future__ import annotations

import pytest
from checkvalve.reference.drivers.conditions import Condition
from checkvalve.reference.drivers.schedules.scheduling import Scheduler, SchedulingMisuse


def waiters(scheduler: Scheduler, names: str) -> tuple[Condition, list[str]]:
    """Tasks that wait for a notification, each until the end of its first run; and the names of the
    woken.
    """
    condition = Condition(scheduler, scheduler.lock("the lock"))
    woken: list[str] = []

    def wait(name: str) -> None:
        with condition:
            condition.wait()
            woken.append(name)

    for name in names:
        scheduler.run(scheduler.spawn(name, lambda name=name: wait(name)))
    return condition, woken


def test_who_waits_gives_the_lock_back_and_goes_on_when_told() -> None:
    """First come, first notified; and then in the order that the schedule says."""
    with Scheduler(()) as scheduler:
        condition, woken = waiters(scheduler, "abc")
        assert not scheduler.runnable()
        with condition:
            condition.notify(2)
        assert [task.name for task in scheduler.runnable()] == ["a", "b"] and not woken
        scheduler.run(scheduler.tasks[1])
        scheduler.settle()
        assert woken == ["b", "a"]
        assert [where.waits_for for where in scheduler.deadlock()] == [
            "a notification, under the lock"]


def test_all_are_notified() -> None:
    """Nobody is left."""
    with Scheduler(()) as scheduler:
        condition, woken = waiters(scheduler, "abc")
        with condition:
            condition.notify_all()
        scheduler.settle()
        assert woken == ["a", "b", "c"] and scheduler.deadlock() == ()


def test_a_wait_with_a_limit_is_refused() -> None:
    """There is no clock that could run out."""
    with Scheduler(()) as scheduler:
        condition = Condition(scheduler, scheduler.lock("the lock"))
        task = scheduler.spawn("impatient", lambda: condition.wait(1.0))
        scheduler.run(task)
        assert isinstance(task.error, SchedulingMisuse)


def test_who_waits_at_the_end_is_unwound_through_the_lock() -> None:
    """The code behind a wait, and behind the lock, is left in order."""
    left: list[str] = []
    with Scheduler(()) as scheduler:
        condition = Condition(scheduler, scheduler.lock("the lock"))

        def wait() -> None:
            try:
                with condition:
                    condition.wait()
                left.append("went on")
            finally:
                left.append("unwound")

        for name in "ab":
            scheduler.run(scheduler.spawn(name, wait))
    assert left == ["unwound", "unwound"]


def test_only_who_has_the_lock_can_wait() -> None:
    """As in threading."""
    with Scheduler(()) as scheduler, pytest.raises(SchedulingMisuse, match="has not taken it"):
        condition = Condition(scheduler, scheduler.lock("the lock"))
        condition.wait()
