"""The suite of the purgatory: no false alarm, and no twin that gets away."""

from __future__ import annotations

import random
import shlex
import sys
from functools import cache
from statistics import median

import pytest

from checkvalve.conformance.campaigns.case import RunSettings, plan, run_case
from checkvalve.conformance.campaigns.replay import replay
from checkvalve.conformance.campaigns.summary import NOT_APPLICABLE
from checkvalve.conformance.engines.conduct import Order, conduct
from checkvalve.conformance.results import PASSED, CaseRow
from checkvalve.conformance.suites.run import run_program
from checkvalve.conformance.suites.twin import CoreTwin
from checkvalve.conformance.systems.catalogue import suite_named
from checkvalve.conformance.systems.kafka_purgatory.suite import meeting
from checkvalve.conformance.systems.kafka_purgatory.twins import TWINS as ZOO
from checkvalve.conformance.targets import resolve_target
from checkvalve.conformance.zoo.hunt import KILLED, Trophy, hunt

NAME = "kafka.purgatory"
NEW, OLD = "reference.purgatory", "reference.purgatory.old"
RULES = suite_named(NAME).rules()
ONLY_NEW = {"KAFKA-P4", "KAFKA-P4N", "KAFKA-P6E", "KAFKA-P5", "KAFKA-P5U", "KAFKA-P7",
            "KAFKA-P26"}


@cache
def trophy_of(name: str) -> Trophy:
    """What the hunt for a twin came to, with its first failure."""
    return hunt(ZOO[name], enough=1)


@pytest.mark.parametrize("target", [NEW, OLD])
def test_the_references_pass_and_every_rule_that_applies_is_exercised(target: str) -> None:
    """In process; what does not apply to the old design is said, not skipped."""
    order = Order(NAME, settings=RunSettings(programs=3))
    summary, _ = conduct(target, order)
    expected = {rule.id: PASSED for rule in RULES} | (
        dict.fromkeys(ONLY_NEW, NOT_APPLICABLE) if target == OLD else {})
    assert {each.rule.id: each.verdict for each in summary.results} == expected


@pytest.mark.parametrize("target", [NEW, OLD])
def test_the_references_pass_behind_the_protocol(target: str) -> None:
    """As programs that speak JSON lines, with the same rows."""
    host = f"{shlex.quote(sys.executable)} -m checkvalve.conformance.adapters.host"
    for case in plan(NAME, cases=len(RULES), seed=1)[::5]:
        there, here = (run_case(NAME, each, case, RunSettings(programs=2))
                       for each in (f"command:{host} {target}", target))
        assert (there.verdict, there.exercised) == (here.verdict, here.exercised), there.message


@pytest.mark.parametrize("twin", ZOO.values(), ids=ZOO)
def test_a_twin_is_killed_by_its_rule(twin: CoreTwin) -> None:
    """Within a few cases; its fixture fails again, and not on what it was made from."""
    trophy = trophy_of(twin.name)
    assert trophy.verdict == KILLED
    assert trophy.fixture is not None
    assert trophy.fixture.length <= 12  # the median is at most 8 by far
    assert replay(trophy.fixture, resolve_target(f"zoo:{twin.name}")).same
    original = OLD if "old" in twin.core.__name__.lower() else NEW
    assert replay(trophy.fixture, resolve_target(original)).breach is None


@pytest.mark.parametrize("seed", range(4))
def test_a_meeting_of_two_buckets_kills_a_longer_horizon(seed: int) -> None:
    """On wheels of 20 buckets, as Kafka has them; and the reference passes."""
    program = meeting(random.Random(seed))
    broken = [bool(run_program(suite_named(NAME), resolve_target(target), program, 1).breaches)
              for target in (NEW, OLD, "zoo:purgatory-horizon")]
    assert broken == [False, False, True]


def test_every_rule_has_a_twin_that_breaks_it() -> None:
    """A rule without one has not been shown to detect anything."""
    assert {twin.rule for twin in ZOO.values()} == {rule.id for rule in RULES}


def test_half_of_the_fixtures_have_at_most_four_steps() -> None:
    """Those of every fourth twin; the others have no more than eight."""
    trophies = map(trophy_of, list(ZOO)[::4])
    assert median(trophy.fixture.length for trophy in trophies if trophy.fixture) <= 4


def test_two_runs_give_identical_rows() -> None:
    """A row is a pure function of suite, target, case and settings."""
    def run() -> list[CaseRow]:
        return [run_case(NAME, "zoo:purgatory-stale-estimate", case, RunSettings(programs=3))
                for case in plan(NAME, cases=len(RULES), seed=5)[::8]]

    assert run() == run()


def test_a_request_that_was_never_made_is_declined() -> None:
    """Definitely: nothing has happened."""
    session = resolve_target(NEW).open()
    session.request({"do": "hello", "protocol": 1, "port": NAME, "settings": {"capacity": 1}})
    reply = session.request({"do": "force", "request": "r1"})
    assert (reply["error"], reply["definite"]) == ("unknown-request", True)
    session.close()
