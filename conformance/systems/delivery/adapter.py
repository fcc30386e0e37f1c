"""The reference broker behind its port, once for each policy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ....reference.flow.broker import Broker, Full
from ...adapters.port_adapter import PortAdapter
from ...ports.base import Port
from .port import PORT

__all__ = ["DroppingHead", "DroppingTail", "InAnyOrder", "ReferenceBroker", "Unbounded"]

Item = int | str


class ReferenceBroker(PortAdapter):
    """``core`` is what the twins replace."""

    port: ClassVar[Port] = PORT
    policy: ClassVar[str] = "refuse"
    full: ClassVar[Full] = Full.REFUSE
    behind: ClassVar[bool] = False
    name = "reference broker"
    core: type[Broker] = Broker

    def start(self, settings: Mapping[str, Any]) -> None:
        """Begin with a fresh instance."""
        self._broker = self.core(
            settings["capacity"], settings["timeout"], self.full, behind=self.behind)

    def publish(self, message: Item) -> bool:
        return self._broker.publish(message)

    def receive(self, consumer: int) -> Any:
        letter = self._broker.receive(consumer)
        return None if letter is None else letter.message

    def ack(self, consumer: int, message: Item) -> bool:
        return self._broker.ack(consumer, message)

    def requeue(self, consumer: int, message: Item) -> bool:
        return self._broker.requeue(consumer, message)

    def reject(self, consumer: int, message: Item) -> bool:
        return self._broker.reject(consumer, message)

    def limit(self, consumer: int, most: int) -> bool:
        self._broker.limit(consumer, most)
        return True

    def tries(self, most: int) -> bool:
        self._broker.tries(most)
        return True

    def dead(self) -> Any:
        letter = self._broker.bury()
        return None if letter is None else letter.message

    def count(self, message: Item) -> int | None:
        return self._broker.count(message)

    def disconnect(self, consumer: int) -> bool:
        self._broker.disconnect(consumer)
        return True

    def advance(self, ticks: int) -> bool:
        self._broker.advance(ticks)
        return True

    def restart(self) -> bool:
        self._broker.restart()
        return True


class DroppingHead(ReferenceBroker):
    """Its full queue drops the oldest ready message."""

    policy: ClassVar[str] = "drop-head"
    full: ClassVar[Full] = Full.DROP_HEAD


class DroppingTail(ReferenceBroker):
    """Its full queue drops what comes."""

    policy: ClassVar[str] = "drop-tail"
    full: ClassVar[Full] = Full.DROP_TAIL


class Unbounded(ReferenceBroker):
    """Its queue is never full."""

    policy: ClassVar[str] = "unbounded"
    full: ClassVar[Full] = Full.UNBOUNDED


class InAnyOrder(Unbounded):
    """Its queue is never full, and what comes back goes behind all others."""

    policy: ClassVar[str] = "any-order"
    behind: ClassVar[bool] = True
