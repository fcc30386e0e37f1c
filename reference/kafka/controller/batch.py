"""The requests that one job causes, collected so that each broker gets few of them.

Source: Kafka's AbstractControllerBrokerRequestBatch.
"""

from __future__ import annotations

from collections.abc import Iterable

from .channels import Channels
from .context import Context
from .terms import (
    BEING_DELETED, LeaderAndIsr, Leadership, Metadata, PartitionTold, StopReplica, Stopped,
    TopicPartition, UpdateMetadata,
)

__all__ = ["Batch", "BatchMisuse"]


class BatchMisuse(RuntimeError):
    """A batch is begun while requests of the previous one have not been sent."""


class Batch:
    """Collects requests, and sends them: LeaderAndIsr first, then UpdateMetadata, then StopReplica.

    Brokers that are not registered get no request.
    """

    def __init__(self, controller: int, context: Context, channels: Channels) -> None:
        self._controller, self._context, self._channels = controller, context, channels
        self._led: dict[int, dict[TopicPartition, PartitionTold]] = {}
        self._metadata: dict[TopicPartition, None] = {}
        self._metadata_to: dict[int, None] = {}
        self._stopped: dict[int, dict[TopicPartition, Stopped]] = {}

    def begin(self) -> None:
        """Begin a batch. Raises ``BatchMisuse`` if the last one was not sent."""
        if self._led or self._metadata_to or self._stopped:
            raise BatchMisuse("the requests of the last batch were neither sent nor dropped")

    def drop(self) -> None:
        """Forget the collected requests."""
        for collected in (self._led, self._metadata, self._metadata_to, self._stopped):
            collected.clear()

    def lead(self, brokers: Iterable[int], partition: TopicPartition, leadership: Leadership,
             *, is_new: bool = False) -> None:
        """Inform brokers of the leader, and every broker by its metadata."""
        replicas = self._context.assignment[partition]
        for broker in brokers:
            told = self._led.setdefault(broker, {})
            was_new = partition in told and told[partition].is_new
            told[partition] = PartitionTold(leadership, replicas, is_new or was_new)
        self.update_metadata(self._context.registered, (partition,))

    def stop(self, broker: int, partition: TopicPartition, *, delete: bool) -> None:
        """Ask a broker to stop a replica; deleting it takes precedence over stopping it."""
        leadership = self._context.leaderships.get(partition)
        told = self._stopped.setdefault(broker, {})
        before = told.get(partition)
        told[partition] = Stopped(delete or (before is not None and before.delete),
                                  leadership.leader_epoch if leadership else 0)

    def update_metadata(self, brokers: Iterable[int], partitions: Iterable[TopicPartition]) -> None:
        """Inform brokers of partitions, and always of the live brokers."""
        self._metadata_to |= dict.fromkeys(brokers)
        self._metadata |= dict.fromkeys(partitions)

    def send(self, controller_epoch: int) -> None:
        """Put all collected requests into the queues, and begin anew."""
        self._send_led(controller_epoch)
        self._send_metadata(controller_epoch)
        self._send_stopped(controller_epoch)
        self.drop()

    def _send_led(self, epoch: int) -> None:
        for broker, told in sorted(self._led.items()):
            if broker in self._context.registered:
                self._channels.send(broker, LeaderAndIsr(
                    self._controller, epoch, self._context.registered[broker], dict(told),
                    tuple(sorted(self._context.registered))))

    def _send_metadata(self, epoch: int) -> None:
        partitions = {each: self._metadata_of(each) for each in sorted(self._metadata)
                      if each in self._context.leaderships}
        for broker in sorted(self._metadata_to):
            if broker in self._context.registered:
                self._channels.send(broker, UpdateMetadata(
                    self._controller, epoch, self._context.registered[broker], partitions,
                    tuple(sorted(self._context.registered))))

    def _metadata_of(self, partition: TopicPartition) -> Metadata:
        leadership = self._context.leaderships[partition]
        deleted = self._context.is_being_deleted(partition)
        return Metadata(BEING_DELETED if deleted else leadership.leader, leadership.leader_epoch,
                        leadership.isr, self._context.assignment.get(partition, ()))

    def _send_stopped(self, epoch: int) -> None:
        for broker, told in sorted(self._stopped.items()):
            if broker in self._context.registered:
                self._channels.send(broker, StopReplica(
                    self._controller, epoch, self._context.registered[broker], dict(told)))
