"""The reference receiver with two marks behind its port."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ....reference.flow.marks import Watermarks
from ...adapters.port_adapter import PortAdapter
from ...ports.base import Message, Port
from .port import PORT

__all__ = ["ReferenceMarks"]


class ReferenceMarks(PortAdapter):
    """``core`` is what the twins replace."""

    port: ClassVar[Port] = PORT
    policy: ClassVar[str] = "marks"
    name = "reference receiver with marks"
    core: type[Watermarks] = Watermarks

    def start(self, settings: Mapping[str, Any]) -> None:
        """Begin with a fresh instance."""
        self._marks = self.core(settings["capacity"], settings["high"])

    def arrive(self, count: int) -> list[str]:
        return ["stop"] if self._marks.arrive(count) else []

    def take(self, most: int) -> Message:
        given, goes_on = self._marks.take(most)
        return {"given": given, "says": ["go"] if goes_on else []}
