"""The chapter's gate, and so each variant of it, behind the port."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

from ....spec.notation.machine import Machine
from ....spec.queues.locks.gate_seen import Call, GateSeen, Sleepers
from ...adapters.base import Declined
from ...ports.base import Message, Port
from ...suites.calls_of_the_book import AdapterOfTheBook, Callback, CallsOfTheBook
from .port import PORT

__all__ = ["BookGate", "GateOfTheBook"]

_CALLS: Final = 16
"""Calls at first."""

_EVENTS: Final = {
    "passes": "passes", "is_told": "told", "is_cancelled": "cancelled", "fails": "fails"}


class GateOfTheBook(CallsOfTheBook):
    """In the chapter calls are numbers."""

    machine: ClassVar[type[Machine]] = Sleepers
    view = GateSeen

    def __init__(self, capacity: int) -> None:
        if capacity != 1:
            raise Declined("unsupported-capacity")
        super().__init__(K=_CALLS)
        self._names: list[str] = []

    def wait(self, by: str) -> list[Message]:
        """A call comes, and runs at once unless it sleeps."""
        call = len(self._names)
        if call == self._constants["K"]:
            self.grow(K=2 * call)
        self._names.append(by)
        self._step("comes")
        if self.now.calls[call] != Call.ASLEEP:
            self._step("runs", call=call)
        return self._seen()

    def open(self) -> list[Message]:
        """The gate is opened."""
        return self.act("opens")

    def shut(self) -> list[Message]:
        """The gate is shut."""
        return self.act("shuts")

    def break_(self) -> list[Message]:
        """It breaks, and every sleeper is informed."""
        return self.act("breaks")

    def interrupt(self, by: str) -> list[Message]:
        """Request the cancellation of a call; one that was woken does not hear of it."""
        if by not in self._names:
            raise Declined("does-not-wait")
        self._step("stops", call=self._names.index(by))
        return self._seen()

    def asleep(self) -> list[Callback]:
        """The calls that sleep, the first first."""
        return [("runs", "call", call) for call, state in enumerate(self.now.calls)
                if state == Call.ASLEEP]

    def event(self, name: str, arguments: Mapping[str, int]) -> Message | None:
        """How a call has ended."""
        return {"by": self._names[arguments["call"]], "does": _EVENTS[name]} if (
            name in _EVENTS) else None


class BookGate(AdapterOfTheBook):
    """The gate of the book, one callback at a time."""

    port: ClassVar[Port] = PORT
    policy: ClassVar[str] = "sleep"
    core: type[GateOfTheBook] = GateOfTheBook
