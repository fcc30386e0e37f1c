"""The loop in virtual time: asyncio's promises kept, no clock, every instant in one's hand."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest
from checkvalve.reference.drivers.schedules.virtual_loop import (
    CALLBACKS_MAX, Deadlock, Unrest, VirtualLoop,
)


def run(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """The result of a coroutine on a loop of its own."""
    loop = VirtualLoop()
    try:
        return loop.run_until_complete(coroutine)
    finally:
        loop.close()


def test_a_day_of_sleep_takes_no_time() -> None:
    """Time jumps to the next timer when nothing is ready."""
    async def main() -> float:
        await asyncio.sleep(86_400)
        return asyncio.get_running_loop().time()

    assert run(main()) == 86_400


def test_timeouts_and_task_groups_run_as_they_are() -> None:
    """They are asyncio's own, and know nothing of the loop."""
    async def main() -> list[str]:
        told = []

        async def slow() -> None:
            try:
                async with asyncio.timeout(2):
                    await asyncio.sleep(3)
            except TimeoutError:
                told.append("too late")

        async with asyncio.TaskGroup() as group:
            group.create_task(slow())
            told.append(await asyncio.wait_for(asyncio.sleep(1, "in time"), 2))
        return told

    assert run(main()) == ["in time", "too late"]


def test_callbacks_run_first_in_first_out() -> None:
    """As asyncio promises of call_soon."""
    loop, seen = VirtualLoop(), list[int]()
    for number in range(3):
        loop.call_soon(seen.append, number)
    with loop.running():
        loop.settle()
    loop.close()
    assert seen == [0, 1, 2]


def test_another_place_runs_before_the_first() -> None:
    """An order that trio has and asyncio does not."""
    loop, seen = VirtualLoop(), list[int]()
    for number in range(3):
        loop.call_soon(seen.append, number)
    with loop.running():
        loop.step(2)
        loop.settle()
    loop.close()
    assert seen == [2, 0, 1]


def test_timers_of_one_instant_run_in_the_order_in_which_they_were_set() -> None:
    """However the heap may lie."""
    loop, seen = VirtualLoop(), list[int]()
    for number in range(9):
        loop.call_later(1 + (number == 4), seen.append, number)
    with loop.running():
        while loop.step() or loop.advance():
            pass
    loop.close()
    assert seen == [0, 1, 2, 3, 5, 6, 7, 8, 4]


def test_a_cancelled_timer_is_no_reason_to_jump() -> None:
    """Time stays where it is, and a later timer is the next one."""
    loop = VirtualLoop()
    loop.call_later(1, print).cancel()
    loop.call_later(2, lambda: None)
    with loop.running():
        assert loop.advance() and loop.time() == 2
        loop.settle()
        assert not loop.advance()
    loop.close()


def test_a_task_begins_before_what_is_ready() -> None:
    """Its first step, and no other."""
    loop, seen = VirtualLoop(), list[str]()

    async def task() -> None:
        seen.append("first step")
        await asyncio.sleep(0)
        seen.append("second step")

    loop.call_soon(seen.append, "ready before")
    with loop.running():
        begun = loop.begin(task())
        assert loop.is_ready(begun)
        loop.settle()
    loop.close()
    assert seen == ["first step", "ready before", "second step"]


def test_waiting_for_ever_is_told() -> None:
    """The loop of asyncio would sleep there."""
    async def main() -> None:
        await asyncio.get_running_loop().create_future()

    loop = VirtualLoop()
    task = loop.create_task(main())
    with pytest.raises(Deadlock):
        loop.run_until_complete(task)
    task.cancel()
    with loop.running():
        loop.settle()
    loop.close()


def test_a_loop_that_does_not_come_to_rest_is_told() -> None:
    """And a timer in between begins the count anew."""
    async def spin() -> None:
        while True:
            await asyncio.sleep(0)

    loop = VirtualLoop()
    task = loop.create_task(spin())
    with loop.running(), pytest.raises(Unrest, match=str(CALLBACKS_MAX)):
        loop.settle()
    task.cancel()
    loop.jump(1)
    with loop.running():
        loop.settle()
    loop.close()
    assert task.cancelled()


def test_a_callback_that_breaks_is_told() -> None:
    """Not logged."""
    loop = VirtualLoop()
    loop.call_soon(lambda: 1 // 0)
    with pytest.raises(Unrest, match="ZeroDivisionError"), loop.running():
        loop.settle()
    loop.close()


def test_threads_and_sockets_are_refused() -> None:
    """They would bring a world that nobody controls."""
    async def executor() -> None:
        await asyncio.to_thread(print)

    async def socket() -> None:
        await asyncio.open_connection("127.0.0.1", 1)

    for coroutine in (executor(), socket()):
        with pytest.raises(NotImplementedError):
            run(coroutine)
