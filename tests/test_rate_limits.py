"""Rate limits: the reference, and those of other projects under a clock that the harness moves."""

from __future__ import annotations

import pytest
from checkvalve.conformance.campaigns.case import RunSettings
from checkvalve.conformance.engines.conduct import Order, conduct
from checkvalve.reference.flow.bucket import RateLimit
from checkvalve.reference.flow.link import LinkMisuse
from hypothesis import given
from hypothesis import strategies as st

ASKED = st.lists(st.one_of(st.none(), st.integers(1, 6)), max_size=40)
"""Ticks (None), and how many permits are asked for."""


@given(rate=st.integers(1, 4), more=st.integers(0, 4), asked=ASKED)
def test_no_window_of_the_reference_has_more_than_its_depth_and_its_rate(
    rate: int, more: int, asked: list[int | None]
) -> None:
    """All windows are looked at, by the definition: b + r t in t ticks in a row."""
    limit, depth, passed = RateLimit(rate, rate + more), rate + more, [0]
    for each in asked:
        if each is None:
            limit.tick()
            passed.append(0)
        elif limit.take(each):
            passed[-1] += each
    for begin in range(len(passed)):
        for end in range(begin, len(passed)):
            assert sum(passed[begin:end + 1]) <= depth + rate * (end - begin)


@given(rate=st.integers(1, 4), more=st.integers(0, 4), asked=ASKED)
def test_the_reference_turns_away_only_those_for_whom_it_has_too_little(
    rate: int, more: int, asked: list[int | None]
) -> None:
    """And nothing is lost by it: what was left is left."""
    limit = RateLimit(rate, rate + more)
    for each in asked:
        before = limit.held
        if each is None:
            limit.tick()
            assert limit.held == min(rate + more, before + rate)
        else:
            assert limit.take(each) == (each <= before)
            assert limit.held == before - each * (each <= before)


@pytest.mark.parametrize(("rate", "depth"), [(0, 1), (2, 1), (1, 0)])
def test_a_rate_that_does_not_fit_its_depth_is_refused(rate: int, depth: int) -> None:
    """A tick's permits have to fit; and nobody asks for none."""
    with pytest.raises(LinkMisuse):
        RateLimit(rate, depth)
    with pytest.raises(LinkMisuse):
        RateLimit(1, 1).take(0)


@pytest.mark.parametrize(("target", "broken"), [
    ("aiolimiter", set()),
    ("token_bucket", set()),
    ("limits.moving_window", {"FLOW-81"}),
    ("limits.fixed_window", {"FLOW-80", "FLOW-81"}),
])
def test_limits_of_other_projects_break_what_their_kind_breaks(
    target: str, broken: set[str]
) -> None:
    """Buckets keep both promises; a log of a period lets through too little, and a count that
    begins anew too much as well."""
    report, _ = conduct(target, Order("rate", settings=RunSettings()))
    assert {each.rule.id for each in report.results if each.verdict == "violated"} == broken
