"""The reference's cluster of brokers: what it does when things fail, and that it does it twice."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random

import pytest

from checkvalve.reference.coordination.terms import ConnectionLost, Create, Result
from checkvalve.reference.kafka.cluster.cluster import (
    Cluster, Deployment, DeploymentMisuse, Happened,
)
from checkvalve.reference.kafka.cluster.faults import FaultMisuse, Faults
from checkvalve.reference.kafka.cluster.network import Envelope, Network
from checkvalve.reference.kafka.cluster.process import Process
from checkvalve.reference.kafka.controller import znodes
from checkvalve.reference.kafka.replication.messages import NOBODY


def up(seed: int = 0, min_isr: int = 1) -> tuple[Cluster, Faults]:
    """A quiescent cluster of three brokers with one partition, which was written to."""
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
    for sizes in ((0, 1, 0), (1, 0, 1), (2, 1, 0), (2, 1, 3)):
        with pytest.raises(DeploymentMisuse):
            Deployment(*sizes)


def test_a_cluster_may_have_one_broker() -> None:
    """And that is the least."""
    assert Deployment(brokers=1, partitions=1, min_isr=1).brokers == 1
    _, faults = up()
    for wrong in (lambda: faults.crash(3, 1), lambda: faults.pause(0, 0),
                  lambda: faults.cut(1, 1, 5), lambda: faults.upon("noon", "crash", 1),
                  lambda: faults.drift(0, 0, 5), lambda: faults.lose(0, 1, 101, 5),
                  lambda: faults.delay(0, 1, -1, 5)):
        with pytest.raises(FaultMisuse):
            wrong()


def test_the_least_and_the_greatest_can_be() -> None:
    """Also a delay of nothing, and a loss of all."""
    _, faults = up()
    faults.delay(0, 1, 0, 1)
    faults.lose(0, 1, 0, 1)
    faults.lose(0, 1, 100, 1)
    faults.drift(0, 10, 1)
    faults.drift(0, 1000, 1)


def test_who_controls_is_told_before_anybody_heeds_it() -> None:
    """Once, with the epoch that brokers then hear of."""
    cluster, _ = up()
    told = cluster.store.peek(znodes.CONTROLLER)
    [controls] = words(cluster, "controls")
    assert told is not None and controls.about == (json.loads(told[0])["brokerid"], 1)
    assert cluster.history.index(controls) < cluster.history.index(words(cluster, "heeded")[0])


def test_what_goes_wrong_with_a_broker_is_in_the_history() -> None:
    """And that it is over, in order."""
    cluster, faults = up()
    faults.crash(1, 20)
    faults.pause(2, 20)
    faults.expire(0)
    cluster.elapse(30)
    found = [(each.what, each.about[0]) for each in cluster.history
             if each.what in ("crashed", "paused", "resumed", "expired", "began")]
    assert found == [("began", 0), ("began", 1), ("began", 2), ("crashed", 1), ("paused", 2),
                     ("expired", 0), ("began", 1), ("resumed", 2)]


@pytest.mark.parametrize(("loses", "is_done"), [(Faults.lose_reply, True),
                                                (Faults.lose_request, False)])
def test_a_broker_does_not_hear_what_became_of_a_request(
        loses: Callable[[Faults, int], None], is_done: bool) -> None:
    """It learns of a lost connection, whether the service has done the request or not."""
    cluster, faults = up()
    process = cluster.nodes[1].process
    assert process is not None
    heard: list[Result] = []
    loses(faults, 1)
    process.ask(Create("/it"), heard.append)
    cluster.elapse(20)
    assert heard == [ConnectionLost()] and (cluster.store.peek("/it") is not None) is is_done


def clock_of(cluster: Cluster, broker: int, ms: int) -> int:
    """The advance of a broker's clock while time passes."""
    process = cluster.nodes[broker].process
    assert process is not None
    before = process.clock()
    cluster.elapse(ms)
    return process.clock() - before


def test_a_clock_that_drifts_goes_right_again_when_it_is_over() -> None:
    """It is the machine's, so a broker that starts again meanwhile has it as well."""
    cluster, faults = up()
    faults.drift(1, 200, 500)
    assert clock_of(cluster, 1, 200) == 400
    faults.crash(1, 100)
    cluster.elapse(100)
    assert clock_of(cluster, 1, 200) == 400
    assert clock_of(cluster, 1, 200) == 200
    faults.drift(1, 50, 10_000)
    assert clock_of(cluster, 1, 200) == 100
    cluster.quiet()
    assert clock_of(cluster, 1, 200) == 200


@pytest.mark.parametrize(("rate", "delay", "real"), [
    (100, 1, 1), (100, 7, 7), (200, 8, 4), (50, 4, 8), (1000, 5, 1), (100, 0, 1)])
def test_a_timer_goes_by_the_clock_of_its_process(rate: int, delay: int, real: int) -> None:
    """And takes 1 ms at least."""
    cluster, _ = up()
    rung: list[int] = []
    process = Process(cluster, 7, 0, rate, 90)
    process.later(delay, lambda: rung.append(cluster.now))
    begun = cluster.now
    cluster.elapse(20)
    assert rung == [begun + real]


class Links:
    """A network alone; its messages arrive when their instants come."""

    def __init__(self) -> None:
        self.arrived: list[tuple[int, int, int]] = []   # when, sender, receiver
        self._due: list[tuple[int, Callable[[], None]]] = []
        self._now = 0
        self.network = Network(
            Random(1), lambda: 0, lambda when, call: self._due.append((when, call)),
            lambda message: self.arrived.append((self._now, message.sender, message.to)))

    def send(self, sender: int, to: int) -> list[int]:
        """When 300 messages arrive that are sent at the instant 0."""
        self.arrived.clear()
        for number in range(300):
            self.network.send(Envelope(sender, to, number, None))
        for when, call in sorted(self._due, key=lambda each: each[0]):
            self._now = when
            call()
        self._due.clear()
        return [when for when, *link in self.arrived if link == [sender, to]]


@pytest.mark.parametrize("link", [(0, 1), (1, 0)])
def test_what_is_wrong_with_a_link_is_so_either_way_until_it_is_over(
        link: tuple[int, int]) -> None:
    """It delays, it loses some, it is cut for two reasons; and then all is as before."""
    links = Links()
    network = links.network

    def is_well() -> bool:
        return sorted(set(links.send(*link))) == [1, 2, 3, 4] and len(links.arrived) == 300

    network.delay(0, 1, 50)
    assert max(links.send(*link)) in range(50, 55)
    assert max(links.send(2, 0)) == 4
    network.delay(0, 1, -50)
    assert is_well()
    network.lose(0, 1, 50)
    assert 100 < len(links.send(*link)) < 200
    network.lose(0, 1, -50)
    assert is_well()
    network.cut(0, 1)
    network.cut(0, 1)
    network.mend(0, 1)
    assert links.send(*link) == [] != links.send(2, 0)
    network.mend(0, 1)
    assert is_well()


def test_a_call_that_is_called_off_is_not_made() -> None:
    """Nor does its instant count as one at which something happens; the others are made."""
    cluster, _ = up()
    made: list[str] = []
    numbers = {each: cluster.at(cluster.now + 5, lambda each=each: made.append(each))  # type: ignore[misc]
               for each in ("first", "second", "third")}
    cluster.call_off(numbers["second"])
    cluster.elapse(5)
    assert made == ["first", "third"]
