"""The suite of a replayable source: no false alarm, and no twin that gets away."""

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
from checkvalve.conformance.systems.storm_partition.twins import TWINS as ZOO
from checkvalve.conformance.targets import resolve_target
from checkvalve.conformance.zoo.hunt import KILLED, Trophy, hunt

NAME = "storm.partition"
RULES = suite_named(NAME).rules()


@cache
def trophy_of(name: str) -> Trophy:
    """What the hunt for a twin came to."""
    return hunt(ZOO[name], enough=1)


@pytest.mark.parametrize("target", [f"reference.{NAME}", "reference.storm.client"])
def test_the_reference_passes_and_every_rule_is_exercised(target: str) -> None:
    """In process; each rule could have been broken in some step. There are two of them."""
    order = Order(NAME, settings=RunSettings(programs=8))
    summary, _ = conduct(target, order)
    assert {result.verdict for result in summary.results} == {PASSED}


def test_the_reference_passes_behind_the_protocol() -> None:
    """As a program that speaks JSON lines, with the same rows."""
    host = f"{shlex.quote(sys.executable)} -m checkvalve.conformance.adapters.host"
    command = f"command:{host} reference.{NAME}"
    for case in plan(NAME, cases=len(RULES), seed=1):
        there, here = (run_case(NAME, target, case, RunSettings(programs=2))
                       for target in (command, f"reference.{NAME}"))
        assert (there.verdict, there.exercised) == (PASSED, here.exercised), there.message


@pytest.mark.parametrize("twin", ZOO.values(), ids=ZOO)
def test_a_twin_is_killed_by_its_rule(twin: CoreTwin) -> None:
    """Within a few cases; its fixture fails again, and not on the reference."""
    trophy = trophy_of(twin.name)
    assert trophy.verdict == KILLED
    assert trophy.fixture is not None
    assert trophy.fixture.length <= 9
    assert replay(trophy.fixture, resolve_target(f"zoo:{twin.name}")).same
    for target in (f"reference.{NAME}", "reference.storm.client"):
        assert replay(trophy.fixture, resolve_target(target)).breach is None


def test_every_rule_has_a_twin_that_breaks_it() -> None:
    """A rule without one has not been shown to detect anything."""
    assert {twin.rule for twin in ZOO.values()} == {rule.id for rule in RULES}


def test_half_of_the_fixtures_have_at_most_five_steps() -> None:
    """Those of every fourth twin; the others have no more than eight."""
    trophies = map(trophy_of, list(ZOO)[1::4])
    assert median(trophy.fixture.length for trophy in trophies if trophy.fixture) <= 5


def test_two_runs_give_identical_rows() -> None:
    """A row is a pure function of suite, target, case and settings."""
    def run() -> list[CaseRow]:
        return [run_case(NAME, "zoo:storm-643-gone-sought-for-ever", case, RunSettings(programs=4))
                for case in plan(NAME, cases=len(RULES), seed=5)]

    assert run() == run()
