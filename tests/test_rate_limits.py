"""Rate limits: the reference, and those of other projects under a clock that the harness moves."""

from __future__ import annotations

import asyncio

import pytest
from checkvalve.conformance.adapters.session import InProcessTarget
from checkvalve.conformance.campaigns.case import RunSettings
from checkvalve.conformance.engines.conduct import Order, conduct
from checkvalve.conformance.suites.run import TargetFailed, run_program
from checkvalve.conformance.suites.suite import Act
from checkvalve.conformance.systems.catalogue import port_named, suite_named
from checkvalve.conformance.systems.rate.adapter import ReferenceLog, ReferenceRate
from checkvalve.conformance.systems.rate.suite import IDLE, RATES, SUITE
from checkvalve.reference.drivers.schedules.scheduling import Scheduler
from checkvalve.reference.drivers.schedules.virtual_loop import VirtualLoop
from checkvalve.reference.flow.bucket import RateLimit, SlidingLog
from checkvalve.reference.flow.link import LinkMisuse
from checkvalve.spec.notation.interpreter import Interpreter
from checkvalve.spec.notation.machine import Machine
from hypothesis import given
from hypothesis import strategies as st

ASKED = st.lists(st.one_of(st.none(), st.integers(1, 6)), max_size=40)
"""Ticks (None), and how many permits are asked for."""


@given(rate=st.integers(1, 4), more=st.integers(0, 4), asked=ASKED)
def test_no_window_of_the_reference_has_more_than_its_depth_and_its_rate(
    rate: int, more: int, asked: list[int | None]
) -> None:
    """All windows are looked at, by the definition: b + r t in t ticks in a row."""
    limit, depth, passed = RateLimit(rate, rate + more), rate + more, [0]
    for each in asked:
        if each is None:
            limit.tick()
            passed.append(0)
        elif limit.take(each):
            passed[-1] += each
    for begin in range(len(passed)):
        for end in range(begin, len(passed)):
            assert sum(passed[begin:end + 1]) <= depth + rate * (end - begin)


@given(rate=st.integers(1, 4), more=st.integers(0, 4), asked=ASKED)
def test_the_reference_turns_away_only_those_for_whom_it_has_too_little(
    rate: int, more: int, asked: list[int | None]
) -> None:
    """And nothing is lost by it: what was left is left."""
    limit = RateLimit(rate, rate + more)
    for each in asked:
        before = limit.held
        if each is None:
            limit.tick()
            assert limit.held == min(rate + more, before + rate)
        else:
            assert limit.take(each) == (each <= before)
            assert limit.held == before - each * (each <= before)


@pytest.mark.parametrize(("rate", "depth"), [(0, 1), (2, 1), (1, 0)])
def test_a_rate_that_does_not_fit_its_depth_is_refused(rate: int, depth: int) -> None:
    """A tick's permits have to fit; and nobody asks for less than none."""
    with pytest.raises(LinkMisuse):
        RateLimit(rate, depth)
    with pytest.raises(LinkMisuse):
        RateLimit(1, 1).take(-1)


@pytest.mark.parametrize(("target", "broken"), [
    ("aiolimiter", {"FLOW-83"}),
    ("token_bucket", {"FLOW-80", "FLOW-81"}),
    ("limits.moving_window", set()),
    ("limits.fixed_window", {"FLOW-80", "FLOW-81"}),
])
def test_limits_of_other_projects_break_what_their_kind_breaks(
    target: str, broken: set[str]
) -> None:
    """A bucket lets a small request overtake, another one two threads at once; a log keeps what
    logs promise, and a count that begins anew lets through too much and too little.
    """
    report, _ = conduct(target, Order("rate", settings=RunSettings()))
    assert {each.rule.id for each in report.results if each.verdict == "violated"} == broken


def test_a_log_that_says_it_is_a_bucket_gives_permits_back_too_late() -> None:
    """FLOW-81 is a bucket's promise, and a target is held to what it says of itself."""
    class Claiming(ReferenceLog):
        policy = "bucket"

    target = InProcessTarget("claiming", Claiming, port_named)
    # All are taken, and after a tick a bucket has one again.
    program = (Act("take", 2), Act("tick"), Act("take"))
    (breach,) = run_program(suite_named("rate"), target, program, 3).breaches
    assert breach.rule.id == "FLOW-81"
    honest = InProcessTarget("honest", ReferenceLog, port_named)
    assert run_program(suite_named("rate"), honest, program, 3).breaches == []


@given(asked=ASKED)
def test_no_period_of_a_log_has_more_than_its_number(asked: list[int | None]) -> None:
    """By the definition; and a request that is turned away does not fit."""
    log, passed = SlidingLog(2, 6), [0]
    for each in asked:
        if each is None:
            log.tick()
            passed.append(0)
        else:
            fits = sum(passed[-3:]) + each <= 6
            assert log.take(each) == fits
            passed[-1] += each * fits


def test_a_small_request_overtakes_a_large_one_at_aiolimiter() -> None:
    """Shown without a suite: the one for all waits on for as long as others come."""
    aiolimiter = pytest.importorskip("aiolimiter")
    loop, through = VirtualLoop(), list[str]()

    async def acquire(name: str, many: int) -> None:
        await limiter.acquire(many)
        through.append(name)

    with loop.running():
        limiter = aiolimiter.AsyncLimiter(3, 3)
        loop.begin(acquire("first", 1))
        loop.begin(acquire("large", 3))
        for number in range(20):
            loop.begin(acquire(f"small {number}", 1))
            loop.settle()
            loop.jump(loop.time() + 1.001)
            loop.settle()
        assert "large" not in through and len(through) > 15
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.settle()
    loop.close()


def test_two_threads_both_pass_the_check_of_token_bucket() -> None:
    """Shown without a suite: one stands between check and write while the other one asks."""
    token_bucket = pytest.importorskip("token_bucket")
    storage = token_bucket.MemoryStorage()
    limiter, given = token_bucket.Limiter(1, 1, storage), list[bool]()
    with Scheduler(["token_bucket.storage"]) as threads:
        for steps in range(1, 30):
            storage._buckets.clear()
            given.clear()
            first, second = (threads.spawn(name, lambda: given.append(limiter.consume("key")))
                             for name in ("first", "second"))
            threads.run(first, steps)
            threads.run(second)
            if not first.done:
                threads.run(first)
            if given == [True, True]:
                return
    raise AssertionError("in no order")


@pytest.mark.parametrize("rate", [2, 4])
def test_a_log_has_a_whole_number_of_ticks(rate: int) -> None:
    """Its period is the ticks that bring just its number."""
    with pytest.raises(LinkMisuse, match="no number of ticks"):
        SlidingLog(rate, 3)


def test_nobody_waits_in_line_for_more_than_the_depth() -> None:
    """It would wait without end."""
    limit = RateLimit(1, 2)
    with pytest.raises(LinkMisuse, match="never come"):
        limit.wait("c1", 3)
    assert not limit.line


def test_a_call_is_let_through_once() -> None:
    """An adapter that names one twice, or one that never asked, is at fault."""
    class Twice(ReferenceRate):
        def tick(self, ticks: int) -> list[str]:
            return ["c1"]

    target = InProcessTarget("twice", Twice, port_named)
    with pytest.raises(TargetFailed, match="cannot be when|does not wait"):
        run_program(suite_named("rate"), target, (Act("acquire"), Act("take"), Act("tick"),
                                                  Act("acquire"), Act("tick")), 1)


@given(asked=ASKED, ticks=st.integers(1, 9), depth=st.sampled_from(sorted(RATES)))
def test_to_idle_is_to_tick_so_often(asked: list[int | None], ticks: int, depth: int) -> None:
    """Of a bucket, and of a log where the rate has one."""
    for made in (RateLimit, *(() if depth % RATES[depth] else (SlidingLog,))):
        one, other = (made(RATES[depth], depth) for _ in range(2))
        for limit in (one, other):
            for each in asked:
                limit.tick() if each is None else limit.take(each)
        one.idle(ticks)
        for _ in range(ticks):
            other.tick()
        left = [sum(limit.take() for _ in range(depth + 1)) for limit in (one, other)]
        assert left[0] == left[1]


@pytest.mark.parametrize("depth", RATES)
@pytest.mark.parametrize("machine", [watch.machine for watch in SUITE.watches])
def test_a_period_and_a_tick_are_as_good_as_any_longer_time(
    machine: type[Machine], depth: int
) -> None:
    """So an observer is told of no more ticks, however many pass: from any state that it has
    within four admissions and ticks."""
    constants = {name: value for name, value in SUITE.constants(depth, 18).items()
                 if name in machine.constants_declared}
    run = Interpreter(machine, constants)
    acts = [("tick", ()), *((do, (("permits", permits),)) for do in ("passes", "is_logged")
                            for permits in (1, depth))]
    states = {run.initial()}
    for _ in range(4):
        states |= {after for state in states for act in acts
                   if (after := run.step(state, *act)) is not None}
    for state in states:
        for _ in range(SUITE.constants(depth, 18)["P"] + 1):
            state = run.step(state, "tick")
        assert run.step(state, "tick") == state
    assert min(IDLE) > SUITE.constants(depth, 18)["P"]
