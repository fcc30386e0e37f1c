"""The reference queue behind the port, and the deferred driver that the zoo runs under too."""

from __future__ import annotations

from collections import deque
from typing import Any, ClassVar, TypeVar

from ....reference.queue import BoundedQueue, Empty, NotYet, Overflow, Step, Ticket
from ...adapters.base import Declined
from .adapter import QueueAdapter, Waits

__all__ = ["DeferredQueue", "ReferenceQueue"]

Item = str | int
A = TypeVar("A")


class DeferredQueue(QueueAdapter):
    """The core, whose woken waiters run at ``settle``, as the tasks of an event loop would.

    Between being woken and running, a waiter can still be cancelled: the instant in which
    most of the historical bugs of queues live.
    """

    name: ClassVar[str] = "reference, waiters run at settle"
    core: ClassVar[type[BoundedQueue[Any]]] = BoundedQueue
    overflow: ClassVar[Overflow] = Overflow.WAIT

    def start(self, capacity: int) -> None:
        """See ``QueueAdapter.start``."""
        self._queue: BoundedQueue[Item] = self.core(capacity, self.overflow)
        self._woken: deque[Ticket] = deque()
        self._waiting: dict[str, Ticket] = {}

    def offer(self, item: Item) -> bool:
        """See the port."""
        return self._after(self._queue.offer(item))

    def poll(self) -> Item | None:
        """See the port."""
        answer = self._after(self._queue.poll())
        return None if isinstance(answer, Empty) else answer

    def put(self, item: Item) -> bool | Waits:
        """See the port."""
        ticket = self._after(self._queue.put(item))
        return True if ticket is None else self._wait(ticket)

    def take(self) -> Item | Waits:
        """See the port."""
        answer = self._after(self._queue.take())
        return self._wait(answer) if isinstance(answer, Ticket) else answer

    def cancel(self, ticket: str) -> bool:
        """See the port."""
        if ticket not in self._waiting:
            raise Declined("unknown-ticket")
        # Off the list first: the adapter may run other waiters before it answers.
        return self._after(self._queue.cancel(self._waiting.pop(ticket)))

    def size(self) -> int:
        """See the port."""
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
    """The core, whose woken waiters run within the request that woke them."""

    name: ClassVar[str] = "reference"

    def _after(self, step: Step[A]) -> A:
        answer = super()._after(step)
        self.settle()
        return answer
