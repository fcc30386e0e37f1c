"""Executors: the reference by itself, its driver, and the pools of Python and of the JDK."""

from __future__ import annotations

import shutil
import threading
from contextlib import closing
from typing import Any

import pytest
from checkvalve.conformance.campaigns.case import RunSettings
from checkvalve.conformance.engines.conduct import Order, conduct
from checkvalve.conformance.systems.targets import resolve_target
from checkvalve.reference.drivers.asyncio_executor import AsyncExecutor, Refused
from checkvalve.reference.drivers.schedules.virtual_loop import VirtualLoop
from checkvalve.reference.flow.executor import (
    Does, Executor, ExecutorMisuse, Outcome, Rejection, Task,
)
from hypothesis import given
from hypothesis import strategies as st

JAVA = pytest.mark.skipif(shutil.which("java") is None, reason="needs Java")


def request(spec: str, *asked: dict[str, Any]) -> list[Any]:
    """The answers of a target with one worker and one place to some requests."""
    with closing(resolve_target(spec, timeout=20).open()) as session:
        session.request({"do": "hello", "protocol": 1, "port": "executor",
                         "settings": {"capacity": 1, "workers": 1}})
        return [session.request(dict(each))["ok"] for each in asked]


def submits(number: int) -> list[dict[str, Any]]:
    """So many submits."""
    return [{"do": "submit", "task": task, "item": f"a{task}"} for task in range(number)]


@given(rejection=st.sampled_from(Rejection), workers=st.integers(1, 3), places=st.integers(1, 3),
       steps=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9)), max_size=30))
def test_each_task_that_is_submitted_ends_with_one_event(
    rejection: Rejection, workers: int, places: int, steps: list[tuple[int, int]]
) -> None:
    """Whatever is done to it; but one that was cancelled has none, for its client knows."""
    executor = Executor(workers, places, rejection)
    running: list[Any] = []
    cancelled: list[Any] = []
    events = []
    for number, (what, which) in enumerate(steps):
        if what < 3:
            news = executor.submit(Task(number, number))
        elif what == 3 and running:
            news = executor.ended(running.pop(which % len(running)), Outcome.RETURNED)
        elif what == 4:
            cancelled += [which] if executor.cancel(which) else []
            news = []
        else:
            news = executor.shutdown()
        running += [each.task.number for each in news
                    if each.task and each.what in (Does.STARTS, Does.CALLER)]
        events += news
    events += executor.stop()
    while running:
        events += executor.ended(running.pop(), Outcome.RAISED)
    ends = [each.task.number for each in events
            if each.task and each.what not in (Does.STARTS, Does.CALLER)]
    submitted = [number for number, (what, _) in enumerate(steps) if what < 3]
    assert sorted([*ends, *cancelled]) == submitted
    assert [each.what for each in events].count(Does.TERMINATED) == 1


def test_a_misuse_of_the_reference_changes_nothing() -> None:
    """No worker, no place, a task that is there already, and the end of a run that never began."""
    for workers, places in ((0, 1), (1, 0)):
        with pytest.raises(ExecutorMisuse):
            Executor(workers, places, Rejection.REFUSE)
    executor = Executor(1, 1, Rejection.REFUSE)
    executor.submit(Task("a", 1))
    with pytest.raises(ExecutorMisuse):
        executor.submit(Task("a", 2))
    with pytest.raises(ExecutorMisuse):
        executor.ended("b", Outcome.RETURNED)
    assert len(executor) == 0


def test_the_driver_runs_coroutines_and_refuses_the_one_too_many() -> None:
    """Each future has the result of its own call."""
    async def run() -> list[int]:
        pool = AsyncExecutor(1, 1, Rejection.REFUSE)

        async def double(item: int) -> int:
            return 2 * item

        futures = [await pool.submit(double, item) for item in (1, 2)]
        with pytest.raises(Refused):
            await pool.submit(double, 3)
        pool.shutdown()
        await pool.wait()
        return [await future for future in futures]

    assert VirtualLoop().run_until_complete(run()) == [2, 4]


def test_the_pool_of_threads_of_the_standard_library_keeps_all_rules() -> None:
    """And repeats its rows, although its threads are real."""
    order = Order("executor", cases=19, settings=RunSettings(programs=4))
    report, rows = conduct("concurrent.futures.ThreadPoolExecutor", order)
    assert {each.verdict for each in report.results} <= {"passed", "not shown"}
    assert conduct("concurrent.futures.ThreadPoolExecutor", order)[1] == rows


@JAVA
def test_the_pool_of_the_jdk_keeps_all_rules() -> None:
    """With the policy that raises."""
    report, _ = conduct("jdk.ThreadPoolExecutor.abort", Order(
        "executor", cases=19, settings=RunSettings(programs=4, timeout_seconds=30)))
    assert {each.verdict for each in report.results} <= {"passed", "not shown"}


@JAVA
@pytest.mark.parametrize("policy", ["discard", "discard-oldest"])
def test_the_jdk_discards_in_silence(policy: str) -> None:
    """No event says that a task is dropped; after its documents."""
    assert request(f"jdk.ThreadPoolExecutor.{policy}", *submits(3), {"do": "shutdown"})[2:] == [
        [], []]


@JAVA
def test_callers_of_the_jdk_run_what_has_no_place() -> None:
    """And after a shutdown the task is dropped in silence."""
    told = request("jdk.ThreadPoolExecutor.caller-runs", *submits(3), {"do": "shutdown"},
                   {"do": "submit", "task": 3, "item": 0})
    assert told == [[["start", 0, "a0"]], [], [["caller", 2, "a2"]], [], []]


@JAVA
def test_a_future_of_the_jdk_cancels_what_runs() -> None:
    """Its cancel says so; the run goes its way all the same."""
    told = request("jdk.ThreadPoolExecutor.cancel", *submits(1), {"do": "cancel", "task": 0},
                   {"do": "finish", "task": 0})
    assert told == [[["start", 0, "a0"]], {"undone": True, "does": []}, []]


@pytest.mark.parametrize("target", ["anyio.to_thread", "trio.to_thread"])
def test_threads_behind_a_limiter_keep_all_rules_that_they_have(target: str) -> None:
    """A task that waits for a token can be cancelled, and starts in its order."""
    report, _ = conduct(target, Order("executor", cases=6, settings=RunSettings(programs=2)))
    assert {each.verdict for each in report.results} <= {"passed", "not shown"}
    assert request(target, *submits(2), {"do": "cancel", "task": 1}, {"do": "cancel", "task": 0},
                   {"do": "finish", "task": 0}) == [
        [["start", 0, "a0"]], [], {"undone": True, "does": []}, {"undone": False, "does": []},
        [["return", 0, "a0"]]]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_pool_of_processes_takes_more_than_it_can_run() -> None:
    """A task that a process will run next cannot be cancelled, and one process that dies ends
    all. (Before Python 3.12 the pool's thread may then raise at the future that was cancelled.)"""
    answers = request("concurrent.futures.ProcessPoolExecutor", *submits(4),
                      {"do": "cancel", "task": 1}, {"do": "cancel", "task": 3},
                      {"do": "finish", "task": 0}, {"do": "die", "task": 1})
    assert answers[4:6] == [{"undone": False, "does": []}, {"undone": True, "does": []}]
    assert sorted(answers[6]) == [["return", 0, "a0"], ["start", 1, "a1"]]
    assert sorted(answers[7]) == [["drop", 2], ["raise", 1]]
    for thread in threading.enumerate():
        if type(thread).__name__ == "_ExecutorManagerThread":
            thread.join(20)


@JAVA
def test_a_fork_join_pool_says_that_it_cancelled_what_runs() -> None:
    """Its task runs on; what waited is taken in its order."""
    answers = request("jdk.ForkJoinPool", *submits(3), {"do": "finish", "task": 0},
                      {"do": "cancel", "task": 1})
    assert sorted(answers[3]) == [["return", 0, "a0"], ["start", 1, "a1"]]
    assert answers[4] == {"undone": True, "does": []}
