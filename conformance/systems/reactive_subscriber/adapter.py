"""The reference subscriber behind its port."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from ....reference.reactive.signals import Call, Complete, Request, StreamMisuse
from ....reference.reactive.subscriber import BatchSubscriber
from ...adapters.base import Declined
from ...adapters.port_adapter import PortAdapter
from ...ports.base import UNSUPPORTED, Message, Port
from .port import PORT

__all__ = ["ReferenceSubscriber"]


class SignalFailed(Exception):
    """What the harness's publisher fails with."""


class ReferenceSubscriber(PortAdapter):
    """``core`` is what the twins replace."""

    port: ClassVar[Port] = PORT
    policy: ClassVar[str] = "inline"
    name = "reference subscriber"
    core: type[BatchSubscriber[int]] = BatchSubscriber

    def start(self, settings: Mapping[str, Any]) -> None:
        """See ``PortAdapter.start``."""
        try:
            self._core = self.core(settings["capacity"], settings["batch"])
        except StreamMisuse:
            raise Declined(f"{UNSUPPORTED}batch") from None
        self._events: list[Message] = []
        self._holding = self._held = self._told = False

    # --- signals -----------------------------------------------------------------------------

    def on_subscribe(self) -> list[Message]:
        """See the port."""
        return self._signal(lambda: self._core.on_subscribe("its subscription"))

    def on_subscribe_again(self) -> list[Message]:
        """See the port."""
        def hand() -> None:
            if not self._core.on_subscribe("another subscription"):
                self._event("cancels_other")
        return self._signal(hand)

    def on_next(self, element: int) -> list[Message]:
        """See the port."""
        def bring() -> None:
            self._core.on_next(element)
            if self._core.processes_within():
                self._process()
        return self._signal(bring)

    def on_complete(self) -> list[Message]:
        """See the port."""
        return self._signal(self._core.on_complete)

    def on_error(self) -> list[Message]:
        """See the port."""
        return self._signal(lambda: self._core.on_error(SignalFailed()))

    def on_null(self, signal: str) -> bool:
        """See the port."""
        null: Any = None
        try:
            getattr(self._core, f"on_{signal}")(null)
        except Exception:  # noqa: BLE001  any exception will do
            return True
        return False

    # --- the application ---------------------------------------------------------------------

    def process(self) -> list[Message]:
        """See the port."""
        self._process()
        return self._then()

    def stop(self) -> list[Message]:
        """See the port."""
        self._core.stop()
        return self._then()

    def hold(self) -> bool:
        """See the port."""
        self._holding = True
        return True

    def release(self) -> list[Message]:
        """See the port."""
        if self._held:
            self._held = False
            self._core.done()
        return self._then()

    def settle_(self) -> list[Message]:
        """See the port."""
        return self._then()

    # --- the driver --------------------------------------------------------------------------

    def _signal(self, made: Callable[[], object]) -> list[Message]:
        try:
            made()
        except Exception:  # noqa: BLE001  that it raises is what is told, whatever it is
            self._event("raised")
            return self._then()
        self._pump()
        self._event("returned")
        return self._then()

    def _then(self) -> list[Message]:
        self._pump()
        events, self._events = self._events, []
        return events

    def _process(self) -> None:
        self._event("consumes", element=self._core.process())

    def _pump(self) -> None:
        """Make the calls that there are, and tell the application of the end."""
        while (call := self._core.take()) is not None:
            self._make(call)
            if self._holding:
                self._holding, self._held = False, True
                break
            self._core.done()
        end = self._core.end
        if end is not None and not self._told:
            self._told = True
            self._event("finishes" if isinstance(end, Complete) else "breaks_off")

    def _make(self, call: Call) -> None:
        if isinstance(call, Request):
            self._event("requests", n=call.count)
        else:
            self._event("cancels")

    def _event(self, name: str, **more: object) -> None:
        self._events.append({"event": name, **more})
