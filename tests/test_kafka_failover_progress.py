"""Failover: what a cluster owes when its faults are over, and what it does not owe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from checkvalve.conformance.suites.exchange import Exchange
from checkvalve.conformance.systems.kafka_failover.adapter import ReferenceCluster
from checkvalve.conformance.systems.kafka_failover.port import PORT
from checkvalve.conformance.systems.kafka_failover.suite import ClusterJudge
from checkvalve.conformance.systems.kafka_failover.twins import (
    CommitsOnDemand, ReadsShort, SilenceIsConsent,
)
from checkvalve.reference.kafka.cluster.cluster import Parts

Request = Mapping[str, Any]


def deploy(brokers: int = 3, partitions: int = 1, seed: int = 0) -> Request:
    """A cluster to begin with."""
    return {"do": "deploy", "brokers": brokers, "partitions": partitions, "seed": seed}


def produce(records: int, acks_all: int = 1, after: int = 0) -> Request:
    """Records for partition 0."""
    return {"do": "produce", "after": after, "partition": 0, "acks_all": acks_all,
            "records": records}


def run(parts: Parts, min_isr: int, *requests: Request) -> tuple[set[str], str]:
    """The rules that a run breaks, and its last event; ``quiet`` is added."""
    adapter = ReferenceCluster()
    adapter.parts = parts
    adapter.request({"do": "hello", "port": PORT.name, "settings": {"capacity": min_isr}})
    judge, last = ClusterJudge(min_isr, None, True, 2_000), "none"
    for step, request in enumerate((*requests, {"do": "quiet"})):
        reply = adapter.request(dict(request))
        judge.see(Exchange(dict(request), reply, ""), step)
        last = reply["ok"][-1] if isinstance(reply["ok"], list) and reply["ok"] else last
    return {breach.rule.id for breach in judge.breaches}, last.split()[-1]


def test_a_record_that_was_acknowledged_and_is_never_read_breaks_a_rule() -> None:
    """Consumers stop one record short; without ``prefer`` no rule saw that."""
    broken = run(replace(Parts(), replica=ReadsShort), 1, deploy(), produce(3))
    assert broken == ({"KAFKA-F26", "KAFKA-F27"}, "stalled")


def test_a_cluster_that_does_not_come_to_rest_breaks_a_rule() -> None:
    """All were answered, all are in sync, and nothing is committed."""
    broken = run(replace(Parts(), replica=CommitsOnDemand), 1, deploy(),
                 produce(3, acks_all=0, after=400))
    assert broken == ({"KAFKA-F27"}, "stalled")


def test_a_record_that_is_never_acknowledged_breaks_a_rule_whatever_the_cluster_says() -> None:
    """It becomes quiescent, and says that every producer was answered."""
    pauses = [{"do": "pause", "after": 400, "broker": 0, "lasts": 60}]
    broken = run(replace(Parts(), producer=SilenceIsConsent), 1, deploy(), produce(1), *pauses,
                 produce(1), {"do": "elapse", "after": 70})
    assert broken == ({"KAFKA-F25"}, "rested")


@pytest.mark.parametrize(("min_isr", "end"), [(1, "rested"), (2, "stalled")])
def test_a_producer_may_wait_for_more_replicas_than_there_are(min_isr: int, end: str) -> None:
    """One replica is left, and two are asked for: the cluster stalls, and breaks nothing."""
    alone = {"do": "reassign", "after": 400, "partition": 0, "to": "1"}
    assert run(Parts(), min_isr, deploy(), produce(2), alone, produce(2, after=300)) == (
        set(), end)


def test_one_that_waits_for_the_leader_alone_is_owed_an_answer_by_a_short_partition() -> None:
    """So what stalls there is a breach."""
    alone = {"do": "reassign", "after": 400, "partition": 0, "to": "1"}
    broken, end = run(replace(Parts(), replica=CommitsOnDemand), 2, deploy(), alone,
                      produce(2, acks_all=0, after=300))
    assert (broken, end) == ({"KAFKA-F27"}, "stalled")


def test_what_an_unclean_election_puts_below_a_consumer_need_not_be_read() -> None:
    """Its log is shorter than what was read; what is written since is acknowledged, and passed."""
    requests = [deploy(), produce(4), *(
        {"do": "crash", "after": 400 if broker == 1 else 0, "broker": broker, "lasts": 400}
        for broker in (1, 2)),
        produce(4, after=200), {"do": "permit_unclean", "after": 100},
        {"do": "crash", "after": 0, "broker": 0, "lasts": 1_500},
        produce(3, after=500)]
    assert run(Parts(), 1, *requests) == (set(), "rested")


def test_a_cluster_has_time_as_long_as_something_goes_on() -> None:
    """Some hundred records take longer than a cluster may do nothing."""
    many = [produce(32, after=0) for _ in range(7)]
    assert run(Parts(), 1, deploy(), *many) == (set(), "rested")
