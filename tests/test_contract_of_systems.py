"""The contract of every system, asked of each record: no false alarm, and no twin that gets away.

A system that is added to ``systems/catalogue.py`` is tested here without a line of its own.
"""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from pathlib import Path
from statistics import median

import pytest

from benchmarks.pages.records import stale_pages
from checkvalve.conformance.campaigns.case import RunSettings, plan, run_case
from checkvalve.conformance.campaigns.places import is_long
from checkvalve.conformance.campaigns.replay import replay
from checkvalve.conformance.engines.conduct import Engine, Order, conduct
from checkvalve.conformance.computer.environment import usable_cores
from checkvalve.conformance.suites.results import NOT_SHOWN, PASSED, VIOLATED, CaseRow
from checkvalve.conformance.suites.system import QUICK_CASES, System
from checkvalve.conformance.suites.twin import Twin
from checkvalve.conformance.systems.catalogue import SYSTEMS, system_of, zoo
from checkvalve.conformance.systems.targets import resolve_target
from checkvalve.conformance.zoo.hunt import KILLED

from trophies import trophy_of

ROOT = Path(__file__).resolve().parent.parent
STEPS_MAX = 12
STEPS_OF_LONG = 340
"""Length of a fixture that shows from the 300th request on, say."""

each_system = pytest.mark.parametrize("system", SYSTEMS.values(), ids=SYSTEMS)
each_reference = pytest.mark.parametrize(
    ("suite", "reference"),
    [(system.name, each.name) for system in SYSTEMS.values() for each in system.references])


def rows(suite: str, target: str, seed: int, programs: int = 2) -> list[CaseRow]:
    """Some cases of a suite, spread over its rules."""
    cases = plan(suite, cases=len(system_of(suite).suite.rules()), seed=seed)
    return [run_case(suite, target, case, RunSettings(programs=programs))
            for case in cases[::max(1, len(cases) // 3)]]


@each_system
def test_a_record_holds_together(system: System) -> None:
    """Its suite and its port have its name, its folder as well, and the reference comes first."""
    assert system.suite.name == system.suite.port == system.port.name == system.name
    assert system.folder.rpartition(".")[2] == system.name.replace(".", "_")
    assert system.reference in system.references
    assert all(twin.suite == system.name for twin in system.twins.values())
    assert all(each.is_program and system.program(each) or system.adapter(each)
               for each in system.references)


def test_no_name_is_given_twice() -> None:
    """Neither to two targets nor to two twins: ``zoo:NAME`` is one target."""
    targets = [each.name for system in SYSTEMS.values() for each in system.shipped]
    twins = [name for system in SYSTEMS.values() for name in system.twins]
    assert len(targets) == len(set(targets))
    assert len(twins) == len(set(twins))


def test_every_table_in_the_readme_and_the_docs_is_that_of_the_records() -> None:
    """``make pages`` writes them."""
    assert stale_pages(ROOT) == {}


@each_reference
def test_a_reference_passes_and_every_rule_that_applies_is_exercised(
    suite: str, reference: str
) -> None:
    """Each rule is shown, but for those of which the reference says itself that it cannot.

    Where few programs do not do, as many as a user's run has must.
    """
    for programs in (5, RunSettings().programs):
        summary, _ = conduct(reference, Order(suite, settings=RunSettings(programs=programs),
                                              quick=True))
        assert VIOLATED not in {each.verdict for each in summary.results}
        bad = {each.rule.id: each.message for each in summary.results if each.verdict != PASSED
               and not (each.verdict == NOT_SHOWN and each.declared)}
        if not bad:
            return
    assert bad == {}


@pytest.mark.parametrize("suite", [name for name, system in SYSTEMS.items()
                                   if system.cases > QUICK_CASES])
def test_the_reference_passes_a_default_run_that_is_longer_than_a_quick_one(suite: str) -> None:
    """No rule is found broken, however rare its occasion: a target that behaves is accepted."""
    engine = Engine(jobs=usable_cores())
    summary, rows = conduct(system_of(suite).reference.name, Order(suite), engine=engine)
    assert summary.those(VIOLATED) == summary.those("unknown") == ()
    assert len(rows) >= system_of(suite).cases


@each_reference
def test_a_reference_does_the_same_behind_the_protocol(suite: str, reference: str) -> None:
    """As a program that speaks JSON lines: the same rows."""
    program = f"command:{shlex.quote(sys.executable)} -m checkvalve.conformance.serve {reference}"
    there, here = rows(suite, program, 1), rows(suite, reference, 1)
    assert {row.verdict for row in here} == {PASSED}
    assert [replace(row, target=reference) for row in there] == here


@pytest.mark.parametrize("twin", [
    pytest.param(twin, id=name, marks=pytest.mark.xdist_group(f"zoo of {twin.suite}"))
    for name, twin in zoo().items()])
def test_a_twin_is_killed_by_its_rule_or_argued_equivalent(twin: Twin) -> None:
    """Its fixture is short unless a long program found it, fails again in the same step, and not on
    what has no bug."""
    if twin.equivalent:
        assert {row.verdict for row in rows(twin.suite, f"zoo:{twin.name}", 0, 10)} == {PASSED}
        return
    trophy = trophy_of(twin.name)
    assert trophy.verdict == KILLED, trophy.others
    assert trophy.fixture is not None
    assert trophy.fixture.length <= (
        STEPS_OF_LONG if is_long(trophy.fixture.document["found_on"]["case"]) else STEPS_MAX)
    assert replay(trophy.fixture, resolve_target(f"zoo:{twin.name}")).same
    for original in twin.originals:
        assert replay(trophy.fixture, resolve_target(original)).breach is None


@pytest.mark.parametrize("system", [
    pytest.param(system, id=name, marks=pytest.mark.xdist_group(f"zoo of {name}"))
    for name, system in SYSTEMS.items()])
def test_half_of_the_fixtures_have_at_most_six_steps(system: System) -> None:
    """None has more than twelve, but of twins with a bug that shows late. In the process that has
    hunted the twins, nothing is hunted."""
    twins = [twin.name for twin in system.twins.values() if not (twin.equivalent or twin.after)]
    assert median(found.fixture.length for found in map(trophy_of, twins) if found.fixture) <= 6


@each_system
def test_every_rule_has_a_twin_that_breaks_it(system: System) -> None:
    """A rule without one has not been shown to detect anything."""
    assert {rule.id for rule in system.suite.rules()} == {
        twin.rule for twin in system.twins.values() if not twin.equivalent}


@each_system
def test_two_runs_give_identical_rows(system: System) -> None:
    """A row is a pure function of suite, target, case and settings, its fixture included."""
    twin = next(iter(system.twins.values()))
    for target in (system.reference.name, f"zoo:{twin.name}"):
        assert rows(system.name, target, 5) == rows(system.name, target, 5)
