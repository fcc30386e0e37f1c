"""The reference master behind its port."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ....reference.flow.jobs import Happens, Job, Master, News
from ....reference.flow.link import LinkMisuse
from ...adapters.base import Declined
from ...adapters.port_adapter import PortAdapter
from ...ports.base import Port
from .port import PORT

__all__ = ["ReferenceMaster"]

Events = list[list[Any]]


class ReferenceMaster(PortAdapter):
    """``core`` is what the twins replace."""

    port: ClassVar[Port] = PORT
    policy: ClassVar[str] = "drop-oldest"
    name = "reference master"
    core: type[Master] = Master

    def start(self, settings: Mapping[str, Any]) -> None:
        """Begin with a fresh instance."""
        self._master = self.core(settings["capacity"])

    def submit(self, job: int | str) -> Events:
        return _events(self._master.submit(Job("client", job)))

    def ask(self, worker: int, got: int) -> Events:
        return _events(self._master.ask(worker, got))

    def done(self, worker: int) -> Events:
        try:
            self._master.done(worker)
        except LinkMisuse:
            raise Declined("no-job") from None
        return []


def _events(news: list[News]) -> Events:
    return [["give", job.number, worker] if what is Happens.GIVEN else ["drop", job.number]
            for what, job, worker in news]
