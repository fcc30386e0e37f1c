"""The suites of Reactive Streams on what others wrote, and on drivers for asyncio."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Coroutine
from contextlib import closing
from typing import Any, TypeVar

import pytest

from checkvalve.conformance.campaigns.case import RunSettings
from checkvalve.conformance.engines.conduct import Order, conduct
from checkvalve.conformance.suites.results import VIOLATED
from checkvalve.conformance.systems.targets import resolve_target
from checkvalve.reference.drivers.async_streams import AsyncPublisher, elements_of
from checkvalve.reference.drivers.schedules.virtual_loop import VirtualLoop

T = TypeVar("T")


def broken(target: str, suite: str = "reactive.publisher") -> set[str]:
    """The rules that few cases find a target to break."""
    summary, _ = conduct(target, Order(suite, cases=22, settings=RunSettings(programs=4)))
    assert not summary.error
    return {each.rule.id for each in summary.results if each.verdict == VIOLATED}


@pytest.mark.parametrize("target", ["async-generator", "reactivex.buffered"])
def test_what_has_demand_keeps_the_rules(target: str) -> None:
    """An async generator is drawn from on demand; an observable's elements wait in a buffer."""
    assert broken(target) == set()


def test_an_async_iterator_asks_for_what_its_buffer_holds() -> None:
    """And for more once the application has an element."""
    assert broken("async-iterator", "reactive.subscriber") == set()


def test_an_observable_without_demand_is_found_out_as_such() -> None:
    """It signals all that it has, whatever was requested."""
    assert "RS-1.1" in broken("reactivex")


@pytest.mark.skipif(shutil.which("java") is None, reason="needs java")
def test_the_jdks_publisher_answers_a_wrong_request_after_a_cancel() -> None:
    """Found by the suite: a request for 0 after cancel is answered (RS-3.6), in Java 17."""
    session = resolve_target("jdk.publisher", timeout=60).open()
    settings = {"capacity": 3, "first": 0, "fails": 0, "depth": 4, "behind": 1}
    try:
        session.request({"do": "hello", "protocol": 1, "port": "reactive.publisher",
                         "settings": settings})
        session.request({"do": "subscribe", "subscriber": 0, "n": 0})
        session.request({"do": "settle"})
        session.request({"do": "cancel", "subscriber": 0})
        session.request({"do": "request", "subscriber": 0, "n": 0})
        said = session.request({"do": "settle"})["ok"]
    finally:
        session.close()
    assert said == [{"event": "error", "subscriber": 0, "cause": "argument"}]


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine, once it and all that it has started have come to their end."""
    loop = VirtualLoop()
    with closing(loop), loop.running():
        task: asyncio.Task[T] = loop.begin(coroutine)
        while asyncio.all_tasks(loop):
            loop.settle()
            if not loop.advance():
                break
        return task.result()


class Numbers:
    """An endless async generator; ``drawn`` and ``closed`` say what became of it."""

    def __init__(self) -> None:
        self.drawn = 0
        self.closed = False

    async def make(self) -> AsyncIterator[int]:
        """0, 1, … without an end."""
        try:
            while True:
                self.drawn += 1
                await asyncio.sleep(1)
                yield self.drawn - 1
        finally:
            self.closed = True


def test_an_async_iterator_of_a_publisher_of_an_async_generator_is_that_generator() -> None:
    """In order, with no more drawn ahead than the buffer holds, and closed with its reader."""
    numbers = Numbers()

    async def read() -> list[int]:
        found = []
        elements = elements_of(AsyncPublisher(numbers.make), capacity=4, batch=2)
        async for element in elements:
            found.append(element)
            assert numbers.drawn <= len(found) + 4
            if element == 9:
                break
        await elements.aclose()  # type: ignore[attr-defined]
        return found

    assert run(read()) == list(range(10))
    assert numbers.closed


def test_what_fails_in_the_generator_is_raised_where_it_is_read() -> None:
    """Behind nothing that was read before it."""
    async def failing() -> AsyncIterator[int]:
        yield 1
        raise OSError("gone")

    async def read() -> None:
        async for _ in elements_of(AsyncPublisher(failing), capacity=1, batch=1):
            pass

    with pytest.raises(OSError, match="gone"):
        run(read())
