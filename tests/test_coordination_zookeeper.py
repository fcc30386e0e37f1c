"""The coordination port over a real ZooKeeper keeps the same laws as the one in virtual time."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from coordination_laws import LAWS, Law, World

from checkvalve.conformance.services.zookeeper import ZooKeeper
from checkvalve.reference.drivers.zookeeper import ZooKeeperCoordination, ZooKeeperMisuse

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


def test_misuse_is_told(port: ZooKeeperCoordination) -> None:
    """A handle comes from open and is not closed, and a timeout is 1 ms or more."""
    handle = port.open(4_000)
    port.close(handle)
    for misuse in (lambda: port.close(handle), lambda: port.open(0), lambda: port.expire(9)):
        with pytest.raises(ZooKeeperMisuse):
            misuse()
    with pytest.raises(ZooKeeperMisuse):
        ZooKeeperCoordination("nowhere:1").stop()
