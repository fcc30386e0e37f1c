"""Permits for the tasks of one event loop: a semaphore, and with one permit a lock.

A permit that comes back is handed to the first in line, so nobody who comes later can be faster. A
task that is cancelled with a permit in its hand, before it knew, hands it on.
"""

from __future__ import annotations

import asyncio

__all__ = ["LatePermits", "Permits"]


class Permits:
    """``count`` permits (1 or more; ``ValueError`` otherwise). Not for several threads."""

    def __init__(self, count: int) -> None:
        if count < 1:
            raise ValueError(f"there must be a permit, not {count}")
        self.free = count
        self.line: dict[asyncio.Future[None], None] = {}

    def locked(self) -> bool:
        """Whether an acquire would have to wait."""
        return self.free == 0 or bool(self.line)

    async def acquire(self) -> None:
        """Take a permit, and wait for one if need be. Cancelled: none was taken."""
        if not self.locked():
            self.free -= 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.line[turn] = None
        try:
            await turn
        except BaseException:    # cancelled, or the coroutine was thrown away
            self.line.pop(turn, None)
            self.stopped(turn)
            raise

    def release(self) -> None:
        """Give a permit back."""
        while self.line:
            turn = next(iter(self.line))
            del self.line[turn]
            # One that is done was told to stop, and has not run yet.
            if not turn.done():
                turn.set_result(None)
                return
        self.free += 1

    def stopped(self, turn: asyncio.Future[None]) -> None:
        """A task that waited stops: what it may have in its hand goes to the next."""
        if turn.done() and not turn.cancelled():
            self.release()


class LatePermits:
    """The same, where giving a permit back takes a while: it tells somebody of it first."""

    def __init__(self, count: int) -> None:
        self.permits = Permits(count)

    def locked(self) -> bool:
        """Whether an acquire would have to wait."""
        return self.permits.locked()

    async def acquire(self) -> None:
        """Take a permit, and wait for one if need be. Cancelled: none was taken."""
        await self.permits.acquire()

    async def release(self) -> None:
        """Give a permit back. Cancelled: it is back all the same."""
        try:
            await self.tell()
        finally:
            self.permits.release()

    async def tell(self) -> None:
        """Whatever is to be done before the next one may have it: a turn of the loop."""
        await asyncio.sleep(0)
