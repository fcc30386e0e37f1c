"""The reference link with numbered elements behind its port."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from ....reference.flow.counted import CountedReceiver, CountedSender, Numbered
from ....reference.flow.link import LinkMisuse
from ...adapters.base import Declined
from ...adapters.port_adapter import PortAdapter
from ...ports.base import UNSUPPORTED, Message, Port
from .port import PORT

__all__ = ["ReferenceCountedLink"]


class ReferenceCountedLink(PortAdapter):
    """``sender`` and ``receiver`` are what the twins replace."""

    port: ClassVar[Port] = PORT
    policy: ClassVar[str] = "absolute"
    name = "reference link with limits"
    sender: type[CountedSender[int]] = CountedSender
    receiver: type[CountedReceiver[int]] = CountedReceiver

    def start(self, settings: Mapping[str, Any]) -> None:
        """Begin with a fresh instance."""
        try:
            self._b = self.receiver(
                settings["capacity"], settings["batch"], first=settings["first"])
        except LinkMisuse:
            raise Declined(f"{UNSUPPORTED}batch") from None
        self._a = self.sender(settings["capacity"], first=settings["first"])

    def offer(self, elements: list[int]) -> list[int]:
        return _numbers(self._a.offer(elements))

    def permit(self, limit: int) -> list[int]:
        return _numbers(self._a.permit(limit))

    def ack(self, number: int) -> list[int]:
        try:
            self._a.ack(number)
        except LinkMisuse:
            raise Declined("ack-of-what-was-not-sent") from None
        return []

    def sender_timer(self) -> list[int]:
        return _numbers(self._a.repeat())

    def data(self, element: int) -> list[Message]:
        try:
            return _message("ack", self._b.arrive(element, element))
        except LinkMisuse:
            raise Declined("overrun") from None

    def receiver_timer(self) -> list[Message]:
        return _message("limit", self._b.repeat())

    def process(self) -> Message:
        try:
            element, limit = self._b.process()
        except LinkMisuse:
            return {"element": None, "messages": []}
        return {"element": element, "messages": _message("limit", limit)}


def _numbers(sent: Iterable[Numbered[int]]) -> list[int]:
    return [each.number for each in sent]


def _message(kind: str, number: int | None) -> list[Message]:
    return [] if number is None else [{kind: number}]
