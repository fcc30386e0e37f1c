"""The reference processor behind its port."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from ....reference.reactive.outlet import Outlet
from ....reference.reactive.processor import MapProcessor
from ...ports.base import Message, Port
from ..reactive_publisher.adapter import Driven
from ..reactive_subscriber.adapter import Fed
from .port import PORT

__all__ = ["ReferenceProcessor"]


class ReferenceProcessor(Fed, Driven):
    """The reference processor; a twin replaces its ``core`` (the inlet), ``outlet`` or itself."""

    port: ClassVar[Port] = PORT
    policy: ClassVar[str] = "inline"
    name = "reference processor"
    outlet: type[Outlet[int]] = Outlet
    processor: type[MapProcessor[int, int]] = MapProcessor

    def start(self, settings: Mapping[str, Any]) -> None:
        self.begin()
        self._processor = self.processor(lambda element: element, self.feed(settings))
        self._processor.outlet = self.outlet

    def subscribe_to(self, subscriber: int) -> Outlet[int]:
        return self._processor.subscribe(subscriber)

    def told(self) -> list[Message]:
        return self._subscribers.told()

    def tell(self, name: str, **more: object) -> None:
        self._subscribers.events.append({"event": name, **more})

    def drive(self) -> None:
        """See ``Fed``: signals and calls, until there are neither."""
        active = True
        while active:
            self.pump()
            self._processor.follow()
            active = self.make_calls()

    def subscribe_null(self) -> bool:
        try:
            self._processor.subscribe(None)
        except Exception:  # noqa: BLE001  any exception will do
            return True
        return False

    def references(self) -> list[int]:
        return [each for each in self._processor.subscribers if isinstance(each, int)]

    def _method(self, do: str) -> Callable[..., Any] | None:
        return None if do == "run" else super()._method(do)
