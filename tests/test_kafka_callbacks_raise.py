"""Guarantees of the references when a user's callback raises."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable

import pytest

from checkvalve.reference.kafka.delayed_operation import DelayedOperation
from checkvalve.reference.kafka.locks import NeedsTheGil
from checkvalve.reference.kafka.old_purgatory import OldPurgatory
from checkvalve.reference.kafka.old_timer import OldTimer
from checkvalve.reference.kafka.purgatory import Purgatory
from checkvalve.reference.kafka.timer import Timer, TimerTask

PURGATORIES = (Purgatory, OldPurgatory)
TIMERS = (Timer, OldTimer)


class Sore(Exception):
    """The error that the callbacks of these tests raise."""


class Task(TimerTask):
    """Notes that it ran, and may raise."""

    def __init__(self, raises: bool, delay: int = 1) -> None:
        super().__init__(delay)
        self.raises, self.runs = raises, 0

    def run(self) -> None:
        self.runs += 1
        if self.raises:
            raise Sore


class Request(DelayedOperation):
    """Raises at its n-th try, or when it is completed."""

    def __init__(self, *, at_try: int = 0, at_completion: bool = False, ready: bool = False,
                 lock: Callable[[], threading.RLock] | None = None) -> None:      # type: ignore[valid-type]
        super().__init__(5, lock)       # type: ignore[arg-type]
        self.at_try, self.at_completion, self.ready = at_try, at_completion, ready
        self.tries = self.completions = 0

    def try_complete(self) -> bool:
        self.tries += 1
        if self.tries == self.at_try:
            raise Sore
        return self.ready and self.force_complete()

    def on_complete(self) -> None:
        self.completions += 1
        if self.at_completion:
            raise Sore


# ---- timers ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", TIMERS)
def test_a_task_that_raises_takes_no_other_with_it(kind: type[Timer | OldTimer]) -> None:
    """All that is due runs in that call, which then raises what the one has raised."""
    timer, tasks = kind(), [Task(False), Task(True), Task(False)]
    for task in tasks:
        timer.add(task, 0)
    with pytest.raises(Sore):
        timer.advance(1)
    assert ([task.runs for task in tasks], timer.size) == ([1, 1, 1], 0)
    assert timer.advance(1) is False


def test_several_tasks_that_raise_are_all_told() -> None:
    """As a group, and each has run once."""
    timer, tasks = Timer(), [Task(True), Task(False), Task(True)]
    for task in tasks:
        timer.add(task, 0)
    with pytest.raises(ExceptionGroup, match="2 tasks raised") as told:
        timer.advance(1)
    assert [type(error) for error in told.value.exceptions] == [Sore, Sore]
    assert [task.runs for task in tasks] == [1, 1, 1]


def test_what_ends_a_program_is_not_held_back() -> None:
    """A KeyboardInterrupt comes through at once; the rest runs in the next call."""
    class Ending(TimerTask):
        def run(self) -> None:
            raise KeyboardInterrupt

    timer, last = Timer(), Task(False)
    timer.add(Ending(1), 0)
    timer.add(last, 0)
    with pytest.raises(KeyboardInterrupt):
        timer.advance(1)
    assert last.runs == 0
    timer.advance(1)
    assert last.runs == 1


# ---- purgatories ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", PURGATORIES)
@pytest.mark.parametrize("sore", [{"at_try": 3}, {"at_completion": True}])
def test_an_event_tries_all_although_one_raises(
    kind: type[Purgatory | OldPurgatory], sore: dict[str, int],
) -> None:
    """The others are completed in the same call, and their list is right afterwards."""
    purgatory = kind()
    bad, good = Request(**sore), Request()      # type: ignore[arg-type]
    for request in (bad, good):
        purgatory.try_complete_else_watch(request, ("a",), 0)
        request.ready = True
    with pytest.raises(Sore):
        purgatory.check_and_complete("a")
    assert good.completed
    assert purgatory.watched == (0 if bad.completed else 1)
    assert purgatory.check_and_complete("a") == (0 if sore.get("at_completion") else 1)
    assert (bad.completions, good.completions, purgatory.watched) == (1, 1, 0)


@pytest.mark.parametrize("kind", PURGATORIES)
def test_a_round_expires_all_and_purges_although_one_raises(
    kind: type[Purgatory | OldPurgatory],
) -> None:
    """Nobody waits for longer, and nothing that is completed stays on a list."""
    purgatory = kind(1)
    requests = [Request(at_completion=number == 0) for number in range(3)]
    for request in requests:
        purgatory.try_complete_else_watch(request, ("a",), 0)
    with pytest.raises(Sore):
        purgatory.advance(5)
    assert [request.completions for request in requests] == [1, 1, 1]
    assert (purgatory.watched, purgatory.delayed) == (0, 0)


def test_a_request_whose_second_try_raises_waits_like_any_other() -> None:
    """It is on its lists and in the timer, so its timeout ends it."""
    purgatory, request = Purgatory(), Request(at_try=2)
    with pytest.raises(Sore):
        purgatory.try_complete_else_watch(request, ("a",), 0)
    assert (purgatory.watched, purgatory.delayed, purgatory.estimate) == (1, 1, 1)
    purgatory.advance(5)
    assert request.completions == 1


@pytest.mark.parametrize("request_of", [
    lambda: Request(at_try=1), lambda: Request(at_completion=True, ready=True)])
def test_a_request_whose_first_try_raises_was_never_let_in(
    request_of: Callable[[], Request],
) -> None:
    """Nothing of it is left, completed or not."""
    purgatory = Purgatory()
    with pytest.raises(Sore):
        purgatory.try_complete_else_watch(request_of(), ("a",), 0)
    assert (purgatory.watched, purgatory.delayed, purgatory.estimate) == (0, 0, 0)


def test_a_lock_is_given_back_by_a_try_that_raises() -> None:
    """Another thread can take it."""
    purgatory = Purgatory(lock=threading.RLock)
    request = Request(at_try=1, lock=threading.RLock)
    with pytest.raises(Sore):
        purgatory.try_complete_else_watch(request, ("a",), 0)
    taken: list[bool] = []
    thread = threading.Thread(
        target=lambda: taken.append(request.mutex.acquire(blocking=False)))  # type: ignore[union-attr]
    thread.start()
    thread.join()
    assert taken == [True]


# ---- what threads need ----------------------------------------------------------------------


@pytest.mark.parametrize("make", [
    lambda: Timer(lock=threading.RLock), lambda: OldTimer(lock=threading.RLock),
    lambda: Purgatory(lock=threading.RLock), lambda: OldPurgatory(lock=threading.RLock)])
def test_locks_are_refused_where_the_global_lock_is_off(
    monkeypatch: pytest.MonkeyPatch, make: Callable[[], object],
) -> None:
    """Completion is a line without a call, which only that lock makes one step."""
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: True, raising=False)
    make()
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: False)
    with pytest.raises(NeedsTheGil, match="PYTHON_GIL=1"):
        make()


def test_one_thread_needs_no_global_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    """A caller that passes no locks is not refused."""
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: False, raising=False)
    assert (Timer().size, Purgatory().watched) == (0, 0)


def test_a_key_that_is_named_twice_is_one_key() -> None:
    """Kafka's list would hold the request twice, and count it so."""
    purgatory = Purgatory()
    purgatory.try_complete_else_watch(Request(), ("a", "a"), 0)
    assert (purgatory.watched, purgatory.estimate) == (1, 1)
