"""The reference partition manager and a log for it, behind the port ``storm.partition``."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any, ClassVar

from ....reference.storm.offsets import ClientPartition
from ....reference.storm.retry import Backoff, RetryMisuse
from ....reference.storm.spout import Fetch, PartitionManager, PartitionMisuse
from ...adapters.base import Declined
from ...adapters.port_adapter import PortAdapter
from ...ports.base import Port
from .port import PORT

__all__ = ["Log", "ReferenceClient", "ReferencePartition"]


class Log:
    """A partition of a log: offsets from ``first`` up to ``end``, some of which may be removed."""

    def __init__(self, first: int = 0) -> None:
        self.first = self.end = first
        self._gone: set[int] = set()

    def append(self, count: int) -> None:
        """Append ``count`` messages at the end."""
        self.end += count

    def remove(self, first: int, last: int) -> None:
        """Remove the messages from ``first`` to ``last``."""
        self._gone.update(range(first, last + 1))

    def read(self, fetch: Fetch) -> tuple[list[int], int]:
        """The offsets that a fetch brings, and the offset up to which it looked."""
        there = (offset for offset in range(max(fetch.offset, self.first), self.end)
                 if offset not in self._gone)
        found = [*islice(there, fetch.size)]
        # Beyond its end the log returns nothing, and reports that it has looked nowhere.
        return found, found[-1] + 1 if len(found) == fetch.size else max(self.end, fetch.offset)


class ReferencePartition(PortAdapter):
    """Reads when the manager wants to, and emits when it is asked. ``core`` is for twins."""

    port: ClassVar[Port] = PORT
    policy: ClassVar[str] = "replay"
    name = "reference partition manager"
    core: type[PartitionManager] = PartitionManager

    def start(self, settings: Mapping[str, Any]) -> None:
        self._log = Log(settings["first"])
        self._settings = settings
        self._recorded: int = settings["first"]
        try:
            self._manager = self._started()
        except (PartitionMisuse, RetryMisuse) as misuse:
            raise Declined(str(misuse)) from None

    def _started(self) -> PartitionManager:
        settings = self._settings
        retries = settings["retries"]
        # Every manager counts its time from its own start.
        self._now = 0
        return self.core(
            self._recorded, fetch_size=settings["capacity"],
            backoff=Backoff(settings["delay"], 2, settings["longest"],
                            None if retries < 0 else retries),
            outstanding_max=settings["outstanding"])

    def append(self, count: int) -> bool:
        self._log.append(count)
        return True

    def next(self) -> int | None:
        return self._next(1)

    def split(self) -> int | None:
        return self._next(2)

    def _next(self, tuples: int) -> int | None:
        wanted = self._manager.wants()
        while wanted is not None and self._manager.fetched(*self._log.read(wanted)):
            wanted = self._manager.wants()
        return self._manager.next(tuples)

    def wait(self, milliseconds: int) -> bool:
        self._now += milliseconds
        self._manager.tell_time(self._now)
        return True

    def ack(self, offset: int) -> bool:
        if not self._manager.ack(offset):
            raise Declined("not-under-way")
        return True

    def fail(self, offset: int) -> bool:
        if not self._manager.fail(offset):
            raise Declined("not-under-way")
        return True

    def commit(self) -> int:
        self._recorded = self._manager.commit()
        return self._recorded

    def restart(self) -> bool:
        self._manager = self._started()
        return True

    def close_(self) -> int:
        self._recorded = self._manager.close()
        self._manager = self._started()
        return self._recorded

    def reassign(self) -> bool:
        self._manager = self._manager.successor()
        return True

    def truncate(self, offset: int) -> bool:
        self._log.remove(self._log.first, offset)
        return True

    def compact(self, offset: int) -> bool:
        self._log.remove(offset, offset)
        return True


class ReferenceClient(ReferencePartition):
    """The manager in the style of storm-kafka-client, which keeps the same promises."""

    name = "reference client of a partition"
    core: type[PartitionManager] = ClientPartition
