"""The reference's cluster, coordinated by a real ZooKeeper on loopback."""

from __future__ import annotations

import atexit
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from ....reference.kafka.cluster.cluster import Cluster, Deployment
from .adapter import ReferenceCluster

if TYPE_CHECKING:
    from ...services.zookeeper import ZooKeeper

__all__ = ["ClusterOnZooKeeper"]

_RUNS: Final = count(1)
_SERVERS: Final[list[Any]] = []


def _server() -> ZooKeeper:
    """One server for all clusters of this process; each has a folder of its own there."""
    from ...services.zookeeper import ZooKeeper

    if not _SERVERS:
        server = ZooKeeper()
        server.start()
        atexit.register(server.close)
        _SERVERS.append(server)
    started: ZooKeeper = _SERVERS[0]
    return started


class ClusterOnZooKeeper(ReferenceCluster):
    """As the reference, with sessions that expire and a server that is killed in earnest."""

    name = "zookeeper.kafka.failover"

    def make(self, deployment: Deployment) -> Cluster:
        from ....reference.coordination.terms import Create, Reply
        from ....reference.drivers.zookeeper import ZooKeeperCoordination
        from ....reference.drivers.zookeeper_cluster import RealService

        server, folder = _server(), f"/run{next(_RUNS)}"
        with ZooKeeperCoordination(f"127.0.0.1:{server.port}") as maker:
            number = maker.submit(maker.open(10_000), Create(folder))
            while not any(isinstance(told, Reply) and told.number == number
                          for _, told in maker.collect(within=10_000)):
                pass
        self._driver = ZooKeeperCoordination(f"127.0.0.1:{server.port}{folder}", server)
        return self.cluster_type(deployment, self.parts, partial(RealService, self._driver))

    def quiet(self) -> list[str]:
        """See ``ReferenceCluster.quiet``; the sessions end with it."""
        news = super().quiet()
        self._driver.shut()
        return news
