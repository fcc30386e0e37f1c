"""The reference link behind its port."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ....reference.flow.link import LinkMisuse, LinkReceiver, LinkSender
from ...adapters.base import Declined
from ...adapters.port_adapter import PortAdapter
from ...ports.base import UNSUPPORTED, Message, Port
from .port import PORT

__all__ = ["ReferenceLink"]


class ReferenceLink(PortAdapter):
    """``sender`` and ``receiver`` are what the twins replace."""

    port: ClassVar[Port] = PORT
    policy: ClassVar[str] = "incremental"
    name = "reference link"
    sender: type[LinkSender[int]] = LinkSender
    receiver: type[LinkReceiver[int]] = LinkReceiver

    def start(self, settings: Mapping[str, Any]) -> None:
        """Begin with a fresh instance."""
        try:
            self._b = self.receiver(settings["capacity"], settings["batch"])
        except LinkMisuse:
            raise Declined(f"{UNSUPPORTED}batch") from None
        self._a = self.sender(settings["capacity"])

    def offer(self, elements: list[int]) -> list[int]:
        return self._a.offer(elements)

    def permit(self, count: int) -> list[int]:
        return self._a.permit(count)

    def data(self, element: int) -> list[int]:
        try:
            return _messages(self._b.arrive(element))
        except LinkMisuse:
            raise Declined("overrun") from None

    def process(self) -> Message:
        try:
            element, permits = self._b.process()
        except LinkMisuse:
            return {"element": None, "permits": []}
        return {"element": element, "permits": _messages(permits)}


def _messages(permits: int) -> list[int]:
    return [permits] if permits else []
