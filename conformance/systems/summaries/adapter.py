"""The reference stages behind their port."""

from __future__ import annotations

from collections.abc import Mapping
from operator import add
from typing import Any, ClassVar

from ....reference.flow.stages import Groups, RolledUp
from ...adapters.port_adapter import PortAdapter
from ...ports.base import Port
from .port import PORT

__all__ = ["ReferenceBatches", "ReferenceSummaries"]


def _itself(value: int) -> int:
    return value


class _ReferenceStage(PortAdapter):
    """``core`` is what the twins replace."""

    port: ClassVar[Port] = PORT
    core: type[Any]
    _stage: Any

    def offer(self, value: int) -> bool:
        if not self._stage.wants:
            return False
        self._stage.take(value)
        return True

    def take(self) -> list[int] | None:
        if not self._stage.ready:
            return None
        made = self._stage.make()
        return made if isinstance(made, list) else [made]


class ReferenceSummaries(_ReferenceStage):
    """``RolledUp``, with the sum as its summary."""

    policy: ClassVar[str] = "rolls up"
    name = "reference stage that rolls up"
    core: type[Any] = RolledUp

    def start(self, settings: Mapping[str, Any]) -> None:
        """Begin with a fresh instance."""
        self._stage = self.core(_itself, add)


class ReferenceBatches(_ReferenceStage):
    """``Groups`` that need not be full."""

    policy: ClassVar[str] = "batches"
    name = "reference stage that batches"
    core: type[Any] = Groups

    def start(self, settings: Mapping[str, Any]) -> None:
        """Begin with a fresh instance."""
        self._stage = self.core(settings["capacity"], whole=False)
