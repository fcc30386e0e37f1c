"""Stages that roll up, or batch: two clients of metrics, and the suite for those that batch."""

from __future__ import annotations

import pytest
from checkvalve.conformance.campaigns.case import RunSettings
from checkvalve.conformance.engines.conduct import Order, conduct
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
    """Where it is full, a value has to wait."""
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
