"""The suite raises no false alarm, and says how much its silence is worth."""

from __future__ import annotations

import json

import pytest

from checkvalve.conformance.campaigns.case import RunSettings, plan, run_case
from checkvalve.conformance.engines.conduct import Engine, Order, conduct
from checkvalve.conformance.suites.results import NOT_OFFERED, NOT_SHOWN, PASSED, TECHNIQUE
from checkvalve.conformance.systems.catalogue import suite_named

MUST = {rule.id for rule in suite_named("queue").rules() if rule.strength.value == "MUST"}


@pytest.mark.parametrize("target", ["reference", "reference.deferred"])
@pytest.mark.parametrize("seed", range(4))
def test_the_reference_passes(target: str, seed: int) -> None:
    """A hundred cases find nothing, whenever the waiters run."""
    for case in plan("queue", cases=24, seed=seed):
        row = run_case("queue", target, case, RunSettings(programs=5))
        assert (row.verdict, row.message) == (PASSED, "")


@pytest.mark.parametrize("target", ["asyncio.Queue", "anyio", "trio"])
def test_the_queues_of_others_break_no_must_within_a_few_cases(target: str) -> None:
    """The order in which they serve waiters is left open, and is no MUST."""
    pytest.importorskip(target.partition(".")[0])
    for case in plan("queue", cases=24, seed=1):
        row = run_case("queue", target, case, RunSettings(programs=4))
        assert row.rule not in MUST, row.message


def test_every_rule_is_exercised_on_the_deferred_reference() -> None:
    """A default run could have shown a breach of each; one is about queues that drop."""
    summary, _ = conduct("reference.deferred", Order(cases=24))
    verdicts = {result.rule.id: result.verdict for result in summary.results}
    assert verdicts.pop("QUEUE-17") == NOT_SHOWN
    assert set(verdicts.values()) == {PASSED}
    assert all(result.cases for result in summary.results if result.rule.id in verdicts)


def test_a_rule_that_nothing_could_break_is_not_called_passed() -> None:
    """The reference wakes at once: no waiter is cancelled after it was woken."""
    summary, _ = conduct("reference", Order(cases=9, settings=RunSettings(programs=2)))
    (found,) = (each for each in summary.results if each.rule.id == "QUEUE-10")
    assert (found.verdict, found.reason, found.declared) == (NOT_SHOWN, TECHNIQUE, True)
    assert "cancelled after it was woken" in found.message


def test_a_default_run_shows_of_the_reference_every_rule_that_it_can() -> None:
    """Of those that take another technique, the report says so; and it is no failure."""
    summary, _ = conduct("reference", Order(settings=RunSettings(programs=5)))
    assert summary.verdict == PASSED and dict(summary.not_shown) == {
        NOT_OFFERED: ("QUEUE-17",),
        TECHNIQUE: ("QUEUE-6", "QUEUE-9", "QUEUE-10", "QUEUE-12")}


def test_what_a_target_cannot_do_is_not_offered() -> None:
    """A deque has no put and no cancel: their rules say nothing about it."""
    summary, rows = conduct("deque", Order(cases=2), engine=Engine())
    assert {"QUEUE-7", "QUEUE-9"} <= {*summary.not_shown[NOT_OFFERED]}
    assert all("QUEUE-7" not in json.loads(row.exercised) for row in rows)
