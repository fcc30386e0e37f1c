"""The suite of Kafka's races: no false alarm under any schedule, and no twin that gets away."""

from __future__ import annotations

import json
import shlex
import sys
import threading
from functools import cache
from statistics import median

import pytest

from checkvalve.conformance.adapters.session import InProcessTarget
from checkvalve.conformance.campaigns.case import RunSettings, plan, run_case
from checkvalve.conformance.campaigns.replay import replay
from checkvalve.conformance.engines.conduct import Order, conduct
from checkvalve.conformance.ports.base import Message
from checkvalve.conformance.results import PASSED
from checkvalve.conformance.suites.fixture import read_fixture
from checkvalve.conformance.suites.run import run_program
from checkvalve.conformance.suites.suite import Act
from checkvalve.conformance.systems.catalogue import suite_named
from checkvalve.conformance.systems.kafka_races.adapter import Kit, ReferenceRaces
from checkvalve.conformance.systems.kafka_races.scenes import SCENES
from checkvalve.conformance.systems.kafka_races.search import search_races
from checkvalve.conformance.systems.kafka_races.twins import TWINS as ZOO
from checkvalve.conformance.targets import resolve_target
from checkvalve.conformance.zoo.hunt import KILLED, Trophy, hunt
from checkvalve.spec.chapters import chapters
from checkvalve.spec.kafka.observed_races import ObservedRaces
from checkvalve.spec.notation.errors import InputError, TargetError

SUITE, TARGET = "kafka.races", "reference.kafka.races"
LARGE = {"two keys", "two overflows", "two in a bucket", "an empty list", "a partition",
         "completion against cascade", "added anew against cascade", "watching against purge",
         "a callback that raises", "cancel against cascade", "completion against expiry"}
"""Scenes with too many schedules for a test; ``make races`` searches all of them."""


@cache
def trophy_of(name: str) -> Trophy:
    """What the hunt for a twin came to."""
    return hunt(ZOO[name], enough=1)


@pytest.mark.parametrize("name", SCENES)
def test_no_schedule_with_few_preemptions_breaks_a_rule(name: str) -> None:
    """Up to two of them; in large scenes one."""
    most = 0 if SCENES[name].many else 1 if name in LARGE else 2
    searched = search_races(Kit(), SCENES[name], preemptions=most)
    assert searched.found == ()
    assert searched.histories > 5


@pytest.mark.parametrize("name", ZOO)
def test_a_twin_is_killed_by_its_rule(name: str) -> None:
    """Its fixture fails again, in the same step, and not on the reference. What needs three
    preemptions has four threads, as many switches again, two between, and an end."""
    trophy = trophy_of(name)
    assert trophy.verdict == KILLED
    assert trophy.fixture is not None
    assert trophy.fixture.length <= (11 if name == "kafka-impatient-counter" else 8)
    assert replay(trophy.fixture, resolve_target(f"zoo:{name}")).same
    assert replay(trophy.fixture, resolve_target(TARGET)).breach is None


def test_half_of_the_fixtures_have_at_most_six_steps() -> None:
    """Setting the scene and making the threads included."""
    assert median(len(fixture.requests) for name in ZOO
                  if (fixture := trophy_of(name).fixture) is not None) <= 6


def test_every_rule_has_a_twin_that_breaks_it() -> None:
    """A rule without one has not been shown to detect anything."""
    assert {twin.rule for twin in ZOO.values()} == {
        rule.id for rule in suite_named(SUITE).rules()}


def test_the_suite_judges_by_rules_of_the_chapters() -> None:
    """Each is another chapter's, word for word."""
    written = {
        rule.id: rule.statement for chapter in chapters(["kafka"])
        if chapter.name != "kafka.observed_races" for rule in chapter.rules}
    assert {rule.id: rule.statement for rule in ObservedRaces.rules_declared}.items() <= (
        written.items())


def test_the_reference_passes_and_every_rule_is_exercised() -> None:
    """In process; each rule could have been broken in some step."""
    summary, _ = conduct(TARGET, Order(SUITE, settings=RunSettings(programs=6)))
    assert {result.verdict for result in summary.results} == {PASSED}


def test_a_row_is_a_function_of_the_case() -> None:
    """Threads or not: the same verdict, the same fixture, byte for byte."""
    target = "zoo:kafka-1989-expired-anyway"
    rules = [rule.id for rule in suite_named(SUITE).rules()]
    at = rules.index("KAFKA-P1ER")
    case = plan(SUITE, cases=at + 1, seed=0)[at]
    first, second = (run_case(SUITE, target, case, RunSettings(programs=60)) for _ in range(2))
    assert first == second
    assert first.rule == "KAFKA-P1ER"


def test_the_reference_gives_the_same_rows_behind_the_protocol() -> None:
    """As a program that speaks JSON lines."""
    host = f"{shlex.quote(sys.executable)} -m checkvalve.conformance.adapters.host"
    for case in plan(SUITE, cases=3, seed=1):
        there, here = (run_case(SUITE, target, case, RunSettings(programs=2))
                       for target in (f"command:{host} {TARGET}", TARGET))
        assert (there.verdict, there.exercised) == (PASSED, here.exercised), there.message


def test_a_run_leaves_no_thread_behind() -> None:
    """Not even where a twin ends in a deadlock."""
    fixture = trophy_of("kafka-5970-group-lock").fixture
    assert fixture is not None
    replay(fixture, resolve_target("zoo:kafka-5970-group-lock"))
    assert "scheduled" not in {thread.name for thread in threading.enumerate()}


@pytest.mark.parametrize("change", [
    {"request": "r9"}, {"request": None}, {"call": "watch", "does": "returns", "request": []},
    {"thread": ""}, {"does": "sings"},
])
def test_a_target_that_reports_nonsense_is_told_so(change: dict[str, object]) -> None:
    """An event about what is not there is the target's fault, and no crash of ours."""
    class Confused(ReferenceRaces):
        def settle(self) -> Message:    # type: ignore[override]
            reply = super().settle()
            reply["events"][0] |= {"does": "completes", "request": "r1", **change}
            return reply

    program = tuple(
        Act(do, about=(("scene", "trigger between try and watch"), about)) for do, about in (
            ("spawn", ("thread", "requester")), ("spawn", ("thread", "trigger"))))
    with pytest.raises(TargetError):
        run_program(suite_named(SUITE), InProcessTarget("confused", Confused),
                    (*program, Act("settle")), 1)


def test_a_fixture_of_another_scene_is_refused() -> None:
    """What no scene contains cannot be asked for."""
    fixture = trophy_of("kafka-1989-not-cancelled").fixture
    assert fixture is not None
    document = json.loads(fixture.to_json())
    document["steps"][0]["request"]["calls"] = [{"call": "elect"}]
    with pytest.raises(InputError, match="of no scene"):
        replay(read_fixture(json.dumps(document), "here"), resolve_target(TARGET))


def test_a_fixture_tells_where_the_threads_stand() -> None:
    """A deadlock names the locks, the lines and the threads."""
    fixture = trophy_of("kafka-5970-group-lock").fixture
    assert fixture is not None
    story = json.dumps(fixture.story())
    assert "waits at owners.py" in story
    assert "the group's lock, which member has" in story
