"""The suites of the acker and the spout: no false alarm, and no twin that gets away."""

from __future__ import annotations

import random
from statistics import median

import pytest

from checkvalve.conformance.results import PASSED, CaseRow
from checkvalve.conformance.suites import RunSettings, plan, run_case, suite_named
from checkvalve.conformance.suites.conduct import Order, conduct
from checkvalve.conformance.suites.replay import replay
from checkvalve.conformance.targets import resolve_target
from checkvalve.conformance.zoo.catalogue import EQUIVALENT, KILLED, Specimen, hunt
from checkvalve.conformance.zoo.storm_acker import ZOO as ACKERS
from checkvalve.conformance.zoo.storm_spout import ZOO as SPOUTS
from checkvalve.spec.engines.interpreter import Step
from checkvalve.spec.engines.monitor import Monitor
from checkvalve.spec.notation import Machine, bind
from checkvalve.spec.storm.acker import Acker, Answer
from checkvalve.spec.storm.observed_acker import ObservedAcker, Told

TWINS = {**ACKERS, **SPOUTS}
SUITES = ("storm.acker", "storm.spout")


@pytest.mark.parametrize("suite", SUITES)
def test_the_reference_passes_and_every_rule_is_exercised(suite: str) -> None:
    """In process; each rule could have been broken in some step."""
    cases = 6 * len(suite_named(suite).rules())
    summary, _ = conduct(f"reference.{suite}", Order(suite, cases=cases))
    assert {result.verdict for result in summary.results} == {PASSED}


@pytest.mark.parametrize("suite", SUITES)
def test_the_reference_passes_behind_the_protocol(suite: str) -> None:
    """As a program that speaks JSON lines, with the same rows."""
    command = f"command:python -m checkvalve.conformance.adapters.host reference.{suite}"
    cases = plan(suite, cases=len(suite_named(suite).rules()), seed=1)
    for case in cases:
        there, here = (run_case(suite, target, case, RunSettings(programs=2))
                       for target in (command, f"reference.{suite}"))
        assert (there.verdict, there.exercised) == (PASSED, here.exercised), there.message


@pytest.mark.parametrize("twin", TWINS.values(), ids=TWINS)
def test_a_twin_is_killed_by_its_rule_or_argued_equivalent(twin: Specimen) -> None:
    """Within a few cases; its fixture fails again, and not on the reference."""
    trophy = hunt(twin)
    assert trophy.verdict == (EQUIVALENT if twin.equivalent else KILLED)
    if trophy.fixture is not None:
        assert trophy.fixture.length <= 8
        assert replay(trophy.fixture, resolve_target(f"zoo:{twin.name}")).same
        assert replay(trophy.fixture, resolve_target(f"reference.{twin.suite}")).breach is None


def test_every_rule_has_a_twin_that_breaks_it() -> None:
    """A rule without one has not been shown to detect anything."""
    rules = {rule.id for suite in SUITES for rule in suite_named(suite).rules()}
    assert {twin.rule for twin in TWINS.values() if not twin.equivalent} == rules


def test_half_of_the_fixtures_have_at_most_four_steps() -> None:
    """Those of the first few twins: the others are bounded above."""
    some = [twin for twin in ACKERS.values() if not twin.equivalent][::3]
    lengths = [trophy.fixture.length for trophy in map(hunt, some) if trophy.fixture]
    assert median(lengths) <= 4


@pytest.mark.parametrize("target", ["zoo:acker-ack-renews", "zoo:spout-calls-again"])
def test_two_runs_give_identical_rows(target: str) -> None:
    """A row is a pure function of suite, target, case and settings."""
    suite = "storm.acker" if "acker" in target else "storm.spout"

    def run() -> list[CaseRow]:
        return [run_case(suite, target, case, RunSettings(programs=4))
                for case in plan(suite, cases=8, seed=5)]

    assert run() == run()


# ---- the observer and the chapter -----------------------------------------------------------


def observed(seed: int, length: int = 40) -> list[Step]:
    """What an observer of the acker sees of a random run of the chapter's machine."""
    chance = random.Random(seed)
    interpreter = bind(Acker, E=2, W=2).interpreter
    state, seen = interpreter.initial(), []
    for _ in range(length):
        choices = [each for each in interpreter.successors(state) if each[0][0] != "expire"]
        if not choices:
            break
        # First the action, then its arguments: most instances belong to a few actions.
        name = chance.choice(sorted({step[0] for step, _ in choices}))
        step, after = chance.choice([each for each in choices if each[0][0] == name])
        if name.startswith("receive"):
            seen.append(as_seen(step, interpreter.look(state), interpreter.look(after)))
        state = after
    return seen


def as_seen(step: Step, before: Machine, after: Machine) -> Step:
    """A step of the chapter's acker as the observer's."""
    assert isinstance(before, Acker)
    assert isinstance(after, Acker)
    name, arguments = step
    new = [answer for answer in after.answers if answer not in before.answers]
    told = ("tells", {Answer.ACK: Told.ACK, Answer.FAIL: Told.FAIL, Answer.RESET: Told.RESET}[
        Answer(new[0])] if new else Told.NOTHING)
    root = ("root", 0)
    if name == "receive_init":
        edges = set(before.init)
    elif name == "receive_ack":
        edge = dict(arguments)["edge"]
        edges = {edge} | {child for child in range(2) if before.parent[child] == edge}
    else:
        plain = {"receive_fail": "fail", "receive_reset": "reset_timeout"}[name]
        return plain, (root, told)
    content = (("a", int(0 in edges)), ("b", int(1 in edges)))
    return name.removeprefix("receive_"), (root, *content, told)


def explained(steps: list[Step]) -> object:
    """What the observer's machine refuses in these steps."""
    monitor = Monitor(bind(ObservedAcker, N=3, R=1))
    return next(filter(None, (monitor.observe([step]) for step in steps)), None)


@pytest.mark.parametrize("seed", range(30))
def test_what_the_chapter_s_acker_does_the_observer_explains(seed: int) -> None:
    """Two chapters, one acker: the answers of the one are those that the other demands."""
    assert explained(observed(seed)) is None


def test_the_walks_are_about_something() -> None:
    """Acks, fails and silences are among them."""
    told = {dict(step[1])["tells"] for seed in range(30) for step in observed(seed)}
    assert told >= {Told.NOTHING, Told.ACK, Told.FAIL}
