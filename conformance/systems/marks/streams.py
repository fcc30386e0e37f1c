"""``asyncio.StreamReader``: a reader with a limit, which pauses the transport that feeds it.

Its low mark is its limit, and its high mark twice that.
"""

from __future__ import annotations

import asyncio
import platform
from collections.abc import Mapping
from typing import Any, ClassVar

from ....reference.drivers.schedules.virtual_loop import VirtualLoop
from ...adapters.base import Declined
from ...adapters.port_adapter import PortAdapter
from ...ports.base import UNSUPPORTED, Message, Port
from .port import PORT

__all__ = ["StreamReaderMarks"]


class _Transport(asyncio.ReadTransport):
    """A transport without another end, which records its signals."""

    def __init__(self) -> None:
        super().__init__()
        self.says: list[str] = []

    def pause_reading(self) -> None:
        """Record the signal "stop"."""
        self.says.append("stop")

    def resume_reading(self) -> None:
        """Record the signal "go"."""
        self.says.append("go")

    def told(self) -> list[str]:
        """The signals since the last call."""
        says, self.says = self.says, []
        return says


class StreamReaderMarks(PortAdapter):
    """Each byte is an element. A read of an empty stream would wait, and is cancelled."""

    port: ClassVar[Port] = PORT
    policy: ClassVar[str] = "marks"
    name = "asyncio.StreamReader"
    version = platform.python_version()

    def start(self, settings: Mapping[str, Any]) -> None:
        """Begin with a fresh instance."""
        if settings["high"] != 2 * settings["capacity"]:
            raise Declined(f"{UNSUPPORTED}high")
        self._loop = VirtualLoop()
        self._transport = _Transport()
        self._reader = asyncio.StreamReader(settings["capacity"], loop=self._loop)
        self._reader.set_transport(self._transport)

    def arrive(self, count: int) -> list[str]:
        with self._loop.running():
            self._reader.feed_data(b"x" * count)
            self._loop.settle()
        return self._transport.told()

    def take(self, most: int) -> Message:
        with self._loop.running():
            task = self._loop.begin(self._reader.read(most))
            self._loop.settle()
            if not task.done():
                task.cancel()
                self._loop.settle()
                return {"given": 0, "says": self._transport.told()}
        return {"given": len(task.result()), "says": self._transport.told()}
