"""Replicated partitions while brokers and controllers fail, by their history."""

from ...suites.system import Shipped, System

__all__ = ["SYSTEM"]

SYSTEM = System(
    name="kafka.failover",
    folder=__name__,
    subject="elections and replication",
    about="replicated partitions while brokers and controllers fail, by their history",
    page="kafka-failover.md",
    shipped=(
        Shipped("reference.kafka.failover", "adapter:ReferenceCluster",
                "the reference's cluster, coordinated in memory"),
        Shipped("zookeeper.kafka.failover", "on_zookeeper:ClusterOnZooKeeper",
                "the same cluster, coordinated by a real ZooKeeper (needs Java and kazoo)",
                made_here=True),
    ),
    cases=100,
    bugs="bugs",
)
