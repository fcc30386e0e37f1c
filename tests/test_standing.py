"""The machines that watch a run, looked at together: they say what each says by itself."""

from __future__ import annotations

import gc
from dataclasses import replace

import pytest

from checkvalve.conformance.campaigns.case import RunSettings, case_at, plan, run_case
from checkvalve.conformance.suites import standing
from checkvalve.conformance.suites.run import Run, capabilities, run_program
from checkvalve.conformance.suites.suite import Program
from checkvalve.conformance.systems.catalogue import SYSTEMS, suite_named
from checkvalve.conformance.systems.targets import reference_of, resolve_target
from checkvalve.spec.notation.rules import Rule

TARGETS = [("queue", "reference"), ("queue", "zoo:last-in-first-out"), ("queue", "zoo:silent-drop"),
           ("storm.input", "reference.storm.input"), ("timer", "zoo:timer-tick-early")]


def runs(suite_name: str, target_name: str, programs: int = 6) -> list[Run]:
    """Runs of a suite's programs, each rule in focus in turn."""
    suite, target = suite_named(suite_name), resolve_target(target_name)
    can = capabilities(suite, target, *suite.capacities)
    found: list[Run] = []
    for seed, rule in enumerate(suite.applicable(can)[:4]):
        def attempt(program: Program, rule: Rule = rule) -> None:
            found.append(run_program(suite, target, program, 2, focus=rule, count=True))
        suite.explore(can, rule, seed, programs, attempt)
    return found


@pytest.mark.parametrize(("suite", "target"), TARGETS)
def test_machines_together_say_what_each_says_by_itself(
    suite: str, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same breaches and alternatives, and the same steps that could have been breaches."""
    together = runs(suite, target)
    assert any(run.breaches for run in together) == target.startswith("zoo:")
    with monkeypatch.context() as patch:
        patch.setattr(standing.Watchers, "initial", lambda self: None)
        assert runs(suite, target) == together


def test_no_verdict_depends_on_what_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where all is dropped before each run."""
    before = runs("queue", "zoo:last-in-first-out")
    monkeypatch.setattr(standing, "KEPT", -1)
    assert runs("queue", "zoo:last-in-first-out") == before


def test_a_row_without_counts_is_the_same_otherwise() -> None:
    """A hunt asks for breaches alone, and finds those of a user's run."""
    for case in plan("queue", cases=6, seed=3)[::2]:
        counted, plain = (run_case("queue", "zoo:youngest-put-first", case, RunSettings(
            programs=6, counting=counting)) for counting in (True, False))
        assert counted.exercised != plain.exercised
        assert replace(counted, exercised=plain.exercised) == plain


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_rule_that_is_counted_once_is_counted_wherever_one_that_is_always_counted_is(
    name: str
) -> None:
    """The guards of an action name all rules that a step of it can break."""
    suite, target = suite_named(name), resolve_target(reference_of(name))
    can = capabilities(suite, target, *suite.capacities)
    rules = suite.applicable(can)
    counted = 0

    def attempt(program: Program) -> None:
        nonlocal counted
        always, once = (
            run_program(suite, target, program, suite.capacities[-1], count=True, once=ids)
            for ids in (None, [rule.id for rule in rules]))
        assert once.exercised.keys() & {rule.id for rule in rules} == (
            always.exercised.keys() & {rule.id for rule in rules})
        counted += len(once.exercised)

    for seed, rule in enumerate(rules[::4]):
        suite.explore(can, rule, seed, 2, attempt)
    assert counted > 0


def test_a_breach_in_a_run_that_counts_rules_once_lists_no_part_of_what_was_allowed() -> None:
    """Some of the answers that were allowed would be taken for all of them."""
    suite, target = suite_named("queue"), resolve_target("zoo:last-in-first-out")
    found = 0

    def attempt(program: Program) -> None:
        nonlocal found
        whole, once = (run_program(suite, target, program, 2, count=True, once=ids)
                       for ids in (None, ["QUEUE-9"]))
        assert [breach.rule for breach in once.breaches] == [each.rule for each in whole.breaches]
        assert all(not breach.alternatives for breach in once.breaches)
        found += any(breach.alternatives for breach in whole.breaches)

    suite.explore(capabilities(suite, target, 2), suite.rules()[2], 1, 12, attempt)
    assert found


@pytest.mark.parametrize("target_name", ["zoo:doubled-on-cancel", "zoo:handed-back"])
def test_a_machine_that_has_refused_a_run_allows_and_forbids_nothing_after_it(
        target_name: str) -> None:
    """The allowed answers at a later breach are the same as where it did not watch."""
    suite, target = suite_named("queue"), resolve_target(target_name)
    can = capabilities(suite, target, *suite.capacities)
    compared = 0

    def attempt(program: Program) -> None:
        nonlocal compared
        whole = run_program(suite, target, program, 2).breaches
        if not any(breach.is_added for breach in whole):
            return
        for breach in whole:
            if not breach.is_added:
                alone = run_program(suite, target, program, 2, focus=breach.rule)
                same = alone.breach_of(breach.rule)
                assert same is not None and same.alternatives == breach.alternatives
                compared += 1

    suite.explore(can, suite.rule("QUEUE-12"), 1, 25, attempt)
    assert compared


def test_a_long_run_lets_go_of_the_combinations_that_it_comes_to() -> None:
    """They would keep alive all that their machines had remembered and dropped."""
    standing.watchers_of.cache_clear()
    gc.collect()    # those of other tests, which no run of this one made
    row = run_case("queue", "reference", case_at("queue", 9, 0), RunSettings())
    assert row.longest > 1_000
    kept = [len(each._known) for each in gc.get_objects() if isinstance(each, standing.Watchers)]
    assert kept and max(kept) <= 2 * standing.KEPT_OF_LONG_RUNS + 1
