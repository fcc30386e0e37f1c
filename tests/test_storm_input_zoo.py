"""The suites of a task's input and of backpressure status catch every twin, by its own rule."""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from statistics import median

import pytest

from checkvalve.conformance.campaigns.case import RunSettings, plan, run_case
from checkvalve.conformance.campaigns.replay import replay
from checkvalve.conformance.cli import root
from checkvalve.conformance.cli.outcome import run
from checkvalve.conformance.engines.conduct import Order, conduct
from checkvalve.conformance.ports.tables import operations_table, policies_table, settings_table
from checkvalve.conformance.results import PASSED
from checkvalve.conformance.systems.catalogue import PORTS
from checkvalve.conformance.systems.catalogue import suite_named
from checkvalve.conformance.targets import resolve_target
from checkvalve.conformance.zoo.hunt import Trophy, hunt, twins, zoos

SUITES = ("storm.input", "storm.status")
NAMES = [twin.name for twin in twins(SUITES)]


@cache
def trophy(name: str) -> Trophy:
    """The hunt for a twin, until it is found once."""
    return hunt(zoos()[name], enough=1)


@pytest.mark.parametrize("name", NAMES)
def test_a_twin_is_killed_by_the_rule_that_it_breaks(name: str) -> None:
    """The bug is found, under the rule that the zoo names for it."""
    assert trophy(name).as_expected, trophy(name).others


@pytest.mark.parametrize("name", NAMES)
def test_a_fixture_breaks_the_same_rule_again_and_not_on_the_reference(name: str) -> None:
    """Replayed, it fails where it was found, at the same step, and nowhere on the reference."""
    fixture = trophy(name).fixture
    assert fixture is not None
    assert replay(fixture, resolve_target(f"zoo:{name}")).same
    assert replay(fixture, resolve_target(f"reference.{fixture.suite}")).breach is None


def test_shrunk_failures_are_short() -> None:
    """Half of the fixtures have at most four steps."""
    lengths = [found.fixture.length for found in map(trophy, NAMES) if found.fixture is not None]
    assert median(lengths) <= 4


@pytest.mark.parametrize("suite", SUITES)
def test_every_rule_of_the_suite_kills_a_twin(suite: str) -> None:
    """A rule without a twin has not been shown to detect anything."""
    killing = {twin.rule for twin in twins([suite])}
    assert {rule.id for rule in suite_named(suite).rules()} == killing


@pytest.mark.parametrize("suite", SUITES)
@pytest.mark.parametrize("seed", range(3))
def test_the_reference_passes(suite: str, seed: int) -> None:
    """Each rule has its turn in focus with every capacity, and nothing is found."""
    for case in plan(suite, cases=48, seed=seed):
        row = run_case(suite, f"reference.{suite}", case, RunSettings(programs=4))
        assert (row.verdict, row.message) == (PASSED, "")


@pytest.mark.parametrize("suite", SUITES)
def test_the_reference_passes_behind_the_protocol(suite: str) -> None:
    """As a program, over JSON lines, it answers as it does in process."""
    host = f"command:{sys.executable} -m checkvalve.conformance.adapters.host reference.{suite}"
    for case in plan(suite, cases=6, seed=4):
        here = run_case(suite, f"reference.{suite}", case, RunSettings(programs=3))
        there = run_case(suite, host, case, RunSettings(programs=3))
        assert (there.verdict, there.steps, there.exercised) == (
            here.verdict, here.steps, here.exercised)


@pytest.mark.parametrize("suite", SUITES)
def test_two_runs_give_identical_rows(suite: str) -> None:
    """A row is a pure function of suite, target, case and settings."""
    twin = next(twins([suite])).name
    for target in (f"reference.{suite}", f"zoo:{twin}"):
        rows = [[run_case(suite, target, case, RunSettings(programs=4))
                 for case in plan(suite, cases=8, seed=9)] for _ in range(2)]
        assert rows[0] == rows[1]


@pytest.mark.parametrize("suite", SUITES)
def test_a_long_enough_run_exercises_every_rule(suite: str) -> None:
    """Some step of these cases could have broken each rule."""
    summary, _ = conduct(
        f"reference.{suite}", Order(suite, settings=RunSettings(programs=12)))
    assert {result.rule.id: result.verdict for result in summary.results} == {
        rule.id: PASSED for rule in suite_named(suite).rules()}


@pytest.mark.parametrize("port", [*SUITES, "storm.acker", "storm.spout", "storm.partition"])
def test_the_page_has_the_tables_of_the_ports(port: str) -> None:
    """docs/storm-ports.md is written from the tables of the ports."""
    page = (Path(__file__).resolve().parent.parent / "docs" / "storm-ports.md").read_text("utf-8")
    for table in (operations_table, policies_table, settings_table):
        assert table(PORTS[port]) in page


def test_no_two_twins_have_the_same_name() -> None:
    """``zoo:NAME`` is one target."""
    tables = [import_module(f"checkvalve.conformance.systems.{name}.twins").ZOO for name in (
        "queue", "storm_input", "storm_status")]
    names = [name for table in tables for name in table]
    assert len(names) == len(set(names))
    assert set(names) <= set(zoos())
    assert all(zoos()[name] is table[name] for table in tables for name in table)


def test_a_suite_without_a_zoo_is_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    """One message that names those that have one."""
    assert run(root, ["zoo", "unicorns"]) == 64
    assert "storm.input" in capsys.readouterr().err
