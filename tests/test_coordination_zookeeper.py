"""The coordination port over a real ZooKeeper keeps the same laws as the one in virtual time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import pytest
from coordination_laws import LAWS, Law, World
from kafka_controller_world import T0, T1
from kafka_controller_world import World as KafkaWorld
from kazoo.client import KazooClient, KazooState

from checkvalve.conformance.services.zookeeper import ZooKeeper
from checkvalve.reference.coordination.terms import Create, Created, Disconnected, Expired
from checkvalve.reference.drivers.paced import PacedZooKeeper
from checkvalve.reference.drivers.zookeeper import (
    ZooKeeperCoordination,
    ZooKeeperMisuse,
    _Session,
)

pytestmark = pytest.mark.services


@pytest.fixture(scope="module")
def server() -> Iterator[ZooKeeper]:
    """A server of its own; laws that stop it start it again."""
    with ZooKeeper() as running:
        yield running


@pytest.fixture
def port(server: ZooKeeper) -> Iterator[ZooKeeperCoordination]:
    """Clients of that server, which end with the test."""
    with ZooKeeperCoordination(server.address, server) as clients:
        yield clients


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.check.__name__)
def test_the_port_keeps_its_laws(port: ZooKeeperCoordination, law: Law) -> None:
    """Every law of the port holds of the real server too, one that is killed included."""
    law.check(World(port, f"/{law.check.__name__}"))


def _eventually(world: KafkaWorld, holds: Callable[[], bool]) -> None:
    """Let time pass until it holds: on a busy machine a session may end at any time, and another
    election follows."""
    for _ in range(100):
        if holds():
            return
        world.run(100)
    pytest.fail("10,000 instants were not enough.")


def _has_controller(world: KafkaWorld) -> bool:
    return any(each.controller.is_active for each in world.nodes.values()
               if each.is_up and not each.is_paused)


def _all_agree(world: KafkaWorld) -> bool:
    registered = world.service_brokers()
    return _has_controller(world) and world.settled() and world.agrees() and all(
        world.leadership(each).leader in registered for each in (T0, T1))


def test_controllers_go_on_over_a_real_server(server: ZooKeeper) -> None:
    """One is elected, elects leaders, and is followed by another when its session expires, when
    it is paused, and when the server was killed; in the end all agree. Times are doubled, so
    that the sessions are not shorter than the server allows."""
    with PacedZooKeeper(server, server.address, pace=2) as service:
        world = KafkaWorld(3, store=service.told_to)
        has_controller = partial(_has_controller, world)
        world.run(500)
        _eventually(world, has_controller)
        world.create_topic("t", {0: (1, 2, 3), 1: (2, 3, 1)}, ms=300)
        world.service.expire(world.active().handle)
        world.run(600)
        _eventually(world, has_controller)
        paused = world.active().id
        world.pause(paused)
        world.run(700)
        world.resume(paused)
        world.service.stop()
        world.run(20)
        world.service.restart()
        _eventually(world, has_controller)
        world.crash(world.active().id)
        world.run(1_200)
        _eventually(world, partial(_all_agree, world))
        epochs = [epoch for _, _, epoch in world.words("controls")]
        assert epochs == list(range(1, len(epochs) + 1)) and len(epochs) >= 4


def test_nothing_is_sent_over_a_connection_that_was_given_up(
    port: ZooKeeperCoordination, monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A server may answer a client just when its connection is given up for a new one: what is
    asked then waits for the new one, and is not lost."""
    heard, given_up = _Session._heard_state, []

    def answered_too_late(session: _Session, state: str) -> None:
        if state == KazooState.CONNECTED and not given_up:
            given_up.append(session)
            session.handler.knock()
        heard(session, state)

    monkeypatch.setattr(_Session, "_heard_state", lambda *told: late(*told))
    late = heard
    world = World(port, "/given-up")
    port.stop()
    world.wait_for(world.here, lambda told: told == Disconnected())
    late = answered_too_late
    number = world.submit(world.here, Create(world.at("a")))
    port.restart()
    assert isinstance(world.result(world.here, number), Created) and given_up


def test_nobody_takes_a_session_back_that_is_being_ended(
    port: ZooKeeperCoordination, monkeypatch: pytest.MonkeyPatch,
) -> None:
    """However slow the client is that ends it, the session's own does not connect meanwhile."""
    world, stop = World(port, "/taken-over"), KazooClient.stop
    session = port._any_session(world.here)

    def slow(client: KazooClient) -> None:
        if client is not session.client:
            found.append("expire" in session.handler.obstacles)
        stop(client)

    found: list[bool] = []
    monkeypatch.setattr(KazooClient, "stop", slow)
    port.expire(world.here)
    world.wait_for(world.here, lambda told: told == Expired())
    assert found == [True] and not session.handler.obstacles


def test_misuse_is_told(port: ZooKeeperCoordination) -> None:
    """A handle comes from open and is not closed, and a timeout is 1 ms or more."""
    handle = port.open(4_000)
    port.close(handle)
    for misuse in (lambda: port.close(handle), lambda: port.open(0), lambda: port.expire(9)):
        with pytest.raises(ZooKeeperMisuse):
            misuse()
    with pytest.raises(ZooKeeperMisuse):
        ZooKeeperCoordination("nowhere:1").stop()
