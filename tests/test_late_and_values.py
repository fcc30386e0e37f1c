"""A default run finds bugs besides rare courses: some show late, in large queues, or with some
values.
"""

from __future__ import annotations

import json

import pytest

from checkvalve.conformance.campaigns.case import RunSettings, case_at, run_case
from checkvalve.conformance.campaigns.places import LONG_EVERY
from checkvalve.conformance.ports.base import Session
from checkvalve.conformance.suites.results import PASSED, VIOLATED
from checkvalve.conformance.suites.asking import greet
from checkvalve.conformance.suites.lengthy import grown
from checkvalve.conformance.suites.suite import Act
from checkvalve.conformance.suites.values import Payloads
from checkvalve.conformance.systems.catalogue import SYSTEMS, system_of, zoo
from checkvalve.conformance.systems.timer.suite import TIMEOUT_MAX
from checkvalve.conformance.systems.targets import resolve_target
from checkvalve.conformance.zoo.default_run import NAMED, find

LONG = LONG_EVERY - 1
"""The first case with a long program."""

HARD_ITEMS = (0, -5, 2**53 - 1, "0", " 1", "null", "long " * 40, "\u00e9\u4e2d\U0001f600",
              "\"1\\\n\t'")

BY_MESSAGES = "storm.topology"
"""Its programs have few requests; a long one has a thousand messages."""


@pytest.mark.parametrize("suite", [name for name in SYSTEMS if name != BY_MESSAGES])
def test_each_suite_has_twins_that_show_from_the_40th_and_the_300th_request_on(suite: str) -> None:
    """A counter wraps by then, a ring turns, a table is full."""
    after = {twin.after for twin in system_of(suite).twins.values()}
    assert {40, 300} <= after


def test_a_long_run_of_a_topology_has_a_thousand_messages() -> None:
    """Its late twins break from the 41st and the 301st on."""
    system = system_of(BY_MESSAGES)
    first, *_ = system.suite.lengthy({"run"}, 1, 1)[0]
    assert dict(first.about)["messages"] == 1_000
    assert {f"cluster-acks-twice-after-{number}" for number in (40, 300)} <= system.twins.keys()


@pytest.mark.parametrize("name", [
    "kafka-1989-not-cancelled-after-300", "rate-keeps-all-after-40", "marks-calls-late-after-300",
    "link-overdraws-after-40",
    "timer-wraps-at-16-bits", "timer-wraps-at-31-bits",
    "jobs-stack-from-six", "link-stack-from-six",
    "subscriber-stack-from-six"])
def test_what_only_a_long_program_can_show_is_named_in_the_first_of_a_run(name: str) -> None:
    """No short program gets there."""
    twin = zoo()[name]
    row = run_case(twin.suite, f"zoo:{name}", case_at(twin.suite, LONG, 0),
                   RunSettings(counting=False, shrinks=0))
    assert (row.verdict, row.rule) == (VIOLATED, twin.rule)


@pytest.mark.parametrize("name", [
    "input-cuts-long-texts", "input-stack-from-six", "spout-roots-as-doubles",
    "awaits-cuts-long-texts", "awaits-loses-numbers", "timer-loses-delays-of-nought",
    "timer-loses-long-delays"])
def test_who_looks_at_values_is_found_by_a_default_run(name: str) -> None:
    """One that cuts texts, loses what is false, or keeps an id in too few bits."""
    assert find(name).verdict == NAMED


@pytest.mark.parametrize("target", ["asyncio.timer", "sched", "reference.timer.old"])
def test_timers_keep_delays_beyond_two_to_the_31(target: str) -> None:
    """Many tasks, equal deadlines, and delays of 25 days: no false alarm."""
    row = run_case("timer", target, case_at("timer", LONG, 0), RunSettings(shrinks=0))
    assert (row.verdict, row.longest > 1_000) == (PASSED, True)


def test_set_timeout_is_asked_for_no_delay_that_it_cannot_have() -> None:
    """The HTML standard has 32 bits for it."""
    suite = system_of("timer").suite
    for target, sensible in (("reference.timer", True), ("zoo:timer-unclamped", False)):
        session = resolve_target(target).open()
        try:
            talk = suite.converse(session, 1, 18)
            far = Act("add", about=(("task", 0), ("delay", TIMEOUT_MAX + 1)))
            assert talk.makes_sense(far) is sensible
        finally:
            session.close()


def _comes_back(session: Session, item: object) -> bool:
    session.request({"do": "offer", "item": item})
    got = session.request({"do": "poll"})["ok"]
    return type(got) is type(item) and got == item


@pytest.mark.parametrize("target", [
    "reference", "asyncio.Queue", "multiprocessing.Queue", "zmq.push", "js", "node.Writable",
    "redis.list", "nats", "jdk.ArrayBlockingQueue"])
def test_an_adapter_carries_items_of_any_value(target: str) -> None:
    """Numbers stay numbers, and texts come whole, whatever lies in between."""
    session = resolve_target(target, timeout=20).open()
    try:
        greet(session, "queue", {"capacity": 4})
        assert [item for item in HARD_ITEMS if not _comes_back(session, item)] == []
    finally:
        session.close()


@pytest.mark.parametrize("suite", ["storm.spout", "storm.acker", "kafka.purgatory"])
def test_a_long_program_does_not_run_out_of_what_it_may_name(suite: str) -> None:
    """At its end, new roots and requests still come."""
    late = next(twin for twin in system_of(suite).twins.values() if twin.after == 300)
    row = run_case(suite, f"zoo:{late.name}", case_at(suite, LONG, 0),
                   RunSettings(shrinks=0, counting=False))
    assert row.verdict == VIOLATED


def test_what_is_left_of_a_long_program_may_name_as_much() -> None:
    """Else its breach would not come again, and the target would be called unsteady."""
    assert grown(12, 24) == 12
    assert grown(12, 104) >= 104
    assert grown(12, 104, each=3) >= 3 * 104
    assert grown(12, 1_000, 300, 3) == 300


def test_a_breach_in_the_middle_of_a_long_program_is_no_unsteady_one() -> None:
    """A server that is asked for three requests at once, from its 41st on."""
    row = run_case("bookkeeper", "zoo:bookie-one-too-many-after-40",
                   case_at("bookkeeper", LONG, 0), RunSettings(shrinks=0, counting=False))
    assert row.verdict == VIOLATED


def test_an_act_that_brings_several_items_names_each() -> None:
    """A transfer of three tuples has three values."""
    from random import Random

    payloads = Payloads({"arrive": "tuples"}, several={"arrive": lambda pick: pick + 1})
    dressed, = payloads.dressed((Act("arrive", 2),), Random(0))
    assert [name for name, _ in dressed.about] == ["tuples"] * 3
    assert len({json.dumps(value) for _, value in dressed.about}) == 3
