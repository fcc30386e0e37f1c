"""Permits for the tasks of one event loop: a semaphore, and with one permit a lock.

A permit that comes back is handed to the first waiter, so no later call can be faster. A task that
is cancelled after it was handed a permit, before it knew, hands it on.
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
        """True if an acquire would have to wait."""
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
            # A turn that is done belongs to a cancelled task that has not run yet.
            if not turn.done():
                turn.set_result(None)
                return
        self.free += 1

    def stopped(self, turn: asyncio.Future[None]) -> None:
        """React to the cancellation of a waiter: a permit that it may have goes to the next one."""
        if turn.done() and not turn.cancelled():
            self.release()


class LatePermits:
    """The same, but giving a permit back takes a while: a report is made first."""

    def __init__(self, count: int) -> None:
        self.permits = Permits(count)

    def locked(self) -> bool:
        """True if an acquire would have to wait."""
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
        """Report the release, before the next call may have the permit: a turn of the loop."""
        await asyncio.sleep(0)
