"""Schedules of coroutines: each once, the same again, and shrunk."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from functools import partial

from checkvalve.reference.drivers.schedules.coroutines import (
    Deviation, Kind, Ran, Stage, explore, replay, shrink, wander,
)

Conclude = Callable[[], list[str]]


class Swallowing:
    """A lock with a waiter that, cancelled after it was woken, keeps the wake-up (bpo-27585)."""

    def __init__(self) -> None:
        self.locked = False
        self.waiters: deque[asyncio.Future[None]] = deque()

    async def acquire(self) -> None:
        while self.locked:
            waiter = asyncio.get_running_loop().create_future()
            self.waiters.append(waiter)
            await waiter
        self.locked = True

    def release(self) -> None:
        self.locked = False
        while self.waiters:
            waiter = self.waiters.popleft()
            if not waiter.done():
                waiter.set_result(None)
                return


def of_locks(lock: Callable[[], Swallowing | asyncio.Lock]) -> Callable[[Stage], Conclude]:
    """Three tasks that hold a lock one after the other."""
    def scene(stage: Stage) -> Conclude:
        mutex, held = lock(), list[str]()

        async def hold(name: str) -> None:
            await mutex.acquire()
            try:
                held.append(name)
                await asyncio.sleep(1)
            finally:
                mutex.release()

        for name in "abc":
            stage.spawn(name, hold(name))
        return lambda: held

    return scene


def of_events(stage: Stage) -> Conclude:
    """A task that continues when an event comes, and one that counts."""
    seen: list[str] = []
    queue: asyncio.Queue[str] = asyncio.Queue()

    async def take() -> None:
        seen.append(await queue.get())

    async def count() -> None:
        for number in range(3):
            seen.append(str(number))
            await asyncio.sleep(0)

    stage.spawn("take", take())
    stage.spawn("count", count())
    stage.event("an item", lambda: queue.put_nowait("item"))
    return lambda: seen


def hangs(ran: Ran[list[str]]) -> bool:
    """True if some task waits forever."""
    return bool(ran.stuck)


def test_left_alone_nothing_goes_wrong() -> None:
    """An event comes when no callback can run."""
    assert replay(of_locks(Swallowing), ()).result == ["a", "b", "c"]
    assert replay(of_events, ()).result == ["0", "1", "2", "item"]


def test_one_cancellation_finds_a_swallowed_wakeup() -> None:
    """At one of all await points; the lock of asyncio has none."""
    bad = [ran for ran in explore(of_locks(Swallowing), kinds=(Kind.CANCEL,)) if hangs(ran)]
    assert bad and all(ran.cancelled == ("b",) for ran in bad)
    assert [each.task for each in bad[0].stuck] == ["c"]
    assert bad[0].stuck[0].text == "await waiter"
    assert not any(map(hangs, explore(of_locks(asyncio.Lock), deviations=2)))


def test_each_task_is_cancelled_at_each_of_its_await_points() -> None:
    """Every schedule is run once, the one without deviations among them."""
    schedules = [ran.schedule for ran in explore(of_locks(asyncio.Lock), kinds=(Kind.CANCEL,))]
    assert len(schedules) == len(set(schedules))
    assert () in schedules
    for task in range(3):
        alive = [each[0].at for each in schedules if each and each[0].which == task]
        assert alive == sorted(alive, reverse=True) and alive[-1] == 0


def test_an_event_comes_at_any_instant() -> None:
    """Early, late, and in between: the item is taken before or after each count."""
    results = {tuple(ran.result) for ran in explore(of_events, kinds=(Kind.EVENT,))}
    assert {result.index("item") for result in results} == {0, 1, 2, 3}


def test_callbacks_are_overtaken_only_where_that_is_asked_for() -> None:
    """asyncio never does it."""
    def first(ran: Ran[list[str]]) -> str:
        return ran.result[0]

    scene = of_locks(asyncio.Lock)
    assert {first(ran) for ran in explore(scene, kinds=(Kind.EVENT,))} == {"a"}
    assert {first(ran) for ran in explore(scene, kinds=(Kind.OVERTAKE,))} == {"a", "b", "c"}


def test_the_same_schedule_gives_the_same_run() -> None:
    """And the same seed the same schedule."""
    for seed in range(10):
        ran = wander(of_locks(Swallowing), seed, kinds=tuple(Kind))
        assert replay(of_locks(Swallowing), ran.schedule) == ran
        assert wander(of_locks(Swallowing), seed, kinds=tuple(Kind)) == ran


def test_a_failure_is_shrunk_until_nothing_can_be_left_out() -> None:
    """Whatever else the seed drew."""
    scene = of_locks(Swallowing)
    bad = [ran for seed in range(60) if hangs(ran := wander(scene, seed))]
    for ran in bad:
        small = shrink(scene, ran.schedule, hangs)
        assert hangs(small) and len(small.schedule) <= len(ran.schedule)
        for at in range(len(small.schedule)):
            assert not hangs(replay(scene, small.schedule[:at] + small.schedule[at + 1:]))
    assert bad


def test_what_is_left_of_a_schedule_comes_as_early_as_it_can() -> None:
    """Each deviation from the instant of the one before it on."""
    def scene(stage: Stage) -> Conclude:
        conclude = of_events(stage)
        for number in "xyz":
            stage.event(number, partial(conclude().append, number))
        return conclude

    def fails(ran: Ran[list[str]]) -> bool:
        return [each for each in ran.result if each in "xyz"] == ["z", "y", "x"]

    late = tuple(Deviation(at, Kind.EVENT, which) for at, which in ((2, 3), (4, 2), (5, 1)))
    assert shrink(scene, late, fails).schedule == tuple(
        Deviation(0, Kind.EVENT, which) for which in (3, 2))


def test_what_tasks_raise_is_reported_and_not_logged() -> None:
    """By the name of the task or of the event."""
    def scene(stage: Stage) -> Callable[[], None]:
        async def broken() -> None:
            await asyncio.sleep(1)
            raise LookupError("a task's")

        stage.spawn("broken", broken())
        stage.event("bad", lambda: 1 // 0)
        return lambda: None

    ran = replay(scene, ())
    assert {name: type(error) for name, error in ran.errors} == {
        "broken": LookupError, "bad": ZeroDivisionError}


def test_an_instant_that_is_never_reached_is_when_all_is_at_rest() -> None:
    """A waiter is cancelled there, and not lost."""
    def scene(stage: Stage) -> Callable[[], None]:
        stage.spawn("waiter", asyncio.Event().wait())
        return lambda: None

    assert replay(scene, ()).stuck[0].task == "waiter"
    assert replay(scene, (Deviation(999, Kind.CANCEL, 0),)).cancelled == ("waiter",)
