"""A queue that hands its items over: the base of the twins of hand-over bugs.

The reference wakes a waiter, which then takes its item itself. Several libraries hand over instead:
a call that brings an item gives it to the waiter's future, and a call that frees a slot takes the
item of a waiting put. Then a waiter that is cancelled may have its item already, and its reaction
to that is where they went wrong. This one does it right: a call that has been handed its item is
not cancelled any more.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any

from ....reference.queue import EMPTY, Empty

__all__ = ["HandingQueue"]

Turn = asyncio.Future[Any]


class HandingQueue:
    """A queue of at most ``capacity`` items, with the methods of the reference's driver."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._items: deque[Any] = deque()
        self._takes: dict[Turn, None] = {}
        self._puts: dict[Turn, Any] = {}

    def __len__(self) -> int:
        return len(self._items)

    def offer(self, item: Any) -> bool:
        """Give the item to a take that waits, or keep it; False if there is no free slot."""
        while self._takes:
            turn = next(iter(self._takes))
            del self._takes[turn]
            if self._hand(turn, item):
                return True
        if len(self._items) >= self._capacity:
            return False
        self._items.append(item)
        return True

    def poll(self) -> Any | Empty:
        """Take the oldest item, if there is one; its room goes to a put that waits."""
        if not self._items:
            return EMPTY
        item = self._items.popleft()
        self._fill()
        return item

    async def put(self, item: Any) -> None:
        """Put an item, and wait for a free slot if need be."""
        if not self.offer(item):
            turn = asyncio.get_running_loop().create_future()
            self._puts[turn] = item
            try:
                await turn
            except asyncio.CancelledError:
                self._puts.pop(turn, None)
                self._put_cancelled(turn)

    async def take(self) -> Any:
        """Take the oldest item, and wait for one if need be."""
        item = self.poll()
        if not isinstance(item, Empty):
            return item
        turn = asyncio.get_running_loop().create_future()
        self._takes[turn] = None
        try:
            return await turn
        except asyncio.CancelledError:
            self._takes.pop(turn, None)
            return self._take_cancelled(turn)

    # -- the steps that libraries got wrong --------------------------------------------------

    def _hand(self, turn: Turn, item: Any) -> bool:
        """Give a take its item; False if the take was asked to cancel."""
        if turn.done():
            return False
        turn.set_result(item)
        return True

    def _fill(self) -> None:
        """Admit the puts that wait, as far as there is a free slot."""
        while self._puts and len(self._items) < self._capacity:
            turn = next(iter(self._puts))
            item = self._puts.pop(turn)
            if not turn.done():
                self._items.append(item)
                turn.set_result(None)

    def _put_cancelled(self, turn: Turn) -> None:
        """React to the cancellation of a put: it stops, unless its item is in."""
        if turn.cancelled():
            raise asyncio.CancelledError

    def _take_cancelled(self, turn: Turn) -> Any:
        """React to the cancellation of a take: it stops, unless it has its item."""
        if turn.cancelled():
            raise asyncio.CancelledError
        return turn.result()
