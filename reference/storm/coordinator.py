"""The assignment of partitions to the tasks of a spout, and the reaction to a change of leader.

Task i of n has the partitions i, i + n, i + 2 n, …, each with a manager of its own. The partitions
are looked up from time to time (``refresh``): a partition that is new gets a new manager; one
with a new leader gets a successor, which has all that the old one had; one that is gone
has its manager closed, which records the position. Acks and fails find the manager by the
partition, never by its leader. There is no clock and no connection in here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from .spout import Fetch, PartitionManager

__all__ = ["Coordinator", "CoordinatorMisuse", "Emit"]


class CoordinatorMisuse(ValueError):
    """The driver broke a rule; the coordinator is as it was before.

    Usual causes: a task number that is not below the number of tasks, a partition that is
    not this task's.
    """


class Emit(NamedTuple):
    """A message to emit; both numbers make its id."""

    partition: int
    offset: int


class Coordinator:
    """Task ``task`` of ``tasks``; ``make`` gives the manager of a partition that is new."""

    def __init__(self, task: int, tasks: int, make: Callable[[int], PartitionManager]) -> None:
        if type(task) is not int or type(tasks) is not int or not 0 <= task < tasks:
            raise CoordinatorMisuse(f"there is no task {task!r} of {tasks!r}")
        self.task: Final = task
        self.tasks: Final = tasks
        self._make = make
        self._managers: dict[int, PartitionManager] = {}
        self._leaders: dict[int, str] = {}
        self._turn = -1
        self._now = 0

    @property
    def managers(self) -> Mapping[int, PartitionManager]:
        """The manager of each of this task's partitions."""
        return MappingProxyType(self._managers)

    def owns(self, partition: int) -> bool:
        """True if a partition belongs to this task."""
        return partition % self.tasks == self.task

    def refresh(self, leaders: Mapping[int, str]) -> dict[int, int]:
        """Take all existing partitions, with their leaders; return the positions to record at once.

        Those are of the partitions that are gone.
        """
        mine = {partition: leader for partition, leader in sorted(leaders.items())
                if self.owns(partition)}
        gone = [partition for partition in self._managers if partition not in mine]
        closed = {partition: self._managers.pop(partition).close() for partition in gone}
        for partition, leader in mine.items():
            self._managers[partition] = self._manager_under(partition, leader)
            self._managers[partition].tell_time(self._now)
        # In the order of their numbers, not of their arrival.
        self._managers = dict(sorted(self._managers.items()))
        self._leaders = mine
        return closed

    def _manager_under(self, partition: int, leader: str) -> PartitionManager:
        manager = self._managers.get(partition)
        if manager is None:
            return self._make(partition)
        return manager if self._leaders[partition] == leader else manager.successor()

    # -- reading and emitting -----------------------------------------------------------------

    def wants(self) -> dict[int, Fetch]:
        """The fetches that are wanted now, by partition."""
        wanted = {partition: manager.wants() for partition, manager in self._managers.items()}
        return {partition: fetch for partition, fetch in wanted.items() if fetch is not None}

    def fetched(self, partition: int, records: Sequence[int], reached: int) -> bool:
        """See ``PartitionManager.fetched``.

        Raises ``CoordinatorMisuse`` for a partition of another task.
        """
        if partition not in self._managers:
            raise CoordinatorMisuse(f"partition {partition!r} is not of task {self.task}")
        return self._managers[partition].fetched(records, reached)

    def next(self) -> Emit | None:
        """A message of the next partition that has one; None if none has.

        Each has its turn, and keeps it while more of its fetched messages wait to be emitted.
        Source: KafkaSpout.nextTuple and EmitState.EMITTED_MORE_LEFT of storm-kafka.
        """
        after = [each for each in self._managers if each > self._turn]
        for partition in (*after, *(each for each in self._managers if each <= self._turn)):
            manager = self._managers[partition]
            offset = manager.next()
            if offset is not None:
                self._turn = partition - 1 if manager.statistics().waiting else partition
                return Emit(partition, offset)
        return None

    # -- acks and failures --------------------------------------------------------------------

    def ack(self, emit: Emit) -> bool:
        """The message was processed; False, and nothing happens, if it is not under way here."""
        manager = self._managers.get(emit.partition)
        return manager is not None and manager.ack(emit.offset)

    def fail(self, emit: Emit) -> bool:
        """The message failed; False, and nothing happens, if it is not under way here."""
        manager = self._managers.get(emit.partition)
        return manager is not None and manager.fail(emit.offset)

    def commit(self) -> dict[int, int]:
        """The position of each partition, to record."""
        return {partition: manager.commit() for partition, manager in self._managers.items()}

    def tell_time(self, now: int) -> None:
        """It is ``now``, for all partitions; see ``PartitionManager.tell_time``."""
        self._now = now
        for manager in self._managers.values():
            manager.tell_time(now)
