"""Operations on the reference's cluster: brokers are let go, replicas move, leaders are preferred,
elections are unclean.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from checkvalve.conformance.systems.kafka_failover.histories import (
    RULES, HistoryJudge, Terms,
)
from checkvalve.conformance.systems.kafka_failover.port import HISTORIES
from checkvalve.conformance.systems.kafka_failover.twins import FollowsAsItGoes
from checkvalve.reference.kafka.cluster.broker import Broker
from checkvalve.reference.kafka.cluster.cluster import Cluster, Deployment, Happened, Parts
from checkvalve.reference.kafka.cluster.faults import Faults
from checkvalve.reference.kafka.replication.messages import NOBODY


def up(seed: int = 0) -> tuple[Cluster, Faults]:
    """Three brokers, a partition that broker 0 leads, and three records in it."""
    cluster = Cluster(Deployment(3, 1, 1, seed))
    cluster.produce(0, True, 3)
    cluster.elapse(400)
    assert cluster.is_at_rest() and cluster.quorum(0) == (0, (0, 1, 2))
    return cluster, Faults(cluster)


def words(cluster: Cluster, *whats: str) -> list[Happened]:
    """The events of some words."""
    return [each for each in cluster.history if each.what in whats]


def busy(seed: int) -> Cluster:
    """All that an operator may do, one after the other, among faults."""
    cluster, faults = up(seed)
    cluster.reassign(0, (2, 1))
    cluster.prefer(0)
    faults.upon("state", "crash", 60)
    faults.shut_down(1, 80)
    cluster.produce(0, True, 4)
    cluster.elapse(200)
    faults.stop_service(60)
    cluster.reassign(0, (1, 0, 2))
    cluster.elapse(200)
    cluster.permit_unclean()
    faults.crash(cluster.quorum(0)[0] % 3, 50)
    cluster.quiet()
    return cluster


def test_one_seed_gives_one_history_whatever_operators_do() -> None:
    """And it becomes quiescent, with every wish carried out."""
    assert busy(3).history == busy(3).history != busy(4).history
    for seed in range(8):
        cluster = busy(seed)
        assert cluster.history[-1].what == "rested"
        assert cluster.history[-2].what == "wishes" and cluster.history[-2].about == (0,)


def test_another_one_leads_before_a_broker_goes() -> None:
    """It is let go, goes, and leads nothing since; when it is back it is in sync again."""
    cluster, faults = up()
    faults.shut_down(0, 200)
    cluster.elapse(150)
    assert [each.what for each in words(cluster, "released", "left", "crashed")] == [
        "released", "left"]
    assert cluster.quorum(0) == (1, (1, 2))
    released = words(cluster, "released")[0].at
    assert max(each.at for each in words(cluster, "state")) < released
    cluster.quiet()
    assert set(cluster.quorum(0)[1]) == {0, 1, 2}


def test_who_alone_can_lead_is_not_let_go_and_goes_when_it_has_asked_four_times() -> None:
    """The others are away; it goes as one that fails."""
    cluster, faults = up()
    for other in (1, 2):
        faults.crash(other, 900)
    cluster.elapse(200)
    assert cluster.quorum(0) == (0, (0,))
    faults.shut_down(0, 100)
    cluster.elapse(150)
    assert words(cluster, "left") == []
    cluster.elapse(150)
    assert [each.what for each in words(cluster, "released", "left")] == ["left"]
    cluster.quiet()
    assert cluster.history[-1].what == "rested"


def test_a_broker_that_wants_to_go_follows_in_no_epoch_that_begins_after_its_wish() -> None:
    """The controller that would let it go has crashed; it does not join the ISR of the leader in
    its place.
    """
    joined = {Broker: 0, FollowsAsItGoes: 0}
    for part in joined:
        for seed in range(6):
            cluster = Cluster(Deployment(3, 1, 1, seed), replace(Parts(), broker=part))
            cluster.elapse(400)
            faults = Faults(cluster)
            faults.upon("state", "crash", 900)      # the broker that has made another one lead
            faults.shut_down(0, 100)
            cluster.elapse(300)
            since = words(cluster, "wants")[0].at
            isrs = [str(each.about[-1]) for each in words(cluster, "state") if each.at > since]
            joined[part] += any("0" in isr for isr in isrs[1:])
    assert joined[Broker] == 0 < joined[FollowsAsItGoes]


def test_who_becomes_the_controller_without_hearing_of_it_is_the_controller() -> None:
    """The reply is lost; the znode in its way is its own (KAFKA-1451)."""
    for seed in range(4):
        cluster = Cluster(Deployment(3, 1, 1, seed))
        Faults(cluster).upon("stands", "lose_reply", 1)
        cluster.elapse(400)
        stood = [each.about[0] for each in words(cluster, "stands")]
        assert len(stood) > len(set(stood)) and len(words(cluster, "controls")) == 1
        assert cluster.is_at_rest()


def test_a_replica_that_leaves_the_list_deletes_its_log_and_gets_all_when_it_is_back() -> None:
    """Another one leads meanwhile, and nothing is missing."""
    cluster, _ = up()
    cluster.reassign(0, (1, 2))
    cluster.elapse(200)
    assert cluster.quorum(0) == (1, (1, 2)) and cluster.assignment[0] == (1, 2)
    assert cluster.nodes[0].disks[0].log.end == 0
    cluster.produce(0, True, 2)
    cluster.reassign(0, (0, 1, 2))
    cluster.quiet()
    assert set(cluster.quorum(0)[1]) == {0, 1, 2}
    assert cluster.nodes[0].disks[0].log.records == cluster.nodes[1].disks[0].log.records
    assert {each.value for each in cluster.nodes[0].disks[0].log.records} == {1, 2, 3, 4, 5}


def test_the_first_replica_leads_again_when_that_is_wished_for() -> None:
    """Without a wish the leader stays the same."""
    led = []
    for wished in (False, True):
        cluster, faults = up()
        faults.crash(0, 200)
        cluster.elapse(300)
        assert cluster.quorum(0)[0] == 1
        if wished:
            cluster.prefer(0)
        cluster.quiet()
        led.append(cluster.quorum(0)[0])
    assert led == [1, 0]


def lone(seed: int, permitted: bool) -> Cluster:
    """Broker 0 alone is in sync, and then it is away, while the others are back."""
    cluster, faults = up(seed)
    for other in (1, 2):
        faults.crash(other, 400)
    cluster.elapse(200)
    cluster.produce(0, True, 2)
    cluster.elapse(50)
    if permitted:
        cluster.permit_unclean()
    faults.crash(0, 1_500)
    cluster.elapse(500)
    return cluster


def test_who_is_not_in_sync_leads_only_where_that_is_permitted() -> None:
    """It is alone in the ISR then, and two records are gone."""
    assert lone(0, False).quorum(0) == (NOBODY, (0,))
    leader, in_sync = lone(0, True).quorum(0)
    assert leader in (1, 2) and leader in in_sync and 0 not in in_sync
    cluster = lone(0, True)
    cluster.quiet()
    assert cluster.history[-1].what == "rested"
    assert {node.disks[0].log.end for node in cluster.nodes.values()} == {3}


def offences(history: list[Happened], permitted: bool) -> set[str]:
    """The rules that a history breaks."""
    judge = HistoryJudge(Terms(3, 1))
    if permitted:
        judge.permit_unclean()
    for each in history:
        event = HISTORIES.event(" ".join(map(str, (each.at, each.what, *each.about))))
        assert event is not None
        judge.see(event)
    return {offence.rule.id for offence in judge.offences}


def after_unclean(seed: int = 1) -> Cluster:
    """A replica that was not in sync leads, three records are acknowledged by all, and the cluster
    is quiescent.
    """
    cluster = lone(seed, True)
    cluster.produce(0, True, 3)
    cluster.quiet()
    return cluster


def test_what_an_unclean_election_loses_is_no_breach() -> None:
    """The same history without the permission breaks rules."""
    history = after_unclean().history
    assert offences(history, permitted=True) == set()
    broken = offences(history, permitted=False)
    assert "KAFKA-F12" in broken and broken <= set(RULES)


@pytest.mark.parametrize(("what", "rule"), [
    ("cut", "KAFKA-F3"), ("read", "KAFKA-F6"), ("acked", "KAFKA-F2")])
def test_from_an_unclean_election_on_records_are_judged_anew(what: str, rule: str) -> None:
    """A committed record that is cut, another one that is read, one acknowledged that is not."""
    history = list(after_unclean().history)
    at = max(place for place, each in enumerate(history) if each.what == "acked")
    acked = history[at]
    producer, partition, acks_all, offset, value = map(int, acked.about)
    tampered = {
        "cut": Happened(acked.at, "cut", (
            int(words_of(history, "took")[-1].about[0]), partition, offset)),
        "read": Happened(acked.at, "read", (partition, offset, value + 7)),
        "acked": Happened(acked.at, "acked", (producer, partition, acks_all, offset, value + 7)),
    }[what]
    history.insert(at + 1, tampered)
    assert rule in offences(history, permitted=True)


def words_of(history: list[Happened], what: str) -> list[Happened]:
    """The events of a word."""
    return [each for each in history if each.what == what]


def test_a_leader_that_was_replaced_uncleanly_may_go_on_alone() -> None:
    """Its commits and acknowledgements in its own epoch are no promise."""
    history = list(after_unclean().history)
    took = max(place for place, each in enumerate(history) if each.what == "took")
    broker, partition, epoch = map(int, history[took].about)
    other, at = 0, history[took].at
    history[took + 1:took + 1] = [
        Happened(at, "wrote", (other, partition, 0, 9, 77)),
        Happened(at, "committed", (other, partition, 0, 10)),
        Happened(at, "acked", (100, partition, 1, 9, 77))]
    assert broker != other and epoch > 0
    assert offences(history, permitted=True) == set()
