"""The cycle of waits, or the chain, in the message about a cluster that makes no progress."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from checkvalve.conformance.suites.exchange import Exchange
from checkvalve.conformance.systems.kafka_failover.port import HISTORIES, PORT
from checkvalve.conformance.systems.kafka_failover.suite import ClusterJudge
from checkvalve.conformance.systems.kafka_failover.twins import TWINS
from checkvalve.conformance.systems.kafka_failover.waiting import Wait, cycle_in, who_waits

DEPLOY = {"do": "deploy", "brokers": 3, "partitions": 1, "seed": 0}
WRITE = {"do": "produce", "after": 0, "partition": 0, "acks_all": 1, "records": 2}
UNHEARD = {"do": "upon", "after": 0, "moment": "stands", "deed": "lose_reply", "lasts": 1}


def details(twin: str, *requests: Mapping[str, Any]) -> dict[str, str]:
    """The details of each rule that a twin breaks; ``quiet`` is added."""
    adapter = TWINS[twin].adapter()
    adapter.request({"do": "hello", "port": PORT.name, "settings": {"capacity": 1}})
    judge = ClusterJudge(1, None, True, 2_000)
    for step, request in enumerate((*requests, {"do": "quiet"})):
        judge.see(Exchange(dict(request), adapter.request(dict(request)), ""), step)
    return {breach.rule.id: breach.detail for breach in judge.breaches}


def test_a_controller_that_waits_for_itself_is_told_as_a_cycle() -> None:
    """Its own znode is in its way (KAFKA-1451)."""
    told = details("failover-waits-for-itself", DEPLOY, UNHEARD, WRITE,
                   {"do": "elapse", "after": 300})
    assert "the processes wait in a cycle: the controller on broker " in told["KAFKA-F14"]
    assert told["KAFKA-F27"].count("the controller on broker ") == 2


def test_without_a_cycle_the_chain_ends_at_who_could_go_on() -> None:
    """The leader has the record, and does not let it be read."""
    told = details("failover-reads-short", DEPLOY, WRITE)
    assert told["KAFKA-F26"].endswith(
        "; there is no cycle of waits: the consumer of partition 0 waits for broker 0 (a record "
        "that it has not read), which waits for no other process")


def test_a_deletion_that_stands_still_waits_for_the_controller() -> None:
    """And the controller for nobody."""
    told = details("failover-never-resumes-deletion", DEPLOY, WRITE,
                   {"do": "delete_topic", "after": 300, "topic": 0})
    assert "an operator waits for the controller on broker " in told["KAFKA-F28"]


def test_a_target_that_tells_no_waits_is_told_so() -> None:
    """It only says that it stalls."""
    judge = ClusterJudge(1, None, True, 2_000)
    judge.see(Exchange(DEPLOY, {"ok": True}, ""), 0)
    judge.see(Exchange({"do": "quiet"}, {"ok": ["9 stalled"]}, ""), 1)
    [breach] = judge.breaches
    assert breach.rule.id == "KAFKA-F27"
    assert breach.detail.endswith("the target does not report its waits")


def test_the_shortest_cycle_is_told_and_all_of_it() -> None:
    """Beside it there is a longer one, and a process that waits for both."""
    ring = [Wait("broker-0", "broker-1", "copy"), Wait("broker-1", "controller-2", "role"),
            Wait("controller-2", "broker-0", "request")]
    pair = [Wait("broker-1", "broker-3", "copy"), Wait("broker-3", "broker-1", "rejoin")]
    client = [Wait("producer-0", "broker-0", "answer")]
    assert cycle_in(client) == []
    assert cycle_in([*client, *ring]) == ring
    assert set(cycle_in([*client, *ring, *pair])) == set(pair)
    assert who_waits([*client, *ring]).count(" waits for ") == 3


@pytest.mark.parametrize("row", [
    "1 waits broker-0 broker-1", "1 waits broker-x service copy", "1 waits nobody service copy",
    "1 waits broker-0 broker- copy", "1 waits broker-0 broker-1 why"])
def test_what_is_no_wait_is_refused(row: str) -> None:
    """An unknown process or reason, or too few fields."""
    assert HISTORIES.event(row) is None
    assert HISTORIES.event("1 waits broker-0 service registration") is not None
