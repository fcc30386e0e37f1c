"""A queue for the tasks of one event loop that can be closed, cut off and joined.

A waiter sleeps on a future in one of three wait queues. A call that frees a slot, brings an item,
or reports the last item as done wakes one of them, or all; closing wakes all. A woken waiter looks
again, so no call relies on the state at its wake-up. A call that is cancelled after it was woken
wakes the next one.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

__all__ = ["ClosableQueue", "Closed"]

T = TypeVar("T")
Turn = asyncio.Future[None]
Line = deque[Turn]


class Closed(Exception):
    """The queue was closed: nothing goes in, and no item is left to take."""


class ClosableQueue(Generic[T]):
    """At most ``capacity`` items; ``admits`` is asked about each, and may raise.

    Its exception is raised by ``put``, which then has had no effect. Not for several threads.
    """

    def __init__(self, capacity: int, admits: Callable[[T], object] | None = None) -> None:
        self.capacity = capacity
        self.admits = admits
        self.items: deque[T] = deque()
        self.undone = 0
        self.closed = False
        self.puts: Line = deque()
        self.takes: Line = deque()
        self.joins: Line = deque()

    # -- calls --------------------------------------------------------------------------------

    async def put(self, item: T) -> None:
        """Put it, and wait for a free slot if need be.

        Raises ``Closed``, and the exceptions of ``admits``.
        """
        while not self.closed and not self.has_room():
            await self.sleep(self.puts, self.has_room)
        if self.closed:
            raise Closed
        self.admit(item)
        self.items.append(item)
        self.undone += 1
        self.wake(self.takes)

    async def take(self) -> T:
        """Take the oldest item, and wait for one if need be. Raises ``Closed``."""
        while not self.items and not self.closed:
            await self.sleep(self.takes, self.has_items)
        if not self.items:
            raise Closed
        item = self.items.popleft()
        self.wake(self.puts)
        return item

    async def join(self) -> None:
        """Wait until all items that went in are done."""
        while self.undone:
            await self.sleep(self.joins, self.has_items)

    def task_done(self) -> None:
        """Report that an item that was taken is done. Raises ``ValueError`` if there is none."""
        if not self.undone:
            raise ValueError("more was done than had gone in")
        self.undone -= 1
        self.all_may_be_done()

    def close(self) -> None:
        """Let nothing more in; the items inside can be taken."""
        self.closed = True
        self.wake_all(self.puts)
        self.wake_all(self.takes)

    def cut(self) -> None:
        """Close it, and throw away the items inside, which count as done."""
        self.undone -= len(self.items)
        self.items.clear()
        self.all_may_be_done()
        self.close()

    # -- within -------------------------------------------------------------------------------

    def has_room(self) -> bool:
        """True if one more item fits."""
        return len(self.items) < self.capacity

    def has_items(self) -> bool:
        """True if there is an item to take."""
        return bool(self.items)

    def admit(self, item: T) -> None:
        """Ask about an item that would go in; one that fails leaves its turn to the next."""
        if self.admits is not None:
            try:
                self.admits(item)
            except BaseException:
                self.wake(self.puts)
                raise

    def all_may_be_done(self) -> None:
        """Wake the joins, if nothing is left to do."""
        if not self.undone:
            self.wake_all(self.joins)

    async def sleep(self, line: Line, ready: Callable[[], bool]) -> None:
        """Sleep in a wait queue; if cancelled after the wake-up, pass it on if it is of use."""
        turn: Turn = asyncio.get_running_loop().create_future()
        line.append(turn)
        try:
            await turn
        except BaseException:
            if turn in line:
                line.remove(turn)
            elif ready():
                self.wake(line)
            raise

    def wake(self, line: Line) -> None:
        """Wake the waiter that has slept longest."""
        while line:
            turn = line.popleft()
            if not turn.done():
                turn.set_result(None)
                return

    def wake_all(self, line: Line) -> None:
        """Wake every call that sleeps there."""
        while line:
            self.wake(line)
