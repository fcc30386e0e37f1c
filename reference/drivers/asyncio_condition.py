"""A condition variable for the tasks of one event loop.

A wait always ends with the lock. A waiter that is cancelled after it was notified, before or
while it takes the lock again, notifies another one in its place.
"""

from __future__ import annotations

import asyncio

from .asyncio_permits import Permits

__all__ = ["Condition"]

Turn = asyncio.Future[None]


class Condition:
    """A lock with ``wait`` and ``notify``; the caller of either holds the lock."""

    def __init__(self) -> None:
        self.lock = Permits(1)
        self.asleep: dict[Turn, None] = {}

    async def acquire(self) -> None:
        """Take the lock. Cancelled: it was not taken."""
        await self.lock.acquire()

    def release(self) -> None:
        """Give the lock back. Raises ``RuntimeError`` if no task holds it."""
        if self.lock.free:
            raise RuntimeError("the lock is free")
        self.lock.release()

    def notify(self, n: int = 1) -> None:
        """Wake up to ``n`` sleepers, first come first."""
        for turn in list(self.asleep):
            if n > 0 and not turn.done():
                del self.asleep[turn]
                turn.set_result(None)
                n -= 1

    async def wait(self) -> None:
        """Give the lock back, sleep until notified or cancelled, and take the lock again."""
        turn: Turn = asyncio.get_running_loop().create_future()
        self.asleep[turn] = None
        self.release()
        try:
            await turn
        except BaseException:
            await self.again()
            self.stopped(turn)
            raise
        if await self.again():
            self.stopped(turn)
            raise asyncio.CancelledError

    async def again(self) -> bool:
        """Take the lock, cancelled or not; True if the task was cancelled meanwhile."""
        cancelled = False
        while True:
            try:
                await self.acquire()
            except asyncio.CancelledError:
                cancelled = True
            else:
                return cancelled

    def stopped(self, turn: Turn) -> None:
        """React to the cancellation of a sleeper: its notification goes to another one."""
        self.asleep.pop(turn, None)
        if turn.done() and not turn.cancelled():
            self.notify()
