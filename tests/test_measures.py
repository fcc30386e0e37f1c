"""Measures of suites besides their verdicts: the largest of some numbers, with each capacity."""

from __future__ import annotations

import shlex
import sys

from checkvalve.conformance.campaigns.summary import Measured, Summary
from checkvalve.conformance.engines.conduct import Order, conduct
from checkvalve.conformance.suites.suite import Measure
from checkvalve.conformance.systems.catalogue import SYSTEMS


def run(target: str, suite: str, cases: int) -> Summary:
    """The summary of so many cases of a target."""
    summary, _ = conduct(target, Order(suite, cases=cases))
    assert not summary.error
    return summary


def most(summary: Summary, measure: str) -> dict[int, int]:
    """The largest that a measure was, by capacity."""
    return next(dict(each.by_capacity) for each in summary.measured if each.measure.name == measure)


def test_a_processor_is_measured_behind_the_protocol_as_it_is_here() -> None:
    """The events are measured, whichever side reports them."""
    served = shlex.join([sys.executable, "-m", "checkvalve.conformance.serve",
                         "reference.processor"])
    apart = run(f"command:{served}", "reactive.processor", 4)
    here = run("reference.processor", "reactive.processor", 4)
    assert apart.measured == here.measured
    assert all(found <= capacity for capacity, found in most(here, "buffer").items())


def test_a_subscriber_that_asks_for_too_much_is_measured_beyond_its_buffer() -> None:
    """The rule says that it is too much; the measure says how much it is."""
    found = most(run("zoo:subscriber-asks-without-bound", "reactive.subscriber", 4), "demand")
    assert any(demand > capacity for capacity, demand in found.items())


def test_a_publisher_that_recurses_is_measured_as_deep_as_its_source_is_long() -> None:
    """The setting says that four is the limit, and no measure stops there."""
    found = most(run("zoo:publisher-recurses", "reactive.publisher", 24), "depth")
    assert found[6] == 6


def test_a_buffer_that_no_rule_bounds_is_measured_nevertheless() -> None:
    """Behind an observable all that it has waits for each subscriber."""
    found = most(run("reactivex.buffered", "reactive.publisher", 22), "buffer")
    assert all(found[capacity] > capacity for capacity in (3, 6))


def test_what_was_never_measured_says_what_that_takes() -> None:
    """And is no number."""
    unmeasured = Measured(Measure("x", "Longest x", "an adapter that reports it"), {})
    assert unmeasured.in_words() == "Longest x: not measured; that takes an adapter that reports it"
    assert unmeasured.most is None


def test_measures_of_a_suite_have_names_of_their_own() -> None:
    """Rows and reports find them by name."""
    for system in SYSTEMS.values():
        names = [each.name for each in system.suite.measures]
        assert len(names) == len(set(names))
