"""Stages that roll up, or batch: two clients of metrics, and the suite for those that batch."""

from __future__ import annotations

import pytest
from checkvalve.conformance.campaigns.case import RunSettings
from checkvalve.conformance.engines.conduct import Order, conduct
from checkvalve.conformance.suites.run import run_program
from checkvalve.conformance.suites.suite import Act
from checkvalve.conformance.systems.catalogue import suite_named
from checkvalve.conformance.systems.targets import resolve_target
from checkvalve.reference.flow.stages import Groups, RolledUp
from hypothesis import given
from hypothesis import strategies as st

STEPS = st.lists(st.one_of(st.none(), st.integers(1, 9)), max_size=40)


@given(steps=STEPS)
def test_what_is_rolled_up_is_all_that_came_in_one(steps: list[int | None]) -> None:
    """A number is a value, None a permit."""
    stage: RolledUp[int, int] = RolledUp(lambda value: value, lambda held, value: held + value)
    came: list[int] = []
    for each in steps:
        if each is not None:
            assert stage.wants
            stage.take(each)
            came.append(each)
        elif came:
            assert stage.make() == sum(came)
            came.clear()
        assert stage.ready == bool(came)


@given(steps=STEPS, size=st.integers(1, 4))
def test_a_batch_is_all_that_came_in_order_and_is_bounded(
    steps: list[int | None], size: int
) -> None:
    """While it is full, a value has to wait."""
    stage: Groups[int] = Groups(size, whole=False)
    came: list[int] = []
    for each in steps:
        assert stage.wants == (len(came) < size)
        if each is not None and stage.wants:
            stage.take(each)
            came.append(each)
        elif each is None and came:
            assert stage.make() == came
            came.clear()
        assert stage.ready == bool(came)


@pytest.mark.parametrize("target", ["opentelemetry.sum", "datadog.count"])
def test_clients_of_metrics_roll_up_all_that_they_measure(target: str) -> None:
    """They have no batches, and the rules about those do not apply."""
    report, _ = conduct(target, Order("summaries", settings=RunSettings(programs=8)))
    passed = {each.rule.id for each in report.results if each.verdict == "passed"}
    assert passed == {"FLOW-56", "FLOW-120", "FLOW-122", "FLOW-124", "FLOW-125"}


@pytest.mark.parametrize(("twin", "allowed"), [
    ("batch-newest-first", "the batch 1, 2 goes"), ("batch-merges", "the batch 1, 2, 4 goes"),
    ("summaries-appends", "a summary goes: 3"), ("summaries-latest-only", "a summary goes: 3"),
])
def test_what_is_allowed_instead_is_the_whole_output_and_not_its_sum_alone(
    twin: str, allowed: str
) -> None:
    """Another output of the same sum would be as wrong: in number, in order, in its form."""
    offers = 3 if twin == "batch-merges" else 2
    program = (*(Act("offer"),) * offers, Act("take"))
    run = run_program(suite_named("summaries"), resolve_target(f"zoo:{twin}"), program, 4)
    assert run.breaches[0].allowed == (allowed,)
