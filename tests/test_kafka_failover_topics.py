"""Topics that are made and deleted while a cluster is under test."""

from __future__ import annotations

from checkvalve.conformance.adapters.base import Declined
from checkvalve.conformance.systems.kafka_failover.adapter import ReferenceCluster
from checkvalve.conformance.systems.kafka_failover.histories import HistoryJudge, Terms
from checkvalve.conformance.systems.kafka_failover.port import HISTORIES
from checkvalve.reference.kafka.cluster.cluster import Cluster, Deployment, Happened
from checkvalve.reference.kafka.cluster.faults import Faults
from checkvalve.reference.kafka.cluster.topics import TopicMisuse, Topics
from checkvalve.reference.kafka.controller import znodes

import pytest


def up(seed: int = 0) -> Cluster:
    """Three brokers, the topic of the deployment, and another one with three records."""
    cluster = Cluster(Deployment(3, 1, 1, seed))
    cluster.produce(0, True, 2)
    cluster.elapse(300)
    cluster.make_topic()
    cluster.elapse(60)
    cluster.produce(1, True, 3)
    cluster.elapse(200)
    return cluster


def words(cluster: Cluster, *whats: str) -> list[Happened]:
    """The events of some words."""
    return [each for each in cluster.history if each.what in whats]


def test_a_topic_that_is_made_is_led_written_to_and_read() -> None:
    """It has the next number, and so has its partition."""
    cluster = up()
    assert [each.about for each in words(cluster, "made")] == [(1, 1)]
    assert cluster.is_at_rest() and cluster.quorum(1)[0] == 1
    assert [each.about[0] for each in words(cluster, "read")].count(1) == 3


@pytest.mark.parametrize("topic", [0, 1])
def test_a_topic_that_is_deleted_leaves_nothing_on_any_broker(topic: int) -> None:
    """Its replicas are deleted before its znode, and the other topic stays."""
    cluster = up()
    cluster.delete_topic(topic)
    cluster.quiet()
    found = [each.what for each in words(cluster, "unwanted", "erased", "gone")]
    assert found == ["unwanted", "erased", "erased", "erased", "gone"]
    assert cluster.store.peek(znodes.topic_path(cluster.topics.first.name if topic == 0 else "t1")
                              ) is None
    assert {node.disks[topic].log.end for node in cluster.nodes.values()} == {0}
    assert [each.about[0] for each in words(cluster, "ends")] == [1 - topic]
    assert cluster.history[-1].what == "rested"


def test_a_deletion_waits_for_a_broker_that_is_away() -> None:
    """It continues when the broker is back."""
    cluster = up()
    Faults(cluster).crash(2, 400)
    cluster.elapse(200)
    cluster.delete_topic(1)
    cluster.elapse(150)
    assert {each.about[0] for each in words(cluster, "erased")} == {0, 1}
    assert words(cluster, "gone") == [] and cluster.wishes == 1
    cluster.elapse(200)
    assert {each.about[0] for each in words(cluster, "erased")} == {0, 1, 2}
    assert len(words(cluster, "gone")) == 1 and cluster.wishes == 0


def test_a_deletion_waits_for_a_reassignment() -> None:
    """No replica that stays is deleted before that has ended."""
    cluster = up()
    cluster.reassign(1, (0, 1))
    cluster.elapse(150)
    Faults(cluster).delay(0, 2, 80, 400)
    Faults(cluster).delay(1, 2, 80, 400)
    cluster.reassign(1, (0, 1, 2))
    cluster.elapse(20)
    cluster.delete_topic(1)
    cluster.quiet()
    moved = words(cluster, "moved")[-1].at
    assert all(each.at > moved for each in words(cluster, "erased") if each.about[0] != 2)
    assert cluster.history[-1].what == "rested"


@pytest.mark.parametrize("seed", range(6))
def test_an_answer_from_an_earlier_life_does_not_end_a_deletion(seed: int) -> None:
    """A session expires while its broker is asked to delete; that stalled the deletion."""
    cluster = up(seed)
    for _ in range(3):
        cluster.make_topic()
    cluster.elapse(200)
    for topic in range(5):
        cluster.delete_topic(topic)
        cluster.elapse(20 + 5 * topic)
        Faults(cluster).expire((seed + topic) % 3)
        cluster.elapse(40)
    cluster.quiet()
    assert cluster.history[-1].what == "rested" and len(words(cluster, "gone")) == 5


def test_what_is_not_there_cannot_be_deleted_nor_written_to() -> None:
    """Nor twice."""
    topics = Topics(2)
    assert topics.make().partitions == (2,) and topics.make().partitions == (3,)
    topics.remove(1)
    for number in (1, 3):
        with pytest.raises(TopicMisuse):
            topics.remove(number)
    assert [topics.is_wanted(each) for each in range(5)] == [True, True, False, True, False]
    adapter = ReferenceCluster()
    adapter.start({"capacity": 1})
    adapter.deploy(2, 1, 0)
    adapter.delete_topic(0, 0)
    for wrong in (lambda: adapter.delete_topic(0, 0), lambda: adapter.produce(0, 0, 1, 1),
                  lambda: adapter.delete_topic(0, 1)):
        with pytest.raises(Declined):
            wrong()


@pytest.mark.parametrize(("obeys", "broken"), [(3, []), (4, ["KAFKA-F29"])])
def test_a_deletion_of_an_earlier_move_may_come_as_late_as_what_the_replica_obeys(
    obeys: int, broken: list[str]
) -> None:
    """It was struck, obeys an earlier request, and appends; so a request to delete may follow,
    though it is a replica again. Not once it has obeyed an epoch that began since.
    """
    judge = HistoryJudge(Terms(3, 1))
    for row in ("100 state 0 1 3 2 1,2", "101 moves 0 2,1", "102 assigned 0 2,1", "103 moved 0",
                "104 obeyed 0 0 0 3", "105 copied 0 0 1 0 1", "106 moves 0 0,1,2",
                "107 assigned 0 2,1,0", "108 state 0 1 4 2 1,2", f"109 obeyed 0 1 0 {obeys}",
                "110 copied 0 0 1 1 2", "111 erased 0 0"):
        event = HISTORIES.event(row)
        assert event is not None
        judge.see(event)
    assert [offence.rule.id for offence in judge.offences] == broken
