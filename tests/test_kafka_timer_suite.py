"""The suite of timers: no false alarm, every twin caught, and every target judged by its law."""

from __future__ import annotations

import random
import shutil

import pytest

from checkvalve.conformance.adapters.base import Declined
from checkvalve.conformance.adapters.session import InProcessTarget
from checkvalve.conformance.campaigns.case import RunSettings, plan, run_case
from checkvalve.conformance.engines.conduct import Order, conduct
from checkvalve.conformance.suites.results import NOT_OFFERED, NOT_SHOWN, PASSED, VIOLATED
from checkvalve.conformance.systems.catalogue import port_named
from checkvalve.conformance.suites.run import run_program
from checkvalve.conformance.suites.suite import Act, Program
from checkvalve.conformance.systems.timer.suite import (
    DELAYS, DRIVES, TASKS, SUITE as TIMER_SUITE, WAITS, meeting,
)
from checkvalve.conformance.systems.timer.timers import ReferenceTimer
from checkvalve.conformance.systems.timer.twins import TWINS as ZOO, OpenTimer
from checkvalve.conformance.systems.targets import resolve_target
from checkvalve.conformance.zoo.hunt import hunt, twins
from checkvalve.spec.notation import InputError

TICK = {"KAFKA-W22", "KAFKA-W23"}
EXACT = {"KAFKA-W24", "KAFKA-W25"}
ALWAYS = {"KAFKA-W1", "KAFKA-W1C", "KAFKA-W37"}
WHEELS = {"KAFKA-W29", "KAFKA-W30"}
ORDER, SIZE, HELD, CLAMP = {"KAFKA-W27"}, {"KAFKA-W2"}, {"KAFKA-W31"}, {"KAFKA-W26"}
DRIVEN, RAISING = {"KAFKA-W34", "KAFKA-W36"}, {"KAFKA-W35"}

APPLICABLE = {
    "reference.timer": ALWAYS | TICK | SIZE | WHEELS | DRIVEN | RAISING,
    "reference.timer.old": ALWAYS | EXACT | HELD | DRIVEN | RAISING,
    "asyncio.timer": ALWAYS | EXACT | RAISING,
    "sched": ALWAYS | EXACT | ORDER | SIZE | RAISING,
    "trio.timer": ALWAYS | EXACT,
}
ORIGINALS = {
    **{name: "reference.timer.old" for name in ZOO if name.startswith("timer-old-")},
    "timer-lifo": "sched", "timer-unclamped": "",
}
"""The originals of twins that are not copies of the wheels; none clamps the delay of setTimeout."""

RARE = "timer-horizon"
"""Its bug takes a course of events that random programs seldom take."""


def add(task: int, delay: int) -> Act:
    """An add of the suite's."""
    return Act("add", task + TASKS * DELAYS.index(delay))


def wait(milliseconds: int) -> Act:
    """Time passes."""
    return Act("elapse", WAITS.index(milliseconds))


@pytest.mark.parametrize("target", APPLICABLE)
def test_a_target_passes_the_rules_of_its_law_and_no_other_applies(target: str) -> None:
    """Rules about operations that it does not offer are not shown, rule by rule."""
    order = Order("timer", settings=RunSettings(programs=3))
    summary, _ = conduct(target, order)
    verdicts = {result.rule.id: result.verdict for result in summary.results}
    passed = {rule for rule, verdict in verdicts.items() if verdict == PASSED}
    assert passed == APPLICABLE[target]
    assert {verdicts[rule] for rule in verdicts.keys() - passed} == {NOT_SHOWN}
    assert {each.reason for each in summary.results} <= {"", NOT_OFFERED}


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_mock_timers_of_node_take_a_delay_of_0_as_it_is() -> None:
    """setTimeout itself takes it for 1 ms; in all else they do as it does."""
    settings = RunSettings(programs=4)
    rows = [run_case("timer", "js.timer", case, settings)
            for case in plan("timer", cases=10, seed=0)]
    assert {row.verdict for row in rows} <= {PASSED, VIOLATED}
    assert {row.rule for row in rows if row.verdict == VIOLATED} == {"KAFKA-W26"}


def test_the_wheel_that_twins_are_made_of_passes() -> None:
    """Unchanged it does what the reference does."""
    adapter_type = type("Open", (ReferenceTimer,), {"core": OpenTimer})
    target = InProcessTarget("open", adapter_type, port_named)
    program: Program = tuple(
        act for at in range(12) for act in (add(at % TASKS, DELAYS[at % 8]), wait(1), wait(2)))
    for capacity in (1, 2, 3):
        assert not run_program(TIMER_SUITE, target, program, capacity).breaches


def test_a_horizon_that_is_one_tick_too_long_is_seen_where_two_buckets_expire_together() -> None:
    """The cascaded task takes over the bucket of one that is due, and runs with it."""
    program = (wait(1), add(0, 1), add(0, 9), wait(1), add(1, 4), wait(9))
    runs = [run_program(TIMER_SUITE, resolve_target(target), program, 2)
            for target in (f"zoo:{RARE}", "reference.timer")]
    assert [[breach.rule.id for breach in run.breaches] for run in runs] == [["KAFKA-W22"], []]


def test_an_answer_that_does_not_fit_a_drive_is_seen_at_the_second_one() -> None:
    """Two drives at one instant: after the first nothing can be due."""
    program = (add(0, 1), Act("drive", DRIVES.index(1)), Act("drive", DRIVES.index(0)))
    breaches = [
        [(breach.rule.id, breach.step) for breach in run_program(
            TIMER_SUITE, resolve_target(target), program, 1).breaches]
        for target in ("reference.timer", "zoo:timer-answers-always",
                       "zoo:timer-answers-what-is-left")]
    assert breaches == [[], [("KAFKA-W34", 2)], [("KAFKA-W34", 1)]]


@pytest.mark.parametrize("capacity", TIMER_SUITE.capacities)
@pytest.mark.parametrize("seed", range(6))
def test_a_meeting_of_two_buckets_kills_a_longer_horizon(capacity: int, seed: int) -> None:
    """Each of the programs that are built does it, and the reference passes them."""
    program = meeting(random.Random(seed), capacity)
    broken = [bool(run_program(TIMER_SUITE, resolve_target(target), program, capacity).breaches)
              for target in ("reference.timer", f"zoo:{RARE}")]
    assert broken == [False, True]


def test_a_rare_course_of_events_is_found_within_a_few_cases() -> None:
    """The programs for its rule are drawn from what goes through the upper wheels."""
    assert hunt(ZOO[RARE], enough=1).cases <= 12


def test_twins_are_selected_by_suite_by_chapter_and_by_what_is_above_it() -> None:
    """timer, kafka.timer, kafka; and a name without twins is refused."""
    names = list(ZOO)
    assert [twin.name for twin in twins(["timer"])] == names
    assert [twin.name for twin in twins(["kafka.timer"])][:len(names)] == names
    assert {*names} < {twin.name for twin in twins(["kafka"])}
    with pytest.raises(InputError, match="no suite kafka.tim"):
        list(twins(["kafka.tim"]))


@pytest.mark.parametrize("request_", [
    {"do": "elapse", "now": "soon"}, {"do": "elapse", "now": {}}, {"do": "elapse"},
    {"do": "add", "now": 0, "task": "a", "delay": 1}, {"do": "add", "now": 0, "task": 0},
])
def test_a_request_without_its_numbers_is_refused(request_: dict[str, object]) -> None:
    """As a fixture may have one: it is bad input, and no error of ours."""
    session = resolve_target("reference.timer").open()
    conversation = TIMER_SUITE.converse(session, 1, 18)
    with pytest.raises(InputError):
        conversation.act_for(request_)
    session.close()


def test_a_delay_below_0_is_due_at_once_or_refused() -> None:
    """Refused, nothing was added, and what was pending runs as it was to."""
    class Refusing(ReferenceTimer):
        def schedule(self, task: int, delay: int) -> None:
            if delay < 0:
                raise Declined("a delay below 0")
            super().schedule(task, delay)

    program: Program = (add(0, 2), add(0, -3), add(1, -3), wait(2), Act("size"))
    for kind in (ReferenceTimer, Refusing):
        target = InProcessTarget("below-0", kind, port_named)
        assert run_program(TIMER_SUITE, target, program, 1).breaches == []
