"""The reference acker behind its port."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from ....reference.storm.acker import Acker, Tell
from ....reference.storm.rotating import RotatingMisuse
from ...adapters.base import Declined
from ...adapters.port_adapter import PortAdapter
from ...ports.base import Message, Port
from .port import PORT

__all__ = ["ReferenceAcker", "id_of", "text_of"]


def text_of(number: int) -> str:
    """A number of 64 bits as it travels."""
    return f"{number:016x}"


def id_of(text: str) -> int:
    """The number of 64 bits that travelled as ``text``."""
    return int(text, 16)


class ReferenceAcker(PortAdapter):
    """``core`` is what the twins replace."""

    port: ClassVar[Port] = PORT
    policy: ClassVar[str] = "rotate"
    name = "reference acker"
    core: type[Acker] = Acker

    def start(self, settings: Mapping[str, Any]) -> None:
        try:
            self._acker = self.core(buckets=settings["capacity"])
        except RotatingMisuse as misuse:
            raise Declined(str(misuse)) from None

    def init(self, root: str, value: str, task: int) -> list[Message]:
        return _tells(self._acker.init(id_of(root), id_of(value), task))

    def ack(self, root: str, value: str) -> list[Message]:
        return _tells(self._acker.ack(id_of(root), id_of(value)))

    def fail(self, root: str) -> list[Message]:
        return _tells(self._acker.fail(id_of(root)))

    def reset_timeout(self, root: str) -> list[Message]:
        return _tells(self._acker.reset_timeout(id_of(root)))

    def tick(self) -> list[Message]:
        return _tells(self._acker.tick())

    def size(self) -> int:
        return len(self._acker)


def _tells(tells: Iterable[Tell]) -> list[Message]:
    return [{"tell": each.telling.value, "to": each.to, "root": text_of(each.root)}
            for each in tells]
