"""Producers and consumers: they ask for the leader, send or read, and try again.

A producer has one record under way at a time, and sends it again until it is acknowledged; so a
record may be in the log twice, and records are acknowledged in order. A consumer reads a partition
from its beginning, record by record, from the leader. After a while without new records, it asks
again for the leader (metadata.max.age.ms): a broker that is no longer a replica when it comes back
gets no request, and may consider itself the leader forever.
"""

from __future__ import annotations

from random import Random
from typing import Any, Final

from ..replication.messages import Code, Produce, Produced, Read, ReadUpTo
from .process import Process
from .requests import Leader, Metadata, WhoLeads

__all__ = ["Consumer", "Producer"]

WITHIN: Final = 30
AGAIN_AFTER: Final = 10
READ_EVERY: Final = 15
ASK_AFTER: Final = 10
"""The number of answers without a record after which a consumer asks again for the leader."""


class _Client:
    """Common parts: find the leader. Of two answers, that of the newer epoch counts."""

    def __init__(self, process: Process, partition: int, brokers: int, random: Random) -> None:
        self.process, self.partition = process, partition
        self._brokers, self._random = brokers, random
        self.leader = Leader(-1, -1)

    def _look_for_leader(self) -> None:
        self.process.call(self._random.randrange(self._brokers), WhoLeads(self.partition), WITHIN,
                          self._heard)

    def _heard(self, answer: Any) -> None:
        if isinstance(answer, Metadata) and answer.leader is not None:
            self.leader = max(self.leader, answer.leader, key=lambda each: each.epoch)
        self.process.later(AGAIN_AFTER, self.go_on)

    def go_on(self) -> None:
        """Send or read the next record, or look for the leader."""
        raise NotImplementedError

    def handle(self, sender: int, body: Any, answer: Any) -> None:
        """Ignore the request: clients get none."""


class Producer(_Client):
    """Writes its values in order; the first one that is not acknowledged is sent again."""

    def __init__(self, process: Process, partition: int, brokers: int, random: Random,
                 acks_all: bool) -> None:
        super().__init__(process, partition, brokers, random)
        self.acks_all = acks_all
        self.values: list[int] = []
        self._is_going = False

    def add(self, value: int) -> None:
        """Add one more value to write."""
        self.values.append(value)
        if not self._is_going:
            self._is_going = True
            self.go_on()

    def go_on(self) -> None:
        """Send the next value, or look for the leader."""
        if not self.values:
            self._is_going = False
        elif self.leader.broker < 0:
            self._look_for_leader()
        else:
            self.process.call(
                self.leader.broker, Produce(self.partition, self.values[0], self.acks_all),
                WITHIN, self._answered)

    def _answered(self, answer: Any) -> None:
        if isinstance(answer, Produced) and answer.code is Code.DONE:
            value = self.values.pop(0)
            self.process.world.record(
                "acked", self.process.id, self.partition, int(self.acks_all), answer.offset, value)
            self.process.later(1, self.go_on)
        else:
            self._look_for_leader()


class Consumer(_Client):
    """Reads the committed records, from the beginning."""

    def __init__(self, process: Process, partition: int, brokers: int, random: Random) -> None:
        super().__init__(process, partition, brokers, random)
        self.offset = 0
        self._without = 0       # consecutive answers without a record

    def go_on(self) -> None:
        """Read the next records, or look for the leader."""
        if self.leader.broker < 0:
            self._look_for_leader()
        else:
            broker, offset = self.leader.broker, self.offset
            self.process.call(broker, Read(self.partition, offset), WITHIN,
                              lambda answer: self._answered(broker, answer))

    def _answered(self, broker: int, answer: Any) -> None:
        if not isinstance(answer, ReadUpTo) or answer.code is not Code.DONE:
            self._look_for_leader()
            return
        self.process.world.record(
            "answered", self.partition, broker, answer.life, answer.epoch, answer.hw)
        for each in answer.records:
            self.process.world.record("read", self.partition, self.offset, each.value)
            self.offset += 1
        self._without = 0 if answer.records else self._without + 1
        if self._without == ASK_AFTER:
            self._without = 0
            self._look_for_leader()
        else:
            self.process.later(READ_EVERY, self.go_on)
