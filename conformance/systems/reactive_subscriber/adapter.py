"""The reference subscriber behind its port."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from ....reference.reactive.signals import Complete, Request, StreamMisuse
from ....reference.reactive.subscriber import BatchSubscriber
from ...adapters.base import Declined
from ...adapters.port_adapter import PortAdapter
from ...ports.base import UNSUPPORTED, Message, Port
from ..reactive_publisher.subscribers import SourceFailed
from .port import PORT

__all__ = ["Fed", "ReferenceSubscriber"]


class Fed(PortAdapter):
    """Feeds signals to an inlet, and makes its calls: the common part of a subscriber and a
    processor.

    A twin replaces ``core``.
    """

    policy: ClassVar[str] = "inline"
    core: type[BatchSubscriber[Any]] = BatchSubscriber

    def feed(self, settings: Mapping[str, Any]) -> BatchSubscriber[Any]:
        """A new inlet, without a held call. Raises ``Declined`` for a wrong batch."""
        self._holding_call = self._held_call = False
        try:
            self._inlet = self.core(settings["capacity"], settings["batch"])
        except StreamMisuse:
            raise Declined(f"{UNSUPPORTED}batch") from None
        return self._inlet

    # --- for subclasses ----------------------------------------------------------------------

    def told(self) -> list[Message]:
        """The events since the last reply."""
        raise NotImplementedError

    def tell(self, name: str, **more: object) -> None:
        """Record an event for the next reply."""
        raise NotImplementedError

    def drive(self) -> None:
        """Let everything happen that can happen now."""
        raise NotImplementedError

    def brought(self) -> None:
        """An element was put into the inlet, and its signal has not returned."""

    # --- signals -----------------------------------------------------------------------------

    def on_subscribe(self) -> list[Message]:
        """Hand the subscriber its subscription."""
        return self._signal(lambda: self._inlet.on_subscribe("its subscription"))

    def on_subscribe_again(self) -> list[Message]:
        """Hand the subscriber another subscription, although it has one."""
        def hand() -> None:
            if not self._inlet.on_subscribe("another subscription"):
                self.tell("cancels_other")
        return self._signal(hand)

    def on_next(self, element: Any) -> list[Message]:
        def bring() -> None:
            self._inlet.on_next(element)
            self.brought()
        return self._signal(bring)

    def on_complete(self) -> list[Message]:
        return self._signal(self._inlet.on_complete)

    def on_error(self) -> list[Message]:
        """Signal that the publisher has failed."""
        return self._signal(lambda: self._inlet.on_error(SourceFailed()))

    def on_null(self, signal: str) -> bool:
        """Make a signal with null in it; true if that ended with an exception."""
        null: Any = None
        try:
            getattr(self._inlet, f"on_{signal}")(null)
        except Exception:  # noqa: BLE001  any exception will do
            return True
        return False

    def hold_call(self) -> bool:
        """Keep the next call of the subscription from returning until ``release_call``."""
        self._holding_call = True
        return True

    def release_call(self) -> list[Message]:
        """Let the call that is held return."""
        if self._held_call:
            self._held_call = False
            self._inlet.done()
        return self.then()

    # --- the driver --------------------------------------------------------------------------

    def then(self) -> list[Message]:
        """The events so far, after everything has run that runs by itself now."""
        self.drive()
        return self.told()

    def make_calls(self) -> bool:
        """Make the calls that are due; true if there were any."""
        made = False
        while (call := self._inlet.take()) is not None:
            made = True
            if isinstance(call, Request):
                self.tell("requests", n=call.count)
            else:
                self.tell("cancels")
            if self._holding_call:
                self._holding_call, self._held_call = False, True
                break
            self._inlet.done()
        return made

    def _signal(self, made: Callable[[], object]) -> list[Message]:
        try:
            made()
        except Exception:  # noqa: BLE001 any exception is reported as an event
            self.tell("raised")
            return self.then()
        self.drive()
        self.tell("returned")
        return self.then()


class ReferenceSubscriber(Fed):
    """A subscriber with an application that processes an element at the harness's request."""

    port: ClassVar[Port] = PORT
    name = "reference subscriber"

    def start(self, settings: Mapping[str, Any]) -> None:
        self.feed(settings)
        self._events: list[Message] = []
        self._finished = False

    def process(self) -> list[Message]:
        self.tell("consumes", element=self._inlet.process())
        return self.then()

    def stop(self) -> list[Message]:
        self._inlet.stop()
        return self.then()

    def settle_(self) -> list[Message]:
        return self.then()

    def told(self) -> list[Message]:
        events, self._events = self._events, []
        return events

    def tell(self, name: str, **more: object) -> None:
        self._events.append({"event": name, **more})

    def drive(self) -> None:
        self.make_calls()
        end = self._inlet.end
        if end is not None and not self._finished:
            self._finished = True
            self.tell("finishes" if isinstance(end, Complete) else "breaks_off")

    def brought(self) -> None:
        if self._inlet.processes_within():
            self.tell("consumes", element=self._inlet.process())
