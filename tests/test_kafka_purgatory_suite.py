"""The suite of the purgatory: no false alarm, and no twin that gets away."""

from __future__ import annotations

import random

import pytest

from checkvalve.conformance.campaigns.case import RunSettings
from checkvalve.conformance.engines.conduct import Order, conduct
from checkvalve.conformance.suites.results import NOT_SHOWN, PASSED
from checkvalve.conformance.suites.run import run_program
from checkvalve.conformance.suites.suite import Act
from checkvalve.conformance.systems.catalogue import suite_named
from checkvalve.conformance.systems.kafka_purgatory.suite import meeting
from checkvalve.conformance.systems.targets import resolve_target
from checkvalve.spec.kafka.observed_purgatory import TIMEOUTS

NAME = "kafka.purgatory"
NEW, OLD = "reference.purgatory", "reference.purgatory.old"
RULES = suite_named(NAME).rules()
ONLY_NEW = {"KAFKA-P4", "KAFKA-P4N", "KAFKA-P6E", "KAFKA-P5", "KAFKA-P5U", "KAFKA-P7",
            "KAFKA-P26"}


@pytest.mark.parametrize("target", [NEW, OLD])
def test_the_references_pass_and_every_rule_that_applies_is_exercised(target: str) -> None:
    """In process; what does not apply to the old design is said, not skipped."""
    order = Order(NAME, settings=RunSettings(programs=3))
    summary, _ = conduct(target, order)
    expected = {rule.id: PASSED for rule in RULES} | (
        dict.fromkeys(ONLY_NEW, NOT_SHOWN) if target == OLD else {})
    assert {each.rule.id: each.verdict for each in summary.results} == expected


@pytest.mark.parametrize("seed", range(4))
def test_a_meeting_of_two_buckets_kills_a_longer_horizon(seed: int) -> None:
    """On wheels of 20 buckets, as Kafka has them; and the reference passes."""
    program = meeting(random.Random(seed))
    broken = [bool(run_program(suite_named(NAME), resolve_target(target), program, 1).breaches)
              for target in (NEW, OLD, "zoo:purgatory-horizon")]
    assert broken == [False, False, True]


def test_a_request_that_was_never_made_is_declined() -> None:
    """Definitely: nothing has happened."""
    session = resolve_target(NEW).open()
    session.request({"do": "hello", "protocol": 1, "port": NAME, "settings": {"capacity": 1}})
    reply = session.request({"do": "force", "request": "r1"})
    assert (reply["error"], reply["definite"]) == ("unknown-request", True)
    session.close()


@pytest.mark.parametrize("target", [NEW, OLD])
@pytest.mark.parametrize("failing", ["complete", "expire"])
def test_a_timeout_of_nought_may_end_in_the_call_or_in_the_next_round(
    target: str, failing: str
) -> None:
    """The new purgatory lets the request expire at once, the old one in its round; both may, also
    where a callback raises then, whose error may go anywhere."""
    nought = 3 * (TIMEOUTS.index(0) + 1)
    plan = Act("fail", ("try", "complete", "expire").index(failing) - 1)
    for program in ((Act("watch", nought),), (plan, Act("watch", nought))):
        run = run_program(suite_named(NAME), resolve_target(target), (
            *program, Act("moved"), Act("advance"), Act("moved"), Act("watched"),
            Act("estimate")) if target == NEW else (*program, Act("advance"), Act("moved")), 1)
        assert not run.breaches
