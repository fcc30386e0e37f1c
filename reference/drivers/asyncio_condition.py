"""A condition variable for the tasks of one event loop.

A wait ends with the lock, whatever happens. Who is cancelled after he was notified, asleep still or
on his way back into the lock, notifies another one in his place.
"""

from __future__ import annotations

import asyncio

from .asyncio_permits import Permits

__all__ = ["Condition"]

Turn = asyncio.Future[None]


class Condition:
    """A lock with ``wait`` and ``notify``; the caller of either has the lock."""

    def __init__(self) -> None:
        self.lock = Permits(1)
        self.asleep: dict[Turn, None] = {}

    async def acquire(self) -> None:
        """Take the lock. Cancelled: it was not taken."""
        await self.lock.acquire()

    def release(self) -> None:
        """Give the lock back. Raises ``RuntimeError`` if nobody has it."""
        if self.lock.free:
            raise RuntimeError("the lock is free")
        self.lock.release()

    def notify(self, n: int = 1) -> None:
        """Wake up to ``n`` of those who sleep, first come first."""
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
        """Take the lock, cancelled or not; whether one was cancelled meanwhile."""
        cancelled = False
        while True:
            try:
                await self.acquire()
            except asyncio.CancelledError:
                cancelled = True
            else:
                return cancelled

    def stopped(self, turn: Turn) -> None:
        """Whoever slept here is cancelled: what it was told goes to another one."""
        self.asleep.pop(turn, None)
        if turn.done() and not turn.cancelled():
            self.notify()
