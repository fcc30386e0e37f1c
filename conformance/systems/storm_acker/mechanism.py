"""The chapter's maps and memory as a record of roots, behind the acker's port."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from ....spec.notation.machine import Machine
from ....spec.notation.views import View
from ....spec.storm.acking.acker_seen import MapSeen, MemorySeen
from ....spec.storm.acking.rotating import AckerMemory, RotatingMap
from ...ports.base import Message
from ...suites.mechanism import Mechanism
from .adapter import ReferenceAcker

__all__ = ["AckingOnly", "EntryOfTheBook", "FailingOnly", "OrphansOfTheBook"]


class EntryOfTheBook(Mechanism):
    """The entry of one root, in a map that rotates with each unit of time. The chapter's maps have
    two buckets or more: one of a single bucket is one of two that rotates twice a period."""

    machine: ClassVar[type[Machine]] = RotatingMap
    view: ClassVar[type[View[Any]]] = MapSeen

    def __init__(self, buckets: int) -> None:
        super().__init__(N=max(2, buckets), P=1)
        self._turns: Final = 2 if buckets == 1 else 1

    def comes(self) -> None:
        """A message about the root."""
        self.fire("put")

    def tick(self) -> None:
        """A period has passed."""
        for _ in range(self._turns):
            self.fire("elapse")

    @property
    def size(self) -> int:
        """The number of entries that there are of the root."""
        found: list[Any] = [arguments for _, arguments in self._view.asked(self.now)]
        return sum(dict(arguments)["count"] for arguments in found)


class OrphansOfTheBook(EntryOfTheBook):
    """The memory of an acker to which a period brings one orphan at most: an entry is not made
    while it is there."""

    machine: ClassVar[type[Machine]] = AckerMemory
    view: ClassVar[type[View[Any]]] = MemorySeen

    def __init__(self, buckets: int) -> None:
        Mechanism.__init__(self, N=buckets, r=1)

    def comes(self) -> None:
        if not self.size:
            self.fire("make")

    def tick(self) -> None:
        self.fire("tick")


class EntriesOfTheBook(ReferenceAcker):
    """An acker to which no spout names a root. ``core`` is the entry of one."""

    core: type[EntryOfTheBook] = EntryOfTheBook     # type: ignore[assignment]
    init = reset_timeout = None                     # type: ignore[assignment]

    def start(self, settings: Mapping[str, Any]) -> None:
        """The acker has no entry yet."""
        self._buckets: int = settings["capacity"]
        self._entries: dict[str, EntryOfTheBook] = {}

    def fail(self, root: str) -> list[Message]:
        """A bolt has failed a tuple of the root."""
        self._entries.setdefault(root, self.core(self._buckets)).comes()
        return []

    def tick(self) -> list[Message]:
        """A period has passed."""
        for entry in self._entries.values():
            entry.tick()
        return []

    def size(self) -> int:
        """The number of entries."""
        return sum(entry.size for entry in self._entries.values())


class FailingOnly(EntriesOfTheBook):
    """Failures come, and no acks."""

    name = "acker's map of the book"
    ack = None                                      # type: ignore[assignment]


class AckingOnly(EntriesOfTheBook):
    """Acks come, which give an entry no more time, and no failures."""

    name = "acker's memory of the book"
    fail = None                                     # type: ignore[assignment]

    def ack(self, root: str, value: str) -> list[Message]:
        return super().fail(root)
