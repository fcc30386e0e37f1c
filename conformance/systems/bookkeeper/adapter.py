"""The reference server behind its port."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ....reference.bookkeeper.bookie import Bookie, BookieMisuse, Effect, Kind, Limits, Name
from ...adapters.base import Declined
from ...adapters.port_adapter import PortAdapter
from ...ports.base import Message, Port
from .port import PORT

__all__ = ["ReferenceBookie"]

Events = list[list[str | int]]


class ReferenceBookie(PortAdapter):
    """The reference server; a twin replaces ``core``."""

    port: ClassVar[Port] = PORT
    policy: ClassVar[str] = "pause"
    name = "reference server"
    core: type[Bookie] = Bookie

    def start(self, settings: Mapping[str, Any]) -> None:
        self._bookie = self.core(
            Limits(settings["capacity"], settings["reads"],
                   settings["places"] + settings["threads"]),
            settings["patience"], closing=settings["closing"] == 1)
        for channel in range(settings["channels"]):
            self._bookie.connect(channel)

    def receive(self, channel: int, kinds: list[str], names: list[Name]) -> Events:
        try:
            return _events(self._bookie.receive(
                channel, zip(names, map(Kind, kinds), strict=True)))
        except BookieMisuse:
            raise Declined("not-reading") from None

    def done(self, request: Name) -> Events:
        try:
            return _events(self._bookie.done(request))
        except BookieMisuse:
            raise Declined("not-at-storage") from None

    def turn(self, channel: int, writable: bool) -> Events:
        try:
            return _events(self._bookie.turn(channel, writable))
        except BookieMisuse:
            raise Declined("closed") from None

    def tick(self) -> Events:
        return _events(self._bookie.tick())

    def hang_up(self, channel: int) -> Events:
        try:
            return _events(self._bookie.hang_up(channel))
        except BookieMisuse:
            raise Declined("closed") from None

    def gauge(self) -> Message:
        return {kind.value: self._bookie.in_progress(kind) for kind in Kind}


def _events(effects: list[Effect]) -> Events:
    return [[effect.do.value, effect.name] for effect in effects]
