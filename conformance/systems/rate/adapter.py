"""The reference token bucket, and the reference of a sliding log, behind their port."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ....reference.flow.bucket import RateLimit, SlidingLog
from ...adapters.base import Declined
from ...adapters.port_adapter import PortAdapter
from ...ports.base import UNSUPPORTED, Port
from .port import PORT

__all__ = ["ReferenceLog", "ReferenceRate"]


class ReferenceRate(PortAdapter):
    """``core`` is what the twins replace."""

    port: ClassVar[Port] = PORT
    policy: ClassVar[str] = "bucket"
    name = "reference rate limit"
    core: type[RateLimit] = RateLimit

    def start(self, settings: Mapping[str, Any]) -> None:
        """Begin with a fresh instance."""
        self._limit = self.core(settings["rate"], settings["capacity"])

    def take(self, permits: int) -> bool:
        return self._limit.take(permits)

    def tick(self, ticks: int) -> list[str]:
        through = []
        for _ in range(ticks):
            self._limit.tick()
            through += self._limit.let_through()
        return through

    def idle(self, ticks: int) -> bool:
        self._limit.idle(ticks)
        return True

    def acquire(self, by: str, permits: int) -> list[str]:
        self._limit.wait(by, permits)
        return self._limit.let_through()

    def give_up(self, by: str) -> list[str]:
        self._limit.give_up(by)
        return self._limit.let_through()

    def ask(self, permits: int) -> bool:
        return self._limit.take(permits)

    def both(self, permits: int, other: int, steps: int) -> list[bool]:
        first = self._limit.taking(permits)
        for _ in range(steps):
            try:
                next(first)
            except StopIteration as over:
                return [over.value, self._finish(other)]
        second = self._finish(other)
        try:
            while True:
                next(first)
        except StopIteration as over:
            return [over.value, second]

    def _finish(self, permits: int) -> bool:
        asked = self._limit.taking(permits)
        try:
            while True:
                next(asked)
        except StopIteration as over:
            return bool(over.value)


class ReferenceLog(PortAdapter):
    """``core`` is what the twins replace."""

    port: ClassVar[Port] = PORT
    policy: ClassVar[str] = "log"
    name = "reference sliding log"
    core: type[SlidingLog] = SlidingLog

    def start(self, settings: Mapping[str, Any]) -> None:
        """Begin with a fresh instance."""
        if settings["capacity"] % settings["rate"]:
            raise Declined(f"{UNSUPPORTED}rate")
        self._log = self.core(settings["rate"], settings["capacity"])

    def take(self, permits: int) -> bool:
        return self._log.take(permits)

    def ask(self, permits: int) -> bool:
        return self._log.take(permits)

    def tick(self, ticks: int) -> bool:
        for _ in range(ticks):
            self._log.tick()
        return True

    def idle(self, ticks: int) -> bool:
        self._log.idle(ticks)
        return True
