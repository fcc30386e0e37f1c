"""Shared by our adapters of ports without waits: the dispatch and the greeting.

An adapter is a class with ``port``, ``start(settings)`` and one method per operation that it
can do, named as the operation (``close_`` for ``close``); what it lacks is not in its ``can``.
It raises ``Declined`` for a request that the implementation refuses.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, ClassVar

from ..ports.base import AT_ONCE, Message, Port
from .base import Declined, declared

__all__ = ["PortAdapter"]


class PortAdapter:
    """Turns requests into method calls, and what they return into replies."""

    port: ClassVar[Port]
    name: str = "reference"
    policy: ClassVar[str]
    version: ClassVar[str] = "1"
    wakes: ClassVar[str] = AT_ONCE
    """When a woken waiter runs: ``STEPPED`` where the harness can come in between."""
    no_occasion: ClassVar[Collection[str]] = ()
    """The ids of rules that nothing which it does could break."""

    def start(self, settings: Mapping[str, Any]) -> None:
        """Begin with a fresh instance. Raises ``Declined`` for settings that do not fit."""
        raise NotImplementedError

    def settle(self) -> bool:
        """Let everything run that can run at this instant."""
        return True

    def request(self, message: Message) -> Message:
        """Answer one request; never raises for what the protocol lets a harness send."""
        try:
            return {"ok": self._answer(message)}
        except Declined as declined:
            return {"error": declined.error, "definite": declined.definite}

    def _answer(self, message: Message) -> Any:
        do = message["do"]
        if do == "hello":
            return self._hello(message)
        operation = self.port.operations.get(do)
        method = self._method(do)
        if operation is None or method is None:
            raise Declined("unknown-operation")
        return method(**{
            each.name: message[each.name] for each in operation.arguments if each.name in message})

    def _method(self, do: str) -> Callable[..., Any] | None:
        # An operation may have the name of what ends a session: then it is spelt ``close_``.
        return getattr(self, f"{do}_", None) or (None if do == "close" else getattr(self, do, None))

    def _hello(self, message: Message) -> Message:
        if message.get("port") != self.port.name:
            raise Declined("unknown-port")
        self.start(message["settings"])
        can = [name for name in self.port.capabilities() if self._method(name)]
        return {"name": self.name, "version": self.version, "can": can, "policy": self.policy,
                **declared(self.wakes, self.no_occasion)}
