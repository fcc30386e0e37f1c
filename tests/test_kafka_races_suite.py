"""The suite of Kafka's races: no false alarm under any schedule, and no twin that gets away."""

from __future__ import annotations

import json
import threading

import pytest

from checkvalve.conformance.adapters.session import InProcessTarget
from checkvalve.conformance.campaigns.replay import replay
from checkvalve.conformance.ports.base import Message
from checkvalve.conformance.suites.fixture import read_fixture
from checkvalve.conformance.suites.run import run_program
from checkvalve.conformance.suites.suite import Act
from checkvalve.conformance.systems.catalogue import port_named, suite_named
from checkvalve.conformance.systems.kafka_races.adapter import Kit, ReferenceRaces
from checkvalve.conformance.systems.kafka_races.scenes import SCENES
from checkvalve.conformance.systems.kafka_races.search import search_races
from checkvalve.conformance.systems.targets import resolve_target
from checkvalve.spec.chapters import chapters
from checkvalve.spec.kafka.observed_races import ObservedRaces
from checkvalve.spec.notation.errors import InputError, TargetError

from trophies import trophy_of

SUITE, TARGET = "kafka.races", "reference.kafka.races"
LARGE = {"two keys", "two overflows", "two in a bucket", "an empty list", "a partition",
         "completion against cascade", "added anew against cascade", "watching against purge",
         "a callback that raises", "cancel against cascade", "completion against expiry",
         "an addition against the last advance"}
"""Scenes with too many schedules for a test; ``make races`` searches all of them."""

hunted = pytest.mark.xdist_group(f"zoo of {SUITE}")


@pytest.mark.parametrize("name", SCENES)
def test_no_schedule_with_few_preemptions_breaks_a_rule(name: str) -> None:
    """Up to two of them; in large scenes one."""
    most = 0 if SCENES[name].many else 1 if name in LARGE else 2
    searched = search_races(Kit(), SCENES[name], preemptions=most)
    assert searched.found == ()
    assert searched.histories > 5


def test_the_suite_judges_by_rules_of_the_chapters() -> None:
    """Each is another chapter's, word for word."""
    written = {
        rule.id: rule.statement for chapter in chapters(["kafka"])
        if chapter.name != "kafka.observed_races" for rule in chapter.rules}
    assert {rule.id: rule.statement for rule in ObservedRaces.rules_declared}.items() <= (
        written.items())


@hunted
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
        run_program(suite_named(SUITE), InProcessTarget("confused", Confused, port_named),
                    (*program, Act("settle")), 1)


@hunted
def test_a_fixture_of_another_scene_is_refused() -> None:
    """A call that no scene contains cannot be asked for."""
    fixture = trophy_of("kafka-1989-not-cancelled").fixture
    assert fixture is not None
    document = json.loads(fixture.to_json())
    document["steps"][0]["request"]["calls"] = [{"call": "elect"}]
    with pytest.raises(InputError, match="belongs to no scene"):
        replay(read_fixture(json.dumps(document), "here"), resolve_target(TARGET))


@hunted
def test_a_fixture_tells_where_the_threads_stand() -> None:
    """A deadlock names the locks, the lines and the threads."""
    fixture = trophy_of("kafka-5970-group-lock").fixture
    assert fixture is not None
    story = json.dumps(fixture.story())
    assert "waits at owners.py" in story
    assert "the group's lock, which member has" in story
