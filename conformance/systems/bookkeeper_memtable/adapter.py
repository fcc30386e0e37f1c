"""The reference memtable behind its port."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ....reference.bookkeeper.memtable import EntryTooLong, Memtable, MemtableMisuse, Moved
from ...adapters.base import Declined
from ...adapters.port_adapter import PortAdapter
from ...ports.base import Port
from .port import PORT

__all__ = ["ReferenceMemtable"]

Events = list[list[str | int]]


class ReferenceMemtable(PortAdapter):
    """The reference memtable; a twin replaces ``core``."""

    port: ClassVar[Port] = PORT
    policy: ClassVar[str] = "wait"
    name = "reference memtable"
    core: type[Memtable] = Memtable

    def start(self, settings: Mapping[str, Any]) -> None:
        self._memtable = self.core(settings["capacity"])

    def add(self, entry: int | str, length: int) -> Events:
        try:
            return _events(self._memtable.add(entry, length))
        except EntryTooLong:
            return [["refuse", entry]]

    def flushed(self, failed: bool) -> Events:
        try:
            return _events(self._memtable.flushed(failed=failed))
        except MemtableMisuse:
            raise Declined("no-flush") from None


def _events(moved: Moved) -> Events:
    events: Events = [["insert", entry] for entry in moved.inserted]
    if moved.flush:
        events.append(["flush", moved.flush])
    return events
