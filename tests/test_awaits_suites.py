"""Queues, semaphores and locks for coroutines: what the suites let pass, and what they found."""

from __future__ import annotations

import asyncio
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pytest
from checkvalve.conformance.adapters.session import InProcessTarget
from checkvalve.conformance.campaigns.case import RunSettings, plan, run_case
from checkvalve.conformance.campaigns.replay import replay
from checkvalve.conformance.suites.results import PASSED, REFUSED, VIOLATED
from checkvalve.conformance.suites.fixture import Fixture, read_fixture
from checkvalve.conformance.suites.run import TargetFailed, run_program
from checkvalve.conformance.suites.suite import Act, Program
from checkvalve.conformance.suites.sweeping import STEPS_MAX
from checkvalve.conformance.systems.awaits_queue.adapter import ReferenceAwaits
from checkvalve.conformance.systems.awaits_queue.handing import HandingQueue
from checkvalve.conformance.systems.awaits_permits.adapter import AsyncioLock, ReferencePermits
from checkvalve.conformance.systems.catalogue import port_named, suite_named
from checkvalve.conformance.systems.targets import resolve_target
from checkvalve.reference.drivers.asyncio_closing import ClosableQueue
from checkvalve.reference.drivers.asyncio_condition import Condition
from checkvalve.reference.drivers.asyncio_permits import LatePermits, Permits
from checkvalve.reference.drivers.schedules.virtual_loop import VirtualLoop

FOUND = Path(__file__).resolve().parent.parent / "docs" / "awaits"


def fixture(name: str) -> Fixture:
    """A fixture of docs/awaits.md."""
    file = FOUND / name
    return read_fixture(file.read_text(encoding="utf-8"), str(file))


def installed(library: str, known: str) -> bool:
    """True if the library is installed in the version that docs/awaits.md names."""
    try:
        return version(library) == known
    except PackageNotFoundError:
        return False


class EndsTwice:
    """A condition that reports the end of its first wait whenever something is asked."""

    def request(self, message: dict[str, Any]) -> dict[str, Any]:
        """Any request."""
        if message["do"] == "hello":
            return {"ok": {"name": "twice", "version": "1", "policy": "sleep",
                           "can": list(port_named("awaits.condition").capabilities())}}
        first = {"by": "c1", "does": "sleeps" if message["do"] == "wait" else "cancelled"}
        return {"ok": [first]}


def test_a_wait_that_ends_twice_is_a_mistake_of_the_adapter() -> None:
    """No rule of a condition says how often a call ends: every call of every language ends once."""
    program: Program = [Act("wait"), Act("settle"), Act("settle")]
    target = InProcessTarget("twice", EndsTwice, port_named)
    with pytest.raises(TargetFailed, match="cannot be of that call"):
        run_program(suite_named("awaits.condition"), target, program, 1)


@pytest.mark.parametrize(("suite", "target"), [
    ("awaits.queue", "awaits.asyncio.Queue"),
    ("awaits.permits", "awaits.asyncio.Semaphore"),
    ("awaits.permits", "awaits.asyncio.Lock"),
    ("awaits.permits", "awaits.anyio.Semaphore"),
    ("awaits.permits", "awaits.anyio.Lock"),
    ("awaits.permits", "awaits.anyio.CapacityLimiter"),
    ("awaits.permits", "awaits.anyio.Semaphore.native"),
    ("awaits.permits", "awaits.anyio.Lock.native"),
    ("awaits.permits", "awaits.anyio.CapacityLimiter.native"),
    ("awaits.condition", "awaits.anyio.Condition"),
    ("awaits.closing", "awaits.asyncio.Queue.closing"),
    ("awaits.closing", "awaits.janus.closing"),
    ("awaits.closing", "awaits.anyio.closing"),
    ("awaits.gate", "awaits.asyncio.Event"),
    ("awaits.gate", "awaits.asyncio.drain"),
    ("awaits.gate", "awaits.anyio.Event"),
])
def test_what_others_have_right_raises_no_alarm(suite: str, target: str) -> None:
    """No MUST is broken in as many cases as there are rules."""
    pytest.importorskip(target.split(".")[1])
    must = {rule.id for rule in suite_named(suite).rules() if rule.strength.value == "MUST"}
    for case in plan(suite, cases=12, seed=3):
        row = run_case(suite, target, case, RunSettings(programs=10))
        assert row.verdict in (PASSED, REFUSED, VIOLATED) and row.rule not in must, row.message


@pytest.mark.parametrize(("name", "target"), [
    ("anyio.json", "awaits.anyio"), ("anyio-native.json", "awaits.anyio.native"),
    ("anyio-condition-native.json", "awaits.anyio.Condition.native")])
@pytest.mark.skipif(not installed("anyio", "4.16.0"), reason="found in anyio 4.16.0")
def test_what_was_found_in_anyio_is_there(name: str, target: str) -> None:
    """The fixtures replay on it, and not on the reference."""
    found = fixture(name)
    assert replay(found, resolve_target(target)).same
    assert replay(found, resolve_target(f"reference.{found.suite}")).breach is None


def test_a_wait_of_anyio_that_asyncio_cancels_ends_without_the_lock() -> None:
    """Shown without a suite: a task that leaves the condition learns that it does not hold the
    lock.
    """
    anyio = pytest.importorskip("anyio")

    async def sleep(condition: Any) -> None:
        async with condition:
            await condition.wait()

    loop = VirtualLoop()
    with loop.running():
        condition = loop.begin(made(anyio.Condition)).result()
        sleeper = loop.begin(sleep(condition))
        loop.settle()

        async def notify() -> None:
            async with condition:
                condition.notify(1)
                await asyncio.sleep(0)
                await asyncio.sleep(0)
                sleeper.cancel()

        loop.begin(notify())
        loop.settle()
        assert "not holding" in str(sleeper.exception())
    loop.close()


async def made(kind: Any) -> Any:
    """An object of a library that wants to be made in a task."""
    return kind()


def test_a_lock_that_answers_only_tasks_is_asked_within_one() -> None:
    """anyio's answered nobody else whether it is held, from 4.13.0 to 4.14.2."""
    class Shy(asyncio.Lock):
        def locked(self) -> bool:
            assert asyncio.current_task() is not None
            return super().locked()

    class ShyLock(AsyncioLock):
        kind = Shy

    target = InProcessTarget("shy", ShyLock, port_named)
    program: Program = (Act("locked"), Act("acquire"), Act("locked"))
    assert run_program(suite_named("awaits.permits"), target, program, 1).breaches == []


def test_a_release_that_is_a_coroutine_may_free_the_permit_before_it_ends() -> None:
    """A task that gets the permit in between does not hold one too many."""
    class Early(LatePermits):
        async def release(self) -> None:
            self.permits.release()
            await asyncio.sleep(0)

    class EarlyPermits(ReferencePermits):
        kind = Early

    target = InProcessTarget("early", EarlyPermits, port_named)
    program: Program = (Act("acquire"), Act("release"), Act("acquire"), Act("settle"))
    assert run_program(suite_named("awaits.permits"), target, program, 1).breaches == []


@pytest.mark.parametrize(("name", "target"), [
    ("janus.json", "awaits.janus"), ("condition.json", "awaits.asyncio.Condition")])
@pytest.mark.skipif(
    not installed("janus", "2.0.0") or sys.version_info >= (3, 11, 8),
    reason="found in janus 2.0.0 on CPython before 3.11.8, whose Condition loses notifications")
def test_what_was_found_in_condition_and_so_in_janus_is_there(name: str, target: str) -> None:
    """The fixtures replay on them, and not on the references."""
    found = fixture(name)
    assert replay(found, resolve_target(target)).same
    assert replay(found, resolve_target(f"reference.{found.suite}")).breach is None


@pytest.mark.parametrize(("name", "target"), [
    ("priority.json", "awaits.asyncio.PriorityQueue.closing"),
    ("janus-priority.json", "awaits.janus.PriorityQueue.closing")])
def test_a_priority_queue_keeps_what_it_could_not_compare(name: str, target: str) -> None:
    """As ``heapq.heappush`` does; the reference does not."""
    pytest.importorskip(target.split(".")[1])
    found = fixture(name)
    assert replay(found, resolve_target(target)).same
    assert replay(found, resolve_target(f"reference.{found.suite}")).breach is None


def test_what_is_not_there_yet_is_not_offered() -> None:
    """``asyncio.Queue`` can be shut down from Python 3.13 on."""
    with resolve_target("awaits.asyncio.Queue.closing").open() as session:
        can = session.request({
            "do": "hello", "protocol": 1, "port": "awaits.closing", "settings": {"capacity": 1}})
    offered = {"close", "cut"} & set(can["ok"]["can"])
    assert offered == ({"close", "cut"} if hasattr(asyncio.Queue, "shutdown") else set())


def test_one_who_was_woken_and_is_cancelled_leaves_the_place_to_the_next() -> None:
    """A cancelled waiter that was woken passes its place on, for puts and for takes; one that was
    not woken is simply gone.
    """
    loop = VirtualLoop()
    with loop.running():
        queue = ClosableQueue[str](1)
        puts = [loop.begin(queue.put(name)) for name in "abcd"]
        first = loop.begin(queue.take())
        puts[1].cancel()        # was woken
        puts[2].cancel()        # sleeps
        loop.settle()
        assert first.result() == "a" and list(queue.items) == ["d"] and not queue.puts
        loop.begin(queue.take())
        takes = [loop.begin(queue.take()) for _ in range(2)]
        loop.begin(queue.put("e"))
        takes[0].cancel()
        loop.settle()
        assert takes[0].cancelled() and takes[1].result() == "e" and not queue.takes
        with pytest.raises(ValueError, match="more was done"):
            for _ in range(4):
                queue.task_done()
    loop.close()


def test_the_ground_of_the_hand_over_twins_is_sound() -> None:
    """A queue that hands its items over breaks no rule, so each twin's bug is its own."""
    class Sound(ReferenceAwaits):
        queue = HandingQueue

    target = InProcessTarget("sound", Sound, port_named)
    suite = suite_named("awaits.queue")
    for program in swept("QUEUE-10", 5) + swept("QUEUE-9", 6):
        assert run_program(suite, target, program, 1).breaches == []


def swept(rule_id: str, seed: int) -> list[Program]:
    """The programs of a seed."""
    suite = suite_named("awaits.queue")
    rule = suite.rule(rule_id)
    assert rule is not None
    programs: list[Program] = []
    can = ("offer", "poll", "put", "take", "run", "interrupt", "size")
    suite.explore(can, rule, seed, 20, programs.append)
    return programs


def test_a_swept_program_stops_each_call_at_each_instant() -> None:
    """The same acts, and one interruption: after each of them, of each that may wait."""
    programs = swept("QUEUE-7", 1)[20:]
    by_base: dict[Program, list[tuple[int, int]]] = {}
    for program in programs:
        (at,) = [n for n, act in enumerate(program) if act.do == "interrupt"]
        base = program[:at] + program[at + 1:]
        by_base.setdefault(base, []).append((at, program[at].pick))
    assert by_base
    for base, stops in by_base.items():
        assert all(act == Act("run") for act in base if act.do == "run")
        instants = {at for at, _ in stops}
        assert instants == set(range(1, len(instants) + 1))
        assert len(stops) == STEPS_MAX * len(instants)


def test_permits_are_handed_on_by_who_is_cancelled() -> None:
    """A cancelled waiter passes its permit on, whether it had it in hand or not; none is made or
    lost.
    """
    loop = VirtualLoop()
    with loop.running():
        permits = Permits(1)
        loop.begin(permits.acquire())
        waiting = [loop.begin(permits.acquire()) for _ in range(3)]
        permits.release()
        waiting[0].cancel()     # has a permit in its hand
        waiting[1].cancel()     # has none
        loop.settle()
        assert [task.cancelled() for task in waiting] == [True, True, False]
        assert waiting[2].done() and permits.locked()
        permits.release()
        assert permits.free == 1 and not permits.locked()
    loop.close()


def test_a_waiter_that_is_thrown_away_gives_no_permit_back() -> None:
    """It had none: the holder of the only permit still keeps all others out."""
    loop = VirtualLoop()
    with loop.running():
        permits = Permits(1)
        loop.begin(permits.acquire())
        waiter = permits.acquire()
        waiter.send(None)
        waiter.close()
        assert permits.free == 0 and permits.locked() and not permits.line
        permits.release()
        assert permits.free == 1
        loop.settle()
    loop.close()


def test_as_many_are_notified_as_is_said_and_first_come_first() -> None:
    """A sleeper that was cancelled is none of them, and nothing of it stays."""
    loop, woken = VirtualLoop(), list[str]()
    condition = Condition()

    async def sleep(name: str) -> None:
        await condition.acquire()
        await condition.wait()
        woken.append(name)
        condition.release()

    with loop.running():
        sleepers = {name: loop.begin(sleep(name)) for name in "abcd"}
        sleepers["a"].cancel()
        loop.settle()
        condition.release()     # the cancelled task has it again
        loop.begin(condition.acquire())
        condition.notify(2)
        condition.release()
        loop.settle()
        assert woken == ["b", "c"] and len(condition.asleep) == 1
        sleepers["d"].cancel()
        loop.settle()
        assert sleepers["d"].cancelled() and not condition.asleep
    loop.close()


def test_there_must_be_a_permit() -> None:
    """A semaphore of none could never be acquired."""
    with pytest.raises(ValueError, match="not 0"):
        Permits(0)
    assert asyncio.iscoroutinefunction(Permits.acquire)
