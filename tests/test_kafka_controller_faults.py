"""The reference controller among faults: stale controllers, and all troubles at once."""

from __future__ import annotations

from functools import partial

import pytest
from kafka_controller_world import T0, T1, TIMEOUT, World, obeyed, running

from checkvalve.reference.coordination import terms as coordination
from checkvalve.reference.coordination.port import Loss
from checkvalve.reference.coordination.terms import Committed, Create, Delete, Multi
from checkvalve.reference.kafka.controller import znodes
from checkvalve.reference.kafka.controller.controller import Controller
from checkvalve.reference.kafka.controller.states import PartitionState, ReplicaState
from checkvalve.reference.kafka.controller.store import Store

# -- stale controllers ----------------------------------------------------------------------------

class Unguarded(Store):
    """A controller that writes whether or not another one has replaced it (KAFKA-6082)."""

    def guard(self) -> tuple[coordination.Operation, ...]:
        return ()


class Zombie(Controller):
    """Writes by an ``Unguarded`` store."""

    store_type = Unguarded


def late_writes(world: World, ms: int) -> int:
    """The number of leaderships that a controller wrote after a later one was elected, when its
    znode was deleted ``ms`` after a broker went.
    """
    first = 3 if world.active().id != 3 else 2
    world.create_topic("u", dict.fromkeys(range(12), (first, 1, 5 - first)))
    world.crash(first)
    world.run(TIMEOUT + ms)
    world.do(Delete(znodes.CONTROLLER))
    world.run()
    elected = next(at for at, what, about in world.history if what == "controls" and about[1] == 2)
    return sum(1 for each in world.transactions if each.at > elected
               and isinstance(each.result, Committed) and isinstance(each.request, Multi)
               and any(isinstance(one, coordination.Write)
                       and znodes.state_of(one.data, 0).controller_epoch == 1
                       for one in each.request.operations
                       if one.path.endswith("/state")))


def test_a_controller_that_was_replaced_writes_nothing() -> None:
    """Its writes depend on the epoch; without that, a controller in the middle of its work
    continues.
    """
    moments = range(0, 60, 6)
    assert [late_writes(running(seed=each), each) for each in moments] == [0] * len(moments)
    assert any(late_writes(running(seed=each, controller_type=Zombie), each) for each in moments)


def test_brokers_obey_no_controller_that_was_replaced() -> None:
    """A controller that slept sends what it had in its queues; no broker obeys."""
    world = running()
    old = world.active()
    world.pause(old.id)
    world.run()
    world.resume(old.id)
    old.controller.batch.begin()
    old.controller.batch.update_metadata((1, 2, 3), ())
    old.controller.batch.send(old.controller.store.epoch)
    world.run()
    for broker in (1, 2, 3):
        epochs = [each.controller_epoch for each in obeyed(world, broker)]
        assert epochs == sorted(epochs)


# -- everything at once ---------------------------------------------------------------------------

def harm(world: World) -> None:
    """Something goes wrong, or is over."""
    broker = world.random.choice(sorted(world.nodes))
    node = world.nodes[broker]
    deeds = [partial(world.service.lose, node.handle, world.random.choice(list(Loss))),
             partial(world.service.expire, node.handle), partial(world.cut.add, broker),
             world.cut.clear, partial(world.service.partition, node.handle),
             partial(world.service.heal, node.handle), partial(world.do, Delete(znodes.CONTROLLER))]
    if not node.is_up:
        deeds = [partial(world.start, broker)]
    elif node.is_paused:
        deeds = [partial(world.resume, broker)]
    else:
        deeds += [partial(world.crash, broker), partial(world.pause, broker)]
    world.random.choice(deeds)()


def recover(world: World) -> None:
    """Nothing goes wrong any more."""
    world.cut.clear()
    for broker, node in list(world.nodes.items()):
        world.service.heal(node.handle)
        if not node.is_up:
            world.start(broker)
        elif node.is_paused:
            world.resume(broker)
    world.run(6_000)


def troubled(seed: int) -> World:
    """A run in which much goes wrong, and which becomes quiescent eventually."""
    world = running(4, seed)
    for _ in range(25):
        harm(world)
        world.run(world.random.choice((3, 20, 200, 500)))
        if world.random.random() < 0.1:
            world.do(Create(znodes.REASSIGN, znodes.reassignment_text(
                {T0: tuple(world.random.sample((1, 2, 3, 4), 3))})))
        if world.random.random() < 0.1:
            world.do(Create(znodes.PREFERRED, znodes.partitions_text([T0, T1])))
    recover(world)
    return world


@pytest.mark.parametrize("seed", range(12))
def test_after_all_troubles_everything_agrees(seed: int) -> None:
    """There is one controller; every partition has a live leader and all replicas in sync;
    brokers know what is written; wishes are fulfilled; no controller epoch came twice."""
    world = troubled(seed)
    controller = world.active().controller
    assert world.settled() and world.agrees()
    assert sum(each.controller.is_active for each in world.nodes.values()) == 1
    for partition in (T0, T1):
        found = world.leadership(partition)
        assert found.leader in world.service_brokers()
        assert set(found.isr) == set(controller.context.assignment[partition])
        assert controller.context.state_of(partition) is PartitionState.ONLINE
    states = controller.context.replica_states
    assert set(states.values()) == {ReplicaState.ONLINE}
    assert world.service.peek(znodes.REASSIGN) is None
    epochs = [epoch for _, _, epoch in world.words("controls")]
    assert len(set(map(str, epochs))) == len(epochs)


@pytest.mark.parametrize("seed", range(12, 20))
def test_leader_epochs_have_one_leader_each(seed: int) -> None:
    """Whatever is written of a partition: epochs never fall, and one epoch has one leader."""
    world = troubled(seed)
    seen: dict[tuple[str, int], int] = {}
    last: dict[str, int] = {}
    for each in world.transactions:
        if not isinstance(each.result, Committed | coordination.Written):
            continue
        parts = each.request.operations if isinstance(each.request, Multi) else (each.request,)
        for one in parts:
            if isinstance(one, Create | coordination.Write) and one.path.endswith("/state"):
                found = znodes.state_of(one.data, 0)
                assert found.leader_epoch >= last.get(one.path, 0)
                last[one.path] = found.leader_epoch
                assert seen.setdefault((one.path, found.leader_epoch),
                                       found.leader) == found.leader


def test_a_run_of_controllers_repeats_itself() -> None:
    """The same seed gives the same history."""
    assert troubled(3).history == troubled(3).history
