"""The reference controller: what it does in which order, and what survives faults."""

from __future__ import annotations


import pytest
from kafka_controller_world import T0, T1, World, obeyed, running

from checkvalve.reference.coordination import terms as coordination
from checkvalve.reference.coordination.port import Loss
from checkvalve.reference.coordination.terms import Create, Delete
from checkvalve.reference.kafka.controller import znodes
from checkvalve.reference.kafka.controller.channels import Channels
from checkvalve.reference.kafka.controller.context import Replica
from checkvalve.reference.kafka.controller.controller import Controller
from checkvalve.reference.kafka.controller.core import Settings
from checkvalve.reference.kafka.controller.kafka_0_9 import ControllerOf09, TwoStepElector
from checkvalve.reference.kafka.controller.replicas import ReplicaMachine
from checkvalve.reference.kafka.controller.store import Steps
from checkvalve.reference.kafka.controller.terms import (
    BEING_DELETED, NOBODY, Ask, Opened, TopicPartition, UpdateMetadata,
)

# -- election -------------------------------------------------------------------------------------

def test_one_broker_is_elected_and_the_next_when_it_is_gone() -> None:
    """Each controller has an epoch one greater than the one before."""
    world = World(3)
    world.run()
    for epoch in (1, 2, 3):
        assert world.words("controls")[epoch - 1:] == [("controls", world.active().id, epoch)]
        world.crash(world.active().id)
        if epoch < 3:
            world.run()
    assert world.service.peek(znodes.CONTROLLER_EPOCH) is not None


def test_an_expired_session_is_a_resignation() -> None:
    """The controller resigns, takes part again, and another one is in charge."""
    world = running()
    old = world.active()
    world.service.expire(old.handle)
    world.run()
    assert ("resigned", old.id, 1, "the session is over") in world.words("resigned")
    assert world.active().controller.epoch == 2 and world.settled() and world.agrees()


def test_who_loses_its_znode_resigns_as_well() -> None:
    """Its session continues, and there is one controller with the next epoch."""
    world = running()
    world.do(Delete(znodes.CONTROLLER))
    world.run()
    assert [epoch for _, _, epoch in world.words("controls")] == [1, 2]
    assert len(world.words("resigned")) == 1
    assert len([each for each in world.nodes.values() if each.controller.is_active]) == 1


def test_who_is_not_the_controller_has_no_epoch() -> None:
    """Neither before it was elected nor while another one is in charge."""
    assert Controller(1).epoch == 0
    world = running()
    assert sorted(each.controller.epoch for each in world.nodes.values()) == [0, 0, 1]


def test_a_controller_that_waits_for_a_reply_is_not_idle() -> None:
    """Although no other job waits behind the one that it has begun."""
    controller = Controller(1)
    assert controller.is_idle
    [asked] = controller.receive(Opened(7))
    assert isinstance(asked, Ask) and not controller.is_idle


@pytest.mark.parametrize("loss", list(Loss))
@pytest.mark.parametrize("number", range(0, 24, 2))
def test_an_election_survives_a_lost_reply(loss: Loss, number: int) -> None:
    """Whichever request or reply of the first steps is lost, one controller takes over and the
    epoch is as great as the number of controllers."""
    world = World(1)
    node = world.nodes[1]
    submit, counted = world.service.submit, [0]

    def losing(handle: int, request: coordination.Request) -> int:
        if handle == node.handle:
            counted[0] += 1
            if counted[0] == number + 1:
                world.service.lose(handle, loss)
        return submit(handle, request)

    world.service.submit = losing  # type: ignore[method-assign]
    world.run()
    found = world.service.peek(znodes.CONTROLLER_EPOCH)
    assert found is not None and int(found[0]) == world.active().controller.epoch
    assert len(world.words("took over")) == 1


class OfTwoSteps(Controller):
    """As in Kafka 0.9: the znode first, then the epoch."""

    elector_type = TwoStepElector


@pytest.mark.parametrize("seed", range(4))
def test_the_two_steps_of_0_9_elect_as_well(seed: int) -> None:
    """Brokers that crash in between and sessions that expire leave a controller in the end."""
    world = World(3, seed, controller_type=OfTwoSteps)
    for _ in range(4):
        world.run(world.random.randrange(10, 700))
        world.service.expire(world.nodes[world.random.randint(1, 3)].handle)
    world.run()
    epochs = [epoch for _, _, epoch in world.words("controls")]
    assert epochs == sorted(set(epochs), key=str) and world.active().controller.epoch == epochs[-1]


# -- taking over ----------------------------------------------------------------------------------

class LeadersFirst(Controller):
    """A controller that sends the leaders without the list of brokers (KAFKA-4443)."""

    def tell_who_is_there(self) -> None:
        pass


@pytest.mark.parametrize(("kind", "first"), [
    (Controller, "UpdateMetadata"), (LeadersFirst, "LeaderAndIsr")])
def test_a_new_controller_says_first_who_is_there(kind: type[Controller], first: str) -> None:
    """Brokers learn of the other brokers before they learn which one to follow."""
    world = running(controller_type=kind)
    world.crash(world.active().id)
    world.run()
    epoch = world.active().controller.epoch
    request = next(each for each in obeyed(world, 3) if each.controller_epoch == epoch)
    assert type(request).__name__ == first


class OldStart(ReplicaMachine):
    """Leaves the replicas of dead brokers in the ISR (KAFKA-3143)."""

    def take_dead_offline(self, replicas: list[Replica]) -> Steps[None]:
        yield from ()


class KeepsTheDead(Controller):
    """Begins with ``OldStart``."""

    replicas_type = OldStart


@pytest.mark.parametrize(("kind", "isr"), [(Controller, {2, 3}), (KeepsTheDead, {1, 2, 3})])
def test_replicas_that_died_with_the_controller_leave_the_isr(
        kind: type[Controller], isr: set[int]) -> None:
    """A new controller finds dead followers, and takes them out of the ISR."""
    world = running(controller_type=kind)
    assert world.active().id == 1
    world.crash(1)
    world.run()
    assert set(world.leadership(T1).isr) == isr and world.leadership(T1).leader == 2


def test_a_new_controller_elects_where_nobody_leads() -> None:
    """Partitions with leaders that died with the controller are led again."""
    world = running()
    world.crash(1)
    world.run()
    assert world.leadership(T0).leader == 2 and set(world.leadership(T0).isr) == {2, 3}
    assert world.settled() and world.agrees()


# -- brokers --------------------------------------------------------------------------------------

def test_a_broker_that_fails_is_replaced_as_leader() -> None:
    """First its partitions get leaders, then it leaves the other ISRs; the last of an ISR stays
    there, and leads again when it is back."""
    world = running()
    for broker in (2, 3):
        world.crash(broker)
        world.run()
    assert world.leadership(T0).isr == world.leadership(T1).isr == (1,)
    world.crash(1)
    world.start(2)
    world.run()
    assert world.leadership(T1)[:3] == (NOBODY, world.leadership(T1).leader_epoch, (1,))
    world.start(1)
    world.run()
    assert world.leadership(T1).leader == 1 and world.settled() and world.agrees()


@pytest.mark.parametrize("settings", [
    Settings(unclean_all=True), Settings(unclean=frozenset({"t"}))], ids=["all", "topic"])
def test_where_it_is_wanted_somebody_leads_who_was_not_in_sync(settings: Settings) -> None:
    """With unclean election any live replica leads, alone in the ISR."""
    world = running(settings=settings)
    for broker in (2, 3):
        world.crash(broker)
        world.run()
    world.crash(1)
    world.start(2)
    world.run()
    assert world.leadership(T1).leader == 2 and world.leadership(T1).isr == (2,)


def bounce(world: World, broker: int) -> None:
    """A broker goes and comes back while the controller sleeps for a moment."""
    controller = world.active().id
    world.pause(controller)
    node = world.nodes[broker]
    node.is_up = False
    world.service.close(node.handle)
    world.run(20)
    world.start(broker)
    world.run(60)
    world.resume(controller)
    world.run()


class SeesNoBounce(Controller):
    """Compares ids alone (KAFKA-7235)."""

    def find_bounced(self, there: dict[int, int]) -> list[int]:
        return []


@pytest.mark.parametrize(("kind", "is_told"), [(Controller, True), (SeesNoBounce, False)])
def test_a_broker_that_bounced_is_told_what_it_has(kind: type[Controller], is_told: bool) -> None:
    """It comes back between two looks of the controller, in another life, and knows nothing."""
    world = running(controller_type=kind)
    bounce(world, 3)
    assert (set(world.nodes[3].told) == {T0, T1}) is is_told


def test_a_broker_that_comes_back_is_told_all() -> None:
    """It learns of all partitions, and of its own; the others learn that it is there."""
    world = running()
    world.crash(3)
    world.run()
    world.start(3)
    world.run()
    assert set(world.nodes[3].metadata) == {T0, T1} == set(world.nodes[3].told)
    assert all(each.live == (1, 2, 3) for each in world.nodes.values())
    assert set(world.leadership(T0).isr) == {1, 2, 3}
    controller = world.active().id
    assert world.words("went", "came")[-2:] == [("went", controller, 3), ("came", controller, 3)]


@pytest.mark.parametrize("kind", [Controller, ControllerOf09])
def test_a_broker_without_replicas_is_told_all_as_well(kind: type[Controller]) -> None:
    """Its clients ask it for the leader, whatever it has itself."""
    world = running(4, controller_type=kind)
    world.crash(4)
    world.run()
    world.start(4)
    world.run()
    assert set(world.nodes[4].metadata) == {T0, T1} and not world.nodes[4].told


def test_a_broker_shuts_down_in_order() -> None:
    """Others lead before it goes, it leaves the ISRs, it gets the request to stop, and nothing
    remains.
    """
    world = running()
    world.crash(3)
    world.run()
    world.shut_down(2)
    world.run(100)
    assert world.active().remaining == [()]
    assert {world.leadership(each)[0] for each in (T0, T1)} == {1}
    assert world.leadership(T0).isr == world.leadership(T1).isr == (1,)
    assert world.nodes[2].stopped == {T0: False}
    assert world.nodes[2].told[T1].leadership.leader == 1


def test_a_shutdown_says_what_it_cannot_move() -> None:
    """A partition keeps its leader if the only one in sync goes; other lives, and other brokers
    than the controller, are refused."""
    world = running()
    for broker in (1, 3):
        world.crash(broker)
        world.run()
    world.shut_down(2)
    world.run(100)
    assert world.active().remaining == [(T0, T1)]
    world.nodes[2].broker_epoch -= 1
    world.shut_down(2)
    assert world.active().remaining[1] is None


# -- requests -------------------------------------------------------------------------------------

def test_an_unreachable_broker_is_told_later_in_the_same_order() -> None:
    """Requests queue up for it alone, and arrive in order; nobody else waits."""
    world = running()
    world.cut.add(3)
    before = len(obeyed(world, 3))
    world.do(Create(znodes.PREFERRED, znodes.partitions_text([T0, T1])))
    world.create_topic("u", {0: (3, 1)})
    assert len(obeyed(world, 3)) == before
    queue = world.active().controller.channels.queue_of(3)
    world.cut.clear()
    world.run()
    assert tuple(obeyed(world, 3)[before:before + len(queue)]) == queue
    assert world.settled() and world.agrees()


class Hasty(Channels):
    """Continues with the next request when one fails (KAFKA-1187)."""

    def failed(self, broker: int, number: int) -> None:
        channel = self._channels.get(broker)
        if channel is not None and channel.under_way == number:
            channel.under_way = None
            channel.queue.popleft()
            self._send_first(broker, channel)


class GivesUp(Controller):
    """Has ``Hasty`` channels."""

    channels_type = Hasty


def test_without_retries_a_broker_never_learns() -> None:
    """A request that is not sent again is missing for good."""
    world = running(controller_type=GivesUp)
    world.cut.add(3)
    world.create_topic("u", {0: (1, 3)})
    world.cut.clear()
    world.run()
    assert TopicPartition("u", 0) not in world.nodes[3].told and world.settled()


# -- topics ---------------------------------------------------------------------------------------

def test_partitions_are_added_to_a_topic() -> None:
    """The new ones get leaders, the old ones stay as they are."""
    world = running()
    before = world.leadership(T0)
    more = {0: (1, 2, 3), 1: (2, 3, 1), 2: (3, 1)}
    world.do(coordination.Write(znodes.topic_path("t"), znodes.assignment_text(more)))
    world.run()
    assert world.leadership(TopicPartition("t", 2))[:3] == (3, 0, (3, 1))
    assert world.leadership(T0) == before and world.settled() and world.agrees()


def test_a_topic_is_deleted_everywhere() -> None:
    """Brokers stop and delete its replicas, nothing of it is left, and it can be made again."""
    world = running()
    world.do(Create(f"{znodes.DELETE_TOPICS}/t"))
    world.run()
    assert world.words("deleted") == [("deleted", world.active().id, "t")]
    assert all(each.stopped == {T0: True, T1: True} for each in world.nodes.values())
    for path in (znodes.topic_path("t"), f"{znodes.DELETE_TOPICS}/t"):
        assert world.service.peek(path) is None
    told = [each.partitions[T0].leader for each in obeyed(world, 2)
            if isinstance(each, UpdateMetadata) and T0 in each.partitions]
    assert told[-1] == BEING_DELETED
    world.create_topic("t", {0: (2, 1)})
    assert world.leadership(T0).leader == 2 and world.settled()


@pytest.mark.parametrize("dies", [False, True], ids=["stays", "dies too"])
def test_a_deletion_waits_for_a_dead_broker(dies: bool) -> None:
    """The topic is deleted when the broker is back, also by another controller."""
    world = running()
    world.crash(3)
    world.run()
    world.do(Create(f"{znodes.DELETE_TOPICS}/t"))
    world.run()
    assert world.words("deleted") == [] and world.service.peek(znodes.topic_path("t"))
    if dies:
        world.crash(world.active().id)
        world.run()
    for broker in (1, 2, 3):
        if not world.nodes[broker].is_up:
            world.start(broker)
    world.run()
    assert world.words("deleted")[0][2] == "t" and not world.service.peek(znodes.topic_path("t"))
    assert world.words("illegal") == []


def test_a_deletion_that_goes_on_leaves_alone_what_was_deleted() -> None:
    """A broker that comes back lets it try again; another one has nothing left to stop."""
    world = running()
    world.crash(3)
    world.run()
    world.do(Create(f"{znodes.DELETE_TOPICS}/t"))
    world.run()
    world.crash(2)
    world.run()
    world.start(2)
    world.run()
    assert not [about for about in world.words("illegal") if about[2] in (
        Replica(T0, 1), Replica(T1, 1))]
    assert world.words("deleted") == [] and world.settled()


def test_a_deletion_that_is_not_possible_is_dropped() -> None:
    """Unknown topics are struck off the list, and all are where deletion is switched off."""
    world = running()
    world.do(Create(f"{znodes.DELETE_TOPICS}/unknown"))
    world.run()
    assert world.service.peek(f"{znodes.DELETE_TOPICS}/unknown") is None
    world = running(settings=Settings(delete_topics=False))
    world.do(Create(f"{znodes.DELETE_TOPICS}/t"))
    world.run()
    assert world.service.peek(f"{znodes.DELETE_TOPICS}/t") is None
    assert world.service.peek(znodes.topic_path("t")) and world.words("deleted") == []


def test_the_preferred_replica_leads_when_it_is_wanted() -> None:
    """Where it does already, is not in sync, or is not known, nothing changes; the wish is gone
    either way.
    """
    world = running()
    world.crash(1)
    world.run()
    world.start(1)
    world.run()
    before = world.leadership(T1)
    assert world.leadership(T0).leader == 2
    unknown = TopicPartition("x", 0)
    world.do(Create(znodes.PREFERRED, znodes.partitions_text([unknown, T0, T1])))
    world.run()
    assert world.leadership(T0).leader == 1 and world.leadership(T1) == before
    assert world.words("illegal") == []
    assert world.service.peek(znodes.PREFERRED) is None and world.settled() and world.agrees()


def test_what_leaders_notify_is_told_to_all() -> None:
    """When a leader has changed the ISR, every broker's metadata has it, and the notification
    is gone."""
    world = running()
    world.crash(3)
    world.run()
    world.start(3)
    world.run()
    for node in world.nodes.values():
        assert set(node.metadata[T0].isr) == {1, 2, 3}
    found = world.service.peek(znodes.ISR_CHANGES)
    assert found is not None and found[1].children == 0


# -- reassignments --------------------------------------------------------------------------------

def reassign(world: World, targets: tuple[int, ...]) -> None:
    """Wish for other replicas of a partition."""
    world.do(Create(znodes.REASSIGN, znodes.reassignment_text({T0: targets})))


def test_a_partition_is_reassigned_without_a_gap() -> None:
    """The new replicas are in sync before the old ones go; the old ones delete what they have."""
    world = running(5)
    reassign(world, (5, 4))
    world.run()
    assert world.leadership(T0)[0] == 5 and set(world.leadership(T0).isr) == {4, 5}
    assert all(world.nodes[each].stopped == {T0: True} for each in (1, 2, 3))
    assert world.service.peek(znodes.REASSIGN) is None
    found = world.service.peek(znodes.topic_path("t"))
    assert found and znodes.assignment_of(found[0]) == {0: (5, 4), 1: (2, 3, 1)}
    assert world.settled() and world.agrees()


@pytest.mark.parametrize("ms", range(4, 130, 9))
def test_a_reassignment_survives_its_controller(ms: int) -> None:
    """Wherever the controller dies, the next one brings it to its end."""
    world = running(5, seed=ms)
    reassign(world, (5, 4))
    world.run(ms)
    controller = world.active().id
    world.crash(controller)
    world.run()
    world.start(controller)
    world.run(4_000)
    assert world.leadership(T0)[0] in (4, 5) and set(world.leadership(T0).isr) == {4, 5}
    assert world.service.peek(znodes.REASSIGN) is None and world.settled() and world.agrees()


def test_a_reassignment_to_a_dead_broker_is_refused() -> None:
    """So are those of unknown partitions, to nobody, and to one broker twice."""
    world = running()
    for wish in ({T0: (1, 9)}, {TopicPartition("x", 0): (1,)}, {T0: ()}, {T0: (2, 2)}):
        world.do(Create(znodes.REASSIGN, znodes.reassignment_text(wish)))
        world.run()
        assert world.service.peek(znodes.REASSIGN) is None
    assert world.words("reassigned") == [] and len(world.words("not reassigned")) == 4


# -- Kafka 0.9 ------------------------------------------------------------------------------------

@pytest.mark.parametrize("seed", range(4))
def test_the_controller_of_0_9_does_the_same_where_nothing_is_special(seed: int) -> None:
    """Leaders are elected when brokers and controllers go, and topics come and go."""
    world = running(4, seed, controller_type=ControllerOf09)
    for broker in (world.active().id, 4):
        world.crash(broker)
        world.run()
        world.start(broker)
        world.run()
    world.do(Create(f"{znodes.DELETE_TOPICS}/t"))
    world.create_topic("u", {0: (4, 1)})
    world.shut_down(4)
    world.run()
    assert world.leadership(TopicPartition("u", 0)).leader == 1
    assert world.service.peek(znodes.topic_path("t")) is None
    assert world.settled() and world.agrees()


def test_the_controller_of_0_9_leaves_the_dead_in_the_isr() -> None:
    """Where a follower died with the controller, no request takes it out of the ISR, and the list
    of brokers is not sent first.
    """
    world = running(controller_type=ControllerOf09)
    dead = world.active().id
    world.crash(dead)
    world.run()
    followed = T1 if dead != 2 else T0
    assert set(world.leadership(followed).isr) == {1, 2, 3}
    epoch, other = world.active().controller.epoch, 3 if dead != 3 else 1
    request = next(each for each in obeyed(world, other) if each.controller_epoch == epoch)
    assert type(request).__name__ == "LeaderAndIsr"


def test_the_controller_of_0_9_says_who_is_there_when_it_has_taken_over() -> None:
    """Also where there is no partition to report."""
    world = World(3, controller_type=ControllerOf09)
    world.run()
    world.crash(world.active().id)
    world.run()
    left = [each for each in world.nodes.values() if each.is_up]
    assert [each.live for each in left] == [tuple(each.id for each in left)] * 2
