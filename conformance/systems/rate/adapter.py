"""The reference token bucket behind its port."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ....reference.flow.bucket import RateLimit
from ...adapters.port_adapter import PortAdapter
from ...ports.base import Port
from .port import PORT

__all__ = ["ReferenceRate"]


class ReferenceRate(PortAdapter):
    """``core`` is what the twins replace."""

    port: ClassVar[Port] = PORT
    policy: ClassVar[str] = "bucket"
    name = "reference rate limit"
    core: type[RateLimit] = RateLimit

    def start(self, settings: Mapping[str, Any]) -> None:
        """See ``PortAdapter.start``."""
        self._limit = self.core(settings["rate"], settings["capacity"])

    def take(self, permits: int) -> bool:
        """See the port."""
        return self._limit.take(permits)

    def tick(self, ticks: int) -> bool:
        """See the port."""
        for _ in range(ticks):
            self._limit.tick()
        return True
