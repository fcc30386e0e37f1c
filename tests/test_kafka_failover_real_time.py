"""Clusters over a real ZooKeeper, in real time: sessions expire by its own clock.

What happens when is the machine's business, so a run is no run twice; the rules hold of each. Those
that compare when the quorum spoke with when others did are left to virtual time: a write whose
author slept before it read the reply is known too late.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from checkvalve.conformance.services.zookeeper import ZooKeeper
from checkvalve.conformance.systems.kafka_failover.histories import HistoryJudge, Terms
from checkvalve.conformance.systems.kafka_failover.port import HISTORIES
from checkvalve.reference.drivers.paced import PacedZooKeeper
from checkvalve.reference.kafka.cluster.cluster import Cluster, Deployment
from checkvalve.reference.kafka.cluster.faults import Faults

pytestmark = pytest.mark.services

PACE = 4
"""Real milliseconds of an instant: a session of 90 lasts 360, and the server allows 200."""


OF_THE_QUORUM = {f"KAFKA-F{each}" for each in (3, 4, 5, 10, 11, 12)}
"""Rules in which the instants of the quorum's words matter."""


@pytest.fixture(scope="module")
def server() -> Iterator[ZooKeeper]:
    """A server for all runs, each below a path of its own."""
    with ZooKeeper() as running:
        yield running


@pytest.mark.parametrize("seed", [0, 1])
def test_failover_keeps_its_rules_in_real_time(server: ZooKeeper, seed: int) -> None:
    """A broker dies, a leader sleeps over its session, a reply gets lost, the server is killed;
    then the cluster becomes quiescent, and no rule about brokers and clients was broken.
    """
    with PacedZooKeeper(server, f"{server.address}/run{seed}", PACE) as service:
        cluster = Cluster(Deployment(seed=seed), store=service.told_to)
        faults = Faults(cluster)
        for fault in (lambda: faults.crash(seed, 200), lambda: faults.upon("took", "pause", 150),
                      lambda: faults.lose_reply(2), lambda: faults.expire(1 - seed),
                      lambda: faults.stop_service(60)):
            cluster.produce(0, acks_all=True, records=3)
            fault()
            cluster.elapse(120)
        cluster.quiet()
    judge = HistoryJudge(Terms(3, 2))
    for happened in cluster.history:
        event = HISTORIES.event(" ".join(map(str, (happened.at, happened.what, *happened.about))))
        assert event is not None
        judge.see(event)
    assert [each.words() for each in judge.offences if each.rule.id not in OF_THE_QUORUM] == []
    assert cluster.history[-1].what == "rested"
