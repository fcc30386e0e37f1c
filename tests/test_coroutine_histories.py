"""Bugs of libraries that no suite asks about, found by schedules of a scene."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from checkvalve.reference.drivers.schedules.coroutines import Kind, Stage, explore


class Closing:
    """A queue of one place with a ``close`` that forgets the puts that wait (janus #237)."""

    def __init__(self, wakes_puts: bool) -> None:
        self.items: list[str] = []
        self.closed = False
        self.changed = asyncio.Condition()
        self.taken = asyncio.Condition()
        self.wakes_puts = wakes_puts

    async def put(self, item: str) -> None:
        async with self.taken:
            await self.taken.wait_for(lambda: self.closed or not self.items)
        if not self.closed:
            self.items.append(item)

    async def close(self) -> None:
        self.closed = True
        if self.wakes_puts:
            async with self.taken:
                self.taken.notify_all()


def closing(
    make: Callable[[], Any], *refusals: type[Exception]
) -> Callable[[Stage], Callable[[], None]]:
    """Two puts into one place, and somebody closes the queue, which may refuse them then."""
    def scene(stage: Stage) -> Callable[[], None]:
        queue = make()

        async def put(item: str) -> None:
            with suppress(*refusals):
                await queue.put(item)

        stage.spawn("first", put("a"))
        stage.spawn("second", put("b"))
        stage.event("closed", lambda: stage.spawn("closer", queue.close()))
        return lambda: None

    return scene


def test_a_close_that_forgets_the_puts_that_wait_is_found() -> None:
    """One of them waits forever, whenever the close comes after it; with the fix, none does."""
    stuck = [ran.stuck for ran in explore(closing(lambda: Closing(False)), kinds=(Kind.EVENT,))]
    assert any([each.task for each in where] == ["second"] for where in stuck)
    assert not any(ran.stuck for ran in explore(closing(lambda: Closing(True))))


def test_closing_janus_leaves_no_put_waiting() -> None:
    """Whenever it is closed, and whichever task is cancelled besides, unless it is the one that
    closes.
    """
    janus = pytest.importorskip("janus")

    def make() -> Any:
        whole = janus.Queue(1)

        class Side:
            put = staticmethod(whole.async_q.put)
            close = staticmethod(whole.aclose)
        return Side

    for ran in explore(closing(make, janus.AsyncQueueShutDown), deviations=2):
        assert not ran.errors
        assert not ran.stuck or "closer" in ran.cancelled, ran.schedule
