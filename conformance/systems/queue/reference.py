"""The reference queue behind the port, and the deferred driver that the zoo runs under too."""

from __future__ import annotations

from collections import deque
from typing import Any, ClassVar, TypeVar

from ....reference.queue import (
    BoundedQueue, Disconnected, Empty, NotYet, Overflow, QueueFull, Step, Ticket,
)
from ...adapters.base import Declined
from ...ports.base import AT_ONCE, STEPPED
from .adapter import QueueAdapter, Waits
from .questions import CUT_OFF, FULL

__all__ = [
    "ClearingQueue", "ConflatingQueue", "DeferredQueue", "DisconnectingQueue", "DropNewestQueue",
    "DropOldestQueue", "DropYoungestQueue", "MergingQueue", "ReferenceQueue", "RejectingQueue",
    "SpillingQueue", "UnboundedQueue",
]

Item = str | int
A = TypeVar("A")


class DeferredQueue(QueueAdapter):
    """The core; woken waiters run at ``settle``, as the tasks of an event loop would.

    Between being woken and running, a waiter can still be cancelled: the instant in which
    most of the historical bugs of queues live.
    """

    name: ClassVar[str] = "reference, waiters run at settle"
    wakes: ClassVar[str] = STEPPED
    core: ClassVar[type[BoundedQueue[Any]]] = BoundedQueue
    overflow: ClassVar[Overflow] = Overflow.WAIT

    def start(self, capacity: int) -> None:
        """Begin with a fresh, empty queue of ``capacity`` items."""
        self._queue: BoundedQueue[Item] = self.core(capacity, self.overflow)
        self._woken: deque[Ticket] = deque()
        self._waiting: dict[str, Ticket] = {}

    def offer(self, item: Item) -> bool:
        return self._after(self._queue.offer(item))

    def poll(self) -> Item | None:
        answer = self._after(self._queue.poll())
        return None if isinstance(answer, Empty) else answer

    def put(self, item: Item) -> bool | Waits:
        ticket = self._after(self._queue.put(item))
        return True if ticket is None else self._wait(ticket)

    def take(self) -> Item | Waits:
        answer = self._after(self._queue.take())
        return self._wait(answer) if isinstance(answer, Ticket) else answer

    def cancel(self, ticket: str) -> bool:
        if ticket not in self._waiting:
            raise Declined("unknown-ticket")
        # Off the list first: the adapter may run other waiters before it answers.
        return self._after(self._queue.cancel(self._waiting.pop(ticket)))

    def size(self) -> int:
        return len(self._queue)

    def settle(self) -> bool:
        """Run the woken waiters in the order in which they were woken, until none is left."""
        while self._woken:
            ticket = self._woken.popleft()
            name = _name(ticket)
            if name not in self._waiting:    # cancelled after it was woken
                continue
            answer = self._after(self._queue.claim(ticket))
            if not isinstance(answer, NotYet):
                del self._waiting[name]
                self.completed(name, True if answer is None else answer)
        return True

    def _after(self, step: Step[A]) -> A:
        self._woken.extend(step.woken)
        return step.answer

    def _wait(self, ticket: Ticket) -> Waits:
        self._waiting[_name(ticket)] = ticket
        return Waits(_name(ticket))


def _name(ticket: Ticket) -> str:
    return f"t{ticket.number}"


class ReferenceQueue(DeferredQueue):
    """The core; woken waiters run within the request that woke them."""

    name: ClassVar[str] = "reference"
    wakes: ClassVar[str] = AT_ONCE

    def _after(self, step: Step[A]) -> A:
        answer = super()._after(step)
        self.settle()
        return answer


# ---- other policies: no call waits ------------------------------------------------------


class _NeverWaiting(ReferenceQueue):
    """The common part of the queues of other policies: each has the name of its policy."""

    def __init_subclass__(cls, overflow: Overflow, policy: str = "", **more: Any) -> None:
        super().__init_subclass__(**more)
        cls.overflow, cls.policy = overflow, policy or overflow.value
        cls.name = f"reference, {cls.policy}"

    def poll(self) -> Item | None:
        try:
            return super().poll()
        except Disconnected:
            raise Declined(CUT_OFF) from None

    def put(self, item: Item) -> bool | Waits:
        try:
            return super().put(item)
        except QueueFull:
            raise Declined(FULL) from None

    def take(self) -> Item | Waits:
        try:
            return super().take()
        except Disconnected:
            raise Declined(CUT_OFF) from None


class RejectingQueue(_NeverWaiting, overflow=Overflow.REJECT):
    """Refuses items that do not fit."""


class DropNewestQueue(_NeverWaiting, overflow=Overflow.DROP_NEWEST):
    """Drops items that arrive; an offer is then refused, and a put is not."""


class DropOldestQueue(_NeverWaiting, overflow=Overflow.DROP_OLDEST):
    """Frees a slot by dropping its head."""


class DropYoungestQueue(_NeverWaiting, overflow=Overflow.DROP_YOUNGEST):
    """Frees a slot by dropping its tail."""


class ClearingQueue(_NeverWaiting, overflow=Overflow.CLEAR):
    """Drops all that it holds."""


class ConflatingQueue(_NeverWaiting, overflow=Overflow.CONFLATE):
    """Has one place, for the newest item."""


class MergingQueue(_NeverWaiting, overflow=Overflow.CONFLATE, policy="merge"):
    """Has one place, for an item that stands for all items since the last poll."""

    def start(self, capacity: int) -> None:
        """Begin with a fresh, empty queue of ``capacity`` items."""
        super().start(capacity)
        self._queue = BoundedQueue(
            capacity, self.overflow, lambda pending, item: f"{pending}+{item}")


class SpillingQueue(_NeverWaiting, overflow=Overflow.SPILL):
    """Holds elsewhere the items beyond its capacity."""

    def resident(self) -> int:
        return self._queue.resident


class DisconnectingQueue(_NeverWaiting, overflow=Overflow.DISCONNECT):
    """Cuts its consumer off when it is full."""


class UnboundedQueue(_NeverWaiting, overflow=Overflow.UNBOUNDED):
    """Has room for every item."""
