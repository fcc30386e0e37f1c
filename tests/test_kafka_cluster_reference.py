"""The reference's cluster of brokers: what it does when things fail, and that it does it twice."""

from __future__ import annotations

import pytest

from checkvalve.reference.kafka.cluster.cluster import (
    Cluster, Deployment, DeploymentMisuse, Happened,
)
from checkvalve.reference.kafka.cluster.faults import FaultMisuse, Faults
from checkvalve.reference.kafka.replication.messages import NOBODY


def up(seed: int = 0, min_isr: int = 1) -> tuple[Cluster, Faults]:
    """A cluster of three brokers with one partition, written to and at rest."""
    cluster = Cluster(Deployment(3, 1, min_isr, seed))
    cluster.produce(0, True, 3)
    cluster.elapse(400)
    assert cluster.is_at_rest()
    return cluster, Faults(cluster)


def words(cluster: Cluster, what: str) -> list[Happened]:
    """The events of a word."""
    return [each for each in cluster.history if each.what == what]


def troubled(seed: int) -> Cluster:
    """A cluster with something wrong everywhere."""
    cluster, faults = up(seed)
    faults.upon("changing", "lose_reply", 50)
    faults.upon("took", "pause", 60)
    faults.delay(0, 1, 60, 300)
    faults.lose(1, 2, 50, 300)
    faults.drift(2, 200, 300)
    faults.pause(cluster.quorum(0)[0], 200)
    cluster.produce(0, True, 4)
    cluster.elapse(300)
    faults.stop_service(100)
    faults.crash(1, 50)
    cluster.quiet()
    return cluster


def test_one_seed_gives_one_history() -> None:
    """With every fault there is, and another seed gives another one."""
    assert troubled(5).history == troubled(5).history != troubled(6).history


def test_a_troubled_cluster_comes_to_rest() -> None:
    """And all three replicas have the same log, which was read to its end."""
    cluster = troubled(7)
    assert cluster.history[-1].what == "rested"
    logs = [disk.log.records for node in cluster.nodes.values() for disk in node.disks.values()]
    assert logs[0] == logs[1] == logs[2]
    assert len(words(cluster, "read")) == len(logs[0])


def test_the_coordination_service_says_who_leads() -> None:
    """When the leader is gone, the first of the assignment that is in sync leads."""
    cluster, faults = up()
    leader, in_sync = cluster.quorum(0)
    faults.crash(leader, 500)
    cluster.elapse(300)
    assert cluster.quorum(0) == (min({*in_sync} - {leader}), tuple(sorted({*in_sync} - {leader})))


def test_nobody_leads_while_nobody_is_in_sync() -> None:
    """The last in sync stays the last until it is back: no election is unclean."""
    cluster, faults = up()
    leader, (*others,) = cluster.quorum(0)
    for other in others:
        if other != leader:
            faults.crash(other, 900)
    cluster.elapse(300)
    assert cluster.quorum(0) == (leader, (leader,))
    faults.crash(leader, 900)
    faults.crash(next(each for each in others if each != leader), 1)
    cluster.elapse(400)
    assert cluster.quorum(0) == (NOBODY, (leader,))
    cluster.quiet()
    assert cluster.history[-1].what == "rested"


def test_a_controller_that_dies_before_its_first_request_is_replaced() -> None:
    """Nobody has heard of its epoch; the next one has a larger one."""
    cluster, faults = up()
    first = words(cluster, "controls")[-1].about
    faults.upon("controls", "crash", 300)
    faults.crash(int(first[0]), 600)
    cluster.elapse(500)
    controllers = [each.about for each in words(cluster, "controls")]
    assert len(controllers) >= 3
    epochs = [int(epoch) for _, epoch in controllers]
    assert epochs == sorted(set(epochs))
    cluster.quiet()
    assert cluster.history[-1].what == "rested"


def test_a_lost_reply_does_not_freeze_the_isr() -> None:
    """The leader reads what is there, and finds its own change (KAFKA-1382)."""
    cluster, faults = up()
    leader, in_sync = cluster.quorum(0)
    follower = next(each for each in in_sync if each != leader)
    faults.upon("changing", "lose_reply", 1)
    faults.cut(leader, follower, 400)
    cluster.produce(0, True, 2)
    cluster.elapse(350)
    assert set(cluster.quorum(0)[1]) == {*in_sync} - {follower}
    cluster.quiet()
    assert cluster.history[-1].what == "rested"


def test_what_cannot_be_is_refused() -> None:
    """Sizes and faults that make no sense."""
    with pytest.raises(DeploymentMisuse):
        Deployment(brokers=2, min_isr=3)
    _, faults = up()
    for wrong in (lambda: faults.crash(3, 1), lambda: faults.pause(0, 0),
                  lambda: faults.cut(1, 1, 5), lambda: faults.upon("noon", "crash", 1),
                  lambda: faults.drift(0, 0, 5), lambda: faults.lose(0, 1, 101, 5),
                  lambda: faults.delay(0, 1, -1, 5)):
        with pytest.raises(FaultMisuse):
            wrong()
