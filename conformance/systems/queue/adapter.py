"""The common part of the queue adapters: the dispatch, the tickets and the events.

An adapter of a queue is a class with ``start(capacity)`` and one method per operation that it
can do, named as the operation: ``offer(item)``, ``poll()``, ``put(item)``, ``take()``,
``cancel(ticket)``, ``size()``, ``settle()``. Operations that it lacks are not in its ``can``.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, ClassVar

from ...adapters.base import Declined, declared
from ...ports.base import AT_ONCE, Message, Port
from .port import PORT

__all__ = ["QueueAdapter", "Waits"]


class Waits:
    """The answer of a ``put`` or ``take`` that has to wait: the ticket of the wait."""

    __slots__ = ("ticket",)

    def __init__(self, ticket: str) -> None:
        self.ticket = ticket


class QueueAdapter:
    """Turns requests into method calls, and what they return into replies.

    A subclass sets ``name``, ``version`` and ``policy``, and reports a completed wait with
    ``self.completed(ticket, value)``; the event rides on the next reply.
    """

    port: ClassVar[Port] = PORT
    name: ClassVar[str]
    policy: ClassVar[str] = "wait"
    version: str = "1"
    capacity_max: ClassVar[int] = 1 << 20
    lacks: ClassVar[Collection[str]] = ()
    """Operations that the class inherits and cannot do."""
    wakes: ClassVar[str] = AT_ONCE
    """When a woken waiter runs: ``STEPPED`` if the harness can come in between."""
    no_occasion: ClassVar[Collection[str]] = ()
    """The ids of rules that none of its operations could break."""

    def __init__(self) -> None:
        self._events: list[Message] = []
        self._tickets = 0
        self.now_ms = 0

    # -- for subclasses -----------------------------------------------------------------------

    def start(self, capacity: int) -> None:
        """Begin with a fresh, empty queue of ``capacity`` items."""
        raise NotImplementedError

    def settle(self) -> bool:
        """Let everything run that can run at this instant."""
        return True

    def close(self) -> None:
        """Release what the adapter holds."""

    def completed(self, ticket: str, value: object) -> None:
        """Report that the wait of ``ticket`` ended with ``value``."""
        self._events.append({"done": ticket, "ok": value})

    def new_ticket(self) -> str:
        """A ticket that this instance has not used yet."""
        self._tickets += 1
        return f"t{self._tickets}"

    # -- for the harness ----------------------------------------------------------------------

    def request(self, message: Message) -> Message:
        """Answer one request; never raises for what the protocol lets a harness send."""
        self.now_ms = message.get("now", self.now_ms)
        try:
            reply = self._answer(message)
        except Declined as declined:
            reply = {"error": declined.error, "definite": declined.definite}
        if self._events:
            reply["events"], self._events = self._events, []
        return reply

    def _answer(self, message: Message) -> Message:
        do = message["do"]
        if do == "hello":
            return {"ok": self._hello(message)}
        if do not in self.port.operations or not hasattr(self, do):
            raise Declined("unknown-operation")
        # ``by`` is for the reader of a trace: none of our queues treats callers differently.
        takes = self.port.operations[do].arguments
        arguments = {each.name: message[each.name] for each in takes if each.required}
        answer: Any = getattr(self, do)(**arguments)
        return {"waiting": answer.ticket} if isinstance(answer, Waits) else {"ok": answer}

    def _hello(self, message: Message) -> Message:
        if message.get("port") != self.port.name:
            raise Declined("unknown-port")
        capacity = message["settings"]["capacity"]
        if not 1 <= capacity <= self.capacity_max:
            raise Declined("unsupported-capacity")
        self.close()
        QueueAdapter.__init__(self)
        self.start(capacity)
        can = [name for name in self.port.capabilities()
               if hasattr(self, name) and name not in self.lacks]
        return {"name": self.name, "version": self.version, "can": can, "policy": self.policy,
                **declared(self.wakes, self.no_occasion)}
