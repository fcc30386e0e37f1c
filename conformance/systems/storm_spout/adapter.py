"""The reference of a spout's pending roots behind its port."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from ....reference.storm.rotating import RotatingMisuse
from ....reference.storm.spout import Call, SpoutMisuse, SpoutPending
from ...adapters.base import Declined
from ...adapters.port_adapter import PortAdapter
from ...ports.base import Message, Port
from ..storm_acker.adapter import id_of
from .port import PORT

__all__ = ["ReferenceSpout"]


class ReferenceSpout(PortAdapter):
    """The reference spout executor; a twin replaces ``core``."""

    port: ClassVar[Port] = PORT
    policy: ClassVar[str] = "timeout"
    name = "reference spout"
    core: type[SpoutPending[str]] = SpoutPending

    def start(self, settings: Mapping[str, Any]) -> None:
        try:
            self._spout = self.core(
                settings["capacity"], settings.get("tasks", 1), buckets=settings["buckets"])
        except RotatingMisuse as misuse:
            raise Declined(str(misuse)) from None

    def round(self, roots: list[str], messages: list[str]) -> list[str]:
        emitted: list[str] = []
        if self._spout.begin_round():
            for root, message in zip(roots, messages, strict=False):
                try:
                    self._spout.emit(id_of(root), message)
                except SpoutMisuse:
                    continue    # pending: a spout would draw another id
                emitted.append(root)
        self._spout.end_round()
        return emitted

    def ack(self, root: str) -> list[Message]:
        return _calls(self._spout.ack(id_of(root)))

    def fail(self, root: str) -> list[Message]:
        return _calls(self._spout.fail(id_of(root)))

    def reset_timeout(self, root: str) -> list[Message]:
        return _calls(self._spout.reset_timeout(id_of(root)))

    def tick(self) -> list[Message]:
        return _calls(self._spout.tick())


def _calls(calls: Iterable[Call[str]]) -> list[Message]:
    return [{"call": each.outcome.value, "message": each.message} for each in calls]
