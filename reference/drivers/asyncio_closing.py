"""A queue for the tasks of one event loop that can be closed, cut off and joined.

Who waits sleeps on a future in one of three lines. Whoever makes room, brings an item, or has done
the last thing wakes one of them, or all; closing wakes all. Who wakes looks again, so nobody acts
on what was true when he was woken. A call that is cancelled after it was woken wakes the next one.
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
    """The queue was closed: nothing goes in, and nothing is left for who takes."""


class ClosableQueue(Generic[T]):
    """At most ``capacity`` items; ``admits`` is asked about each, and may raise.

    What it raises is raised by ``put``, which then has had no effect. Not for several threads.
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
        """Put it, and wait for room if need be. Raises ``Closed``, and what ``admits`` raises."""
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
        """Wait until all is done that went in."""
        while self.undone:
            await self.sleep(self.joins, self.has_items)

    def task_done(self) -> None:
        """An item that was taken is done. Raises ``ValueError`` if there is none."""
        if not self.undone:
            raise ValueError("more was done than had gone in")
        self.undone -= 1
        self.all_may_be_done()

    def close(self) -> None:
        """Nothing goes in any more; what is inside can be taken."""
        self.closed = True
        self.wake_all(self.puts)
        self.wake_all(self.takes)

    def cut(self) -> None:
        """Close it, and throw away what is inside, which counts as done."""
        self.undone -= len(self.items)
        self.items.clear()
        self.all_may_be_done()
        self.close()

    # -- within -------------------------------------------------------------------------------

    def has_room(self) -> bool:
        """Whether one more fits."""
        return len(self.items) < self.capacity

    def has_items(self) -> bool:
        """Whether there is something to take."""
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
        """Wake who joins, if nothing is left to do."""
        if not self.undone:
            self.wake_all(self.joins)

    async def sleep(self, line: Line, ready: Callable[[], bool]) -> None:
        """Sleep in a line; cancelled after one was woken, one hands that on where it is of use."""
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
        """Wake the first who sleeps."""
        while line:
            turn = line.popleft()
            if not turn.done():
                turn.set_result(None)
                return

    def wake_all(self, line: Line) -> None:
        """Wake all who sleep."""
        while line:
            self.wake(line)
