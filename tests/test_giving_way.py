"""Coroutines that never come back to their loop are ended by a count of calls."""

from __future__ import annotations

import asyncio
import sys

import pytest
from checkvalve.reference.drivers.asyncio_gate import Gate
from checkvalve.reference.drivers.schedules.giving_way import NeverGaveWay, calls_counted
from checkvalve.reference.drivers.schedules.virtual_loop import VirtualLoop


async def waits_for_what_is_there(rounds: list[int]) -> None:
    """Go round forever: the event is set, so waiting for it does not wait."""
    event = asyncio.Event()
    event.set()
    while True:
        await event.wait()
        rounds.append(len(rounds))


def rounds_of(most: int) -> int:
    """The number of rounds before it is ended."""
    loop, rounds = VirtualLoop(), list[int]()
    with loop.running(), calls_counted(most):
        task = loop.begin(waits_for_what_is_there(rounds))
    assert isinstance(task.exception(), NeverGaveWay)
    return len(rounds)


def test_a_coroutine_that_goes_round_is_ended_at_the_same_call_each_time() -> None:
    """Also where it would run forever."""
    assert rounds_of(2000) == rounds_of(2000) > 100


def test_exactly_so_many_calls_are_made() -> None:
    """Each call counts once, when it is made and not when it comes back."""
    made: list[int] = []
    with pytest.raises(NeverGaveWay), calls_counted(10):
        for number in range(100):
            made.append(number)     # one call a round
    assert len(made) == 10


def test_counting_begins_anew_after_it_was_caught_and_ends_with_its_block() -> None:
    """A later loop is ended as well; and a profiler that was set before is set again."""
    outer = sys.getprofile()
    with calls_counted(1000) as anew:
        for _ in range(2):
            with pytest.raises(NeverGaveWay):
                while True:
                    len("")
            anew()
    assert sys.getprofile() is outer


def test_a_gate_remembers_nobody_who_has_gone_on() -> None:
    """Neither a call that passed nor one that was cancelled: a gate may live for a long time."""
    loop, gate = VirtualLoop(), Gate()
    with loop.running():
        passes, stops = loop.begin(gate.wait()), loop.begin(gate.wait())
        assert len(gate.asleep) == 2
        stops.cancel()
        gate.open()
        loop.settle()
    assert passes.done() and stops.done() and not gate.asleep
