"""The reference queue for asyncio: a thin driver that turns tickets into futures.

The core (``queue.py``) decides everything; this module only sleeps and wakes. The one await
point is ``await turn``. A task that is cancelled there, even after its turn was granted and
before it ran, has had no effect: no item moved, and the next waiter is woken in its stead.
"""

from __future__ import annotations

import asyncio
from typing import Any, Generic, TypeVar

from ..queue import BoundedQueue, Empty, NotYet, Overflow, Statistics, Step, Ticket

__all__ = ["AsyncQueue"]

T = TypeVar("T")
A = TypeVar("A")


class AsyncQueue(Generic[T]):
    """A queue of at most ``capacity`` items for the tasks of one event loop.

    Raises ``QueueMisuse`` as ``BoundedQueue`` does. Not for use from several threads. ``core``
    decides; another one may take its place.
    """

    def __init__(
        self, capacity: int, overflow: Overflow = Overflow.WAIT, *,
        core: type[BoundedQueue[T]] = BoundedQueue,
    ) -> None:
        self._core = core(capacity, overflow)
        self._turns: dict[Ticket, asyncio.Future[None]] = {}

    def offer(self, item: T) -> bool:
        """Put ``item`` if there is a free slot; never waits."""
        return self._after(self._core.offer(item))

    def poll(self) -> T | Empty:
        """Take the oldest item, or ``EMPTY``; never waits."""
        return self._after(self._core.poll())

    async def put(self, item: T) -> None:
        """Put ``item``, and wait for a free slot if need be. Cancelled: the item was not put."""
        ticket = self._after(self._core.put(item))
        if ticket is not None:
            await self._wait(ticket)

    async def take(self) -> T:
        """Take the oldest item, and wait for one if need be. Cancelled: nothing was taken."""
        answer = self._after(self._core.take())
        if isinstance(answer, Ticket):
            item: T = await self._wait(answer)
            return item
        return answer

    def __len__(self) -> int:
        return len(self._core)

    def statistics(self) -> Statistics:
        """A snapshot of the counts; nothing in it changes later."""
        return self._core.statistics()

    async def _wait(self, ticket: Ticket) -> Any:
        while True:
            try:
                await self._turn_of(ticket)
            except BaseException:    # cancelled, or the coroutine was thrown away
                self._after(self._core.cancel(ticket))
                raise
            finally:
                self._turns.pop(ticket, None)
            answer = self._after(self._core.claim(ticket))
            if not isinstance(answer, NotYet):
                return answer

    def _after(self, step: Step[A]) -> A:
        for ticket in step.woken:
            turn = self._turn_of(ticket)
            # A turn that is done belongs to a task that was cancelled and has not run yet; it will
            # leave the wait queue itself, and pass the wake-up on.
            if not turn.done():
                turn.set_result(None)
        return step.answer

    def _turn_of(self, ticket: Ticket) -> asyncio.Future[None]:
        if ticket not in self._turns:
            self._turns[ticket] = asyncio.get_running_loop().create_future()
        return self._turns[ticket]
