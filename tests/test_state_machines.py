"""Hypothesis's state machines made from suites: what they find, and how they report it."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from checkvalve.conformance.state_machines import RuleBroken, state_machine
from checkvalve.conformance.suites.suite import Suite
from checkvalve.conformance.systems.catalogue import SYSTEMS
from checkvalve.conformance.systems.targets import reference_of
from checkvalve.spec.notation import InputError

EXAMPLE = Path(__file__).parent.parent / "examples" / "tutorial" / "test_myqueue.py"
TALKING = [name for name, system in SYSTEMS.items()
           if isinstance(system.suite, Suite) and system.suite.one_by_one]
FEW = settings(
    max_examples=15, stateful_step_count=15, deadline=None, database=None, derandomize=True,
    phases=[Phase.generate], suppress_health_check=list(HealthCheck))
SHRUNK = settings(FEW, max_examples=200, phases=[Phase.generate, Phase.shrink])


@pytest.mark.parametrize("suite", TALKING)
def test_no_reference_breaks_a_rule_in_a_state_machine(suite: str) -> None:
    """Whatever Hypothesis asks of a reference, the suite's machines accept its replies."""
    run_state_machine_as_test(state_machine(suite, reference_of(suite)), settings=FEW)


def test_a_broken_rule_is_shrunk_and_told_in_the_words_of_the_suite() -> None:
    """The story has the scene, each step, the rule, and what would have been allowed."""
    machine = seed(0)(state_machine("queue", "zoo:silent-drop", capacity=1))
    with pytest.raises(RuleBroken) as found:
        run_state_machine_as_test(machine, settings=SHRUNK)
    story = str(found.value).strip().splitlines()
    assert story[:3] == ["A queue of capacity 1.", "1. offer a1: accepted", "2. offer a2: accepted"]
    assert story[3].startswith("This breaks QUEUE-1 (MUST): ")
    assert story[4] == "Allowed in step 2: refused."


def test_an_adapter_class_is_tested_as_a_named_target_is() -> None:
    """The factory makes a new adapter for each example; the class is named after it."""
    from checkvalve.conformance.systems.queue.reference import ReferenceQueue

    machine = state_machine("queue", ReferenceQueue)
    assert machine.__name__ == "QueueOnReferencequeue"
    run_state_machine_as_test(machine, settings=FEW)


@pytest.mark.parametrize("suite", sorted({*SYSTEMS} - {*TALKING}))
def test_a_suite_that_plans_whole_programs_makes_no_state_machine(suite: str) -> None:
    """There is nothing to draw one by one, and the error says what to do instead."""
    with pytest.raises(InputError, match="planned as a whole"):
        state_machine(suite, reference_of(suite))


def test_the_example_of_the_tutorial_finds_the_mistake_in_its_queue(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The three lines in examples/tutorial fail with the rule that the queue breaks."""
    monkeypatch.syspath_prepend(str(EXAMPLE.parent))
    case = runpy.run_path(str(EXAMPLE))["TestMyQueue"]
    case.settings = settings(SHRUNK, max_examples=500)
    with pytest.raises(RuleBroken, match="This breaks QUEUE-"):
        case("runTest").runTest()
