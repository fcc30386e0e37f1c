"""The topics of a cluster: that of its deployment, and those that are created while it runs.

Topics are numbered in the order of their creation; 0 is that of the deployment. Partitions are
numbered across all topics, and numbers are not reused, so a number identifies a partition. The
znodes of a topic have Kafka's form: ``/brokers/topics/NAME/partitions/NUMBER/state``.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from ..controller.terms import TopicPartition

__all__ = ["Topic", "TopicMisuse", "Topics"]

_NAME: Final = "t"


class TopicMisuse(ValueError):
    """There is no such topic, or it is to be deleted already."""


class Topic(NamedTuple):
    """A topic: its number, its name, and the numbers of its partitions."""

    number: int
    name: str
    partitions: tuple[int, ...]


class Topics:
    """All topics that were ever requested. ``unwanted`` are those that are to be deleted."""

    def __init__(self, deployed: int) -> None:
        self._topics = [Topic(0, _NAME, tuple(range(deployed)))]
        self.unwanted: set[int] = set()

    @property
    def first(self) -> Topic:
        """The topic of the deployment."""
        return self._topics[0]

    def make(self) -> Topic:
        """Add a topic with one partition."""
        last = self._topics[-1]
        number = len(self._topics)
        self._topics.append(Topic(number, f"{_NAME}{number}", (last.partitions[-1] + 1,)))
        return self._topics[-1]

    def remove(self, number: int) -> Topic:
        """Mark a topic for deletion. Raises ``TopicMisuse``."""
        if number >= len(self._topics) or number in self.unwanted:
            raise TopicMisuse(f"there is no topic {number} that could be deleted")
        self.unwanted.add(number)
        return self._topics[number]

    def named(self, name: str) -> Topic | None:
        """The topic of a name; None if there is none."""
        return next((each for each in self._topics if each.name == name), None)

    def of(self, partition: int) -> Topic | None:
        """The topic that has a partition; None if none has."""
        return next((each for each in self._topics if partition in each.partitions), None)

    def is_wanted(self, partition: int) -> bool:
        """True if the partition exists, or will exist, and is to stay."""
        topic = self.of(partition)
        return topic is not None and topic.number not in self.unwanted

    def full_name(self, partition: int) -> TopicPartition:
        """The controller's name of a partition. Raises ``TopicMisuse``."""
        topic = self.of(partition)
        if topic is None:
            raise TopicMisuse(f"there is no partition {partition}")
        return TopicPartition(topic.name, partition)
