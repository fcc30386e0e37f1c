"""The suites of the acker and the spout: no false alarm, and no twin that gets away."""

from __future__ import annotations

import shlex
import sys
from functools import cache
from statistics import median

import pytest

from checkvalve.conformance.campaigns.case import RunSettings, plan, run_case
from checkvalve.conformance.campaigns.replay import replay
from checkvalve.conformance.engines.conduct import Order, conduct
from checkvalve.conformance.results import PASSED, CaseRow
from checkvalve.conformance.suites.twin import CoreTwin
from checkvalve.conformance.systems.catalogue import suite_named
from checkvalve.conformance.systems.storm_acker.twins import TWINS as ACKERS
from checkvalve.conformance.systems.storm_spout.twins import TWINS as SPOUTS
from checkvalve.conformance.targets import resolve_target
from checkvalve.conformance.zoo.hunt import KILLED, Trophy, hunt

TWINS = {**ACKERS, **SPOUTS}
SUITES = ("storm.acker", "storm.spout")


@cache
def trophy_of(name: str) -> Trophy:
    """What the hunt for a twin came to."""
    return hunt(TWINS[name])


@pytest.mark.parametrize("suite", SUITES)
def test_the_reference_passes_and_every_rule_is_exercised(suite: str) -> None:
    """In process; each rule could have been broken in some step."""
    order = Order(suite, settings=RunSettings(programs=8))
    summary, _ = conduct(f"reference.{suite}", order)
    assert {result.verdict for result in summary.results} == {PASSED}


@pytest.mark.parametrize("suite", SUITES)
def test_the_reference_passes_behind_the_protocol(suite: str) -> None:
    """As a program that speaks JSON lines, with the same rows."""
    host = f"{shlex.quote(sys.executable)} -m checkvalve.conformance.adapters.host"
    command = f"command:{host} reference.{suite}"
    cases = plan(suite, cases=len(suite_named(suite).rules()), seed=1)
    for case in cases:
        there, here = (run_case(suite, target, case, RunSettings(programs=2))
                       for target in (command, f"reference.{suite}"))
        assert (there.verdict, there.exercised) == (PASSED, here.exercised), there.message


@pytest.mark.parametrize("twin", TWINS.values(), ids=TWINS)
def test_a_twin_is_killed_by_its_rule_or_argued_equivalent(twin: CoreTwin) -> None:
    """Within a few cases; its fixture fails again, and not on the reference. One that is
    argued equivalent is the reference, unchanged."""
    if twin.equivalent:
        assert not [each for each in vars(twin.core).values() if callable(each)]
        return
    trophy = trophy_of(twin.name)
    assert trophy.verdict == KILLED
    assert trophy.fixture is not None
    assert trophy.fixture.length <= 8
    assert replay(trophy.fixture, resolve_target(f"zoo:{twin.name}")).same
    assert replay(trophy.fixture, resolve_target(f"reference.{twin.suite}")).breach is None


def test_every_rule_has_a_twin_that_breaks_it() -> None:
    """A rule without one has not been shown to detect anything."""
    rules = {rule.id for suite in SUITES for rule in suite_named(suite).rules()}
    assert {twin.rule for twin in TWINS.values() if not twin.equivalent} == rules


def test_half_of_the_fixtures_have_at_most_four_steps() -> None:
    """Those of every third twin; the others have no more than eight."""
    some = [twin.name for twin in ACKERS.values() if not twin.equivalent][::3]
    lengths = [trophy.fixture.length for trophy in map(trophy_of, some) if trophy.fixture]
    assert median(lengths) <= 4


@pytest.mark.parametrize("target", ["zoo:acker-ack-renews", "zoo:spout-calls-again"])
def test_two_runs_give_identical_rows(target: str) -> None:
    """A row is a pure function of suite, target, case and settings."""
    suite = "storm.acker" if "acker" in target else "storm.spout"

    def run() -> list[CaseRow]:
        return [run_case(suite, target, case, RunSettings(programs=4))
                for case in plan(suite, cases=8, seed=5)]

    assert run() == run()
