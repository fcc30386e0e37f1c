"""The suite ``storm.topology``: the cluster behind its port, its programs, and its fixtures."""

from __future__ import annotations

import json
import shlex
import sys
from random import Random

import jsonschema
import pytest

from checkvalve.conformance.adapters.port_adapter import PortAdapter
from checkvalve.conformance.adapters.session import InProcessTarget
from checkvalve.conformance.campaigns.case import RunSettings, plan, run_case
from checkvalve.conformance.campaigns.replay import replay
from checkvalve.conformance.ports.base import Target
from checkvalve.conformance.suites.results import ERROR
from checkvalve.conformance.systems.catalogue import port_named, zoo
from checkvalve.conformance.suites.fixture import Fixture
from checkvalve.conformance.suites.run import run_program
from checkvalve.conformance.suites.suite import Act, Program
from checkvalve.conformance.systems.storm_topology.adapter import ReferenceTopology
from checkvalve.conformance.systems.storm_topology.port import PORT as STORM_TOPOLOGY
from checkvalve.conformance.systems.storm_topology.port import HISTORIES, WORDS
from checkvalve.conformance.systems.storm_topology.suite import SUITE
from checkvalve.conformance.systems.targets import resolve_target
from checkvalve.conformance.zoo.hunt import hunt
from checkvalve.spec.notation.errors import InputError, TargetError

REFERENCE = "reference.storm.topology"
CAN = tuple(STORM_TOPOLOGY.operations)
SIZES = {"workers": 2, "messages": 2, "overflow_limit": 0, "transfer_capacity": 4,
         "max_pending": 0, "per_round": 1, "reminder": 4, "repeat": 4, "seed": 1}


def deploy(topology: str = "word-count", **other: int) -> Act:
    """Deploy a small topology."""
    return Act("deploy", about=(("topology", topology), *(SIZES | other).items()))


def programs(rule: str, seed: int, can: tuple[str, ...] = CAN) -> list[Program]:
    """The programs of a seed."""
    focus = SUITE.rule(rule)
    assert focus is not None
    found: list[Program] = []
    SUITE.explore(can, focus, seed, 20, found.append)
    return found


def test_programs_are_a_function_of_the_seed_and_of_what_the_target_can_do() -> None:
    """They deploy, plan faults, and run; a fault that a target cannot make is not planned."""
    assert programs("STORM-C1", 3) == programs("STORM-C1", 3) != programs("STORM-C1", 4)
    for program in programs("STORM-C1", 3, ("deploy", "run", "kill")):
        assert program[0].do == "deploy" and program[-1].do == "run"
        assert {act.do for act in program[1:-1]} <= {"kill"}


def test_a_cycle_of_bolts_is_offered_and_refused() -> None:
    """A cluster that refuses it has nothing to run, and breaks no rule."""
    names = {dict(program[0].about)["topology"]
             for seed in range(20) for program in programs("STORM-C13", seed)}
    assert names == {"word-count", "diamond", "ping-pong"}
    run = run_program(
        SUITE, resolve_target(REFERENCE), (deploy("ping-pong"), Act("run")), 1, count=True)
    assert [each.reply.get("definite") for each in run.exchanges] == [True]
    assert not run.breaches and not run.exercised


def test_faults_about_workers_that_are_not_there_are_left_out() -> None:
    """So that a shrunk cluster still makes sense; nothing is planned before it is deployed."""
    kill = Act("kill", about=(("at", 1), ("worker", 2), ("lasts", 3)))
    stray = Act("stray", about=(("at", 1), ("worker", 1), ("to", 1)))
    run = run_program(
        SUITE, resolve_target(REFERENCE), (kill, deploy(), deploy(), kill, stray, Act("run")), 1)
    assert [act.do for act in run.acts] == ["deploy", "run"]


@pytest.mark.parametrize("seed", range(3))
def test_what_is_easier_is_less_of_something(seed: int) -> None:
    """Every candidate of the shrinker differs in one number, which is smaller."""
    for act in programs("STORM-C1", seed)[0]:
        for easier in SUITE.simpler(act):
            changed = [(old, new) for old, new in zip(act.about, easier.about, strict=True)
                       if old != new]
            ((_, before), (_, after)), = changed
            assert int(after) < int(before)


# ---- fixtures -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fixture() -> Fixture:
    """A failure that needs a fault: a worker dies of a tuple for a task that is gone."""
    fixture = hunt(zoo()["cluster-STORM-3751"], enough=1).fixture
    assert fixture is not None and fixture.rule_id == "STORM-C14"
    return fixture


def test_a_failing_run_is_saved_as_a_fixture_that_fails_again(fixture: Fixture) -> None:
    """It deploys, plans one fault and runs; the story says which event broke the rule."""
    assert [request["do"] for request in fixture.requests] == ["deploy", "stray", "run"]
    assert "worker" in fixture.headline() and "dies without being killed" in fixture.headline()
    assert replay(fixture, resolve_target("zoo:cluster-STORM-3751")).same
    assert replay(fixture, resolve_target(REFERENCE)).breach is None
    host = f"{shlex.quote(sys.executable)} -m checkvalve.conformance.serve"
    assert replay(fixture, resolve_target(f"command:{host} {REFERENCE}")).breach is None


def test_a_fixture_is_plain_json_that_fits_the_schema(fixture: Fixture) -> None:
    """Every event of its history is a text that anybody can read."""
    from importlib import resources

    schema = resources.files("checkvalve.conformance.suites") / "fixture.schema.json"
    document = json.loads(fixture.to_json())
    jsonschema.validate(document, json.loads(schema.read_text()))
    assert all(HISTORIES.event(row) for row in document["steps"][-1]["reply"]["ok"])


@pytest.mark.parametrize(("change", "message"), [
    ({"workers": 9}, "more than 8"), ({"topology": "ring"}, "no topology ring"),
    ({"seed": "x"}, "seed"), ({"extra": 1}, "has the fields"),
])
def test_a_fixture_that_the_suite_could_not_have_written_is_refused(
    fixture: Fixture, change: dict[str, object], message: str
) -> None:
    """Reading one trusts nothing in it."""
    document = json.loads(fixture.to_json())
    document["steps"][0]["request"] |= change
    with pytest.raises(InputError, match=message):
        replay(Fixture(document), resolve_target(REFERENCE))


# ---- histories of others --------------------------------------------------------------------


def telling(*rows: str) -> Target:
    """A target that gives the same history for every run."""
    class Telling(PortAdapter):
        port = STORM_TOPOLOGY
        policy = "repeat"

        def start(self, settings: object) -> None:
            """Nothing to begin."""

        def deploy(self, **_sizes: object) -> bool:
            return True

        def run(self) -> list[str]:
            return list(rows)

    return InProcessTarget("telling", Telling, port_named)


@pytest.mark.parametrize("rows", [
    ["3 sneezed 1"], ["x rested"], ["3 emitted 0 0 1"], ["3 emitted 0 0 1 -1"], ["3 rested 1"],
    [], ["3 began 0 0"], ["3 rested", "4 rested"], ["5 began 0 0", "4 rested"],
    ["1 root 0 a", "1 reached 0 a 7", "2 rested"],
])
def test_a_history_that_makes_no_sense_is_an_error_of_the_target(rows: list[str]) -> None:
    """Neither a verdict on a rule, nor our fault."""
    with pytest.raises(TargetError):
        run_program(SUITE, telling(*rows), (deploy(), Act("run")), 1)


def test_a_history_of_nothing_breaks_the_promise_of_delivery() -> None:
    """Rest alone is not enough: every message has to be acked."""
    run = run_program(SUITE, telling("0 rested"), (deploy(), Act("run")), 1)
    assert {breach.rule.id for breach in run.breaches} == {"STORM-C12"}


def test_a_definite_error_of_the_run_is_no_history() -> None:
    """A topology that did not run is not judged."""
    assert not run_program(SUITE, resolve_target(REFERENCE), (deploy(),), 1).breaches


def test_an_event_survives_its_way_over_the_port() -> None:
    """Each word with its fields; the last one may have spaces in it."""
    for what, word in WORDS.items():
        about = ["a b" if name in ("why", "cycle") else "7" for name in word.fields]
        event = HISTORIES.event(" ".join(["12", what, *about]))
        assert event is not None and event[:2] == (12, what)
        assert [str(value) for value in event[2]] == about


@pytest.mark.parametrize(("request_", "error"), [
    ({"do": "kill", "at": 1, "worker": 2, "lasts": 1}, "cannot happen here"),
    ({"do": "cut", "at": 1, "worker": 0, "to": 0, "lasts": 1}, "cannot happen here"),
    ({"do": "slow", "at": 1, "task": 99, "lasts": 1}, "cannot happen here"),
    ({"do": "deploy", "topology": "diamond", **SIZES}, "deployed-already"),
])
def test_what_cannot_be_planned_is_refused_and_changes_nothing(
    request_: dict[str, object], error: str
) -> None:
    """A definite error; the run that follows is the one without it."""
    def history(*between: dict[str, object]) -> list[str]:
        adapter = ReferenceTopology()
        adapter.request({"do": "hello", "port": "storm.topology", "settings": {"capacity": 1}})
        adapter.request({"do": "deploy", **dict(deploy().about)})
        for message in between:
            reply = adapter.request(message)
            assert error in reply["error"] and reply["definite"]
        rows: list[str] = adapter.request({"do": "run"})["ok"]
        return rows
    assert history(request_) == history()


def test_a_target_that_tells_nonsense_gives_rows_of_errors() -> None:
    """A run of the suite continues to the summary; nothing is raised."""
    (case,) = plan("storm.topology", cases=1, seed=0)
    target = f"python:{__name__}:Nonsense"
    row = run_case("storm.topology", target, case, RunSettings())
    assert row.verdict == ERROR and "after: " in row.message


class Nonsense(ReferenceTopology):
    """It never says how it ended."""

    def run(self) -> list[str]:
        """A history without its end."""
        return super().run()[:-1]


def test_the_draws_meet_every_fault() -> None:
    """A fault that is never planned is not tested."""
    focus = SUITE.rules()[0]
    drawn = [SUITE.draw(Random(seed), CAN, focus, seed) for seed in range(60)]
    planned = {act.do for program in drawn for act in program}
    assert planned == set(CAN) - {"hello", "settle"}
