"""A leader that becomes a follower answers the producers that wait at it."""

from __future__ import annotations

from collections import Counter

import pytest

from checkvalve.conformance.systems import targets
from checkvalve.conformance.engines.conduct import Order, conduct
from checkvalve.conformance.adapters.session import InProcessTarget
from checkvalve.conformance.suites.results import NO_OCCASION
from checkvalve.conformance.systems.kafka_failover.adapter import ReferenceCluster
from checkvalve.conformance.systems.kafka_failover.histories import HistoryJudge, Terms
from checkvalve.conformance.systems.kafka_failover.port import HISTORIES
from checkvalve.conformance.systems.catalogue import port_named
from checkvalve.conformance.zoo.default_run import NAMED, find
from checkvalve.reference.kafka.replication.messages import Code, PartitionState, Produce, Produced
from checkvalve.reference.kafka.replication.replica import Disk, Replica, Told
from checkvalve.reference.kafka.replication.settings import Settings

HELD, REPLIED, COPIED = "10 held 0 0 1", "20 replied 0 0 1", "30 copied 0 0 2 0 7"


def judged(*told: str) -> tuple[list[str], Counter[str]]:
    """The rules that a history breaks, of a cluster of three, and which were at stake."""
    exercised: Counter[str] = Counter()
    judge = HistoryJudge(Terms(3, 1), exercised)
    for row in told:
        event = HISTORIES.event(row)
        assert event is not None
        judge.see(event)
    return [offence.rule.id for offence in judge.offences], exercised


def broken(*told: str) -> list[str]:
    """The rules that a history breaks."""
    return judged(*told)[0]


def test_who_follows_while_a_producer_waits_there_breaks_the_rule() -> None:
    """It has copied what another leader has, and answered nobody."""
    assert broken(HELD, COPIED) == ["KAFKA-F34"]


def test_each_of_those_that_wait_has_to_be_answered() -> None:
    """Also where a producer has sent the same record twice."""
    assert broken(HELD, HELD, REPLIED, COPIED) == ["KAFKA-F34"]
    assert broken(HELD, HELD, REPLIED, REPLIED, COPIED) == []


@pytest.mark.parametrize("between", [REPLIED, "20 crashed 0", "20 left 0", "20 began 0 1"])
def test_an_answer_will_do_and_so_will_the_end_of_the_process(between: str) -> None:
    """A producer that waited at a process that is gone cannot be answered."""
    assert broken(HELD, between, COPIED) == []


@pytest.mark.parametrize("other", [
    "30 copied 1 0 2 0 7", "30 copied 0 1 2 0 7", "30 cut 0 0 0", "30 wrote 0 0 1 0 7"])
def test_another_broker_another_partition_and_a_cut_do_not_count(other: str) -> None:
    """Kafka may cut the log before it answers; it fetches after that."""
    assert broken(HELD, other) == []


def test_the_end_of_another_process_changes_nothing() -> None:
    """It answers for itself alone."""
    assert broken(HELD, "20 crashed 1", COPIED) == ["KAFKA-F34"]


def test_a_cluster_that_does_not_tell_who_waits_is_not_judged() -> None:
    """Nor does what it copies count as an occasion."""
    assert judged(COPIED)[1]["KAFKA-F34"] == 0
    assert judged(HELD, REPLIED, COPIED)[1]["KAFKA-F34"] == 1


class Silent(ReferenceCluster):
    """The reference, which does not report its waiting producers."""

    def _news(self) -> list[str]:
        return [row for row in super()._news() if row.split()[1] not in ("held", "replied")]


def test_of_a_cluster_that_does_not_tell_who_waits_the_rule_is_not_shown(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its run says so, and does not say that the rule has passed."""
    monkeypatch.setattr(targets, "resolve_target", lambda spec, timeout=5.0: InProcessTarget(
        spec, Silent, port_named))
    summary, _ = conduct("mine", Order("kafka.failover", cases=40))
    assert [each.rule.id for each in summary.results if each.reason == NO_OCCASION] == ["KAFKA-F34"]


def test_the_reference_answers_all_that_wait_when_it_steps_down() -> None:
    """At once, and with an error; what it copies comes later."""
    told: list[tuple[object, ...]] = []
    replica = Replica(0, 0, Disk(), Settings(min_isr=1), lambda *about: told.append(about))
    replica.obey(Told(PartitionState(0, 1, (0, 1), 1), 0, (0, 1)), 0)
    answers: list[Produced] = []
    replica.produce(Produce(0, 7, True), answers.append)
    assert answers == []
    replica.obey(Told(PartitionState(1, 2, (0, 1), 1), 1, (0, 1)), 5)
    assert [each.code for each in answers] == [Code.NOT_LEADER]
    assert [each for each in told if each[0] in ("held", "replied")] == [
        ("held", 0, 7), ("replied", 0, 7)]


def test_a_default_run_finds_who_leaves_producers_waiting() -> None:
    """Among its first cases, and by the rule that is about it."""
    found = find("failover-leaves-producers-waiting")
    assert found.verdict == NAMED
    assert found.cases <= 40
