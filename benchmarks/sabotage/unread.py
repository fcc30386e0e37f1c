"""A cluster that works, but for one thing: the last record of a log is never read."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from checkvalve.conformance.ports.base import Message
from checkvalve.conformance.systems.kafka_failover.adapter import ReferenceCluster
from checkvalve.reference.kafka.cluster.cluster import Parts
from checkvalve.reference.kafka.replication.replica import Replica

__all__ = ["NeverRead"]


class _Unread(Replica):
    """Consumers get what is committed, except the last of it."""

    def readable(self) -> int:
        return max(0, self.hw - 1)


class NeverRead(ReferenceCluster):
    """The reference's cluster with such replicas, and no operator who prefers a leader."""

    parts: Parts = replace(Parts(), replica=_Unread)

    def request(self, message: Message) -> Message:
        """See ``PortAdapter``; there is no ``prefer``."""
        reply = super().request(message)
        if message["do"] == "hello" and "ok" in reply:
            can: list[Any] = reply["ok"]["can"]
            reply["ok"]["can"] = [name for name in can if name != "prefer"]
        return reply
