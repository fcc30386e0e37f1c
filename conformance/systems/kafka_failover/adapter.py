"""The reference's cluster behind the port ``kafka.failover``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ....reference.kafka.cluster.cluster import Cluster, Deployment, DeploymentMisuse, Parts
from ....reference.kafka.cluster.faults import FaultMisuse, Faults
from ....reference.kafka.cluster.topics import TopicMisuse
from ...adapters.base import Declined
from ...adapters.port_adapter import PortAdapter
from .port import PORT

__all__ = ["ReferenceCluster"]


class ReferenceCluster(PortAdapter):
    """One cluster in virtual time. A twin replaces ``parts`` or ``cluster_type``."""

    port: ClassVar = PORT
    policy: ClassVar[str] = "clean"
    parts: Parts = Parts()
    cluster_type: type[Cluster] = Cluster

    def start(self, settings: Mapping[str, Any]) -> None:
        self._min_isr: int = settings["capacity"]
        self._cluster: Cluster | None = None
        self._told = 0

    def deploy(self, brokers: int, partitions: int, seed: int) -> bool:
        if self._cluster is not None:
            raise Declined("deployed-already")
        try:
            deployment = Deployment(brokers, partitions, self._min_isr, seed)
        except DeploymentMisuse as misuse:
            raise Declined(str(misuse)) from None
        self._cluster = self.make(deployment)
        return True

    def make(self, deployment: Deployment) -> Cluster:
        """The cluster of a deployment, with its coordination service."""
        return self.cluster_type(deployment, self.parts)

    def produce(self, after: int, partition: int, acks_all: int, records: int) -> list[str]:
        self._with(after, partition).produce(partition, acks_all == 1, records)
        return self._news()

    def crash(self, after: int, **about: int) -> list[str]:
        return self._fault(after, "crash", **about)

    def pause(self, after: int, **about: int) -> list[str]:
        return self._fault(after, "pause", **about)

    def expire(self, after: int, broker: int) -> list[str]:
        return self._fault(after, "expire", broker=broker)

    def isolate(self, after: int, **about: int) -> list[str]:
        return self._fault(after, "isolate", **about)

    def drift(self, after: int, **about: int) -> list[str]:
        return self._fault(after, "drift", **about)

    def cut(self, after: int, broker: int, other: int, lasts: int) -> list[str]:
        return self._fault(after, "cut", one=broker, other=other, lasts=lasts)

    def delay(self, after: int, broker: int, other: int, extra: int, lasts: int) -> list[str]:
        return self._fault(after, "delay", one=broker, other=other, extra=extra, lasts=lasts)

    def lose(self, after: int, broker: int, other: int, percent: int, lasts: int) -> list[str]:
        return self._fault(after, "lose", one=broker, other=other, percent=percent, lasts=lasts)

    def stop_service(self, after: int, lasts: int) -> list[str]:
        return self._fault(after, "stop_service", lasts=lasts)

    def upon(self, after: int, moment: str, deed: str, lasts: int) -> list[str]:
        return self._fault(after, "upon", moment=moment, deed=deed, lasts=lasts)

    def shut_down(self, after: int, **about: int) -> list[str]:
        return self._fault(after, "shut_down", **about)

    def prefer(self, after: int, partition: int) -> list[str]:
        self._with(after, partition).prefer(partition)
        return self._news()

    def reassign(self, after: int, partition: int, to: str) -> list[str]:
        cluster, replicas = self._with(after, partition), tuple(map(int, to.split(",")))
        if not set(replicas) <= cluster.nodes.keys():
            raise Declined("unknown-broker")
        cluster.reassign(partition, replicas)
        return self._news()

    def make_topic(self, after: int) -> list[str]:
        self._after(after).make_topic()
        return self._news()

    def delete_topic(self, after: int, topic: int) -> list[str]:
        try:
            self._after(after).delete_topic(topic)
        except TopicMisuse as misuse:
            raise Declined(str(misuse)) from None
        return self._news()

    def permit_unclean(self, after: int) -> list[str]:
        self._after(after).permit_unclean()
        return self._news()

    def elapse(self, after: int) -> list[str]:
        self._after(after)
        return self._news()

    def quiet(self) -> list[str]:
        self._after(0).quiet()
        return self._news()

    def _after(self, ms: int) -> Cluster:
        if self._cluster is None:
            raise Declined("nothing-deployed")
        self._cluster.elapse(ms)
        return self._cluster

    def _with(self, after: int, partition: int) -> Cluster:
        cluster = self._after(after)
        if not cluster.topics.is_wanted(partition):
            raise Declined("unknown-partition")
        return cluster

    def _fault(self, after: int, name: str, **about: Any) -> list[str]:
        faults = Faults(self._after(after))
        try:
            getattr(faults, name)(**about)
        except FaultMisuse as misuse:
            raise Declined(str(misuse)) from None
        return self._news()

    def _news(self) -> list[str]:
        """What has happened since the last answer."""
        assert self._cluster is not None
        events = self._cluster.history[self._told:]
        self._told += len(events)
        return [" ".join(map(str, (each.at, each.what, *each.about))) for each in events]
