"""The reference timers: when tasks run, in which order, and what misuse leaves behind."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkvalve.reference.kafka.old_timer import OldTimer
from checkvalve.reference.kafka.timer import Timer, TimerMisuse, TimerTask

AnyTimer = Timer | OldTimer


class Task(TimerTask):
    """Notes when it runs."""

    def __init__(self, delay: int, clock: list[int]) -> None:
        super().__init__(delay)
        self.clock = clock
        self.runs: list[int] = []

    def run(self) -> None:
        self.runs.append(self.clock[0])


def drive(timer: AnyTimer, clock: list[int], until: int) -> None:
    """Stop at each instant at which the timer wants to run."""
    due = timer.next_expiration()
    while due is not None and due <= until:
        clock[0] = max(clock[0], due)
        timer.advance(clock[0])
        due = timer.next_expiration()
    clock[0] = until


STEPS = st.lists(
    st.tuples(st.integers(0, 40), st.integers(-3, 900), st.booleans()), max_size=25)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(tick=st.integers(1, 100), size=st.integers(2, 20), start=st.integers(-50, 999), steps=STEPS)
def test_the_wheel_fires_at_the_beginning_of_the_deadlines_tick(
    tick: int, size: int, start: int, steps: list[tuple[int, int, bool]],
) -> None:
    """max(add, floor(d / u) * u) for every u and n, once; never after a cancel; exact sizes."""
    timer, clock = Timer(tick, size, start), [start]
    wanted: list[tuple[Task, int | None]] = []
    for wait, delay, cancelled in steps:
        drive(timer, clock, clock[0] + wait)
        task = Task(delay, clock)
        timer.add(task, clock[0])
        law = max(clock[0], (clock[0] + delay) // tick * tick)
        # A bucket that is due already, by a stale clock, expires at once.
        drive(timer, clock, clock[0])
        if cancelled:
            task.cancel()
        wanted.append((task, None if cancelled and law > clock[0] else law))
        due = [each for _, each in wanted if each is not None and each > clock[0]]
        assert timer.size == len(due)
        assert timer.queued <= size * timer.levels
    drive(timer, clock, clock[0] + 2_000)
    assert [task.runs for task, _ in wanted] == [[] if at is None else [at] for _, at in wanted]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(steps=STEPS)
def test_the_old_timer_fires_at_the_deadline(steps: list[tuple[int, int, bool]]) -> None:
    """max(add, d), once; and a cancelled task stays in the queue until then."""
    timer, clock = OldTimer(), [0]
    wanted: list[tuple[Task, int | None]] = []
    for wait, delay, cancelled in steps:
        drive(timer, clock, clock[0] + wait)
        task = Task(max(delay, 1), clock)
        timer.add(task, clock[0])
        at = clock[0] + task.delay
        if cancelled:
            before = timer.size
            task.cancel()
            assert timer.size == before
        wanted.append((task, None if cancelled else at))
    drive(timer, clock, clock[0] + 1_000)
    assert timer.size == 0
    assert [task.runs for task, _ in wanted] == [[] if at is None else [at] for _, at in wanted]


@pytest.mark.parametrize("kind", [Timer, OldTimer])
def test_a_task_that_is_added_again_is_rescheduled(kind: type[AnyTimer]) -> None:
    """It runs once, by the later add."""
    timer, clock = kind(), [0]
    task = Task(5, clock)
    timer.add(task, 0)
    drive(timer, clock, 3)
    timer.add(task, 3)
    drive(timer, clock, 50)
    assert task.runs == [8]
    timer.add(task, 50)
    drive(timer, clock, 99)
    assert task.runs == [8, 55]


def test_purging_the_old_timer_drops_cancelled_tasks_only() -> None:
    """The number of dropped tasks is returned; the others run."""
    timer, clock = OldTimer(), [0]
    tasks = [Task(delay, clock) for delay in range(1, 11)]
    for task in tasks:
        timer.add(task, 0)
    for task in tasks[::2]:
        task.cancel()
    assert (timer.purge(), timer.size) == (5, 5)
    drive(timer, clock, 20)
    assert [task.runs for task in tasks] == [[] if at % 2 else [at] for at in range(1, 11)]


def test_tasks_run_in_the_order_of_their_expiration() -> None:
    """Also those of one late advance, whatever the order of their adds."""
    timer, order = Timer(1, 3), []

    class Noting(TimerTask):
        def run(self) -> None:
            order.append(self.delay)

    for delay in (7, 1, 30, 2, 15, 3):
        timer.add(Noting(delay), 0)
    assert timer.advance(40)
    assert order == [1, 2, 3, 7, 15, 30]


@pytest.mark.parametrize("wheel", [(0, 20), (-1, 20), (1, 1), (1, 1 << 20), (1.5, 20)])
def test_wheels_that_cannot_be_are_refused(wheel: tuple[int, int]) -> None:
    """A tick of 0, one bucket, too many, a tick that is no integer."""
    with pytest.raises(TimerMisuse):
        Timer(*wheel)


def test_misuse_changes_nothing() -> None:
    """A clock that is set back, a delay in seconds, a task without the lock that threads need."""
    timer, clock = Timer(), [0]
    task = Task(30, clock)
    timer.add(task, 0)
    timer.advance(10)
    for old in (timer, OldTimer(start=10)):
        with pytest.raises(TimerMisuse, match="cannot be 9 ms now"):
            old.advance(9)
    with pytest.raises(TimerMisuse, match="whole number of ms"):
        TimerTask(0.5)      # type: ignore[arg-type]
    for kind in (Timer, OldTimer):
        shared = kind(lock=threading.RLock)
        with pytest.raises(TimerMisuse, match="needs tasks with locks"):
            shared.add(task, 10)
        assert shared.size == 0
    assert (timer.size, timer.next_expiration()) == (1, 20)


@pytest.mark.parametrize("kind", [Timer, OldTimer])
def test_a_pending_task_survives_what_is_no_time(kind: type[Timer | OldTimer]) -> None:
    """A time or a delay that is no whole number of ms is refused before the old entry goes."""
    timer, task = kind(), Task(30, [0])
    timer.add(task, 0)
    with pytest.raises(TimerMisuse, match="whole ms"):
        timer.add(task, 0.5)  # type: ignore[arg-type]
    task.delay = 1.5  # type: ignore[misc,assignment]
    with pytest.raises(TimerMisuse, match="whole ms"):
        timer.add(task, 0)
    with pytest.raises(TimerMisuse, match="cannot be '9' ms"):
        timer.advance("9")  # type: ignore[arg-type]
    assert (timer.size, timer.next_expiration()) == (1, 30 if kind is OldTimer else 20)


def test_threads_share_a_timer_with_locks() -> None:
    """Three threads add tasks while a fourth drives: every task runs once."""
    timer, ran = Timer(1, 4, lock=threading.RLock), []

    class Shared(TimerTask):
        def run(self) -> None:
            ran.append(self)

    tasks = [[Shared(at % 40, threading.RLock) for at in range(150)] for _ in range(3)]

    def use(mine: list[Shared]) -> None:
        for now, task in enumerate(mine):
            timer.add(task, now)

    users = [threading.Thread(target=use, args=(mine,)) for mine in tasks]
    for user in users:
        user.start()
    now = 0
    while any(user.is_alive() for user in users):
        timer.advance(now := now + 1)
    for user in users:
        user.join()
    timer.advance(now + 1_000)
    assert timer.size == 0
    assert sorted(map(id, ran)) == sorted(id(task) for mine in tasks for task in mine)
